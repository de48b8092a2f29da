//! Conventions of the house that no compiler checks.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    let mut files = Vec::new();
    ["crates", "evidence"].iter().for_each(|folder| rust_files(&root().join(folder), &mut files));
    assert!(files.len() > 20);
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with a `//!` paragraph", path.display());
    }
}

#[test]
fn the_language_page_lists_every_code() {
    let page = fs::read_to_string(root().join("docs/rules.md")).unwrap();
    for code in chimera_logic::diagnostic::Code::ALL {
        let row = format!("| `{}` | {} |", code.as_str(), code.summary().replace('|', "\\|"));
        assert!(page.contains(&row), "docs/rules.md lacks the row: {row}");
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<&str> =
        readme.split("```text\n$ chimera ").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let (words, shown) = block.split_once('\n').unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chimera"));
        let output = command.args(words.split_whitespace()).current_dir(root()).output().unwrap();
        assert_eq!(shown, String::from_utf8(output.stdout).unwrap(), "README.md is out of date: chimera {words}");
    }
    let (_, picture) = readme.split_once("```sh\nchimera rules graph ").unwrap();
    let words = picture.lines().next().unwrap().replace("-o site.svg ", "");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chimera"));
    let drawn = command.args(["rules", "graph"]).args(words.split_whitespace()).current_dir(root()).output().unwrap();
    assert!(
        drawn.stdout == fs::read(root().join("docs/pictures/site.svg")).unwrap(),
        "draw docs/pictures/site.svg anew"
    );
    let rules = fs::read_to_string(root().join("docs/examples/nursery.rules")).unwrap();
    assert!(readme.contains(&format!("```text\n{rules}```")), "README.md shows another rule file");
}

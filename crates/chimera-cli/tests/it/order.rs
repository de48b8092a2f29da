//! The order of crates and of their modules is the one that ARCHITECTURE.md shows, and the functions that it names are there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

/// A crate of the list: its folder, and its modules where they are listed.
#[derive(Debug)]
struct Listed {
    folder: String,
    modules: Vec<String>,
}

impl Listed {
    fn name(&self) -> &str {
        self.folder.rsplit('/').next().unwrap()
    }

    fn source(&self) -> PathBuf {
        root().join(&self.folder).join("src")
    }
}

/// The list, lowest first. A line of a crate begins with its folder; lines below it name a group and the modules in it.
fn listed() -> Vec<Listed> {
    let page = page();
    let (_, block) = page.split_once("```order\n").unwrap();
    let mut crates: Vec<Listed> = Vec::new();
    for line in block.split("```").next().unwrap().lines() {
        match line.strip_prefix("    ") {
            Some(group) => {
                let modules = group.split_whitespace().skip(1).map(str::to_owned);
                crates.last_mut().unwrap().modules.extend(modules);
            }
            None => {
                let folder = line.split_whitespace().next().unwrap().to_owned();
                crates.push(Listed { folder, modules: Vec::new() });
            }
        }
    }
    crates
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Code without comments and unit tests, which may use whatever they like.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap().to_owned();
    text.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

/// The paths that a tree of imports stands for: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn flatten(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().trim().to_owned()];
    };
    let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for character in inner.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if character == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(character);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| flatten(part).into_iter().map(|path| format!("{}{path}", before.trim()))).collect()
}

/// Every path that code names from a crate's root or from its own place, imported or not.
fn named(code: &str) -> Vec<String> {
    let is_path = |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let words = code.split(|character| !is_path(character)).filter(|word| word.contains("::")).map(str::to_owned);
    let imports = code.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
    words.chain(imports.flat_map(flatten)).collect()
}

/// Which module uses which, of those directly in a room; the room of no name is the crate. What the room's own file passes on under another
/// name counts as a use of where it comes from.
fn uses(source: &Path, room: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    rust_files(source, &mut files);
    let place = |path: &Path| -> Vec<String> {
        let inside = path.strip_prefix(source).unwrap().with_extension("");
        let mut parts: Vec<String> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if ["mod", "lib", "main"].contains(&parts.last().unwrap().as_str()) {
            parts.pop();
        }
        parts
    };
    let inside = |place: &[String]| place.iter().zip(room).all(|(part, room)| part == room) && place.len() > room.len();
    files.retain(|path| inside(&place(path)) || place(path) == room);
    let module_of = |path: &PathBuf| place(path).get(room.len()).cloned();
    let mut uses: BTreeMap<String, BTreeSet<String>> =
        files.iter().filter_map(module_of).map(|module| (module, BTreeSet::new())).collect();
    let passed_on: BTreeMap<String, String> = files
        .iter()
        .filter(|path| place(path) == room)
        .flat_map(|path| {
            code(path)
                .split("use ")
                .skip(1)
                .flat_map(|rest| flatten(rest.split(';').next().unwrap()))
                .collect::<Vec<_>>()
        })
        .filter_map(|path| {
            let parts: Vec<&str> = path.strip_prefix("self::").unwrap_or(&path).split("::").collect();
            uses.contains_key(parts[0]).then(|| (parts[parts.len() - 1].to_owned(), parts[0].to_owned()))
        })
        .collect();
    for path in files.iter().filter(|path| path.file_stem().is_some_and(|stem| stem != "tests")) {
        let (own, Some(module)) = (place(path), module_of(path)) else { continue };
        for name in named(&code(path)) {
            let parts: Vec<&str> = name.split("::").map(str::trim).collect();
            let ups = parts.iter().take_while(|part| **part == "super").count();
            let from = match parts[0] {
                "crate" => &own[..0],
                "self" => &own[..],
                "super" => &own[..own.len().saturating_sub(ups)],
                _ => continue,
            };
            let whole: Vec<&str> = from.iter().map(String::as_str).chain(parts[ups.max(1)..].iter().copied()).collect();
            let Some(first) = whole.strip_prefix(room).and_then(|rest| rest.first()) else { continue };
            let used =
                if uses.contains_key(*first) { Some((*first).to_owned()) } else { passed_on.get(*first).cloned() };
            if let Some(used) = used.filter(|used| *used != module) {
                uses.get_mut(&module).unwrap().insert(used);
            }
        }
    }
    uses
}

/// The crates that a manifest names, for the library and for its tests.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_list = false;
    for line in manifest.lines() {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            is_list = table.ends_with("dependencies");
            found.extend(table.split_once("dependencies.").map(|(_, name)| name.to_owned()));
        } else if is_list && let Some((name, _)) = line.split_once(['.', ' ', '=']) {
            found.insert(name.trim_matches('"').to_owned());
        }
    }
    found
}

#[test]
fn crates_use_what_is_below_them() {
    let crates = listed();
    let names: Vec<&str> = crates.iter().map(Listed::name).collect();
    let mut there: Vec<String> = ["crates", "evidence"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    let mut sorted: Vec<&str> = names.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, there, "ARCHITECTURE.md lists other crates than there are");
    let evidence: BTreeSet<&str> =
        crates.iter().filter(|one| one.folder.starts_with("evidence/")).map(Listed::name).collect();
    for (rank, own) in crates.iter().enumerate() {
        let manifest = fs::read_to_string(root().join(&own.folder).join("Cargo.toml")).unwrap();
        let used = dependencies(&manifest);
        assert!(used.len() > 1, "{}: {used:?}", own.name());
        for upper in names[rank..].iter().filter(|upper| used.contains(**upper)) {
            assert!(own.name() == "chimera-cli" && evidence.contains(upper), "{} depends on {upper}", own.name());
        }
        // The tensor library has one home, and so has what only a command needs.
        for (library, home) in [("burn", "chimera-leaf"), ("anyhow", "chimera-cli"), ("clap", "chimera-cli")] {
            assert!(!used.contains(library) || own.name() == home, "{} depends on {library}", own.name());
        }
    }
    // Three commands need evidence, and nothing else.
    let mut files = Vec::new();
    rust_files(&root().join("crates/chimera-cli/src"), &mut files);
    for path in files {
        let may = ["demo", "experiment", "world"].contains(&path.file_stem().unwrap().to_str().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        for name in evidence.iter().filter(|name| text.contains(&name.replace('-', "_"))) {
            assert!(may, "{} uses {name}", path.display());
        }
    }
}

#[test]
fn modules_use_what_is_before_them() {
    for own in listed() {
        let uses = uses(&own.source(), &[]);
        assert!(uses.len() > 3, "{}: {uses:?}", own.name());
        let order = if own.modules.is_empty() { sorted(&uses, own.name()) } else { own.modules.clone() };
        let mut listed = order.clone();
        listed.sort();
        let there: Vec<&String> = uses.keys().collect();
        assert_eq!(listed.iter().collect::<Vec<_>>(), there, "{}: ARCHITECTURE.md lists other modules", own.name());
        for (module, used) in &uses {
            let rank = |name: &String| order.iter().position(|other| other == name).unwrap();
            let above: Vec<&String> = used.iter().filter(|upper| rank(upper) > rank(module)).collect();
            assert!(above.is_empty(), "{}: `{module}` uses {above:?}, which come after it", own.name());
        }
    }
}

/// Modules in an order in which each uses only those before it.
fn sorted(uses: &BTreeMap<String, BTreeSet<String>>, name: &str) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    while order.len() < uses.len() {
        let is_ready = |(module, used): &(&String, &BTreeSet<String>)| {
            !order.contains(module) && used.iter().all(|used| order.contains(used))
        };
        let next = uses.iter().find(is_ready).map(|(module, _)| module.clone());
        let left = || uses.keys().filter(|module| !order.contains(module)).collect::<Vec<_>>();
        order.push(next.unwrap_or_else(|| panic!("{name}: a cycle among {:?}", left())));
    }
    order
}

/// Inside of the largest rooms, too, no file uses one that uses it.
#[test]
fn files_of_large_rooms_have_an_order() {
    for (source, room) in [
        ("crates/chimera/src", "gate"),
        ("crates/chimera-data/src", "dataset"),
        ("crates/chimera-data/src", "table"),
        ("crates/chimera-data/src", "features"),
        ("crates/chimera-data/src", "import"),
    ] {
        let uses = uses(&root().join(source), &[room]);
        assert!(uses.len() > 5 && uses.values().any(|used| !used.is_empty()), "{room}: {uses:?}");
        assert_eq!(sorted(&uses, room).len(), uses.len());
    }
}

/// A made crate with a circle that goes through a name which its room passes on.
#[test]
fn circles_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "mod room;\nmod other;\n");
    write("other.rs", "use crate::room::Thing;\n");
    write("room/mod.rs", "mod one;\nmod two;\npub use self::one::Thing;\n");
    write("room/one.rs", "use super::two::{f, g};\n");
    write("room/two.rs", "fn f() { crate::room::Thing::new() }\n#[cfg(test)]\nmod tests {\n    use crate::other;\n}\n");
    let of = |room: &[&str], module: &str| uses(folder.path(), room)[module].iter().cloned().collect::<Vec<_>>();
    assert_eq!((of(&[], "other"), of(&[], "room")), (vec!["room".to_owned()], vec![]));
    assert_eq!((of(&["room"], "one"), of(&["room"], "two")), (vec!["two".to_owned()], vec!["one".to_owned()]));
    assert!(std::panic::catch_unwind(|| sorted(&uses(folder.path(), &["room"]), "room")).is_err());
    assert_eq!(
        dependencies(
            "[dependencies]\na.workspace = true\nb = \"1\"\n[features]\nc = []\n[dev-dependencies.d]\nversion = \"1\"\n"
        ),
        ["a", "b", "d"].map(str::to_owned).into()
    );
}

#[test]
fn trees_of_imports_are_read() {
    assert_eq!(flatten("a::{b, c::{d, e as f}}"), ["a::b", "a::c::d", "a::c::e"]);
    let code = "use crate::x::{self, y};\nfn f() { super::z::g(crate::w) }";
    let names = named(code);
    for name in ["crate::x::self", "crate::x::y", "super::z::g", "crate::w"] {
        assert!(names.iter().any(|other| other == name), "{name}: {names:?}");
    }
}

/// Rows of the tables end in a file and a function; the text names files.
#[test]
fn what_the_page_names_is_there() {
    let page = page();
    let mut functions = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, _, file, function, _] = cells[..] else { panic!("{row}") };
        if file.ends_with(".rs") {
            let text = fs::read_to_string(root().join(file)).unwrap_or_else(|_| panic!("there is no {file}"));
            let is_there = ["(", "<"].iter().any(|after| text.contains(&format!("fn {function}{after}")));
            assert!(is_there, "{file} has no function `{function}`");
            functions += 1;
        }
    }
    assert!(functions > 20, "{functions}");
    let quoted = page.split('`').filter(|text| text.starts_with("crates/") || text.starts_with("evidence/"));
    for file in quoted.filter(|file| !file.contains(char::is_whitespace)) {
        assert!(root().join(file).exists(), "ARCHITECTURE.md names {file}");
    }
    assert!(page.len() <= 14 * 1024, "{} bytes", page.len());
}

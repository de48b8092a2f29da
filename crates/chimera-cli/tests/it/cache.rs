//! `cache ls`, `verify` and `gc` over every kind of thing that a cache holds, and a damaged model of another seed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chimera::cache::{Cache, Checked, Item, Kind};
use chimera_data::dataset::Dataset;
use chimera_leaf::bank::LeafBankConfig;
use chimera_leaf::config::{EncoderChoice, LeafConfig, Weights};
use chimera_leaf::device::DeviceChoice;

use crate::support::Sandbox;
use crate::support::bits::{files, flip, replace};
use crate::support::pictures::pictures;
use serde_json::{Value, json};

const KINDS: [&str; 6] = ["gates", "frames", "vectors", "encoded", "replicas", "kernels"];

const EVAL: &str = "--cache cache --methods wmc,chimera --seeds 2 --refit-leaf --weights weights.safetensors";

/// Trains on a frozen network, on pictures of a size.
fn train(sandbox: &Sandbox, out: &str, size: usize) -> String {
    let words = format!(
        "train ds --rules my.rules --out {out} --cache cache --threads 2 --encoder mobilenet_v2 --freeze --weights \
         weights.safetensors --size {size} --features 8 --hidden 8 --epochs 2 --batch 16 --gate-epochs 1"
    );
    let ran = sandbox.run(&words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.err
}

fn eval(sandbox: &Sandbox, report: &str) -> String {
    let ran = sandbox.run(&format!("eval model ds -o {report} {EVAL}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.err
}

/// A compiled kernel as `chimera-cuda` keeps it.
fn kernel(sandbox: &Sandbox, name: &str) {
    let image = b"machine code";
    let content = [b"chimera kernel 1".as_slice(), blake3::hash(image).as_bytes(), image].concat();
    sandbox.write(&format!("cache/kernels/{name}.kernel"), content);
}

/// A model, and a cache with something of every kind.
fn everything() -> Sandbox {
    let sandbox = pictures(40);
    let dataset = Dataset::open(&sandbox.path("ds")).unwrap();
    let config = LeafConfig {
        encoder: Some(EncoderChoice::MobilenetV2),
        weights: Some(Weights::Untrained),
        size: Some(32),
        features: 8,
        ..LeafConfig::default()
    };
    let encoder = config.encoder_for(&dataset).unwrap();
    let bank = LeafBankConfig { encoder, concepts: dataset.table().concepts.clone() };
    let bank = bank.init(7, &DeviceChoice::Cpu.open().unwrap()).unwrap();
    sandbox.write("weights.safetensors", bank.encoder_bytes().unwrap());
    sandbox.write("my.rules", "one: bright => left\n");
    train(&sandbox, "model", 32);
    eval(&sandbox, "report");
    kernel(&sandbox, "one");
    sandbox
}

/// Paths of files of a kind, in the cache folder.
fn of_kind(sandbox: &Sandbox, kind: &str) -> Vec<PathBuf> {
    files(&sandbox.path("cache").join(kind)).into_keys().map(|path| Path::new(kind).join(path)).collect()
}

/// The one folder of a model of another seed, in the cache folder.
fn replica(sandbox: &Sandbox) -> PathBuf {
    let [folder] = items(sandbox, Kind::Replica).try_into().unwrap();
    folder.path.strip_prefix(sandbox.path("cache")).unwrap().to_owned()
}

/// What later runs find of a kind.
fn items(sandbox: &Sandbox, kind: Kind) -> Vec<Item> {
    let items = Cache::new(&sandbox.path("cache")).items().unwrap();
    items.into_iter().filter(|item| item.kind == kind && item.is_in_use()).collect()
}

/// What `verify` says first of a cache with these numbers of things.
fn told(sandbox: &Sandbox) -> String {
    let count = |kind: &str| of_kind(sandbox, kind).len();
    let [gates, frames, encoded] = ["gates", "frames", "encoded"].map(count);
    assert!(gates > 5 && frames == 14 && encoded == 2 && count("vectors") == 1 && count("kernels") == 1);
    format!(
        "{gates} gates, {frames} files of frames, 1 file of vectors, {encoded} files of z, 1 model, 1 kernel read, "
    )
}

/// One bit of one thing of each kind, at many places, a file cut off, and one with more behind it.
#[test]
fn verify_names_what_is_damaged_of_every_kind() {
    let sandbox = everything();
    let read = told(&sandbox);
    let ran = sandbox.run("cache verify --cache cache");
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (0, format!("{read}0 damaged\n"), ""));
    assert_eq!(sandbox.run("cache verify --cache cache --json").out, "[]\n");
    let listed = sandbox.run("cache ls --cache cache");
    assert!(KINDS.iter().all(|kind| listed.out.contains(&format!("\n{kind} "))), "{}", listed.out);
    let (before, replica) = (files(&sandbox.path("cache")), replica(&sandbox));
    // Of each kind the file that is damaged, and what is named.
    let chosen: Vec<(PathBuf, PathBuf)> = KINDS
        .iter()
        .map(|&kind| match kind {
            "replicas" => (replica.join("encoder.safetensors"), replica.clone()),
            _ => {
                let path = of_kind(&sandbox, kind).pop().unwrap();
                (path.clone(), path)
            }
        })
        .collect();
    for round in 0..8 {
        for (file, _) in &chosen {
            let (path, length) = (sandbox.path("cache").join(file), before[file].len());
            match round {
                0..6 => _ = flip(&path, (length - 1) * round / 5, round as u8),
                6 => replace(&path, &before[file][..length - 1]),
                _ => replace(&path, &[before[file].as_slice(), b"\0"].concat()),
            }
        }
        let ran = sandbox.run("cache verify --cache cache");
        assert_eq!(ran.code, 1, "round {round}: {}", ran.out);
        let lines: Vec<&str> = ran.out.lines().collect();
        assert_eq!(lines.len(), 7, "round {round}: {}", ran.out);
        for (line, (_, named)) in lines.iter().zip(&chosen) {
            assert!(line.starts_with(&format!("{}: ", named.display())), "round {round}: {line}");
        }
        assert!(lines[4].contains("encoder.safetensors"), "{}", lines[4]);
        assert_eq!(lines[6], format!("{read}6 damaged"));
        assert_eq!(ran.err, "what is damaged is set aside and made again when it is needed\n");
        let json: Value = serde_json::from_str(&sandbox.run("cache verify --cache cache --json").out).unwrap();
        let kinds: Vec<&Value> = json.as_array().unwrap().iter().map(|item| &item["kind"]).collect();
        assert_eq!(kinds, ["gate", "frames", "vectors", "encoded", "replica", "kernel"]);
        assert!(json.as_array().unwrap().iter().all(|item| item["problem"].is_string()), "{json}");
        chosen.iter().for_each(|(file, _)| replace(&sandbox.path("cache").join(file), &before[file]));
    }
    assert_eq!(sandbox.run("cache verify --cache cache").code, 0);
    // What is damaged goes, whoever was to keep it.
    for (file, _) in &chosen {
        flip(&sandbox.path("cache").join(file), before[file].len() - 1, 0);
    }
    let ran = sandbox.run("cache gc --cache cache --keep model");
    assert!(ran.out.starts_with("removed 0 gates and 6 damaged or left files, "), "{}", ran.out);
    let left: Vec<PathBuf> = files(&sandbox.path("cache")).into_keys().collect();
    let stays = |path: &PathBuf| !chosen.iter().any(|(_, gone)| path.starts_with(gone));
    assert_eq!(left, before.into_keys().filter(stays).collect::<Vec<PathBuf>>());
}

/// Every file of a model of another seed that decides a number has a checksum.
#[test]
fn every_file_of_a_model_of_another_seed_is_checked() {
    let sandbox = everything();
    let [item] = items(&sandbox, Kind::Replica).try_into().unwrap();
    assert_eq!(item.check().unwrap(), Checked::Sound);
    let for_people = ["gates.json", "rules.rules"];
    let (mut checked, mut unchecked) = (0, Vec::new());
    for (path, content) in files(&item.path) {
        for at in [0, content.len() / 3, content.len() * 2 / 3, content.len() - 1] {
            let whole = flip(&item.path.join(&path), at, 1);
            let found = item.check().unwrap();
            replace(&item.path.join(&path), &whole);
            // The line break at its end.
            if path.ends_with("manifest.json") && at + 1 == content.len() {
                continue;
            }
            if matches!(found, Checked::Damaged(_)) {
                checked += 1;
            } else {
                unchecked.push(path.display().to_string());
            }
        }
    }
    unchecked.dedup();
    assert_eq!(unchecked, for_people);
    assert!(checked > 4 * 10);
    let heads = item.path.join("heads.safetensors");
    fs::remove_file(&heads).unwrap();
    let Checked::Damaged(problem) = item.check().unwrap() else { panic!("a file is missing") };
    assert_eq!(problem, format!("cannot read `{}`: no such file or folder", heads.display()));
    // A link to itself cannot be read, which is no damage: `gc` would remove it.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&heads, &heads).unwrap();
        item.check().unwrap_err();
        let ran = sandbox.run("cache gc --cache cache");
        assert!(ran.code == 2 && ran.err.contains("heads.safetensors") && item.path.exists(), "{}", ran.err);
    }
}

/// A model of another seed that was damaged is set aside, said, and trained again, to the same bytes and the same report.
#[test]
fn a_damaged_model_of_another_seed_is_trained_again() {
    let sandbox = everything();
    let numbers = |report: &str| ["rules.csv", "summary.json"].map(|name| sandbox.read(&format!("{report}/{name}")));
    let (folder, report) = (sandbox.path("cache").join(replica(&sandbox)), numbers("report"));
    assert!(!eval(&sandbox, "undamaged").contains("models of other seeds"));
    assert_eq!(numbers("undamaged"), report);
    let whole = files(&folder);
    let gate = whole.keys().find(|path| path.starts_with("gates")).unwrap().clone();
    let mut aside = Vec::new();
    for (number, name) in ["heads.safetensors".into(), gate, "manifest.json".into()].iter().enumerate() {
        // In the manifest, a digit of its last hash.
        let at = if name.ends_with("manifest.json") { whole[name].len() - 10 } else { whole[name].len() - 1 };
        flip(&folder.join(name), at, 0);
        let damaged = files(&folder);
        let again = format!("again{number}");
        let said = eval(&sandbox, &again);
        aside.push(match number {
            0 => folder.with_extension("damaged"),
            _ => folder.with_extension(format!("{number}.damaged")),
        });
        let expected = format!(
            "1 damaged folder of models of other seeds in the cache, made anew; what was there is kept as\n  {}\n",
            aside[number].strip_prefix(sandbox.path("")).unwrap().display()
        );
        assert!(said.contains(&expected), "{}: {said}", name.display());
        assert!(files(&aside[number]) == damaged);
        assert_eq!(numbers(&again), report, "{}", name.display());
        // But for times.
        let timed = ["manifest.json", "train.jsonl", "gates.json"];
        let bytes = |files: &BTreeMap<PathBuf, Vec<u8>>| {
            let untimed = files.iter().filter(|(path, _)| !timed.iter().any(|name| path.ends_with(name)));
            untimed.map(|(path, content)| (path.clone(), content.clone())).collect::<Vec<_>>()
        };
        assert!(bytes(&files(&folder)) == bytes(&whole), "{}: another model", name.display());
        assert!(!eval(&sandbox, &format!("mended{number}")).contains("models of other seeds"));
    }
    // They are no damage any more, and `gc` takes them away.
    assert_eq!(sandbox.run("cache verify --cache cache").code, 0);
    let ran = sandbox.run("cache gc --cache cache");
    assert!(ran.out.starts_with("removed 0 gates and 3 damaged or left files, "), "{}", ran.out);
    assert!(aside.iter().all(|path| !path.exists()) && folder.exists());
}

/// Lets everything below a folder be so old.
fn age(path: &Path, hours: u64) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| age(&entry.unwrap().path(), hours));
    }
    #[expect(clippy::disallowed_methods, reason = "how old a file is counts from now")]
    let then = SystemTime::now() - Duration::from_secs(3600 * hours);
    File::open(path).unwrap().set_modified(then).unwrap();
}

fn removed(sandbox: &Sandbox, words: &str) -> Value {
    let ran = sandbox.run(&format!("cache gc --cache cache --json {words}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// What a run uses stays, of every kind, and what no run used goes.
#[test]
fn gc_removes_what_was_not_used_of_every_kind() {
    let sandbox = everything();
    let cache = sandbox.path("cache");
    let mut used = files(&cache);
    // Gates, frames, vectors and z of another model, a model of another seed and a kernel that nobody asks for again.
    train(&sandbox, "other", 48);
    let whole = cache.join(replica(&sandbox));
    let name = whole.file_name().unwrap().to_str().unwrap();
    let name = format!("replicas/0123-{}", name.split_once('-').unwrap().1);
    files(&whole)
        .iter()
        .for_each(|(path, content)| sandbox.write(&format!("cache/{name}/{}", path.display()), content));
    let other = cache.join(name);
    kernel(&sandbox, "two");
    fs::create_dir_all(cache.join("kernels/networks-old")).unwrap();
    sandbox.write("cache/kernels/networks-old/db", "of another program");
    sandbox.write("cache/kernels/networks-new/db", "of another program");
    age(&cache, 24 * 31);
    assert_eq!(removed(&sandbox, "--unused-for 32")["unused"], json!({}));
    let all = files(&cache);
    assert_eq!(removed(&sandbox, "--dry-run")["unused"]["frames"], 28);
    assert!(files(&cache) == all);

    train(&sandbox, "again", 32);
    eval(&sandbox, "report-again");
    // The model of another seed was not taught again, so nobody used its gates in the cache.
    let own: Vec<String> = files(&sandbox.path("model/gates")).keys().map(|path| path.display().to_string()).collect();
    used.retain(|path, _| !path.starts_with("gates") || own.iter().any(|name| path.ends_with(name)));
    assert!(used.keys().any(|path| path.starts_with("gates")));
    age(&cache.join("kernels/one.kernel"), 0);
    age(&cache.join("kernels/networks-new"), 0);
    used.insert("kernels/networks-new/db".into(), b"of another program".to_vec());
    let told = removed(&sandbox, "");
    let gates = all.keys().filter(|path| path.starts_with("gates") && !used.contains_key(*path)).count();
    let unused = json!({ "gate": gates, "frames": 14, "vectors": 1, "encoded": 1, "replica": 1, "kernel": 2 });
    assert_eq!((&told["unused"], &told["leftovers"]), (&unused, &json!(0)));
    let bytes: usize = all.iter().filter(|(path, _)| !used.contains_key(*path)).map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(told["bytes"], json!(bytes));
    let left = files(&cache);
    assert_eq!(left.keys().collect::<Vec<_>>(), used.keys().collect::<Vec<_>>());
    assert!(left == used);
    assert!(!other.exists() && whole.exists() && !cache.join("kernels/networks-old").exists());
    assert_eq!(sandbox.run("cache verify --cache cache").code, 0);

    // Nothing but gates and z of the model, and only where nobody is at work.
    let lock = File::open(&whole).unwrap();
    lock.lock().unwrap();
    let kept = removed(&sandbox, "--unused-for 0 --keep model");
    let unused = json!({ "frames": 14, "vectors": 1, "encoded": 1, "kernel": 2 });
    assert_eq!((&kept["unused"], &kept["leftovers"]), (&unused, &json!(0)));
    drop(lock);
    assert_eq!(removed(&sandbox, "--unused-for 0 --keep model")["unused"], json!({ "replica": 1 }));
    let stays = |path: &&PathBuf| path.starts_with("gates") || path.starts_with("encoded");
    let left = files(&cache);
    assert_eq!(left.keys().filter(|path| !stays(path)).count(), 0);
    assert_eq!(left.keys().filter(|path| path.starts_with("encoded")).count(), 1);
    let said = train(&sandbox, "third", 32);
    assert!(!said.contains("damaged"), "{said}");
    assert!(files(&sandbox.path("third/gates")) == files(&sandbox.path("model/gates")));
    let unused = removed(&sandbox, "--unused-for 0")["unused"].clone();
    let gates = left.keys().filter(|path| path.starts_with("gates")).count();
    assert_eq!(unused, json!({ "gate": gates, "frames": 14, "vectors": 1, "encoded": 1 }));
    assert_eq!(files(&cache), BTreeMap::new());
}

/// What was set aside, what a version with another layout left and what killed runs left goes; what is not ours stays.
#[test]
fn gc_removes_what_no_run_finds_and_nothing_else() {
    let sandbox = Sandbox::new();
    let leftovers = [
        "gates/damaged/0000000000000000000000000000000000000000000000000000000000000000.safetensors.1",
        "gates/00/.chimera-a.tmp",
        "frames/x/1.damaged",
        "frames/x/1.2.damaged",
        "frames/x/.chimera-a.tmp",
        "vectors/x/1.damaged",
        "vectors/x/.chimera-a.tmp",
        "encoded/x/1.damaged",
        "encoded/x/.chimera-a.tmp",
        "replicas/0-layout-1/manifest.json",
        "replicas/0-layout-6.damaged/manifest.json",
        "kernels/.kernel-a",
    ];
    let young = ["gates/00/.chimera-b.tmp", "frames/x/.chimera-b.tmp", "encoded/x/.chimera-b.tmp", "kernels/.kernel-b"];
    let others = ["notes.txt", "gates/00/notes.txt", "frames/x/notes.txt", "encoded/x/lock", "kernels/notes.txt"];
    for name in leftovers.iter().chain(&young).chain(&others) {
        sandbox.write(&format!("cache/{name}"), "12345");
    }
    age(&sandbox.path("cache"), 2);
    young.iter().for_each(|name| age(&sandbox.path("cache").join(name), 0));
    // None of it is what later runs find.
    assert_eq!(sandbox.run("cache verify --cache cache").out, "0 gates read, 0 damaged\n");
    assert_eq!(sandbox.run("cache ls --cache cache --json").out, "[]\n");
    let told = removed(&sandbox, "");
    assert_eq!(told, json!({ "unused": {}, "leftovers": leftovers.len(), "bytes": 5 * leftovers.len() }));
    let exists = |name: &&&str| sandbox.path("cache").join(name).exists();
    assert_eq!(leftovers.iter().filter(exists).count(), 0);
    assert_eq!(young.iter().chain(&others).filter(exists).count(), young.len() + others.len());
}

#[test]
fn a_cache_that_is_none_is_refused() {
    let sandbox = Sandbox::new();
    for words in ["ls", "verify", "gc"] {
        let ran = sandbox.run(&format!("cache {words} --cache nowhere"));
        assert!(ran.code == 2 && ran.err.contains("expected a cache folder, got `nowhere`"), "{}", ran.err);
    }
}

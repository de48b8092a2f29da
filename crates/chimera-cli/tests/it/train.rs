//! `train` as a user meets it, up to a kill in the middle of it.

use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use chimera::model::Model;
use chimera_leaf::device::DeviceChoice;

use crate::support::Sandbox;
use crate::support::pictures::pictures;
use serde_json::json;

/// Of a run with a cache of its own: what one run has encoded must not answer for another.
fn options(cache: &str) -> String {
    format!("--cache {cache} --threads 2 --size 16 --features 16 --batch 16 --patience 40")
}

fn assert_same_model(sandbox: &Sandbox, one: &str, other: &str) {
    for name in ["encoder.safetensors", "heads.safetensors", "calibration.json", "leaves.csv"] {
        let bytes = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/{name}"))).unwrap();
        assert!(bytes(one) == bytes(other), "{name}");
    }
}

#[test]
fn a_dataset_becomes_a_model() {
    let sandbox = pictures(160);
    let ran = sandbox.run(&format!("train ds --out model {} --epochs 12 --rate 0.003", options("one")));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("epoch 12: loss 0."), "{}", ran.err);
    assert!(ran.err.contains("model in `model`, encoder "), "{}", ran.err);
    assert!(
        ran.out.starts_with("concepts on the test rows:\n") && ran.out.contains("calibration error"),
        "{}",
        ran.out
    );
    let files = [
        "calibration.json",
        "card.md",
        "encoder.safetensors",
        "heads.safetensors",
        "leaves.csv",
        "manifest.json",
        "seen.bin",
        "train.jsonl",
    ];
    let mut found: Vec<String> = std::fs::read_dir(sandbox.path("model"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, files);
    let leaves = sandbox.read("model/leaves.csv");
    assert!(leaves.starts_with("concept,auroc,ap,accuracy,prevalence,positives\nbright,"), "{leaves}");
    let auroc: f64 = leaves.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!(auroc > 0.95, "{leaves}");
    let log = sandbox.read("model/train.jsonl");
    assert_eq!(log.lines().count(), 12);
    let epoch: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert!(epoch["held_out"]["macro_ap"].as_f64().is_some(), "{epoch}");

    // Nothing is written over, and the same run gives the same encoder.
    let again = sandbox.run(&format!("train ds --out model {}", options("one")));
    assert_eq!(again.code, 2);
    assert!(again.err.contains("holds a model") && again.err.contains("--restart"), "{}", again.err);
    sandbox.write("same.toml", "epochs = 12\nrate = 0.003\n");
    let options = options("two").replace("--threads 2", "--threads 1");
    let ran = sandbox.run(&format!("train ds --out same {options} --config same.toml --json"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_same_model(&sandbox, "model", "same");
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["leaves"][0]["concept"], "bright");
    assert_eq!(json["measured_on"], "test");
    // What was left to the dataset is settled in the manifest.
    let manifest: serde_json::Value = serde_json::from_str(&sandbox.read("model/manifest.json")).unwrap();
    let config = &manifest["config"];
    assert_eq!([&config["encoder"], &config["size"], &config["frames"]], [&json!("cnn"), &json!(16), &json!(1)]);
}

/// A killed run goes on after its last epoch and ends with the bytes of a run that was never killed.
#[test]
fn a_killed_run_goes_on() {
    let sandbox = pictures(120);
    let words = |out: &str| format!("train ds --out {out} {} --epochs 40 --augment", options(&format!("{out}-cache")));
    assert_eq!(sandbox.run(&words("whole")).code, 0);
    let mut child = sandbox.command(&words("killed")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !sandbox.path("killed/checkpoint.safetensors").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run was over before it could be killed");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!sandbox.path("killed/manifest.json").exists());
    let ran = sandbox.run(&words("killed"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("going on after epoch "), "{}", ran.err);
    assert_same_model(&sandbox, "whole", "killed");
    // Seconds are those of both parts.
    let number = |text: &str, name: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()[name].clone();
    let epochs = sandbox.read("killed/train.jsonl");
    let epochs: f64 = epochs.lines().map(|line| number(line, "seconds").as_f64().unwrap()).sum();
    let all = number(&sandbox.read("killed/manifest.json"), "seconds")[1].as_f64().unwrap();
    assert!((epochs..epochs + 0.5).contains(&all), "{all} for {epochs}");
}

/// A kill while samples are encoded: the rest is encoded in other batches, to the same bits.
#[test]
fn a_kill_while_encoding_changes_nothing() {
    let sandbox = pictures(1100);
    let words = |out: &str| format!("train ds --out {out} {} --epochs 1", options(&format!("{out}-cache")));
    assert_eq!(sandbox.run(&words("whole")).code, 0);
    let mut child = sandbox.command(&words("killed")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let chunks = || match sandbox.path("killed-cache/encoded").exists() {
        true => cached(&sandbox, "killed-cache/encoded", "encoded").len(),
        false => 0,
    };
    while chunks() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "the run was over before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(chunks() < cached(&sandbox, "whole-cache/encoded", "encoded").len(), "all was encoded before the kill");
    let ran = sandbox.run(&words("killed"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_same_model(&sandbox, "whole", "killed");
}

/// `--restart` takes nothing away before it is known that the new model can be trained.
#[test]
fn an_old_model_stays_until_the_new_one_begins() {
    let sandbox = pictures(40);
    let words = |more: &str| format!("train ds --out model --cache cache --threads 2 --epochs 1 {more}");
    assert_eq!(sandbox.run(&words("")).code, 0);
    let opens = || Model::open(&sandbox.path("model"), &DeviceChoice::Cpu.open().unwrap());
    let old = opens().unwrap().manifest.encoder;
    sandbox.write("weights.pth", "x");
    for (more, expected) in [
        ("--restart --encoder resnet18 --size 32 --weights weights.pth", "cannot use the weights in `weights.pth`"),
        ("--restart --encoder resnet18 --size 32 --weights none.pth", "cannot read `none.pth`"),
        ("--restart --encoder resnet18 --weights none --size 32 --batch 1", "expected `batch` of at least 2"),
        ("--restart --rate 7", "expected `rate` above 0"),
        ("--restart --encoder features", "expected features in `ds`"),
    ] {
        let ran = sandbox.run(&words(more));
        assert!(ran.code == 2 && ran.err.contains(expected), "{more}: {}", ran.err);
        assert_eq!(opens().unwrap().manifest.encoder, old, "{more}");
    }
    let ran = sandbox.run(&words("--restart --seed 5"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_ne!(opens().unwrap().manifest.encoder, old);
}

/// Files of a cache, by the name of its folder.
fn cached(sandbox: &Sandbox, cache: &str, ending: &str) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(sandbox.path(cache)).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
}

/// Damage in the caches is mended and said, and so is that somebody else is at it.
#[test]
fn damaged_and_busy_caches_are_said() {
    let sandbox = pictures(40);
    let words = |out: &str| format!("train ds --out {out} --cache cache --threads 2 --epochs 1");
    assert_eq!(sandbox.run(&words("first")).code, 0);
    for (cache, ending) in [("cache/frames", "frames"), ("cache/encoded", "encoded")] {
        cached(&sandbox, cache, ending).iter().for_each(|path| std::fs::write(path, "x").unwrap());
    }
    let count = cached(&sandbox, "cache/frames", "frames").len();
    let ran = sandbox.run(&words("second"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let frames =
        format!("{count} damaged files of decoded frames in the cache, made anew; what was there is kept as\n  ");
    assert!(count > 1 && ran.err.contains(&frames), "{}", ran.err);
    assert!(ran.err.contains("\n1 damaged file of encoded samples in the cache"), "{}", ran.err);
    for line in ran.err.lines().filter(|line| line.ends_with(".damaged")) {
        assert!(sandbox.path(line.trim()).exists(), "{line}");
    }
    assert_eq!(cached(&sandbox, "cache/encoded", "damaged").len(), 1);
    assert!(sandbox.read("first/leaves.csv") == sandbox.read("second/leaves.csv"));

    cached(&sandbox, "cache/encoded", "encoded").iter().for_each(|path| std::fs::remove_file(path).unwrap());
    let [folder] = cached(&sandbox, "cache/encoded", "damaged").try_into().unwrap();
    let lock = std::fs::File::open(folder.with_file_name("lock")).unwrap();
    lock.lock().unwrap();
    let mut child = sandbox.command(&words("third")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut said, mut stderr) = (Vec::new(), child.stderr.take().unwrap());
    while !String::from_utf8_lossy(&said).contains("another process encodes the same samples; waiting for it") {
        let mut byte = [0];
        assert_eq!(stderr.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    lock.unlock().unwrap();
    stderr.read_to_end(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{}", String::from_utf8_lossy(&said));
}

/// The preset chooses an encoder; who has features alone is told so, and of the option that was typed.
#[test]
fn the_papers_preset_needs_pictures() {
    let sandbox = Sandbox::new();
    let numbers: Vec<u8> = (0..16_u8).flat_map(|number| f32::from(number).to_le_bytes()).collect();
    sandbox.write_npy("z.npy", 2, &numbers);
    let rows: String = (0..8).map(|row| format!("s{row},{}\n", row % 2)).collect();
    sandbox.write("t.csv", format!("id,odd\n{rows}"));
    let ran = sandbox.run("import features t.csv --features z.npy --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = sandbox.run("train ds --out model --cache cache --preset paper");
    assert!(ran.code == 2 && ran.err.contains("`--preset paper` chooses the encoder resnet18"), "{}", ran.err);
    assert!(ran.err.contains("hint: leave out `--preset`, or give `--encoder features` beside it"), "{}", ran.err);
    let ran = sandbox.run("train ds --out model --cache cache --preset paper --encoder resnet18");
    assert!(ran.code == 2 && ran.err.contains("leave out `--encoder`"), "{}", ran.err);
    let ran = sandbox.run("train ds --out model --cache cache --preset paper --encoder features --epochs 1");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // `data show` names features as its JSON does.
    let json: serde_json::Value = serde_json::from_str(&sandbox.run("data show ds --json").out).unwrap();
    let print = json["fingerprints"]["features"].as_str().unwrap();
    assert!(sandbox.run("data show ds").out.ends_with(&format!("\nfeatures {print}\n")));
}

#[test]
fn what_cannot_be_trained_is_said() {
    let sandbox = pictures(20);
    sandbox.write("bad.toml", "epochs = 3\nencodr = 'cnn'\n");
    sandbox.write("full/notes.txt", "x");
    sandbox.write("weights.pth", "x");
    sandbox.run("import table labels.csv --ignore media --out labels");
    for (words, expected) in [
        ("train nowhere --out model", "cannot read `nowhere`"),
        ("train labels --out model", "got kind `labels`"),
        ("train ds --out model --config bad.toml", "line 2: unknown field `encodr`"),
        ("train ds --out model --config none.toml", "cannot read `none.toml`"),
        ("train ds --out model --epochs 0", "expected `epochs` from 1"),
        ("train ds --out model --encoder vgg", "possible values: cnn, resnet18"),
        ("train ds --out model --encoder features", "expected features in `ds`"),
        ("train ds --out model --size 8", "expected a size of pictures from 16"),
        ("train ds --out model --freeze", "give `--weights` too"),
        ("train ds --out model --encoder resnet18", "expected `--weights` for the encoder resnet18, got none"),
        ("train ds --out model --encoder mobilenet_v2", "`--weights none` trains it from scratch"),
        ("train ds --out model --preset paper", "expected `--weights` for the encoder resnet18, got none"),
        ("train ds --out model --encoder resnet18 --weights none --freeze", "expected `--weights` with `--freeze`"),
        ("train ds --out model --weights none", "expected no `--weights` for the encoder `cnn`, got some"),
        ("train ds --out model --frames 4", "`--frames` means nothing for pictures"),
        ("train --augment --freeze ds --out model --projection true", "give `--weights` too"),
        ("train ds --out full --cache cache", "expected an empty or new folder"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{words}: {}", ran.err);
    }
    assert!(!sandbox.files().contains(&"model".to_owned()), "nothing is made before it is known that it can be");
    sandbox.write("held/.chimera-x.tmp", "left by a kill");
    let held = std::fs::File::open(sandbox.path("held")).unwrap();
    held.lock().unwrap();
    let ran = sandbox.run("train ds --out held --cache cache --epochs 1");
    assert!(ran.code == 2 && ran.err.contains("another process is training into `held`"), "{}", ran.err);
    drop(held);
    assert_eq!(sandbox.run("train ds --out held --cache cache --epochs 1").code, 0);
    assert!(!sandbox.path("held/.chimera-x.tmp").exists());
    let untrained = "train ds --out scratch --cache cache --encoder resnet18 --size 32 --epochs 1 --weights none";
    assert_eq!(sandbox.run(untrained).code, 0);
    let manifest: serde_json::Value = serde_json::from_str(&sandbox.read("scratch/manifest.json")).unwrap();
    assert_eq!(manifest["config"]["weights"], "none");
    let ran = sandbox.run("train ds --out model --cache cache --encoder resnet18 --size 32 --weights weights.pth");
    assert!(ran.code == 2 && ran.err.contains("weights.pth"), "{}", ran.err);
}

/// Weights are known by their content: a model of another seed starts from the same ones, wherever they lie, and from no others.
#[test]
fn a_model_knows_the_weights_that_it_started_from() {
    let sandbox = pictures(32);
    sandbox.write("my.rules", "r: bright => left\n");
    let train = "--cache cache --encoder mobilenet_v2 --size 32 --epochs 1 --features 8";
    for (name, seed) in [("scratch", 1), ("later", 2)] {
        let ran = sandbox.run(&format!("train ds --out {name} {train} --weights none --seed {seed}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let ran = sandbox.run(&format!(
        "train ds --out tuned --rules my.rules --gate-epochs 1 --hidden 4 {train} --freeze --weights scratch/encoder.safetensors"
    ));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let manifest: serde_json::Value = serde_json::from_str(&sandbox.read("tuned/manifest.json")).unwrap();
    let hash = blake3::hash(&std::fs::read(sandbox.path("scratch/encoder.safetensors")).unwrap()).to_string();
    assert_eq!([&manifest["weights"], &manifest["config"]["weights"]], [hash.as_str(), "encoder.safetensors"]);
    let eval = "eval tuned ds --cache cache --methods wmc --seeds 2 --refit-leaf";
    let ran = sandbox.run(&format!("{eval} -o no --weights later/encoder.safetensors"));
    assert!(ran.code == 2 && ran.err.contains("expected the weights that the model started from"), "{}", ran.err);
    let ran = sandbox.run(&format!("{eval} -o one --weights scratch/encoder.safetensors"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    // The same file elsewhere, and the same model of another seed.
    std::fs::rename(sandbox.path("scratch/encoder.safetensors"), sandbox.path("moved.safetensors")).unwrap();
    assert_eq!(sandbox.run(&format!("{eval} -o two --weights moved.safetensors")).code, 0);
    assert_eq!(std::fs::read_dir(sandbox.path("cache/replicas")).unwrap().count(), 1);
    assert_eq!(sandbox.read("one/rules.csv"), sandbox.read("two/rules.csv"));
}

//! `train` as a user meets it, up to a kill in the middle of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::process::Stdio;
use std::time::Duration;

use chimera::media::picture::{Picture, Size};
use chimera::media::png::write_png;
use support::Sandbox;

/// Pictures that are dark or bright, each with a stripe at one side, as a dataset folder `ds`.
fn sandbox(count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,media,split,bright,left\n");
    std::fs::create_dir(sandbox.path("images")).unwrap();
    for number in 0..count {
        let (bright, left) = (random.bool(), random.bool());
        let grey = if bright { random.u8(140..220) } else { random.u8(40..110) };
        let mut picture = Picture::filled(Size::new(16, 16).unwrap(), [grey; 3]);
        for row in 0..16 {
            let start = 3 * (16 * row + if left { 1 } else { 12 });
            picture.pixels_mut()[start..start + 9].fill(random.u8(..));
        }
        write_png(&sandbox.path(&format!("images/{number}.png")), &picture).unwrap();
        let split = if number % 4 == 0 { "test" } else { "train" };
        table += &format!("s{number:03},{number}.png,{split},{},{}\n", u8::from(bright), u8::from(left));
    }
    sandbox.write("labels.csv", table);
    let ran = sandbox.run("import table labels.csv --media-root images --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

const OPTIONS: &str = "--cache cache --threads 2 --size 16 --features 16 --batch 16 --patience 40";

#[test]
fn a_dataset_becomes_a_model() {
    let sandbox = sandbox(160);
    let ran = sandbox.run(&format!("train ds --out model {OPTIONS} --epochs 12 --rate 0.003"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("epoch 12: loss 0."), "{}", ran.err);
    assert!(ran.err.contains("model in `model`, encoder "), "{}", ran.err);
    assert!(
        ran.out.starts_with("concepts on the test rows:\n") && ran.out.contains("calibration error"),
        "{}",
        ran.out
    );
    let files =
        ["calibration.json", "encoder.safetensors", "heads.safetensors", "leaves.csv", "manifest.json", "train.jsonl"];
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
    let again = sandbox.run(&format!("train ds --out model {OPTIONS}"));
    assert_eq!(again.code, 2);
    assert!(again.err.contains("holds a model") && again.err.contains("--restart"), "{}", again.err);
    let encoder = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/encoder.safetensors"))).unwrap();
    sandbox.write("same.toml", "epochs = 12\nrate = 0.003\n");
    let options = OPTIONS.replace("--threads 2", "--threads 1");
    let ran = sandbox.run(&format!("train ds --out same {options} --config same.toml --json"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(encoder("model"), encoder("same"));
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["leaves"][0]["concept"], "bright");
    assert_eq!(json["measured_on"], "test");
}

/// A killed run goes on after its last epoch and ends with the bytes of a run that was never killed.
#[test]
fn a_killed_run_goes_on() {
    let sandbox = sandbox(120);
    let words = |out: &str| format!("train ds --out {out} {OPTIONS} --epochs 40 --augment");
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
    for name in ["encoder.safetensors", "heads.safetensors", "calibration.json", "leaves.csv"] {
        let bytes = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/{name}"))).unwrap();
        assert!(bytes("whole") == bytes("killed"), "{name}");
    }
}

#[test]
fn what_cannot_be_trained_is_said() {
    let sandbox = sandbox(20);
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
    let ran = sandbox.run("train ds --out model --cache cache --encoder resnet18 --size 32 --weights weights.pth");
    assert!(ran.code == 2 && ran.err.contains("weights.pth"), "{}", ran.err);
}

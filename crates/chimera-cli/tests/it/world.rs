//! `world` as a user meets it: from nothing to a trained model, without any other program, and what is refused.

use crate::support::Sandbox;

/// The commands that the help shows, on a small order; nobody finds an ffmpeg.
#[test]
fn a_world_becomes_a_model() {
    let sandbox = Sandbox::new();
    let run = |words: &str| {
        let ran = sandbox.command(words).env("PATH", "").output().unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(0), "{words}: {err}");
        (String::from_utf8(ran.stdout).unwrap(), err)
    };
    for kind in ["clevr", "clevrer"] {
        let few = "--train 30 --test 10 --oracle 10 --size 48x32";
        let (_, said) = run(&format!("world {kind} --out w-{kind} {few}"));
        assert!(
            said.contains("train 30, test 10, oracle 10") && said.contains("which 3 of test and 3 of oracle break"),
            "{said}"
        );
        assert!(said.contains(&format!("next: chimera import {kind} w-{kind} --rules w-{kind}/rules.rules")), "{said}");
        run(&format!("import {kind} w-{kind} --rules w-{kind}/rules.rules --out ds-{kind}"));
        let (checked, _) = run(&format!("data check ds-{kind} --rules w-{kind}/rules.rules"));
        assert!(checked.contains("no findings") || checked.contains("warning"), "{checked}");
        let train = format!(
            "train ds-{kind} --rules w-{kind}/rules.rules --out m-{kind} --cache cache --epochs 1 --grafts=false"
        );
        let (leaves, _) = run(&train);
        assert!(leaves.contains("blue_sphere"), "{leaves}");
    }
}

#[test]
fn what_cannot_be_made_is_refused_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.rules", "# nothing\n");
    sandbox.write("event.rules", "a: enter(red) => exit(red)\n");
    sandbox.write("word.rules", "a: red_any => bleu_sphere\n");
    sandbox.write("there/file", "");
    for (words, expected) in [
        ("world clevr --out w --train 0", "expected a number of 1 at least"),
        ("world clevr --out w --violations 30", "violations from 0 to 1, got 30"),
        ("world clevr --out w --together nan", "`together` from 0 to 1"),
        ("world clevr --out w --train 99999999999", "at most 1000000 scenes of train"),
        ("world clevr --out w --size 5x5", "16 to 4096 pixels"),
        ("world clevr --out w --rules empty.rules", "expected rules to be broken, got none"),
        ("world clevr --out w --rules event.rules", "got the event `enter(red)`"),
        ("world clevr --out w --rules word.rules", "bleu"),
        ("world clevr --out w --rules none.rules", "cannot read rule file `none.rules`"),
        ("world clevr --out there", "with files in it"),
        ("world clevrer --out w --keep-frames 129", "at most 128 frames"),
        ("world clevrer --out w --mp4 --size 33x32", "even width and height"),
    ] {
        let ran = sandbox.run(words);
        assert!(ran.code == 2 && ran.err.contains(expected), "{words}: {} {}", ran.code, ran.err);
    }
    let ran = sandbox.command("world clevrer --out w --mp4").env("PATH", "").output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(2) && said.contains("leave out `--mp4`"), "{said}");
    assert_eq!(sandbox.files(), ["empty.rules", "event.rules", "there", "word.rules"]);
}

/// Rules that nearly every scene breaks, or that only what happens can break.
#[test]
fn unusual_rules_can_be_drawn_under() {
    let sandbox = Sandbox::new();
    sandbox.write("dull.rules", "dull: !metal_any\n");
    sandbox.write("calm.rules", "calm: !collide(any,any)\n");
    let few = "--train 4 --test 6 --oracle 0 --violations 0.5 --size 32x32";
    for (kind, rules) in [("clevr", "dull"), ("clevrer", "calm")] {
        let ran = sandbox.run(&format!("world {kind} --out {rules} --rules {rules}.rules {few}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = sandbox.run(&format!("import {kind} {rules} --rules {rules}.rules --out ds-{rules}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = sandbox.run(&format!("rules truth {rules}.rules --data ds-{rules}"));
        let broken = ran.out.lines().skip(1).filter(|line| line.ends_with(",0")).count();
        assert_eq!(broken, 3, "{}", ran.out);
    }
}

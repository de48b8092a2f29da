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
    for (kind, concept) in [("clevr", "blue_sphere"), ("clevrer", "blue_sphere"), ("vidor", "rel:dog-watch-cat")] {
        let few = "--train 30 --test 10 --oracle 10 --size 48x32";
        let (_, said) = run(&format!("world {kind} --out w-{kind} {few}"));
        assert!(
            said.contains("train 30, test 10, oracle 10") && said.contains("which 3 of test and 3 of oracle break"),
            "{said}"
        );
        // Eight rules of scenes, ten of clips, and three scenes that break one each.
        let left = if kind == "clevr" { "so 5 of 8 rules" } else { "so 7 of 10 rules" };
        assert!(
            said.contains("warning: 3 scenes of test break a rule, each a different one") && said.contains(left),
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
        assert!(leaves.contains(concept), "{leaves}");
    }
}

/// Things out of a hierarchy, under rules of one's own: from nothing to a model, and the other ways to import them.
#[test]
fn a_world_of_classes_becomes_a_model() {
    let sandbox = Sandbox::new();
    sandbox.write("my.rules", "face: Person => \"Human face\"\ntree: Man & Dog => Tree | Flower\n");
    let run = |words: &str| {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.err);
        (ran.out, ran.err)
    };
    let (_, said) = run("world openimages --out w --rules my.rules --train 80 --test 20 --oracle 10 --size 48x32");
    assert!(said.contains("2 rules, which 6 of test and 3 of oracle break"), "{said}");
    assert!(said.contains("next: chimera import openimages w --top 66 --rules w/rules.rules --out ds/"), "{said}");
    let (_, said) = run("import openimages w --top 66 --rules w/rules.rules --out ds --strict");
    assert!(said.contains("test 20, oracle 10"), "{said}");
    let (truth, _) = run("rules truth w/rules.rules --data ds");
    assert_eq!(truth.lines().skip(1).filter(|line| line.contains(",0")).count(), 9, "{truth}");
    run("data check ds --rules w/rules.rules");
    let (leaves, _) = run("train ds --rules w/rules.rules --out m --cache cache --epochs 1 --grafts=false");
    assert!(leaves.contains("Land vehicle"), "{leaves}");
    let (_, said) = run("rules structure ds -o structure.rules");
    assert!(said.contains("left out: Dog => Carnivore"), "{said}");
    run("import openimages w --top 66 --open-world --out open");
    assert!(
        sandbox
            .run("world openimages --help")
            .out
            .contains("chimera import openimages w/ --top 66 --rules w/rules.rules")
    );
}

#[test]
fn what_cannot_be_made_is_refused_and_leaves_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.rules", "# nothing\n");
    sandbox.write("event.rules", "a: enter(red) => exit(red)\n");
    sandbox.write("word.rules", "a: red_any => bleu_sphere\nb: cube => metl_any\n");
    sandbox.write("meant.rules", "a: red_cube => red_any\n");
    sandbox.write("figure.rules", "a: obj:babby => obj:adult\n");
    sandbox.write("never.rules", "a: rel:chair-chase-dog => obj:adult\n");
    sandbox.write("class.rules", "a: Dogg => Animal\n");
    sandbox.write("there/file", "");
    for (words, expected) in [
        ("world clevr --out w --train 0", "expected a number of 1 at least"),
        ("world clevr --out w --violations 30", "violations from 0 to 1, got 30"),
        ("world clevr --out w --together nan", "`together` from 0 to 1"),
        ("world clevr --out w --train 99999999999", "at most 1000000 scenes of train"),
        ("world clevr --out w --size 5x5", "16 to 4096 pixels"),
        ("world clevr --out w --size 70000x64", "16 to 4096 pixels a side, got 70000 x 64"),
        ("world clevr --out w --rules empty.rules", "expected rules to be broken, got none"),
        ("world clevr --out w --rules event.rules", "got the event `enter(red)`"),
        ("world clevr --out w --rules word.rules", "unknown concept `bleu_sphere`\n --> word.rules:1:15\n"),
        ("world clevr --out w --rules word.rules", "unknown concept `metl_any`\n --> word.rules:2:12\n"),
        ("world clevr --out w --rules meant.rules", "rule `a` always holds, by what its concepts mean"),
        ("world clevr --out w --rules none.rules", "cannot read rule file `none.rules`"),
        ("world clevr --out there", "with files in it"),
        ("world openimages --out w --rules class.rules", "did you mean `Dog`?"),
        ("world openimages --out w --rules word.rules", "expected one of the 66 classes"),
        ("world openimages --out w --size 5x5", "16 to 4096 pixels"),
        ("world clevrer --out w --keep-frames 129", "at most 128 frames"),
        ("world clevrer --out w --mp4 --size 33x32", "even width and height"),
        ("world vidor --out w --keep-frames 16", "expected to keep 8, 24, 40, 48, 56 or all 64 frames, got 16"),
        ("world vidor --out w --rules figure.rules", "did you mean `baby`?"),
        ("world vidor --out w --rules never.rules", "only people and animals watch and chase"),
        ("world vidor --out w --train 99999999999", "at most 1000000 scenes of train"),
    ] {
        let ran = sandbox.run(words);
        assert!(ran.code == 2 && ran.err.contains(expected), "{words}: {} {}", ran.code, ran.err);
    }
    let ran = sandbox.command("world clevrer --out w --mp4").env("PATH", "").output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(2) && said.contains("leave out `--mp4`"), "{said}");
    let files = [
        "class.rules",
        "empty.rules",
        "event.rules",
        "figure.rules",
        "meant.rules",
        "never.rules",
        "there",
        "word.rules",
    ];
    assert_eq!(sandbox.files(), files);
}

/// Rules that nearly every scene breaks, or that only what happens can break.
#[test]
fn unusual_rules_can_be_drawn_under() {
    let sandbox = Sandbox::new();
    sandbox.write("dull.rules", "dull: !metal_any\n");
    sandbox.write("calm.rules", "calm: !collide(any,any)\n");
    sandbox.write("shy.rules", "shy: !rel:cat-above-chair\n");
    let few = "--train 4 --test 6 --oracle 0 --violations 0.5 --size 32x32";
    for (kind, rules) in [("clevr", "dull"), ("clevrer", "calm"), ("vidor", "shy")] {
        let ran = sandbox.run(&format!("world {kind} --out {rules} --rules {rules}.rules {few}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = sandbox.run(&format!("import {kind} {rules} --rules {rules}.rules --out ds-{rules}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let ran = sandbox.run(&format!("rules truth {rules}.rules --data ds-{rules}"));
        let broken = ran.out.lines().skip(1).filter(|line| line.ends_with(",0")).count();
        assert_eq!(broken, 3, "{}", ran.out);
    }
}

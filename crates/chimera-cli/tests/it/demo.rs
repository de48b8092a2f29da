//! `demo` as a stranger meets it: one command, a report, and what is wrong with three clips.

use crate::support::Sandbox;

#[test]
fn the_demo_says_what_is_wrong_with_clips_and_writes_over_nothing() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("demo --quick");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let right = ran.out.lines().last().unwrap();
    assert!(["2 of 3 right.", "3 of 3 right."].contains(&right), "{}", ran.out);
    // The world's other three rules are found, not told.
    let mined = sandbox.read("chimera-demo/mined.rules");
    for rule in ["purple_any => blue_any | green_any", "enter(blue) => green_any"] {
        assert!(mined.contains(rule), "{mined}");
    }
    assert!(["cyan_any => !yellow_any", "yellow_any => !cyan_any"].iter().any(|rule| mined.contains(rule)), "{mined}");
    assert!(ran.err.contains("$ chimera train") && ran.err.contains("chimera-demo/report/report.html"), "{}", ran.err);
    assert!(sandbox.read("chimera-demo/report/report.html").contains("yellow_stays"));
    let pages = std::fs::read_dir(sandbox.path("chimera-demo/why")).unwrap().count();
    assert_eq!(pages, 3);

    let ran = sandbox.run("demo --quick");
    assert!(ran.code == 2 && ran.err.contains("`chimera-demo` is there and not empty"), "{}", ran.err);
    assert!(ran.err.contains("--out DIR"), "{}", ran.err);
}

/// `cargo test --release -p chimera-cli --test it -- --ignored ten_seeds`; `docs/speed.md` says what the demo takes.
#[test]
#[ignore = "ten demos take half an hour on two cores"]
fn the_demo_is_right_for_two_of_three_clips_with_any_of_ten_seeds() {
    let sandbox = Sandbox::new();
    for seed in 1..=10 {
        let ran = sandbox.run(&format!("demo --seed {seed} --out demo-{seed}"));
        let right = ran.out.lines().last().unwrap_or_default().to_owned();
        assert!(["2 of 3 right.", "3 of 3 right."].contains(&right.as_str()), "seed {seed}: {} {}", ran.out, ran.err);
    }
}

#[test]
fn shells_get_completions() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = sandbox.run(&format!("completions {shell}"));
        assert!(ran.code == 0 && ran.out.contains("experiment"), "{shell}");
    }
}

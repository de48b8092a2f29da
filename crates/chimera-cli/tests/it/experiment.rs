//! `experiment`: pages of results, archives that do not fit, and work that is not done twice.

use crate::support::Sandbox;

#[test]
fn digits_are_sorted_by_a_contradiction() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("experiment mnist-contradiction --quick --out lab");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("# Digits under `A <=> !A`"), "{}", ran.out);
    assert_eq!(ran.out, sandbox.read("lab/results/mnist-contradiction-quick/results.md"));
    // Ten digits by two methods, ten samples of either end each.
    let rows = ran.out.lines().filter(|line| line.starts_with("| `digit_")).count();
    assert_eq!(rows, 20, "{}", ran.out);
    let strips = std::fs::read(sandbox.path("lab/results/mnist-contradiction-quick/strips.png")).unwrap();
    assert!(strips.starts_with(b"\x89PNG") && strips.len() > 20_000);

    // What is there is used again: nothing is taught.
    let again = sandbox.run("experiment mnist-contradiction --quick --out lab");
    assert_eq!((again.code, &again.out), (0, &ran.out), "{}", again.err);
    assert!(!again.err.contains("epoch") && !again.err.contains("taught"), "{}", again.err);
    // Another seed is another world, beside it.
    let ran = sandbox.run("experiment mnist-1and7 --quick --out lab --seed 2");
    assert!(ran.code == 0 && ran.out.contains("| `digit_7` | neural |"), "{} {}", ran.out, ran.err);
}

#[test]
fn archives_that_do_not_fit_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("empty/readme.txt", "nothing here");
    for (words, expected) in [
        ("experiment transfer --root empty", "`transfer` is about several kinds of data and takes no archive"),
        ("experiment transfer --worlds clevr", "`transfer` has data of its own and takes no worlds"),
        ("experiment quality --worlds mars", "invalid value"),
        ("experiment mnist-1and7 --root empty", "expected `train-images-idx3-ubyte`"),
        ("experiment mnist-1and7 --root nowhere", "nowhere"),
        ("experiment mnist-1and7 --seeds 2", "takes no seeds"),
        ("experiment clevr-static --root empty", "expected"),
        ("experiment nothing", "invalid value"),
        ("experiment paper --seeds 0", "invalid value"),
    ] {
        let ran = sandbox.run(&format!("{words} --out lab"));
        assert!(ran.code == 2 && ran.err.contains(expected), "{words}: {}", ran.err);
    }
}

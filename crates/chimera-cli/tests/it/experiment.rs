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
        ("experiment transfer --parts growth", "`transfer` measures no speed"),
        ("experiment speed --parts depth", "invalid value"),
        ("experiment speed --device abacus", "abacus"),
        ("experiment speed --seeds 2", "`speed` measures time and takes no seeds"),
        ("experiment speed --quick --parts growth --python nowhere/python", "cannot start `nowhere/python`"),
    ] {
        let ran = sandbox.run(&format!("{words} --out lab"));
        assert!(ran.code == 2 && ran.err.contains(expected), "{words}: {}", ran.err);
    }
}

#[test]
fn speed_is_measured_part_by_part() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("experiment speed --quick --parts growth --out lab");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("# Speed\n") && ran.out.contains("no columns of PyTorch"), "{}", ran.out);
    assert_eq!(ran.out, sandbox.read("lab/speed.md"));
    // Teaching and scoring, against three sizes each.
    let rows =
        ran.out.lines().filter(|line| line.starts_with("| train | CPU |") || line.starts_with("| score | CPU |"));
    assert_eq!(rows.count(), 6, "{}", ran.out);
    let book = || serde_json::from_str::<serde_json::Value>(&sandbox.read("lab/speed.json")).unwrap();
    let growth = book()["parts"]["growth"]["measurements"].clone();
    // Three points and an exponent a row.
    assert_eq!(growth.as_array().unwrap().len(), 6 * 4);

    // Another part goes into the same files.
    let ran = sandbox.run("experiment speed --quick --parts score --out lab");
    assert!(ran.code == 0 && ran.out.contains("## What grows with what"), "{} {}", ran.out, ran.err);
    assert_eq!(book()["parts"]["growth"]["measurements"], growth);
    assert!(book()["parts"]["score"]["measurements"][0]["of_product"].as_f64().unwrap() > 0.0);
    // Full sizes do not go with a first look.
    let ran = sandbox.run("experiment speed --parts growth --out lab");
    assert!(ran.code == 2 && ran.err.contains("holds numbers of a first look"), "{}", ran.err);
}

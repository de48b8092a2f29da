//! Where to compute: what is there is listed, what is not there is named, and nothing is computed elsewhere instead.

use crate::support::Sandbox;

#[test]
fn devices_are_listed_and_what_is_missing_is_named() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("devices");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let processor = ran.out.lines().find(|line| line.starts_with("cpu ")).unwrap();
    if !ran.out.contains("cuda:") {
        assert!(processor.ends_with("auto"), "{processor}");
        assert!(ran.err.starts_with("no GPU: ") && ran.err.contains("hint: "), "{}", ran.err);
        let ran = sandbox.run("selftest");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""));
        assert!(ran.err.starts_with("error: no GPU to hold against the processor: "), "{}", ran.err);
    }
}

#[test]
fn a_device_that_is_none_is_refused() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("selftest --device cpu");
    assert!(ran.code == 2 && ran.err.contains("`--device cpu` names no GPU"), "{}", ran.err);
    for command in ["train ds --out model", "score model new", "eval model ds -o report", "explain model new", "demo"] {
        let ran = sandbox.run(&format!("{command} --device gpu"));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("expected `auto`, `cpu` or `cuda:N`, got `gpu`"), "{}", ran.err);
    }
}

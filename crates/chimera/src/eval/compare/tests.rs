//! Reports that are made up, compared by hand.

use std::fs;
use std::path::Path;

use safetensors::Dtype;

use super::kept::Line;
use super::*;
use crate::eval::summary::SCHEMA;

/// A report of rules with resamples that are their AUROC and a little more or less.
fn report(rows: &str, rules: &[(&str, &str, f64)]) -> Report {
    let rule =
        |formula: &str| KeptRule { formula: formula.to_owned(), truth: "t".to_owned(), positives: FEW, negatives: FEW };
    let line = |rule: &str, auroc: f64| Line { rule: rule.to_owned(), method: "neural".to_owned(), auroc, tells: true };
    let kept = Kept {
        schema: SCHEMA,
        dataset: "d".to_owned(),
        test_rows: rows.to_owned(),
        main: "neural".to_owned(),
        seeds: vec![1],
        rules: rules.iter().map(|(name, formula, _)| ((*name).to_owned(), rule(formula))).collect(),
        lines: rules.iter().map(|(rule, _, auroc)| line(rule, *auroc)).collect(),
    };
    let again = |auroc: f64| (0..100).map(|at| auroc as f32 + 0.001 * (at as f32 - 50.0)).collect();
    Report { kept, again: rules.iter().map(|(.., auroc)| again(*auroc)).collect() }
}

fn compared(before: &Report, after: &Report) -> Comparison {
    Comparison::of(before, after, ["neural"; 2], 0.01).unwrap()
}

#[test]
fn paired_differences_see_what_unpaired_ones_cannot() {
    let before = report("x", &[("a", "p => q", 0.90), ("b", "q", 0.80), ("c", "p", 0.7), ("gone", "p", 0.7)]);
    let after = report("x", &[("a", "p => q", 0.88), ("b", "q", 0.81), ("c", "!p", 0.7), ("new", "p", 0.7)]);
    let found = compared(&before, &after);
    let rules: Vec<Option<&str>> = found.differences.iter().map(|one| one.rule.as_deref()).collect();
    assert_eq!(rules, [Some("a"), Some("b"), None]);
    // Resamples move together, so that the interval has no width.
    let interval = found.differences[0].interval.unwrap();
    assert!((interval.low + 0.02).abs() < 1e-6 && (interval.high + 0.02).abs() < 1e-6);
    assert!(found.differences[0].is_regression && !found.differences[1].is_regression);
    assert!((found.differences[2].difference + 0.005).abs() < 1e-9);
    assert!(
        Comparison::of(&before, &after, ["neural"; 2], 0.05).unwrap().differences.iter().all(|one| !one.is_regression)
    );
    let words = found.words.join("\n");
    for expected in ["`gone` is in the first report alone", "`new` is in the second", "`c` is another rule"] {
        assert!(words.contains(expected), "{words}");
    }
    let other = report("y", &[("a", "p => q", 0.88)]);
    assert!(!compared(&before, &other).is_paired);
}

#[test]
fn what_cannot_be_compared_has_its_own_cause() {
    let error = |before: &Report, after: &Report, methods: [&str; 2]| {
        Comparison::of(before, after, methods, 0.0).unwrap_err().to_string()
    };
    let (before, mut after) = (report("x", &[("a", "p", 0.9)]), report("x", &[("a", "!p", 0.8), ("b", "q", 0.8)]));
    let found = error(&before, &after, ["neural"; 2]);
    assert!(found.contains("`a` is another rule") && found.contains("`b` is in the second report alone"), "{found}");
    assert!(found.ends_with("hint: make both reports with the same rules"), "{found}");
    let found = error(&before, &after, ["neural", "sem"]);
    let expected = "expected a method of the second report, got `sem`, which it does not have\n\
        hint: choose with `--method` and `--with`; it has neural";
    assert_eq!(found, expected);
    // `sem` tells another rule alone.
    after = report("x", &[("a", "p", 0.9), ("b", "q", 0.8)]);
    after.kept.lines[1].method = "sem".to_owned();
    let found = error(&before, &after, ["neural", "sem"]);
    assert!(found.contains("`a` is undefined in the second report"), "{found}");
    assert!(found.contains("another method may tell them: `--method` with one of neural"), "{found}");
    let empty = report("x", &[]);
    assert!(error(&before, &empty, ["neural"; 2]).starts_with("no rule of the second report has an AUROC"));
}

#[test]
fn other_seeds_and_few_rows_are_said() {
    let before = report("x", &[("a", "p", 0.9), ("b", "q", 0.8)]);
    assert_eq!(compared(&before, &before).words, [""; 0]);
    let mut after = before.clone();
    after.kept.seeds = vec![1, 2];
    after.kept.rules.get_mut("b").unwrap().positives = FEW - 1;
    let found = compared(&before, &after);
    let little: Vec<bool> = found.differences.iter().map(|one| one.says_little).collect();
    assert_eq!(little, [false, true, false]);
    let expected = [
        "the reports are of different seeds (1 and 1, 2): intervals know of rows, not of what seeds change",
        "fewer than 10 rows of a kind, which say little: `b`",
    ];
    assert_eq!(found.words, expected);
}

#[test]
fn the_interval_of_the_mean_is_over_rules_that_tell() {
    let before = report("x", &[("a", "p", 0.9), ("b", "q", 0.8)]);
    let mut after = report("x", &[("a", "p", 0.85), ("b", "q", 0.9)]);
    after.again[0][..10].fill(f32::NAN);
    after.kept.lines[1].tells = false;
    let found = compared(&before, &after);
    let (b, mean) = (&found.differences[1], &found.differences[2]);
    assert!(b.interval.is_none() && (mean.difference - 0.025).abs() < 1e-9);
    // That of `a` alone, whose resamples move together; undefined ones are what they are on all rows.
    let interval = mean.interval.unwrap();
    assert!((interval.low + 0.05).abs() < 1e-6 && (interval.high + 0.05).abs() < 1e-6, "{interval:?}");
    let words = "the interval of the mean is over 1 of 2 rules, around -0.0500: of the others too few rows tell";
    assert_eq!(found.words, [words]);
}

/// Writes the resamples of a report of one rule, as a tensor of any type and shape, and changes them after they got their hash.
fn written(
    folder: &Path,
    (dtype, shape): (Dtype, [usize; 2]),
    change: &dyn Fn(&mut Kept, &mut [u8]),
) -> Result<Report> {
    let mut data = vec![0; shape[0] * shape[1] * dtype.bitsize() / 8];
    let mut kept = report("x", &[("a", "p", 0.9)]).kept;
    let mut about = about_resamples(&serde_json::to_string(&kept).unwrap(), &data);
    let hash = about["report"].rsplit_once('\n').unwrap().1.to_owned();
    change(&mut kept, &mut data);
    about.insert("report".to_owned(), format!("{}\n{hash}", serde_json::to_string(&kept).unwrap()));
    let tensor = safetensors::tensor::TensorView::new(dtype, shape.to_vec(), &data).unwrap();
    fs::write(folder.join(RESAMPLED), safetensors::serialize([("auroc", tensor)], Some(about)).unwrap()).unwrap();
    Report::open(folder)
}

#[test]
fn resamples_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let as_it_is = |dtype, shape| written(folder.path(), (dtype, shape), &|_, _| {});
    let right = as_it_is(Dtype::F32, [1, 4]).unwrap();
    assert_eq!(right.again, [[0.0; 4]]);
    for (dtype, shape) in
        [(Dtype::F16, [1, 4]), (Dtype::F64, [1, 4]), (Dtype::U8, [1, 4]), (Dtype::F32, [1, 0]), (Dtype::F32, [2, 4])]
    {
        let error = as_it_is(dtype, shape).unwrap_err().to_string();
        assert!(error.starts_with("expected the resamples of a report in"), "{dtype:?} {shape:?}: {error}");
    }
    let more = as_it_is(Dtype::F32, [1, 5]).unwrap();
    let error = Comparison::of(&right, &more, ["neural"; 2], 0.0).unwrap_err().to_string();
    assert!(error.starts_with("expected reports with as many resamples, got 4 and 5"), "{error}");
}

#[test]
fn damaged_numbers_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |change: &dyn Fn(&mut Kept, &mut [u8])| {
        written(folder.path(), (Dtype::F32, [1, 4]), change).unwrap_err().to_string()
    };
    // A number that could be one, one beyond all shares, and another AUROC of all rows.
    let found = [
        refused(&|_, data| data[..4].copy_from_slice(&0.5_f32.to_le_bytes())),
        refused(&|_, data| data[..4].copy_from_slice(&1.5_f32.to_le_bytes())),
        refused(&|_, data| data[..4].copy_from_slice(&f32::INFINITY.to_le_bytes())),
        refused(&|kept, _| kept.lines[0].auroc = 0.95),
    ];
    assert!(found.iter().all(|error| error.contains("the file was changed or damaged")), "{found:?}");
    let found = [refused(&|kept, _| kept.schema = 1), refused(&|kept, _| kept.schema = 99)];
    assert!(found[0].contains("an older chimera") && found[1].contains("a newer chimera"), "{found:?}");
}

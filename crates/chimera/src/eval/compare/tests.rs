//! Reports that are made up, compared by hand.

use super::*;

/// A report of rules with resamples that are their AUROC and a little more or less.
fn report(rows: &str, rules: &[(&str, &str, f64)]) -> Report {
    let kept = Kept {
        schema: SCHEMA,
        dataset: "d".to_owned(),
        test_rows: rows.to_owned(),
        main: "neural".to_owned(),
        rules: rules
            .iter()
            .map(|(rule, formula, _)| ((*rule).to_owned(), ((*formula).to_owned(), "t".to_owned(), true)))
            .collect(),
        lines: rules.iter().map(|(rule, _, auroc)| ((*rule).to_owned(), "neural".to_owned(), *auroc)).collect(),
    };
    let again = |auroc: f64| (0..100).map(|at| auroc as f32 + 0.001 * (at as f32 - 50.0)).collect();
    Report { kept, again: rules.iter().map(|(.., auroc)| again(*auroc)).collect() }
}

#[test]
fn paired_differences_see_what_unpaired_ones_cannot() {
    let before = report("x", &[("a", "p => q", 0.90), ("b", "q", 0.80), ("c", "p", 0.7), ("gone", "p", 0.7)]);
    let after = report("x", &[("a", "p => q", 0.88), ("b", "q", 0.81), ("c", "!p", 0.7), ("new", "p", 0.7)]);
    let found = Comparison::of(&before, &after, ["neural"; 2], 0.01).unwrap();
    let rules: Vec<Option<&str>> = found.differences.iter().map(|one| one.rule.as_deref()).collect();
    assert_eq!(rules, [Some("a"), Some("b"), None]);
    // Resamples move together, so that the interval has no width.
    let interval = found.differences[0].interval.unwrap();
    assert!((interval.low + 0.02).abs() < 1e-6 && (interval.high + 0.02).abs() < 1e-6);
    assert!(found.differences[0].is_regression && !found.differences[1].is_regression && found.has_regressions());
    assert!((found.differences[2].difference + 0.005).abs() < 1e-9);
    assert!(!Comparison::of(&before, &after, ["neural"; 2], 0.05).unwrap().has_regressions());
    let words = found.words.join("\n");
    for expected in ["`gone` is in the first report alone", "`new` is in the second", "`c` is another rule"] {
        assert!(words.contains(expected), "{words}");
    }
    let error = Comparison::of(&before, &after, ["neural", "sem"], 0.0).unwrap_err().to_string();
    assert!(error.starts_with("there is no rule that both reports can tell by `neural` and `sem`"), "{error}");
    let other = report("y", &[("a", "p => q", 0.88)]);
    assert!(!Comparison::of(&before, &other, ["neural"; 2], 0.0).unwrap().is_paired);
}

#[test]
fn the_interval_of_the_mean_is_over_rules_that_tell() {
    let before = report("x", &[("a", "p", 0.9), ("b", "q", 0.8)]);
    let mut after = report("x", &[("a", "p", 0.85), ("b", "q", 0.9)]);
    after.again[0][..10].fill(f32::NAN);
    after.kept.rules.get_mut("b").unwrap().2 = false;
    let found = Comparison::of(&before, &after, ["neural"; 2], 0.0).unwrap();
    let (b, mean) = (&found.differences[1], &found.differences[2]);
    assert!(b.interval.is_none() && (mean.difference - 0.025).abs() < 1e-9);
    // That of `a` alone, whose resamples move together; undefined ones are what they are on all rows.
    let interval = mean.interval.unwrap();
    assert!((interval.low + 0.05).abs() < 1e-6 && (interval.high + 0.05).abs() < 1e-6, "{interval:?}");
    let words = "the interval of the mean is over 1 of 2 rules: of the others too few rows tell";
    assert_eq!(found.words, [words]);
}

/// Writes the resamples of a report of one rule, as a tensor of any type and shape.
fn written(folder: &Path, dtype: Dtype, shape: [usize; 2]) -> Result<Report> {
    let data = vec![0; shape[0] * shape[1] * dtype.bitsize() / 8];
    let tensor = safetensors::tensor::TensorView::new(dtype, shape.to_vec(), &data).unwrap();
    let kept = serde_json::to_string(&report("x", &[("a", "p", 0.9)]).kept).unwrap();
    let about = std::collections::HashMap::from([("report".to_owned(), kept)]);
    fs::write(folder.join(RESAMPLED), safetensors::serialize([("auroc", tensor)], Some(about)).unwrap()).unwrap();
    Report::open(folder)
}

#[test]
fn resamples_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let right = written(folder.path(), Dtype::F32, [1, 4]).unwrap();
    assert_eq!(right.again, [[0.0; 4]]);
    for (dtype, shape) in
        [(Dtype::F16, [1, 4]), (Dtype::F64, [1, 4]), (Dtype::U8, [1, 4]), (Dtype::F32, [1, 0]), (Dtype::F32, [2, 4])]
    {
        let error = written(folder.path(), dtype, shape).unwrap_err().to_string();
        assert!(error.starts_with("expected the resamples of a report in"), "{dtype:?} {shape:?}: {error}");
    }
    let more = written(folder.path(), Dtype::F32, [1, 5]).unwrap();
    let error = Comparison::of(&right, &more, ["neural"; 2], 0.0).unwrap_err().to_string();
    assert!(error.starts_with("expected reports with as many resamples, got 4 and 5"), "{error}");
}

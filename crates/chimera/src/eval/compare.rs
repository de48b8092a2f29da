//! Two reports against each other: the difference of every rule, with an interval. Where both were made on the same test rows,
//! they drew the same resamples, and differences are paired; else they are as uncertain as both together.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::Evaluation;
use super::summary::{MeanResamples, SCHEMA};
use crate::error::{Error, Result};
use crate::metric::MacroMean;
use crate::metric::bootstrap::{Interval, difference_of};

/// The file of a report that has its resamples.
pub const RESAMPLED: &str = "resamples.safetensors";

/// What a report keeps to be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    schema: u32,
    dataset: String,
    test_rows: String,
    main: String,
    /// Rules by name: formula, who breaks it, and whether enough rows of both kinds tell.
    rules: BTreeMap<String, (String, String, bool)>,
    /// Rule, method and AUROC of each line of the resamples.
    lines: Vec<(String, String, f64)>,
}

impl Kept {
    pub(super) fn of(evaluation: &Evaluation) -> Self {
        let about = &evaluation.about;
        let rule = |rule: &super::RuleOf| {
            let tells = rule.positives > 1 && rule.negatives > 1;
            (rule.name.clone(), (rule.formula.clone(), rule.truth.clone(), tells))
        };
        Self {
            schema: SCHEMA,
            dataset: about.dataset.clone(),
            test_rows: about.test_rows.clone(),
            main: about.main.name().to_owned(),
            rules: evaluation.rules.iter().map(rule).collect(),
            lines: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, rule: &str, method: &str, auroc: f64) {
        self.lines.push((rule.to_owned(), method.to_owned(), auroc));
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }
}

/// A report that was read back.
#[derive(Clone, Debug)]
pub struct Report {
    kept: Kept,
    again: Vec<Vec<f32>>,
}

impl Report {
    /// Reads the folder of a report.
    ///
    /// # Errors
    /// A folder that is no report, or of a newer layout.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(RESAMPLED);
        if folder.is_dir() && !path.is_file() {
            let message = format!("expected a report, got `{}` without `{RESAMPLED}`", folder.display());
            return Err(Error::input(message, Some("`chimera eval` makes reports".to_owned())));
        }
        let bytes = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
        let damaged = || {
            let message = format!("expected the resamples of a report in `{}`, got something else", path.display());
            Error::input(message, Some("the file was changed or damaged; make the report again".to_owned()))
        };
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|_| damaged())?;
        let text = metadata.metadata().as_ref().and_then(|metadata| metadata.get("report")).ok_or_else(damaged)?;
        let kept: Kept = serde_json::from_str(text).map_err(|_| damaged())?;
        if kept.schema > SCHEMA {
            let message =
                format!("expected a report of layout {SCHEMA} in `{}`, got {}", folder.display(), kept.schema);
            return Err(Error::input(message, Some("it was made by a newer chimera; update this one".to_owned())));
        }
        let file = SafeTensors::deserialize(&bytes).map_err(|_| damaged())?;
        let tensor = file.tensor("auroc").map_err(|_| damaged())?;
        let &[lines, resamples] = tensor.shape() else { return Err(damaged()) };
        // Without any rule that is defined there are neither lines nor resamples.
        let is_empty = lines > 0 && resamples == 0;
        if lines != kept.lines.len() || is_empty || tensor.dtype() != Dtype::F32 {
            return Err(damaged());
        }
        let values = bytemuck::pod_collect_to_vec::<u8, f32>(tensor.data());
        let again = values.chunks_exact(resamples.max(1)).map(<[f32]>::to_vec).collect();
        Ok(Self { kept, again })
    }

    /// Methods that it has, in the order of tables.
    #[must_use]
    pub fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for (_, method, _) in &self.kept.lines {
            if !methods.contains(&method.as_str()) {
                methods.push(method);
            }
        }
        methods
    }

    /// The method that it speaks of first.
    #[must_use]
    pub fn main(&self) -> &str {
        &self.kept.main
    }

    /// How often rows were drawn again; `None` without any line.
    fn resamples(&self) -> Option<usize> {
        self.again.first().map(Vec::len)
    }

    fn line(&self, rule: &str, method: &str) -> Option<(f64, &[f32])> {
        let at = self.kept.lines.iter().position(|line| line.0 == rule && line.1 == method)?;
        Some((self.kept.lines[at].2, &self.again[at]))
    }
}

/// The difference of one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The rule; `None` for the mean over all of them.
    pub rule: Option<String>,
    /// AUROC in the first report.
    pub before: f64,
    /// AUROC in the second.
    pub after: f64,
    /// What was gained.
    pub difference: f64,
    /// Its interval; `None` where too few rows tell.
    pub interval: Option<Interval>,
    /// Whether it is worse by more than the tolerance, and the interval is below zero.
    pub is_regression: bool,
}

/// Two reports side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The method in the first and in the second report.
    pub methods: [String; 2],
    /// Whether both were made on the same test rows.
    pub is_paired: bool,
    /// What may be lost without being a regression.
    pub tolerance: f64,
    /// Rules that both have, then the mean over them.
    pub differences: Vec<Difference>,
    /// What cannot be compared, and why.
    pub words: Vec<String>,
}

impl Comparison {
    /// Compares a method of one report with a method of another.
    ///
    /// # Errors
    /// No rule that both can tell, and rows that were drawn more often in one of them.
    pub fn of(before: &Report, after: &Report, methods: [&str; 2], tolerance: f64) -> Result<Self> {
        if let (Some(one), Some(other)) = (before.resamples(), after.resamples())
            && one != other
        {
            let message = format!("expected reports with as many resamples, got {one} and {other}");
            return Err(Error::input(message, Some("make both with the same chimera".to_owned())));
        }
        let is_paired = before.kept.test_rows == after.kept.test_rows;
        let mut words = Vec::new();
        if !is_paired {
            words.push(
                "the reports are of different test rows: differences are not paired, and intervals are wide".to_owned(),
            );
        }
        let (mut differences, mut means) = (Vec::new(), MeanResamples::default());
        for (rule, (formula, truth, tells)) in &before.kept.rules {
            let Some((other_formula, other_truth, other_tells)) = after.kept.rules.get(rule) else {
                words.push(format!("`{rule}` is in the first report alone"));
                continue;
            };
            if formula != other_formula {
                words.push(format!(
                    "`{rule}` is another rule in the second report: `{formula}` became `{other_formula}`"
                ));
                continue;
            }
            if is_paired && truth != other_truth {
                words.push(format!("labels have changed: other rows break `{rule}` in the second report"));
                continue;
            }
            match (before.line(rule, methods[0]), after.line(rule, methods[1])) {
                (Some((one, one_again)), Some((other, other_again))) => {
                    let again = difference_of(other_again, one_again);
                    let interval = if *tells && *other_tells { Interval::of(&again) } else { None };
                    differences.push(Self::difference(Some(rule.clone()), [one, other], interval, tolerance));
                    if interval.is_some() {
                        means.add(again, other - one);
                    }
                }
                (None, None) => words.push(format!("`{rule}` is undefined in both reports")),
                (None, _) => words.push(format!("`{rule}` is undefined in the first report")),
                (_, None) => words.push(format!("`{rule}` is undefined in the second report")),
            }
        }
        let only_after = after.kept.rules.keys().filter(|rule| !before.kept.rules.contains_key(*rule));
        words.extend(only_after.map(|rule| format!("`{rule}` is in the second report alone")));
        if differences.is_empty() {
            let message =
                format!("there is no rule that both reports can tell by `{}` and `{}`", methods[0], methods[1]);
            let hint = format!("they have {} and {}", before.methods().join(", "), after.methods().join(", "));
            return Err(Error::input(message, Some(hint)));
        }
        let mean = |of: fn(&Difference) -> f64| MacroMean::of(differences.iter().map(|one| Some(of(one)))).mean;
        if let (Some(one), Some(other)) = (mean(|one| one.before), mean(|one| one.after)) {
            if means.rules() < differences.len() {
                words.push(format!(
                    "the interval of the mean is over {} of {} rules: of the others too few rows tell",
                    means.rules(),
                    differences.len()
                ));
            }
            differences.push(Self::difference(None, [one, other], means.interval(), tolerance));
        }
        Ok(Self { methods: methods.map(str::to_owned), is_paired, tolerance, differences, words })
    }

    fn difference(
        rule: Option<String>,
        [before, after]: [f64; 2],
        interval: Option<Interval>,
        tolerance: f64,
    ) -> Difference {
        let difference = after - before;
        let is_regression = difference < -tolerance && interval.is_some_and(|interval| interval.high < 0.0);
        Difference { rule, before, after, difference, interval, is_regression }
    }

    /// Whether anything is worse.
    #[must_use]
    pub fn has_regressions(&self) -> bool {
        self.differences.iter().any(|difference| difference.is_regression)
    }
}

#[cfg(test)]
mod tests;

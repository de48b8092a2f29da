//! What a method says about test rows: every rule's probability and score, and one number a sample in every way.

use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_leaf::encode::EncodedRows;

use crate::baseline::FittedOn;
use crate::score::aggregate::{Aggregation, RuleScore};
use crate::score::engine::{Engine, Scoring};
use crate::score::method::Method;
use crate::score::ready::Ready;
use crate::score::samples::{RowsOf, SampleScores};

/// So many things of a list are named.
const NAMED: usize = 3;

/// A number for each rule and row; `None` where it cannot be told.
pub(super) type ByRule = Vec<Vec<Option<f64>>>;

/// What a method says about test rows.
pub(super) struct Scored {
    /// How likely each rule is broken, `[rule][row]`.
    pub(super) raw: ByRule,
    /// The same, weighed by the antecedent.
    pub(super) gated: ByRule,
    /// One number a sample, in every way that is there.
    pub(super) anomalies: Vec<(Aggregation, Vec<Option<f64>>)>,
    /// The violations that `learned-supervised` was fitted to; `None` where that is not there.
    pub(super) supervised_on: Option<FittedOn>,
    /// Ways that are not, and why.
    pub(super) words: Vec<String>,
}

/// Asks a method about test rows. `violations` is the dataset that the model was trained on, for what may see violations; `begins` is
/// called where the method can be asked.
pub(super) fn score(
    engine: &Engine,
    method: Method,
    samples: &RowsOf<'_>,
    violations: Option<(&Dataset, &EncodedRows)>,
    threads: NonZeroUsize,
    begins: &dyn Fn(),
) -> Result<Scored> {
    let plain = engine.ready(Scoring { method, ..Scoring::default() }, None, threads)?;
    begins();
    let mut words = Vec::new();
    let learned = plain.with(Aggregation::Learned, None, threads);
    let all = match &learned {
        Ok(learned) => scores_of(learned, samples, threads)?,
        Err(error) => {
            words.push(on_one_line(error));
            scores_of(&plain, samples, threads)?
        }
    };
    let rules = &engine.gates.rule_set.rules;
    let (mut anomalies, mut supervised_on) = (Vec::new(), None);
    for (_, aggregation) in Aggregation::ALL {
        let of_formula = |scores: &SampleScores| {
            let told = (0..rules.len()).filter_map(|rule| {
                let weight = rules[rule].attributes.weight.unwrap_or(1.0);
                Some(RuleScore { rule, p: scores.p[rule]?, s: scores.s[rule]?, weight })
            });
            aggregation.of(&told.collect::<Vec<_>>())
        };
        match aggregation {
            Aggregation::Learned if learned.is_ok() => {
                anomalies.push((aggregation, all.iter().map(|scores| scores.anomaly).collect()));
            }
            Aggregation::Learned => {}
            // What was fitted to what an oracle says of rows that it has learned from would say nothing.
            Aggregation::LearnedSupervised if method == Method::Oracle || violations.is_none() => {}
            Aggregation::LearnedSupervised => match plain.with(aggregation, violations, threads) {
                Ok(ready) => {
                    supervised_on = ready.fitted_on();
                    anomalies.push((aggregation, ready.anomalies(samples, &all)));
                }
                Err(error) => words.push(on_one_line(&error)),
            },
            _ => anomalies.push((aggregation, all.iter().map(of_formula).collect())),
        }
    }
    let by_rule = |of: &dyn Fn(&SampleScores, usize) -> Option<f64>| -> ByRule {
        (0..rules.len()).map(|rule| all.iter().map(|scores| of(scores, rule)).collect()).collect()
    };
    Ok(Scored {
        raw: by_rule(&|scores, rule| scores.p[rule].map(|p| 1.0 - p)),
        gated: by_rule(&|scores, rule| scores.s[rule]),
        anomalies,
        supervised_on,
        words,
    })
}

fn scores_of(ready: &Ready<'_>, samples: &RowsOf<'_>, threads: NonZeroUsize) -> Result<Vec<SampleScores>> {
    let mut all = Vec::with_capacity(samples.numbers.len());
    ready.score(samples, threads, &mut |_, scores| {
        all.push(scores);
        Ok(())
    })?;
    Ok(all)
}

/// An error on one line. Of its hint that is left which names a command; the rest speaks of options of another command.
pub(super) fn on_one_line(error: &Error) -> String {
    let text = error.to_string();
    let (message, hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
    let (first, listed) = message.split_once('\n').unwrap_or((message, ""));
    let listed: Vec<&str> = listed.lines().map(str::trim).collect();
    let (named, more) = listed.split_at(listed.len().min(NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let named = if named.is_empty() { String::new() } else { format!(" {}", named.join(", ")) };
    let command = hint.split("; ").find(|part| part.contains("`chimera "));
    format!("{first}{named}{more}{}", command.map_or_else(String::new, |command| format!("; {command}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_whole_and_name_commands_alone() {
        let one_line =
            |message: &str, hint: &str| on_one_line(&Error::input(message.to_owned(), Some(hint.to_owned())));
        let found =
            one_line("there are no gates for:\n  `a`\n  `b`\n  `c`\n  `d`\n  `e`", "`chimera add` teaches them");
        assert_eq!(found, "there are no gates for: `a`, `b`, `c` and 2 more; `chimera add` teaches them");
        assert_eq!(one_line("no", "use `--method x`; `chimera add` helps"), "no; `chimera add` helps");
        assert_eq!(one_line("no", "use another `--method`"), "no");
    }
}

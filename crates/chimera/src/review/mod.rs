//! Review: a person's verdicts on flagged samples against their scores. How often was each rule right, and which threshold would make
//! it right often enough?
//!
//! Nothing is learned and nothing is changed: what comes out are numbers to give to `chimera score`. They hold for samples like those
//! that were reviewed, and say nothing of scores below the lowest of them.

mod propose;
mod scores;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_logic::vocabulary::Vocabulary;
use serde::Serialize;

use self::propose::propose;
pub use self::propose::{MOST_VERDICTS, Precision, Proposal, Proposals, needed};
pub use self::scores::Scores;
use self::verdicts::refuse;
pub use self::verdicts::{Said, Verdicts};

/// What verdicts say of a rule, or of samples as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reviewed {
    /// The rule; `None` for samples as a whole.
    pub rule: Option<String>,
    /// How often it was right.
    #[serde(flatten)]
    pub precision: Precision,
    /// Which thresholds can be proposed; `None` without scores.
    #[serde(flatten)]
    pub proposals: Option<Proposals>,
}

/// Everything that verdicts say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Review {
    /// The precision that thresholds are for.
    pub wanted: f64,
    /// Rules that have verdicts, in the order of the model; then samples as a whole, where they have some.
    pub reviewed: Vec<Reviewed>,
    /// Rules of the model without a verdict.
    pub without: Vec<String>,
    /// Rules with verdicts, none of them on what has a score.
    pub without_scores: Vec<String>,
    /// Lines that repeat another one.
    pub repeated: usize,
    /// Lines without a verdict.
    pub open: usize,
    /// Verdicts on what has no score, which are left out.
    pub unscored: usize,
}

/// Reads verdicts and scores, and holds them against each other. `rules` are those of the model. Without scores there is a precision for
/// each rule, and no threshold.
///
/// # Errors
/// A precision that is none; files that cannot be read; and, with all their lines, verdicts on rules that the model does not have and
/// on samples or rules without scores.
pub fn review(rules: &[&str], verdicts: &Path, scores: Option<&Path>, wanted: f64) -> Result<Review> {
    if !(wanted > 0.0 && wanted < 1.0) {
        let message = format!("expected a precision between 0 and 1, got `{wanted}`");
        return Err(Error::input(message, None));
    }
    let found = Verdicts::read(verdicts)?;
    refuse(
        verdicts,
        &unknown_rules(rules, &found),
        "rules are those of the model; leave `rule` empty for a whole sample",
    )?;
    let table = scores.map(|scores| scores_of(&found, verdicts, scores)).transpose()?;
    // What was said of each rule, with scores where there are any.
    let mut of_rule: BTreeMap<Option<&str>, Vec<(f64, bool)>> = BTreeMap::new();
    let mut unscored = 0;
    for said in &found.said {
        let rule = said.rule.as_deref();
        let reviewed = of_rule.entry(rule).or_default();
        match table.as_ref().map_or(Some(0.0), |table| table.get(&said.id, rule)) {
            Some(score) => reviewed.push((score, said.is_real)),
            None => unscored += 1,
        }
    }
    let names = rules.iter().copied().map(Some).chain([None]);
    let reviewed = names.filter_map(|rule| {
        let reviewed = of_rule.get(&rule).filter(|reviewed| !reviewed.is_empty())?;
        let real = reviewed.iter().filter(|(_, real)| *real).count() as u64;
        let precision = Precision::of(real, reviewed.len() as u64);
        let proposals = table.is_some().then(|| propose(reviewed, wanted));
        Some(Reviewed { rule: rule.map(str::to_owned), precision, proposals })
    });
    let said = |rule: &str| of_rule.get(&Some(rule)).map(Vec::len);
    let those = |verdicts: Option<usize>| -> Vec<String> {
        rules.iter().filter(|rule| said(rule) == verdicts).map(|rule| (*rule).to_owned()).collect()
    };
    Ok(Review {
        wanted,
        reviewed: reviewed.collect(),
        without: those(None),
        without_scores: those(Some(0)),
        repeated: found.repeated,
        open: found.open,
        unscored,
    })
}

/// The scores of what verdicts are about.
fn scores_of(found: &Verdicts, verdicts: &Path, scores: &Path) -> Result<Scores> {
    let ids: BTreeSet<&str> = found.said.iter().map(|said| said.id.as_str()).collect();
    let table = Scores::read(scores, &ids)?;
    let mut problems = Vec::new();
    for said in &found.said {
        let (line, id) = (said.line, &said.id);
        match &said.rule {
            _ if !table.has(id) => problems.push(format!("line {line}: `{}` has no sample `{id}`", scores.display())),
            Some(rule) if !table.has_rule(rule) => {
                problems.push(format!("line {line}: `{}` has no scores of rule `{rule}`", scores.display()));
            }
            _ => {}
        }
    }
    refuse(verdicts, &problems, "give the scores that these samples were flagged by to `--scores`")?;
    Ok(table)
}

/// What somebody may have meant by the name of a rule that the model does not have.
#[must_use]
pub fn nearest_rule<'r>(rules: impl IntoIterator<Item = &'r str>, name: &str) -> Option<String> {
    let names = Vocabulary::closed(rules.into_iter().map(str::to_owned), "the model");
    names.nearest(name).map(|near| format!("did you mean `{near}`?"))
}

fn unknown_rules(rules: &[&str], verdicts: &Verdicts) -> Vec<String> {
    let problem = |said: &Said| {
        let rule = said.rule.as_deref().filter(|rule| !rules.contains(rule))?;
        let near = nearest_rule(rules.iter().copied(), rule).map_or_else(String::new, |near| format!("; {near}"));
        Some(format!("line {}: the model has no rule `{rule}`{near}", said.line))
    };
    verdicts.said.iter().filter_map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file of verdicts and a file of scores give for a model with the rules `watched` and `safe`.
    fn reviewed(verdicts: &str, scores: &str, wanted: f64) -> Result<Review> {
        let folder = tempfile::tempdir().unwrap();
        let [of_verdicts, of_scores] = ["v.csv", "s.csv"].map(|name| folder.path().join(name));
        std::fs::write(&of_verdicts, verdicts).unwrap();
        std::fs::write(&of_scores, scores).unwrap();
        review(&["watched", "safe"], &of_verdicts, Some(&of_scores), wanted)
    }

    const SCORES: &str =
        "id,anomaly,rule:watched,rule:safe\ns1,0.9,0.9,0.1\ns2,0.8,0.8,0.2\ns3,0.7,0.7,0.7\ns4,0.6,,0.6\n";

    #[test]
    fn precision_has_its_interval() {
        let text = "id,rule,verdict\ns1,watched,real\ns2,watched,real\ns3,watched,false alarm\ns4,watched,real\ns4,,0\ns4,,0\n";
        let found = reviewed(text, SCORES, 0.5).unwrap();
        let [watched, samples] = found.reviewed.as_slice() else { panic!("{found:?}") };
        // 2 of 3: scipy.stats.beta.ppf([0.025, 0.975], [2, 3], [2, 1]) = 0.0943, 0.9916.
        let precision = &watched.precision;
        assert_eq!((watched.rule.as_deref(), precision.real, precision.verdicts), (Some("watched"), 2, 3));
        assert!((precision.low - 0.0943).abs() < 1e-4 && (precision.high - 0.9916).abs() < 1e-4, "{precision:?}");
        let proposals = watched.proposals.as_ref().unwrap();
        assert_eq!(proposals.sure, None);
        let estimate = proposals.estimate.as_ref().unwrap();
        assert_eq!((estimate.above.verdicts, estimate.lost), (3, 0));
        assert_eq!((samples.rule.as_deref(), samples.precision.real, samples.precision.verdicts), (None, 0, 1));
        assert_eq!((found.repeated, found.unscored, found.without), (1, 1, vec!["safe".to_owned()]));
    }

    #[test]
    fn without_scores_there_is_precision_alone_and_verdicts_without_scores_are_no_lack_of_verdicts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.csv");
        std::fs::write(&path, "id,rule,verdict\ns1,watched,real\ns2,watched,0\ns4,watched,1\n").unwrap();
        let found = review(&["watched", "safe"], &path, None, 0.9).unwrap();
        let [watched] = found.reviewed.as_slice() else { panic!("{found:?}") };
        assert_eq!((watched.precision.real, watched.precision.verdicts), (2, 3));
        assert_eq!((&watched.proposals, found.unscored), (&None, 0));
        assert_eq!((found.without, found.without_scores), (vec!["safe".to_owned()], Vec::new()));
        // The one verdict on `watched` is on a sample that has no score of it.
        let found = reviewed("id,rule,verdict\ns4,watched,real\n", SCORES, 0.9).unwrap();
        assert_eq!((found.reviewed.len(), found.unscored), (0, 1));
        assert_eq!((found.without, found.without_scores), (vec!["safe".to_owned()], vec!["watched".to_owned()]));
    }

    #[test]
    fn verdicts_that_belong_to_nothing_are_refused_with_their_lines() {
        let refused = |text: &str| reviewed(text, SCORES, 0.9).unwrap_err().to_string();
        let words = refused("id,rule,verdict\ns1,wached,real\n");
        assert!(words.contains("line 2: the model has no rule `wached`; did you mean `watched`?"), "{words}");
        let words = refused("id,rule,verdict\ns1,safe,real\ns9,safe,real\n");
        assert!(words.contains("line 3: `") && words.contains("has no sample `s9`"), "{words}");
        let scores = "id,anomaly,rule:safe\ns1,0.9,0.1\n";
        let words = reviewed("id,rule,verdict\ns1,watched,1\n", scores, 0.9).unwrap_err().to_string();
        assert!(words.contains("line 2: `") && words.contains("has no scores of rule `watched`"), "{words}");
        for wanted in [0.0, 1.0, f64::NAN] {
            let words = reviewed("id,verdict\ns1,1\n", SCORES, wanted).unwrap_err().to_string();
            assert!(words.contains("expected a precision between 0 and 1"), "{words}");
        }
    }
}

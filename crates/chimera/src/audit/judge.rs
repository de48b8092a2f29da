//! One row that breaks one rule: are its labels wrong, or does it really break it?
//!
//! A label that opinion gives the probability `a` is wrong with the probability `1 - a`. The cheapest repair of the labels, with
//! `-ln(1 - a)` as the cost of a flip, is the set of labels that mends the rule and is most probably wrong as a whole; the
//! exponential of minus its cost is that probability. Against it stands the probability that the rule is broken whatever the
//! labels say, counted exactly.

use chimera_logic::bdd::count::Circuit;
use chimera_logic::prob::Probabilities;
use chimera_logic::vocabulary::ConceptId;
use serde::Serialize;

/// Labels that are wrong with this probability at least are called an error: they stand against opinion.
pub const SURE: f64 = 0.8;

/// A rule that is broken with this probability at least is called so: labels say it, too. Heads that have seen hardly a violation
/// take what keeps a rule as evidence that it is kept, so more would be too much to ask.
pub const LIKELY: f64 = 0.5;

/// The smallest probability of a label: flips of cost zero would leave it open which value was there before.
const LEAST: f64 = 1e-9;

/// What a row that breaks a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Labels are probably wrong, and right ones would keep the rule.
    LabelError,
    /// Neither is likely enough.
    Unsure,
    /// The labels are probably right, and the rule broken.
    RealViolation,
}

impl Verdict {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::LabelError, Self::Unsure, Self::RealViolation];

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LabelError => "label error",
            Self::Unsure => "unsure",
            Self::RealViolation => "real violation",
        }
    }
}

/// A concept of a rule that a row breaks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) concept: ConceptId,
    /// The label; `None` where it is unknown.
    pub(super) label: Option<bool>,
    /// The probability that the concept is there; `None` where nothing can be told.
    pub(super) opinion: Option<f64>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// How likely the labels of the cheapest repair are wrong, all of them.
    pub(super) wrong: f64,
    /// How likely the rule is broken, whatever the labels say.
    pub(super) broken: f64,
    /// The cheapest repair: concepts and what their labels would be.
    pub(super) repair: Vec<(ConceptId, bool)>,
}

/// Judges a row by what is said of a rule's concepts; `None` for a rule that no labels can keep. `concepts` is how many the
/// vocabulary has.
pub(super) fn judge(circuit: &Circuit, said: &[Said], concepts: usize) -> Option<Judgement> {
    let (mut labelled, mut opinions) = (vec![0.0; concepts], vec![0.0; concepts]);
    for Said { concept, label, opinion } in said {
        let p = opinion.unwrap_or(0.5);
        // An unknown label is as good as what opinion takes it for.
        let label = label.unwrap_or(p >= 0.5);
        let agreed = if label { p } else { 1.0 - p }.clamp(LEAST, 1.0 - LEAST);
        // The odds of a probability whose flip costs what is wanted.
        let kept = 1.0 / (2.0 - agreed);
        labelled[concept.index()] = if label { kept } else { 1.0 - kept };
        opinions[concept.index()] = p;
    }
    let repair = circuit.repair(0, &Probabilities::of_sample(&labelled).ok()?, 0)?;
    let holds = circuit.evaluate(&Probabilities::of_sample(&opinions).ok()?);
    let (wrong, broken) = ((-repair.cost).exp(), 1.0 - holds.first()?);
    let verdict = match (wrong >= SURE, broken >= LIKELY) {
        (true, false) => Verdict::LabelError,
        (false, true) => Verdict::RealViolation,
        // Other labels would be wrong, and the rule broken all the same.
        _ => Verdict::Unsure,
    };
    Some(Judgement {
        verdict,
        wrong,
        broken,
        repair: repair.flips.iter().map(|flip| (flip.concept, flip.value)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use chimera_logic::bdd::{Diagrams, Limits};
    use chimera_logic::load::load_text;
    use chimera_logic::vocabulary::Vocabulary;

    use super::*;

    /// Concepts a, b, c with label and opinion.
    fn judged(rule: &str, said: [(Option<bool>, Option<f64>); 3]) -> Judgement {
        let names = ["a", "b", "c"].map(str::to_owned);
        let rule_set = load_text("test", &format!("r: {rule}\n"), Vocabulary::closed(names, "test")).rule_set;
        let mut diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits::default());
        let diagram = diagrams.compile(rule_set.rules[0].root).unwrap();
        let concept = |at: usize| ConceptId(at as u32);
        let said = said.iter().enumerate();
        let said: Vec<Said> =
            said.map(|(at, &(label, opinion))| Said { concept: concept(at), label, opinion }).collect();
        judge(&diagrams.circuit(&[diagram]), &said, 3).unwrap()
    }

    const YES: Option<bool> = Some(true);
    const NO: Option<bool> = Some(false);

    #[test]
    fn a_disputed_label_that_mends_the_rule_is_an_error() {
        // `b` is labelled absent and is there with 0.97: that label is wrong with 0.97. The rule is broken where a is there and
        // b is not: 0.9 * 0.03 = 0.027.
        let found = judged("a => b", [(YES, Some(0.9)), (NO, Some(0.97)), (NO, Some(0.5))]);
        assert_eq!((found.verdict, found.repair.as_slice()), (Verdict::LabelError, [(ConceptId(1), true)].as_slice()));
        assert!((found.wrong - 0.97).abs() < 1e-9 && (found.broken - 0.027).abs() < 1e-9, "{found:?}");
        // Two labels at once: 0.95 * 0.9 = 0.855, more than `a` alone with 0.3.
        let found = judged("a => b & c", [(YES, Some(0.7)), (NO, Some(0.95)), (NO, Some(0.9))]);
        assert_eq!(found.repair, [(ConceptId(1), true), (ConceptId(2), true)]);
        assert!((found.wrong - 0.855).abs() < 1e-9 && found.verdict == Verdict::LabelError, "{found:?}");
    }

    #[test]
    fn labels_that_opinion_shares_are_a_violation_and_what_is_open_stays_open() {
        // 0.95 * 0.98 = 0.931; of the two labels, that of `a` is sooner wrong.
        let found = judged("a => b", [(YES, Some(0.95)), (NO, Some(0.02)), (NO, Some(0.5))]);
        assert_eq!(
            (found.verdict, found.repair.as_slice()),
            (Verdict::RealViolation, [(ConceptId(0), false)].as_slice())
        );
        assert!((found.wrong - 0.05).abs() < 1e-9 && (found.broken - 0.931).abs() < 1e-9, "{found:?}");
        assert_eq!(judged("a => b", [(YES, Some(0.95)), (NO, Some(0.6)), (NO, None)]).verdict, Verdict::Unsure);
        // Nothing is told of `b`, which leaves it at one half.
        let found = judged("a => b", [(YES, Some(0.95)), (NO, None), (NO, None)]);
        assert!(found.verdict == Verdict::Unsure && (found.wrong - 0.5).abs() < 1e-9, "{found:?}");
        // Both labels are disputed, and the rule is broken one way or the other.
        let found = judged("a <=> b", [(YES, Some(0.05)), (NO, Some(0.95)), (NO, None)]);
        assert!(found.wrong > SURE && found.broken > LIKELY && found.verdict == Verdict::Unsure, "{found:?}");
    }

    #[test]
    fn an_unknown_label_is_taken_as_it_probably_is() {
        // `a & b` is broken by `a`; nobody knows `b`, which is there with 0.9, so `a` alone mends it.
        let found = judged("a & b", [(NO, Some(0.99)), (None, Some(0.9)), (NO, None)]);
        assert_eq!((found.verdict, found.repair.as_slice()), (Verdict::LabelError, [(ConceptId(0), true)].as_slice()));
        // Where it is probably absent, it belongs to the repair: 0.99 * 0.1.
        let found = judged("a & b", [(NO, Some(0.99)), (None, Some(0.1)), (NO, None)]);
        assert_eq!(found.repair, [(ConceptId(0), true), (ConceptId(1), true)]);
        assert!((found.wrong - 0.099).abs() < 1e-9 && found.verdict == Verdict::RealViolation, "{found:?}");
    }
}

//! Whether grafts can be trusted for a rule, known without any sample that breaks it. Where they cannot, `neural` asks independent
//! events.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_data::metric::label_bits::LabelBits;
use chimera_data::metric::ranking::Ranking;
use chimera_data::parallel::in_parallel;
use chimera_gate::cone::Features;
use chimera_gate::effects::Design;
use chimera_gate::graft::{Effects, Labels};
use chimera_gate::trust::{LeftOut, Trial};
use chimera_logic::bits::TruthTable;
use chimera_logic::rules::RuleSet;
use serde::{Deserialize, Serialize};

use super::effects::along;
use super::heads::{ConceptHeads, concepts_of};

/// Of what effects explain of samples, they must explain this share of configurations that they have not seen. In worlds whose
/// concepts add up it is .85 to 1.1, in worlds of classes with looks of their own .3 to .5 (`docs/quality.md`).
pub(crate) const LEAST_RATIO: f64 = 0.75;

/// So much of z must be explained at all.
pub(crate) const LEAST_EXPLAINED: f64 = 0.02;

/// So much of a concept's labels must not be told by other labels.
pub(crate) const LEAST_APART: f64 = 0.05;

/// So many train rows must show a concept, and so many must not: what fewer tell of its effect is noise.
pub(crate) const LEAST_ROWS: u64 = 20;

/// On train rows as they are, a head taught on grafts may be so far below the leaf bank's head, by AUROC. Where it is further, a
/// graft of the concept is not like samples that show it. The leaf bank has been taught on these rows, so where it knows them by
/// heart, grafts are rather not trusted. In worlds that grafts help it is .07 at most (`docs/quality.md`).
pub(crate) const MOST_BEHIND: f64 = 0.1;

/// Along a concept's own effect, calibration rows, to which neither encoder nor effects were fitted, must be told with this AUROC, after one standard error is taken
/// off. Where they are hardly told, what the effect says is what the encoder knows by heart of train rows (`docs/quality.md`).
pub(crate) const LEAST_SEEN: f64 = 0.55;

/// So many of these rows must show a concept, and so many must not, to be asked.
pub(crate) const LEAST_HELD_OUT: u64 = 3;

/// What is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// The share of z that labels explain, on samples that were left out.
    pub samples: Option<f64>,
    /// The same where samples that agree in some concepts of the rules were left out together.
    pub configurations: Option<f64>,
    /// What is known of each concept.
    pub concepts: BTreeMap<String, ConceptTrust>,
}

/// What is known of a concept's grafts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConceptTrust {
    /// How much of its labels others do not tell, from 0 to 1; `None` where that cannot be computed.
    pub apart: Option<f64>,
    /// Train rows that show it, and that do not, of those on which heads were compared.
    pub rows: [u64; 2],
    /// How well heads tell it on train rows as they are; `None` where it has no head taught on grafts.
    pub told: Option<Told>,
    /// How well the concept is told along its own effect on calibration rows that may be fitted on, with all other labels given;
    /// `None` where too few of them show it, or do not.
    pub seen: Option<Seen>,
}

/// The AUROC of a concept's two heads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Of the head taught on grafts.
    pub by_grafts: f64,
    /// Of the leaf bank's.
    pub by_bank: f64,
}

/// An AUROC and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The AUROC.
    pub auroc: f64,
    /// Its standard error.
    pub error: f64,
}

impl Seen {
    /// An AUROC over so many rows that show a concept and so many that do not. Its error is that of Hanley and McNeil (1982); that
    /// of an AUROC of 1 as if half a pair were the wrong way round.
    fn new(auroc: f64, [shown, not]: [u64; 2]) -> Self {
        let [p, n] = [shown, not].map(|rows| rows as f64);
        let told = auroc;
        let auroc = auroc.min(1.0 - 0.5 / (p * n));
        let (twice, square) = (auroc / (2.0 - auroc), auroc * auroc);
        let spread =
            auroc * (1.0 - auroc) + (p - 1.0) * (twice - square) + (n - 1.0) * (2.0 * square / (1.0 + auroc) - square);
        Self { auroc: told, error: (spread.max(0.0) / (p * n)).sqrt() }
    }
}

impl ConceptTrust {
    /// Why grafts of the concept cannot be trusted; `None` where they can.
    fn distrust(&self, concept: &str) -> Option<String> {
        let [shown, not] = self.rows;
        if shown.min(not) < LEAST_ROWS {
            let which = if shown < not { "show" } else { "do not show" };
            return Some(format!(
                "only {} train rows {which} `{concept}`: what it adds to z is anybody's guess",
                shown.min(not)
            ));
        }
        if self.apart.is_none_or(|apart| apart < LEAST_APART) {
            return Some(format!(
                "other labels tell `{concept}` almost wholly: nobody knows what it adds to z by itself"
            ));
        }
        let Some(seen) = self.seen else {
            return Some(format!(
                "fewer than {LEAST_HELD_OUT} calibration rows show `{concept}`, or do not: nothing tells whether what it adds to z is seen"
            ));
        };
        if seen.auroc - seen.error < LEAST_SEEN {
            return Some(format!(
                "what `{concept}` adds to z is not surely seen on calibration rows (AUROC {:.2} ± {:.2} along it, less than {LEAST_SEEN} \
                 at its lower end): more rows that show it would help",
                seen.auroc, seen.error
            ));
        }
        let told = self.told.filter(|told| told.by_bank - told.by_grafts > MOST_BEHIND)?;
        Some(format!(
            "a head taught on grafts tells `{concept}` with an AUROC of {:.2}, the leaf bank with {:.2}: grafts of it are not \
             like samples that show it",
            told.by_grafts, told.by_bank
        ))
    }
}

impl Trust {
    /// What is known of each concept comes in the order of their names.
    pub(super) fn new(
        left_out: Option<LeftOut>,
        labels: &TruthTable,
        names: &[String],
        concepts: Vec<ConceptTrust>,
    ) -> Self {
        let apart = Design::new(labels).map(|design| design.apart());
        let of = |(number, known): (usize, ConceptTrust)| {
            let apart = apart.as_ref().map(|apart| apart[number]);
            (names[number].clone(), ConceptTrust { apart, ..known })
        };
        Self {
            samples: left_out.map(|left_out| left_out.samples),
            configurations: left_out.map(|left_out| left_out.configurations),
            concepts: concepts.into_iter().enumerate().map(of).collect(),
        }
    }

    /// Why grafts cannot be trusted for any rule; `None` where they can.
    #[must_use]
    pub fn distrust(&self) -> Option<String> {
        let (Some(samples), Some(configurations)) = (self.samples, self.configurations) else {
            return Some(
                "nothing tells what concepts add to z: none that rules speak of differs and is seen in z".to_owned(),
            );
        };
        if samples < LEAST_EXPLAINED {
            return Some(format!("concepts explain next to nothing of z ({samples:.3})"));
        }
        (LeftOut { samples, configurations }.ratio() < LEAST_RATIO).then(|| {
            format!(
                "what concepts add to z explains {samples:.2} of it, but only {configurations:.2} of samples whose \
                 configurations were left out"
            )
        })
    }

    /// Why grafts cannot be trusted for a rule; `None` where they can.
    #[must_use]
    pub(crate) fn distrust_of(&self, rule_set: &RuleSet, rule: usize) -> Option<String> {
        self.distrust().or_else(|| {
            let mut concepts = concepts_of(rule_set, rule).map(|concept| rule_set.dag.vocabulary().name(concept));
            concepts.find_map(|concept| match self.concepts.get(concept) {
                Some(known) => known.distrust(concept),
                None => Some(format!("nothing is known of `{concept}`")),
            })
        })
    }
}

/// How much of samples that are left out effects explain; `None` where nothing tells.
pub(super) fn left_out(
    z: &impl Features,
    width: usize,
    trial: &Trial<'_>,
    threads: NonZeroUsize,
) -> Result<Option<LeftOut>> {
    let parts = trial.parts();
    let fitted = in_parallel(threads, parts.len(), |part| Ok(trial.fit(z, width, parts[part])))?;
    let explained = in_parallel(threads, trial.ways(), |way| {
        let of_way = parts.iter().zip(&fitted).filter(|((of, _), _)| *of == way).map(|(_, fitted)| fitted.as_ref());
        Ok(of_way.collect::<Option<Vec<_>>>().and_then(|fitted| trial.explained(z, way, &fitted)))
    })?;
    Ok(LeftOut::of(&explained))
}

/// How well concepts are told along their own effects on rows with these labels.
///
/// # Errors
/// z that is no number.
pub(super) fn seen(
    effects: &Effects,
    z: &impl Features,
    labels: &TruthTable,
    threads: NonZeroUsize,
) -> Result<Vec<Option<Seen>>> {
    let (along, rows) = (along(effects, z, &Labels::of(labels), threads)?, labels.rows());
    let one = |concept: usize| {
        let counts = labels.counts(concept);
        if counts.holds.min(counts.fails) < LEAST_HELD_OUT {
            return Ok(None);
        }
        let ranking = Ranking::of_bits(&along[concept * rows..][..rows], LabelBits::of(labels, concept))?;
        Ok(ranking.metrics().auroc.map(|auroc| Seen::new(auroc, [counts.holds, counts.fails])))
    };
    in_parallel(threads, labels.columns(), one)
}

/// What is known of each concept by rows with these labels; `bank` has the leaf bank's logits, row by row. How far its labels are
/// apart from others' is left open.
///
/// # Errors
/// Logits that are no numbers.
pub(super) fn concepts(
    heads: &ConceptHeads,
    z: &impl Features,
    labels: &TruthTable,
    bank: &[f32],
    threads: NonZeroUsize,
) -> Result<Vec<ConceptTrust>> {
    let (rows, concepts) = (labels.rows(), labels.columns());
    let (by_grafts, lost) = heads.logits_of_all(z, rows, threads)?;
    // Rows of which heads cannot tell anything are left out.
    let told: Vec<usize> = (0..rows).filter(|row| lost.binary_search(row).is_err()).collect();
    let labels = labels.select(&told);
    let auroc = |concept: usize, score: &dyn Fn(usize) -> f32| {
        let scores: Vec<f32> = told.iter().map(|&row| score(row)).collect();
        Ranking::of_bits(&scores, LabelBits::of(&labels, concept)).map(|ranking| ranking.metrics().auroc)
    };
    let one = |concept: usize| {
        let counts = labels.counts(concept);
        let mut known = ConceptTrust { apart: None, rows: [counts.holds, counts.fails], told: None, seen: None };
        if heads.has(concept) {
            let by_grafts = auroc(concept, &|row| by_grafts[concept * rows + row] as f32)?;
            let by_bank = auroc(concept, &|row| bank[row * concepts + concept])?;
            known.told = by_grafts.zip(by_bank).map(|(by_grafts, by_bank)| Told { by_grafts, by_bank });
        }
        Ok(known)
    };
    in_parallel(threads, concepts, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_aurocs_are_those_of_hanley_and_mcneil() {
        // By numpy: a = .893, 51 rows and 58. An AUROC of 1 has an error, too.
        let seen = Seen::new(0.893, [51, 58]);
        assert!((seen.error - 0.032511582).abs() < 1e-6, "{}", seen.error);
        let sure = Seen::new(1.0, [3, 9]);
        assert!(sure.auroc == 1.0 && sure.error > 0.01 && sure.error < 0.1, "{}", sure.error);
    }

    #[test]
    fn grafts_of_a_concept_are_trusted_where_there_are_rows_and_heads_tell_real_samples() {
        let usual = ConceptTrust {
            apart: Some(0.5),
            rows: [20, 300],
            told: Some(Told { by_grafts: 0.85, by_bank: 0.93 }),
            seen: Some(Seen { auroc: 0.7, error: 0.1 }),
        };
        assert_eq!(usual.distrust("cat"), None);
        assert_eq!(ConceptTrust { told: None, ..usual }.distrust("cat"), None);
        let few = ConceptTrust { rows: [19, 300], ..usual }.distrust("cat");
        assert!(few.is_some_and(|why| why.starts_with("only 19 train rows show `cat`")));
        let many = ConceptTrust { rows: [300, 0], ..usual }.distrust("cat");
        assert!(many.is_some_and(|why| why.starts_with("only 0 train rows do not show `cat`")));
        let told_by_others = ConceptTrust { apart: Some(0.01), ..usual }.distrust("cat");
        assert!(told_by_others.is_some_and(|why| why.starts_with("other labels tell `cat`")));
        let unseen = ConceptTrust { seen: Some(Seen { auroc: 0.7, error: 0.2 }), ..usual }.distrust("cat");
        assert!(unseen.is_some_and(|why| why.starts_with("what `cat` adds to z is not surely seen")));
        let unknown = ConceptTrust { seen: None, ..usual }.distrust("cat");
        assert!(unknown.is_some_and(|why| why.starts_with("fewer than 3 calibration rows show `cat`")));
        let behind = ConceptTrust { told: Some(Told { by_grafts: 0.8, by_bank: 0.93 }), ..usual }.distrust("cat");
        assert!(behind.is_some_and(|why| why.contains("tells `cat` with an AUROC of 0.80, the leaf bank with 0.93")));
    }
}

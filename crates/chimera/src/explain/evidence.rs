//! Where a rule and its concepts are seen: what is lost when a part of the picture is covered.
//!
//! Large patches all over a frame first, then small ones where the rule loses most. Losses are in logits, which tell apart what
//! probabilities near 0 and 1 do not.

use chimera_logic::vocabulary::ConceptId;

use super::cover::{CELLS, Patch, spread};
use super::look::{Encoded, Look};
use crate::error::Result;
use crate::leaf::calibrate::{Calibration, Method as Calibrated};
use crate::score::ready::Ready;
use crate::score::samples::{Encodings, SampleScores};

/// The weight of small patches against large ones, in how many large ones small ones are laid: what pointed at objects most often
/// (`docs/explain.md`).
const FINE: f64 = 0.9;
const LOOKED_INTO: usize = 3;

/// Where something is seen, a number a cell; 0 is nothing and 1 the most, below 0 what speaks against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The frame.
    pub frame: usize,
    /// `[CELLS x CELLS]`, row after row.
    pub cells: Vec<f64>,
    /// What the most is, in logits: how much is lost with what is there.
    pub most: f64,
}

impl Map {
    fn new(frame: usize, coarse: &[f64], fine: &[f64]) -> Self {
        let largest = |cells: &[f64]| cells.iter().copied().fold(0.0, f64::max);
        let (most, most_fine) = (largest(coarse), largest(fine));
        let share = |value: f64, most: f64| if most > 0.0 { (value / most).max(-1.0) } else { 0.0 };
        let cells = coarse
            .iter()
            .zip(fine)
            .map(|(coarse, fine)| (1.0 - FINE) * share(*coarse, most) + FINE * share(*fine, most_fine));
        Self { frame, cells: cells.collect(), most }
    }

    /// Where most is seen, in shares of width and height; `None` where nothing is. The middle of what is seen in the strongest cell and
    /// those around it, since an object need not fill a cell.
    #[must_use]
    pub fn peak(&self) -> Option<[f64; 2]> {
        let cells = self.cells.iter().enumerate().filter(|(_, value)| **value > 0.0);
        let (at, _) = cells.max_by(|one, other| one.1.total_cmp(other.1).then(other.0.cmp(&one.0)))?;
        let (column, row) = (at % CELLS, at / CELLS);
        let near = |cell: usize| cell.saturating_sub(1)..(cell + 2).min(CELLS);
        let (mut sums, mut weights) = ([0.0; 2], 0.0);
        for down in near(row) {
            for across in near(column) {
                let weight = self.cells[down * CELLS + across].max(0.0).powi(2);
                sums = [sums[0] + weight * (across as f64 + 0.5), sums[1] + weight * (down as f64 + 0.5)];
                weights += weight;
            }
        }
        Some(sums.map(|sum| sum / weights / CELLS as f64))
    }
}

/// The logit of a violation, kept from infinity.
pub(super) fn severity(scores: &SampleScores, rule: usize) -> f64 {
    let s = scores.s[rule].unwrap_or_default().clamp(1e-9, 1.0 - 1e-9);
    (s / (1.0 - s)).ln()
}

/// What scores and concepts say of variants.
pub(super) struct Told {
    pub(super) scores: Vec<SampleScores>,
    /// Calibrated logits, a list of concepts for each variant.
    pub(super) concepts: Vec<Vec<f64>>,
}

/// Asks about variants of a sample.
pub(super) fn ask(ready: &Ready<'_>, encoded: &Encoded, threads: std::num::NonZeroUsize) -> Result<Told> {
    let mut scores = Vec::with_capacity(encoded.rows());
    ready.score(encoded, threads, &mut |_, of| {
        scores.push(of);
        Ok(())
    })?;
    let calibration = &ready.engine().model.calibration;
    let concepts = (0..encoded.rows()).map(|row| calibrated(calibration, encoded.logits(row))).collect();
    Ok(Told { scores, concepts })
}

fn calibrated(calibration: &Calibration, logits: &[f32]) -> Vec<f64> {
    let of = |(concept, logit): (usize, &f32)| {
        let (slope, intercept) = calibration.line(Calibrated::Platt, concept);
        slope * f64::from(*logit) + intercept
    };
    logits.iter().enumerate().map(of).collect()
}

/// Maps of a frame.
#[derive(Debug)]
pub(super) struct Maps {
    /// Of the rules that were asked for, in their order.
    pub(super) rules: Vec<Map>,
    /// Of all concepts.
    pub(super) concepts: Vec<Map>,
}

/// A rule, and the concepts that are seen where it is broken.
pub(super) struct Broken {
    pub(super) rule: usize,
    pub(super) shown: Vec<ConceptId>,
}

impl Broken {
    /// How much of what breaks the rule each variant loses: of the concepts that are seen there, together. What is gained of one is no loss of
    /// another. A rule that nothing seen breaks has its score alone to lose.
    ///
    /// The score is no good guide to where: covering anything may show the network what the rule misses, and so mend it.
    pub(super) fn lost(&self, before: &Told, after: &Told) -> Vec<f64> {
        if self.shown.is_empty() {
            let now = severity(&before.scores[0], self.rule);
            return after.scores.iter().map(|scores| now - severity(scores, self.rule)).collect();
        }
        let mut sums = vec![0.0; after.concepts.len()];
        for concept in &self.shown {
            let lost = lost_of_concept(before, after, concept.index());
            sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost.max(0.0));
        }
        sums
    }
}

/// How much of a concept each variant loses.
fn lost_of_concept(before: &Told, after: &Told, concept: usize) -> Vec<f64> {
    after.concepts.iter().map(|concepts| before.concepts[0][concept] - concepts[concept]).collect()
}

/// Covers parts of a frame and sees what rules and concepts lose. A video is the frame alone, all the time: else the frames before and after
/// still show what is covered.
pub(super) fn maps(
    ready: &Ready<'_>,
    look: &Look<'_>,
    (frame, rules): (usize, &[Broken]),
    threads: std::num::NonZeroUsize,
) -> Result<Option<Maps>> {
    let Some(frames) = look.frames() else { return Ok(None) };
    let shown = |pictures: &[&[u8]]| ask(ready, &look.pictured(pictures)?, threads);
    let before = shown(&[frames.of(frame)])?;
    let covered = |patches: &[Patch]| -> Result<Told> {
        let over = |patch: &Patch| patch.over(frames.of(frame), frames.shape);
        let pictures: Vec<Vec<u8>> = patches.iter().map(over).collect();
        shown(&pictures.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let coarse = Patch::everywhere();
    let told = covered(&coarse)?;
    let mut fine: Vec<Patch> = Vec::new();
    for broken in rules {
        let lost = broken.lost(&before, &told);
        let mut order: Vec<usize> = (0..lost.len()).collect();
        order.sort_by(|one, other| lost[*other].total_cmp(&lost[*one]));
        fine.extend(order.into_iter().take(LOOKED_INTO).flat_map(|at| coarse[at].inside()));
    }
    fine.sort_unstable();
    fine.dedup();
    let told_fine = covered(&fine)?;
    let map = |lost: [Vec<f64>; 2]| Map::new(frame, &spread(&coarse, &lost[0]), &spread(&fine, &lost[1]));
    let both = [&told, &told_fine];
    Ok(Some(Maps {
        rules: rules.iter().map(|broken| map(both.map(|told| broken.lost(&before, told)))).collect(),
        concepts: (0..before.concepts[0].len())
            .map(|concept| map(both.map(|told| lost_of_concept(&before, told, concept))))
            .collect(),
    }))
}

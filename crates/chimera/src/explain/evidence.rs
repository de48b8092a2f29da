//! Where what breaks a rule is seen: how much less is seen of its concepts when a part of the picture is covered. A rule that is broken by what
//! is missing is seen nowhere.
//!
//! Large patches all over a frame first, then small ones where most is lost. Losses are in logits, which tell apart what probabilities
//! near 0 and 1 do not.

use chimera_data::error::Result;
use chimera_leaf::calibrate::{Calibration, Method as Calibrated};
use chimera_leaf::look::{Encoded, Look};
use chimera_logic::vocabulary::ConceptId;

use super::cover::{CELLS, Patch, spread};

/// The weight of small patches against large ones, in how many large ones small ones are laid: what pointed at objects most often
/// (`docs/explain.md`). Rules after the first look into fewer, so that several cost little more than one.
const FINE: f64 = 0.9;
const LOOKED_INTO: usize = 3;
const LOOKED_INTO_AFTER: usize = 1;

/// Logits of which less is lost nowhere in particular: noise of the network.
const LEAST: f64 = 0.05;

/// Where something is seen, a number a cell; 0 is nothing and 1 the most, below 0 what speaks against it.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The frame.
    pub frame: usize,
    /// `[CELLS x CELLS]`, row after row.
    pub cells: Vec<f64>,
    /// The most that a cell loses, in logits: the mean over the large patches that cover it.
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

    /// Where most is seen, in shares of width and height; `None` where next to nothing is. The middle of what is seen in the strongest cell and
    /// those around it, since an object need not fill a cell.
    #[must_use]
    pub fn peak(&self) -> Option<[f64; 2]> {
        let cells = self.cells.iter().enumerate().filter(|(_, value)| self.most >= LEAST && **value > 0.0);
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

/// Calibrated logits of all concepts, a list for each variant of a sample.
pub(super) fn seen(calibration: &Calibration, encoded: &Encoded) -> Vec<Vec<f64>> {
    (0..encoded.rows()).map(|row| calibrated(calibration, encoded.logits(row))).collect()
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

/// How a rule is broken.
pub(super) struct Broken {
    /// The concepts that are seen where it is; none where it is broken by what is missing.
    pub(super) shown: Vec<ConceptId>,
}

impl Broken {
    /// How much of what breaks the rule each variant loses: of the concepts that are seen there, together. What is gained of one is no loss of
    /// another.
    ///
    /// The score is no good guide to where: covering anything may show the network what the rule misses, and so mend it.
    pub(super) fn lost(&self, before: &[f64], after: &[Vec<f64>]) -> Vec<f64> {
        let mut sums = vec![0.0; after.len()];
        for concept in &self.shown {
            let lost = lost_of_concept(before, after, concept.index());
            sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost.max(0.0));
        }
        sums
    }
}

/// How much of a concept each variant loses.
fn lost_of_concept(before: &[f64], after: &[Vec<f64>], concept: usize) -> Vec<f64> {
    after.iter().map(|concepts| before[concept] - concepts[concept]).collect()
}

/// Covers parts of a frame and sees what rules and concepts lose. A video is the frame alone, all the time: else the frames before and after
/// still show what is covered.
pub(super) fn maps(calibration: &Calibration, look: &Look<'_>, frame: usize, rules: &[Broken]) -> Result<Option<Maps>> {
    let Some(frames) = look.frames() else { return Ok(None) };
    let shown = |pictures: &[&[u8]]| Ok(seen(calibration, &look.pictured(pictures)?));
    let before = shown(&[frames.of(frame)])?.concat();
    let covered = |patches: &[Patch]| -> Result<Vec<Vec<f64>>> {
        let over = |patch: &Patch| patch.over(frames.of(frame), frames.shape);
        let pictures: Vec<Vec<u8>> = patches.iter().map(over).collect();
        shown(&pictures.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let coarse = Patch::everywhere();
    let told = covered(&coarse)?;
    let lost: Vec<Vec<f64>> =
        rules.iter().filter(|broken| !broken.shown.is_empty()).map(|broken| broken.lost(&before, &told)).collect();
    let fine = looked_into(&coarse, &lost);
    let told_fine = covered(&fine)?;
    let map = |lost: [Vec<f64>; 2]| Map::new(frame, &spread(&coarse, &lost[0]), &spread(&fine, &lost[1]));
    let both = [&told, &told_fine];
    Ok(Some(Maps {
        rules: rules.iter().map(|broken| map(both.map(|told| broken.lost(&before, told)))).collect(),
        concepts: (0..before.len())
            .map(|concept| map(both.map(|told| lost_of_concept(&before, told, concept))))
            .collect(),
    }))
}

/// Small patches inside the large ones that matter most, by what each rule loses under each of these.
fn looked_into(coarse: &[Patch], lost: &[Vec<f64>]) -> Vec<Patch> {
    let mut fine: Vec<Patch> = Vec::new();
    for (place, lost) in lost.iter().enumerate() {
        let mut order: Vec<usize> = (0..lost.len()).collect();
        order.sort_by(|one, other| lost[*other].total_cmp(&lost[*one]));
        let count = if place == 0 { LOOKED_INTO } else { LOOKED_INTO_AFTER };
        fine.extend(order.into_iter().take(count).flat_map(|at| coarse[at].inside()));
    }
    fine.sort_unstable();
    fine.dedup();
    fine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_a_rule_is_lost_with_its_concepts_and_nothing_else() {
        let before = [2.0, -1.0, 0.5];
        let after = [vec![0.5, -1.0, 9.0], vec![3.0, -2.0, 0.5], vec![2.0, -1.0, -7.0]];
        let lost =
            |shown: &[u32]| Broken { shown: shown.iter().map(|&at| ConceptId(at)).collect() }.lost(&before, &after);
        assert_eq!(lost(&[0]), [1.5, 0.0, 0.0]);
        // What the second variant gains of the first concept does not make up for what it loses of the second.
        assert_eq!(lost(&[0, 1]), [1.5, 1.0, 0.0]);
        // Broken by what is missing: nothing to lose.
        assert_eq!(lost(&[]), [0.0; 3]);
    }

    #[test]
    fn next_to_nothing_has_no_place() {
        let cells = |most: f64| {
            let mut cells = vec![0.0; CELLS * CELLS];
            cells[5 * CELLS + 3] = most;
            Map::new(0, &cells, &cells)
        };
        let close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let [across, down] = cells(1.0).peak().unwrap();
        assert!(close(across, 3.5 / 16.0) && close(down, 5.5 / 16.0), "{across} {down}");
        assert!(cells(0.051).peak().is_some());
        assert_eq!([cells(0.049).peak(), cells(0.0).peak(), cells(-1.0).peak()], [None; 3]);
    }

    #[test]
    fn the_first_rule_is_looked_into_most() {
        let coarse = Patch::everywhere();
        let lost = |at: [usize; 3]| {
            let mut lost = vec![0.0; coarse.len()];
            at.into_iter().zip([3.0, 2.0, 1.0]).for_each(|(at, value)| lost[at] = value);
            lost
        };
        let of = |at: &[usize]| {
            let mut patches: Vec<Patch> = at.iter().flat_map(|&at| coarse[at].inside()).collect();
            patches.sort_unstable();
            patches.dedup();
            patches
        };
        assert_eq!(looked_into(&coarse, &[lost([0, 20, 40])]), of(&[0, 20, 40]));
        assert_eq!(looked_into(&coarse, &[lost([0, 20, 40]), lost([48, 1, 2])]), of(&[0, 20, 40, 48]));
        assert!(looked_into(&coarse, &[]).is_empty());
    }
}

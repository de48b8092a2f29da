//! AUROC of several draws of the same rows at once: how often a positive is above a negative, counted for all of them in one pass.
//!
//! A ranking is cut into steps first, each some positives and the negatives below them. Rows of a step are summed up without
//! looking at labels or scores, and multiplied once; every sum is of several draws, which the processor takes together.

/// Draws that are counted at once: so many counts are one line of the processor's cache.
pub(super) const TOGETHER: usize = 16;

/// How often a row is in each of some draws.
pub(super) type Counts = [u32; TOGETHER];

/// Rows from the highest score down, in steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    rows: Vec<u32>,
    steps: Vec<Step>,
}

/// Some positives, then some negatives, of which each kind may be missing.
#[derive(Clone, Debug)]
struct Step {
    /// Where its positives end and its negatives begin.
    middle: usize,
    end: usize,
    /// Whether all have one score, so that a pair counts half; else positives are above negatives.
    is_tied: bool,
}

impl Steps {
    /// Adds rows of one score, with their labels, below all others.
    pub(super) fn add(&mut self, tie: impl Iterator<Item = (u32, bool)> + Clone) {
        let begin = self.rows.len();
        self.rows.extend(tie.clone().filter(|(_, positive)| *positive).map(|(row, _)| row));
        let middle = self.rows.len();
        self.rows.extend(tie.filter(|(_, positive)| !positive).map(|(row, _)| row));
        let end = self.rows.len();
        let (has_positives, has_negatives) = (middle > begin, end > middle);
        match self.steps.last_mut().filter(|last| !last.is_tied) {
            Some(last) if !has_positives => last.end = end,
            Some(last) if !has_negatives && last.middle == last.end => (last.middle, last.end) = (end, end),
            _ => self.steps.push(Step { middle, end, is_tied: has_positives && has_negatives }),
        }
    }

    /// The AUROC of each draw; NaN where it is undefined.
    pub(super) fn aurocs(&self, counts: &[Counts]) -> [f32; TOGETHER] {
        let (mut positives, mut negatives, mut twice_pairs) = ([0; TOGETHER], [0; TOGETHER], [0_u64; TOGETHER]);
        let mut begin = 0;
        for step in &self.steps {
            let hits = sum(&self.rows[begin..step.middle], counts);
            let misses = sum(&self.rows[step.middle..step.end], counts);
            let above: Counts =
                if step.is_tied { positives } else { std::array::from_fn(|at| positives[at] + hits[at]) };
            add(&mut positives, &hits);
            add(&mut negatives, &misses);
            // Above those of a tie are the positives before it, and a half of its own.
            for draw in 0..TOGETHER {
                twice_pairs[draw] += u64::from(misses[draw]) * (u64::from(above[draw]) + u64::from(positives[draw]));
            }
            begin = step.end;
        }
        std::array::from_fn(|draw| {
            let all = 2 * u64::from(positives[draw]) * u64::from(negatives[draw]);
            (twice_pairs[draw] as f64 / all as f64) as f32
        })
    }
}

fn sum(rows: &[u32], counts: &[Counts]) -> Counts {
    let mut sums = [0; TOGETHER];
    rows.iter().for_each(|&row| add(&mut sums, &counts[row as usize]));
    sums
}

#[inline]
fn add(sums: &mut Counts, counts: &Counts) {
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
}

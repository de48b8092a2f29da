//! Whether what concepts add to z can be trusted where nobody has seen it: effects are fitted without samples that have some
//! values of some concepts, and asked about these. Where classes have looks of their own, effects fit what was seen and say little
//! about anything else; then a graft is no sample that could be.

use chimera_logic::bits::TruthTable;

use crate::cone::Features;
use crate::effects::Design;
use crate::graft::Labels;

/// Parts of the samples, each left out once.
const FOLDS: usize = 4;

/// Concepts whose values decide what is left out together. More would say less: where every sample has values of its own,
/// nothing like it is left out with it.
const TOGETHER: usize = 4;

/// So many choices of concepts, of which the median counts.
const CHOICES: usize = 5;

/// The share of z that labels explain, on samples that effects were not fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// Samples were left out at random.
    pub samples: f64,
    /// Samples that agree in some concepts were left out together.
    pub configurations: f64,
}

impl LeftOut {
    /// Of what effects explain, the share that they explain of configurations that they were not fitted to; from 0.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        if self.samples > 0.0 { (self.configurations / self.samples).max(0.0) } else { 0.0 }
    }
}

/// Measures both; configurations are those of a few of the given concepts. `None` where these never differ.
pub fn left_out(features: &impl Features, width: usize, table: &TruthTable, concepts: &[usize]) -> Option<LeftOut> {
    let mut random = fastrand::Rng::with_seed(1);
    // Rows may come in turns, class by class.
    let mut shuffled: Vec<usize> = (0..table.rows()).collect();
    random.shuffle(&mut shuffled);
    let samples = explained(features, width, table, &shuffled)?;
    let mut concepts = concepts.to_vec();
    let mut found: Vec<f64> = (0..CHOICES)
        .filter_map(|_| {
            random.shuffle(&mut concepts);
            let chosen = &concepts[..concepts.len().min(TOGETHER)];
            let values = |row: usize| -> Vec<bool> {
                chosen.iter().map(|&concept| table.get(row, concept) == Some(true)).collect()
            };
            let mut known: Vec<Vec<bool>> = Vec::new();
            let numbers = (0..table.rows()).map(|row| {
                let values = values(row);
                known.iter().position(|other| *other == values).unwrap_or_else(|| {
                    known.push(values);
                    known.len() - 1
                })
            });
            explained(features, width, table, &numbers.collect::<Vec<usize>>())
        })
        .collect();
    found.sort_by(f64::total_cmp);
    Some(LeftOut { samples, configurations: *found.get(found.len() / 2)? })
}

/// The share of z that is explained where samples of one number are left out together.
fn explained(features: &impl Features, width: usize, table: &TruthTable, numbers: &[usize]) -> Option<f64> {
    let folds = FOLDS.min(numbers.iter().max()? + 1);
    if folds < 2 {
        return None;
    }
    let (mut left, mut all) = (0.0, 0.0);
    for fold in 0..folds {
        let (out, kept): (Vec<usize>, Vec<usize>) = (0..table.rows()).partition(|&row| numbers[row] % folds == fold);
        let kept = Chosen { features, rows: &kept };
        let fitted_to = table.select(kept.rows);
        let design = Design::new(&fitted_to)?;
        let effects = design.join(&[design.fit(&kept, 0..width, false)], false);
        let labels = Labels::of(&table.select(&out));
        let mut center = vec![0.0_f64; width];
        for row in 0..kept.rows.len() {
            let z = kept.of(row);
            center.iter_mut().zip(z).for_each(|(center, z)| *center += f64::from(*z) / kept.rows.len() as f64);
        }
        let mut mean = vec![0.0_f32; width];
        for (place, &row) in out.iter().enumerate() {
            effects.mean(&labels, place as u32, &mut mean);
            for ((z, mean), center) in features.of(row).iter().zip(&mean).zip(&center) {
                left += f64::from(z - mean).powi(2);
                all += (f64::from(*z) - center).powi(2);
            }
        }
    }
    (all > 0.0).then(|| 1.0 - left / all)
}

/// Some samples of many.
struct Chosen<'a, F> {
    features: &'a F,
    rows: &'a [usize],
}

impl<F: Features> Features for Chosen<'_, F> {
    fn of(&self, row: usize) -> &[f32] {
        self.features.of(self.rows[row])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use chimera_logic::bits::BitTable;

    use super::*;

    const WIDTH: usize = 16;

    /// 30 classes with five attributes, in turn; z is what attributes add, and what each class has of its own. Behind the attributes
    /// are three concepts that have nothing to do with z.
    fn ratio(own: f32, shuffled: bool) -> f64 {
        let mut random = fastrand::Rng::with_seed(4);
        let mut numbers = |count: usize| -> Vec<f32> { (0..count).map(|_| random.f32() - 0.5).collect() };
        let (adds, looks) = (numbers(5 * WIDTH), numbers(30 * WIDTH));
        let noise = numbers(900 * WIDTH);
        let mut class: Vec<usize> = (0..900).map(|row| row % 30).collect();
        if shuffled {
            random.shuffle(&mut class);
        }
        let shown = |row: usize, concept: usize| match concept {
            // Every configuration of five attributes but two.
            0..5 => ((class[row] + 1) >> concept) & 1 == 1,
            _ => ((row * 7919) >> concept) & 1 == 1,
        };
        let z: Vec<f32> = (0..900 * WIDTH)
            .map(|place| {
                let (row, at) = (place / WIDTH, place % WIDTH);
                let added: f32 = (0..5).filter(|&a| shown(row, a)).map(|a| adds[a * WIDTH + at]).sum();
                added + own * looks[class[row] * WIDTH + at] + 0.3 * noise[place]
            })
            .collect();
        let table = TruthTable::complete(BitTable::from_fn(900, 8, shown));
        left_out(&(z.as_slice(), WIDTH), WIDTH, &table, &[0, 1, 2, 3, 4]).unwrap().ratio()
    }

    #[test]
    fn what_adds_up_is_trusted_and_looks_of_classes_are_not() {
        for shuffled in [false, true] {
            let [adds_up, of_its_own] = [0.0, 3.0].map(|own| ratio(own, shuffled));
            assert!(adds_up > 0.95 && of_its_own < 0.6, "{adds_up} {of_its_own}");
        }
    }

    #[test]
    fn what_never_differs_tells_nothing() {
        let table = TruthTable::complete(BitTable::from_fn(20, 2, |_, _| true));
        let z = vec![0.5_f32; 20 * WIDTH];
        assert_eq!(left_out(&(z.as_slice(), WIDTH), WIDTH, &table, &[0, 1]), None);
    }
}

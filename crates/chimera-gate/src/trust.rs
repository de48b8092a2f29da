//! Whether what concepts add to z can be trusted where nobody has seen it: effects are fitted without samples that have some
//! values of some concepts, and asked about these. Where classes have looks of their own, effects fit what was seen and say little
//! about anything else; then a graft is no sample that could be.

use chimera_logic::bits::TruthTable;

use crate::cone::Features;
use crate::effects::Design;
use crate::graft::{Effects, Labels};

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

/// Samples that are left out, in several ways, each in several parts. Parts do not need each other, so that whoever has threads can
/// fit them side by side.
#[derive(Debug)]
pub struct Trial<'a> {
    table: &'a TruthTable,
    /// First samples at random, then samples that agree in some concepts.
    ways: Vec<Way>,
}

/// Samples of one number are left out together.
#[derive(Debug)]
struct Way {
    numbers: Vec<usize>,
    folds: usize,
}

/// What is fitted to all samples but a part of them.
#[derive(Debug)]
pub struct Fitted {
    effects: Effects,
    /// The mean of z.
    center: Vec<f64>,
}

impl Way {
    fn new(numbers: Vec<usize>) -> Self {
        let folds = FOLDS.min(numbers.iter().max().map_or(0, |most| most + 1));
        // Where all of them are one, nothing is left to fit to.
        Self { numbers, folds: if folds < 2 { 0 } else { folds } }
    }

    /// Samples of a part, and the others.
    fn part(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
        (0..self.numbers.len()).partition(|&row| self.numbers[row] % self.folds == fold)
    }
}

impl<'a> Trial<'a> {
    /// Of samples with these labels; configurations are those of a few of the given concepts.
    #[must_use]
    pub fn new(table: &'a TruthTable, concepts: &[usize]) -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        // Rows may come in turns, class by class.
        let mut shuffled: Vec<usize> = (0..table.rows()).collect();
        random.shuffle(&mut shuffled);
        let mut ways = vec![Way::new(shuffled)];
        let mut concepts = concepts.to_vec();
        for _ in 0..CHOICES {
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
            ways.push(Way::new(numbers.collect()));
        }
        Self { table, ways }
    }

    /// Every way with each of its parts.
    #[must_use]
    pub fn parts(&self) -> Vec<(usize, usize)> {
        self.ways.iter().enumerate().flat_map(|(way, of)| (0..of.folds).map(move |fold| (way, fold))).collect()
    }

    /// How many ways there are.
    #[must_use]
    pub fn ways(&self) -> usize {
        self.ways.len()
    }

    /// Fits to all samples but those of a part; `None` where nothing can be fitted.
    pub fn fit(&self, features: &impl Features, width: usize, (way, fold): (usize, usize)) -> Option<Fitted> {
        let (_, kept) = self.ways[way].part(fold);
        let kept = Chosen { features, rows: &kept };
        let design = Design::new(&self.table.select(kept.rows))?;
        let effects = design.join(&[design.fit_means(&kept, 0..width)], false);
        let mut center = vec![0.0_f64; width];
        for row in 0..kept.rows.len() {
            let z = kept.of(row);
            center.iter_mut().zip(z).for_each(|(center, z)| *center += f64::from(*z) / kept.rows.len() as f64);
        }
        Some(Fitted { effects, center })
    }

    /// The share of z that is explained in a way, by what was fitted without each of its parts.
    pub fn explained(&self, features: &impl Features, way: usize, fitted: &[&Fitted]) -> Option<f64> {
        let (mut left, mut all) = (0.0, 0.0);
        for (fold, Fitted { effects, center }) in fitted.iter().enumerate() {
            let (out, _) = self.ways[way].part(fold);
            let labels = Labels::of(&self.table.select(&out));
            let mut mean = vec![0.0_f32; center.len()];
            for (place, &row) in out.iter().enumerate() {
                effects.mean(&labels, place as u32, &mut mean);
                for ((z, mean), center) in features.of(row).iter().zip(&mean).zip(center) {
                    left += f64::from(z - mean).powi(2);
                    all += (f64::from(*z) - center).powi(2);
                }
            }
        }
        (all > 0.0).then(|| 1.0 - left / all)
    }
}

impl LeftOut {
    /// From the share that is explained in each way, in their order; `None` where nothing tells.
    #[must_use]
    pub fn of(explained: &[Option<f64>]) -> Option<Self> {
        let (samples, configurations) = explained.split_first()?;
        let mut found: Vec<f64> = configurations.iter().copied().flatten().collect();
        found.sort_by(f64::total_cmp);
        Some(Self { samples: (*samples)?, configurations: *found.get(found.len() / 2)? })
    }
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

    fn left_out(z: &[f32], table: &TruthTable, concepts: &[usize]) -> Option<LeftOut> {
        let (features, trial) = ((z, WIDTH), Trial::new(table, concepts));
        let of_way = |way: usize| {
            let parts = trial.parts().into_iter().filter(|part| part.0 == way);
            let fitted = parts.map(|part| trial.fit(&features, WIDTH, part)).collect::<Option<Vec<_>>>()?;
            trial.explained(&features, way, &fitted.iter().collect::<Vec<_>>())
        };
        LeftOut::of(&(0..trial.ways()).map(of_way).collect::<Vec<_>>())
    }

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
        left_out(&z, &table, &[0, 1, 2, 3, 4]).unwrap().ratio()
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
        assert_eq!(left_out(&z, &table, &[0, 1]), None);
    }
}

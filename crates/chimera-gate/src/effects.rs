//! What concepts add to z: a ridge regression of z on labels. Where z comes out of a ReLU, zeros are not numbers but "something
//! below zero" (a Tobit regression, by expectation and maximisation): plain means would shrink every effect.

use std::ops::Range;

use chimera_logic::bits::TruthTable;

use crate::cone::Features;
use crate::graft::{Effects, Labels};
use crate::linear::Factor;
use crate::normal::{below, density, mean_below_zero};

/// The ridge, in samples: an effect that so many samples show is halved.
const RIDGE: f64 = 1.0;

/// Rounds of expectation and maximisation.
const ROUNDS: usize = 20;

/// Labels made ready to regress anything on them.
#[derive(Debug)]
pub struct Design {
    labels: Labels,
    shares: Vec<f64>,
    /// The squared distances of each concept's labels from its share, all together.
    spreads: Vec<f64>,
    factor: Factor,
    rows: usize,
}

/// Effects on some numbers of z.
#[derive(Clone, Debug)]
pub struct Part {
    base: Vec<f64>,
    /// Concepts x numbers.
    added: Vec<f64>,
    spread: Vec<f64>,
}

/// Sums of numbers of z over samples.
struct Sums {
    /// Over all of them.
    total: Vec<f64>,
    /// Over those that show each concept, concepts x numbers.
    shown: Vec<f64>,
    /// Over those of which nobody knows whether they do.
    open: Vec<f64>,
}

impl Sums {
    fn new(concepts: usize, width: usize) -> Self {
        Self { total: vec![0.0; width], shown: vec![0.0; concepts * width], open: vec![0.0; concepts * width] }
    }

    /// Takes a sample in.
    fn add(&mut self, numbers: &[f64], labels: &Labels, row: u32) {
        let add = |sums: &mut [f64]| sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        let of = |concept: u32| concept as usize * numbers.len()..(concept as usize + 1) * numbers.len();
        add(&mut self.total);
        labels.shown(row).iter().for_each(|&concept| add(&mut self.shown[of(concept)]));
        labels.open(row).iter().for_each(|&concept| add(&mut self.open[of(concept)]));
    }
}

impl Design {
    /// From labels, a row for each sample; `None` without samples.
    #[must_use]
    pub fn new(table: &TruthTable) -> Option<Self> {
        let (rows, concepts) = (table.rows(), table.columns());
        if rows == 0 {
            return None;
        }
        let both = |one: &[u64], other: &[u64]| -> f64 {
            one.iter().zip(other).map(|(one, other)| f64::from((one & other).count_ones())).sum()
        };
        let all: Vec<u64> = (0..rows.div_ceil(64)).map(|word| u64::MAX >> (64 - (rows - 64 * word).min(64))).collect();
        let value = |concept: usize| table.value().column(concept);
        let known = |concept: usize| table.known().map_or(&all[..], |known| known.column(concept));
        let share = |concept: usize| both(value(concept), known(concept)) / both(known(concept), &all).max(1.0);
        let shares: Vec<f64> = (0..concepts).map(share).collect();
        // Labels less their shares; what is unknown is at its share.
        let mut matrix = vec![0.0; concepts * concepts];
        for one in 0..concepts {
            for other in 0..=one {
                let (p, q) = (shares[one], shares[other]);
                matrix[one * concepts + other] = both(value(one), value(other))
                    - p * both(known(one), value(other))
                    - q * both(value(one), known(other))
                    + p * q * both(known(one), known(other));
            }
        }
        let spreads: Vec<f64> = (0..concepts).map(|one| matrix[one * concepts + one]).collect();
        (0..concepts).for_each(|one| matrix[one * concepts + one] += RIDGE);
        Some(Self { labels: Labels::of(table), shares, spreads, factor: Factor::new(matrix, concepts)?, rows })
    }

    /// For each concept how much of its labels others do not tell: 1 where they say nothing about it, 0 where they determine it or
    /// it never differs, and then nothing tells what it adds to z by itself.
    #[must_use]
    pub fn apart(&self) -> Vec<f64> {
        let own = |concept: usize| {
            let mut unit = vec![0.0; self.shares.len()];
            unit[concept] = 1.0;
            self.factor.solve(&mut unit);
            // What is left of its spread when others are known; the ridge is none of it.
            let left = 1.0 / unit[concept] - RIDGE;
            if self.spreads[concept] > 0.0 { (left / self.spreads[concept]).clamp(0.0, 1.0) } else { 0.0 }
        };
        (0..self.shares.len()).map(own).collect()
    }

    /// Effects on some numbers of z.
    pub fn fit(&self, features: &impl Features, range: Range<usize>, rectified: bool) -> Part {
        let (width, concepts) = (range.len(), self.shares.len());
        let mut part = Part { base: vec![0.0; width], added: vec![0.0; concepts * width], spread: vec![0.0; width] };
        let rows = self.rows as f64;
        let (mut mean, mut expected) = (vec![0.0; width], vec![0.0; width]);
        for round in 0..if rectified { ROUNDS } else { 2 } {
            let (mut sums, mut squares) = (Sums::new(concepts, width), vec![0.0; width]);
            for row in 0..self.rows {
                let z = &features.of(row)[range.clone()];
                self.mean(&part, row as u32, &mut mean);
                for at in 0..width {
                    let (z, mean, spread) = (f64::from(z[at]), mean[at], part.spread[at]);
                    let away = z - mean;
                    (expected[at], squares[at]) = if !rectified || z > 0.0 || round == 0 {
                        (z, squares[at] + away * away)
                    } else {
                        // The mean of a normal number below zero, and of its squared distance from the mean.
                        let (mean, inside) = (mean / spread, mean_below_zero(mean / spread));
                        (spread * inside, squares[at] + spread * spread * (1.0 + mean * (mean - inside)))
                    };
                }
                sums.add(&expected, &self.labels, row as u32);
            }
            for ((spread, square), total) in part.spread.iter_mut().zip(&squares).zip(&sums.total) {
                // The first round knows no mean yet, and no distances from it.
                let square = if round == 0 { square / rows - (total / rows).powi(2) } else { square / rows };
                *spread = square.max(0.0).sqrt().max(1e-6);
            }
            self.solve(&sums, &mut part);
        }
        part
    }

    /// Effects on some numbers of z that are taken as they are, without how far samples are from them.
    pub(crate) fn fit_means(&self, features: &impl Features, range: Range<usize>) -> Part {
        let (width, concepts) = (range.len(), self.shares.len());
        let mut part = Part { base: vec![0.0; width], added: vec![0.0; concepts * width], spread: vec![0.0; width] };
        let mut sums = Sums::new(concepts, width);
        let mut numbers = vec![0.0; width];
        for row in 0..self.rows {
            let z = &features.of(row)[range.clone()];
            numbers.iter_mut().zip(z).for_each(|(number, z)| *number = f64::from(*z));
            sums.add(&numbers, &self.labels, row as u32);
        }
        self.solve(&sums, &mut part);
        part
    }

    /// What is nearest to numbers with these sums.
    fn solve(&self, sums: &Sums, part: &mut Part) {
        let (width, rows) = (part.base.len(), self.rows as f64);
        let mut right = vec![0.0; self.shares.len()];
        for at in 0..width {
            for (concept, right) in right.iter_mut().enumerate() {
                let place = concept * width + at;
                *right = sums.shown[place] - self.shares[concept] * (sums.total[at] - sums.open[place]);
            }
            self.factor.solve(&mut right);
            part.base[at] = sums.total[at] / rows;
            for (concept, right) in right.iter().enumerate() {
                part.added[concept * width + at] = *right;
                part.base[at] -= self.shares[concept] * right;
            }
        }
    }

    /// The mean of a sample's numbers.
    fn mean(&self, part: &Part, row: u32, out: &mut [f64]) {
        out.copy_from_slice(&part.base);
        let width = out.len();
        let mut add = |list: &[u32], share: &dyn Fn(usize) -> f64| {
            for &concept in list {
                let (effect, share) = (&part.added[concept as usize * width..][..width], share(concept as usize));
                out.iter_mut().zip(effect).for_each(|(out, effect)| *out += share * effect);
            }
        };
        add(self.labels.shown(row), &|_| 1.0);
        add(self.labels.open(row), &|concept| self.shares[concept]);
    }

    /// Effects on all of z from those on its numbers, in order.
    #[must_use]
    pub fn join(&self, parts: &[Part], rectified: bool) -> Effects {
        let numbers = |of: &dyn Fn(&Part) -> &[f64]| -> Vec<f32> {
            parts.iter().flat_map(|part| of(part).iter().map(|number| *number as f32).collect::<Vec<f32>>()).collect()
        };
        let mut added = Vec::new();
        for concept in 0..self.shares.len() {
            for part in parts {
                let width = part.base.len();
                added.extend(part.added[concept * width..][..width].iter().map(|number| *number as f32));
            }
        }
        Effects {
            base: numbers(&|part| &part.base),
            added,
            spread: numbers(&|part| &part.spread),
            shares: self.shares.iter().map(|share| *share as f32).collect(),
            rectified,
        }
    }
}

/// How much of z labels explain, on samples that effects were not fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The share of the variance of z; `None` where there is none.
    pub overall: Option<f64>,
    /// For each concept: how well its label is seen along the direction of its own effect (a squared correlation).
    pub concepts: Vec<Option<f64>>,
}

impl Effects {
    /// Measures how much labels explain.
    pub fn explained(&self, features: &impl Features, table: &TruthTable) -> Explained {
        let labels = Labels::of(table);
        let along = self.along(features, &labels, 0..labels.rows());
        Explained { overall: self.explained_of_z(features, &labels), concepts: self.told_along(&along, table) }
    }

    /// The share of the variance of z that labels explain; `None` where there is none.
    pub fn explained_of_z(&self, features: &impl Features, labels: &Labels) -> Option<f64> {
        let (rows, width) = (labels.rows(), self.base.len());
        let mut center = vec![0.0_f64; width];
        for row in 0..rows {
            center.iter_mut().zip(features.of(row)).for_each(|(center, z)| *center += f64::from(*z) / rows as f64);
        }
        let (mut left, mut all) = (0.0, 0.0);
        let mut mean = vec![0.0_f32; width];
        for row in 0..rows {
            let z = features.of(row);
            self.mean(labels, row as u32, &mut mean);
            for at in 0..width {
                let z = f64::from(z[at]);
                left += (z - self.seen(at, mean[at])).powi(2);
                all += (z - center[at]).powi(2);
            }
        }
        (all > 0.0).then(|| 1.0 - left / all)
    }

    /// For each concept how well its label is seen [along](Self::along) the direction of its own effect, on samples with these labels.
    #[must_use]
    pub fn told_along(&self, along: &[f32], table: &TruthTable) -> Vec<Option<f64>> {
        let rows = table.rows();
        let correlation = |concept: usize| {
            let known = along[concept * rows..][..rows].iter().enumerate();
            let known =
                known.filter_map(|(row, t)| Some((f64::from(*t), f64::from(u8::from(table.get(row, concept)?)))));
            // Sums for a correlation: t, y, tt, yy, ty, count.
            let [t, y, tt, yy, ty, count] = known.fold([0.0; 6], |mut sums, (t, y)| {
                sums.iter_mut().zip([t, y, t * t, y * y, t * y, 1.0]).for_each(|(sum, term)| *sum += term);
                sums
            });
            let (vt, vy, c) = (tt - t * t / count, yy - y * y / count, ty - t * y / count);
            (count > 1.0 && vt > 0.0 && vy > 0.0).then(|| (c / (vt * vy).sqrt()).max(0.0).powi(2))
        };
        (0..self.shares.len()).map(correlation).collect()
    }

    /// How far some samples go along the effect of each concept, with all other labels given; 0 where the label is not known.
    /// Samples that show a concept go further, as far as z shows what the concept adds.
    ///
    /// # Shapes
    /// concepts x rows.
    pub fn along(&self, features: &impl Features, labels: &Labels, rows: Range<usize>) -> Vec<f32> {
        let (width, count) = (self.base.len(), rows.len());
        let squares: Vec<f64> = self.spread.iter().map(|spread| f64::from(*spread).powi(2).max(1e-12)).collect();
        let mut along = vec![0.0_f32; self.shares.len() * count];
        let (mut mean, mut away) = (vec![0.0_f32; width], vec![0.0_f64; width]);
        let mut known = vec![Some(false); self.shares.len()];
        for (place, row) in rows.enumerate() {
            let (z, row) = (features.of(row), row as u32);
            known.fill(Some(false));
            labels.shown(row).iter().for_each(|&concept| known[concept as usize] = Some(true));
            labels.open(row).iter().for_each(|&concept| known[concept as usize] = None);
            self.mean(labels, row, &mut mean);
            // Without a concept that it does not show, a sample is as it is: the same for all of these.
            for at in 0..width {
                away[at] = f64::from(z[at]) - self.seen(at, mean[at]);
            }
            for (concept, known) in known.iter().enumerate() {
                let Some(shown) = *known else { continue };
                let effect = self.of(concept);
                let told = (0..width).filter(|&at| effect[at] != 0.0).map(|at| {
                    let away = if shown { f64::from(z[at]) - self.seen(at, mean[at] - effect[at]) } else { away[at] };
                    f64::from(effect[at]) * away / squares[at]
                });
                along[concept * count + place] = told.sum::<f64>() as f32;
            }
        }
        along
    }

    /// z of a sample as if some concepts were given, where it is only known how likely it shows each. Behind a ReLU, what went in
    /// is taken to be what it is on average where nothing came out.
    ///
    /// # Panics
    /// Where there is not a probability for each concept.
    #[must_use]
    pub fn supposed(&self, z: &[f32], probabilities: &[f64], given: &[(usize, bool)]) -> Vec<f32> {
        assert_eq!(probabilities.len(), self.shares.len(), "a probability for each concept");
        let sum = |weights: &mut dyn Iterator<Item = (usize, f64)>| {
            let mut sum = vec![0.0_f64; z.len()];
            for (concept, weight) in weights {
                sum.iter_mut().zip(self.of(concept)).for_each(|(sum, effect)| *sum += weight * f64::from(*effect));
            }
            sum
        };
        let value = |given: bool| f64::from(u8::from(given));
        let added = sum(&mut given.iter().map(|&(concept, given)| (concept, value(given) - probabilities[concept])));
        let shown = if self.rectified { sum(&mut probabilities.iter().copied().enumerate()) } else { Vec::new() };
        let one = |at: usize| {
            let z = f64::from(z[at]);
            if !self.rectified {
                return (z + added[at]) as f32;
            }
            let spread = f64::from(self.spread[at]).max(1e-6);
            let mean = (f64::from(self.base[at]) + shown[at]) / spread;
            let went_in = if z > 0.0 { z } else { spread * mean_below_zero(mean) };
            (went_in + added[at]).max(0.0) as f32
        };
        (0..z.len()).map(one).collect()
    }

    /// The mean of z of samples with the labels of a row.
    pub(crate) fn mean(&self, labels: &Labels, row: u32, out: &mut [f32]) {
        out.copy_from_slice(&self.base);
        for &concept in labels.shown(row) {
            out.iter_mut().zip(self.of(concept as usize)).for_each(|(out, effect)| *out += effect);
        }
        for &concept in labels.open(row) {
            let share = self.shares[concept as usize];
            out.iter_mut().zip(self.of(concept as usize)).for_each(|(out, effect)| *out += share * effect);
        }
    }

    /// What is seen of a number with a mean: behind a ReLU, what is above zero.
    fn seen(&self, at: usize, mean: f32) -> f64 {
        let (mean, spread) = (f64::from(mean), f64::from(self.spread[at]).max(1e-6));
        if !self.rectified {
            return mean;
        }
        let a = mean / spread;
        mean * below(a) + spread * density(a)
    }
}

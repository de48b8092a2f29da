//! Teaching one gate, on one core. Gates of a level do not depend on each other, so as many are taught at a time as there are
//! cores; each has random numbers of its own, so that neither order nor neighbours change a bit of it.

use serde::{Deserialize, Serialize};

use crate::adam::{Adam, Step};
use crate::cone::{Cone, Features, Rooms};
use crate::draw::{Batch, Choice, Configurations, Depth, Drawing, Population};
use crate::gate::{Gate, Shape};
use crate::graft::Grafting;
use crate::pass::{Part, Room, Update};

/// What a gate learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Negatives {
    /// Chimeras alone (the paper's `chimeras_only`).
    #[default]
    Chimera,
    /// Samples as they are alone.
    Same,
    /// As many chimeras as samples as they are.
    Both,
    /// Grafts alone: samples with other concepts.
    Graft,
    /// As many chimeras as grafts.
    ChimeraGraft,
}

impl Negatives {
    /// Whether chimeras are drawn.
    #[must_use]
    pub fn has_chimeras(self) -> bool {
        matches!(self, Self::Chimera | Self::Both | Self::ChimeraGraft)
    }

    /// Whether samples are taken as they are.
    #[must_use]
    pub fn has_samples(self) -> bool {
        matches!(self, Self::Same | Self::Both)
    }

    /// Whether samples get other concepts.
    #[must_use]
    pub fn has_grafts(self) -> bool {
        matches!(self, Self::Graft | Self::ChimeraGraft)
    }
}

/// How gates are taught. All of it is part of a gate's key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Recipe {
    /// Numbers between the layers of a gate (H).
    pub hidden: usize,
    /// What a gate learns from.
    pub negatives: Negatives,
    /// Where one sample of a chimera ends and another begins.
    pub chimeras: Depth,
    /// How samples are found for chimeras.
    pub sampler: Choice,
    /// Passes over the samples.
    pub epochs: usize,
    /// Samples a step.
    pub batch: usize,
    /// Adam's learning rate.
    pub rate: f64,
    /// The share of a weight that is added to its gradient.
    pub weight_decay: f64,
    /// Who computes, as far as that decides bits.
    #[serde(skip_serializing_if = "Arithmetic::is_default")]
    pub arithmetic: Arithmetic,
}

/// Who computes. On one kind of it the same gate always comes out; from one to another it is as good, but not the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// The processor, in 32-bit floats.
    #[default]
    Cpu,
    /// A GPU that rounds what it multiplies to TF32.
    CudaTf32,
    /// A GPU, in 32-bit floats.
    CudaFp32,
}

/// Raised when kernels of GPUs compute something else, be it in the last bit: gates that were taught before are not taken for
/// those that would be taught now.
const KERNELS: u32 = 2;

impl Arithmetic {
    /// The number of the kernels that compute, which is part of what names a gate. The processor's code has none: what it
    /// computes does not change.
    #[must_use]
    pub fn kernels(self) -> Option<u32> {
        match self {
            Self::Cpu => None,
            Self::CudaTf32 | Self::CudaFp32 => Some(KERNELS),
        }
    }

    /// Whether it is the processor, which keys and configurations do not mention.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            hidden: 256,
            negatives: Negatives::default(),
            chimeras: Depth::default(),
            sampler: Choice::default(),
            epochs: 2,
            batch: 64,
            rate: 1e-3,
            weight_decay: 0.0,
            arithmetic: Arithmetic::default(),
        }
    }
}

/// One gate to be taught.
#[derive(Debug)]
pub struct Task<'a, F> {
    /// The node and what lies below it, with the gates there.
    pub cone: &'a Cone,
    /// The sizes of the gate.
    pub shape: Shape,
    /// How it is taught.
    pub recipe: &'a Recipe,
    /// The samples' features.
    pub features: &'a F,
    /// The samples.
    pub population: &'a Population,
    /// How chimeras are drawn; `None` where none are.
    pub chimeras: Option<Drawing>,
    /// How samples are taken as they are; `None` where they are not.
    pub same: Option<Drawing>,
    /// How samples get other concepts; `None` where they do not.
    pub grafts: Option<Grafting<'a>>,
    /// The samples that may be taken as they are; all where nothing is said.
    pub kept: Option<&'a [u32]>,
    /// Seeds everything that is drawn.
    pub seed: u64,
}

/// A gate that has been taught.
#[derive(Clone, Debug, PartialEq)]
pub struct Taught {
    /// The gate.
    pub gate: Gate,
    /// Mean loss of each epoch.
    pub losses: Vec<f32>,
    /// What it was shown, by configuration of its operands.
    pub shown: Configurations,
    /// Chimeras for which no samples were found.
    pub failed: u64,
    /// Chimeras and samples whose truth is unknown.
    pub unknown: u64,
}

/// Why a gate cannot be taught.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No sample and no chimera has a known truth.
    #[error("its truth is not known on any sample that could be shown")]
    NothingKnown,
    /// Chimeras can only make it true, or only false.
    #[error("no chimera makes it {}: an operand of it never differs in training", if *.0 { "false" } else { "true" })]
    OneTruth(bool),
    /// A concept below it never differs, so grafts cannot change it.
    #[error("a concept of it never differs in training, so nothing tells what it adds to z")]
    NeverDiffers,
    /// Fewer samples at hand than a chimera has parts.
    #[error("a chimera of it takes {parts} different samples, and {at_hand} are at hand")]
    TooFew {
        /// Samples of a chimera.
        parts: usize,
        /// Samples of a batch for `shift`, of the train rows for `stratified`.
        at_hand: usize,
    },
    /// The samples that a chimera could take are one sample or one group.
    #[error("no chimera can be made: the samples that it would take are one sample or of one group")]
    NotApart,
    /// The loss or a weight is no number any more.
    #[error("training diverged in epoch {0}; a smaller rate may help")]
    Diverged(usize),
}

/// Samples, and behind them grafts of the batch at hand.
struct Mixed<'a, F> {
    samples: &'a F,
    rows: usize,
    grafted: &'a [f32],
    width: usize,
}

impl<F: Features> Features for Mixed<'_, F> {
    fn of(&self, row: usize) -> &[f32] {
        match row.checked_sub(self.rows) {
            None => self.samples.of(row),
            Some(graft) => &self.grafted[graft * self.width..][..self.width],
        }
    }
}

impl<F: Features> Task<'_, F> {
    /// Whether neither chimeras nor grafts are drawn: then batches are cut from the samples that are kept.
    #[must_use]
    pub fn takes_samples_alone(&self) -> bool {
        self.chimeras.is_none() && self.grafts.is_none()
    }

    fn rows(&self) -> usize {
        match self.kept {
            Some(kept) if self.takes_samples_alone() => kept.len(),
            _ => self.population.rows,
        }
    }

    /// Teaches the gate. `tick` is called after every step.
    ///
    /// # Errors
    /// [`Problem`]s of the data, or of the rate.
    pub fn teach(&self, tick: &dyn Fn()) -> Result<Taught, Problem> {
        self.check()?;
        let recipe = self.recipe;
        let [mut start, mut order, mut random] = self.randoms();
        let mut gate = Gate::initial(self.shape, &mut start);
        let mut moments = Moments::new(&gate);
        let adam = Adam { rate: recipe.rate as f32, weight_decay: recipe.weight_decay as f32, ..Adam::default() };
        let mut rows: Vec<u32> = match self.kept {
            Some(kept) if self.takes_samples_alone() => kept.to_vec(),
            _ => (0..self.population.rows as u32).collect(),
        };
        let kept = self.kept.map(|kept| {
            let mut marks = vec![false; self.population.rows];
            kept.iter().for_each(|&row| marks[row as usize] = true);
            marks
        });
        let mut taught =
            Taught { losses: Vec::new(), shown: Configurations::default(), failed: 0, unknown: 0, gate: gate.clone() };
        let (mut batch, mut room, mut rooms, mut inputs) =
            (Batch::default(), Room::default(), Rooms::default(), Vec::new());
        let (mut step, mut targets, mut grafted) = (0, [0_u64; 2], Vec::new());
        for epoch in 1..=recipe.epochs {
            order.shuffle(&mut rows);
            let (mut total, mut count) = (0.0_f64, 0_usize);
            for rows in rows.chunks(recipe.batch.max(1)) {
                batch.clear(self.cone.spots);
                grafted.clear();
                taught.failed += self.draw(rows, kept.as_deref(), &mut random, &mut batch, &mut grafted);
                let known = batch.targets.iter().flatten().count();
                batch.targets.iter().flatten().for_each(|target| targets[usize::from(*target)] += 1);
                taught.unknown += (batch.len() - known) as u64;
                if known > 0 {
                    taught.shown.count(&batch);
                    let (rows, width) = (self.population.rows, self.shape.features);
                    self.cone.fill(
                        &Mixed { samples: self.features, rows, grafted: &grafted, width },
                        width,
                        &batch.rows,
                        batch.len(),
                        &mut rooms,
                        &mut inputs,
                    );
                    room.forward(&gate, &inputs, batch.len());
                    step += 1;
                    let mut update = Learning { step: adam.step(step), moments: &mut moments };
                    let loss = room.backward(&mut gate, &inputs, &batch.targets, &mut update).unwrap_or_default();
                    if !loss.is_finite() {
                        return Err(Problem::Diverged(epoch));
                    }
                    total += f64::from(loss) * known as f64;
                    count += known;
                }
                tick();
            }
            if count == 0 {
                return Err(self.nothing_shown(taught.failed));
            }
            taught.losses.push((total / count as f64) as f32);
        }
        taught.gate = gate;
        self.finish(taught, targets)
    }

    /// Why an epoch came to nothing in which so many chimeras could not be made.
    #[must_use]
    pub fn nothing_shown(&self, failed: u64) -> Problem {
        if failed > 0 && self.chimeras.is_some() { Problem::NotApart } else { Problem::NothingKnown }
    }

    /// A gate after its last step, unless something is wrong with it; `targets` counts what was false and what was true.
    ///
    /// # Errors
    /// One truth alone was shown, or a weight is no number.
    pub fn finish(&self, taught: Taught, [fails, holds]: [u64; 2]) -> Result<Taught, Problem> {
        if !self.recipe.negatives.has_samples() && (fails == 0 || holds == 0) {
            return Err(Problem::OneTruth(holds > 0));
        }
        if !taught.gate.is_finite() {
            return Err(Problem::Diverged(self.recipe.epochs));
        }
        Ok(taught)
    }

    /// The tensors of the gate before the first step.
    #[must_use]
    pub fn initial(&self) -> [Vec<f32>; 6] {
        Gate::initial_tensors(self.shape, &mut self.randoms()[0])
    }

    /// Random numbers for the gate's first weights, for the order of samples, and for what is drawn.
    fn randoms(&self) -> [fastrand::Rng; 3] {
        let mut start = fastrand::Rng::with_seed(self.seed);
        let (order, random) = (start.fork(), start.fork());
        [start, order, random]
    }

    /// Whether it can be taught at all.
    ///
    /// # Errors
    /// [`Problem`]s of the data.
    pub fn check(&self) -> Result<(), Problem> {
        if self.rows() == 0 {
            return Err(Problem::NothingKnown);
        }
        if self.grafts.as_ref().is_some_and(Grafting::never_differs) {
            return Err(Problem::NeverDiffers);
        }
        match self.grafts.as_ref().map(Grafting::can) {
            None | Some([true, true]) => {}
            Some([_, holds]) => return Err(Problem::OneTruth(holds)),
        }
        let Some(chimeras) = &self.chimeras else { return Ok(()) };
        match chimeras.can() {
            [true, true] => {}
            [false, false] => return Err(Problem::NothingKnown),
            [_, holds] => return Err(Problem::OneTruth(holds)),
        }
        let at_hand = match self.recipe.sampler {
            Choice::Shift => self.recipe.batch.min(self.population.rows),
            Choice::Stratified => self.population.rows,
        };
        if chimeras.parts() > at_hand {
            return Err(Problem::TooFew { parts: chimeras.parts(), at_hand });
        }
        Ok(())
    }

    /// One batch, with z of grafts; gives the number of chimeras and grafts that could not be made.
    fn draw(
        &self,
        rows: &[u32],
        kept: Option<&[bool]>,
        random: &mut fastrand::Rng,
        batch: &mut Batch,
        grafted: &mut Vec<f32>,
    ) -> u64 {
        if let Some(same) = &self.same {
            let rows: Vec<u32> =
                rows.iter().copied().filter(|&row| kept.is_none_or(|kept| kept[row as usize])).collect();
            same.plain(&rows, batch);
        }
        let mut failed = 0;
        if let Some(grafts) = &self.grafts {
            let first = self.population.rows;
            let mut add = |row: u32| grafts.add((row, self.features.of(row as usize)), first, grafted, random, batch);
            failed += rows.iter().filter(|&&row| !add(row)).count();
        }
        let Some(chimeras) = &self.chimeras else { return failed as u64 };
        match self.recipe.sampler {
            Choice::Shift => chimeras.shift(self.population, rows, random, batch),
            Choice::Stratified => {
                let mut make = || chimeras.stratified(self.population, None, random, batch);
                failed += rows.iter().filter(|_| !make()).count();
            }
        }
        failed as u64
    }
}

/// Adam's two means for every parameter of a gate.
#[derive(Debug)]
struct Moments([[Vec<f32>; 2]; 6]);

impl Moments {
    fn new(gate: &Gate) -> Self {
        let lengths = [
            gate.first.weights.values().len(),
            gate.first.bias.len(),
            gate.second.weights.values().len(),
            gate.second.bias.len(),
            gate.head.len(),
            1,
        ];
        Self(lengths.map(|length| [vec![0.0; length], vec![0.0; length]]))
    }
}

struct Learning<'a> {
    step: Step,
    moments: &'a mut Moments,
}

impl Update for Learning<'_> {
    fn update(&mut self, part: Part, start: usize, values: &mut [f32], gradient: &[f32]) {
        let [first, second] = &mut self.moments.0[part as usize];
        let piece = start..start + values.len();
        self.step.take(values, gradient, [&mut first[piece.clone()], &mut second[piece]]);
    }
}

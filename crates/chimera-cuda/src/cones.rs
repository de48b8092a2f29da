//! Trained gates below a gate, stage by stage: what leaves give goes into inputs, and what a gate gives goes straight into the
//! input of the gate above it.

use std::collections::BTreeMap;
use std::sync::Arc;

use chimera_gate::cone::{Kind, LeafFeature, Operand};
use chimera_gate::gate::Gate;
use cudarc::driver::CudaSlice;

use crate::gpu::{Batch, Decay, Gpu, Kind as Multiply, MOST_DOWN, Product, Result, device_repr};
use crate::layout::{Places, Sizes, padded};
use crate::products::layers;

/// A leaf that is an operand; as in `teach.cu`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceLeaf {
    pub(crate) rows: u64,
    pub(crate) beside: u64,
    pub(crate) shift: u64,
    pub(crate) scale: u64,
    pub(crate) out: u64,
    pub(crate) stride: i32,
}

device_repr!(DeviceLeaf);

/// Where an input lies: how far from the start of activations, and how far apart rows are, in numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input {
    pub(crate) place: usize,
    pub(crate) stride: usize,
}

/// A leaf before places are known.
#[derive(Clone, Debug)]
struct PlannedLeaf {
    task: usize,
    spot: usize,
    feature: usize,
    input: Input,
}

/// A trained gate before places are known.
#[derive(Clone, Debug)]
struct PlannedGate {
    weights: usize,
    sizes: Sizes,
    input: Input,
    hidden: usize,
    out: Input,
    height: usize,
}

/// What lies below many gates.
#[derive(Debug, Default)]
pub(crate) struct Cones {
    leaves: Vec<PlannedLeaf>,
    gates: Vec<PlannedGate>,
    /// Numbers of activations that are taken.
    pub(crate) taken: usize,
    weights: Weights,
    features: Affines,
}

/// Weights of trained gates, each once.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    numbers: BTreeMap<(*const Gate, Vec<bool>), usize>,
    held: Vec<(Arc<Gate>, Vec<bool>)>,
    pub(crate) places: Vec<Places>,
}

/// What leaves make of z, each once; number 0 is z itself.
#[derive(Debug, Default)]
pub(crate) struct Affines {
    numbers: BTreeMap<[*const f32; 2], usize>,
    held: Vec<LeafFeature>,
    pub(crate) values: Vec<f32>,
    width: usize,
}

impl Affines {
    pub(crate) fn number(&mut self, feature: &LeafFeature, width: usize) -> usize {
        let LeafFeature::Affine { shift, scale } = feature else { return 0 };
        self.width = width;
        *self.numbers.entry([shift.as_ptr(), scale.as_ptr()]).or_insert_with(|| {
            for numbers in [shift, scale] {
                let end = self.values.len() + width;
                self.values.extend_from_slice(numbers);
                self.values.resize(end, 0.0);
            }
            self.held.push(feature.clone());
            self.held.len()
        })
    }
}

impl Affines {
    /// Where shift and scale of a number lie; nowhere for z itself.
    pub(crate) fn at(&self, number: usize, base: u64) -> [u64; 2] {
        let place = |at: usize| base + 4 * (at * self.width) as u64;
        number.checked_sub(1).map_or([0; 2], |number| [place(2 * number), place(2 * number + 1)])
    }
}

impl Weights {
    pub(crate) fn number(&mut self, gate: &Arc<Gate>, negated: Vec<bool>) -> usize {
        if let Some(number) = self.numbers.get(&(Arc::as_ptr(gate), negated.clone())) {
            return *number;
        }
        self.places.push(Sizes::of(gate.shape()).places(self.len()));
        self.held.push((gate.clone(), negated.clone()));
        self.numbers.insert((Arc::as_ptr(gate), negated), self.places.len() - 1);
        self.places.len() - 1
    }

    /// How many numbers they are.
    fn len(&self) -> usize {
        self.places.last().map_or(0, |places| places.end)
    }

    /// All of them, in their places.
    pub(crate) fn values(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.len()];
        for ((gate, negated), places) in self.held.iter().zip(&self.places) {
            Sizes::of(gate.shape()).write(&gate.tensors(), negated, *places, &mut values);
        }
        values
    }
}

impl Cones {
    /// Takes room for so many numbers.
    pub(crate) fn take(&mut self, count: usize) -> usize {
        self.taken += padded(count);
        self.taken - padded(count)
    }

    /// Plans what fills an input of `slots` rows. Gives the height of what lies below: 0 where that is leaves alone.
    pub(crate) fn plan(
        &mut self,
        task: usize,
        operands: &[Operand],
        width: usize,
        slots: usize,
        input: Input,
    ) -> usize {
        let mut height = 0;
        for (number, operand) in operands.iter().enumerate() {
            let into = Input { place: input.place + number * width, stride: input.stride };
            match &operand.kind {
                Kind::Leaf { spot, feature, .. } => {
                    let feature = self.features.number(feature, width);
                    self.leaves.push(PlannedLeaf { task, spot: *spot, feature, input: into });
                }
                Kind::Gate { gate: Some(gate), operands, .. } => {
                    let sizes = Sizes::of(gate.shape());
                    let own = Input { place: self.take(slots * sizes.width()), stride: sizes.width() };
                    let hidden = self.take(slots * sizes.hidden);
                    let below = self.plan(task, operands, width, slots, own);
                    let weights = self.weights.number(gate, operands.iter().map(|operand| operand.negated).collect());
                    self.gates.push(PlannedGate { weights, sizes, input: own, hidden, out: into, height: below + 1 });
                    height = height.max(below + 1);
                }
                // A gate below is taught before those above it.
                Kind::Gate { gate: None, .. } => {}
            }
        }
        height
    }

    /// Puts it on a device. `rows` gives where the samples of a task's spot are listed and where its grafts lie.
    pub(crate) fn upload(
        &self,
        gpu: &Gpu,
        activations: u64,
        slots: usize,
        rows: impl Fn(usize, usize) -> (u64, u64),
    ) -> Result<Below> {
        let float = |base: u64, place: usize| base + 4 * place as u64;
        let weights = gpu.upload(&self.weights.values())?;
        let affines = gpu.upload(&self.features.values)?;
        let (weights_at, affines_at) = (gpu.at(&weights), gpu.at(&affines));
        let leaves: Vec<DeviceLeaf> = self
            .leaves
            .iter()
            .map(|leaf| {
                let (rows, beside) = rows(leaf.task, leaf.spot);
                let [shift, scale] = self.features.at(leaf.feature, affines_at);
                DeviceLeaf {
                    rows,
                    beside,
                    shift,
                    scale,
                    out: float(activations, leaf.input.place),
                    stride: leaf.input.stride as i32,
                }
            })
            .collect();
        let highest = self.gates.iter().map(|gate| gate.height).max().unwrap_or(0);
        let mut stages = Vec::new();
        for height in 1..=highest {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for gate in self.gates.iter().filter(|gate| gate.height == height) {
                let places = self.weights.places[gate.weights];
                let [one, other] = layers(
                    (gate.sizes, places, weights_at),
                    slots,
                    [gate.input.place, gate.hidden, gate.out.place].map(|place| float(activations, place)),
                    gate.out.stride,
                );
                first.push(one);
                second.push(other);
            }
            stages.push([gpu.batch(&first, Multiply::Forward)?, gpu.batch(&second, Multiply::Forward)?]);
        }
        Ok(Below { leaves: gpu.upload(&leaves)?, count: leaves.len(), stages, _weights: weights, _affines: affines })
    }

    /// Bytes of what is uploaded, and of the activations.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.taken + self.weights.len() + self.features.values.len())
            + self.leaves.len() * size_of::<DeviceLeaf>()
            + self.gates.len() * 2 * size_of::<Product>()
    }
}

/// [`Cones`] on a device.
#[derive(Debug)]
pub(crate) struct Below {
    leaves: CudaSlice<DeviceLeaf>,
    count: usize,
    stages: Vec<[Batch; 2]>,
    _weights: CudaSlice<f32>,
    _affines: CudaSlice<f32>,
}

/// Which slots of a batch are filled with what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) z: u64,
    pub(crate) width: usize,
    pub(crate) slots: usize,
    /// The first row of the lists of samples.
    pub(crate) first: usize,
    /// From which slot on, and up to which, slots are grafts.
    pub(crate) grafts: (usize, usize),
}

impl Filling {
    /// Puts operands into inputs.
    pub(crate) fn run(self, gpu: &Gpu, operands: &CudaSlice<DeviceLeaf>, count: usize) -> Result<()> {
        let Self { z, width, slots, first, grafts } = self;
        let quads = slots * width / 4;
        let sizes = [width, slots, grafts.0, grafts.1].map(|size| size as i32);
        let first = first as i64;
        for start in (0..count).step_by(MOST_DOWN) {
            let some = gpu.at(operands) + (start * size_of::<DeviceLeaf>()) as u64;
            let mut launch = gpu.launch(&gpu.kernels.fill);
            launch.arg(&some).arg(&z).arg(&sizes[0]).arg(&sizes[1]).arg(&first).arg(&sizes[2]).arg(&sizes[3]);
            launch.go((quads.div_ceil(256).min(512) as u32, MOST_DOWN.min(count - start) as u32), 256)?;
        }
        Ok(())
    }
}

impl Below {
    /// Fills all inputs.
    pub(crate) fn fill(&self, gpu: &Gpu, filling: Filling) -> Result<()> {
        filling.run(gpu, &self.leaves, self.count)?;
        for [first, second] in &self.stages {
            gpu.multiply(first, Decay::default())?;
            gpu.multiply(second, Decay::default())?;
        }
        Ok(())
    }
}

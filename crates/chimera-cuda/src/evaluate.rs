//! All gates of a rule set over samples, each gate once a sample, level by level.

use std::ops::Range;

use chimera_gate::cone::Features;
use chimera_gate::evaluate::{PlacedGate, Source};
use cudarc::driver::CudaSlice;

use crate::cones::{Affines, DeviceLeaf, Filling, Weights};
use crate::gpu::{Batch, Decay, Gpu, GpuError, Kind, MOST_DOWN, Result};
use crate::heads::DeviceHead;
use crate::layout::{Sizes, padded};
use crate::products::layers;

/// Samples at a time, at most: enough for every processor.
const MOST: usize = 8192;

/// The share of free memory that is taken.
const SHARE: f64 = 0.5;

/// Gates made ready to run on a device.
#[derive(Debug)]
pub struct Scorer<'g> {
    gpu: &'g Gpu,
    gates: usize,
    features: usize,
    width: usize,
    /// Samples at a time.
    room: usize,
    levels: Vec<Level>,
    heads: CudaSlice<DeviceHead>,
    numbers: CudaSlice<u32>,
    _weights: CudaSlice<f32>,
    _affines: CudaSlice<f32>,
    _activations: CudaSlice<f32>,
}

/// Gates that do not read each other.
#[derive(Debug)]
struct Level {
    operands: CudaSlice<DeviceLeaf>,
    count: usize,
    products: [Batch; 2],
}

impl<'g> Scorer<'g> {
    /// Makes gates ready, each after the gates that it reads, for samples of so many features.
    ///
    /// # Errors
    /// What the device reports; sizes that do not fit, or a gate that reads a later one.
    pub fn new(gpu: &'g Gpu, features: usize, gates: &[PlacedGate]) -> Result<Self> {
        let _turn = gpu.turn();
        let misfit = || GpuError::Driver("gates do not fit together".to_owned());
        if gates.len() > MOST_DOWN {
            return Err(GpuError::Driver(format!("at most {MOST_DOWN} gates are run at a time, got {}", gates.len())));
        }
        let width = padded(features);
        let (mut weights, mut affines) = (Weights::default(), Affines::default());
        let mut level_of: Vec<usize> = Vec::with_capacity(gates.len());
        let mut numbers = Vec::with_capacity(gates.len());
        for (number, placed) in gates.iter().enumerate() {
            let shape = placed.gate.shape();
            if shape.features != features || shape.arity != placed.operands.len() {
                return Err(misfit());
            }
            let mut level = 0;
            for (source, _) in &placed.operands {
                match source {
                    Source::Node(node) if *node < number => level = level.max(level_of[*node] + 1),
                    Source::Node(_) => return Err(misfit()),
                    Source::Leaf(feature) => {
                        affines.number(feature, width);
                    }
                }
            }
            level_of.push(level);
            numbers.push(weights.number(&placed.gate, placed.operands.iter().map(|(_, negated)| *negated).collect()));
        }
        let sizes: Vec<Sizes> = gates.iter().map(|placed| Sizes::of(placed.gate.shape())).collect();
        let a_sample: usize = sizes.iter().map(|sizes| sizes.width() + sizes.hidden + sizes.features).sum();
        let device_weights = gpu.upload(&weights.values())?;
        let device_affines = gpu.upload(&affines.values)?;
        let fits = (gpu.free()? as f64 * SHARE) as usize / (4 * a_sample.max(1));
        let room = fits.min(MOST) / padded(1) * padded(1);
        if room == 0 {
            return Err(GpuError::Memory { needed: 4 * a_sample * padded(1), free: gpu.free()? });
        }
        let activations = gpu.zeros::<f32>(room * a_sample)?;
        let base = gpu.at(&activations);
        let (mut places, mut end) = (Vec::new(), 0);
        for sizes in &sizes {
            let [input, hidden, feature] =
                [0, sizes.width(), sizes.width() + sizes.hidden].map(|place| base + 4 * ((end + place) * room) as u64);
            places.push([input, hidden, feature]);
            end += sizes.width() + sizes.hidden + sizes.features;
        }
        let rows = gpu.upload(&(0..room as u32).collect::<Vec<u32>>())?;
        let (rows_at, affines_at, weights_at) = (gpu.at(&rows), gpu.at(&device_affines), gpu.at(&device_weights));
        let mut levels = Vec::new();
        for level in 0..level_of.iter().max().map_or(0, |level| level + 1) {
            let (mut operands, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
            for number in (0..gates.len()).filter(|number| level_of[*number] == level) {
                let [input, hidden, feature] = places[number];
                for (operand, (source, _)) in gates[number].operands.iter().enumerate() {
                    let out = input + 4 * (operand * width) as u64;
                    let stride = sizes[number].width() as i32;
                    operands.push(match source {
                        Source::Leaf(feature) => {
                            let affine = affines.number(feature, width);
                            let [shift, scale] = affines.at(affine, affines_at);
                            DeviceLeaf { rows: rows_at, beside: 0, shift, scale, out, stride }
                        }
                        Source::Node(node) => {
                            DeviceLeaf { beside: places[*node][2], out, stride, ..DeviceLeaf::default() }
                        }
                    });
                }
                let of_gate = (sizes[number], weights.places[numbers[number]], weights_at);
                let [one, other] = layers(of_gate, room, [input, hidden, feature], sizes[number].features);
                first.push(one);
                second.push(other);
            }
            levels.push(Level {
                count: operands.len(),
                operands: gpu.upload(&operands)?,
                products: [gpu.batch(&first, Kind::Forward)?, gpu.batch(&second, Kind::Forward)?],
            });
        }
        let heads: Vec<DeviceHead> = numbers
            .iter()
            .zip(&places)
            .map(|(&number, place)| {
                let of_gate = weights.places[number];
                DeviceHead {
                    feature: place[2],
                    head: weights_at + 4 * of_gate.head as u64,
                    offset: weights_at + 4 * of_gate.offset as u64,
                    gradient: 0,
                }
            })
            .collect();
        Ok(Self {
            gpu,
            gates: gates.len(),
            features,
            width,
            room,
            levels,
            heads: gpu.upload(&heads)?,
            numbers: rows,
            _weights: device_weights,
            _affines: device_affines,
            _activations: activations,
        })
    }

    /// The logits of all gates for some samples: a row for each sample, a number for each gate.
    ///
    /// # Errors
    /// What the device reports.
    pub fn run(&self, features: &impl Features, rows: Range<usize>) -> Result<Vec<f32>> {
        let gpu = self.gpu;
        let _turn = gpu.turn();
        let mut out = Vec::with_capacity(rows.len() * self.gates);
        let mut host = vec![0.0_f32; self.room.min(padded(rows.len())) * self.width];
        let mut z = gpu.zeros::<f32>(self.room * self.width)?;
        let logits = gpu.zeros::<f32>(self.room * self.gates)?;
        let mut start = rows.start;
        while start < rows.end {
            let count = self.room.min(rows.end - start);
            for (row, line) in host.chunks_exact_mut(self.width).take(count).enumerate() {
                line[..self.features].copy_from_slice(features.of(start + row));
            }
            gpu.stream.memcpy_htod(&host[..count * self.width], &mut z.slice_mut(..count * self.width))?;
            let filling = Filling { z: gpu.at(&z), width: self.width, slots: self.room, first: 0, grafts: (0, 0) };
            for level in &self.levels {
                filling.run(gpu, &level.operands, level.count)?;
                gpu.multiply(&level.products[0], Decay::default())?;
                gpu.multiply(&level.products[1], Decay::default())?;
            }
            let [heads, to] = [gpu.at(&self.heads), gpu.at(&logits)];
            let [samples, width, gates] = [count, self.width, self.gates].map(|number| number as i32);
            let mut launch = gpu.launch(&gpu.kernels.logits);
            launch.arg(&heads).arg(&samples).arg(&width).arg(&gates).arg(&to);
            launch.go(((count as u32).div_ceil(8), self.gates as u32), 256)?;
            out.extend(gpu.stream.clone_dtoh(&logits.slice(..count * self.gates))?);
            start += count;
        }
        gpu.stream.synchronize()?;
        Ok(out)
    }

    /// Number of gates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.gates
    }

    /// Whether there is no gate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gates == 0 || self.numbers.is_empty()
    }
}

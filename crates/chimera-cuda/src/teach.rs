//! Teaching many gates at a time. Nothing comes back from the device before an epoch is done; what is drawn for some steps is
//! drawn in one launch.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use chimera_gate::adam::Adam;
use chimera_gate::cone::Features;
use chimera_gate::draw::Configurations;
use chimera_gate::graft::FlatGrafting;
use chimera_gate::normal::BelowZero;
use chimera_gate::train::{Problem, Task, Taught};
use cudarc::driver::{CudaEvent, CudaSlice};

use crate::cones::{Below, Cones, Filling, Input};
use crate::gpu::{Batch, Decay, Gpu, GpuError, Kind, Product, Result, device_repr};
use crate::layout::{Places, Sizes, padded};
use crate::program::{DeviceTask, Layout, Program, operands_of};

/// Steps that are drawn in one launch, and bytes that they take at most.
const DRAWN: usize = 16;
const DRAWN_BYTES: usize = 1 << 30;

/// Bundles of steps that wait on the device while the host goes ahead.
const AHEAD: usize = 2;

/// The share of free memory that is taken.
const SHARE: f64 = 0.8;

/// The most gates at a time: what a launch can count.
const MOST: usize = 16_384;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct DeviceEffects {
    added: u64,
    spread: u64,
    means: u64,
    table: u64,
    width: i32,
    rectified: i32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct DeviceGrafted {
    seed: u64,
    bases: u64,
    changes: u64,
    out: u64,
    most_changes: i32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceHead {
    pub(crate) feature: u64,
    pub(crate) head: u64,
    pub(crate) offset: u64,
    pub(crate) gradient: u64,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct DeviceVectors {
    hidden_gradient: u64,
    feature_gradient: u64,
    feature: u64,
    first_bias: u64,
    marks: u64,
    second_bias: u64,
    head: u64,
    offset: u64,
    added: u64,
    negated: [u64; 4],
    arity: i32,
}

device_repr!(DeviceEffects, DeviceGrafted, DeviceHead, DeviceVectors);

/// What became of a task.
pub type Outcome = std::result::Result<Taught, Problem>;

impl Gpu {
    /// Teaches gates side by side. `tick` is told how many steps of single gates were done since it was last called.
    ///
    /// # Errors
    /// What the device reports. Problems of single tasks are in the results.
    pub fn teach<F: Features>(&self, tasks: &[&Task<'_, F>], tick: &dyn Fn(usize)) -> Result<Vec<Outcome>> {
        let _turn = self.turn();
        let mut outcomes: Vec<Option<Outcome>> = tasks.iter().map(|task| task.check().err().map(Err)).collect();
        let mut open: Vec<usize> = (0..tasks.len()).filter(|&at| outcomes[at].is_none()).collect();
        while let Some(&first) = open.first() {
            // Tasks over the same samples with the same recipe go together.
            let alike = |at: &usize| {
                let (one, other) = (tasks[first], tasks[*at]);
                std::ptr::eq(one.features, other.features)
                    && std::ptr::eq(one.population, other.population)
                    && one.recipe == other.recipe
                    && one.shape.hidden == other.shape.hidden
            };
            let (group, rest): (Vec<usize>, Vec<usize>) = open.into_iter().partition(alike);
            open = rest;
            let z = Z::upload(self, tasks[first])?;
            let mut left = &group[..];
            while !left.is_empty() {
                let many = self.many(left.iter().map(|&at| tasks[at]))?;
                let (now, later) = left.split_at(many);
                let chunk: Vec<&Task<'_, F>> = now.iter().map(|&at| tasks[at]).collect();
                let taught = Class::new(self, &chunk, &z)?.teach(tick)?;
                for (&at, outcome) in now.iter().zip(taught) {
                    outcomes[at] = Some(outcome);
                }
                left = later;
            }
        }
        Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or(Err(Problem::NothingKnown))).collect())
    }

    /// How many of the next tasks fit into memory.
    fn many<'t, F: Features + 't>(&self, tasks: impl Iterator<Item = &'t Task<'t, F>>) -> Result<usize> {
        let free = (self.free()? as f64 * SHARE) as usize;
        let (mut many, mut taken) = (0, DRAWN_BYTES.min(free / 4));
        for task in tasks {
            let sizes = Sizes::of(task.shape);
            let slots = padded(3 * task.recipe.batch.min(task.population.rows));
            let mut cones = Cones::default();
            let input = Input { place: 0, stride: sizes.width() };
            cones.plan(0, &task.cone.operands, sizes.features, slots, input);
            let own = slots * (sizes.width() + 2 * sizes.hidden + 3 * sizes.features) + 3 * sizes.places(0).end;
            let needed = 4 * (own + cones.taken) + cones.bytes();
            taken += needed;
            if taken > free || many == MOST {
                if many == 0 {
                    return Err(GpuError::Memory { needed, free });
                }
                break;
            }
            many += 1;
        }
        Ok(many)
    }
}

/// z of samples, rows padded.
struct Z {
    values: CudaSlice<f32>,
    width: usize,
}

impl Z {
    fn upload<F: Features>(gpu: &Gpu, task: &Task<'_, F>) -> Result<Self> {
        let (rows, features) = (task.population.rows, task.shape.features);
        let width = padded(features);
        let mut values = vec![0.0_f32; rows * width];
        for (row, out) in values.chunks_exact_mut(width).enumerate() {
            out[..features].copy_from_slice(task.features.of(row));
        }
        Ok(Self { values: gpu.upload(&values)?, width })
    }
}

/// Gates that are taught together.
struct Class<'c, 't, F> {
    gpu: &'c Gpu,
    tasks: &'c [&'c Task<'t, F>],
    z: u64,
    sizes: Vec<Sizes>,
    places: Vec<Places>,
    program: Program,
    /// Steps that are drawn together.
    bundle: usize,
    /// Values, then Adam's two means.
    parameters: CudaSlice<f32>,
    apart: usize,
    below: Below,
    grafts: Option<(CudaSlice<DeviceGrafted>, DeviceEffects)>,
    products: [Batch; 4],
    heads: CudaSlice<DeviceHead>,
    vectors: CudaSlice<DeviceVectors>,
    device_tasks: CudaSlice<DeviceTask>,
    targets: CudaSlice<u8>,
    chosen: CudaSlice<u32>,
    shown: CudaSlice<u64>,
    /// Of each gate: not made, unknown, false, true.
    drawn: CudaSlice<u64>,
    slopes: CudaSlice<f32>,
    losses: CudaSlice<f32>,
    counts: CudaSlice<i32>,
    steps: CudaSlice<f32>,
    /// Of each gate: loss and count of an epoch.
    totals: CudaSlice<f64>,
    _held: Vec<CudaSlice<f32>>,
    _rows: CudaSlice<u32>,
    _changes: CudaSlice<i32>,
}

impl<'c, 't, F: Features> Class<'c, 't, F> {
    fn new(gpu: &'c Gpu, tasks: &'c [&'c Task<'t, F>], z: &Z) -> Result<Self> {
        let count = tasks.len();
        let program = Program::new(gpu, tasks)?;
        let Layout { slots, grafts: graft_slots, .. } = program.layout;
        let (slots, graft_slots) = (slots as usize, graft_slots as usize);
        let sizes: Vec<Sizes> = tasks.iter().map(|task| Sizes::of(task.shape)).collect();

        let (mut places, mut end) = (Vec::new(), 0);
        for sizes in &sizes {
            places.push(sizes.places(end));
            end = places.last().map_or(0, |places: &Places| places.end);
        }
        let apart = end;
        let pieces = side_by_side(count, |number| {
            let (task, sizes) = (tasks[number], sizes[number]);
            let negated: Vec<bool> = task.cone.operands.iter().map(|operand| operand.negated).collect();
            let own = sizes.places(0);
            let mut values = vec![0.0_f32; own.end];
            sizes.write(&task.initial(), &negated, own, &mut values);
            values
        });
        let mut parameters = gpu.zeros::<f32>(3 * apart)?;
        for (values, places) in pieces.iter().zip(&places) {
            gpu.stream.memcpy_htod(values, &mut parameters.slice_mut(places.first..places.end))?;
        }
        drop(pieces);

        // Activations of each gate: input, results of both layers, and gradients of these.
        let mut cones = Cones::default();
        let mut rooms = Vec::new();
        for (number, (task, sizes)) in tasks.iter().zip(&sizes).enumerate() {
            let input = Input { place: cones.take(slots * sizes.width()), stride: sizes.width() };
            let [hidden, hidden_gradient] = [0; 2].map(|_| cones.take(slots * sizes.hidden));
            let [feature, feature_gradient] = [0; 2].map(|_| cones.take(slots * sizes.features));
            let grafted = cones.take(graft_slots * sizes.features);
            cones.plan(number, &task.cone.operands, sizes.features, slots, input);
            rooms.push([input.place, hidden, feature, feature_gradient, hidden_gradient, grafted]);
        }
        let activations = gpu.zeros::<f32>(cones.taken)?;
        let base = gpu.at(&activations);
        let float = |base: u64, place: usize| base + 4 * place as u64;

        // What is drawn: a row for each spot and slot of a bundle of steps, and changes of grafts.
        let spots = |task: &&Task<'t, F>| task.cone.spots;
        let changes = |number: usize| program.tasks[number].most_changes as usize + 1;
        let step_bytes: usize = (0..count)
            .map(|number| {
                let graft = if graft_slots > 0 { 4 * (changes(number) + 1) } else { 0 };
                slots * (4 * spots(&tasks[number]) + 8 * program.most_parts + 1 + graft)
            })
            .sum();
        let batches = program.order.div_ceil(program.layout.batch.max(1) as usize).max(1);
        let bundle = (DRAWN_BYTES / step_bytes.max(1)).clamp(1, DRAWN).min(batches);
        let all = bundle * slots;
        let row_count: usize = tasks.iter().map(|task| spots(task) * all).sum();
        let rows = gpu.zeros::<u32>(row_count + if graft_slots > 0 { count * all } else { 0 })?;
        let change_count: usize =
            if graft_slots > 0 { (0..count).map(|number| changes(number) * all).sum() } else { 0 };
        let change_lists = gpu.zeros::<i32>(change_count)?;
        let shown = gpu.zeros::<u64>(program.configurations.iter().sum())?;
        let (mut row_at, mut change_at, mut shown_at) = (gpu.at(&rows), gpu.at(&change_lists), gpu.at(&shown));
        let bases_at = row_at + 4 * row_count as u64;
        let mut device_tasks = program.tasks.clone();
        for (number, device) in device_tasks.iter_mut().enumerate() {
            device.rows = row_at;
            row_at += 4 * (spots(&tasks[number]) * all) as u64;
            if program.configurations[number] > 0 {
                device.shown = shown_at;
                shown_at += 8 * program.configurations[number] as u64;
            }
            if graft_slots > 0 {
                device.changes = change_at;
                change_at += 4 * (changes(number) * all) as u64;
                device.bases = bases_at + 4 * (number * all) as u64;
            }
        }
        let below = cones.upload(gpu, base, slots, |task, spot| {
            (device_tasks[task].rows + 4 * (spot * all) as u64, float(base, rooms[task][5]))
        })?;

        let steps = gpu.zeros::<f32>(3 * count)?;
        let (parameter, step_at) = (gpu.at(&parameters), gpu.at(&steps));
        let products = products(gpu, base, parameter, apart, (slots, step_at), (&sizes, &places, &rooms))?;
        let heads: Vec<DeviceHead> = places
            .iter()
            .zip(&rooms)
            .map(|(places, room)| DeviceHead {
                feature: float(base, room[2]),
                head: float(parameter, places.head),
                offset: float(parameter, places.offset),
                gradient: float(base, room[3]),
            })
            .collect();
        let vectors: Vec<DeviceVectors> = tasks
            .iter()
            .zip(places.iter().zip(&rooms))
            .map(|(task, (places, room))| {
                let mut negated = [0_u64; 4];
                for (number, operand) in task.cone.operands.iter().enumerate() {
                    negated[number / 64] |= u64::from(operand.negated) << (number % 64);
                }
                DeviceVectors {
                    hidden_gradient: float(base, room[4]),
                    feature_gradient: float(base, room[3]),
                    feature: float(base, room[2]),
                    first_bias: float(parameter, places.first_bias),
                    marks: float(parameter, places.marks),
                    second_bias: float(parameter, places.second_bias),
                    head: float(parameter, places.head),
                    offset: float(parameter, places.offset),
                    added: float(parameter, places.added),
                    negated,
                    arity: task.cone.operands.len() as i32,
                }
            })
            .collect();
        let mut held = vec![activations];
        let grafts = match tasks.iter().find_map(|task| task.grafts.as_ref()) {
            Some(grafting) => {
                let effects = effects(gpu, &grafting.flat(), &program, z.width, &mut held)?;
                let grafted: Vec<DeviceGrafted> = tasks
                    .iter()
                    .zip(device_tasks.iter().zip(&rooms))
                    .map(|(task, (device, room))| DeviceGrafted {
                        seed: task.seed,
                        bases: device.bases,
                        changes: device.changes,
                        out: float(base, room[5]),
                        most_changes: device.most_changes,
                    })
                    .collect();
                Some((gpu.upload(&grafted)?, effects))
            }
            None => None,
        };
        Ok(Self {
            gpu,
            tasks,
            z: gpu.at(&z.values),
            sizes,
            places,
            bundle,
            apart,
            below,
            grafts,
            products,
            heads: gpu.upload(&heads)?,
            vectors: gpu.upload(&vectors)?,
            device_tasks: gpu.upload(&device_tasks)?,
            targets: gpu.zeros(count * all)?,
            chosen: gpu.zeros(2 * program.most_parts * count * all)?,
            shown,
            drawn: gpu.zeros(4 * count)?,
            slopes: gpu.zeros(count * slots)?,
            losses: gpu.zeros(count * slots)?,
            counts: gpu.zeros(count)?,
            steps,
            totals: gpu.zeros(2 * count)?,
            parameters,
            program,
            _held: held,
            _rows: rows,
            _changes: change_lists,
        })
    }

    fn teach(mut self, tick: &dyn Fn(usize)) -> Result<Vec<Outcome>> {
        let count = self.tasks.len();
        let recipe = self.tasks.first().map(|task| task.recipe);
        let epochs = recipe.map_or(0, |recipe| recipe.epochs);
        let batches = self.program.order.div_ceil(self.program.layout.batch.max(1) as usize);
        let mut losses: Vec<Vec<(f64, f64)>> = vec![Vec::new(); count];
        let mut failed: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut waiting: VecDeque<(CudaEvent, usize)> = VecDeque::new();
        for epoch in 0..epochs {
            self.gpu.stream.memset_zeros(&mut self.totals)?;
            for first in (0..batches).step_by(self.bundle) {
                let steps = self.bundle.min(batches - first);
                self.draw(epoch, first, steps)?;
                for step in 0..steps {
                    self.step(step, (epoch * batches + first + step) as u64)?;
                }
                waiting.push_back((self.gpu.stream.record_event(None)?, steps * count));
                while waiting.len() > AHEAD {
                    if let Some((event, steps)) = waiting.pop_front() {
                        event.synchronize()?;
                        tick(steps);
                    }
                }
            }
            let totals = self.gpu.stream.clone_dtoh(&self.totals)?;
            let drawn = self.gpu.stream.clone_dtoh(&self.drawn)?;
            self.gpu.stream.synchronize()?;
            for (_, steps) in waiting.drain(..) {
                tick(steps);
            }
            for number in 0..count {
                losses[number].push((totals[2 * number], totals[2 * number + 1]));
                failed[number].push(drawn[4 * number]);
            }
        }
        let values = self.gpu.stream.clone_dtoh(&self.parameters.slice(0..self.apart))?;
        let shown = self.gpu.stream.clone_dtoh(&self.shown)?;
        let drawn = self.gpu.stream.clone_dtoh(&self.drawn)?;
        self.gpu.stream.synchronize()?;
        let shown_at: Vec<usize> = (0..count).map(|at| self.program.configurations[..at].iter().sum()).collect();
        Ok(side_by_side(count, |number| {
            let task = self.tasks[number];
            let shown = &shown[shown_at[number]..][..self.program.configurations[number]];
            let mut means = Vec::new();
            for (epoch, &(loss, known)) in losses[number].iter().enumerate() {
                if known == 0.0 {
                    return Err(task.nothing_shown(failed[number][epoch]));
                }
                if !loss.is_finite() {
                    return Err(Problem::Diverged(epoch + 1));
                }
                means.push((loss / known) as f32);
            }
            let Some(gate) = self.sizes[number].read(self.places[number], &values) else {
                return Err(Problem::Diverged(epochs));
            };
            let [failed, unknown, fails, holds] = [0, 1, 2, 3].map(|at| drawn[4 * number + at]);
            let operands = operands_of(task);
            let counted = shown.iter().enumerate().filter(|(_, count)| **count > 0).map(|(packed, count)| {
                // The first operand is the slowest.
                let values = (0..operands).map(|operand| packed >> (operands - 1 - operand) & 1 == 1).collect();
                (values, *count)
            });
            let shown = Configurations(counted.collect());
            task.finish(Taught { gate, losses: means, shown, failed, unknown }, [fails, holds])
        }))
    }

    /// Draws some steps of an epoch.
    fn draw(&self, epoch: usize, first: usize, steps: usize) -> Result<()> {
        let gpu = self.gpu;
        let slots = self.program.layout.slots as usize * steps;
        let [tasks, chosen, targets, drawn] =
            [gpu.at(&self.device_tasks), gpu.at(&self.chosen), gpu.at(&self.targets), gpu.at(&self.drawn)];
        let numbers = [epoch, first, steps, self.program.most_parts].map(|number| number as i32);
        let apart = (self.program.layout.slots as usize * self.bundle) as i64;
        let mut launch = gpu.launch(&gpu.kernels.draw);
        launch.arg(&tasks).arg(&self.program.ground).arg(&self.program.layout);
        launch.arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]).arg(&chosen).arg(&numbers[3]);
        launch.arg(&targets).arg(&drawn).arg(&apart);
        launch.go((slots.div_ceil(128) as u32, self.tasks.len() as u32), 128)
    }

    /// One step of all gates; `step` counts from the first of the bundle, `number` from the first of all.
    fn step(&self, step: usize, number: u64) -> Result<()> {
        let gpu = self.gpu;
        let Layout { slots, same, grafts, .. } = self.program.layout;
        let (count, features) = (self.tasks.len() as u32, self.sizes[0].features);
        let hidden = self.sizes[0].hidden;
        let first = step * slots as usize;
        if let Some((tasks, effects)) = &self.grafts {
            let tasks = gpu.at(tasks);
            let first = first as i32 + same;
            let mut launch = gpu.launch(&gpu.kernels.grafts);
            launch.arg(&tasks).arg(&self.z).arg(effects).arg(&first).arg(&number).arg(&slots);
            launch.go((grafts as u32, count), features.min(256) as u32)?;
        }
        let graft_slots = (same as usize, (same + grafts) as usize);
        let filling = Filling { z: self.z, width: features, slots: slots as usize, first, grafts: graft_slots };
        self.below.fill(gpu, filling)?;
        let recipe = self.tasks[0].recipe;
        let adam = Adam { rate: recipe.rate as f32, weight_decay: recipe.weight_decay as f32, ..Adam::default() };
        let decay = Decay { beta_1: adam.beta_1, beta_2: adam.beta_2, weight_decay: adam.weight_decay };
        let [forward_first, forward_second, backward, learn] = &self.products;
        gpu.multiply(forward_first, decay)?;
        gpu.multiply(forward_second, decay)?;

        let [heads, vectors, targets, slopes, losses, counts, steps, totals] = [
            gpu.at(&self.heads),
            gpu.at(&self.vectors),
            gpu.at(&self.targets),
            gpu.at(&self.slopes),
            gpu.at(&self.losses),
            gpu.at(&self.counts),
            gpu.at(&self.steps),
            gpu.at(&self.totals),
        ];
        let stride = (slots as usize * self.bundle) as i64;
        let (first, apart) = (first as i64, self.apart as i64);
        let (width, hidden_size) = (features as i32, hidden as i32);
        let mut launch = gpu.launch(&gpu.kernels.heads);
        launch.arg(&heads).arg(&targets).arg(&stride).arg(&first).arg(&slots).arg(&width);
        launch.arg(&slopes).arg(&losses).arg(&counts).arg(&steps);
        launch.arg(&adam.rate).arg(&adam.beta_1).arg(&adam.beta_2).arg(&adam.epsilon);
        launch.go(((slots as u32).div_ceil(8), count), 256)?;
        gpu.multiply(backward, decay)?;
        let mut launch = gpu.launch(&gpu.kernels.vectors);
        launch.arg(&vectors).arg(&slopes).arg(&losses).arg(&steps).arg(&targets).arg(&stride).arg(&first);
        launch.arg(&slots).arg(&hidden_size).arg(&width).arg(&apart).arg(&totals);
        launch.arg(&adam.beta_1).arg(&adam.beta_2).arg(&adam.weight_decay);
        launch.go((features.max(hidden).div_ceil(32) as u32, count), 256)?;
        gpu.multiply(learn, decay)
    }
}

/// The products of a step: both layers forwards, the second backwards, and the weights of both.
fn products(
    gpu: &Gpu,
    base: u64,
    parameter: u64,
    apart: usize,
    (slots, steps): (usize, u64),
    (sizes, places, rooms): (&[Sizes], &[Places], &[[usize; 6]]),
) -> Result<[Batch; 4]> {
    let float = |base: u64, place: usize| base + 4 * place as u64;
    let (mut first, mut second, mut backward, mut learn) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (number, (sizes, (places, room))) in sizes.iter().zip(places.iter().zip(rooms)).enumerate() {
        let [input, hidden, feature, feature_gradient, hidden_gradient, _] = room.map(|place| float(base, place));
        let [w, h, f] = [sizes.width(), sizes.hidden, sizes.features].map(|size| size as i32);
        let m = slots as i32;
        let weight = |place: usize| Product {
            c: float(parameter, place),
            first: float(parameter, place + apart),
            second: float(parameter, place + 2 * apart),
            step: steps + 12 * number as u64,
            k: m,
            ..Product::default()
        };
        first.push(Product {
            a: input,
            b: float(parameter, places.first),
            c: hidden,
            beside: float(parameter, places.added),
            m,
            n: h,
            k: w,
            lda: w,
            ldb: w,
            ldc: h,
            ..Product::default()
        });
        second.push(Product {
            a: hidden,
            b: float(parameter, places.second),
            c: feature,
            beside: float(parameter, places.second_bias),
            m,
            n: f,
            k: h,
            lda: h,
            ldb: h,
            ldc: f,
            ..Product::default()
        });
        backward.push(Product {
            a: feature_gradient,
            b: float(parameter, places.second),
            c: hidden_gradient,
            beside: hidden,
            m,
            n: h,
            k: f,
            lda: f,
            ldb: h,
            ldc: h,
            ..Product::default()
        });
        learn.push(Product {
            a: hidden_gradient,
            b: input,
            m: h,
            n: w,
            lda: h,
            ldb: w,
            ldc: w,
            ..weight(places.first)
        });
        learn.push(Product {
            a: feature_gradient,
            b: hidden,
            m: f,
            n: h,
            lda: f,
            ldb: h,
            ldc: h,
            ..weight(places.second)
        });
    }
    Ok([
        gpu.batch(&first, Kind::Forward)?,
        gpu.batch(&second, Kind::Forward)?,
        gpu.batch(&backward, Kind::Backward)?,
        gpu.batch(&learn, Kind::Learn)?,
    ])
}

/// What concepts add to z, on a device.
fn effects(
    gpu: &Gpu,
    flat: &FlatGrafting<'_>,
    program: &Program,
    width: usize,
    held: &mut Vec<CudaSlice<f32>>,
) -> Result<DeviceEffects> {
    let effects = flat.effects;
    let features = effects.base.len();
    let mut keep = |values: &[f32]| -> Result<u64> {
        let mut wide = vec![0.0; values.len() / features.max(1) * width];
        for (out, values) in wide.chunks_exact_mut(width).zip(values.chunks_exact(features)) {
            out[..features].copy_from_slice(values);
        }
        held.push(gpu.upload(&wide)?);
        Ok(held.last().map_or(0, |slice| gpu.at(slice)))
    };
    let (base, added, spread) = (keep(&effects.base)?, keep(&effects.added)?, keep(&effects.spread)?);
    let (mut means, mut table) = (0, 0);
    if effects.rectified {
        held.push(gpu.upload(BelowZero::table().values())?);
        table = held.last().map_or(0, |slice| gpu.at(slice));
        held.push(gpu.upload(&effects.shares)?);
        let shares = held.last().map_or(0, |slice| gpu.at(slice));
        let rows = flat.labels.rows();
        held.push(gpu.zeros(rows * width)?);
        means = held.last().map_or(0, |slice| gpu.at(slice));
        let [value, known] = program.labels;
        let numbers = [rows.div_ceil(64), effects.shares.len(), width].map(|number| number as i32);
        let mut launch = gpu.launch(&gpu.kernels.means);
        launch.arg(&base).arg(&added).arg(&shares).arg(&spread).arg(&value).arg(&known);
        launch.arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]).arg(&means);
        launch.go((rows as u32, 1), 256)?;
    }
    Ok(DeviceEffects { added, spread, means, table, width: width as i32, rectified: i32::from(effects.rectified) })
}

/// Independent pieces of work on all processors, with results in the order of the pieces.
fn side_by_side<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut mine = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                break mine;
            }
            mine.push((piece, work(piece)));
        }
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let joined =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    });
    results.sort_unstable_by_key(|(piece, _)| *piece);
    results.into_iter().map(|(_, result)| result).collect()
}

//! Teaching many gates at a time. Nothing comes back from the device before an epoch is done; what is drawn for some steps is
//! drawn in one launch.

use std::collections::VecDeque;
use std::num::NonZeroUsize;

use chimera_gate::adam::Adam;
use chimera_gate::cone::Features;
use chimera_gate::draw::Configurations;
use chimera_gate::gate::Gate;
use chimera_gate::train::{Problem, Task, Taught};
use cudarc::driver::{CudaEvent, CudaSlice};

use crate::cones::{Below, Cones, Filling};
use crate::gpu::{Batch, Decay, Gpu, GpuError, Result};
use crate::grafts::{self, DeviceEffects, DeviceGrafted};
use crate::heads::{DeviceHead, DeviceVectors};
use crate::layout::{Places, Sizes, padded};
use crate::memory::{Needs, bundle, drawn_a_slot};
use crate::parallel::{pieces, side_by_side};
use crate::products;
use crate::program::{DeviceTask, Layout, Program, operands_of};
use crate::rooms::Rooms;

/// Bytes that steps take at most that are drawn in one launch.
const DRAWN_BYTES: usize = 1 << 30;

/// Bundles of steps that wait on the device while the host goes ahead.
const AHEAD: usize = 2;

/// The share of free memory that is taken.
const SHARE: f64 = 0.8;

/// The most gates at a time: what a launch can count.
const MOST: usize = 16_384;

/// What became of a task.
pub type Outcome = std::result::Result<Taught, Problem>;

impl Gpu {
    /// Teaches gates side by side, with so many threads for what the host does. `tick` is told how many steps of single gates
    /// were done since it was last called.
    ///
    /// # Errors
    /// What the device reports. Problems of single tasks are in the results.
    pub fn teach<F: Features>(
        &self,
        tasks: &[&Task<'_, F>],
        threads: NonZeroUsize,
        tick: &dyn Fn(usize),
    ) -> Result<Vec<Outcome>> {
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
                let rest: Vec<&Task<'_, F>> = left.iter().map(|&at| tasks[at]).collect();
                let (many, drawn) = self.many(&rest)?;
                let (now, later) = left.split_at(many);
                let taught = Class::new(self, &rest[..many], &z, drawn, threads)?.teach(tick)?;
                for (&at, outcome) in now.iter().zip(taught) {
                    outcomes[at] = Some(outcome);
                }
                left = later;
            }
        }
        Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or(Err(Problem::NothingKnown))).collect())
    }

    /// How many of the next tasks fit into memory, and how many bytes of it are for what is drawn.
    fn many<F: Features>(&self, tasks: &[&Task<'_, F>]) -> Result<(usize, usize)> {
        let free = (self.free()? as f64 * SHARE) as usize;
        let drawn = DRAWN_BYTES.min(free / 4);
        let mut needs = Needs::new(tasks);
        for (many, task) in tasks.iter().enumerate() {
            needs.add(task);
            let needed = needs.bytes(drawn);
            if needed > free || many == MOST {
                return if many == 0 { Err(GpuError::Memory { needed, free }) } else { Ok((many, drawn)) };
            }
        }
        Ok((tasks.len(), drawn))
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
    /// Threads of the host.
    threads: NonZeroUsize,
    _held: Vec<CudaSlice<f32>>,
    _rows: CudaSlice<u32>,
    _changes: CudaSlice<i32>,
}

impl<'c, 't, F: Features> Class<'c, 't, F> {
    fn new(gpu: &'c Gpu, tasks: &'c [&'c Task<'t, F>], z: &Z, drawn: usize, threads: NonZeroUsize) -> Result<Self> {
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
        let mut parameters = gpu.zeros::<f32>(3 * apart)?;
        for piece in pieces(&places) {
            let initial = side_by_side(threads, piece.len(), |number| {
                let (task, sizes) = (tasks[piece.start + number], sizes[piece.start + number]);
                let negated: Vec<bool> = task.cone.operands.iter().map(|operand| operand.negated).collect();
                let own = sizes.places(0);
                let mut values = vec![0.0_f32; own.end];
                sizes.write(&task.initial(), &negated, own, &mut values);
                values
            });
            for (values, places) in initial.iter().zip(&places[piece]) {
                gpu.stream.memcpy_htod(values, &mut parameters.slice_mut(places.first..places.end))?;
            }
        }

        let mut cones = Cones::default();
        let rooms: Vec<Rooms> = tasks
            .iter()
            .enumerate()
            .map(|(number, task)| Rooms::take(&mut cones, number, task, (slots, graft_slots)))
            .collect();
        let activations = gpu.zeros::<f32>(cones.taken)?;
        let base = gpu.at(&activations);
        let float = |base: u64, place: usize| base + 4 * place as u64;

        // What is drawn: a row for each spot and slot of a bundle of steps, and changes of grafts.
        let spots = |task: &&Task<'t, F>| task.cone.spots;
        let changes = |number: usize| program.tasks[number].most_changes as usize + 1;
        let step_bytes: usize = (0..count)
            .map(|number| {
                let graft = (graft_slots > 0).then(|| changes(number));
                slots * (drawn_a_slot(spots(&tasks[number]), graft) + 8 * program.most_parts)
            })
            .sum();
        let batches = program.order.div_ceil(program.layout.batch.max(1) as usize).max(1);
        let bundle = bundle(step_bytes, drawn).min(batches);
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
            (device_tasks[task].rows + 4 * (spot * all) as u64, float(base, rooms[task].grafted))
        })?;

        let steps = gpu.zeros::<f32>(3 * count)?;
        let (parameter, step_at) = (gpu.at(&parameters), gpu.at(&steps));
        let products = products::of_step(gpu, base, parameter, apart, (slots, step_at), (&sizes, &places, &rooms))?;
        let heads: Vec<DeviceHead> = places
            .iter()
            .zip(&rooms)
            .map(|(places, room)| DeviceHead {
                feature: float(base, room.feature),
                head: float(parameter, places.head),
                offset: float(parameter, places.offset),
                gradient: float(base, room.feature_gradient),
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
                    hidden_gradient: float(base, room.hidden_gradient),
                    feature_gradient: float(base, room.feature_gradient),
                    feature: float(base, room.feature),
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
                let effects = grafts::upload(gpu, &grafting.flat(), &program, z.width, &mut held)?;
                let grafted: Vec<DeviceGrafted> = tasks
                    .iter()
                    .zip(device_tasks.iter().zip(&rooms))
                    .map(|(task, (device, room))| DeviceGrafted {
                        seed: task.seed,
                        bases: device.bases,
                        changes: device.changes,
                        out: float(base, room.grafted),
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
            threads,
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
        let shown = self.gpu.stream.clone_dtoh(&self.shown)?;
        let drawn = self.gpu.stream.clone_dtoh(&self.drawn)?;
        let mut outcomes = Vec::with_capacity(count);
        let (mut values, mut shown_at) = (Vec::new(), 0);
        let starts: Vec<usize> = self
            .program
            .configurations
            .iter()
            .map(|&configurations| {
                shown_at += configurations;
                shown_at - configurations
            })
            .collect();
        for piece in pieces(&self.places) {
            let (start, end) = (self.places[piece.start].first, self.places[piece.end - 1].end);
            values.resize(end - start, 0.0_f32);
            self.gpu.stream.memcpy_dtoh(&self.parameters.slice(start..end), &mut values)?;
            self.gpu.stream.synchronize()?;
            outcomes.extend(side_by_side(self.threads, piece.len(), |number| {
                let number = piece.start + number;
                let drawn = [0, 1, 2, 3].map(|at| drawn[4 * number + at]);
                let shown = &shown[starts[number]..][..self.program.configurations[number]];
                let places = self.sizes[number].places(self.places[number].first - start);
                let gate = || self.sizes[number].read(places, &values);
                outcome(self.tasks[number], (&losses[number], &failed[number]), (drawn, shown), gate)
            }));
        }
        Ok(outcomes)
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

/// What became of a task: `losses` of each epoch with how many numbers they are of, and how much had failed by then; what was
/// drawn in all, not made, unknown, false and true, and how often each configuration was shown; and its gate.
fn outcome<F: Features>(
    task: &Task<'_, F>,
    (losses, failed): (&[(f64, f64)], &[u64]),
    ([not_made, unknown, fails, holds], shown): ([u64; 4], &[u64]),
    gate: impl Fn() -> Option<Gate>,
) -> Outcome {
    let mut means = Vec::new();
    for (epoch, (&(loss, known), &failed)) in losses.iter().zip(failed).enumerate() {
        if known == 0.0 {
            return Err(task.nothing_shown(failed));
        }
        if !loss.is_finite() {
            return Err(Problem::Diverged(epoch + 1));
        }
        means.push((loss / known) as f32);
    }
    let Some(gate) = gate() else { return Err(Problem::Diverged(losses.len())) };
    let operands = operands_of(task);
    let counted = shown.iter().enumerate().filter(|(_, count)| **count > 0).map(|(packed, count)| {
        // The first operand is the slowest.
        let values = (0..operands).map(|operand| packed >> (operands - 1 - operand) & 1 == 1).collect();
        (values, *count)
    });
    let shown = Configurations(counted.collect());
    task.finish(Taught { gate, losses: means, shown, failed: not_made, unknown }, [fails, holds])
}

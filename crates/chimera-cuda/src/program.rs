//! What is drawn from, as lists that kernels read. Structures are those of `draw.cu`.

use std::collections::BTreeMap;
use std::sync::Arc;

use chimera_gate::cone::Features;
use chimera_gate::draw::{FlatDrawing, FlatKind, Population, Truths};
use chimera_gate::graft::{FlatGrafting, FlatNode, Labels};
use chimera_gate::train::Task;
use chimera_logic::coverage::LISTED_ARITY;
use chimera_logic::syntax::Op;
use cudarc::driver::CudaSlice;

use crate::gpu::{Gpu, Result, device_repr};
use crate::layout::padded;

/// Changes of a graft, beyond those of the concepts below its node.
const OTHER_CHANGES: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceTruth {
    value: u64,
    known: u64,
    rows: [u64; 2],
    count: [u32; 2],
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct DevicePiece {
    op: i32,
    first: i32,
    count: i32,
    can: i32,
    part: i32,
    truth: i32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceDrawing {
    pieces: u64,
    operands: u64,
    spots: u64,
    count: i32,
    parts: i32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceTask {
    seed: u64,
    chimeras: DeviceDrawing,
    same: DeviceDrawing,
    tree: DeviceDrawing,
    kept: u64,
    may: u64,
    concepts: u64,
    listed: [u64; 2],
    listed_count: [i32; 2],
    redrawn: f32,
    concept_count: i32,
    order: i32,
    arity: i32,
    pub(crate) shown: u64,
    pub(crate) rows: u64,
    pub(crate) changes: u64,
    pub(crate) most_changes: i32,
    pub(crate) bases: u64,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceGround {
    truths: u64,
    groups: u64,
    value: u64,
    known: u64,
    rows: i32,
    words: i32,
    concepts: i32,
}

/// How a batch is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Layout {
    pub(crate) batch: i32,
    pub(crate) same: i32,
    pub(crate) grafts: i32,
    pub(crate) chimeras: i32,
    pub(crate) slots: i32,
    pub(crate) shift: i32,
}

device_repr!(DeviceTruth, DeviceTask, DeviceGround, Layout);

/// Plain numbers of all kinds in one buffer. Until it is uploaded, a place is how far from its start.
#[derive(Debug, Default)]
struct Arena(Vec<u64>);

/// A place in an arena, or nowhere.
#[derive(Clone, Copy, Debug, Default)]
struct Place(Option<usize>);

impl Arena {
    fn push<T: bytemuck::NoUninit>(&mut self, values: &[T]) -> Place {
        let place = 8 * self.0.len();
        let bytes = bytemuck::cast_slice::<T, u8>(values);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0.push(u64::from_ne_bytes(word));
        }
        Place(Some(place))
    }
}

impl Place {
    fn at(self, base: u64) -> u64 {
        self.0.map_or(0, |place| base + place as u64)
    }
}

/// A drawing in an arena.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    pieces: Place,
    operands: Place,
    spots: Place,
    count: usize,
    parts: usize,
}

impl Written {
    fn at(self, base: u64) -> DeviceDrawing {
        DeviceDrawing {
            pieces: self.pieces.at(base),
            operands: self.operands.at(base),
            spots: self.spots.at(base),
            count: self.count as i32,
            parts: self.parts as i32,
        }
    }
}

/// A task in an arena.
struct WrittenTask {
    device: DeviceTask,
    chimeras: Written,
    same: Written,
    tree: Written,
    kept: Place,
    may: Place,
    concepts: Place,
    listed: [Place; 2],
    configurations: usize,
}

/// All that tasks of one kind draw from, on a device.
pub(crate) struct Program {
    pub(crate) ground: DeviceGround,
    pub(crate) tasks: Vec<DeviceTask>,
    /// For each task so many configurations of its operands, or none where they are not counted.
    pub(crate) configurations: Vec<usize>,
    pub(crate) layout: Layout,
    pub(crate) most_parts: usize,
    /// Rows of the longest order of a task.
    pub(crate) order: usize,
    /// Labels by concept, value and known, on the device.
    pub(crate) labels: [u64; 2],
    _arena: CudaSlice<u64>,
    _truths: CudaSlice<DeviceTruth>,
}

/// Every truth once.
#[derive(Default)]
struct Library {
    numbers: BTreeMap<*const Truths, usize>,
    truths: Vec<Arc<Truths>>,
}

impl Library {
    fn number(&mut self, truths: &Arc<Truths>) -> usize {
        *self.numbers.entry(Arc::as_ptr(truths)).or_insert_with(|| {
            self.truths.push(truths.clone());
            self.truths.len() - 1
        })
    }
}

/// What a task's lists say of it.
pub(crate) struct Listed {
    pub(crate) configurations: usize,
    pub(crate) changes: usize,
}

/// How much the lists of tasks take on a device, task by task, before there are any.
#[derive(Default)]
pub(crate) struct Lists {
    library: Library,
    pub(crate) bytes: usize,
    pub(crate) most_parts: usize,
}

impl Lists {
    /// One more task.
    pub(crate) fn add<F: Features>(&mut self, task: &Task<'_, F>) -> Listed {
        let mut arena = Arena::default();
        let known = self.library.truths.len();
        let written = write(task, &mut arena, &mut self.library);
        self.bytes += 8 * arena.0.len();
        for truths in &self.library.truths[known..] {
            let (value, known) = truths.words();
            // A word at most is not full at the end of each list of rows.
            self.bytes += 8 * (value.len() + known.map_or(0, <[u64]>::len)) + 4 * task.population.rows + 16;
            self.bytes += size_of::<DeviceTruth>();
        }
        self.most_parts = self.most_parts.max(written.chimeras.parts).max(written.same.parts).max(1);
        Listed { configurations: written.configurations, changes: written.device.most_changes as usize }
    }
}

impl Program {
    /// For tasks of one recipe over the same samples.
    pub(crate) fn new<F: Features>(gpu: &Gpu, tasks: &[&Task<'_, F>]) -> Result<Self> {
        let none = Population::default();
        let population = tasks.first().map_or(&none, |task| task.population);
        let mut arena = Arena::default();
        let mut library = Library::default();
        let written: Vec<WrittenTask> = tasks.iter().map(|task| write(task, &mut arena, &mut library)).collect();
        let truths: Vec<_> = library
            .truths
            .iter()
            .map(|truths| {
                let (value, known) = truths.words();
                let rows = [false, true].map(|value| (arena.push(truths.rows(value)), truths.rows(value).len() as u32));
                (arena.push(value), known.map_or(Place(None), |known| arena.push(known)), rows)
            })
            .collect();
        let groups = population.groups.as_ref().map_or(Place(None), |groups| arena.push(groups));
        let words = population.rows.div_ceil(64);
        let grafting = tasks.iter().find_map(|task| task.grafts.as_ref()).map(|grafts| grafts.flat());
        let (mut value, mut known, mut concepts) = (Place(None), Place(None), 0);
        if let Some(FlatGrafting { effects, labels, .. }) = &grafting {
            concepts = effects.shares.len();
            let (shown, open) = columns(labels, concepts, words);
            value = arena.push(&shown);
            known = open.map_or(Place(None), |open| arena.push(&open));
        }
        if arena.0.is_empty() {
            arena.0.push(0);
        }
        let device = gpu.upload(&arena.0)?;
        let base = gpu.at(&device);
        let truths: Vec<DeviceTruth> = truths
            .into_iter()
            .map(|(value, known, rows)| DeviceTruth {
                value: value.at(base),
                known: known.at(base),
                rows: rows.map(|(rows, _)| rows.at(base)),
                count: rows.map(|(_, count)| count),
            })
            .collect();
        let truths = gpu.upload(&truths)?;
        let ground = DeviceGround {
            truths: gpu.at(&truths),
            groups: groups.at(base),
            value: value.at(base),
            known: known.at(base),
            rows: population.rows as i32,
            words: words as i32,
            concepts: concepts as i32,
        };
        let most_parts = written.iter().map(|task| task.chimeras.parts.max(task.same.parts)).max().unwrap_or(1).max(1);
        let configurations = written.iter().map(|task| task.configurations).collect();
        let device_tasks = written
            .into_iter()
            .map(|task| DeviceTask {
                chimeras: task.chimeras.at(base),
                same: task.same.at(base),
                tree: task.tree.at(base),
                kept: task.kept.at(base),
                may: task.may.at(base),
                concepts: task.concepts.at(base),
                listed: task.listed.map(|listed| listed.at(base)),
                ..task.device
            })
            .collect::<Vec<_>>();
        let order = device_tasks.iter().map(|task| task.order as usize).max().unwrap_or(0);
        Ok(Self {
            ground,
            tasks: device_tasks,
            configurations,
            layout: layout(tasks),
            most_parts,
            order,
            labels: [value.at(base), known.at(base)],
            _arena: device,
            _truths: truths,
        })
    }
}

/// What a batch of some tasks is made of.
pub(crate) fn layout<F: Features>(tasks: &[&Task<'_, F>]) -> Layout {
    let any =
        |has: &dyn Fn(&Task<'_, F>) -> bool, batch: usize| if tasks.iter().any(|task| has(task)) { batch } else { 0 };
    let Some(recipe) = tasks.first().map(|task| task.recipe) else { return Layout::default() };
    let rows = tasks.iter().map(|task| task.population.rows).max().unwrap_or(0);
    let batch = recipe.batch.clamp(1, rows.max(1));
    let same = any(&|task| task.same.is_some(), batch);
    let grafts = any(&|task| task.grafts.is_some(), batch);
    let chimeras = any(&|task| task.chimeras.is_some(), batch);
    Layout {
        batch: batch as i32,
        same: same as i32,
        grafts: grafts as i32,
        chimeras: chimeras as i32,
        slots: padded(same + grafts + chimeras) as i32,
        shift: i32::from(recipe.sampler == chimera_gate::draw::Choice::Shift),
    }
}

fn write<F: Features>(task: &Task<'_, F>, arena: &mut Arena, library: &mut Library) -> WrittenTask {
    let mut drawing = |drawing: Option<&chimera_gate::draw::Drawing>, arena: &mut Arena| {
        drawing.map(|drawing| write_drawing(&drawing.flat(), arena, library)).unwrap_or_default()
    };
    let chimeras = drawing(task.chimeras.as_ref(), arena);
    let same = drawing(task.same.as_ref(), arena);
    let alone = task.takes_samples_alone();
    let kept = task.kept.filter(|_| alone);
    let may = task.kept.filter(|_| !alone && task.same.is_some()).map(|kept| {
        let mut words = vec![0_u64; task.population.rows.div_ceil(64)];
        kept.iter().for_each(|&row| words[row as usize / 64] |= 1 << (row % 64));
        words
    });
    let mut written = WrittenTask {
        device: DeviceTask {
            seed: task.seed,
            order: kept.map_or(task.population.rows, <[u32]>::len) as i32,
            arity: task.cone.operands.len() as i32,
            ..DeviceTask::default()
        },
        chimeras,
        same,
        tree: Written::default(),
        kept: kept.map_or(Place(None), |kept| arena.push(kept)),
        may: may.map_or(Place(None), |may| arena.push(&may)),
        concepts: Place(None),
        listed: [Place(None); 2],
        configurations: 0,
    };
    if let Some(grafts) = &task.grafts {
        let flat = grafts.flat();
        written.tree = write_tree(&flat.tree, task.cone.spots, arena);
        let concepts: Vec<i32> = flat.concepts.iter().map(|concept| *concept as i32).collect();
        written.concepts = arena.push(&concepts);
        written.listed = flat.listed.map(|listed| arena.push(listed));
        written.device.listed_count = flat.listed.map(|listed| listed.len() as i32);
        written.device.redrawn = flat.redrawn as f32;
        written.device.concept_count = concepts.len() as i32;
        written.device.most_changes = (concepts.len() + OTHER_CHANGES) as i32;
    }
    let operands = operands_of(task);
    written.configurations = if operands <= LISTED_ARITY { 1 << operands } else { 0 };
    written
}

/// Operands of the node whose truth is drawn: those of the drawing, or of what is grafted, not those of a monolith's input.
pub(crate) fn operands_of<F: Features>(task: &Task<'_, F>) -> usize {
    let of_drawing = task.chimeras.as_ref().or(task.same.as_ref()).map(|drawing| drawing.operands_can().len());
    let of_grafts = || match task.grafts.as_ref()?.flat().tree.first()? {
        FlatNode::Gate(_, operands) => Some(operands.len()),
        FlatNode::Concept(_) => None,
    };
    of_drawing.or_else(of_grafts).unwrap_or(task.cone.operands.len())
}

fn code(op: Op) -> i32 {
    match op {
        Op::And => 1,
        Op::Or => 2,
        Op::Implies => 3,
        Op::Iff => 4,
    }
}

fn write_drawing(flat: &FlatDrawing, arena: &mut Arena, library: &mut Library) -> Written {
    let mut operands: Vec<i32> = Vec::new();
    let pieces: Vec<DevicePiece> = flat
        .pieces
        .iter()
        .map(|piece| {
            let can = i32::from(piece.can[0]) | i32::from(piece.can[1]) << 1;
            match &piece.kind {
                FlatKind::Sample { part, truths } => DevicePiece {
                    can,
                    part: *part as i32,
                    truth: library.number(truths) as i32,
                    ..DevicePiece::default()
                },
                FlatKind::Gate { op, operands: below } => {
                    let first = operands.len() as i32;
                    operands.extend(below.iter().map(|(place, negated)| 2 * *place as i32 + i32::from(*negated)));
                    DevicePiece { op: code(*op), first, count: below.len() as i32, can, ..DevicePiece::default() }
                }
            }
        })
        .collect();
    let spots: Vec<i32> = flat.parts.iter().flat_map(|spots| [spots.start as i32, spots.end as i32]).collect();
    written(&pieces, &operands, &spots, arena)
}

fn write_tree(tree: &[FlatNode], spots: usize, arena: &mut Arena) -> Written {
    let mut operands: Vec<i32> = Vec::new();
    let pieces: Vec<DevicePiece> = tree
        .iter()
        .map(|node| match node {
            FlatNode::Concept(place) => DevicePiece { part: *place as i32, ..DevicePiece::default() },
            FlatNode::Gate(op, below) => {
                let first = operands.len() as i32;
                operands.extend(below.iter().map(|(place, negated)| 2 * *place as i32 + i32::from(*negated)));
                DevicePiece { op: code(*op), first, count: below.len() as i32, ..DevicePiece::default() }
            }
        })
        .collect();
    written(&pieces, &operands, &[0, spots as i32], arena)
}

fn written(pieces: &[DevicePiece], operands: &[i32], spots: &[i32], arena: &mut Arena) -> Written {
    let flat: Vec<i32> = pieces
        .iter()
        .flat_map(|piece| [piece.op, piece.first, piece.count, piece.can, piece.part, piece.truth])
        .collect();
    Written {
        count: pieces.len(),
        parts: spots.len() / 2,
        pieces: arena.push(&flat),
        operands: arena.push(operands),
        spots: arena.push(spots),
    }
}

/// Labels a bit a sample, concept by concept; the second says what is known, where not everything is.
fn columns(labels: &Labels, concepts: usize, words: usize) -> (Vec<u64>, Option<Vec<u64>>) {
    let (mut shown, mut known) = (vec![0_u64; concepts * words], vec![u64::MAX; concepts * words]);
    let mut open = false;
    for row in 0..labels.rows() {
        let (word, bit) = (row / 64, 1_u64 << (row % 64));
        for &concept in labels.shown(row as u32) {
            shown[concept as usize * words + word] |= bit;
        }
        for &concept in labels.open(row as u32) {
            known[concept as usize * words + word] &= !bit;
            open = true;
        }
    }
    (shown, open.then_some(known))
}

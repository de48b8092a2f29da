//! What gates that are taught take of a device's memory: rooms for what goes through them, and all of it in bytes before any
//! is taken.

use chimera_gate::cone::Features;
use chimera_gate::draw::Population;
use chimera_gate::train::Task;

use crate::cones::{Cones, Input};
use crate::gpu::Product;
use crate::grafts::{self, DeviceGrafted};
use crate::heads::{DeviceHead, DeviceVectors};
use crate::layout::{Sizes, padded};
use crate::program::{DeviceTask, Layout, Lists, layout};
use crate::rooms::Rooms;

/// Steps that are drawn in one launch.
const DRAWN: usize = 16;

/// How many steps are drawn in one launch, when one takes so many bytes and so many may be taken.
pub(crate) fn bundle(step_bytes: usize, most: usize) -> usize {
    (most / step_bytes.max(1)).clamp(1, DRAWN)
}

/// Bytes of what is drawn for one slot of one gate, beside its parts: a row for each spot, its truth, and for a graft its sample
/// and a list of so many changes.
pub(crate) fn drawn_a_slot(spots: usize, changes: Option<usize>) -> usize {
    4 * spots + 1 + changes.map_or(0, |changes| 4 * (changes + 1))
}

impl Rooms {
    /// Takes room for a task with all that lies below it, with so many slots of which so many are grafts.
    pub(crate) fn take<F: Features>(
        cones: &mut Cones,
        number: usize,
        task: &Task<'_, F>,
        (slots, graft_slots): (usize, usize),
    ) -> Self {
        let sizes = Sizes::of(task.shape);
        let input = Input { place: cones.take(slots * sizes.width()), stride: sizes.width() };
        let [hidden, hidden_gradient] = [0; 2].map(|_| cones.take(slots * sizes.hidden));
        let [feature, feature_gradient] = [0; 2].map(|_| cones.take(slots * sizes.features));
        let grafted = cones.take(graft_slots * sizes.features);
        cones.plan(number, &task.cone.operands, sizes.features, slots, input);
        Self { input: input.place, hidden, feature, feature_gradient, hidden_gradient, grafted }
    }
}

/// What tasks take, one after the other.
pub(crate) struct Needs {
    layout: Layout,
    cones: Cones,
    lists: Lists,
    gates: usize,
    /// Bytes that are taken whatever is drawn.
    taken: usize,
    /// Bytes of what is drawn for a slot of a step of all gates, beside parts.
    a_slot: usize,
}

impl Needs {
    /// Before the first of some tasks over the same samples. If only the first few of them are taught, they take no more than is
    /// said here.
    pub(crate) fn new<F: Features>(tasks: &[&Task<'_, F>]) -> Self {
        let none = Population::default();
        let population = tasks.first().map_or(&none, |task| task.population);
        let width = tasks.first().map_or(0, |task| padded(task.shape.features));
        let mut taken = population.groups.as_ref().map_or(0, |groups| size_of_val(&groups[..]));
        if let Some(grafts) = tasks.iter().find_map(|task| task.grafts.as_ref()) {
            let flat = grafts.flat();
            // Labels by concept, and whether they are known.
            taken += 2 * 8 * flat.effects.shares.len() * population.rows.div_ceil(64);
            taken += grafts::bytes(&flat, width);
        }
        let (cones, lists) = (Cones::default(), Lists::default());
        Self { layout: layout(tasks), cones, lists, gates: 0, taken, a_slot: 0 }
    }

    /// One more.
    pub(crate) fn add<F: Features>(&mut self, task: &Task<'_, F>) {
        let Layout { slots, grafts, .. } = self.layout;
        let (slots, graft_slots) = (slots as usize, grafts as usize);
        Rooms::take(&mut self.cones, self.gates, task, (slots, graft_slots));
        let lists = self.lists.add(task);
        // Values and Adam's two means; slopes and losses; what was drawn, steps, counts and totals.
        self.taken += 3 * 4 * Sizes::of(task.shape).places(0).end + 2 * 4 * slots + 4 * 8 + 3 * 4 + 4 + 2 * 8;
        self.taken += 8 * lists.configurations;
        self.taken += 5 * size_of::<Product>() + size_of::<DeviceHead>() + size_of::<DeviceVectors>();
        self.taken += size_of::<DeviceTask>() + size_of::<DeviceGrafted>();
        self.a_slot += drawn_a_slot(task.cone.spots, (graft_slots > 0).then_some(lists.changes + 1));
        self.gates += 1;
    }

    /// Bytes of all so far, when so many may be taken for what is drawn.
    pub(crate) fn bytes(&self, drawn: usize) -> usize {
        let step = self.layout.slots as usize * (self.a_slot + 8 * self.lists.most_parts * self.gates);
        self.taken + self.cones.bytes() + self.lists.bytes + bundle(step, drawn) * step
    }
}

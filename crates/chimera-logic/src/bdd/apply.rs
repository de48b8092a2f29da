//! The store of decision nodes under [`bdd`](crate::bdd): each node once (hash-consing), negation as a bit on the
//! reference, and one operation, AND, with a table of its results. Everything here ends: nodes and steps of a call are
//! counted.

use std::ops::Not;

/// A Boolean function in a store of decision diagrams, packed into one word: a node and a negation. Equal functions are
/// equal references. It means something only to the store that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Diagram(u32);

impl Diagram {
    /// The function that always holds.
    pub const TRUE: Self = Self(0);
    /// The function that never holds.
    pub const FALSE: Self = Self(1);

    /// Whether it always holds: a tautology.
    #[must_use]
    pub fn is_true(self) -> bool {
        self == Self::TRUE
    }

    /// Whether it never holds: a contradiction.
    #[must_use]
    pub fn is_false(self) -> bool {
        self == Self::FALSE
    }

    /// The function, negated if `flip`.
    #[must_use]
    pub fn negate_if(self, flip: bool) -> Self {
        Self(self.0 ^ u32::from(flip))
    }

    fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Not for Diagram {
    type Output = Self;

    fn not(self) -> Self {
        self.negate_if(true)
    }
}

/// A formula whose decision diagram does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too large for exact reasoning: the decision diagram exceeds {limit} nodes or the work allowed for them")]
pub struct TooLarge {
    /// The number of nodes that was allowed.
    pub limit: usize,
}

/// Level of the constant, below all variables.
const BOTTOM: u32 = u32::MAX;
/// Steps a call may take for each node it may make. Two large diagrams can have a small conjunction, so that counting
/// nodes alone would not bound the time.
const STEPS_PER_NODE: usize = 16;
const FIRST_CAPACITY: usize = 1 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    level: u32,
    low: Diagram,
    /// Never negated: that makes the form unique.
    high: Diagram,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    pair: (Diagram, Diagram),
    result: Diagram,
}

const UNUSED: Known = Known { pair: (Diagram::TRUE, Diagram::TRUE), result: Diagram::TRUE };

#[derive(Clone, Copy, Debug)]
enum Task {
    Visit(Diagram, Diagram),
    Combine(u32, (Diagram, Diagram)),
}

/// Decision nodes, children before parents.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    /// The first is the constant.
    nodes: Vec<Decision>,
    /// Open addressing with linear probing: indices of nodes, 0 where free. Twice as large as the nodes at least.
    table: Vec<u32>,
    /// Results of AND, one for each hash: a newer one replaces an older one.
    known: Vec<Known>,
    tasks: Vec<Task>,
    results: Vec<Diagram>,
    limit: usize,
    node_cap: usize,
    steps_left: usize,
}

fn mix(a: u32, b: u32, c: u32) -> usize {
    let pair = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let all = (pair ^ pair >> 32 ^ u64::from(c)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (all ^ all >> 32) as usize
}

impl Store {
    pub(crate) fn new() -> Self {
        Self {
            nodes: vec![Decision { level: BOTTOM, low: Diagram::TRUE, high: Diagram::TRUE }],
            table: vec![0; FIRST_CAPACITY],
            known: vec![UNUSED; FIRST_CAPACITY],
            tasks: Vec::new(),
            results: Vec::new(),
            limit: 0,
            node_cap: 0,
            steps_left: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Starts a call that may make `call` nodes as long as all nodes are no more than `total`; gives the mark to go
    /// back to.
    pub(crate) fn start(&mut self, call: usize, total: usize) -> usize {
        let mark = self.nodes.len();
        let total = total.min(u32::MAX as usize >> 1);
        self.node_cap = mark.saturating_add(call).min(total);
        self.limit = if self.node_cap == total { total } else { call };
        self.steps_left = call.saturating_mul(STEPS_PER_NODE);
        mark
    }

    /// Nodes that the running call may still make, or fewer if its steps run out first.
    pub(crate) fn allowance_left(&self) -> usize {
        self.node_cap.saturating_sub(self.nodes.len()).min(self.steps_left / STEPS_PER_NODE)
    }

    /// Forgets the nodes made since the mark.
    pub(crate) fn undo(&mut self, mark: usize) {
        // With linear probing, taking out the newest entry leaves the table as it was before that entry came.
        for index in (mark..self.nodes.len()).rev() {
            let slot = self.slot_of(index as u32);
            self.table[slot] = 0;
        }
        self.nodes.truncate(mark);
        self.known.fill(UNUSED);
    }

    pub(crate) fn level(&self, f: Diagram) -> u32 {
        self.nodes[f.index()].level
    }

    /// The function where its topmost variable is false, and where it is true; itself twice for a constant.
    pub(crate) fn branches(&self, f: Diagram) -> (Diagram, Diagram) {
        let node = self.nodes[f.index()];
        (node.low.negate_if(f.is_negated()), node.high.negate_if(f.is_negated()))
    }

    /// The variable of a level.
    pub(crate) fn variable(&mut self, level: u32) -> Result<Diagram, TooLarge> {
        self.make(level, Diagram::FALSE, Diagram::TRUE)
    }

    /// The conjunction of all. Starts with the deepest: a literal above the rest then costs one node and not a walk.
    pub(crate) fn all(&mut self, operands: &mut [Diagram]) -> Result<Diagram, TooLarge> {
        operands.sort_by_key(|&f| std::cmp::Reverse(self.level(f)));
        operands.iter().try_fold(Diagram::TRUE, |all, &f| self.and(all, f))
    }

    /// The conjunction of two functions. The stack is explicit: diagrams may be as deep as there are concepts.
    pub(crate) fn and(&mut self, f: Diagram, g: Diagram) -> Result<Diagram, TooLarge> {
        self.results.clear();
        self.tasks.clear();
        self.tasks.push(Task::Visit(f, g));
        while let Some(task) = self.tasks.pop() {
            let result = match task {
                Task::Visit(f, g) => match self.simple_and(f, g) {
                    Some(result) => result,
                    None => {
                        self.open(f, g)?;
                        continue;
                    }
                },
                Task::Combine(level, pair) => {
                    // The low branch is visited last, so its result lies on top.
                    let low = self.results.pop().unwrap_or(Diagram::FALSE);
                    let high = self.results.pop().unwrap_or(Diagram::FALSE);
                    let result = self.make(level, low, high)?;
                    self.remember(pair, result);
                    result
                }
            };
            self.results.push(result);
        }
        Ok(self.results.pop().unwrap_or(Diagram::FALSE))
    }

    /// Whether two functions can hold together. Makes no nodes and stops at the first way found.
    pub(crate) fn intersects(&mut self, f: Diagram, g: Diagram) -> Result<bool, TooLarge> {
        self.tasks.clear();
        self.tasks.push(Task::Visit(f, g));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Visit(f, g) => match self.simple_and(f, g) {
                    Some(Diagram::FALSE) => {}
                    Some(_) => return Ok(true),
                    None => self.open(f, g)?,
                },
                // Both branches were walked in vain.
                Task::Combine(_, pair) => self.remember(pair, Diagram::FALSE),
            }
        }
        Ok(false)
    }

    /// The conjunction where it can be read off or is remembered.
    fn simple_and(&self, f: Diagram, g: Diagram) -> Option<Diagram> {
        if f.is_false() || g.is_false() || f == !g {
            return Some(Diagram::FALSE);
        }
        if f.is_true() || f == g {
            return Some(g);
        }
        if g.is_true() {
            return Some(f);
        }
        let pair = (f.min(g), f.max(g));
        let known = self.known[self.place(pair)];
        (known.pair == pair).then_some(known.result)
    }

    fn open(&mut self, f: Diagram, g: Diagram) -> Result<(), TooLarge> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(TooLarge { limit: self.limit })?;
        let level = self.level(f).min(self.level(g));
        let at = |h: Diagram| if self.level(h) == level { self.branches(h) } else { (h, h) };
        let ((f_low, f_high), (g_low, g_high)) = (at(f), at(g));
        self.tasks.push(Task::Combine(level, (f.min(g), f.max(g))));
        self.tasks.push(Task::Visit(f_low, g_low));
        self.tasks.push(Task::Visit(f_high, g_high));
        Ok(())
    }

    fn place(&self, (f, g): (Diagram, Diagram)) -> usize {
        mix(f.0, g.0, 0) & (self.known.len() - 1)
    }

    fn remember(&mut self, pair: (Diagram, Diagram), result: Diagram) {
        let place = self.place(pair);
        self.known[place] = Known { pair, result };
    }

    /// The node of a decision, made if it is new.
    fn make(&mut self, level: u32, low: Diagram, high: Diagram) -> Result<Diagram, TooLarge> {
        if low == high {
            return Ok(low);
        }
        debug_assert!(level < self.level(low).min(self.level(high)), "levels grow downwards");
        let flip = high.is_negated();
        let node = Decision { level, low: low.negate_if(flip), high: high.negate_if(flip) };
        let slot = match self.find(node) {
            Ok(index) => return Ok(Diagram(index << 1).negate_if(flip)),
            Err(slot) => slot,
        };
        if self.nodes.len() >= self.node_cap {
            return Err(TooLarge { limit: self.limit });
        }
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        self.table[slot] = index;
        if self.nodes.len() * 2 > self.table.len() {
            self.grow();
        }
        Ok(Diagram(index << 1).negate_if(flip))
    }

    /// The node's index, or the free slot where it belongs.
    fn find(&self, node: Decision) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        let mut slot = mix(node.low.0, node.high.0, node.level) & mask;
        loop {
            match self.table[slot] {
                0 => return Err(slot),
                index if self.nodes[index as usize] == node => return Ok(index),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// Where a node stands in the table.
    fn slot_of(&self, index: u32) -> usize {
        let node = self.nodes[index as usize];
        let mask = self.table.len() - 1;
        let mut slot = mix(node.low.0, node.high.0, node.level) & mask;
        while self.table[slot] != index {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.rebuild(self.table.len() * 2);
        let old = std::mem::replace(&mut self.known, vec![UNUSED; self.table.len()]);
        for entry in old.into_iter().filter(|entry| entry.pair != UNUSED.pair) {
            self.remember(entry.pair, entry.result);
        }
    }

    fn rebuild(&mut self, capacity: usize) {
        self.table.clear();
        self.table.resize(capacity, 0);
        for index in 1..self.nodes.len() {
            if let Err(slot) = self.find(self.nodes[index]) {
                self.table[slot] = index as u32;
            }
        }
    }
}

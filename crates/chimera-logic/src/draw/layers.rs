//! The layered graph under a picture: one for each part that hangs together. A wire that passes layers gets a bend in
//! each of them. Wires to the same item with the same polarity share their bends, as nets do in a circuit plan: the
//! mark of a negation stands at the upper end, so nothing is lost and much ink is saved.

use super::scene::Scene;

/// Above this many bends, counted a wire, long wires go straight: nobody can follow them and time must stay bounded.
const MAX_BENDS: usize = 200_000;

/// A place in a layer: an item's box, or a bend of a long wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub(super) layer: usize,
    /// `None` for a bend.
    pub(super) item: Option<usize>,
}

/// A connection between neighbouring layers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) upper: usize,
    pub(super) lower: usize,
    /// The wire that starts here; `None` inside a shared way.
    pub(super) wire: Option<usize>,
    /// That wire's position among its operands.
    pub(super) operand: usize,
}

/// A connected part of the scene in layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Layered {
    pub(super) vertices: Vec<Vertex>,
    /// The vertices of each layer in their order, concepts first.
    pub(super) layers: Vec<Vec<usize>>,
    pub(super) links: Vec<Link>,
    /// The links that end in a vertex from above.
    pub(super) above: Vec<Vec<usize>>,
    /// The links that leave a vertex downwards.
    pub(super) below: Vec<Vec<usize>>,
    /// Each wire's index with its way: upper item, bends, lower item.
    pub(super) routes: Vec<(usize, Vec<usize>)>,
}

impl Layered {
    /// Each vertex's position in its layer.
    pub(super) fn positions(&self) -> Vec<usize> {
        let mut positions = vec![0; self.vertices.len()];
        for layer in &self.layers {
            layer.iter().enumerate().for_each(|(position, &vertex)| positions[vertex] = position);
        }
        positions
    }

    fn add_vertex(&mut self, layer: usize, item: Option<usize>) -> usize {
        let vertex = self.vertices.len();
        self.vertices.push(Vertex { layer, item });
        self.layers[layer].push(vertex);
        self.above.push(Vec::new());
        self.below.push(Vec::new());
        vertex
    }

    fn add_link(&mut self, upper: usize, lower: usize, wire: Option<usize>, operand: usize) {
        self.above[lower].push(self.links.len());
        self.below[upper].push(self.links.len());
        self.links.push(Link { upper, lower, wire, operand });
    }
}

/// The parts of a scene that hang together, in the order of their first rules; in each, layers are ordered as one meets
/// the items on a walk from the rules down.
pub(super) fn build(scene: &Scene) -> Vec<Layered> {
    let mut outgoing = vec![Vec::new(); scene.items.len()];
    for (index, wire) in scene.wires.iter().enumerate() {
        outgoing[wire.from].push(index);
    }
    let spans = scene.wires.iter().map(|wire| scene.items[wire.from].layer - scene.items[wire.to].layer - 1);
    let bends = spans.fold(0, usize::saturating_add) <= MAX_BENDS;
    let mut builder = Builder::new(scene, bends);
    let layers = scene.layers();
    let parts = parts(scene, &outgoing).into_iter().map(|visited| {
        builder.graph.layers = vec![Vec::new(); layers];
        for &(item, via) in &visited {
            // A bend stands where the walk met its wire.
            via.into_iter().for_each(|wire| builder.add_bends(wire));
            builder.add_item(item);
        }
        for &(item, _) in &visited {
            outgoing[item].iter().for_each(|&wire| builder.add_wire(wire));
        }
        std::mem::take(&mut builder.graph)
    });
    parts.collect()
}

/// An item with the wire on which a walk came to it first.
type Visit = (usize, Option<usize>);

/// The items of each connected part, on a walk from its rules down, operands in order.
fn parts(scene: &Scene, outgoing: &[Vec<usize>]) -> Vec<Vec<Visit>> {
    let mut leader: Vec<usize> = (0..scene.items.len()).collect();
    fn find(leader: &mut [usize], mut item: usize) -> usize {
        while leader[item] != item {
            leader[item] = leader[leader[item]];
            item = leader[item];
        }
        item
    }
    for wire in &scene.wires {
        let (a, b) = (find(&mut leader, wire.from), find(&mut leader, wire.to));
        leader[a.max(b)] = a.min(b);
    }
    // Rules come first among the items, so a part's leader is its first rule.
    let mut part_of = vec![usize::MAX; scene.items.len()];
    let mut visited = vec![false; scene.items.len()];
    let mut parts: Vec<Vec<Visit>> = Vec::new();
    for start in 0..scene.items.len() {
        let first = find(&mut leader, start);
        if part_of[first] == usize::MAX {
            part_of[first] = parts.len();
            parts.push(Vec::new());
        }
        let part = part_of[first];
        let mut stack = vec![(start, None)];
        while let Some((item, via)) = stack.pop() {
            if std::mem::replace(&mut visited[item], true) {
                continue;
            }
            parts[part].push((item, via));
            stack.extend(outgoing[item].iter().rev().map(|&wire| (scene.wires[wire].to, Some(wire))));
        }
    }
    parts
}

struct Builder<'a> {
    scene: &'a Scene,
    /// Whether long wires bend at all.
    bends: bool,
    /// The part being built.
    graph: Layered,
    vertex_of: Vec<Option<usize>>,
    /// The bends of an item's wires without and with negation, from its own layer upwards.
    ways: Vec<[Vec<usize>; 2]>,
}

impl<'a> Builder<'a> {
    fn new(scene: &'a Scene, bends: bool) -> Self {
        let count = scene.items.len();
        let ways = vec![Default::default(); count];
        Self { scene, bends, graph: Layered::default(), vertex_of: vec![None; count], ways }
    }

    fn add_item(&mut self, item: usize) {
        if self.vertex_of[item].is_none() {
            self.vertex_of[item] = Some(self.graph.add_vertex(self.scene.items[item].layer, Some(item)));
        }
    }

    fn add_bends(&mut self, wire: usize) {
        let wire = self.scene.wires[wire];
        let (top, bottom) = (self.scene.items[wire.from].layer, self.scene.items[wire.to].layer);
        let way = &mut self.ways[wire.to][usize::from(wire.negated)];
        if self.bends {
            for layer in bottom + 1 + way.len()..top {
                way.push(self.graph.add_vertex(layer, None));
            }
        }
    }

    fn add_wire(&mut self, index: usize) {
        self.add_bends(index);
        let wire = self.scene.wires[index];
        let (Some(upper), Some(lower)) = (self.vertex_of[wire.from], self.vertex_of[wire.to]) else { return };
        let span = self.scene.items[wire.from].layer - self.scene.items[wire.to].layer - 1;
        let way = &self.ways[wire.to][usize::from(wire.negated)];
        let passed = if self.bends { &way[..span] } else { &[] };
        let mut route = vec![upper];
        route.extend(passed.iter().rev());
        route.push(lower);
        if self.bends || span == 0 {
            self.graph.add_link(upper, route[1], Some(index), wire.operand);
        }
        for pair in route[1..].windows(2) {
            // A bend leads to one place only, so its link exists as soon as anything leaves it.
            if self.graph.below[pair[0]].is_empty() {
                self.graph.add_link(pair[0], pair[1], None, 0);
            }
        }
        self.graph.routes.push((index, route));
    }
}

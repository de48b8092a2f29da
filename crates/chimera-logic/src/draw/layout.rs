//! Boxes and curves on a page. Everything is computed in two axes that know no left and right: *along* the way from the
//! rules to the concepts, and *across* it; the direction turns them into x and y at the end. Each layer is a band that
//! its boxes fill, so a wire runs straight through a band and curves only in the gaps between.

use super::layers::{self, Layered};
use super::place::{self, Spacing};
use super::scene::{Item, Kind, Scene};
use super::{Direction, label, order};
use crate::syntax::Op;

/// Width of one column of a name.
pub(super) const COLUMN: f64 = 7.25;
/// Room that a printed value takes in a rule's or a concept's box.
pub(super) const VALUE_WIDTH: f64 = 38.0;
/// How far a rule's flag points.
pub(super) const FLAG_TIP: f64 = 9.0;
/// Radius of the circle that marks a negation.
pub(super) const BUBBLE: f64 = 4.0;

/// The widest drawing that is read downwards by default.
const PAGE_WIDTH: f64 = 900.0;
/// Room between parts that do not hang together.
const PART_GAP: f64 = 26.0;

/// A box on the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn middle(&self) -> (f64, f64) {
        (self.x + self.width / 2.0, self.y + self.height / 2.0)
    }
}

/// A smooth turn from one point to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
}

/// The way of one wire: turns in the gaps, with straight lines between them. It ends where it joins a way drawn before.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) wire: usize,
    pub(super) turns: Vec<Turn>,
}

/// The finished geometry, with its upper left corner at (0, 0).
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// `Down` or `Right`.
    pub(super) direction: Direction,
    /// One box an item.
    pub(super) boxes: Vec<Rect>,
    /// One way a wire.
    pub(super) routes: Vec<Route>,
    /// Start and end of each layer along the way, concepts first.
    pub(super) bands: Vec<(f64, f64)>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    pub(super) fn new(scene: &Scene, direction: Direction) -> Self {
        let measure = Measure::new(scene, direction);
        let mut ports = vec![0.0; scene.wires.len()];
        let mut parts = Vec::new();
        let mut start = 0.0;
        for mut graph in layers::build(scene) {
            order::reduce_crossings(&mut graph);
            set_ports(&graph, scene, &measure, &mut ports);
            let part = Part::new(graph, scene, &measure, &ports, start);
            start = part.end + PART_GAP;
            parts.push(part);
        }
        let across = (start - PART_GAP).max(0.0);
        let bands = bands(scene, &measure, &ports, &parts);
        let along = bands.first().map_or(0.0, |band| band.1);
        let point = |along: f64, across: f64| match measure.direction {
            Direction::Right => (along, across),
            Direction::Down | Direction::Auto => (across, along),
        };
        let mut boxes = vec![Rect { x: 0.0, y: 0.0, width: 0.0, height: 0.0 }; scene.items.len()];
        let mut routes = Vec::with_capacity(scene.wires.len());
        for part in &parts {
            for (vertex, place) in part.graph.vertices.iter().zip(&part.places) {
                let Some(item) = vertex.item else { continue };
                let (from, to) = bands[vertex.layer];
                let size = measure.across(&scene.items[item]);
                let ((x, y), (width, height)) = (point(from, place - size / 2.0), point(to - from, size));
                boxes[item] = Rect { x, y, width, height };
            }
            let mut drawn = vec![false; part.graph.vertices.len()];
            for (wire, way) in &part.graph.routes {
                let mut leaves_at = part.places[way[0]] + ports[*wire];
                let mut turns = Vec::new();
                for pair in way.windows(2) {
                    let [upper, lower] = [pair[0], pair[1]].map(|vertex| bands[part.graph.vertices[vertex].layer]);
                    let ends_at = part.places[pair[1]];
                    turns.push(Turn { from: point(upper.1, leaves_at), to: point(lower.0, ends_at) });
                    leaves_at = ends_at;
                    // From here on another wire shows the way: dashes drawn twice would fill each other's gaps.
                    if part.graph.vertices[pair[1]].item.is_none() && std::mem::replace(&mut drawn[pair[1]], true) {
                        break;
                    }
                }
                routes.push(Route { wire: *wire, turns });
            }
        }
        routes.sort_by_key(|route| route.wire);
        let (width, height) = point(along, across);
        Self { direction: measure.direction, boxes, routes, bands, width, height }
    }
}

/// A connected part with its places.
struct Part {
    graph: Layered,
    /// The middle of each vertex, across.
    places: Vec<f64>,
    /// Where it ends, across.
    end: f64,
}

impl Part {
    fn new(graph: Layered, scene: &Scene, measure: &Measure, ports: &[f64], start: f64) -> Self {
        let link_ports: Vec<f64> = graph.links.iter().map(|link| link.wire.map_or(0.0, |wire| ports[wire])).collect();
        let size = |vertex: usize| graph.vertices[vertex].item.map_or(0.0, |item| measure.across(&scene.items[item]));
        let distance = |left: usize, right: usize| {
            let bends = [left, right].into_iter().filter(|&vertex| graph.vertices[vertex].item.is_none()).count();
            (size(left) + size(right)) / 2.0 + measure.gap(bends)
        };
        let spacing = Spacing { ports: &link_ports, distance: &distance };
        let mut places = place::place(&graph, &spacing);
        let low = places.iter().enumerate().map(|(vertex, place)| place - size(vertex) / 2.0).reduce(f64::min);
        places.iter_mut().for_each(|place| *place += start - low.unwrap_or(0.0));
        let high = places.iter().enumerate().map(|(vertex, place)| place + size(vertex) / 2.0).reduce(f64::max);
        Self { places, end: high.unwrap_or(start), graph }
    }
}

/// How far from its upper item's middle each wire starts. Wires leave an item side by side in the order of where they
/// go, so that they do not cross at once.
fn set_ports(graph: &Layered, scene: &Scene, measure: &Measure, ports: &mut [f64]) {
    let positions = graph.positions();
    let mut leaving: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); graph.vertices.len()];
    for (wire, way) in &graph.routes {
        leaving[way[0]].push((positions[way[1]], scene.wires[*wire].operand, *wire));
    }
    for mut wires in leaving {
        wires.sort_unstable();
        let middle = wires.len().saturating_sub(1) as f64 / 2.0;
        for (rank, &(.., wire)) in wires.iter().enumerate() {
            let pitch = measure.pitch(&scene.items[scene.wires[wire].from]);
            ports[wire] = (rank as f64 - middle) * pitch;
        }
    }
}

/// Where each layer starts and ends. Gaps grow with the slopes they hold.
fn bands(scene: &Scene, measure: &Measure, ports: &[f64], parts: &[Part]) -> Vec<(f64, f64)> {
    let count = scene.layers();
    let mut slopes = vec![(0.0, 0.0); count];
    for part in parts {
        for link in &part.graph.links {
            let port = link.wire.map_or(0.0, |wire| ports[wire]);
            let (sum, links): &mut (f64, f64) = &mut slopes[part.graph.vertices[link.lower].layer];
            *sum += (part.places[link.upper] + port - part.places[link.lower]).powi(2);
            *links += 1.0;
        }
    }
    let mut bands = vec![(0.0, 0.0); count];
    let mut at = 0.0;
    for layer in (0..count).rev() {
        let size = measure.bands[layer];
        bands[layer] = (at, at + size);
        let (sum, links) = if layer > 0 { slopes[layer - 1] } else { (0.0, 0.0) };
        let typical = (sum / f64::max(links, 1.0)).sqrt();
        at += size + measure.smallest_layer_gap() + (0.3 * typical).min(180.0);
    }
    bands
}

/// The sizes of things in one direction.
struct Measure {
    direction: Direction,
    values: bool,
    /// The size of each layer along the way.
    bands: Vec<f64>,
}

impl Measure {
    fn new(scene: &Scene, direction: Direction) -> Self {
        let mut measure = Self { direction: Direction::Down, values: scene.has_values(), bands: Vec::new() };
        let mut widths = vec![0.0; scene.layers()];
        scene.items.iter().for_each(|item| widths[item.layer] += measure.across(item) + measure.gap(0));
        let fits = widths.iter().all(|&width| width <= PAGE_WIDTH);
        if direction == Direction::Right || direction == Direction::Auto && !fits {
            measure.direction = Direction::Right;
        }
        measure.bands = vec![0.0; scene.layers()];
        for item in &scene.items {
            measure.bands[item.layer] = f64::max(measure.bands[item.layer], measure.along(item));
        }
        measure
    }

    fn is_right(&self) -> bool {
        self.direction == Direction::Right
    }

    /// The size of a rule's or a concept's box in the direction of reading text.
    fn text_width(&self, item: &Item) -> f64 {
        let value = if self.values { VALUE_WIDTH } else { 0.0 };
        label::columns(&item.label).max(2) as f64 * COLUMN + 18.0 + value
    }

    fn along(&self, item: &Item) -> f64 {
        match (item.kind, self.is_right()) {
            (Kind::Rule, true) => self.text_width(item) + FLAG_TIP,
            (Kind::Rule, false) => 24.0 + FLAG_TIP,
            (Kind::Concept, true) => self.text_width(item),
            (Kind::Concept, false) => 24.0,
            (Kind::Gate(op), true) => {
                if op == Op::Implies {
                    66.0
                } else {
                    56.0
                }
            }
            (Kind::Gate(_), false) => {
                if self.values {
                    46.0
                } else {
                    34.0
                }
            }
        }
    }

    fn across(&self, item: &Item) -> f64 {
        let ports = item.arity as f64 * self.pitch(item);
        match (item.kind, self.is_right()) {
            (Kind::Gate(_), true) => f64::max(32.0, ports + 8.0),
            (Kind::Gate(_), false) => f64::max(46.0, ports + 10.0),
            (_, true) => 24.0,
            (_, false) => self.text_width(item),
        }
    }

    /// The distance of neighbouring wires where they leave an item.
    fn pitch(&self, item: &Item) -> f64 {
        match (item.kind, self.is_right()) {
            (Kind::Gate(Op::Implies), false) => 28.0,
            (_, false) => 17.0,
            (_, true) => 13.0,
        }
    }

    /// Room between neighbours of a layer of which so many are bends.
    fn gap(&self, bends: usize) -> f64 {
        match (bends, self.is_right()) {
            (0, true) => 10.0,
            (0, false) => 18.0,
            (1, _) => 12.0,
            (_, true) => 9.0,
            (_, false) => 12.0,
        }
    }

    fn smallest_layer_gap(&self) -> f64 {
        if self.is_right() { 52.0 } else { 40.0 }
    }
}

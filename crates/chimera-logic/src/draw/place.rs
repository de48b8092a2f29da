//! Places within the layers. Every link is a spring: starting from packed layers, each layer in turn takes the places
//! that are best for it while the others stand still (an isotonic regression, solved by pooling neighbours that would
//! collide). Then whatever has the room moves to the median of its links, and long ways to one line, so that what is
//! nearly straight becomes straight.

use super::layers::{Layered, Link};

/// Rounds over all layers, fewer when the graph is large.
const MAX_ROUNDS: usize = 60;
/// Links looked at in all rounds together.
const BUDGET: usize = 4_000_000;
/// Rounds that straighten.
const STRAIGHTENING_ROUNDS: usize = 8;
/// How far a bend may move to come into line with its way.
const LONGEST_SHIFT: f64 = 30.0;

/// What placing needs to know beside the order of the layers.
pub(super) struct Spacing<'a> {
    /// How far from the middle of its upper vertex each link starts.
    pub(super) ports: &'a [f64],
    /// The distance that the middles of two neighbours need.
    pub(super) distance: &'a dyn Fn(usize, usize) -> f64,
}

/// The place of each vertex's middle along its layer.
pub(super) fn place(graph: &Layered, spacing: &Spacing<'_>) -> Vec<f64> {
    let mut places = pack(graph, spacing);
    let rounds = (BUDGET / graph.links.len().max(1)).clamp(4, MAX_ROUNDS);
    let count = graph.layers.len();
    for round in 0..rounds + STRAIGHTENING_ROUNDS {
        for step in 0..count {
            let layer = if round % 2 == 0 { step } else { count - 1 - step };
            let work = if round < rounds { relax_layer } else { straighten_layer };
            work(graph, spacing, &graph.layers[layer], &mut places);
        }
    }
    straighten_ways(graph, spacing, &mut places);
    places
}

/// Every layer as narrow as it can be, with its middle at 0.
fn pack(graph: &Layered, spacing: &Spacing<'_>) -> Vec<f64> {
    let mut places = vec![0.0; graph.vertices.len()];
    for layer in &graph.layers {
        let mut at = 0.0;
        for pair in layer.windows(2) {
            at += (spacing.distance)(pair[0], pair[1]);
            places[pair[1]] = at;
        }
        layer.iter().for_each(|&vertex| places[vertex] -= at / 2.0);
    }
    places
}

/// Where each link of a vertex wants it to be, with the strength of that wish.
fn wishes<'a>(
    graph: &'a Layered,
    spacing: &'a Spacing<'a>,
    vertex: usize,
    places: &'a [f64],
) -> impl Iterator<Item = (f64, f64)> + 'a {
    let above = graph.above[vertex].iter().map(|&link| (link, 1.0, graph.links[link].upper));
    let below = graph.below[vertex].iter().map(|&link| (link, -1.0, graph.links[link].lower));
    above
        .chain(below)
        .map(move |(link, sign, end)| (places[end] + sign * spacing.ports[link], strength(graph, &graph.links[link])))
}

/// Long ways must be straight first of all; short links may slant.
fn strength(graph: &Layered, link: &Link) -> f64 {
    let bends = [link.upper, link.lower].into_iter().filter(|&end| graph.vertices[end].item.is_none()).count();
    [1.0, 2.0, 8.0][bends]
}

/// The places of one layer with the least sum of squares of the links' slants.
fn relax_layer(graph: &Layered, spacing: &Spacing<'_>, layer: &[usize], places: &mut [f64]) {
    struct Pool {
        mean: f64,
        weight: f64,
        members: usize,
    }
    let mut pools: Vec<Pool> = Vec::with_capacity(layer.len());
    // Places are measured from where the vertex would stand if the layer were packed: distances become mere order.
    let mut packed = Vec::with_capacity(layer.len());
    let mut end = 0.0;
    for (index, &vertex) in layer.iter().enumerate() {
        if index > 0 {
            end += (spacing.distance)(layer[index - 1], vertex);
        }
        packed.push(end);
        let (sum, weight) = wishes(graph, spacing, vertex, places)
            .fold((places[vertex] * 1e-3, 1e-3), |(sum, total), (place, weight)| {
                (sum + place * weight, total + weight)
            });
        let mut pool = Pool { mean: sum / weight - end, weight, members: 1 };
        while let Some(last) = pools.pop_if(|last| last.mean > pool.mean) {
            let weight = last.weight + pool.weight;
            pool.mean = (last.mean * last.weight + pool.mean * pool.weight) / weight;
            pool = Pool { mean: pool.mean, weight, members: last.members + pool.members };
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.members));
    for ((&vertex, packed), mean) in layer.iter().zip(packed).zip(means) {
        places[vertex] = packed + mean;
    }
}

/// Moves each vertex to the median of its wishes as far as its neighbours allow.
fn straighten_layer(graph: &Layered, spacing: &Spacing<'_>, layer: &[usize], places: &mut [f64]) {
    for (index, &vertex) in layer.iter().enumerate() {
        let mut wanted: Vec<(f64, f64)> = wishes(graph, spacing, vertex, places).collect();
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(mut median), Some(upper)) = (median(wanted.iter()), median(wanted.iter().rev())) else { continue };
        if graph.vertices[vertex].item.is_some() {
            // All places between the two medians are as good: stay balanced.
            median = places[vertex].max(median).min(upper);
        }
        let (low, high) = room(spacing, layer, index, places);
        places[vertex] = median.min(high).max(low);
    }
}

/// The first wish at which half of their strength is reached.
fn median<'a>(wishes: impl Iterator<Item = &'a (f64, f64)> + Clone) -> Option<f64> {
    let half = wishes.clone().map(|wish| wish.1).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let mut reached = wishes.skip_while(|wish| {
        passed += wish.1;
        passed < half
    });
    reached.next().map(|wish| wish.0)
}

/// How far the vertex at `index` of a layer can move without touching its neighbours.
fn room(spacing: &Spacing<'_>, layer: &[usize], index: usize, places: &[f64]) -> (f64, f64) {
    let left = index.checked_sub(1).map(|left| layer[left]);
    let low = left.map(|left| places[left] + (spacing.distance)(left, layer[index]));
    let right = layer.get(index + 1);
    let high = right.map(|&right| places[right] - (spacing.distance)(layer[index], right));
    (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
}

/// Puts all bends of a way on the line of one of its ends where that is near and free.
fn straighten_ways(graph: &Layered, spacing: &Spacing<'_>, places: &mut [f64]) {
    let positions = graph.positions();
    for (start, link) in graph.links.iter().enumerate().filter(|(_, link)| link.wire.is_some()) {
        let mut bends = Vec::new();
        let mut end = link.lower;
        while graph.vertices[end].item.is_none() {
            bends.push(end);
            let Some(&next) = graph.below[end].first() else { break };
            end = graph.links[next].lower;
        }
        let starts_at = places[link.upper] + spacing.ports[start];
        if bends.iter().all(|&bend| places[bend] == starts_at) || bends.iter().all(|&bend| places[bend] == places[end])
        {
            continue;
        }
        let is_free = |&line: &f64| {
            bends.iter().all(|&bend| {
                let (low, high) = room(spacing, &graph.layers[graph.vertices[bend].layer], positions[bend], places);
                (low..=high).contains(&line) && (places[bend] - line).abs() <= LONGEST_SHIFT
            })
        };
        if let Some(line) = [starts_at, places[end]].into_iter().find(is_free) {
            bends.iter().for_each(|&bend| places[bend] = line);
        }
    }
}

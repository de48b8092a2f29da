//! The order within each layer, for few crossings: sweeps down and up that sort by the mean position of the neighbours
//! (Sugiyama), then swaps of neighbours that pay off; the best order seen wins. Among equals, the order that was
//! written wins: rules as in the file, `if` before `then`. The work is capped.

use super::layers::Layered;

const MAX_SWEEPS: usize = 24;
/// Links looked at in all sweeps together.
const SWEEP_BUDGET: usize = 1_000_000;
/// Neighbour comparisons in all swaps together.
const SWAP_BUDGET: usize = 6_000_000;

/// Reorders the layers; returns the number of crossings left.
pub(super) fn reduce_crossings(graph: &mut Layered) -> u64 {
    let sweeps = (SWEEP_BUDGET / graph.links.len().max(1)).clamp(2, MAX_SWEEPS);
    let mut budget = SWAP_BUDGET;
    let mut best = graph.layers.clone();
    let mut least = (crossings(graph), disorder(graph));
    let mut idle = 0;
    for sweep in 0..sweeps {
        if least == (0, 0) || idle == 6 {
            break;
        }
        let (down, reverse_ties) = (sweep % 2 == 0, sweep % 4 >= 2);
        sweep_once(graph, down, reverse_ties);
        swap_neighbours(graph, &mut budget);
        idle += 1;
        let crossed = crossings(graph);
        // The mirror image has the same crossings.
        for _ in 0..2 {
            let cost = (crossed, disorder(graph));
            if cost < least {
                (least, idle) = (cost, 0);
                best.clone_from(&graph.layers);
            }
            graph.layers.iter_mut().for_each(|layer| layer.reverse());
        }
    }
    graph.layers = best;
    least.0
}

/// Pairs of rules and of operands that stand in another order than they were written in.
fn disorder(graph: &Layered) -> usize {
    let positions = graph.positions();
    let mut count = 0;
    for links in &graph.below {
        let mut ends: Vec<(usize, usize)> =
            links.iter().map(|&link| (positions[graph.links[link].lower], graph.links[link].operand)).collect();
        ends.sort_unstable();
        count += ends.windows(2).filter(|pair| pair[0].1 > pair[1].1).count();
    }
    let rules = graph.layers.last().map_or(&[][..], Vec::as_slice);
    count + rules.windows(2).filter(|pair| graph.vertices[pair[0]].item > graph.vertices[pair[1]].item).count()
}

/// Sorts each layer by the mean position of its vertices' neighbours in the layer before.
fn sweep_once(graph: &mut Layered, down: bool, reverse_ties: bool) {
    let mut positions = graph.positions();
    let count = graph.layers.len();
    for step in 1..count {
        let layer = if down { count - 1 - step } else { step };
        let mean = |vertex: usize| {
            let links = if down { &graph.above[vertex] } else { &graph.below[vertex] };
            if links.is_empty() {
                return positions[vertex] as f64;
            }
            let ends = links.iter().map(|&link| if down { graph.links[link].upper } else { graph.links[link].lower });
            ends.map(|end| positions[end] as f64).sum::<f64>() / links.len() as f64
        };
        let mut keyed: Vec<(f64, usize)> = graph.layers[layer].iter().map(|&vertex| (mean(vertex), vertex)).collect();
        if reverse_ties {
            keyed.reverse();
        }
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (position, &(_, vertex)) in keyed.iter().enumerate() {
            positions[vertex] = position;
            graph.layers[layer][position] = vertex;
        }
    }
}

/// Swaps neighbours in a layer while that removes crossings with the layers above and below.
fn swap_neighbours(graph: &mut Layered, budget: &mut usize) {
    let mut positions = graph.positions();
    for _ in 0..4 {
        let mut improved = false;
        for layer in 0..graph.layers.len() {
            let mut ends: Vec<[Vec<usize>; 2]> =
                graph.layers[layer].iter().map(|&vertex| sorted_ends(graph, &positions, vertex)).collect();
            for left in 1..ends.len() {
                let (a, b) = (&ends[left - 1], &ends[left]);
                let work: usize = a.iter().chain(b).map(Vec::len).sum();
                if *budget < work {
                    return;
                }
                *budget -= work;
                let crossed =
                    |x: &[Vec<usize>; 2], y: &[Vec<usize>; 2]| inversions(&x[0], &y[0]) + inversions(&x[1], &y[1]);
                let (now, swapped) = (crossed(a, b), crossed(b, a));
                let [first, second] = [graph.layers[layer][left - 1], graph.layers[layer][left]];
                if swapped < now || swapped == now && is_misordered(graph, first, second) {
                    ends.swap(left - 1, left);
                    let order = &mut graph.layers[layer];
                    order.swap(left - 1, left);
                    positions[order[left - 1]] = left - 1;
                    positions[order[left]] = left;
                    improved = true;
                }
            }
        }
        if !improved {
            return;
        }
    }
}

/// Whether two neighbours would rather stand the other way round, going by what was written.
fn is_misordered(graph: &Layered, first: usize, second: usize) -> bool {
    if graph.above[first].is_empty() && graph.above[second].is_empty() {
        return graph.vertices[first].item > graph.vertices[second].item;
    }
    // Two much-used nodes: nobody sees their order, and comparing all their links takes long.
    if graph.above[first].len() * graph.above[second].len() > 256 {
        return false;
    }
    let mut balance = 0_i32;
    for a in graph.above[first].iter().map(|&link| &graph.links[link]) {
        for b in graph.above[second].iter().map(|&link| &graph.links[link]) {
            if a.upper == b.upper {
                balance += if a.operand > b.operand { 1 } else { -1 };
            }
        }
    }
    balance > 0
}

/// The positions of a vertex's neighbours above and below, in order.
fn sorted_ends(graph: &Layered, positions: &[usize], vertex: usize) -> [Vec<usize>; 2] {
    let mut above: Vec<_> = graph.above[vertex].iter().map(|&link| positions[graph.links[link].upper]).collect();
    let mut below: Vec<_> = graph.below[vertex].iter().map(|&link| positions[graph.links[link].lower]).collect();
    above.sort_unstable();
    below.sort_unstable();
    [above, below]
}

/// Pairs of which the member of `left` lies right of the member of `right`; both are sorted.
fn inversions(left: &[usize], right: &[usize]) -> usize {
    let mut smaller = 0;
    let mut count = 0;
    for &position in left {
        while smaller < right.len() && right[smaller] < position {
            smaller += 1;
        }
        count += smaller;
    }
    count
}

/// The number of crossings of links.
pub(super) fn crossings(graph: &Layered) -> u64 {
    let positions = graph.positions();
    let widest = graph.layers.iter().map(Vec::len).max().unwrap_or(0);
    let mut counts = vec![0_u64; widest + 1];
    let mut total = 0;
    for layer in graph.layers.iter().skip(1) {
        counts.fill(0);
        let mut passed = 0_u64;
        for &upper in layer {
            let mut ends: Vec<usize> =
                graph.below[upper].iter().map(|&link| positions[graph.links[link].lower]).collect();
            ends.sort_unstable();
            // All links so far start further left; those that end further right are crossed. Equal starts do not cross.
            total += ends.iter().map(|&end| passed - prefix_sum(&counts, end + 1)).sum::<u64>();
            ends.iter().for_each(|&end| increment(&mut counts, end + 1));
            passed += ends.len() as u64;
        }
    }
    total
}

// A Fenwick tree: counts by position, with sums of a prefix in logarithmic time.
fn increment(counts: &mut [u64], mut index: usize) {
    while index < counts.len() {
        counts[index] += 1;
        index += index & index.wrapping_neg();
    }
}

fn prefix_sum(counts: &[u64], mut index: usize) -> u64 {
    let mut sum = 0;
    while index > 0 {
        sum += counts[index];
        index &= index - 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::layers;
    use super::super::scene::Scene;
    use super::super::{Figure, Options};
    use super::*;
    use crate::load::load_text;
    use crate::vocabulary::Vocabulary;

    fn graphs(text: &str) -> Vec<Layered> {
        let rule_set = load_text("t", text, Vocabulary::open()).rule_set;
        layers::build(&Scene::new(&Figure::of_rules(&rule_set), &Options::default()))
    }

    fn crossings_by_pairs(graph: &Layered) -> u64 {
        let at = graph.positions();
        let crossed = |a: usize, b: usize| {
            let (a, b) = (graph.links[a], graph.links[b]);
            graph.vertices[a.upper].layer == graph.vertices[b.upper].layer
                && (at[a.upper] < at[b.upper] && at[a.lower] > at[b.lower])
        };
        let pairs = (0..graph.links.len()).flat_map(|a| (0..graph.links.len()).map(move |b| (a, b)));
        pairs.filter(|&(a, b)| crossed(a, b)).count() as u64
    }

    #[test]
    fn crossings_are_counted_and_never_get_more() {
        let text = "r1: a & b & !c => d | e\nr2: c => a\nr3: (d | e) <=> (b & f)\nr4: !f & e & a\nr5: f => !(c & e)\n";
        for mut graph in graphs(text) {
            let before = crossings(&graph);
            assert_eq!(before, crossings_by_pairs(&graph));
            let after = reduce_crossings(&mut graph);
            assert_eq!((after, after), (crossings(&graph), crossings_by_pairs(&graph)));
            assert!(after <= before);
        }
    }

    #[test]
    fn what_can_be_drawn_flat_is() {
        let mut parts = graphs("r1: m & z\nr2: a & m\nr3: d => e");
        assert_eq!(parts.iter().map(crossings).collect::<Vec<_>>(), [1, 0], "as written");
        assert!(parts.iter_mut().all(|graph| reduce_crossings(graph) == 0));
        assert!(parts.iter().all(|graph| crossings(graph) == 0));
    }
}

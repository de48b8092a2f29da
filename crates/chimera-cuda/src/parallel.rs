//! Work of the host that is shared between processors, and cut into pieces that do not take all of its memory.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::layout::Places;

/// Numbers of gates that the host holds at a time while they go to a device or come back: a gigabyte.
const HELD: usize = 1 << 28;

/// Gates in their order, cut where the numbers of a piece would be more than the host holds. A gate is never cut.
pub(crate) fn pieces(places: &[Places]) -> Vec<Range<usize>> {
    cut(places, HELD)
}

fn cut(places: &[Places], most: usize) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        match pieces.last_mut() {
            Some(piece) if place.end - places[piece.start].first <= most => piece.end = number + 1,
            _ => pieces.push(number..number + 1),
        }
    }
    pieces
}

/// Independent pieces of work on so many threads, with results in the order of the pieces.
pub(crate) fn side_by_side<T: Send>(threads: NonZeroUsize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.get().min(count.max(1));
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

#[cfg(test)]
mod tests {
    use chimera_gate::gate::Shape;

    use super::*;
    use crate::layout::Sizes;

    #[test]
    fn gates_are_cut_between_and_none_is_left_out() {
        let sizes = Sizes::of(Shape { arity: 2, features: 3, hidden: 5 });
        let size = sizes.places(0).end;
        let places: Vec<Places> = (0..7).map(|number| sizes.places(number * size)).collect();
        assert_eq!(cut(&places, 3 * size), [0..3, 3..6, 6..7]);
        assert_eq!(cut(&places, 3 * size - 1), [0..2, 2..4, 4..6, 6..7]);
        // One gate is more than the host is to hold: it goes alone.
        assert_eq!(cut(&places[..2], 1), [0..1, 1..2]);
        let whole: Vec<Range<usize>> = std::iter::once(0..7).collect();
        assert_eq!(pieces(&places), whole);
        assert!(pieces(&[]).is_empty());
    }

    #[test]
    fn results_have_the_order_of_pieces() {
        assert_eq!(
            side_by_side(NonZeroUsize::MIN.saturating_add(2), 100, |number| number * number),
            (0..100).map(|number| number * number).collect::<Vec<_>>()
        );
        assert!(side_by_side(NonZeroUsize::MIN, 0, |number| number).is_empty());
    }
}

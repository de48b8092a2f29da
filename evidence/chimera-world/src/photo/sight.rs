//! What can be seen of things: which thing, and which part of it, is in front at every place of a picture.

use super::canvas::{Band, Pose, sweep};
use super::figure::Figure;
use super::scene::Placed;

/// What is in front somewhere: a thing, and one of its parts.
type Front = Option<(usize, Option<usize>)>;

/// Pixels that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// How many.
    pub(super) pixels: usize,
    /// The first and the last column and row.
    pub(super) columns: [usize; 2],
    pub(super) rows: [usize; 2],
}

/// What is seen of a thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    /// The thing, and of each of its parts what nothing lies over; `None` where nothing is seen.
    pub(super) whole: Option<Seen>,
    pub(super) parts: Vec<Option<Seen>>,
    /// How many pixels of the picture it would fill alone.
    pub(super) alone: usize,
}

impl Sight {
    /// What is seen of each thing in a picture of so many pixels: things from back to front, and what stands before all of
    /// them.
    pub(super) fn of(things: &[Placed], before: &Figure, size: (usize, usize)) -> Vec<Self> {
        let band = Band::whole(size);
        let mut front: Vec<Front> = vec![None; size.0 * size.1];
        let mut sights = Vec::with_capacity(things.len());
        for (number, thing) in things.iter().enumerate() {
            let mut sight = Self { parts: vec![None; thing.figure.parts.len()], ..Self::default() };
            for stroke in &thing.figure.strokes {
                sweep(&stroke.shape, &thing.pose, &band, |pixel, _, touch| {
                    if touch.distance < 0.0 {
                        sight.alone += usize::from(front[pixel].is_none_or(|(other, _)| other != number));
                        front[pixel] = Some((number, stroke.part));
                    }
                });
            }
            sights.push(sight);
        }
        for stroke in &before.strokes {
            sweep(&stroke.shape, &Pose::FRAME, &band, |pixel, _, touch| {
                if touch.distance < 0.0 {
                    front[pixel] = None;
                }
            });
        }
        for (pixel, front) in front.into_iter().enumerate() {
            let Some((number, part)) = front else { continue };
            let (sight, place) = (&mut sights[number], (pixel % size.0, pixel / size.0));
            Seen::add(&mut sight.whole, place);
            if let Some(part) = part {
                Seen::add(&mut sight.parts[part], place);
            }
        }
        sights
    }
}

impl Seen {
    fn add(seen: &mut Option<Self>, (column, row): (usize, usize)) {
        let seen = seen.get_or_insert(Self { pixels: 0, columns: [column; 2], rows: [row; 2] });
        let wider = |[first, last]: [usize; 2], at: usize| [first.min(at), last.max(at)];
        (seen.columns, seen.rows) = (wider(seen.columns, column), wider(seen.rows, row));
        seen.pixels += 1;
    }
}

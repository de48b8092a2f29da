//! What holds between two in a frame: VidOR's words, each with one definition over places, headings and velocities.

use std::ops::Range;

use super::walk::{Being, Moment};

/// Who is at most so many metres from another is beside it, before it or behind it.
const CLOSE: f32 = 0.9;

/// Who is at most so many metres away can be watched, run after or run from.
const SIGHT: f32 = 5.0;

/// Before, behind and beside are quarters of the circle around somebody.
const QUARTER: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// The cosine of how far from straight towards somebody one may go, 25 degrees.
const STRAIGHT: f32 = 0.906_307_8;

/// The cosine of how far from straight at somebody one may look, 15 degrees.
const GAZE: f32 = 0.965_925_8;

/// What may hold between two, by VidOR's word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Predicate {
    /// Close, in the quarter that the other faces.
    InFrontOf,
    /// Close, in the quarter behind the other's back.
    Behind,
    /// Close, at one of the other's sides.
    NextTo,
    /// Goes straight to the other.
    Towards,
    /// Goes straight from the other.
    Away,
    /// A living one goes towards another that goes away from it.
    Chase,
    /// A living one stands and looks straight at the other.
    Watch,
    /// Over the other, at least as high as its top.
    Above,
    /// The other is above.
    Beneath,
}

impl Predicate {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::InFrontOf,
        Self::Behind,
        Self::NextTo,
        Self::Towards,
        Self::Away,
        Self::Chase,
        Self::Watch,
        Self::Above,
        Self::Beneath,
    ];

    /// As it is written in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InFrontOf => "in_front_of",
            Self::Behind => "behind",
            Self::NextTo => "next_to",
            Self::Towards => "towards",
            Self::Away => "away",
            Self::Chase => "chase",
            Self::Watch => "watch",
            Self::Above => "above",
            Self::Beneath => "beneath",
        }
    }

    /// The one of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|predicate| predicate.name() == name)
    }
}

/// Somebody in a frame, with who it is.
type Seen<'a> = (&'a Being, &'a Moment);

/// Which predicates hold of one and another in a frame, in the order of [`Predicate::ALL`].
fn holding((one, here): Seen<'_>, (other, there): Seen<'_>) -> [bool; 9] {
    let way = there.place - here.place;
    let distance = way.length();
    let touch = one.reach() + other.reach();
    // How much of a direction points from one to the other, from -1 to 1; nothing where both are at one place.
    let along = |direction: glam::Vec2, way: glam::Vec2| direction.dot(way) / (direction.length() * distance).max(1e-6);
    let over = |upper: Seen<'_>, lower: Seen<'_>| distance < touch && upper.1.lift >= lower.1.lift + lower.0.top();
    let (above, beneath) = (over((one, here), (other, there)), over((other, there), (one, here)));
    let overlaps = here.lift < there.lift + other.top() && there.lift < here.lift + one.top();
    let close = overlaps && distance - touch < CLOSE;
    let before = along(there.heading, -way);
    let in_sight = distance < SIGHT;
    let towards = in_sight && here.moves() && along(here.velocity, way) > STRAIGHT;
    let flees = in_sight && there.moves() && along(there.velocity, way) > STRAIGHT;
    let lives = one.category.nature().lives;
    [
        close && before > QUARTER,
        close && before < -QUARTER,
        close && before.abs() <= QUARTER,
        towards,
        in_sight && here.moves() && along(here.velocity, -way) > STRAIGHT,
        lives && towards && flees,
        lives && in_sight && !here.moves() && along(here.heading, way) > GAZE,
        above,
        beneath,
    ]
}

/// Something that holds between two for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Who.
    pub subject: usize,
    /// Does what.
    pub predicate: Predicate,
    /// To whom.
    pub object: usize,
    /// From the first frame to before the last.
    pub frames: Range<u32>,
}

/// Everything that holds, each for as long as it holds without a break while both are seen.
pub(super) fn relations(beings: &[Being], walks: &[Vec<Moment>], there: &[Vec<bool>]) -> Vec<Relation> {
    let mut found = Vec::new();
    for subject in 0..beings.len() {
        for object in (0..beings.len()).filter(|object| *object != subject) {
            let mut since: [Option<u32>; 9] = [None; 9];
            // Nothing holds after the last frame.
            for (frame, shown) in walks.iter().zip(there).map(Some).chain([None]).enumerate() {
                let seen = shown.filter(|(_, there)| there[subject] && there[object]);
                let holds = seen.map_or([false; 9], |(moments, _)| {
                    holding((&beings[subject], &moments[subject]), (&beings[object], &moments[object]))
                });
                for (since, (holds, predicate)) in since.iter_mut().zip(holds.into_iter().zip(Predicate::ALL)) {
                    match (*since, holds) {
                        (None, true) => *since = Some(frame as u32),
                        (Some(begin), false) => {
                            found.push(Relation { subject, predicate, object, frames: begin..frame as u32 });
                            *since = None;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

//! Where things go: mostly apart from each other, larger where they are nearer, and hardly over the border of the picture.

use fastrand::Rng;
use glam::Vec2;

use super::canvas::{Pose, WIDE};
use super::class::Class;
use super::figure::{Figure, within};
use super::figures::{Home, measure};
use super::scene::Placed;

/// How often a place that is not taken yet is looked for.
const TRIES: usize = 16;

/// How much of a thing may lie over or under another at once.
const SHARED: f32 = 0.3;

/// How much of it must be inside the picture.
const INSIDE: f32 = 0.75;

/// What is further up is further back; what flies is before what stands behind it.
pub(super) fn depth(placed: &Placed) -> f32 {
    match measure(placed.thing.class).0 {
        Home::Back => placed.pose.at.y - 2.0,
        Home::Sky => -1.0,
        Home::Ground => placed.pose.at.y,
    }
}

/// A pose in which a figure is mostly apart from those that have theirs.
pub(super) fn free_pose(
    random: &mut Rng,
    class: Class,
    figure: &Figure,
    horizon: f32,
    placed: &[Placed],
) -> Option<Pose> {
    let (home, unit) = measure(class);
    let bounds = figure.bounds();
    for _ in 0..TRIES {
        let (down, near, turn) = match home {
            Home::Back => (horizon + within(random, 0.02..0.2), 1.0, 0.0),
            Home::Ground => {
                let near = random.f32();
                (horizon + 0.1 + (0.86 - horizon) * near, 0.78 + 0.4 * near, within(random, -0.05..0.05))
            }
            Home::Sky => (within(random, 0.12..horizon), 1.0, within(random, -0.3..0.3)),
        };
        let size = unit * near * within(random, 0.85..1.15);
        let at = Vec2::new(WIDE * random.f32(), down);
        // Signs are for reading.
        let is_mirrored = random.bool() && !class.is(Class::TrafficSign);
        let mut pose = Pose { at, size, is_mirrored, turn };
        if home == Home::Sky {
            // Its middle, not its foot, is in the sky.
            pose.at.y += 0.5 * size * (bounds[0].y + bounds[1].y);
        }
        let room = pose.outside(bounds);
        let inside = area([room[0].max(Vec2::ZERO), room[1].min(Vec2::new(WIDE, 1.0))]);
        let apart = placed.iter().all(|other| {
            let others = other.pose.outside(other.figure.bounds());
            let shared = area([room[0].max(others[0]), room[1].min(others[1])]);
            shared <= SHARED * area(room).min(area(others))
        });
        if apart && inside > INSIDE * area(room) {
            return Some(pose);
        }
    }
    None
}

fn area([low, high]: [Vec2; 2]) -> f32 {
    let sides = (high - low).max(Vec2::ZERO);
    sides.x * sides.y
}

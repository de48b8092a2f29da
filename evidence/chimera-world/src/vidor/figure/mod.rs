//! What they look like: each a sketch of plain outlines that can be told from all others, in colours and poses of its own.

mod animals;
mod people;
mod things;

use fastrand::Rng;
use glam::Vec2;

use super::cast::Category;
use super::walk::Moment;
use crate::brush::{Outline, Rgb, mixed};

/// Colours of one of a kind, and which of its ways to look it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// From the largest part to the smallest.
    colors: [Rgb; 4],
    /// A number from 0 to 1 that decides the rest.
    way: f32,
}

impl Look {
    /// A look by chance.
    pub(super) fn drawn(random: &mut Rng, category: Category) -> Self {
        let colors = match category {
            Category::Adult => people::adult_colors(random),
            Category::Child => people::child_colors(random),
            Category::Baby => people::baby_colors(random),
            Category::Dog => animals::dog_colors(random),
            Category::Cat => animals::cat_colors(random),
            Category::Horse => animals::horse_colors(random),
            Category::Bird => animals::bird_colors(random),
            _ => things::colors(random, category),
        };
        Self { colors, way: random.f32() }
    }
}

/// From where somebody is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aspect {
    /// From the side; its face is to the right, or mirrored.
    Side {
        /// Whether its face is to the left.
        mirrored: bool,
    },
    /// Its face is to the camera.
    Front,
    /// Its back is.
    Back,
}

impl Aspect {
    /// From where a heading is seen.
    pub(super) fn of(heading: Vec2) -> Self {
        if heading.x.abs() > 0.5 {
            Self::Side { mirrored: heading.x < 0.0 }
        } else if heading.y < 0.0 {
            Self::Front
        } else {
            Self::Back
        }
    }
}

/// How somebody is seen in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pose {
    aspect: Aspect,
    /// A swing from -1 to 1 and back, as steps are made.
    swing: f32,
    /// Whether it goes anywhere.
    moves: bool,
    /// How far it has gone, in its own heights.
    way: f32,
}

/// A filled outline.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its shape, in metres from the middle of the feet: forward and up.
    pub(super) outline: Outline,
    /// Its colour.
    pub(super) ink: Rgb,
}

/// Parts from the farthest to the nearest.
#[derive(Debug, Default)]
struct Sketch(Vec<Part>);

impl Sketch {
    fn add(&mut self, outline: Outline, ink: Rgb) {
        self.0.push(Part { outline, ink });
    }

    fn limb(&mut self, from: [f32; 2], to: [f32; 2], radii: [f32; 2], ink: Rgb) {
        self.add(Outline::limb(from, to, radii), ink);
    }

    fn disc(&mut self, center: [f32; 2], radius: f32, ink: Rgb) {
        self.add(Outline::disc(center, radius), ink);
    }

    fn ellipse(&mut self, center: [f32; 2], radii: [f32; 2], ink: Rgb) {
        self.add(Outline::ellipse(center, radii, 0.0), ink);
    }

    fn polygon(&mut self, points: &[[f32; 2]], ink: Rgb) {
        self.add(Outline::polygon(points), ink);
    }
}

/// The parts of somebody in a frame, from the farthest to the nearest, facing right where it is seen from the side.
pub(super) fn parts(category: Category, look: &Look, moment: &Moment) -> (Vec<Part>, Aspect) {
    let nature = category.nature();
    let way = moment.way / nature.height;
    // A step is about half as long as one is high.
    let swing = if moment.moves() { (std::f32::consts::TAU * way).sin() } else { 0.0 };
    let aspect = Aspect::of(moment.heading);
    let pose = Pose { aspect, swing, moves: moment.moves(), way };
    let mut sketch = Sketch::default();
    match category {
        Category::Adult => people::adult(&mut sketch, look, pose),
        Category::Child => people::child(&mut sketch, look, pose),
        Category::Baby => people::baby(&mut sketch, look, pose),
        Category::Dog => animals::dog(&mut sketch, look, pose),
        Category::Cat => animals::cat(&mut sketch, look, pose),
        Category::Horse => animals::horse(&mut sketch, look, pose),
        Category::Bird => animals::bird(&mut sketch, look, pose),
        Category::Ball => things::ball(&mut sketch, look, pose),
        Category::Toy => things::toy(&mut sketch, look),
        Category::Chair => things::chair(&mut sketch, look, pose),
        Category::Bicycle => things::bicycle(&mut sketch, look, pose),
        Category::Car => things::car(&mut sketch, look, pose),
    }
    (sketch.0, aspect)
}

/// A colour in the shade: of what is on the far side.
fn shaded(ink: Rgb) -> Rgb {
    mixed(ink, [0, 0, 0], 0.25)
}

/// A lighter colour.
fn pale(ink: Rgb) -> Rgb {
    mixed(ink, [255, 255, 255], 0.45)
}

/// One of some colours, a little lighter or darker.
fn one_of(random: &mut Rng, list: &[Rgb]) -> Rgb {
    let ink = list[random.usize(..list.len())];
    mixed(ink, if random.bool() { [255; 3] } else { [0; 3] }, 0.15 * random.f32())
}

const DARK: Rgb = [28, 26, 30];
const WHITE: Rgb = [245, 244, 240];

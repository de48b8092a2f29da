//! A figure: shapes in their colours, in the order in which they are painted, some of which belong to a part that has a
//! name.

use fastrand::Rng;
use glam::{Vec2, Vec3};

use super::class::Class;
use super::shape::Shape;
use crate::paint::linear;

/// A colour as bytes of sRGB.
pub(super) type Rgb = [u8; 3];

/// What a shape is filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fill {
    /// Linear light.
    pub(super) color: Vec3,
    /// How coarse it looks, from 0 to 1.
    pub(super) grain: f32,
    /// How much of what is behind is covered, from 0 to 1.
    pub(super) cover: f32,
}

impl From<Rgb> for Fill {
    fn from(color: Rgb) -> Self {
        Self { color: linear(color), grain: 0.06, cover: 1.0 }
    }
}

impl Fill {
    /// Fur, leaves, stone.
    pub(super) fn coarse(color: Rgb, grain: f32) -> Self {
        Self { grain, ..Self::from(color) }
    }

    /// Glass, mist.
    pub(super) fn thin(color: Rgb, cover: f32) -> Self {
        Self { cover, ..Self::from(color) }
    }
}

/// A shape that is painted.
#[derive(Clone, Debug)]
pub(super) struct Stroke {
    pub(super) shape: Shape,
    pub(super) fill: Fill,
    /// The number of the part that it belongs to.
    pub(super) part: Option<usize>,
}

/// A part with a name, or something worn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub class: Class,
    /// Whether it is many at once, such as the windows of a skyscraper.
    pub is_group: bool,
}

/// Shapes in the order in which they are painted. The ground is at height 0, and a unit is what the figure is measured
/// in.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    pub(super) strokes: Vec<Stroke>,
    pub(super) parts: Vec<Part>,
    /// The part that is being drawn.
    open: Option<usize>,
}

impl Figure {
    fn add(&mut self, shape: Shape, fill: impl Into<Fill>) {
        self.strokes.push(Stroke { shape, fill: fill.into(), part: self.open });
    }

    /// An ellipse.
    pub(super) fn oval(&mut self, center: [f32; 2], radii: [f32; 2], fill: impl Into<Fill>) {
        self.tilted(center, radii, 0.0, fill);
    }

    /// An ellipse, turned against the clock.
    pub(super) fn tilted(&mut self, center: [f32; 2], radii: [f32; 2], angle: f32, fill: impl Into<Fill>) {
        self.add(Shape::Oval { center: center.into(), radii: radii.into(), turn: Vec2::from_angle(angle) }, fill);
    }

    /// A circle.
    pub(super) fn disc(&mut self, center: [f32; 2], radius: f32, fill: impl Into<Fill>) {
        self.oval(center, [radius; 2], fill);
    }

    /// A stick with round ends of two widths.
    pub(super) fn limb(&mut self, from: [f32; 2], to: [f32; 2], radii: [f32; 2], fill: impl Into<Fill>) {
        self.add(Shape::Limb { ends: [from.into(), to.into()], radii }, fill);
    }

    /// A stick.
    pub(super) fn line(&mut self, from: [f32; 2], to: [f32; 2], radius: f32, fill: impl Into<Fill>) {
        self.limb(from, to, [radius; 2], fill);
    }

    /// Sticks from point to point.
    pub(super) fn path(&mut self, points: &[[f32; 2]], radius: f32, fill: impl Into<Fill>) {
        let fill = fill.into();
        points.windows(2).for_each(|pair| self.line(pair[0], pair[1], radius, fill));
    }

    /// What lies between corners, and so much around it.
    pub(super) fn area(&mut self, corners: &[[f32; 2]], round: f32, fill: impl Into<Fill>) {
        self.add(Shape::Area { corners: corners.iter().copied().map(Vec2::from).collect(), round }, fill);
    }

    /// A rectangle from its lower left to its upper right corner.
    pub(super) fn slab(&mut self, [left, low]: [f32; 2], [right, high]: [f32; 2], fill: impl Into<Fill>) {
        self.area(&[[left, low], [right, low], [right, high], [left, high]], 0.0, fill);
    }

    /// A circle of so much width.
    pub(super) fn ring(&mut self, center: [f32; 2], radius: f32, width: f32, fill: impl Into<Fill>) {
        self.add(Shape::Ring { center: center.into(), radius, half: width / 2.0 }, fill);
    }

    /// What is drawn by this is a part with a name.
    pub(super) fn part(&mut self, class: Class, draw: impl FnOnce(&mut Self)) {
        self.open_part(Part { class, is_group: false }, draw);
    }

    /// What is drawn by this is many parts, too many to tell one by one.
    pub(super) fn group(&mut self, class: Class, draw: impl FnOnce(&mut Self)) {
        self.open_part(Part { class, is_group: true }, draw);
    }

    fn open_part(&mut self, part: Part, draw: impl FnOnce(&mut Self)) {
        let before = self.open.replace(self.parts.len());
        self.parts.push(part);
        draw(self);
        self.open = before;
    }

    /// The lowest and the highest corner of what holds it.
    pub(super) fn bounds(&self) -> [Vec2; 2] {
        let all = self.strokes.iter().map(|stroke| stroke.shape.bounds());
        all.fold([Vec2::INFINITY, Vec2::NEG_INFINITY], |[low, high], [bottom, top]| [low.min(bottom), high.max(top)])
    }
}

/// A number of a range.
pub(super) fn within(random: &mut Rng, range: std::ops::Range<f32>) -> f32 {
    range.start + (range.end - range.start) * random.f32()
}

/// A colour that is a little different each time.
pub(super) fn about(random: &mut Rng, color: Rgb) -> Rgb {
    let level = within(random, 0.85..1.12);
    color.map(|byte| (f32::from(byte) * level + within(random, -8.0..8.0)).clamp(0.0, 255.0) as u8)
}

/// A colour, lighter or darker.
pub(super) fn times(color: Rgb, factor: f32) -> Rgb {
    color.map(|byte| (f32::from(byte) * factor).clamp(0.0, 255.0) as u8)
}

/// Any strong colour.
pub(super) fn any_color(random: &mut Rng) -> Rgb {
    let color = crate::kinds::one_of(
        random,
        &[
            [196, 40, 36],
            [40, 84, 180],
            [36, 132, 60],
            [228, 186, 40],
            [222, 120, 32],
            [120, 52, 150],
            [52, 160, 170],
            [220, 96, 150],
            [236, 232, 224],
            [44, 44, 50],
            [128, 128, 132],
            [124, 84, 48],
        ],
    );
    about(random, color)
}

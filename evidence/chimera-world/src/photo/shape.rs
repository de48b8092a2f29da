//! Flat shapes that know how far away their border is, so that they can be painted with smooth edges at any size.

use glam::Vec2;

/// A shape in a figure's own measure; up is up.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// An ellipse, turned by an angle.
    Oval { center: Vec2, radii: Vec2, turn: Vec2 },
    /// A stick with round ends, which may be of two widths.
    Limb { ends: [Vec2; 2], radii: [f32; 2] },
    /// What lies between corners, and so much around it.
    Area { corners: Vec<Vec2>, round: f32 },
    /// A circle of so much width.
    Ring { center: Vec2, radius: f32, half: f32 },
}

/// A point seen from a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// How far outside; negative inside.
    pub(super) distance: f32,
    /// Where its surface faces there, were it round: from nothing in the middle to length 1 at the border.
    pub(super) facing: Vec2,
}

impl Shape {
    /// A point seen from it.
    pub(super) fn touch(&self, point: Vec2) -> Touch {
        match self {
            Self::Oval { center, radii, turn } => {
                let inside = (point - center).rotate(Vec2::new(turn.x, -turn.y));
                let scaled = inside / radii;
                let (far, steep) = (scaled.length(), (scaled / radii).length());
                // To first order at the border, where it matters.
                let distance = if steep > 1e-6 { far * (far - 1.0) / steep } else { -radii.min_element() };
                Touch { distance, facing: scaled.rotate(*turn).clamp_length_max(1.0) }
            }
            Self::Limb { ends: [from, to], radii: [start, end] } => {
                let (way, along) = (*to - *from, point - *from);
                let share = (along.dot(way) / way.length_squared().max(1e-9)).clamp(0.0, 1.0);
                let (aside, radius) = (along - way * share, start + (end - start) * share);
                Touch { distance: aside.length() - radius, facing: (aside / radius).clamp_length_max(1.0) }
            }
            Self::Area { corners, round } => {
                let [low, high] = self.bounds();
                let facing = (point - (low + high) * 0.5) / (high - low).max(Vec2::splat(1e-6));
                Touch { distance: to_corners(corners, point) - round, facing: facing.clamp_length_max(1.0) }
            }
            Self::Ring { center, radius, half } => {
                let aside = point - center;
                let off = aside.length() - radius;
                let facing = aside.normalize_or_zero() * (off / half).clamp(-1.0, 1.0);
                Touch { distance: off.abs() - half, facing }
            }
        }
    }

    /// The lowest and the highest corner of what holds it.
    pub(super) fn bounds(&self) -> [Vec2; 2] {
        match self {
            Self::Oval { center, radii, turn } => {
                let half = Vec2::new(
                    Vec2::new(radii.x * turn.x, radii.y * turn.y).length(),
                    Vec2::new(radii.x * turn.y, radii.y * turn.x).length(),
                );
                [*center - half, *center + half]
            }
            Self::Limb { ends: [from, to], radii: [start, end] } => {
                [from.min(*to) - start.max(*end), from.max(*to) + start.max(*end)]
            }
            Self::Area { corners, round } => {
                let low = corners.iter().fold(Vec2::INFINITY, |low, corner| low.min(*corner));
                let high = corners.iter().fold(Vec2::NEG_INFINITY, |high, corner| high.max(*corner));
                [low - *round, high + *round]
            }
            Self::Ring { center, radius, half } => [*center - (radius + half), *center + (radius + half)],
        }
    }
}

/// The distance to a polygon, negative inside (the crossing rule).
fn to_corners(corners: &[Vec2], point: Vec2) -> f32 {
    let (mut nearest, mut is_inside) = (f32::INFINITY, false);
    let mut before = corners[corners.len() - 1];
    for &corner in corners {
        let (edge, along) = (before - corner, point - corner);
        let share = (along.dot(edge) / edge.length_squared().max(1e-12)).clamp(0.0, 1.0);
        nearest = nearest.min((along - edge * share).length_squared());
        if (corner.y > point.y) != (before.y > point.y)
            && point.x < (before.x - corner.x) * (point.y - corner.y) / (before.y - corner.y) + corner.x
        {
            is_inside = !is_inside;
        }
        before = corner;
    }
    nearest.sqrt() * if is_inside { -1.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_their_closed_forms() {
        let near = |shape: &Shape, [x, y]: [f32; 2], expected: f32| {
            let got = shape.touch(Vec2::new(x, y)).distance;
            assert!((got - expected).abs() < 1e-5, "{shape:?} {x} {y}: {got}");
        };
        let square =
            Shape::Area { corners: [[0., 0.], [2., 0.], [2., 2.], [0., 2.]].map(Vec2::from).into(), round: 0.5 };
        near(&square, [1.0, 1.0], -1.5);
        near(&square, [3.0, 1.0], 0.5);
        near(&square, [5.0, 6.0], 4.5);
        let circle = Shape::Oval { center: Vec2::X, radii: Vec2::splat(2.0), turn: Vec2::from_angle(0.7) };
        near(&circle, [4.0, 0.0], 1.0);
        near(&circle, [3.0, 0.0], 0.0);
        let limb = Shape::Limb { ends: [Vec2::ZERO, Vec2::new(2.0, 0.0)], radii: [0.5, 0.25] };
        near(&limb, [1.0, 1.0], 1.0 - 0.375);
        near(&limb, [-1.0, 0.0], 0.5);
        let ring = Shape::Ring { center: Vec2::ZERO, radius: 2.0, half: 0.5 };
        near(&ring, [0.0, 0.0], 1.5);
        near(&ring, [0.0, 2.25], -0.25);
    }

    /// No point of a shape lies outside its bounds, and bounds are touched on all four sides.
    #[test]
    fn bounds_hold_shapes_tightly() {
        let turn = Vec2::from_angle(0.5);
        let shapes = [
            Shape::Oval { center: Vec2::new(0.1, 0.2), radii: Vec2::new(0.7, 0.2), turn },
            Shape::Limb { ends: [Vec2::new(-0.5, 0.3), Vec2::new(0.4, -0.2)], radii: [0.2, 0.2] },
            Shape::Area { corners: [[-0.5, -0.5], [0.6, -0.1], [0.0, 0.7]].map(Vec2::from).into(), round: 0.1 },
            Shape::Ring { center: Vec2::ZERO, radius: 0.6, half: 0.1 },
        ];
        for shape in &shapes {
            let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
            for point in (0..400 * 400).map(|at| Vec2::new((at % 400) as f32, (at / 400) as f32) / 200.0 - 1.0) {
                if shape.touch(point).distance < 0.0 {
                    (low, high) = (low.min(point), high.max(point));
                }
            }
            let [bottom, top] = shape.bounds();
            assert!(low.distance(bottom) < 0.02 && high.distance(top) < 0.02, "{shape:?} {low} {high}");
        }
    }
}

//! From the ground to the picture: what is nearer is larger, lower, and before what is farther.

use fastrand::Rng;
use glam::Vec2;

/// Width and height of the view, in heights of it. Pictures of another shape show the same, squeezed.
pub(super) const EXTENT: Vec2 = Vec2::new(1.5, 1.0);

/// Depths at which somebody can stand, in metres from the camera.
pub(super) const DEPTHS: std::ops::Range<f32> = 3.4..7.2;

/// A camera that looks over the ground, a little differently each time. Places on the ground are metres to the right of its middle
/// and metres away from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lens {
    /// Heights of the view that a metre takes at a distance of a metre.
    focal: f32,
    /// How high the camera is, in metres.
    height: f32,
    /// Where the ground ends in the picture, from above.
    pub(super) horizon: f32,
}

impl Lens {
    /// A lens by chance.
    pub(super) fn drawn(random: &mut Rng) -> Self {
        let mut around = |middle: f32, width: f32| middle + width * (2.0 * random.f32() - 1.0);
        Self { focal: around(1.15, 0.06), height: around(2.3, 0.1), horizon: around(0.13, 0.02) }
    }

    /// Heights of the view that a metre takes at a depth.
    pub(super) fn scale(&self, depth: f32) -> f32 {
        self.focal / depth
    }

    /// Where a place on the ground, or so many metres above it, is seen.
    pub(super) fn seen(&self, place: Vec2, lift: f32) -> Vec2 {
        let scale = self.scale(place.y);
        Vec2::new(0.5 * EXTENT.x + scale * place.x, self.horizon + scale * (self.height - lift))
    }

    /// Metres from the middle to the edge of the picture at a depth.
    pub(super) fn half_width(&self, depth: f32) -> f32 {
        0.5 * EXTENT.x / self.scale(depth)
    }
}

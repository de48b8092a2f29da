//! What a camera sees: solids in their paint on the floor, and lamps.

use glam::Vec3;

use crate::camera::{Camera, Span};
use crate::paint::Paint;
use crate::solid::{Hit, Solid};

/// Everything that decides how a picture looks.
#[derive(Clone, Debug)]
pub struct View {
    /// From where.
    pub camera: Camera,
    /// What sheds light; the first casts the deepest shadows.
    pub lamps: [Lamp; 3],
    /// Light from everywhere.
    pub ambient: f32,
    /// What stands on the floor.
    pub solids: Vec<(Solid, Paint)>,
}

/// A round lamp that sheds light on all sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lamp {
    /// Where it is.
    pub position: Vec3,
    /// How large: this makes shadows soft.
    pub radius: f32,
    /// How bright, at a distance of 1.
    pub power: f32,
}

/// How much light falls on what, and from where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mood {
    /// Distance from the camera to the middle of the scene: lamps stand accordingly.
    pub distance: f32,
    /// Factors of the three lamps.
    pub power: [f32; 3],
    /// Where lamps are moved to, in distances.
    pub shift: [Vec3; 3],
}

/// Lamps as in CLEVR's studio: beside the camera, far to the left, and behind the scene. Position, seen from the middle of
/// the scene (away from the camera, right, up), radius and power; lengths are in distances of the camera.
const STUDIO: [([f32; 3], f32, f32); 3] =
    [([-0.55, 0.55, 0.85], 0.1, 0.72), ([-0.1, -1.1, 0.55], 0.14, 0.36), ([0.6, -0.1, 0.95], 0.12, 0.3)];

/// Light from everywhere.
const AMBIENT: f32 = 0.28;

impl View {
    /// Solids in a studio.
    #[must_use]
    pub fn new(camera: Camera, mood: &Mood, solids: Vec<(Solid, Paint)>) -> Self {
        let away = Vec3::new(camera.forward.x, camera.forward.y, 0.0).normalize();
        // What the camera looks at, on the floor.
        let middle = camera.position + camera.forward * mood.distance;
        let middle = Vec3::new(middle.x, middle.y, 0.0);
        let lamps = std::array::from_fn(|lamp| {
            let ([depth, across, height], radius, power) = STUDIO[lamp];
            let place = away * depth + camera.right * across + Vec3::Z * height + mood.shift[lamp];
            Lamp {
                position: middle + place * mood.distance,
                radius: radius * mood.distance,
                power: power * mood.power[lamp] * mood.distance * mood.distance,
            }
        });
        Self { camera, lamps, ambient: AMBIENT, solids }
    }

    /// The solid that a ray meets first, among those that are asked for.
    pub(crate) fn first(&self, origin: Vec3, direction: Vec3, among: u32) -> Option<(usize, Hit)> {
        let mut first: Option<(usize, Hit)> = None;
        each(among, |index| {
            if let Some(hit) = self.solids[index].0.hit(origin, direction)
                && first.is_none_or(|(_, nearest)| hit.distance < nearest.distance)
            {
                first = Some((index, hit));
            }
        });
        first
    }

    /// All solids.
    pub(crate) fn all(&self) -> u32 {
        u32::MAX.checked_shr(32 - self.solids.len() as u32).unwrap_or(0)
    }

    /// The part of the picture outside of which a solid cannot be seen.
    pub(crate) fn span(&self, index: usize) -> Span {
        let solid = &self.solids[index].0;
        self.camera.span(solid.center(), solid.reach())
    }
}

/// Calls with the numbers of the bits that are set, from the lowest.
pub(crate) fn each(mut bits: u32, mut call: impl FnMut(usize)) {
    while bits != 0 {
        call(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

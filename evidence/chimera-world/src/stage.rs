//! Where things stand and how they are looked at: the two studios, with a camera and lamps that are never quite the same.

use fastrand::Rng;
use glam::Vec3;

use crate::camera::Camera;
use crate::view::Mood;

/// A studio: a camera and how far it may be moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Studio {
    position: [f32; 3],
    yaw: f32,
    pitch: f32,
    /// Widths of the picture.
    focal: f32,
    /// From the camera to the middle of the scene.
    distance: f32,
    /// How far the camera may be moved, to all sides.
    shake: f32,
}

/// CLEVR's studio: the camera that explains the places in its scenes file best.
pub const CLEVR: Studio = Studio {
    position: [7.572, -6.541, 5.4],
    yaw: 2.429,
    pitch: 0.495,
    focal: 528.6 / 480.0,
    distance: 11.3,
    shake: 0.3,
};

/// CLEVRER's studio: the camera that explains where objects of its first video are seen.
pub const CLEVRER: Studio = Studio {
    position: [4.538, 0.0, 2.612],
    yaw: std::f32::consts::PI,
    pitch: 0.5226,
    focal: 551.0 / 480.0,
    distance: 5.2,
    shake: 0.08,
};

impl Studio {
    /// A camera, and light, that differ a little each time.
    #[must_use]
    pub fn set(&self, random: &mut Rng) -> (Camera, Mood) {
        let mut around = |width: f32| width * (2.0 * random.f32() - 1.0);
        let moved = Vec3::new(around(self.shake), around(self.shake), around(self.shake));
        let position = Vec3::from(self.position) + moved;
        // It goes on looking at the middle of the scene.
        let angle = self.shake / self.distance;
        let camera =
            Camera::new(position, self.yaw + 0.5 * around(angle), self.pitch + 0.5 * around(angle), self.focal);
        // All lamps are brighter or darker together, and each by itself.
        let level = 1.0 + around(0.22);
        let mood = Mood {
            distance: self.distance,
            power: std::array::from_fn(|_| level * (1.0 + around(0.12))),
            shift: std::array::from_fn(|_| Vec3::new(around(0.08), around(0.08), around(0.05))),
        };
        (camera, mood)
    }
}

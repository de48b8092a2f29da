//! `annotation_NNNNN.json` of CLEVRER, with every key in its own place: what is written is what CLEVRER writes.

use serde::{Deserialize, Serialize};

use super::look::{Color, Look, Material, Shape};

/// One video and everything that happens in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Annotation {
    /// Its number in the dataset.
    pub scene_index: u32,
    /// The video's file, without a folder.
    pub video_filename: String,
    /// How its objects look.
    pub object_property: Vec<ObjectProperty>,
    /// Where they are in each frame.
    pub motion_trajectory: Vec<MotionFrame>,
    /// Which of them collide.
    pub collision: Vec<AnnotatedCollision>,
}

/// How one object looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectProperty {
    /// The object's number in the video.
    pub object_id: u32,
    /// Its colour.
    pub color: Color,
    /// What it is made of.
    pub material: Material,
    /// Its shape.
    pub shape: Shape,
}

impl ObjectProperty {
    /// How it looks; CLEVRER knows no sizes.
    #[must_use]
    pub fn look(&self) -> Look {
        Look { color: self.color, material: self.material, shape: self.shape, size: None }
    }
}

/// All objects in one frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MotionFrame {
    /// The frame, from 0.
    pub frame_id: u32,
    /// The objects.
    pub objects: Vec<ObjectMotion>,
}

/// One object in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectMotion {
    /// The object's number in the video.
    pub object_id: u32,
    /// Where its middle is.
    pub location: [f64; 3],
    /// Euler angles.
    pub orientation: [f64; 3],
    /// Units a second.
    pub velocity: [f64; 3],
    /// Radians a second.
    pub angular_velocity: [f64; 3],
    /// Whether the camera sees it.
    pub inside_camera_view: bool,
}

/// Two objects that meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnotatedCollision {
    /// The two of them.
    pub object_ids: [u32; 2],
    /// When.
    pub frame_id: u32,
    /// Where.
    pub location: [f64; 3],
}

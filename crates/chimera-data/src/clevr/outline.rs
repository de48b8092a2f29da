//! The part of an annotation that labels depend on. Reading it alone passes over nine tenths of the file: places, speeds and
//! angles of every object in every frame.

use serde::Deserialize;

use super::annotation::Annotation;
use super::look::Look;

/// What labels need of `annotation_NNNNN.json`; every other key is passed over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Outline {
    /// The video's file.
    pub video_filename: String,
    /// How objects look.
    pub object_property: Vec<OutlineObject>,
    /// Who is seen in each frame.
    pub motion_trajectory: Vec<OutlineFrame>,
    /// Who meets whom, and when.
    pub collision: Vec<OutlineCollision>,
}

/// How one object looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct OutlineObject {
    /// The object's number in the video.
    pub object_id: u32,
    /// How it looks.
    #[serde(flatten)]
    pub look: Look,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OutlineFrame {
    /// The frame, from 0.
    pub frame_id: u32,
    /// The objects in it.
    pub objects: Vec<OutlineMotion>,
}

/// One object in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct OutlineMotion {
    /// The object's number in the video.
    pub object_id: u32,
    /// Whether the camera sees it.
    pub inside_camera_view: bool,
}

/// Two objects that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct OutlineCollision {
    /// The two of them.
    pub object_ids: [u32; 2],
    /// When.
    pub frame_id: u32,
}

impl From<&Annotation> for Outline {
    fn from(annotation: &Annotation) -> Self {
        let objects = annotation.object_property.iter();
        let frames = annotation.motion_trajectory.iter().map(|frame| OutlineFrame {
            frame_id: frame.frame_id,
            objects: frame
                .objects
                .iter()
                .map(|object| OutlineMotion {
                    object_id: object.object_id,
                    inside_camera_view: object.inside_camera_view,
                })
                .collect(),
        });
        let collisions = annotation.collision.iter();
        Self {
            video_filename: annotation.video_filename.clone(),
            object_property: objects
                .map(|object| OutlineObject { object_id: object.object_id, look: object.look() })
                .collect(),
            motion_trajectory: frames.collect(),
            collision: collisions
                .map(|met| OutlineCollision { object_ids: met.object_ids, frame_id: met.frame_id })
                .collect(),
        }
    }
}

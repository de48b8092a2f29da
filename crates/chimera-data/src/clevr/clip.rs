//! What happens in one video, checked: who is there, from when to when each is seen, who meets whom and when.

use std::collections::BTreeMap;

use super::annotation::Annotation;
use super::look::Look;
use super::outline::Outline;
use crate::error::{Error, Result};

/// What happens in one video.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clip {
    /// Frames of the video.
    pub frames: u32,
    /// Its objects.
    pub things: Vec<ClipThing>,
    /// Which of them collide.
    pub collisions: Vec<Collision>,
}

/// One object of a video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClipThing {
    /// How it looks.
    pub look: Look,
    /// The first and the last frame in which the camera sees it; `None` where it never does.
    pub seen: Option<(u32, u32)>,
}

impl ClipThing {
    /// The frame in which it comes into view, where it is not there from the start.
    #[must_use]
    pub fn entered(&self) -> Option<u32> {
        self.seen.map(|(first, _)| first).filter(|first| *first > 0)
    }
}

/// Two different objects that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Their positions among the clip's things.
    pub things: [usize; 2],
    /// When.
    pub frame: u32,
}

impl Clip {
    /// What an annotation says.
    ///
    /// # Errors
    /// [`Error::Input`] without a file's name for an annotation that contradicts itself: frames that are not numbered from 0
    /// in order, objects twice or unknown, a collision of an object with itself or after the last frame.
    pub fn of(annotation: &Annotation) -> Result<Self> {
        Self::of_outline(&Outline::from(annotation))
    }

    /// What the outline of an annotation says.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub(crate) fn of_outline(outline: &Outline) -> Result<Self> {
        let mut places = BTreeMap::new();
        let mut things = Vec::with_capacity(outline.object_property.len());
        for object in &outline.object_property {
            if places.insert(object.object_id, things.len()).is_some() {
                return wrong(format!("expected an object once, got `object_id` {} twice", object.object_id));
            }
            things.push(ClipThing { look: object.look, seen: None });
        }
        let place = |id: u32, list: &str, frame: u32| match places.get(&id) {
            Some(place) => Ok(*place),
            None => wrong(format!("expected objects of `object_property` in `{list}`, got {id} at frame {frame}")),
        };
        for (frame, motion) in (0_u32..).zip(&outline.motion_trajectory) {
            if motion.frame_id != frame {
                return wrong(format!(
                    "expected frame {frame} next in `motion_trajectory`, got `frame_id` {}",
                    motion.frame_id
                ));
            }
            let mut present: Vec<usize> = Vec::with_capacity(motion.objects.len());
            for object in &motion.objects {
                let place = place(object.object_id, "motion_trajectory", frame)?;
                if present.contains(&place) {
                    return wrong(format!("expected an object once in frame {frame}, got {} twice", object.object_id));
                }
                present.push(place);
                if object.inside_camera_view {
                    let first = things[place].seen.map_or(frame, |(first, _)| first);
                    things[place].seen = Some((first, frame));
                }
            }
        }
        let frames = u32::try_from(outline.motion_trajectory.len()).unwrap_or(u32::MAX);
        if frames == 0 {
            return wrong("expected frames in `motion_trajectory`, got none".to_owned());
        }
        let mut collisions = Vec::with_capacity(outline.collision.len());
        for collision in &outline.collision {
            let frame = collision.frame_id;
            let [one, other] = collision.object_ids;
            if frame >= frames {
                return wrong(format!(
                    "expected collisions before frame {frames}, the number of all, got one at {frame}"
                ));
            }
            let things = [place(one, "collision", frame)?, place(other, "collision", frame)?];
            if one == other {
                return wrong(format!("expected two objects in a collision, got {one} with itself at frame {frame}"));
            }
            collisions.push(Collision { things, frame });
        }
        Ok(Self { frames, things, collisions })
    }

    /// How its objects look.
    #[must_use]
    pub fn looks(&self) -> Vec<Look> {
        self.things.iter().map(|thing| thing.look).collect()
    }
}

fn wrong<T>(message: String) -> Result<T> {
    Err(Error::input(message, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clevr::annotation::{AnnotatedCollision, MotionFrame, ObjectMotion, ObjectProperty};
    use crate::clevr::look::{Color, Material, Shape};

    /// Something that makes an annotation wrong.
    type Change = fn(&mut Annotation);

    /// Three frames; object 7 is seen in the last two, object 3 in the first.
    fn annotation() -> Annotation {
        let property =
            |object_id, color| ObjectProperty { object_id, color, material: Material::Metal, shape: Shape::Cube };
        let motion = |object_id, inside_camera_view| ObjectMotion {
            object_id,
            location: [0.0; 3],
            orientation: [0.0; 3],
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            inside_camera_view,
        };
        let frame =
            |frame_id| MotionFrame { frame_id, objects: vec![motion(7, frame_id > 0), motion(3, frame_id == 0)] };
        Annotation {
            scene_index: 0,
            video_filename: "video_00000.mp4".to_owned(),
            object_property: vec![property(7, Color::Red), property(3, Color::Blue), property(9, Color::Cyan)],
            motion_trajectory: (0..3).map(frame).collect(),
            collision: vec![AnnotatedCollision { object_ids: [3, 7], frame_id: 2, location: [0.0; 3] }],
        }
    }

    #[test]
    fn frames_in_which_an_object_is_seen_have_ends() {
        let clip = Clip::of(&annotation()).unwrap();
        assert_eq!(clip.frames, 3);
        assert_eq!(clip.things.iter().map(|thing| thing.seen).collect::<Vec<_>>(), [Some((1, 2)), Some((0, 0)), None]);
        assert_eq!(clip.things.iter().map(ClipThing::entered).collect::<Vec<_>>(), [Some(1), None, None]);
        assert_eq!(clip.collisions, [Collision { things: [1, 0], frame: 2 }]);
    }

    #[test]
    fn the_outline_read_from_a_file_is_that_of_the_annotation() {
        let text = serde_json::to_string(&annotation()).unwrap();
        assert_eq!(serde_json::from_str::<Outline>(&text).unwrap(), Outline::from(&annotation()));
        assert_eq!(serde_json::from_str::<Annotation>(&text).unwrap(), annotation());
    }

    #[test]
    fn an_annotation_that_contradicts_itself_is_refused() {
        let message = |change: Change| {
            let mut annotation = annotation();
            change(&mut annotation);
            Clip::of(&annotation).unwrap_err().to_string()
        };
        let cases: [(Change, &str); 9] = [
            (|all| all.object_property[1].object_id = 7, "got `object_id` 7 twice"),
            (|all| all.motion_trajectory[1].objects[0].object_id = 8, "in `motion_trajectory`, got 8 at frame 1"),
            (|all| all.motion_trajectory[1].objects[0].object_id = 3, "once in frame 1, got 3 twice"),
            (|all| all.motion_trajectory[1].frame_id = 2, "expected frame 1 next in `motion_trajectory`, got"),
            (|all| all.motion_trajectory.swap(0, 1), "expected frame 0 next"),
            (|all| all.motion_trajectory.clear(), "expected frames in `motion_trajectory`, got none"),
            (
                |all| all.collision[0].frame_id = 3,
                "expected collisions before frame 3, the number of all, got one at 3",
            ),
            (|all| all.collision[0].object_ids = [7, 8], "in `collision`, got 8 at frame 2"),
            (|all| all.collision[0].object_ids = [7, 7], "got 7 with itself at frame 2"),
        ];
        for (change, expected) in cases {
            let message = message(change);
            assert!(message.contains(expected), "{message}");
        }
    }
}

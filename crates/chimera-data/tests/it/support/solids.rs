//! Scenes of CLEVR and annotations of CLEVRER made for tests.

use serde_json::{Value, json};

/// One scene with objects such as `large red metal cube`.
pub(crate) fn scene(picture: &str, objects: &[&str]) -> Value {
    let object = |words: &&str| {
        let words: Vec<&str> = words.split(' ').collect();
        json!({"size": words[0], "color": words[1], "material": words[2], "shape": words[3], "rotation": 1.5,
               "3d_coords": [0.0, 0.0, 0.7], "pixel_coords": [1, 2, 3.5]})
    };
    json!({"image_index": 0, "image_filename": picture, "split": "train", "relationships": {}, "directions": {},
           "objects": objects.iter().map(object).collect::<Vec<_>>()})
}

/// A file of scenes.
pub(crate) fn scenes(scenes: &[Value]) -> String {
    json!({"info": {"split": "train", "license": "", "version": "1.0", "date": ""}, "scenes": scenes}).to_string()
}

/// One object of a clip: `red metal cube`, and from when to when it is seen.
pub(crate) type Thing<'a> = (&'a str, u32, u32);

/// An annotation of so many frames; objects are numbered from 0.
pub(crate) fn annotation(video: &str, frames: u32, things: &[Thing<'_>], collisions: &[([u32; 2], u32)]) -> Value {
    let properties = things.iter().enumerate().map(|(id, (words, ..))| {
        let words: Vec<&str> = words.split(' ').collect();
        json!({"object_id": id, "color": words[0], "material": words[1], "shape": words[2]})
    });
    let motion = |frame: u32| {
        let objects = things.iter().enumerate().map(|(id, (_, first, last))| {
            json!({"object_id": id, "location": [0.0, 0.0, 0.2], "orientation": [0.0, 0.0, 0.0], "velocity": [1.0, 0.0, 0.0],
                   "angular_velocity": [0.0, 0.0, 0.0], "inside_camera_view": (*first..=*last).contains(&frame)})
        });
        json!({"frame_id": frame, "objects": objects.collect::<Vec<_>>()})
    };
    let met =
        |(ids, frame): &([u32; 2], u32)| json!({"object_ids": ids, "frame_id": frame, "location": [0.0, 0.0, 0.2]});
    json!({"scene_index": 0, "video_filename": video, "object_property": properties.collect::<Vec<_>>(),
           "motion_trajectory": (0..frames).map(motion).collect::<Vec<_>>(),
           "collision": collisions.iter().map(met).collect::<Vec<_>>()})
}

//! `CLEVR_<split>_scenes.json` of CLEVR v1.0, with every key in its own place: what is written is what CLEVR writes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::look::{Color, Look, Material, ObjectSize, Shape};

/// A whole file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneFile {
    /// What the file is.
    pub info: SceneInfo,
    /// The scenes, one a picture.
    pub scenes: Vec<Scene>,
}

/// What a file says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SceneInfo {
    /// What the scenes are for: `train`, `val`, `test`.
    pub split: String,
    /// What may be done with them.
    pub license: String,
    /// Of the dataset.
    pub version: String,
    /// When they were made.
    pub date: String,
}

/// One picture and everything that is on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scene {
    /// Its number in the split.
    pub image_index: u32,
    /// What lies on the table.
    pub objects: Vec<SceneObject>,
    /// For `left`, `right`, `front` and `behind`: for each object the numbers of those that lie there, seen from it.
    pub relationships: BTreeMap<String, Vec<Vec<usize>>>,
    /// The picture, in the folder of the split.
    pub image_filename: String,
    /// As in the file's `info`.
    pub split: String,
    /// The directions of `left`, `right`, `front`, `behind`, `above` and `below` in the scene.
    pub directions: BTreeMap<String, [f64; 3]>,
}

/// One object of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneObject {
    /// Its colour.
    pub color: Color,
    /// Its size.
    pub size: ObjectSize,
    /// Degrees around the vertical.
    pub rotation: f64,
    /// Its shape.
    pub shape: Shape,
    /// Where its middle is.
    #[serde(rename = "3d_coords")]
    pub coords: [f64; 3],
    /// What it is made of.
    pub material: Material,
    /// Column and row of its middle in the picture, and how far it is from the camera.
    pub pixel_coords: (u32, u32, f64),
}

impl SceneObject {
    /// How it looks.
    #[must_use]
    pub fn look(&self) -> Look {
        Look { color: self.color, material: self.material, shape: self.shape, size: Some(self.size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_with_its_own_keys() {
        let text = r#"{"info":{"split":"train","license":"Creative Commons Attribution (CC BY 4.0)","version":"1.0",
            "date":"2/14/2017"},"scenes":[{"image_index":0,"objects":[{"color":"blue","size":"large","rotation":269.5,
            "shape":"cube","3d_coords":[-1.25,2.0,0.5],"material":"rubber","pixel_coords":[269,88,12.5]}],
            "relationships":{"right":[[]],"behind":[[]],"front":[[]],"left":[[]]},
            "image_filename":"CLEVR_train_000000.png","split":"train",
            "directions":{"right":[0.5,0.75,-0.0],"above":[0.0,0.0,1.0]}}]}"#;
        let file: SceneFile = serde_json::from_str(text).unwrap();
        assert_eq!(file.scenes[0].objects[0].look().size, Some(ObjectSize::Large));
        assert_eq!(file.scenes[0].objects[0].pixel_coords, (269, 88, 12.5));
        let again = serde_json::to_value(&file).unwrap();
        let object = &again["scenes"][0]["objects"][0];
        assert_eq!(object["3d_coords"], serde_json::json!([-1.25, 2.0, 0.5]));
        assert_eq!(object["pixel_coords"], serde_json::json!([269, 88, 12.5]));
        let keys: Vec<&str> = again["scenes"][0].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys.len(), 6, "{keys:?}");
        assert_eq!(serde_json::from_value::<SceneFile>(again).unwrap(), file);
    }
}

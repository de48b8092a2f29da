//! Still scenes, as in CLEVR: three to ten objects of two sizes, all of which can be seen.

use std::collections::BTreeMap;

use chimera_data::clevr::concept::Concept;
use chimera_data::clevr::look::{Look, ObjectSize};
use chimera_data::clevr::scenes::{Scene, SceneObject};
use chimera_data::media::picture::Size;
use fastrand::Rng;
use glam::{Vec2, Vec3};

use crate::draw::Kind;
use crate::kinds;
use crate::paint::Paint;
use crate::render::mask;
use crate::solid::Solid;
use crate::stage;
use crate::view::View;

/// How many objects there are.
const COUNT: std::ops::RangeInclusive<usize> = 3..=10;

/// Places are so far from the middle, at most.
const REACH: f32 = 3.0;

/// Room between objects.
const GAP: f32 = 0.25;

/// How often a place is looked for before all objects are taken away.
const TRIES: usize = 50;

/// A picture of this size is looked at, and an object must be seen in so many of its pixels: those that CLEVR asks for in
/// 480 x 320.
const LOOKED_AT: (usize, usize) = (120, 80);
const SEEN: usize = 12;

/// Farther than this in a direction, a thing lies there.
const APART: f32 = 0.2;

/// Still scenes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stills {
    /// How often an object brings its partner along.
    pub together: f64,
}

/// A scene that stands still.
#[derive(Clone, Debug)]
pub struct Still {
    /// What is seen.
    pub view: View,
    looks: Vec<Look>,
    /// How the makers of CLEVR write turns: as degrees, of which they took the number as radians.
    rotations: Vec<f64>,
}

impl Kind for Stills {
    type Concept = Concept;
    type Scene = Still;
    /// Objects, and how many of them are large.
    type Bustle = (usize, usize);

    fn objects(&self, random: &mut Rng, like: Option<Self::Bustle>) -> Vec<Look> {
        let count = like.map_or_else(|| random.usize(COUNT), |(count, ..)| count);
        let mut looks = kinds::looks(random, count, self.together, true);
        if let Some((_, large)) = like {
            // They come in no order, so the first will do.
            for (number, look) in looks.iter_mut().enumerate() {
                look.size = Some(if number < large { ObjectSize::Large } else { ObjectSize::Small });
            }
            random.shuffle(&mut looks);
        }
        looks
    }

    fn place(&self, random: &mut Rng, looks: &[Look]) -> Option<Still> {
        let mut places: Vec<(Vec2, f32)> = Vec::with_capacity(looks.len());
        for look in looks {
            let half = half(*look);
            let room = |place: &Vec2| places.iter().all(|(other, reach)| place.distance(*other) > half + reach + GAP);
            let drawn = (0..TRIES).map(|_| Vec2::new(random.f32(), random.f32()) * (2.0 * REACH) - REACH);
            let place = drawn.into_iter().find(room)?;
            places.push((place, half));
        }
        let rotations: Vec<f64> = looks.iter().map(|_| 360.0 * random.f64()).collect();
        let solids = looks.iter().zip(&places).zip(&rotations).map(|((look, (place, half)), rotation)| {
            let turn = rotation.rem_euclid(std::f64::consts::TAU) as f32;
            (Solid::new(look.shape, *half, place.extend(*half), turn), Paint::new(look.color, look.material))
        });
        let (camera, mood) = stage::CLEVR.set(random);
        let view = View::new(camera, &mood, solids.collect());
        let is_inside = |(solid, _): &(Solid, Paint)| {
            let place = view.camera.project(solid.center());
            place.is_some_and(|place| (0.0..1.0).contains(&place.across) && (0.0..1.0).contains(&place.down))
        };
        if !view.solids.iter().all(is_inside) {
            return None;
        }
        let seen = mask(&view, LOOKED_AT, None);
        let is_seen = |index: usize| seen.iter().filter(|pixel| **pixel == Some(index)).count() >= SEEN;
        (0..looks.len()).all(is_seen).then(|| Still { view, looks: looks.to_vec(), rotations })
    }

    fn labels(&self, scene: &Still, concepts: &[Concept]) -> Vec<bool> {
        concepts.iter().map(|concept| concept.in_scene(&scene.looks).unwrap_or(false)).collect()
    }

    fn bustle(&self, scene: &Still) -> Self::Bustle {
        let large = scene.looks.iter().filter(|look| look.size == Some(ObjectSize::Large)).count();
        (scene.looks.len(), large)
    }
}

fn half(look: Look) -> f32 {
    if look.size == Some(ObjectSize::Large) { 0.7 } else { 0.35 }
}

impl Still {
    /// How its objects look.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }

    /// What CLEVR's file says about a picture of this size.
    #[must_use]
    pub fn described(&self, (split, index): (&str, u32), size: Size) -> Scene {
        let camera = &self.view.camera;
        let centers: Vec<Vec3> = self.view.solids.iter().map(|(solid, _)| solid.center()).collect();
        let pixel = |center: Vec3| {
            let place = camera.project(center);
            place.map_or((0, 0, 0.0), |place| {
                let [across, down] = [place.across * size.width() as f32, place.down * size.height() as f32];
                (across as u32, down as u32, place.depth.into())
            })
        };
        let objects =
            self.looks.iter().zip(&centers).zip(&self.rotations).map(|((look, center), rotation)| SceneObject {
                color: look.color,
                size: look.size.unwrap_or(ObjectSize::Small),
                rotation: *rotation,
                shape: look.shape,
                coords: center.to_array().map(f64::from),
                material: look.material,
                pixel_coords: pixel(*center),
            });
        let behind = Vec3::new(camera.forward.x, camera.forward.y, 0.0).normalize();
        let directions = [
            ("right", camera.right),
            ("left", -camera.right),
            ("behind", behind),
            ("front", -behind),
            ("above", Vec3::Z),
            ("below", -Vec3::Z),
        ];
        let lies = |from: &Vec3, direction: Vec3| -> Vec<usize> {
            let there = |(_, center): &(usize, &Vec3)| (**center - *from).dot(direction) > APART;
            centers.iter().enumerate().filter(there).map(|(number, _)| number).collect()
        };
        let relation = |(name, direction): (&str, Vec3)| {
            (name.to_owned(), centers.iter().map(|center| lies(center, direction)).collect())
        };
        Scene {
            image_index: index,
            objects: objects.collect(),
            relationships: directions.into_iter().take(4).map(relation).collect(),
            image_filename: format!("CLEVR_{split}_{index:06}.png"),
            split: split.to_owned(),
            directions: BTreeMap::from(
                directions.map(|(name, vector)| (name.to_owned(), vector.to_array().map(f64::from))),
            ),
        }
    }
}

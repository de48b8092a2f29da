//! Scenes in motion, as in CLEVRER: some objects stand, others come in, run into them and leave.

use chimera_data::clevr::annotation::{AnnotatedCollision, Annotation, MotionFrame, ObjectMotion, ObjectProperty};
use chimera_data::clevr::clip::{Clip, ClipThing, Collision};
use chimera_data::clevr::concept::Concept;
use chimera_data::clevr::look::Look;
use fastrand::Rng;
use glam::{Vec2, Vec3};

use crate::camera::Camera;
use crate::draw::Kind;
use crate::kinds;
use crate::motion::{Body, FRAME_TIME, FRAMES, HALF, Moment, Motion, simulate};
use crate::paint::Paint;
use crate::sight::in_view;
use crate::solid::Solid;
use crate::stage;
use crate::view::{Mood, View};

/// How many objects there are.
const COUNT: std::ops::RangeInclusive<usize> = 3..=6;

/// Each object is in view for so many frames at least: a sixteenth of a clip would miss it otherwise.
const SEEN: usize = 20;

/// Room between bodies at the start, from centre to centre.
const GAP: f32 = 0.9;

/// The part of the table where bodies stand, and where others head for: depth and breadth.
const TABLE: [std::ops::Range<f32>; 2] = [-2.0..1.3, -1.4..1.4];

/// Speeds of what comes in.
const SPEED: std::ops::Range<f32> = 1.7..3.6;

/// When it gets where it heads for, in shares of the clip.
const ARRIVAL: std::ops::Range<f32> = 0.1..0.95;

/// What friction takes of a speed, a second, about: to aim by.
const SLOWING: f32 = 0.45;

/// Clips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clips {
    /// How often an object brings its partner along.
    pub together: f64,
}

/// What happens before a camera.
#[derive(Clone, Debug)]
pub struct Act {
    /// From where it is seen.
    pub camera: Camera,
    mood: Mood,
    /// Who moves where.
    pub motion: Motion,
    /// What happens, as labels see it.
    pub clip: Clip,
    /// For each frame and object, whether it is in view.
    visible: Vec<Vec<bool>>,
}

impl Kind for Clips {
    type Concept = Concept;
    type Scene = Act;
    /// Objects, and collisions.
    type Bustle = (usize, usize);

    fn objects(&self, random: &mut Rng, like: Option<Self::Bustle>) -> Vec<Look> {
        let count = like.map_or_else(|| random.usize(COUNT), |(count, ..)| count);
        kinds::looks(random, count, self.together, false)
    }

    fn place(&self, random: &mut Rng, looks: &[Look]) -> Option<Act> {
        let (camera, mood) = stage::CLEVRER.set(random);
        let bodies = bodies(random, looks);
        let apart = |one: &Body, other: &Body| one.place.distance(other.place) > GAP;
        let has_room =
            bodies.iter().enumerate().all(|(number, body)| bodies[..number].iter().all(|other| apart(body, other)));
        if !has_room {
            return None;
        }
        let motion = simulate(&bodies, FRAMES);
        let visible: Vec<Vec<bool>> = motion
            .frames
            .iter()
            .map(|frame| frame.iter().zip(looks).map(|(moment, look)| in_view(&camera, &solid(moment, look))).collect())
            .collect();
        // Everybody is seen for a while, and what happens happens in view.
        let is_seen = |object: usize| visible.iter().filter(|frame| frame[object]).count() >= SEEN;
        let in_sight = |frame: u32, object: usize| visible[frame as usize][object];
        let shown = motion.touches.iter().all(|touch| touch.bodies.iter().all(|&body| in_sight(touch.frame, body)));
        if !shown || !(0..looks.len()).all(is_seen) {
            return None;
        }
        let clip = clip_of(looks, &motion, &visible);
        Some(Act { camera, mood, motion, clip, visible })
    }

    fn labels(&self, scene: &Act, concepts: &[Concept]) -> Vec<bool> {
        concepts.iter().map(|concept| concept.in_clip(&scene.clip)).collect()
    }

    fn bustle(&self, scene: &Act) -> Self::Bustle {
        (scene.clip.things.len(), scene.clip.collisions.len())
    }

    /// Bodies of one shape move alike in every colour.
    fn repaint(&self, random: &mut Rng, scene: &mut Act) -> bool {
        let Some(looks) = kinds::repainted(random, &scene.clip.looks(), self.together) else { return false };
        scene.clip.things.iter_mut().zip(looks).for_each(|(thing, look)| thing.look = look);
        true
    }
}

/// Some stand or drift in view; the others come from afar and head for one of them, or for anywhere.
fn bodies(random: &mut Rng, looks: &[Look]) -> Vec<Body> {
    let standing = random.usize(1..=looks.len() - 1).min(3);
    let number =
        |random: &mut Rng, range: &std::ops::Range<f32>| range.start + (range.end - range.start) * random.f32();
    let anywhere = |random: &mut Rng| Vec2::new(number(random, &TABLE[0]), number(random, &TABLE[1]));
    let mut bodies: Vec<Body> = Vec::with_capacity(looks.len());
    for (index, look) in looks.iter().enumerate() {
        let yaw = std::f32::consts::TAU * random.f32();
        let (place, velocity) = if index < standing {
            let drifts = random.f32() < 0.25;
            let velocity =
                if drifts { Vec2::from_angle(std::f32::consts::TAU * random.f32()) * random.f32() } else { Vec2::ZERO };
            (anywhere(random), velocity)
        } else {
            let target = if random.f32() < 0.75 { bodies[random.usize(..standing)].place } else { anywhere(random) };
            let (speed, time) = (number(random, &SPEED), number(random, &ARRIVAL) * FRAMES as f32 * FRAME_TIME);
            let direction = Vec2::from_angle(std::f32::consts::TAU * random.f32());
            let way = speed * time - 0.5 * SLOWING * time * time;
            (target - direction * way.max(0.0), direction * speed)
        };
        bodies.push(Body { shape: look.shape, place, yaw, velocity });
    }
    bodies
}

fn solid(moment: &Moment, look: &Look) -> Solid {
    Solid::new(look.shape, HALF, moment.location, moment.orientation[2])
}

fn clip_of(looks: &[Look], motion: &Motion, visible: &[Vec<bool>]) -> Clip {
    let thing = |(object, look): (usize, &Look)| {
        let first = visible.iter().position(|frame| frame[object]);
        let last = visible.iter().rposition(|frame| frame[object]);
        ClipThing { look: *look, seen: first.zip(last).map(|(first, last)| (first as u32, last as u32)) }
    };
    let collision = |touch: &crate::motion::Touch| Collision { things: touch.bodies, frame: touch.frame };
    Clip {
        frames: motion.frames.len() as u32,
        things: looks.iter().enumerate().map(thing).collect(),
        collisions: motion.touches.iter().map(collision).collect(),
    }
}

impl Act {
    /// What is seen in a frame.
    #[must_use]
    pub fn view(&self, frame: usize) -> View {
        let solids = self.motion.frames[frame]
            .iter()
            .zip(&self.clip.things)
            .map(|(moment, thing)| (solid(moment, &thing.look), Paint::new(thing.look.color, thing.look.material)));
        View::new(self.camera, &self.mood, solids.collect())
    }

    /// What CLEVRER's file says about it.
    #[must_use]
    pub fn described(&self, index: u32) -> Annotation {
        let property = |(object, thing): (usize, &ClipThing)| ObjectProperty {
            object_id: object as u32,
            color: thing.look.color,
            material: thing.look.material,
            shape: thing.look.shape,
        };
        let motion = |frame: usize, (object, moment): (usize, &Moment)| ObjectMotion {
            object_id: object as u32,
            location: rounded(moment.location),
            orientation: rounded(Vec3::from(moment.orientation)),
            velocity: rounded(moment.velocity),
            angular_velocity: rounded(moment.angular_velocity),
            inside_camera_view: self.visible[frame][object],
        };
        let frame = |(frame, moments): (usize, &Vec<Moment>)| MotionFrame {
            frame_id: frame as u32,
            objects: moments.iter().enumerate().map(|moment| motion(frame, moment)).collect(),
        };
        let collision = |touch: &crate::motion::Touch| AnnotatedCollision {
            object_ids: touch.bodies.map(|body| body as u32),
            frame_id: touch.frame,
            location: rounded(touch.location),
        };
        Annotation {
            scene_index: index,
            video_filename: format!("video_{index:05}.mp4"),
            object_property: self.clip.things.iter().enumerate().map(property).collect(),
            motion_trajectory: self.motion.frames.iter().enumerate().map(frame).collect(),
            collision: self.motion.touches.iter().map(collision).collect(),
        }
    }
}

/// Four places after the point, as in the real files.
fn rounded(vector: Vec3) -> [f64; 3] {
    vector.to_array().map(|number| (f64::from(number) * 1e4).round() / 1e4)
}

//! Bodies that slide and roll on a table and run into each other, by a physics engine.

use chimera_data::clevr::look::Shape;
use glam::{EulerRot, Vec2, Vec3};
use rapier3d::parry::query::distance;
use rapier3d::prelude::{
    ColliderBuilder, ColliderHandle, PhysicsWorld, RigidBodyBuilder, RigidBodyHandle, Vector as PhysicsVector,
};

/// Radius, or half the side, of every body. In CLEVRER it is 0.2; larger ones are told apart in smaller pictures.
pub const HALF: f32 = 0.3;

/// Frames of a clip.
pub const FRAMES: u32 = 128;

/// Seconds from frame to frame: what places and speeds in CLEVRER's files say.
pub(crate) const FRAME_TIME: f32 = 0.028;

/// Steps of the engine a frame.
const STEPS: u32 = 4;

/// What is closer than this touches: the engine lets bodies bounce a little before their surfaces meet.
const NEAR: f32 = 0.005;

/// Bodies that part for fewer steps than this have not parted: what trembles is one collision.
const PAUSE: u32 = 8;

const FRICTION: f32 = 0.045;
const BOUNCE: f32 = 0.55;
/// What the air takes of speed, a second.
const DRAG: f32 = 0.03;

/// A body before anything moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// What it is.
    pub shape: Shape,
    /// Where it stands on the table.
    pub place: Vec2,
    /// How it is turned.
    pub yaw: f32,
    /// How fast it slides, and where to.
    pub velocity: Vec2,
}

/// A body in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Where its centre is.
    pub location: Vec3,
    /// Turns around x, y and z, in radians, one after the other.
    pub orientation: [f32; 3],
    /// How fast it moves.
    pub velocity: Vec3,
    /// How fast it turns.
    pub angular_velocity: Vec3,
}

/// Two bodies that begin to touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which, the lower number first.
    pub bodies: [usize; 2],
    /// The first frame in which they have touched.
    pub frame: u32,
    /// Where, about.
    pub location: Vec3,
}

/// All that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// The bodies in each frame.
    pub frames: Vec<Vec<Moment>>,
    /// In the order of time.
    pub touches: Vec<Touch>,
}

/// Lets bodies go for so many frames, the first of which shows them as they stand.
#[must_use]
pub fn simulate(bodies: &[Body], frames: u32) -> Motion {
    simulate_with(bodies, frames, |_, _| {})
}

/// The same, and shows every state to `look`: all bodies after so many steps of the engine.
pub(crate) fn simulate_with(bodies: &[Body], frames: u32, mut look: impl FnMut(u32, &[Moment])) -> Motion {
    let mut world = PhysicsWorld { gravity: PhysicsVector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
    world.integration_parameters.dt = FRAME_TIME / STEPS as f32;
    // Lengths are those of bodies; the engine's tolerances follow.
    world.integration_parameters.length_unit = HALF;
    let table = ColliderBuilder::cuboid(100.0, 100.0, 1.0).friction(FRICTION).restitution(0.0);
    world.insert(RigidBodyBuilder::fixed().translation(PhysicsVector::new(0.0, 0.0, -1.0)), table);
    let handles: Vec<(RigidBodyHandle, ColliderHandle)> =
        bodies.iter().map(|body| world.insert(rigid(body), hull(body.shape))).collect();

    let moments = |world: &PhysicsWorld| -> Vec<Moment> {
        handles.iter().map(|(handle, _)| moment(&world.bodies[*handle])).collect()
    };
    let pairs: Vec<[usize; 2]> =
        (0..bodies.len()).flat_map(|one| (one + 1..bodies.len()).map(move |other| [one, other])).collect();
    // The step after which each pair touched last.
    let mut last: Vec<Option<u32>> = vec![None; pairs.len()];
    let mut motion = Motion { frames: vec![moments(&world)], touches: Vec::new() };
    for step in 0..frames.saturating_sub(1) * STEPS {
        world.step();
        for (&[one, other], last) in pairs.iter().zip(&mut last) {
            if !touch(&world, handles[one].1, handles[other].1) {
                continue;
            }
            if last.is_none_or(|last| step > last + PAUSE) {
                let middle = |body: usize| world.bodies[handles[body].0].translation();
                let location = Vec3::from((middle(one) + middle(other)).to_array()) / 2.0;
                motion.touches.push(Touch { bodies: [one, other], frame: step / STEPS + 1, location });
            }
            *last = Some(step);
        }
        let now = moments(&world);
        look(step + 1, &now);
        if (step + 1) % STEPS == 0 {
            motion.frames.push(now);
        }
    }
    motion
}

/// Whether two bodies are closer than [`NEAR`]. The engine's own contacts are of the state before a step, or expected.
fn touch(world: &PhysicsWorld, one: ColliderHandle, other: ColliderHandle) -> bool {
    let (one, other) = (&world.colliders[one], &world.colliders[other]);
    let apart = one.position().translation.distance(other.position().translation);
    // Farther than two corners of cubes reach.
    apart < 2.0 * HALF * std::f32::consts::SQRT_2 + NEAR
        && distance(one.position(), one.shape(), other.position(), other.shape()).is_ok_and(|gap| gap.distance < NEAR)
}

fn rigid(body: &Body) -> RigidBodyBuilder {
    let place = PhysicsVector::new(body.place.x, body.place.y, HALF);
    let velocity = PhysicsVector::new(body.velocity.x, body.velocity.y, 0.0);
    // What is flat below stays upright; a ball rolls.
    let rolls = body.shape == Shape::Sphere;
    RigidBodyBuilder::dynamic()
        .translation(place)
        .rotation(PhysicsVector::new(0.0, 0.0, body.yaw))
        .linvel(velocity)
        .enabled_rotations(rolls, rolls, true)
        .linear_damping(DRAG)
        .angular_damping(DRAG)
        .can_sleep(false)
}

fn hull(shape: Shape) -> ColliderBuilder {
    let hull = match shape {
        Shape::Sphere => ColliderBuilder::ball(HALF),
        Shape::Cube => ColliderBuilder::cuboid(HALF, HALF, HALF),
        // The engine's cylinders stand along y.
        Shape::Cylinder => {
            ColliderBuilder::cylinder(HALF, HALF).rotation(PhysicsVector::new(std::f32::consts::FRAC_PI_2, 0.0, 0.0))
        }
    };
    hull.friction(FRICTION).restitution(BOUNCE)
}

fn moment(body: &rapier3d::prelude::RigidBody) -> Moment {
    let vector = |vector: PhysicsVector| Vec3::from(vector.to_array());
    let (x, y, z) = body.rotation().to_euler(EulerRot::XYZ);
    Moment {
        location: vector(body.translation()),
        orientation: [x, y, z],
        velocity: vector(body.linvel()),
        angular_velocity: vector(body.angvel()),
    }
}

#[cfg(test)]
mod tests;

//! Physics against closed forms, and collisions against geometry of our own at every step of the engine.

use fastrand::Rng;

use super::*;

fn body(shape: Shape, place: [f32; 2], velocity: [f32; 2]) -> Body {
    Body { shape, place: place.into(), yaw: 0.0, velocity: velocity.into() }
}

#[test]
fn friction_stops_what_slides() {
    // Without air, a body of speed v slides v^2 / (2 mu g).
    let motion = simulate(&[body(Shape::Cube, [0.0, 0.0], [1.0, 0.0])], 100);
    let end = motion.frames[99][0];
    let without_air = 1.0 / (2.0 * FRICTION * 9.81);
    assert!(end.velocity.length() < 0.01, "{end:?}");
    assert!((0.8 * without_air..without_air).contains(&end.location.x), "{end:?} {without_air}");
    assert!((end.location.z - HALF).abs() < 0.01);
}

#[test]
fn a_collision_is_noticed_when_bodies_meet() {
    for shape in Shape::ALL {
        let motion = simulate(&[body(shape, [-1.0, 0.0], [2.0, 0.0]), body(Shape::Cube, [0.0, 0.0], [0.0, 0.0])], 60);
        // 0.4 apart at 2 a second: 0.2 s and a little for friction, so frame 8 or soon after.
        let [touch] = motion.touches[..] else { panic!("{:?}", motion.touches) };
        assert!((8..=10).contains(&touch.frame) && touch.bodies == [0, 1], "{touch:?}");
        assert!(motion.frames[40][1].velocity.x > 0.5, "what is hit moves");
        let past = simulate(&[body(shape, [-1.0, 0.0], [0.0, 2.0]), body(shape, [0.0, 0.0], [0.0, 0.0])], 60);
        assert!(past.touches.is_empty());
    }
}

#[test]
fn the_same_start_has_the_same_end() {
    let bodies = [body(Shape::Sphere, [-1.0, 0.1], [2.0, 0.0]), body(Shape::Cylinder, [0.0, 0.0], [0.0, 0.3])];
    assert_eq!(simulate(&bodies, 128), simulate(&bodies, 128));
}

/// The outline of a body on the table, as many corners: bodies are upright and equally high, so what touches there touches.
fn outline(shape: Shape, moment: &Moment) -> Vec<Vec2> {
    let (corners, radius, turn) = match shape {
        Shape::Cube => (4, HALF * std::f32::consts::SQRT_2, moment.orientation[2] + std::f32::consts::FRAC_PI_4),
        _ => (256, HALF, 0.0),
    };
    let corner =
        |number: usize| Vec2::from_angle(turn + std::f32::consts::TAU * number as f32 / corners as f32) * radius;
    (0..corners).map(|number| moment.location.truncate() + corner(number)).collect()
}

/// How far two outlines are apart: 0 or less where they overlap, by the axis along which they do least.
fn gap(one: &[Vec2], other: &[Vec2]) -> f32 {
    let normals = |outline: &[Vec2]| -> Vec<Vec2> {
        (0..outline.len()).map(|at| (outline[(at + 1) % outline.len()] - outline[at]).perp().normalize()).collect()
    };
    let span = |outline: &[Vec2], axis: Vec2| {
        let along = outline.iter().map(|corner| corner.dot(axis));
        along.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    };
    let apart = |axis: Vec2| {
        let ((low, high), (other_low, other_high)) = (span(one, axis), span(other, axis));
        (other_low - high).max(low - other_high)
    };
    normals(one).into_iter().chain(normals(other)).map(apart).fold(f32::NEG_INFINITY, f32::max)
}

/// Every annotated collision has two bodies that touch then, and every pair that touches is annotated.
#[test]
fn collisions_are_those_of_geometry() {
    let mut random = Rng::with_seed(7);
    let (mut touched, mut surely, mut clear) = (0, 0, 0);
    for _ in 0..40 {
        let bodies: Vec<Body> = (0..5)
            .map(|number| {
                let place = Vec2::from_angle(std::f32::consts::TAU * number as f32 / 5.0) * 1.6;
                let aim = Vec2::new(random.f32() - 0.5, random.f32() - 0.5);
                let shape = Shape::ALL[random.usize(..3)];
                Body { shape, place, yaw: 6.0 * random.f32(), velocity: (aim - place) * (2.0 * random.f32()) }
            })
            .collect();
        // The states in which each pair is surely touching, and in which it may be.
        let mut sure = vec![Vec::new(); 25];
        let mut maybe = vec![Vec::new(); 25];
        let motion = simulate_with(&bodies, FRAMES, |state, moments| {
            let outlines: Vec<Vec<Vec2>> =
                bodies.iter().zip(moments).map(|(body, moment)| outline(body.shape, moment)).collect();
            for one in 0..5 {
                for other in one + 1..5 {
                    if moments[one].location.distance(moments[other].location) > 4.0 * HALF {
                        continue;
                    }
                    let gap = gap(&outlines[one], &outlines[other]);
                    if gap < 0.0 {
                        sure[5 * one + other].push(state);
                    }
                    // Outlines are a little within circles, and corners farther apart than any axis shows.
                    if gap < NEAR + 0.001 {
                        maybe[5 * one + other].push(state);
                    }
                }
            }
        });
        for touch in &motion.touches {
            let [one, other] = touch.bodies;
            let states = (touch.frame - 1) * STEPS + 1..=touch.frame * STEPS;
            assert!(maybe[5 * one + other].iter().any(|state| states.contains(state)), "{touch:?} without a touch");
            touched += 1;
        }
        for one in 0..5 {
            for other in one + 1..5 {
                let (sure, maybe) = (&sure[5 * one + other], &maybe[5 * one + other]);
                let began = |states: &[u32], at: usize| at == 0 || states[at] > states[at - 1] + PAUSE + 1;
                for at in (0..sure.len()).filter(|&at| began(sure, at)) {
                    // Where this touch may have begun; a second one of the same pair must be annotated, too.
                    let near = maybe.partition_point(|state| *state <= sure[at]);
                    let first = (0..near).rev().find(|&at| began(maybe, at)).map_or(0, |at| maybe[at]);
                    let frames = (first.div_ceil(STEPS)).saturating_sub(1)..=sure[at].div_ceil(STEPS);
                    let is_it = |touch: &Touch| touch.bodies == [one, other] && frames.contains(&touch.frame);
                    assert!(motion.touches.iter().any(is_it), "{one} and {other} in state {}", sure[at]);
                    surely += 1;
                }
                let sure = sure.len();
                clear += usize::from(sure == 0);
            }
        }
    }
    assert!(touched > 60 && surely > 30 && clear > 60, "{touched} {surely} {clear}");
}

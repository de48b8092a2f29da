//! What stands and lies about in a street: signs, lamps, benches, balls.

use fastrand::Rng;
use glam::Vec2;

use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, any_color, times, within};
use crate::photo::thing::Thing;

const POLE: Rgb = [116, 118, 122];
const DARK: Rgb = [34, 34, 38];
const WHITE: Rgb = [242, 242, 238];

pub(super) fn furniture(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::StopSign => stop_sign(figure, random),
        Class::TrafficSign => traffic_sign(figure, random),
        Class::TrafficLight => traffic_light(figure, random),
        Class::StreetLight => street_light(figure, random),
        Class::Bench => bench(figure, random),
        Class::Football => football(figure, random),
        _ => ball(figure, random),
    }
}

/// The corners of a regular shape around a point.
fn regular(count: usize, [x, y]: [f32; 2], radius: f32, start: f32) -> Vec<[f32; 2]> {
    let corner = |number: usize| {
        let way = Vec2::from_angle(start + number as f32 * std::f32::consts::TAU / count as f32) * radius;
        [x + way.x, y + way.y]
    };
    (0..count).map(corner).collect()
}

fn stop_sign(figure: &mut Figure, random: &mut Rng) {
    let red = about(random, [192, 28, 34]);
    figure.line([0.0, 0.0], [0.0, 0.7], 0.022, POLE);
    figure.area(&regular(8, [0.0, 0.78], 0.23, 0.393), 0.0, WHITE);
    figure.area(&regular(8, [0.0, 0.78], 0.205, 0.393), 0.0, red);
    // S, T, O, P.
    let (low, middle, high) = (0.735, 0.78, 0.825);
    figure.path(
        &[[-0.1, high], [-0.155, high], [-0.155, middle], [-0.1, middle], [-0.1, low], [-0.155, low]],
        0.01,
        WHITE,
    );
    figure.line([-0.075, high], [-0.015, high], 0.01, WHITE);
    figure.line([-0.045, high], [-0.045, low], 0.01, WHITE);
    figure.path(&[[0.015, high], [0.065, high], [0.065, low], [0.015, low], [0.015, high]], 0.01, WHITE);
    figure.path(&[[0.1, low], [0.1, high], [0.15, high], [0.15, middle], [0.1, middle]], 0.01, WHITE);
}

/// A sign that warns, forbids or tells.
fn traffic_sign(figure: &mut Figure, random: &mut Rng) {
    let (red, blue) = (about(random, [200, 34, 36]), about(random, [36, 84, 170]));
    figure.line([0.0, 0.0], [0.0, 0.7], 0.022, POLE);
    match random.usize(..3) {
        0 => {
            figure.area(&regular(3, [0.0, 0.74], 0.25, 1.571), 0.03, red);
            figure.area(&regular(3, [0.0, 0.74], 0.15, 1.571), 0.02, WHITE);
            figure.line([0.0, 0.7], [0.0, 0.8], 0.018, DARK);
        }
        1 => {
            figure.disc([0.0, 0.78], 0.21, red);
            figure.disc([0.0, 0.78], 0.15, WHITE);
            figure.line([-0.06, 0.74], [-0.06, 0.83], 0.018, DARK);
            figure.ring([0.05, 0.785], 0.035, 0.03, DARK);
        }
        _ => {
            figure.area(&[[-0.17, 0.6], [0.17, 0.6], [0.17, 0.96], [-0.17, 0.96]], 0.02, blue);
            figure.line([0.0, 0.66], [0.0, 0.84], 0.026, WHITE);
            figure.area(&[[-0.09, 0.82], [0.09, 0.82], [0.0, 0.93]], 0.0, WHITE);
        }
    }
}

fn traffic_light(figure: &mut Figure, random: &mut Rng) {
    figure.line([0.0, 0.0], [0.0, 0.6], 0.026, POLE);
    figure.area(&[[-0.11, 0.52], [0.11, 0.52], [0.11, 0.98], [-0.11, 0.98]], 0.02, DARK);
    let lit = random.usize(..3);
    for (light, color) in [[232, 44, 40], [240, 190, 40], [54, 200, 90]].into_iter().enumerate() {
        let shade = if light == lit { 1.0 } else { 0.28 };
        figure.disc([0.0, 0.9 - 0.15 * light as f32], 0.062, times(color, shade));
    }
}

fn street_light(figure: &mut Figure, random: &mut Rng) {
    let color = times(POLE, within(random, 0.5..1.0));
    figure.limb([0.0, 0.0], [0.0, 0.86], [0.028, 0.018], color);
    figure.area(&[[-0.05, 0.0], [0.05, 0.0], [0.03, 0.12], [-0.03, 0.12]], 0.0, times(color, 0.8));
    figure.path(&[[0.0, 0.86], [0.03, 0.93], [0.1, 0.965], [0.22, 0.97]], 0.018, color);
    figure.area(&[[0.14, 0.94], [0.34, 0.93], [0.31, 0.98], [0.16, 1.0]], 0.01, times(color, 0.7));
    figure.oval([0.24, 0.925], [0.075, 0.025], [255, 240, 180]);
}

fn bench(figure: &mut Figure, random: &mut Rng) {
    let wood = about(random, [148, 98, 56]);
    for leg in [-0.55, 0.55] {
        figure.line([leg, 0.0], [leg, 0.32], 0.03, DARK);
        figure.line([leg + 0.08, 0.0], [leg + 0.08, 0.3], 0.025, times(DARK, 0.8));
        figure.line([leg + 0.04, 0.32], [leg + 0.04, 0.66], 0.022, DARK);
    }
    for (y, shade) in [(0.46, 0.9), (0.55, 1.0), (0.64, 1.1)] {
        figure.line([-0.66, y], [0.66, y], 0.032, Fill::coarse(times(wood, shade), 0.3));
    }
    figure.area(&[[-0.7, 0.3], [0.7, 0.3], [0.64, 0.38], [-0.64, 0.38]], 0.015, Fill::coarse(times(wood, 1.15), 0.3));
}

/// A ball in six colours.
fn ball(figure: &mut Figure, random: &mut Rng) {
    let (one, other) = (any_color(random), any_color(random));
    let turn = within(random, 0.0..1.0);
    figure.disc([0.0, 0.5], 0.5, one);
    for wedge in 0..3 {
        let middle = turn + 2.094 * wedge as f32;
        let corner = |angle: f32, far: f32| -> [f32; 2] {
            (Vec2::new(0.0, 0.5) + Vec2::from_angle(middle + angle) * far).into()
        };
        let corners = [[0.0, 0.5], corner(-0.5, 0.46), corner(-0.17, 0.495), corner(0.17, 0.495), corner(0.5, 0.46)];
        figure.area(&corners, 0.0, if wedge == 0 { WHITE } else { other });
    }
    figure.disc([0.0, 0.5], 0.07, WHITE);
}

fn football(figure: &mut Figure, random: &mut Rng) {
    let turn = within(random, 0.0..1.2);
    figure.disc([0.0, 0.5], 0.5, about(random, [240, 240, 236]));
    figure.area(&regular(5, [0.0, 0.5], 0.17, turn), 0.0, DARK);
    for patch in 0..5 {
        let angle = turn + 1.2566 * patch as f32;
        let way = Vec2::from_angle(angle);
        let (from, to) = (Vec2::new(0.0, 0.5) + way * 0.17, Vec2::new(0.0, 0.5) + way * 0.34);
        figure.line(from.into(), to.into(), 0.014, DARK);
        let outer = Vec2::new(0.0, 0.5) + Vec2::from_angle(angle) * 0.4;
        figure.tilted(outer.into(), [0.07, 0.11], angle, DARK);
    }
}

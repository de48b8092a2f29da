//! Vehicles on four wheels or more, from the side; they drive to the right. Without wheels they stand on blocks.

use fastrand::Rng;

use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, any_color, times, within};
use crate::photo::thing::Thing;

const GLASS: Rgb = [120, 150, 168];
const DARK: Rgb = [34, 34, 38];

pub(super) fn car(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::Van => van(figure, random),
        Class::Bus => bus(figure, random),
        Class::Truck => truck(figure, random),
        Class::LandVehicle => return tractor(figure, random, thing),
        Class::Taxi => {
            let yellow = about(random, [236, 190, 30]);
            saloon(figure, random, yellow);
            figure.area(&[[-0.09, 0.47], [0.05, 0.47], [0.03, 0.55], [-0.07, 0.55]], 0.01, [240, 238, 228]);
            for square in 0..10 {
                let (left, low) = (-0.4 + 0.08 * square as f32, if square % 2 == 0 { 0.2 } else { 0.23 });
                figure.slab([left, low], [left + 0.08, low + 0.03], DARK);
            }
        }
        _ => {
            let color = any_color(random);
            saloon(figure, random, color);
        }
    }
    let (places, radius): (&[f32], f32) = match thing.class {
        Class::Bus => (&[-0.4, 0.4], 0.095),
        Class::Truck => (&[-0.42, -0.2, 0.36], 0.1),
        _ => (&[-0.29, 0.3], 0.1),
    };
    for &x in places {
        wheel(figure, thing, [x, radius], radius);
    }
}

/// A wheel, or the block that stands for it.
fn wheel(figure: &mut Figure, thing: &Thing, [x, y]: [f32; 2], radius: f32) {
    if thing.has(Class::Wheel) {
        figure.part(Class::Wheel, |figure| {
            figure.disc([x, y], radius, [28, 28, 30]);
            figure.disc([x, y], 0.58 * radius, [176, 178, 182]);
            figure.disc([x, y], 0.42 * radius, [112, 114, 118]);
            figure.disc([x, y], 0.16 * radius, [200, 200, 204]);
        });
    } else {
        figure.slab([x - 0.6 * radius, 0.0], [x + 0.6 * radius, y], Fill::coarse([150, 142, 132], 0.3));
        figure.line([x - 0.6 * radius, 0.5 * y], [x + 0.6 * radius, 0.5 * y], 0.006, [96, 90, 84]);
    }
}

/// An ordinary car.
fn saloon(figure: &mut Figure, random: &mut Rng, color: Rgb) {
    let roof = within(random, 0.43..0.48);
    let (front, back) = (within(random, 0.1..0.2), within(random, -0.3..-0.18));
    figure.area(&[[-0.42, 0.27], [back, roof], [front, roof], [0.27, 0.28]], 0.015, times(color, 0.9));
    figure.area(&[[-0.36, 0.29], [back + 0.02, roof - 0.02], [-0.06, roof - 0.02], [-0.06, 0.29]], 0.0, GLASS);
    figure.area(&[[-0.03, 0.29], [-0.03, roof - 0.02], [front - 0.01, roof - 0.02], [0.22, 0.29]], 0.0, GLASS);
    let body = [[-0.47, 0.12], [0.47, 0.12], [0.48, 0.2], [0.42, 0.25], [0.24, 0.28], [-0.44, 0.28], [-0.48, 0.22]];
    figure.area(&body, 0.02, color);
    figure.line([-0.045, 0.14], [-0.045, 0.28], 0.005, times(color, 0.6));
    figure.line([-0.14, 0.23], [-0.09, 0.23], 0.008, times(color, 0.5));
    figure.oval([0.46, 0.21], [0.025, 0.03], [250, 244, 200]);
    figure.oval([-0.48, 0.22], [0.018, 0.03], [200, 30, 30]);
    arches(figure, &[-0.29, 0.3], 0.115);
}

/// Where wheels go in, it is dark.
fn arches(figure: &mut Figure, places: &[f32], radius: f32) {
    for &x in places {
        figure.area(
            &[[x - radius, 0.09], [x + radius, 0.09], [x + 0.7 * radius, 0.2], [x - 0.7 * radius, 0.2]],
            0.01,
            DARK,
        );
    }
}

fn van(figure: &mut Figure, random: &mut Rng) {
    let color = any_color(random);
    figure.area(&[[-0.47, 0.12], [0.48, 0.12], [0.48, 0.26], [0.32, 0.52], [-0.47, 0.52]], 0.02, color);
    figure.area(&[[0.12, 0.31], [0.42, 0.31], [0.31, 0.47], [0.12, 0.47]], 0.0, GLASS);
    if random.bool() {
        figure.slab([-0.4, 0.32], [-0.18, 0.46], GLASS);
        figure.slab([-0.14, 0.32], [0.06, 0.46], GLASS);
    } else {
        figure.line([-0.42, 0.34], [0.02, 0.34], 0.035, any_color(random));
    }
    figure.line([0.09, 0.14], [0.09, 0.5], 0.005, times(color, 0.6));
    figure.oval([0.48, 0.2], [0.02, 0.03], [250, 244, 200]);
    arches(figure, &[-0.29, 0.3], 0.115);
}

fn bus(figure: &mut Figure, random: &mut Rng) {
    let color = any_color(random);
    figure.area(&[[-0.63, 0.12], [0.63, 0.12], [0.63, 0.5], [-0.63, 0.5]], 0.025, color);
    let windows = random.usize(5..8);
    let step = 1.02 / windows as f32;
    for window in 0..windows {
        let left = -0.61 + step * window as f32;
        figure.slab([left, 0.31], [left + 0.86 * step, 0.46], GLASS);
    }
    figure.slab([0.44, 0.14], [0.54, 0.46], times(GLASS, 0.7));
    figure.line([0.49, 0.14], [0.49, 0.46], 0.006, times(color, 0.5));
    figure.slab([0.57, 0.28], [0.65, 0.47], GLASS);
    figure.line([-0.63, 0.24], [0.42, 0.24], 0.018, times(color, 0.55));
    figure.oval([0.64, 0.19], [0.018, 0.025], [250, 244, 200]);
    arches(figure, &[-0.4, 0.4], 0.11);
}

fn truck(figure: &mut Figure, random: &mut Rng) {
    let (cab, load) = (any_color(random), any_color(random));
    figure.slab([-0.58, 0.12], [0.5, 0.19], [52, 52, 56]);
    figure.area(&[[-0.57, 0.2], [0.14, 0.2], [0.14, 0.62], [-0.57, 0.62]], 0.01, load);
    for rib in 1..4 {
        let x = -0.57 + 0.178 * rib as f32;
        figure.line([x, 0.21], [x, 0.61], 0.006, times(load, 0.7));
    }
    figure.area(&[[0.2, 0.14], [0.54, 0.14], [0.55, 0.3], [0.46, 0.48], [0.2, 0.48]], 0.015, cab);
    figure.area(&[[0.3, 0.31], [0.51, 0.31], [0.44, 0.45], [0.3, 0.45]], 0.0, GLASS);
    figure.oval([0.55, 0.2], [0.018, 0.03], [250, 244, 200]);
    arches(figure, &[-0.42, -0.2, 0.36], 0.11);
}

/// A tractor, which the classes know as a vehicle on land and no better.
fn tractor(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let choice = one_of(random, &[[52, 116, 52], [188, 50, 40], [60, 90, 160]]);
    let color = about(random, choice);
    figure.line([0.2, 0.4], [0.2, 0.66], 0.02, DARK);
    figure.area(&[[-0.05, 0.2], [0.44, 0.2], [0.44, 0.4], [-0.05, 0.44]], 0.02, color);
    figure.slab([0.45, 0.22], [0.48, 0.38], [60, 60, 64]);
    figure.slab([-0.36, 0.44], [-0.06, 0.76], GLASS);
    for post in [-0.36, -0.06] {
        figure.line([post, 0.42], [post, 0.76], 0.018, times(color, 0.7));
    }
    figure.line([-0.42, 0.78], [0.0, 0.78], 0.03, color);
    figure.area(&[[-0.44, 0.3], [-0.06, 0.3], [-0.1, 0.5], [-0.38, 0.5]], 0.03, times(color, 0.85));
    wheel(figure, thing, [-0.26, 0.23], 0.23);
    wheel(figure, thing, [0.34, 0.13], 0.13);
}

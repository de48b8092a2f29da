//! Vehicles on two wheels, from the side. Without wheels they lean on a stand.

use fastrand::Rng;

use crate::photo::class::Class;
use crate::photo::figure::{Figure, Rgb, any_color, times, within};
use crate::photo::thing::Thing;

const DARK: Rgb = [32, 32, 36];
const STEEL: Rgb = [170, 172, 176];

pub(super) fn cycle(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    if thing.class == Class::Bicycle { bicycle(figure, random, thing) } else { motorcycle(figure, random, thing) }
}

fn bicycle(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let color = any_color(random);
    let (back, front, radius) = ([-0.32, 0.22], [0.34, 0.22], 0.2);
    for [x, y] in [back, front] {
        if thing.has(Class::BicycleWheel) {
            figure.part(Class::BicycleWheel, |figure| {
                let turn = within(random, 0.0..1.0);
                for spoke in 0..5 {
                    let [across, up] = (glam::Vec2::from_angle(turn + 0.628 * spoke as f32) * radius).to_array();
                    figure.line([x - across, y - up], [x + across, y + up], 0.006, STEEL);
                }
                figure.ring([x, y], radius, 0.045, DARK);
                figure.disc([x, y], 0.03, STEEL);
            });
        } else {
            figure.area(&[[x - 0.05, 0.0], [x + 0.05, 0.0], [x, 0.1]], 0.01, [120, 112, 104]);
            figure.disc([x, y], 0.03, STEEL);
        }
    }
    let (seat, crank, head) = ([-0.12, 0.52], [-0.04, 0.22], [0.24, 0.52]);
    for (from, to) in [(back, seat), (back, crank), (crank, seat), (crank, head), (seat, head)] {
        figure.line(from, to, 0.02, color);
    }
    figure.line(front, [0.21, 0.62], 0.02, times(color, 0.8));
    figure.path(&[[0.21, 0.62], [0.2, 0.67], [0.3, 0.68]], 0.02, DARK);
    figure.line([-0.12, 0.52], [-0.15, 0.6], 0.016, STEEL);
    figure.limb([-0.23, 0.62], [-0.08, 0.62], [0.035, 0.022], DARK);
    figure.disc(crank, 0.05, STEEL);
    figure.line([-0.04, 0.22], [0.02, 0.12], 0.014, DARK);
    if random.f32() < 0.3 {
        figure.area(&[[0.3, 0.52], [0.46, 0.52], [0.44, 0.64], [0.31, 0.64]], 0.01, [150, 108, 62]);
    }
}

fn motorcycle(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let color = any_color(random);
    let (back, front, radius) = ([-0.34, 0.17], [0.36, 0.17], 0.17);
    for [x, y] in [back, front] {
        if thing.has(Class::Wheel) {
            figure.part(Class::Wheel, |figure| {
                figure.disc([x, y], radius, [28, 28, 30]);
                figure.disc([x, y], 0.6 * radius, [150, 152, 156]);
                figure.disc([x, y], 0.45 * radius, [70, 70, 74]);
                figure.disc([x, y], 0.14 * radius, STEEL);
            });
        } else {
            figure.area(&[[x - 0.06, 0.0], [x + 0.06, 0.0], [x, 0.16]], 0.01, [120, 112, 104]);
        }
    }
    figure.line(front, [0.2, 0.52], 0.028, STEEL);
    figure.limb([-0.1, 0.18], [-0.46, 0.14], [0.035, 0.045], STEEL);
    figure.area(&[[-0.14, 0.14], [0.14, 0.14], [0.16, 0.34], [-0.16, 0.34]], 0.02, [74, 74, 80]);
    figure.line([-0.02, 0.2], [0.1, 0.2], 0.03, [140, 140, 146]);
    figure.line([-0.34, 0.2], [-0.1, 0.38], 0.028, DARK);
    figure.area(&[[-0.46, 0.4], [-0.08, 0.38], [-0.06, 0.44], [-0.5, 0.48]], 0.02, DARK);
    figure.tilted([0.06, 0.44], [0.17, 0.09], 0.1, color);
    figure.area(&[[0.2, 0.36], [0.3, 0.4], [0.28, 0.58], [0.2, 0.54]], 0.02, color);
    figure.limb([0.24, 0.34], [0.5, 0.34], [0.02, 0.03], color);
    figure.path(&[[0.2, 0.54], [0.14, 0.64], [0.06, 0.62]], 0.02, DARK);
    figure.disc([0.31, 0.52], 0.045, [250, 244, 200]);
}

//! Birds, and a tortoise, which the classes know no better than as an animal.

use fastrand::Rng;

use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, any_color, times, within};
use crate::photo::thing::Thing;

const DARK: Rgb = [30, 26, 26];

pub(super) fn bird(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::Duck => duck(figure, random),
        Class::Owl => owl(figure, random),
        _ => songbird(figure, random),
    }
}

fn songbird(figure: &mut Figure, random: &mut Rng) {
    let color = any_color(random);
    let coat = Fill::coarse(color, 0.2);
    for foot in [-0.05, 0.08] {
        figure.path(&[[foot, 0.3], [foot + 0.02, 0.02], [foot + 0.12, 0.02]], 0.018, [180, 120, 60]);
    }
    figure.area(&[[-0.34, 0.5], [-0.78, 0.5], [-0.74, 0.38], [-0.3, 0.4]], 0.02, times(color, 0.7));
    figure.tilted([-0.02, 0.48], [0.42, 0.25], 0.35, coat);
    figure.tilted([0.1, 0.4], [0.26, 0.16], 0.5, Fill::coarse(times(color, 1.4), 0.2));
    figure.disc([0.32, 0.76], 0.19, coat);
    figure.area(&[[0.47, 0.82], [0.68, 0.74], [0.48, 0.7]], 0.0, [230, 160, 50]);
    let lift = if random.f32() < 0.3 { 0.7 } else { 0.0 };
    figure.tilted([-0.12, 0.5 + 0.25 * lift], [0.32, 0.13], 0.3 - lift, times(color, 0.6));
    figure.disc([0.38, 0.8], 0.035, DARK);
}

fn duck(figure: &mut Figure, random: &mut Rng) {
    let choice = one_of(random, &[[238, 234, 224], [240, 206, 70], [130, 96, 64]]);
    let color = about(random, choice);
    let coat = Fill::coarse(color, 0.15);
    let head: Rgb = if random.f32() < 0.4 { [30, 96, 64] } else { color };
    let orange = about(random, [236, 140, 30]);
    for foot in [-0.08, 0.1] {
        figure.line([foot, 0.16], [foot, 0.03], 0.025, orange);
        figure.oval([foot + 0.05, 0.025], [0.09, 0.025], orange);
    }
    figure.area(&[[-0.48, 0.4], [-0.66, 0.62], [-0.3, 0.5]], 0.03, coat);
    figure.oval([-0.06, 0.36], [0.46, 0.22], coat);
    figure.limb([0.26, 0.42], [0.36, 0.74], [0.13, 0.09], coat);
    if head != color {
        figure.line([0.28, 0.6], [0.44, 0.58], 0.025, [240, 240, 236]);
    }
    figure.disc([0.38, 0.8], 0.15, head);
    figure.oval([0.6, 0.77], [0.15, 0.05], orange);
    figure.disc([0.43, 0.85], 0.028, DARK);
    figure.tilted([-0.12, 0.42], [0.28, 0.12], 0.15, Fill::coarse(times(color, 0.82), 0.25));
}

fn owl(figure: &mut Figure, random: &mut Rng) {
    let color = about(random, [138, 100, 66]);
    let coat = Fill::coarse(color, 0.45);
    figure.line([-0.45, 0.04], [0.45, 0.04], 0.05, [92, 70, 52]);
    for side in [-1.0, 1.0] {
        figure.area(&[[side * 0.34, 0.76], [side * 0.36, 1.04], [side * 0.12, 0.92]], 0.01, times(color, 0.7));
    }
    figure.oval([0.0, 0.42], [0.33, 0.38], coat);
    figure.oval([0.0, 0.74], [0.36, 0.24], coat);
    figure.oval([0.0, 0.36], [0.2, 0.27], Fill::coarse(times(color, 1.5), 0.5));
    for side in [-1.0, 1.0] {
        figure.tilted([side * 0.3, 0.4], [0.1, 0.3], side * 0.15, times(color, 0.6));
        figure.disc([side * 0.16, 0.75], 0.15, [236, 222, 190]);
        figure.disc([side * 0.16, 0.75], 0.1, [240, 180, 40]);
        figure.disc([side * 0.16, 0.75], 0.055, DARK);
        figure.line([side * 0.1, 0.06], [side * 0.14, 0.1], 0.03, [214, 160, 60]);
    }
    figure.area(&[[-0.05, 0.7], [0.05, 0.7], [0.0, 0.58]], 0.0, [220, 160, 60]);
}

pub(super) fn tortoise(figure: &mut Figure, random: &mut Rng, _: &Thing) {
    let skin = about(random, [132, 136, 76]);
    let shell = about(random, [104, 84, 44]);
    for foot in [-0.36, -0.2, 0.2, 0.36] {
        figure.limb([foot, 0.2], [foot * 1.15, 0.06], [0.09, 0.08], times(skin, 0.85));
    }
    figure.limb([0.42, 0.22], [0.62, within(random, 0.3..0.42)], [0.08, 0.1], skin);
    figure.area(&[[-0.5, 0.2], [-0.42, 0.42], [-0.18, 0.6], [0.18, 0.6], [0.42, 0.42], [0.5, 0.2]], 0.03, shell);
    for plate in [[-0.26, 0.38], [0.0, 0.46], [0.26, 0.38]] {
        figure.oval(plate, [0.1, 0.09], Fill::coarse(times(shell, 1.5), 0.3));
    }
    figure.line([-0.5, 0.19], [0.5, 0.19], 0.03, times(shell, 0.6));
    figure.disc([0.66, 0.4], 0.02, DARK);
}

//! What is in the air.

use fastrand::Rng;

use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, any_color, times, within};
use crate::photo::thing::Thing;

const GLASS: Rgb = [96, 130, 156];

pub(super) fn flyer(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::Airplane => airplane(figure, random),
        Class::Helicopter => helicopter(figure, random),
        Class::Kite => kite(figure, random),
        _ => balloon(figure, random),
    }
}

fn airplane(figure: &mut Figure, random: &mut Rng) {
    let (hull, trim): (Rgb, Rgb) = ([232, 232, 236], any_color(random));
    figure.area(&[[0.02, 0.4], [0.14, 0.4], [-0.12, 0.62], [-0.2, 0.62]], 0.01, times(hull, 0.7));
    figure.area(&[[-0.5, 0.4], [-0.36, 0.4], [-0.46, 0.66], [-0.58, 0.66]], 0.012, trim);
    figure.limb([-0.5, 0.4], [-0.3, 0.36], [0.035, 0.075], hull);
    figure.limb([-0.3, 0.36], [0.44, 0.35], [0.075, 0.07], hull);
    figure.line([-0.4, 0.335], [0.46, 0.325], 0.014, trim);
    for window in 0..7 {
        figure.disc([-0.26 + 0.09 * window as f32, 0.38], 0.018, GLASS);
    }
    figure.area(&[[0.44, 0.37], [0.51, 0.36], [0.47, 0.4], [0.42, 0.41]], 0.004, GLASS);
    figure.area(&[[-0.5, 0.41], [-0.4, 0.4], [-0.58, 0.3], [-0.64, 0.3]], 0.008, times(hull, 0.85));
    figure.area(&[[0.0, 0.33], [0.18, 0.33], [-0.16, 0.08], [-0.28, 0.08]], 0.012, times(hull, 0.85));
    figure.limb([-0.04, 0.19], [0.08, 0.19], [0.03, 0.036], times(trim, 0.8));
}

fn helicopter(figure: &mut Figure, random: &mut Rng) {
    let color = any_color(random);
    figure.line([-0.02, 0.58], [-0.02, 0.68], 0.022, [60, 60, 64]);
    figure.limb([-0.2, 0.46], [-0.66, 0.5], [0.06, 0.025], color);
    figure.area(&[[-0.68, 0.44], [-0.6, 0.5], [-0.64, 0.64], [-0.72, 0.62]], 0.01, times(color, 0.8));
    figure.line([-0.74, 0.4], [-0.64, 0.6], 0.012, [80, 80, 84]);
    figure.oval([0.04, 0.42], [0.3, 0.19], color);
    figure.area(&[[0.1, 0.42], [0.31, 0.4], [0.25, 0.52], [0.12, 0.56]], 0.02, GLASS);
    figure.slab([-0.1, 0.4], [0.04, 0.54], GLASS);
    for strut in [-0.1, 0.16] {
        figure.line([strut, 0.28], [strut, 0.16], 0.014, [70, 70, 74]);
    }
    figure.path(&[[-0.24, 0.16], [0.28, 0.16], [0.34, 0.2]], 0.018, [70, 70, 74]);
    let tilt = within(random, -0.03..0.03);
    figure.line([-0.58, 0.7 - tilt], [0.54, 0.7 + tilt], 0.015, [56, 56, 60]);
}

fn kite(figure: &mut Figure, random: &mut Rng) {
    let (one, other) = (any_color(random), any_color(random));
    let sway = within(random, -0.15..0.15);
    figure.path(&[[0.0, -0.4], [sway, -0.6], [-sway, -0.78], [0.5 * sway, -0.95]], 0.016, [90, 84, 84]);
    for (bow, at) in [[sway, -0.6], [-sway, -0.78]].into_iter().enumerate() {
        let color = if bow == 0 { one } else { other };
        figure.area(&[[at[0] - 0.09, at[1] + 0.05], [at[0] - 0.09, at[1] - 0.05], at], 0.005, color);
        figure.area(&[[at[0] + 0.09, at[1] + 0.05], [at[0] + 0.09, at[1] - 0.05], at], 0.005, color);
    }
    figure.area(&[[0.0, 0.5], [0.36, 0.12], [0.0, 0.12]], 0.0, one);
    figure.area(&[[0.0, 0.5], [-0.36, 0.12], [0.0, 0.12]], 0.0, other);
    figure.area(&[[0.0, -0.4], [0.36, 0.12], [0.0, 0.12]], 0.0, other);
    figure.area(&[[0.0, -0.4], [-0.36, 0.12], [0.0, 0.12]], 0.0, one);
    figure.line([0.0, 0.5], [0.0, -0.4], 0.012, [60, 56, 54]);
    figure.line([-0.36, 0.12], [0.36, 0.12], 0.012, [60, 56, 54]);
}

fn balloon(figure: &mut Figure, random: &mut Rng) {
    let color = any_color(random);
    let sway = within(random, -0.08..0.08);
    figure.path(&[[0.0, 0.18], [sway, 0.0], [-sway, -0.2], [0.0, -0.4]], 0.014, [214, 212, 208]);
    figure.area(&[[-0.05, 0.14], [0.05, 0.14], [0.0, 0.22]], 0.0, times(color, 0.8));
    figure.oval([0.0, 0.52], [0.27, 0.34], color);
    figure.area(&[[-0.18, 0.3], [0.18, 0.3], [0.02, 0.18], [-0.02, 0.18]], 0.02, color);
    figure.tilted([-0.1, 0.66], [0.05, 0.1], -0.4, Fill::thin([255, 255, 255], 0.55));
}

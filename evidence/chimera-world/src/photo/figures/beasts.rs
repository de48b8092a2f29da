//! Four-legged animals, from a cat to a giraffe. They look to the right.

use fastrand::Rng;

use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, times, within};
use crate::photo::thing::Thing;

const DARK: Rgb = [32, 28, 28];

pub(super) fn beast(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::Cat if random.bool() => sitting_cat(figure, random),
        Class::Cat => cat(figure, random),
        Class::Dog => dog(figure, random),
        Class::Fox => fox(figure, random),
        Class::Horse => horse(figure, random),
        Class::Sheep => sheep(figure, random),
        Class::Elephant => elephant(figure, random),
        Class::Giraffe => giraffe(figure, random),
        _ => pig(figure, random),
    }
}

/// Four legs in the middle of a step; those on the far side are darker.
fn legs(figure: &mut Figure, random: &mut Rng, [back, front]: [f32; 2], top: f32, radii: [f32; 2], color: Rgb) {
    let step = within(random, -0.07..0.07);
    for (shade, swing, shift) in [(0.7, -step, 0.05), (1.0, step, 0.0)] {
        let fill = Fill::coarse(times(color, shade), 0.15);
        figure.limb([back + shift, top], [back + shift + swing, radii[1]], radii, fill);
        figure.limb([front + shift, top], [front + shift - swing, radii[1]], radii, fill);
    }
}

fn eye(figure: &mut Figure, [x, y]: [f32; 2], size: f32) {
    figure.disc([x, y], size, DARK);
    figure.disc([x + 0.3 * size, y + 0.3 * size], 0.35 * size, [240, 240, 240]);
}

fn fur(random: &mut Rng) -> Rgb {
    let color = one_of(
        random,
        &[[142, 92, 52], [60, 48, 42], [214, 178, 120], [232, 226, 214], [120, 116, 112], [186, 120, 62], [90, 62, 44]],
    );
    about(random, color)
}

fn dog(figure: &mut Figure, random: &mut Rng) {
    let color = fur(random);
    let coat = Fill::coarse(color, 0.35);
    let up = within(random, 0.1..0.35);
    figure.limb([-0.42, 0.62], [-0.62, 0.62 + up], [0.05, 0.025], coat);
    legs(figure, random, [-0.34, 0.26], 0.5, [0.075, 0.05], color);
    figure.oval([-0.05, 0.56], [0.43, 0.18], coat);
    if random.bool() {
        figure.oval([within(random, -0.2..0.1), 0.6], [0.16, 0.11], Fill::coarse(fur(random), 0.35));
    }
    figure.limb([0.26, 0.6], [0.42, 0.84], [0.14, 0.11], coat);
    figure.disc([0.46, 0.86], 0.15, coat);
    figure.limb([0.52, 0.82], [0.72, 0.78], [0.09, 0.06], coat);
    figure.disc([0.76, 0.8], 0.04, DARK);
    eye(figure, [0.53, 0.91], 0.03);
    // Ears hang down.
    figure.limb([0.37, 0.95], [0.3, 0.74], [0.04, 0.075], Fill::coarse(times(color, 0.6), 0.3));
    if random.f32() < 0.4 {
        figure.line([0.34, 0.68], [0.5, 0.68], 0.03, [200, 40, 40]);
    }
}

fn fox(figure: &mut Figure, random: &mut Rng) {
    let color = about(random, [206, 104, 40]);
    let coat = Fill::coarse(color, 0.3);
    let white: Rgb = [240, 234, 224];
    figure.limb([-0.42, 0.52], [-0.78, 0.42], [0.06, 0.13], coat);
    figure.limb([-0.84, 0.4], [-0.94, 0.38], [0.1, 0.04], white);
    legs(figure, random, [-0.32, 0.26], 0.44, [0.06, 0.035], [64, 44, 40]);
    figure.oval([-0.04, 0.52], [0.42, 0.15], coat);
    figure.limb([0.26, 0.54], [0.42, 0.74], [0.12, 0.09], coat);
    figure.area(&[[0.32, 0.84], [0.36, 1.06], [0.46, 0.88]], 0.01, times(color, 0.7));
    figure.area(&[[0.46, 0.88], [0.54, 1.06], [0.58, 0.84]], 0.01, color);
    figure.oval([0.46, 0.78], [0.15, 0.12], coat);
    figure.area(&[[0.5, 0.86], [0.78, 0.7], [0.48, 0.68]], 0.02, coat);
    figure.area(&[[0.46, 0.7], [0.74, 0.69], [0.44, 0.62]], 0.01, white);
    figure.disc([0.79, 0.71], 0.028, DARK);
    eye(figure, [0.55, 0.81], 0.024);
}

/// The head of a cat, from the front.
fn cat_head(figure: &mut Figure, [x, y]: [f32; 2], color: Rgb) {
    let coat = Fill::coarse(color, 0.3);
    for side in [-1.0, 1.0] {
        figure.area(
            &[[x + side * 0.17, y + 0.02], [x + side * 0.17, y + 0.3], [x + side * 0.03, y + 0.15]],
            0.01,
            coat,
        );
        figure.area(
            &[[x + side * 0.14, y + 0.1], [x + side * 0.15, y + 0.24], [x + side * 0.07, y + 0.15]],
            0.0,
            [214, 150, 146],
        );
    }
    figure.oval([x, y], [0.19, 0.165], coat);
    for side in [-1.0, 1.0] {
        figure.oval([x + side * 0.075, y + 0.03], [0.038, 0.042], [166, 196, 70]);
        figure.oval([x + side * 0.075, y + 0.03], [0.014, 0.04], DARK);
        for droop in [-0.06, -0.02] {
            figure.line([x + side * 0.06, y - 0.06], [x + side * 0.24, y - 0.05 + droop], 0.006, [238, 238, 236]);
        }
    }
    figure.oval([x, y - 0.07], [0.07, 0.05], times(color, 1.25));
    figure.oval([x, y - 0.04], [0.025, 0.018], [196, 110, 110]);
}

fn tabby(random: &mut Rng) -> Rgb {
    let color =
        one_of(random, &[[204, 132, 62], [96, 92, 90], [52, 46, 46], [226, 220, 210], [150, 120, 90], [176, 168, 160]]);
    about(random, color)
}

fn sitting_cat(figure: &mut Figure, random: &mut Rng) {
    let color = tabby(random);
    let coat = Fill::coarse(color, 0.3);
    let tip = within(random, 0.08..0.3);
    figure.path(&[[0.14, 0.1], [0.36, 0.06], [0.46, 0.12], [0.46, tip + 0.1]], 0.045, times(color, 0.85));
    figure.area(&[[-0.2, 0.1], [0.2, 0.1], [0.1, 0.56], [-0.1, 0.56]], 0.09, coat);
    for stripe in 0..random.usize(0..4) {
        let y = 0.24 + 0.1 * stripe as f32;
        figure.line([-0.2, y], [-0.06, y + 0.03], 0.018, times(color, 0.6));
        figure.line([0.2, y], [0.06, y + 0.03], 0.018, times(color, 0.6));
    }
    figure.limb([-0.08, 0.4], [-0.09, 0.06], [0.06, 0.055], times(color, 1.12));
    figure.limb([0.08, 0.4], [0.09, 0.06], [0.06, 0.055], times(color, 1.12));
    cat_head(figure, [0.0, 0.74], color);
}

fn cat(figure: &mut Figure, random: &mut Rng) {
    let color = tabby(random);
    let coat = Fill::coarse(color, 0.3);
    let bend = within(random, -0.1..0.1);
    figure.path(&[[-0.36, 0.5], [-0.52, 0.64], [-0.54, 0.84], [-0.46 + bend, 0.98]], 0.045, times(color, 0.85));
    legs(figure, random, [-0.3, 0.2], 0.4, [0.06, 0.042], color);
    figure.oval([-0.06, 0.46], [0.38, 0.14], coat);
    for stripe in 0..random.usize(0..5) {
        let x = -0.3 + 0.1 * stripe as f32;
        figure.line([x, 0.58], [x + 0.02, 0.46], 0.018, times(color, 0.6));
    }
    cat_head(figure, [0.36, 0.64], color);
}

fn horse(figure: &mut Figure, random: &mut Rng) {
    let choice = one_of(random, &[[112, 66, 38], [72, 48, 36], [150, 96, 56], [226, 220, 210], [44, 38, 38]]);
    let color = about(random, choice);
    let (coat, hair) = (Fill::coarse(color, 0.15), times(color, if color[0] > 160 { 0.75 } else { 0.45 }));
    let head = within(random, -0.06..0.06);
    figure.path(&[[-0.42, 0.66], [-0.56, 0.52], [-0.56, 0.24]], 0.05, hair);
    legs(figure, random, [-0.33, 0.22], 0.54, [0.07, 0.035], color);
    figure.oval([-0.06, 0.58], [0.42, 0.17], coat);
    figure.path(&[[0.16, 0.74], [0.32, 0.94], [0.4, 1.02]], 0.075, hair);
    figure.limb([0.24, 0.62], [0.42, 0.95 + head], [0.14, 0.09], coat);
    figure.limb([0.42, 0.96 + head], [0.64, 0.78 + head], [0.1, 0.065], coat);
    figure.area(&[[0.38, 1.0 + head], [0.39, 1.13 + head], [0.45, 1.02 + head]], 0.01, coat);
    figure.disc([0.65, 0.76 + head], 0.03, times(color, 0.6));
    eye(figure, [0.47, 0.95 + head], 0.024);
    if random.f32() < 0.3 {
        figure.area(&[[-0.2, 0.73], [0.08, 0.73], [0.04, 0.56], [-0.16, 0.56]], 0.02, [120, 40, 44]);
    }
}

fn sheep(figure: &mut Figure, random: &mut Rng) {
    let wool = about(random, [228, 222, 206]);
    let skin: Rgb = if random.bool() { [52, 46, 44] } else { [196, 172, 150] };
    legs(figure, random, [-0.26, 0.18], 0.36, [0.05, 0.04], skin);
    let puff = Fill::coarse(wool, 0.3);
    for step in 0..11 {
        let turn = step as f32 * std::f32::consts::TAU / 11.0;
        figure.disc([0.34 * turn.cos() - 0.04, 0.55 + 0.19 * turn.sin()], within(random, 0.13..0.17), puff);
    }
    figure.oval([-0.04, 0.55], [0.36, 0.24], puff);
    figure.tilted([0.44, 0.68], [0.15, 0.1], -0.6, skin);
    figure.tilted([0.33, 0.74], [0.09, 0.04], 0.5, times(skin, 0.8));
    figure.disc([0.36, 0.82], 0.09, puff);
    eye(figure, [0.45, 0.72], 0.024);
}

fn elephant(figure: &mut Figure, random: &mut Rng) {
    let color = about(random, [122, 120, 124]);
    let hide = Fill::coarse(color, 0.3);
    figure.path(&[[-0.46, 0.66], [-0.54, 0.4]], 0.02, times(color, 0.6));
    legs(figure, random, [-0.32, 0.16], 0.5, [0.12, 0.1], color);
    figure.oval([-0.08, 0.62], [0.44, 0.27], hide);
    figure.disc([0.38, 0.72], 0.19, hide);
    let curl = within(random, 0.0..0.22);
    for (from, to, radii) in [
        ([0.5, 0.68], [0.6, 0.4], [0.09, 0.065]),
        ([0.6, 0.4], [0.62, 0.2], [0.065, 0.05]),
        ([0.62, 0.2], [0.62 + curl, 0.12], [0.05, 0.04]),
    ] {
        figure.limb(from, to, radii, hide);
    }
    figure.limb([0.48, 0.56], [0.68, 0.5], [0.03, 0.012], [236, 230, 212]);
    figure.tilted([0.24, 0.72], [0.15, 0.2], 0.2, Fill::coarse(times(color, 0.78), 0.25));
    eye(figure, [0.45, 0.78], 0.025);
}

fn giraffe(figure: &mut Figure, random: &mut Rng) {
    let color = about(random, [222, 182, 104]);
    let (coat, spot) = (Fill::coarse(color, 0.1), about(random, [134, 82, 40]));
    figure.path(&[[-0.24, 0.5], [-0.32, 0.3]], 0.014, DARK);
    legs(figure, random, [-0.18, 0.12], 0.4, [0.045, 0.025], color);
    figure.tilted([-0.04, 0.48], [0.25, 0.11], 0.2, coat);
    figure.limb([0.12, 0.52], [0.28, 0.94], [0.085, 0.045], coat);
    for step in 0..7 {
        let along = step as f32 / 6.0;
        let x = 0.12 + 0.15 * along + within(random, -0.02..0.02);
        figure.oval([x, 0.54 + 0.37 * along], [0.026 - 0.01 * along, 0.024], spot);
    }
    for _ in 0..12 {
        let turn = std::f32::consts::TAU * random.f32();
        let far = random.f32().sqrt();
        figure.oval([-0.04 + 0.2 * far * turn.cos(), 0.48 + 0.08 * far * turn.sin()], [0.032, 0.026], spot);
    }
    figure.line([0.27, 0.97], [0.25, 1.06], 0.012, DARK);
    figure.line([0.3, 0.97], [0.3, 1.06], 0.012, DARK);
    figure.limb([0.28, 0.96], [0.4, 0.89], [0.05, 0.035], coat);
    eye(figure, [0.3, 0.965], 0.014);
}

fn pig(figure: &mut Figure, random: &mut Rng) {
    let choice = one_of(random, &[[228, 164, 158], [216, 150, 140], [110, 84, 78]]);
    let color = about(random, choice);
    let hide = Fill::coarse(color, 0.12);
    figure.path(&[[-0.46, 0.5], [-0.54, 0.56], [-0.5, 0.62], [-0.57, 0.66]], 0.02, color);
    legs(figure, random, [-0.3, 0.2], 0.3, [0.08, 0.06], color);
    figure.oval([-0.04, 0.44], [0.45, 0.25], hide);
    figure.disc([0.4, 0.5], 0.2, hide);
    figure.area(&[[0.26, 0.62], [0.3, 0.8], [0.42, 0.68]], 0.01, times(color, 0.8));
    figure.oval([0.57, 0.46], [0.07, 0.09], times(color, 0.85));
    figure.disc([0.57, 0.49], 0.016, times(color, 0.4));
    figure.disc([0.58, 0.43], 0.016, times(color, 0.4));
    eye(figure, [0.46, 0.57], 0.024);
}

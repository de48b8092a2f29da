//! What grows.

use fastrand::Rng;
use glam::Vec2;

use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, times, within};
use crate::photo::thing::Thing;

const STEM: Rgb = [58, 116, 48];

pub(super) fn plant(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::Tree => tree(figure, random),
        Class::PalmTree => palm(figure, random),
        Class::ChristmasTree => christmas_tree(figure, random),
        Class::Flower => flower(figure, random),
        Class::Sunflower => sunflower(figure, random),
        Class::Rose => rose(figure, random),
        Class::Houseplant => houseplant(figure, random),
        _ => shrub(figure, random),
    }
}

fn green(random: &mut Rng) -> Rgb {
    let color = one_of(random, &[[62, 122, 48], [84, 140, 56], [46, 96, 50], [110, 140, 60]]);
    about(random, color)
}

fn tree(figure: &mut Figure, random: &mut Rng) {
    let choice = if random.f32() < 0.25 {
        one_of(random, &[[200, 120, 40], [178, 76, 40], [206, 164, 60]])
    } else {
        green(random)
    };
    let leaves = about(random, choice);
    let bark = Fill::coarse(about(random, [100, 74, 52]), 0.4);
    figure.limb([0.0, 0.0], [0.0, 0.5], [0.07, 0.04], bark);
    figure.limb([0.0, 0.34], [0.16, 0.54], [0.03, 0.02], bark);
    figure.limb([0.0, 0.3], [-0.15, 0.5], [0.03, 0.02], bark);
    let wide = within(random, 0.24..0.34);
    for ring in 0..10 {
        let turn = ring as f32 * 0.628 + within(random, -0.2..0.2);
        let at = [wide * 0.75 * turn.cos(), 0.68 + 0.2 * turn.sin()];
        figure.disc(at, within(random, 0.11..0.16), Fill::coarse(times(leaves, within(random, 0.72..1.0)), 0.55));
    }
    figure.oval([0.0, 0.7], [wide, 0.24], Fill::coarse(leaves, 0.55));
    for _ in 0..5 {
        let at = [within(random, -0.18..0.12), within(random, 0.68..0.88)];
        figure.disc(at, within(random, 0.05..0.1), Fill::coarse(times(leaves, 1.2), 0.55));
    }
}

fn palm(figure: &mut Figure, random: &mut Rng) {
    let lean = within(random, -0.16..0.16);
    let bark = about(random, [150, 118, 80]);
    for piece in 0..6 {
        let (low, high) = (piece as f32 / 6.0, (piece + 1) as f32 / 6.0);
        let at = |share: f32| [lean * share * share, 0.78 * share];
        figure.limb(
            at(low),
            at(high),
            [0.05 - 0.02 * low, 0.042 - 0.02 * low],
            times(bark, if piece % 2 == 0 { 1.0 } else { 0.85 }),
        );
    }
    let leaf = green(random);
    for frond in 0..9 {
        let turn = -0.5 + frond as f32 * 0.52;
        let way = Vec2::from_angle(turn);
        let (middle, end) =
            (Vec2::new(lean, 0.8) + way * 0.17 + Vec2::Y * 0.03, Vec2::new(lean, 0.76) + way * 0.33 - Vec2::Y * 0.06);
        let fill = Fill::coarse(times(leaf, if frond % 2 == 0 { 0.8 } else { 1.1 }), 0.3);
        figure.limb([lean, 0.8], middle.into(), [0.02, 0.035], fill);
        figure.limb(middle.into(), end.into(), [0.035, 0.01], fill);
    }
    for nut in [-0.03, 0.03] {
        figure.disc([lean + nut, 0.77], 0.028, [96, 66, 40]);
    }
}

fn christmas_tree(figure: &mut Figure, random: &mut Rng) {
    let leaf = about(random, [30, 92, 52]);
    figure.slab([-0.05, 0.0], [0.05, 0.16], [92, 64, 44]);
    for tier in 0..4 {
        let (low, half) = (0.12 + 0.19 * tier as f32, 0.36 - 0.075 * tier as f32);
        figure.area(
            &[[-half, low], [half, low], [0.0, low + 0.32]],
            0.01,
            Fill::coarse(times(leaf, 0.85 + 0.1 * tier as f32), 0.4),
        );
    }
    for _ in 0..11 {
        let up = within(random, 0.16..0.82);
        let at = [within(random, -0.3..0.3) * (1.0 - up), up];
        let color = one_of(random, &[[220, 40, 40], [240, 196, 50], [60, 120, 220], [236, 236, 240]]);
        figure.disc(at, 0.024, color);
    }
    for point in 0..5 {
        let [across, up] = (Vec2::from_angle(1.571 + 1.2566 * point as f32) * 0.07).to_array();
        figure.limb([0.0, 1.0], [across, 1.0 + up], [0.025, 0.006], [250, 214, 70]);
    }
}

/// A stem with two leaves; gives its upper end.
fn stem(figure: &mut Figure, random: &mut Rng, high: f32) -> [f32; 2] {
    let lean = within(random, -0.1..0.1);
    figure.path(&[[0.0, 0.0], [0.4 * lean, 0.5 * high], [lean, high]], 0.025, STEM);
    figure.tilted([0.12, 0.34 * high], [0.15, 0.05], 0.6, times(STEM, 1.15));
    figure.tilted([-0.11, 0.24 * high], [0.14, 0.05], 2.5, times(STEM, 0.9));
    [lean, high]
}

fn petals(figure: &mut Figure, [x, y]: [f32; 2], count: usize, [far, long, wide]: [f32; 3], color: Rgb) {
    for petal in 0..count {
        let turn = petal as f32 * std::f32::consts::TAU / count as f32 + 0.3;
        let way = Vec2::from_angle(turn) * far;
        figure.tilted(
            [x + way.x, y + way.y],
            [long, wide],
            turn,
            times(color, if petal % 2 == 0 { 1.0 } else { 0.88 }),
        );
    }
}

/// A daisy or a tulip, of any colour.
fn flower(figure: &mut Figure, random: &mut Rng) {
    let choice = one_of(
        random,
        &[[240, 238, 232], [226, 92, 152], [150, 80, 190], [236, 190, 50], [214, 52, 48], [238, 140, 60]],
    );
    let color = about(random, choice);
    let [x, y] = stem(figure, random, 0.74);
    if random.f32() < 0.35 {
        figure.area(
            &[
                [x - 0.15, y + 0.24],
                [x - 0.07, y + 0.12],
                [x, y + 0.28],
                [x + 0.07, y + 0.12],
                [x + 0.15, y + 0.24],
                [x + 0.1, y - 0.06],
                [x - 0.1, y - 0.06],
            ],
            0.03,
            color,
        );
        figure.oval([x, y + 0.04], [0.07, 0.15], times(color, 0.85));
        return;
    }
    let count = random.usize(5..10);
    petals(figure, [x, y], count, [0.16, 0.14, 0.5 / count as f32], color);
    figure.disc([x, y], 0.085, Fill::coarse([236, 186, 50], 0.3));
}

fn sunflower(figure: &mut Figure, random: &mut Rng) {
    let color = about(random, [242, 186, 30]);
    let [x, y] = stem(figure, random, 0.78);
    petals(figure, [x, y], 16, [0.2, 0.11, 0.042], times(color, 0.85));
    petals(figure, [x, y], 13, [0.17, 0.1, 0.042], color);
    figure.disc([x, y], 0.135, Fill::coarse([92, 58, 32], 0.7));
    figure.disc([x, y], 0.06, Fill::coarse([64, 42, 26], 0.7));
}

fn rose(figure: &mut Figure, random: &mut Rng) {
    let choice = one_of(random, &[[190, 24, 44], [226, 110, 140], [240, 226, 200]]);
    let color = about(random, choice);
    let [x, y] = stem(figure, random, 0.72);
    for thorn in [0.2, 0.42, 0.56] {
        figure.area(&[[0.02, thorn], [0.07, thorn + 0.03], [0.02, thorn + 0.05]], 0.0, times(STEM, 0.8));
    }
    for (turn, shade) in [(0.5, 0.7), (2.6, 0.75), (1.57, 0.8), (-0.6, 0.85), (3.7, 0.9)] {
        let way = Vec2::from_angle(turn) * 0.1;
        figure.tilted([x + way.x, y + 0.08 + way.y], [0.13, 0.1], turn, times(color, shade));
    }
    figure.disc([x, y + 0.08], 0.13, color);
    for (radius, shade) in [(0.1, 0.72), (0.06, 0.6)] {
        figure.ring([x + 0.01, y + 0.09], radius, 0.022, times(color, shade));
    }
    figure.disc([x + 0.01, y + 0.09], 0.025, times(color, 0.5));
}

fn houseplant(figure: &mut Figure, random: &mut Rng) {
    let leaf = green(random);
    for blade in 0..9 {
        let turn = 0.45 + blade as f32 * 0.28;
        let way = Vec2::from_angle(turn) * within(random, 0.24..0.34);
        let fill = Fill::coarse(times(leaf, within(random, 0.8..1.2)), 0.2);
        figure.tilted([0.9 * way.x, 0.38 + 0.95 * way.y], [0.27, 0.065], turn, fill);
    }
    let choice = one_of(random, &[[178, 92, 58], [224, 218, 206], [70, 100, 140]]);
    let pot = about(random, choice);
    figure.area(&[[-0.17, 0.02], [0.17, 0.02], [0.23, 0.34], [-0.23, 0.34]], 0.01, pot);
    figure.line([-0.24, 0.36], [0.24, 0.36], 0.04, times(pot, 0.85));
}

/// A shrub or a fern, which the classes know as a plant and no better.
fn shrub(figure: &mut Figure, random: &mut Rng) {
    let leaf = green(random);
    if random.bool() {
        for blade in 0..11 {
            let turn = 0.15 + blade as f32 * 0.285;
            let tip = Vec2::from_angle(turn) * within(random, 0.5..0.62);
            let fill = times(leaf, within(random, 0.75..1.2));
            figure.limb([0.0, 0.02], [0.6 * tip.x, 0.15 + 0.75 * tip.y], [0.03, 0.035], fill);
            figure.limb([0.6 * tip.x, 0.15 + 0.75 * tip.y], [tip.x, 0.1 + 0.85 * tip.y], [0.035, 0.008], fill);
        }
        return;
    }
    for lump in 0..9 {
        let at = [-0.4 + 0.1 * lump as f32, within(random, 0.12..0.3)];
        figure.disc(at, within(random, 0.13..0.19), Fill::coarse(times(leaf, within(random, 0.75..1.1)), 0.6));
    }
    figure.oval([0.0, 0.24], [0.36, 0.22], Fill::coarse(leaf, 0.6));
}

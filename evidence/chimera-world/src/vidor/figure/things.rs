//! Balls, toys, chairs, bicycles and cars.

use fastrand::Rng;

use super::{Aspect, DARK, Look, Pose, Sketch, WHITE, one_of, pale, shaded};
use crate::brush::{Outline, Rgb};
use crate::vidor::cast::Category;

const BRIGHT: [Rgb; 6] = [[230, 50, 50], [40, 110, 220], [250, 200, 30], [40, 170, 80], [240, 120, 30], [150, 70, 190]];
const WOOD: [Rgb; 4] = [[150, 100, 55], [95, 62, 40], [190, 150, 100], [120, 40, 40]];
const PAINT: [Rgb; 6] = [[190, 35, 40], [40, 80, 170], [215, 215, 220], [50, 55, 60], [60, 130, 90], [235, 190, 50]];
const FUR: [Rgb; 3] = [[175, 120, 70], [205, 165, 120], [130, 85, 55]];

pub(super) fn colors(random: &mut Rng, category: Category) -> [Rgb; 4] {
    match category {
        Category::Chair => [one_of(random, &WOOD), one_of(random, &PAINT), DARK, DARK],
        Category::Bicycle => [one_of(random, &PAINT), [45, 45, 50], [170, 170, 175], DARK],
        Category::Car => [one_of(random, &PAINT), [150, 190, 215], [250, 235, 150], [200, 40, 40]],
        Category::Toy => {
            [one_of(random, &FUR), one_of(random, &BRIGHT), one_of(random, &BRIGHT), one_of(random, &BRIGHT)]
        }
        _ => [one_of(random, &BRIGHT), WHITE, one_of(random, &BRIGHT), WHITE],
    }
}

/// A ball of six wedges, which turn as it rolls.
pub(super) fn ball(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let (middle, radius) = (0.25, 0.25);
    sketch.disc([0.0, middle], radius, look.colors[1]);
    let turn = -2.0 * pose.way + 6.0 * look.way;
    for wedge in 0..6 {
        if wedge % 2 == 1 {
            continue;
        }
        let start = turn + wedge as f32 * std::f32::consts::FRAC_PI_3;
        let mut points = vec![[0.0, middle]];
        points.extend((0..=4).map(|step| {
            let angle = start + step as f32 * std::f32::consts::FRAC_PI_3 / 4.0;
            [radius * angle.cos(), middle + radius * angle.sin()]
        }));
        sketch.polygon(&points, if wedge == 2 { look.colors[2] } else { look.colors[0] });
    }
    sketch.disc([0.0, middle], 0.05, look.colors[1]);
    sketch.add(Outline::ring([0.0, middle], radius, 0.02), shaded(look.colors[0]));
}

/// A teddy bear, or bricks on top of each other.
pub(super) fn toy(sketch: &mut Sketch, look: &Look) {
    let [fur, one, two, three] = look.colors;
    if look.way < 0.55 {
        let snout = pale(fur);
        for side in [-1.0, 1.0] {
            sketch.disc([0.13 * side, 0.53], 0.065, fur);
            sketch.disc([0.13 * side, 0.53], 0.035, snout);
            sketch.limb([0.12 * side, 0.28], [0.23 * side, 0.2], [0.065, 0.055], fur);
            sketch.limb([0.09 * side, 0.1], [0.2 * side, 0.07], [0.08, 0.07], shaded(fur));
            sketch.disc([0.22 * side, 0.07], 0.04, snout);
        }
        sketch.ellipse([0.0, 0.19], [0.15, 0.18], fur);
        sketch.ellipse([0.0, 0.17], [0.085, 0.11], snout);
        sketch.disc([0.0, 0.43], 0.155, fur);
        sketch.ellipse([0.0, 0.39], [0.075, 0.055], snout);
        sketch.disc([0.0, 0.41], 0.025, DARK);
        [-0.06, 0.06].iter().for_each(|eye| sketch.disc([*eye, 0.47], 0.02, DARK));
    } else {
        for (left, low, ink) in [(-0.25, 0.0, one), (0.0, 0.0, two), (-0.13, 0.25, three)] {
            let (right, high) = (left + 0.245, low + 0.245);
            sketch.polygon(&[[left, low], [right, low], [right, high], [left, high]], shaded(ink));
            sketch.polygon(
                &[
                    [left + 0.03, low + 0.03],
                    [right - 0.03, low + 0.03],
                    [right - 0.03, high - 0.03],
                    [left + 0.03, high - 0.03],
                ],
                ink,
            );
            sketch.disc([left + 0.122, low + 0.122], 0.055, WHITE);
        }
        sketch.polygon(&[[-0.13, 0.5], [0.115, 0.5], [-0.007, 0.6]], one);
    }
}

/// A chair with a back.
pub(super) fn chair(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [wood, cushion, ..] = look.colors;
    let far = shaded(wood);
    if let Aspect::Side { .. } = pose.aspect {
        sketch.limb([-0.17, 0.5], [-0.2, 0.03], [0.03; 2], far);
        sketch.limb([0.18, 0.48], [0.18, 0.03], [0.03; 2], far);
        sketch.limb([-0.22, 0.48], [-0.27, 0.03], [0.035; 2], wood);
        sketch.limb([0.23, 0.48], [0.25, 0.03], [0.035; 2], wood);
        sketch.limb([-0.23, 0.47], [-0.27, 1.01], [0.04; 2], wood);
        sketch.limb([-0.23, 0.63], [-0.25, 0.98], [0.055; 2], cushion);
        sketch.limb([-0.24, 0.46], [0.25, 0.46], [0.045; 2], wood);
        sketch.limb([-0.19, 0.495], [0.23, 0.495], [0.03; 2], cushion);
    } else {
        for side in [-1.0, 1.0] {
            sketch.limb([0.18 * side, 0.48], [0.18 * side, 0.12], [0.025; 2], far);
            sketch.limb([0.23 * side, 0.47], [0.24 * side, 0.03], [0.035; 2], wood);
            sketch.limb([0.22 * side, 0.47], [0.22 * side, 1.01], [0.035; 2], wood);
        }
        sketch.limb([-0.22, 0.98], [0.22, 0.98], [0.05; 2], wood);
        sketch.limb([-0.22, 0.76], [0.22, 0.76], [0.035; 2], wood);
        if pose.aspect == Aspect::Front {
            sketch.polygon(&[[-0.27, 0.42], [0.27, 0.42], [0.22, 0.54], [-0.22, 0.54]], cushion);
        } else {
            sketch.polygon(&[[-0.2, 0.62], [0.2, 0.62], [0.2, 0.95], [-0.2, 0.95]], cushion);
        }
        sketch.limb([-0.25, 0.42], [0.25, 0.42], [0.035; 2], wood);
    }
}

/// A bicycle on its stand.
pub(super) fn bicycle(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [frame, tyre, metal, saddle] = look.colors;
    let thick = [0.035; 2];
    if let Aspect::Side { .. } = pose.aspect {
        for wheel in [-0.5, 0.5] {
            sketch.add(Outline::ring([wheel, 0.34], 0.34, 0.065), tyre);
            for spoke in 0..4 {
                let angle = spoke as f32 * std::f32::consts::FRAC_PI_4;
                let (x, y) = (0.3 * angle.cos(), 0.3 * angle.sin());
                sketch.limb([wheel - x, 0.34 - y], [wheel + x, 0.34 + y], [0.008; 2], metal);
            }
        }
        let (crank, seat, head) = ([-0.06, 0.32], [-0.17, 0.74], [0.34, 0.76]);
        sketch.limb([-0.5, 0.34], crank, thick, frame);
        sketch.limb([-0.5, 0.34], seat, thick, frame);
        sketch.limb(crank, seat, thick, frame);
        sketch.limb(crank, head, thick, frame);
        sketch.limb(seat, head, thick, frame);
        sketch.limb([0.5, 0.34], [0.31, 0.9], thick, frame);
        sketch.limb([0.31, 0.92], [0.18, 0.94], [0.03; 2], metal);
        sketch.limb(seat, [-0.19, 0.84], [0.025; 2], metal);
        sketch.limb([-0.3, 0.87], [-0.1, 0.87], [0.05, 0.035], saddle);
        sketch.disc(crank, 0.08, metal);
    } else {
        sketch.add(Outline::ellipse([0.0, 0.34], [0.06, 0.34], 0.0), tyre);
        sketch.limb([0.0, 0.34], [0.0, 0.92], [0.045; 2], frame);
        sketch.limb([-0.26, 0.94], [0.26, 0.94], [0.03; 2], metal);
        sketch.limb([-0.3, 0.93], [-0.22, 0.93], [0.04; 2], saddle);
        sketch.limb([0.3, 0.93], [0.22, 0.93], [0.04; 2], saddle);
        sketch.limb([-0.12, 0.3], [0.12, 0.26], [0.03; 2], metal);
        sketch.ellipse([0.0, 0.84], [0.1, 0.05], if pose.aspect == Aspect::Front { [250, 235, 150] } else { saddle });
    }
}

/// A car.
pub(super) fn car(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [paint, glass, lamp, tail] = look.colors;
    let wheel = |sketch: &mut Sketch, x: f32| {
        sketch.disc([x, 0.27], 0.27, DARK);
        sketch.disc([x, 0.27], 0.13, [165, 165, 170]);
    };
    if let Aspect::Side { .. } = pose.aspect {
        sketch.polygon(&[[-0.98, 0.75], [-0.68, 1.27], [0.4, 1.27], [0.82, 0.75]], paint);
        sketch.polygon(&[[-0.84, 0.78], [-0.6, 1.18], [-0.16, 1.18], [-0.16, 0.78]], glass);
        sketch.polygon(&[[-0.06, 0.78], [-0.06, 1.18], [0.34, 1.18], [0.68, 0.78]], glass);
        let body = [
            [-1.5, 0.28],
            [-1.5, 0.74],
            [-1.38, 0.82],
            [0.85, 0.82],
            [1.4, 0.7],
            [1.5, 0.52],
            [1.5, 0.28],
            [1.42, 0.2],
            [-1.42, 0.2],
        ];
        sketch.polygon(&body, paint);
        sketch.polygon(&[[-1.5, 0.24], [1.5, 0.24], [1.5, 0.34], [-1.5, 0.34]], shaded(paint));
        sketch.ellipse([1.41, 0.6], [0.08, 0.09], lamp);
        sketch.ellipse([-1.45, 0.66], [0.05, 0.1], tail);
        wheel(sketch, -0.88);
        wheel(sketch, 0.88);
    } else {
        [-0.52, 0.52].iter().for_each(|x| sketch.limb([*x, 0.15], [*x, 0.3], [0.13; 2], DARK));
        sketch.polygon(&[[-0.6, 0.75], [-0.46, 1.27], [0.46, 1.27], [0.6, 0.75]], paint);
        sketch.polygon(&[[-0.5, 0.78], [-0.39, 1.18], [0.39, 1.18], [0.5, 0.78]], glass);
        sketch.polygon(&[[-0.7, 0.22], [-0.7, 0.7], [-0.6, 0.82], [0.6, 0.82], [0.7, 0.7], [0.7, 0.22]], paint);
        sketch.polygon(&[[-0.7, 0.22], [0.7, 0.22], [0.7, 0.34], [-0.7, 0.34]], shaded(paint));
        let light = if pose.aspect == Aspect::Front { lamp } else { tail };
        [-0.5, 0.5].iter().for_each(|x| sketch.ellipse([*x, 0.58], [0.13, 0.1], light));
        sketch.limb([-0.25, 0.45], [0.25, 0.45], [0.05; 2], if pose.aspect == Aspect::Front { DARK } else { WHITE });
    }
}

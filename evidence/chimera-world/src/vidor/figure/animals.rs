//! Dogs, cats, horses and birds.

use fastrand::Rng;

use super::{Aspect, DARK, Look, Pose, Sketch, WHITE, one_of, pale, shaded};
use crate::brush::{Outline, Rgb};

pub(super) fn dog_colors(random: &mut Rng) -> [Rgb; 4] {
    let coat = one_of(random, &[[150, 100, 55], [205, 165, 105], [55, 48, 45], [225, 215, 200]]);
    [coat, shaded(shaded(coat)), pale(coat), one_of(random, &[[200, 40, 40], [40, 90, 200], [240, 200, 40]])]
}

pub(super) fn cat_colors(random: &mut Rng) -> [Rgb; 4] {
    let coat = one_of(random, &[[228, 140, 55], [125, 125, 132], [48, 46, 52], [236, 230, 220]]);
    [coat, shaded(coat), pale(coat), [235, 150, 160]]
}

pub(super) fn horse_colors(random: &mut Rng) -> [Rgb; 4] {
    let coat = one_of(random, &[[125, 75, 42], [85, 55, 40], [205, 195, 185], [165, 110, 60]]);
    [coat, shaded(shaded(coat)), pale(coat), DARK]
}

pub(super) fn bird_colors(random: &mut Rng) -> [Rgb; 4] {
    let coat = one_of(random, &[[50, 110, 200], [210, 55, 50], [245, 245, 245], [45, 45, 55], [90, 170, 80]]);
    [coat, shaded(coat), pale(coat), [245, 160, 40]]
}

/// Four legs that step in pairs: from hips at `back` and `front`, as long as they are high.
fn legs(sketch: &mut Sketch, [back, front]: [f32; 2], high: f32, thick: f32, swing: f32, inks: [Rgb; 2], far: bool) {
    let sign = if far { -1.0 } else { 1.0 };
    let [coat, hoof] = if far { inks.map(shaded) } else { inks };
    for (hip, step) in [(back, sign), (front, -sign)] {
        let foot = hip + 0.4 * high * step * swing + if far { 0.07 * high } else { 0.0 };
        sketch.limb([hip, high], [foot, thick], [1.35 * thick, thick], coat);
        sketch.limb([foot, thick], [foot + 0.6 * thick, 0.9 * thick], [thick, 0.9 * thick], hoof);
    }
}

/// A dog has hanging ears, a long snout, a collar, and its tail up.
pub(super) fn dog(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [coat, dark, light, collar] = look.colors;
    if let Aspect::Side { .. } = pose.aspect {
        let wag = 0.06 * (6.0 * pose.way).sin();
        legs(sketch, [-0.3, 0.24], 0.36, 0.05, pose.swing, [coat, coat], true);
        sketch.limb([-0.36, 0.5], [-0.53 + wag, 0.74], [0.05, 0.03], coat);
        sketch.limb([-0.28, 0.45], [0.24, 0.46], [0.14, 0.17], coat);
        sketch.limb([-0.2, 0.37], [0.2, 0.35], [0.06, 0.08], light);
        legs(sketch, [-0.3, 0.24], 0.36, 0.055, pose.swing, [coat, light], false);
        sketch.limb([0.27, 0.52], [0.38, 0.66], [0.13, 0.1], coat);
        sketch.limb([0.25, 0.6], [0.42, 0.55], [0.035, 0.035], collar);
        sketch.disc([0.4, 0.7], 0.135, coat);
        sketch.limb([0.45, 0.67], [0.58, 0.64], [0.075, 0.055], light);
        sketch.disc([0.62, 0.67], 0.035, DARK);
        sketch.disc([0.46, 0.75], 0.022, DARK);
        sketch.add(Outline::ellipse([0.32, 0.65], [0.06, 0.14], -0.2), dark);
    } else {
        let lift = 0.04 * pose.swing;
        sketch.limb([-0.1, 0.3], [-0.11, 0.06 + lift.max(0.0)], [0.07, 0.06], coat);
        sketch.limb([0.1, 0.3], [0.11, 0.06 + (-lift).max(0.0)], [0.07, 0.06], coat);
        sketch.ellipse([0.0, 0.4], [0.19, 0.22], coat);
        if pose.aspect == Aspect::Front {
            sketch.ellipse([0.0, 0.34], [0.1, 0.14], light);
            sketch.limb([-0.12, 0.54], [0.12, 0.54], [0.035; 2], collar);
            sketch.disc([0.0, 0.68], 0.16, coat);
            sketch.ellipse([0.0, 0.61], [0.08, 0.07], light);
            sketch.disc([0.0, 0.64], 0.035, DARK);
            [-0.06, 0.06].iter().for_each(|eye| sketch.disc([*eye, 0.72], 0.022, DARK));
        } else {
            sketch.disc([0.0, 0.68], 0.15, coat);
            sketch.limb([0.0, 0.5], [0.06, 0.72], [0.045, 0.03], dark);
        }
        [-1.0_f32, 1.0].iter().for_each(|side| {
            sketch.add(Outline::ellipse([0.16 * side, 0.66], [0.055, 0.13], 0.25 * side), dark);
        });
    }
}

/// A cat has pointed ears and a long tail; it sits where it stays.
pub(super) fn cat(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [coat, dark, light, pink] = look.colors;
    let ears = |sketch: &mut Sketch, [x, y]: [f32; 2], spread: f32| {
        for side in [-1.0, 1.0] {
            let at = x + side * spread;
            sketch.polygon(&[[at - 0.055, y], [at + 0.055, y], [at + 0.03 * side, y + 0.14]], coat);
            sketch.polygon(&[[at - 0.025, y], [at + 0.025, y], [at + 0.02 * side, y + 0.08]], pink);
        }
    };
    let side = matches!(pose.aspect, Aspect::Side { .. });
    if side && pose.moves {
        legs(sketch, [-0.2, 0.15], 0.2, 0.035, pose.swing, [coat, coat], true);
        sketch.limb([-0.24, 0.27], [-0.38, 0.38], [0.035, 0.03], dark);
        sketch.limb([-0.38, 0.38], [-0.36, 0.56], [0.03, 0.03], dark);
        sketch.limb([-0.2, 0.25], [0.16, 0.26], [0.095, 0.1], coat);
        for stripe in [-0.16, -0.06, 0.04] {
            sketch.limb([stripe, 0.33], [stripe + 0.01, 0.25], [0.018, 0.01], dark);
        }
        legs(sketch, [-0.2, 0.15], 0.2, 0.038, pose.swing, [coat, light], false);
        ears(sketch, [0.27, 0.44], 0.06);
        sketch.disc([0.27, 0.38], 0.115, coat);
        sketch.disc([0.36, 0.35], 0.03, light);
        sketch.disc([0.31, 0.4], 0.02, DARK);
    } else if side {
        sketch.limb([-0.16, 0.05], [-0.34, 0.06], [0.035, 0.03], dark);
        sketch.limb([-0.34, 0.06], [-0.38, 0.2], [0.03, 0.025], dark);
        sketch.limb([-0.08, 0.13], [0.06, 0.3], [0.14, 0.09], coat);
        sketch.limb([0.08, 0.26], [0.1, 0.03], [0.05, 0.04], light);
        for stripe in [0.1, 0.18, 0.26] {
            sketch.limb([-0.14, stripe + 0.04], [-0.04, stripe], [0.018, 0.01], dark);
        }
        ears(sketch, [0.12, 0.47], 0.06);
        sketch.disc([0.12, 0.41], 0.12, coat);
        sketch.disc([0.21, 0.38], 0.03, light);
        sketch.disc([0.16, 0.43], 0.02, DARK);
    } else {
        sketch.limb([0.12, 0.06], [0.26, 0.09], [0.035, 0.03], dark);
        sketch.limb([0.26, 0.09], [0.27, 0.24], [0.03, 0.025], dark);
        sketch.ellipse([0.0, 0.18], [0.14, 0.18], coat);
        ears(sketch, [0.0, 0.47], 0.075);
        if pose.aspect == Aspect::Front {
            sketch.ellipse([0.0, 0.16], [0.07, 0.13], light);
            sketch.disc([0.0, 0.4], 0.13, coat);
            [-0.05, 0.05].iter().for_each(|eye| sketch.disc([*eye, 0.42], 0.022, [90, 160, 70]));
            sketch.ellipse([0.0, 0.36], [0.05, 0.03], light);
            sketch.disc([0.0, 0.37], 0.016, pink);
        } else {
            sketch.disc([0.0, 0.4], 0.13, coat);
            [0.1, 0.18, 0.26].iter().for_each(|y| sketch.limb([-0.06, *y], [0.06, *y], [0.016; 2], dark));
        }
    }
}

/// A horse has long legs, a high neck with a mane, and a hanging tail.
pub(super) fn horse(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [coat, mane, light, hoof] = look.colors;
    if let Aspect::Side { .. } = pose.aspect {
        let swing = 0.7 * pose.swing;
        legs(sketch, [-0.58, 0.4], 0.85, 0.06, swing, [coat, hoof], true);
        sketch.limb([-0.76, 1.12], [-0.9, 0.55], [0.08, 0.05], mane);
        sketch.limb([-0.52, 1.0], [0.4, 1.0], [0.27, 0.25], coat);
        legs(sketch, [-0.58, 0.4], 0.85, 0.065, swing, [coat, hoof], false);
        sketch.limb([0.36, 1.3], [0.66, 1.68], [0.12, 0.08], mane);
        sketch.limb([0.46, 1.12], [0.75, 1.52], [0.21, 0.13], coat);
        sketch.polygon(&[[0.66, 1.6], [0.78, 1.6], [0.7, 1.75]], coat);
        sketch.limb([0.74, 1.54], [0.98, 1.3], [0.13, 0.085], coat);
        sketch.disc([0.99, 1.28], 0.075, light);
        sketch.disc([0.82, 1.54], 0.028, DARK);
    } else {
        let lift = 0.08 * pose.swing;
        sketch.limb([-0.15, 0.8], [-0.16, 0.08 + lift.max(0.0)], [0.09, 0.065], coat);
        sketch.limb([0.15, 0.8], [0.16, 0.08 + (-lift).max(0.0)], [0.09, 0.065], coat);
        [-0.16, 0.16].iter().for_each(|foot| sketch.disc([*foot, 0.07], 0.075, hoof));
        sketch.ellipse([0.0, 0.98], [0.29, 0.3], coat);
        if pose.aspect == Aspect::Front {
            sketch.limb([0.0, 1.1], [0.0, 1.45], [0.2, 0.15], coat);
            sketch.polygon(&[[-0.14, 1.58], [-0.03, 1.6], [-0.1, 1.75]], coat);
            sketch.polygon(&[[0.14, 1.58], [0.03, 1.6], [0.1, 1.75]], coat);
            sketch.limb([0.0, 1.54], [0.0, 1.2], [0.14, 0.09], coat);
            sketch.limb([0.0, 1.55], [0.0, 1.25], [0.035, 0.03], light);
            sketch.disc([0.0, 1.17], 0.085, light);
            [-0.09, 0.09].iter().for_each(|eye| sketch.disc([*eye, 1.5], 0.026, DARK));
        } else {
            sketch.limb([0.0, 1.1], [0.0, 1.6], [0.2, 0.12], mane);
            sketch.polygon(&[[-0.12, 1.58], [-0.02, 1.6], [-0.1, 1.75]], coat);
            sketch.polygon(&[[0.12, 1.58], [0.02, 1.6], [0.1, 1.75]], coat);
            sketch.limb([0.0, 1.2], [0.0, 0.5], [0.08, 0.06], mane);
        }
    }
}

/// A bird flies: its wings beat, also where it stays in the air.
pub(super) fn bird(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [coat, dark, light, beak] = look.colors;
    let beat = (std::f32::consts::TAU * 1.3 * pose.way).sin();
    let tip = 0.2 + 0.2 * beat;
    if let Aspect::Side { .. } = pose.aspect {
        sketch.polygon(&[[-0.04, 0.22], [0.1, 0.22], [-0.08, 0.21 + 0.9 * (tip - 0.2)]], dark);
        sketch.polygon(&[[-0.2, 0.24], [-0.42, 0.3], [-0.38, 0.19], [-0.2, 0.17]], dark);
        sketch.add(Outline::ellipse([-0.03, 0.2], [0.23, 0.11], 0.12), coat);
        sketch.ellipse([0.02, 0.15], [0.14, 0.06], light);
        sketch.disc([0.22, 0.27], 0.095, coat);
        sketch.polygon(&[[0.3, 0.3], [0.3, 0.22], [0.42, 0.25]], beak);
        sketch.disc([0.25, 0.29], 0.022, DARK);
        sketch.polygon(&[[-0.1, 0.23], [0.12, 0.23], [-0.14, tip + 0.02], [-0.2, tip]], dark);
    } else {
        for side in [-1.0, 1.0] {
            sketch.polygon(
                &[[0.08 * side, 0.26], [0.08 * side, 0.14], [0.5 * side, tip], [0.3 * side, tip + 0.06]],
                dark,
            );
        }
        sketch.ellipse([0.0, 0.18], [0.12, 0.14], coat);
        sketch.disc([0.0, 0.31], 0.09, coat);
        if pose.aspect == Aspect::Front {
            sketch.ellipse([0.0, 0.15], [0.07, 0.09], light);
            sketch.polygon(&[[-0.03, 0.31], [0.03, 0.31], [0.0, 0.23]], beak);
            [-0.04, 0.04]
                .iter()
                .for_each(|eye| sketch.disc([*eye, 0.34], 0.018, if coat[0] < 80 { WHITE } else { DARK }));
        }
    }
}

//! Adults, children and babies.

use fastrand::Rng;

use super::{Aspect, DARK, Look, Pose, Sketch, WHITE, one_of, shaded};
use crate::brush::Rgb;

const SKIN: [Rgb; 4] = [[240, 200, 170], [222, 170, 130], [170, 115, 78], [110, 72, 50]];
const HAIR: [Rgb; 5] = [[40, 28, 22], [92, 58, 34], [200, 160, 90], [150, 75, 40], [190, 190, 190]];
const CLOTH: [Rgb; 7] =
    [[60, 80, 150], [150, 50, 55], [70, 110, 80], [110, 90, 130], [70, 70, 78], [170, 150, 120], [50, 110, 130]];
const TROUSERS: [Rgb; 4] = [[45, 55, 90], [50, 50, 55], [120, 100, 75], [80, 85, 100]];
const BRIGHT: [Rgb; 6] =
    [[235, 70, 60], [250, 190, 40], [70, 180, 90], [60, 140, 230], [235, 110, 190], [250, 130, 40]];
const ONESIE: [Rgb; 4] = [[250, 225, 235], [215, 235, 250], [250, 245, 200], [220, 245, 220]];

pub(super) fn adult_colors(random: &mut Rng) -> [Rgb; 4] {
    [one_of(random, &CLOTH), one_of(random, &TROUSERS), one_of(random, &SKIN), one_of(random, &HAIR)]
}

pub(super) fn child_colors(random: &mut Rng) -> [Rgb; 4] {
    [one_of(random, &BRIGHT), one_of(random, &TROUSERS), one_of(random, &SKIN), one_of(random, &HAIR[..4])]
}

pub(super) fn baby_colors(random: &mut Rng) -> [Rgb; 4] {
    [one_of(random, &ONESIE), WHITE, one_of(random, &SKIN), one_of(random, &HAIR[..4])]
}

/// Where the joints of somebody upright are, in metres, and how thick limbs are.
struct Build {
    hip: f32,
    shoulder: f32,
    head: f32,
    /// Radius of the head.
    skull: f32,
    /// Half of the breadth of shoulders.
    broad: f32,
    /// Radii of trunk and limbs.
    trunk: f32,
    limb: f32,
    /// Whether trousers end at the knee.
    short: bool,
    /// Whether there is a skirt.
    skirt: bool,
}

pub(super) fn adult(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let skirt = look.way < 0.3;
    let build = Build {
        hip: 0.84,
        shoulder: 1.34,
        head: 1.555,
        skull: 0.145,
        broad: 0.2,
        trunk: 0.15,
        limb: 0.075,
        short: false,
        skirt,
    };
    upright(sketch, look, pose, &build);
}

/// A child has a larger head, shorter legs, brighter clothes and bare knees.
pub(super) fn child(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let build = Build {
        hip: 0.46,
        shoulder: 0.76,
        head: 0.965,
        skull: 0.185,
        broad: 0.15,
        trunk: 0.14,
        limb: 0.06,
        short: true,
        skirt: look.way < 0.3,
    };
    upright(sketch, look, pose, &build);
}

fn upright(sketch: &mut Sketch, look: &Look, pose: Pose, build: &Build) {
    let [shirt, trousers, skin, _] = look.colors;
    let Build { hip, shoulder, broad, trunk, limb, short, skirt, .. } = *build;
    let side = matches!(pose.aspect, Aspect::Side { .. });
    let knee = 0.5 * hip;
    let leg = |sketch: &mut Sketch, sign: f32, far: bool| {
        let dim = |ink: Rgb| if far { shaded(ink) } else { ink };
        let swing = 0.55 * sign * pose.swing;
        let (top, bend, foot) = if side {
            ([0.0, hip], [swing * knee, hip - knee], [1.5 * swing * knee, limb])
        } else {
            // A leg that is lifted is seen shorter.
            let lift = (0.12 * hip * sign * pose.swing).max(0.0);
            ([0.5 * broad * sign, hip], [0.5 * broad * sign, hip - knee + lift], [0.55 * broad * sign, limb + lift])
        };
        sketch.limb(bend, foot, [0.9 * limb, 0.75 * limb], dim(if short || skirt { skin } else { trousers }));
        sketch.limb(top, bend, [1.25 * limb, limb], dim(if skirt { skin } else { trousers }));
        let toe = if side { [foot[0] + 1.3 * limb, foot[1] - 0.2 * limb] } else { foot };
        sketch.limb(foot, toe, [0.8 * limb, 0.75 * limb], DARK);
    };
    let arm = |sketch: &mut Sketch, sign: f32, far: bool| {
        let dim = |ink: Rgb| if far { shaded(ink) } else { ink };
        let reach = 0.5 * (shoulder - 0.7 * hip);
        let swing = -0.6 * sign * pose.swing;
        let (top, elbow, hand) = if side {
            (
                [0.0, shoulder - limb],
                [swing * reach, shoulder - reach],
                [1.9 * swing * reach + 0.04, shoulder - 1.8 * reach],
            )
        } else {
            let out = broad + 0.6 * limb;
            (
                [broad * sign, shoulder - limb],
                [out * sign, shoulder - reach],
                [1.05 * out * sign, shoulder - 1.8 * reach],
            )
        };
        sketch.limb(elbow, hand, [0.75 * limb, 0.7 * limb], dim(skin));
        sketch.limb(top, elbow, [limb, 0.85 * limb], dim(shirt));
    };
    leg(sketch, -1.0, side);
    if side {
        arm(sketch, 1.0, true);
    }
    leg(sketch, 1.0, false);
    if side {
        sketch.limb([0.0, hip], [0.0, shoulder - 0.5 * trunk], [0.95 * trunk, trunk], shirt);
    } else {
        sketch.polygon(
            &[
                [-0.75 * broad, hip - 0.4 * trunk],
                [0.75 * broad, hip - 0.4 * trunk],
                [1.1 * broad, shoulder - 0.2 * trunk],
                [0.7 * broad, shoulder + 0.2 * trunk],
                [-0.7 * broad, shoulder + 0.2 * trunk],
                [-1.1 * broad, shoulder - 0.2 * trunk],
            ],
            shirt,
        );
    }
    if skirt {
        let wide = 1.5 * broad;
        sketch.polygon(
            &[[-wide, 0.62 * hip], [wide, 0.62 * hip], [0.7 * broad, 1.1 * hip], [-0.7 * broad, 1.1 * hip]],
            trousers,
        );
    }
    head(sketch, look, pose, [0.0, build.head], build.skull);
    if side {
        arm(sketch, -1.0, false);
    } else {
        arm(sketch, -1.0, false);
        arm(sketch, 1.0, false);
    }
}

/// A head with hair, and a face where it can be seen.
fn head(sketch: &mut Sketch, look: &Look, pose: Pose, [x, y]: [f32; 2], skull: f32) {
    let [_, _, skin, hair] = look.colors;
    let long = look.way < 0.45;
    match pose.aspect {
        Aspect::Side { .. } => {
            if long {
                sketch.limb(
                    [x - 0.5 * skull, y],
                    [x - 0.75 * skull, y - 1.3 * skull],
                    [0.55 * skull, 0.4 * skull],
                    hair,
                );
            }
            sketch.ellipse([x, y], [0.88 * skull, skull], skin);
            sketch.disc([x + 0.85 * skull, y - 0.1 * skull], 0.16 * skull, skin);
            sketch.ellipse([x - 0.3 * skull, y + 0.35 * skull], [0.78 * skull, 0.7 * skull], hair);
            sketch.disc([x + 0.5 * skull, y - 0.02 * skull], 0.12 * skull, DARK);
        }
        Aspect::Front => {
            if long {
                sketch.ellipse([x, y - 0.35 * skull], [1.1 * skull, 1.15 * skull], hair);
            }
            sketch.ellipse([x, y + 0.1 * skull], [skull, skull], hair);
            sketch.ellipse([x, y - 0.12 * skull], [0.85 * skull, 0.88 * skull], skin);
            for eye in [-0.35, 0.35] {
                sketch.disc([x + eye * skull, y - 0.05 * skull], 0.12 * skull, DARK);
            }
            sketch.limb(
                [x - 0.2 * skull, y - 0.5 * skull],
                [x + 0.2 * skull, y - 0.5 * skull],
                [0.06 * skull; 2],
                [170, 70, 70],
            );
        }
        Aspect::Back => {
            sketch.ellipse([x, y], [0.9 * skull, skull], skin);
            let low = if long { 0.9 } else { 0.1 };
            sketch.ellipse([x, y + 0.1 * skull], [0.98 * skull, 0.95 * skull], hair);
            sketch.limb([x, y], [x, y - low * skull], [0.9 * skull, 0.75 * skull], hair);
        }
    }
}

/// A baby crawls, or sits where it is.
pub(super) fn baby(sketch: &mut Sketch, look: &Look, pose: Pose) {
    let [suit, nappy, skin, _] = look.colors;
    let bald = Look { way: 1.0, ..*look };
    let side = matches!(pose.aspect, Aspect::Side { .. });
    if pose.moves && side {
        let step = 0.1 * pose.swing;
        sketch.limb([-0.18, 0.2], [-0.3 - step, 0.05], [0.09, 0.06], shaded(suit));
        sketch.limb([0.12, 0.24], [0.14 + step, 0.05], [0.07, 0.05], shaded(skin));
        sketch.limb([-0.16, 0.25], [0.12, 0.3], [0.16, 0.13], suit);
        sketch.disc([-0.2, 0.26], 0.15, nappy);
        sketch.limb([-0.16, 0.2], [-0.2 + step, 0.06], [0.09, 0.06], suit);
        sketch.limb([0.14, 0.24], [0.2 - step, 0.05], [0.07, 0.05], skin);
        head(sketch, &bald, pose, [0.27, 0.5], 0.185);
    } else if side {
        sketch.limb([-0.02, 0.12], [0.26, 0.08], [0.11, 0.07], shaded(suit));
        sketch.limb([-0.06, 0.14], [-0.02, 0.34], [0.17, 0.13], suit);
        sketch.disc([-0.08, 0.11], 0.13, nappy);
        sketch.limb([-0.02, 0.1], [0.28, 0.06], [0.1, 0.06], suit);
        sketch.limb([0.0, 0.34], [0.18, 0.22], [0.06, 0.05], skin);
        head(sketch, &bald, pose, [0.02, 0.53], 0.19);
    } else {
        let lift = 0.03 * pose.swing;
        sketch.limb([-0.08, 0.1], [-0.24, 0.07], [0.1, 0.07], suit);
        sketch.limb([0.08, 0.1], [0.24, 0.07], [0.1, 0.07], suit);
        sketch.limb([0.0, 0.16], [0.0, 0.34], [0.18, 0.14], suit);
        sketch.ellipse([0.0, 0.09], [0.15, 0.09], nappy);
        sketch.limb([-0.13, 0.34], [-0.23, 0.2 + lift], [0.06, 0.05], skin);
        sketch.limb([0.13, 0.34], [0.23, 0.2 - lift], [0.06, 0.05], skin);
        head(sketch, &bald, pose, [0.0, 0.53], 0.19);
    }
}

//! What people have on their heads.

use fastrand::Rng;

use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, about, any_color, times};
use crate::photo::thing::Thing;

/// Puts on what a person wears on a head of half width `r`, whose middle is at `[x, y]`.
pub(super) fn headwear(figure: &mut Figure, random: &mut Rng, thing: &Thing, [x, y]: [f32; 2], r: f32) {
    let place = |[across, up]: [f32; 2]| [x + across * r, y + up * r];
    for &class in thing.with.iter().filter(|class| class.is(Class::Clothing) && **class != Class::Dress) {
        figure.part(class, |figure| match class {
            Class::CowboyHat => {
                let choice = one_of(random, &[[124, 84, 48], [70, 52, 40], [206, 178, 132]]);
                let felt = about(random, choice);
                figure.area(
                    &[[-0.75, 0.6], [0.75, 0.6], [0.6, 1.75], [0.15, 1.5], [-0.15, 1.5], [-0.6, 1.75]].map(place),
                    0.1 * r,
                    felt,
                );
                figure.line(place([-0.75, 0.78]), place([0.75, 0.78]), 0.1 * r, times(felt, 0.5));
                for side in [-1.0, 1.0] {
                    figure.limb(place([side * 0.2, 0.58]), place([side * 1.75, 0.95]), [0.2 * r, 0.09 * r], felt);
                }
            }
            Class::SunHat => {
                let straw = Fill::coarse(about(random, [232, 206, 140]), 0.25);
                figure.oval(place([0.0, 0.55]), [1.95 * r, 0.34 * r], straw);
                figure.oval(place([0.0, 0.85]), [0.88 * r, 0.62 * r], straw);
                figure.line(place([-0.8, 0.7]), place([0.8, 0.7]), 0.12 * r, any_color(random));
            }
            Class::Hat => {
                // A cap or a woollen hat.
                let color = any_color(random);
                figure.area(
                    &[[-0.92, 0.5], [0.92, 0.5], [0.75, 1.15], [-0.75, 1.15]].map(place),
                    0.16 * r,
                    Fill::coarse(color, 0.2),
                );
                if random.bool() {
                    figure.disc(place([0.0, 1.45]), 0.26 * r, times(color, 1.3));
                    figure.line(place([-0.95, 0.5]), place([0.95, 0.5]), 0.17 * r, times(color, 0.7));
                } else {
                    figure.limb(place([0.2, 0.48]), place([1.55, 0.42]), [0.14 * r, 0.09 * r], times(color, 0.7));
                }
            }
            Class::BicycleHelmet => {
                let shell = any_color(random);
                figure.path(
                    &[[-0.85, 0.4], [-0.6, -0.7], [0.0, -1.1], [0.6, -0.7], [0.85, 0.4]].map(place),
                    0.06 * r,
                    [36, 36, 40],
                );
                figure.area(
                    &[[-1.0, 0.5], [1.0, 0.5], [0.85, 1.1], [0.4, 1.45], [-0.4, 1.45], [-0.85, 1.1]].map(place),
                    0.14 * r,
                    shell,
                );
                for vent in [-0.55, 0.0, 0.55] {
                    figure.limb(place([vent, 0.65]), place([0.6 * vent, 1.35]), [0.12 * r, 0.07 * r], [30, 30, 34]);
                }
            }
            _ => {
                // Around the whole head; a face is painted over it and looks out.
                let shell = any_color(random);
                figure.oval(place([0.0, 0.2]), [1.28 * r, 1.35 * r], shell);
                figure.line(place([0.0, 0.95]), place([0.0, 1.5]), 0.14 * r, times(shell, 1.6));
                if thing.has(Class::HumanFace) {
                    // A raised pane above the brow, and the lining around the face.
                    figure.line(place([-0.8, 0.95]), place([0.8, 0.95]), 0.12 * r, [40, 52, 66]);
                    figure.oval(place([0.0, -0.07]), [0.84 * r, 0.98 * r], times(shell, 0.45));
                }
            }
        });
    }
}

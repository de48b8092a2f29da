//! People, from the front or from behind, from head to foot.

use fastrand::Rng;

use super::wear::headwear;
use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, any_color, times, within};
use crate::photo::thing::Thing;

const DARK: Rgb = [30, 26, 28];

/// What a body is like.
struct Body {
    skin: Rgb,
    hair: Rgb,
    /// Half the width of a head; all else goes by it.
    head: f32,
    /// How high things are.
    chin: f32,
    shoulders: f32,
    hips: f32,
    /// Half the width of shoulders.
    breadth: f32,
}

impl Body {
    fn new(random: &mut Rng, class: Class) -> Self {
        let skins = [[232, 190, 160], [206, 154, 118], [160, 108, 76], [108, 72, 52], [240, 206, 182]];
        let hairs = [[44, 34, 30], [92, 60, 38], [196, 156, 92], [150, 74, 40], [150, 148, 146]];
        let (skin, hair) = (one_of(random, &skins), one_of(random, &hairs));
        let is_child = matches!(class, Class::Boy | Class::Girl);
        let head = if is_child { 0.125 } else { 0.09 };
        let chin = 1.0 - 2.25 * head;
        let breadth = match class {
            Class::Man => within(random, 0.15..0.18),
            Class::Woman => within(random, 0.115..0.135),
            _ => 0.13,
        };
        let hips = if is_child { 0.38 } else { 0.46 };
        Self {
            skin: about(random, skin),
            hair: about(random, hair),
            head,
            chin,
            shoulders: chin - 0.035,
            hips,
            breadth,
        }
    }

    fn face_at(&self) -> [f32; 2] {
        [0.0, self.chin + 1.08 * self.head]
    }
}

pub(super) fn person(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    if thing.class == Class::Person {
        return hooded(figure, random, thing);
    }
    let body = Body::new(random, thing.class);
    let (top, bottom) = (any_color(random), any_color(random));
    let is_long_haired = matches!(thing.class, Class::Woman | Class::Girl);
    let shows_face = thing.has(Class::HumanFace);
    legs(figure, random, thing, &body, bottom);
    if is_long_haired && shows_face {
        long_hair(figure, thing.class, &body);
    }
    arms(figure, random, &body, if thing.has(Class::Dress) { body.skin } else { top });
    figure.line([0.0, body.shoulders - 0.02], [0.0, body.chin + 0.03], 0.45 * body.head, times(body.skin, 0.85));
    if thing.has(Class::Dress) {
        figure.part(Class::Dress, |figure| dress(figure, random, &body, top));
    } else {
        let (wide, low) = (body.breadth, body.hips - 0.02);
        let waist = if thing.class == Class::Woman { 0.72 * wide } else { 0.85 * wide };
        let corners = [[-wide, body.shoulders], [wide, body.shoulders], [waist, low], [-waist, low]];
        figure.area(&corners, 0.02, Fill::coarse(top, 0.12));
        if random.f32() < 0.35 {
            figure.line([-0.8 * wide, 0.66], [0.8 * wide, 0.66], 0.03, any_color(random));
        }
    }
    head(figure, random, thing, &body);
    if is_long_haired && !shows_face {
        long_hair(figure, thing.class, &body);
    }
    // A helmet is put on before the face, which looks out of it.
    if !(shows_face && thing.has(Class::Helmet)) {
        headwear(figure, random, thing, body.face_at(), body.head);
    }
}

fn legs(figure: &mut Figure, random: &mut Rng, thing: &Thing, body: &Body, color: Rgb) {
    let step = within(random, 0.0..0.05);
    let is_bare = thing.has(Class::Dress) || (thing.class == Class::Boy && random.f32() < 0.7);
    let shoe = times(any_color(random), 0.6);
    for side in [-1.0, 1.0] {
        let (hip, foot) = ([side * 0.05, body.hips], [side * (0.06 + step), 0.05]);
        figure.limb(hip, foot, [0.06, 0.04], if is_bare { body.skin } else { color });
        if is_bare && !thing.has(Class::Dress) {
            let knee = [side * (0.055 + 0.4 * step), 0.55 * body.hips];
            figure.limb(hip, knee, [0.065, 0.062], color);
        }
        figure.oval([foot[0] + side * 0.012, 0.025], [0.055, 0.028], shoe);
    }
}

fn arms(figure: &mut Figure, random: &mut Rng, body: &Body, color: Rgb) {
    for side in [-1.0, 1.0] {
        let shoulder = [side * (body.breadth + 0.005), body.shoulders - 0.02];
        let elbow = [side * (body.breadth + within(random, 0.04..0.09)), body.shoulders - 0.16];
        let reach = if random.f32() < 0.15 { 0.14 } else { -0.14 };
        let hand = [elbow[0] + side * within(random, -0.03..0.06), elbow[1] + reach];
        figure.line(shoulder, elbow, 0.04, color);
        figure.limb(elbow, hand, [0.038, 0.03], color);
        figure.disc(hand, 0.034, body.skin);
    }
}

fn dress(figure: &mut Figure, random: &mut Rng, body: &Body, color: Rgb) {
    let (wide, hem) = (body.breadth, within(random, 0.2..0.28));
    let flare = wide + within(random, 0.05..0.1);
    let waist = body.hips + 0.1;
    figure.area(
        &[
            [-0.85 * wide, body.shoulders],
            [0.85 * wide, body.shoulders],
            [0.62 * wide, waist],
            [flare, hem],
            [-flare, hem],
            [-0.62 * wide, waist],
        ],
        0.012,
        Fill::coarse(color, 0.12),
    );
    figure.line([-0.6 * wide, waist], [0.6 * wide, waist], 0.014, times(color, 0.6));
    if random.bool() {
        for dot in 0..7 {
            let (row, column) = ((dot / 3) as f32, (dot % 3) as f32 - 1.0);
            figure.disc([0.06 * column, hem + 0.05 + 0.08 * row], 0.013, [244, 240, 232]);
        }
    }
}

fn head(figure: &mut Figure, random: &mut Rng, thing: &Thing, body: &Body) {
    let ([x, y], r) = (body.face_at(), body.head);
    if !thing.has(Class::HumanFace) {
        figure.disc([x - 0.95 * r, y - 0.1 * r], 0.2 * r, body.skin);
        figure.disc([x + 0.95 * r, y - 0.1 * r], 0.2 * r, body.skin);
        figure.oval([x, y], [0.95 * r, 1.1 * r], Fill::coarse(body.hair, 0.5));
        return;
    }
    if thing.has(Class::Helmet) {
        headwear(figure, random, thing, [x, y], r);
        figure.part(Class::HumanFace, |figure| face(figure, [x, y], 0.86 * r, body.skin));
    } else {
        figure.oval([x, y + 0.2 * r], [1.05 * r, 1.05 * r], Fill::coarse(body.hair, 0.5));
        figure.part(Class::HumanFace, |figure| face(figure, [x, y], r, body.skin));
        // A fringe above the eyes.
        figure.tilted([x, y + 0.85 * r], [0.85 * r, 0.32 * r], 0.0, Fill::coarse(body.hair, 0.5));
    }
    if thing.class == Class::Man && random.f32() < 0.4 {
        figure.oval([x, y - 0.75 * r], [0.6 * r, 0.42 * r], Fill::coarse(times(body.hair, 0.9), 0.5));
        figure.line([x - 0.22 * r, y - 0.58 * r], [x + 0.22 * r, y - 0.58 * r], 0.07 * r, [150, 70, 66]);
    }
}

fn face(figure: &mut Figure, [x, y]: [f32; 2], r: f32, skin: Rgb) {
    figure.oval([x, y - 0.08 * r], [0.88 * r, 1.04 * r], skin);
    for side in [-1.0, 1.0] {
        figure.oval([x + side * 0.36 * r, y + 0.12 * r], [0.2 * r, 0.15 * r], [244, 242, 238]);
        figure.disc([x + side * 0.36 * r, y + 0.12 * r], 0.12 * r, DARK);
        figure.line(
            [x + side * 0.2 * r, y + 0.44 * r],
            [x + side * 0.52 * r, y + 0.42 * r],
            0.045 * r,
            times(skin, 0.5),
        );
    }
    figure.line([x, y], [x + 0.04 * r, y - 0.25 * r], 0.06 * r, times(skin, 0.75));
    figure.line([x - 0.26 * r, y - 0.56 * r], [x + 0.26 * r, y - 0.56 * r], 0.08 * r, [176, 74, 70]);
}

fn long_hair(figure: &mut Figure, class: Class, body: &Body) {
    let ([x, y], r) = (body.face_at(), body.head);
    let hair = Fill::coarse(body.hair, 0.5);
    if class == Class::Girl {
        for side in [-1.0, 1.0] {
            figure.limb(
                [x + side * 0.95 * r, y + 0.3 * r],
                [x + side * 1.7 * r, y - 0.9 * r],
                [0.28 * r, 0.2 * r],
                hair,
            );
            figure.disc([x + side * 1.05 * r, y + 0.3 * r], 0.2 * r, [214, 60, 110]);
        }
        return;
    }
    figure.area(
        &[
            [x - 0.85 * r, y + 0.5 * r],
            [x + 0.85 * r, y + 0.5 * r],
            [x + 1.15 * r, y - 2.0 * r],
            [x - 1.15 * r, y - 2.0 * r],
        ],
        0.2 * r,
        hair,
    );
}

/// Somebody in a long coat with a hood, of whom nothing else can be told.
fn hooded(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let body = Body::new(random, thing.class);
    let choice = one_of(random, &[[214, 176, 40], [60, 92, 60], [52, 62, 96], [120, 48, 44], [92, 92, 96]]);
    let color = about(random, choice);
    let coat = Fill::coarse(color, 0.12);
    for side in [-1.0, 1.0] {
        figure.line([side * 0.06, 0.2], [side * 0.07, 0.05], 0.042, times(color, 0.4));
        figure.oval([side * 0.075, 0.03], [0.06, 0.03], DARK);
    }
    arms(figure, random, &body, times(color, 0.85));
    let (wide, high) = (0.13, body.shoulders);
    figure.area(&[[-wide, high], [wide, high], [0.19, 0.2], [-0.19, 0.2]], 0.03, coat);
    let ([x, y], r) = (body.face_at(), body.head);
    figure.oval([x, y + 0.05 * r], [1.25 * r, 1.35 * r], coat);
    figure.area(&[[x - 0.3 * r, y + 1.2 * r], [x + 0.3 * r, y + 1.2 * r], [x, y + 1.6 * r]], 0.05 * r, coat);
    if thing.has(Class::HumanFace) {
        figure.oval([x, y - 0.05 * r], [1.0 * r, 1.12 * r], times(color, 0.45));
        figure.part(Class::HumanFace, |figure| face(figure, [x, y - 0.02 * r], 0.86 * r, body.skin));
        figure.line([0.0, high - 0.02], [0.0, 0.22], 0.01, times(color, 0.5));
    } else {
        figure.line([x, y + 1.1 * r], [x, y - 1.0 * r], 0.05 * r, times(color, 0.7));
    }
}

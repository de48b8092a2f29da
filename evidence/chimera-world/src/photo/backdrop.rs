//! What is behind and before things: sky, hills, ground of some sort, and clutter that is none of the classes.

use fastrand::Rng;
use glam::{Vec2, Vec3};

use super::canvas::{Band, Canvas, Pose, WIDE, noise, random_at};
use super::figure::{Figure, Fill, Rgb, about, any_color, times, within};
use crate::kinds::one_of;
use crate::paint::linear;

/// Skies, from above to the horizon.
const SKIES: [[Rgb; 2]; 5] = [
    [[92, 146, 208], [190, 214, 232]],
    [[150, 162, 174], [206, 210, 212]],
    [[60, 104, 176], [236, 206, 170]],
    [[104, 110, 150], [238, 170, 120]],
    [[132, 184, 222], [222, 234, 238]],
];

/// Grounds, from the horizon to below: grass, sand, snow, asphalt, earth, paving.
const GROUNDS: [[Rgb; 2]; 6] = [
    [[116, 150, 86], [84, 128, 54]],
    [[214, 196, 154], [200, 176, 124]],
    [[222, 228, 234], [206, 212, 222]],
    [[136, 136, 138], [96, 96, 100]],
    [[150, 122, 92], [116, 88, 62]],
    [[172, 162, 150], [146, 134, 122]],
];

/// A place without things.
#[derive(Clone, Debug)]
pub(super) struct Backdrop {
    /// How far down the ground begins, in heights of the picture.
    pub(super) horizon: f32,
    sky: [Vec3; 2],
    ground: [Vec3; 2],
    /// How coarse the ground is.
    grain: f32,
    /// From where light comes: to the right and up.
    sun: Vec2,
    /// The colour of the light, and how much there is of it.
    tint: Vec3,
    /// What lies behind things.
    back: Figure,
    /// What stands before them.
    front: Figure,
    /// Where noise begins.
    start: Vec2,
}

impl Backdrop {
    pub(super) fn new(random: &mut Rng) -> Self {
        let horizon = within(random, 0.36..0.5);
        let sky = one_of(random, &SKIES).map(|color| linear(about(random, color)));
        let soil = one_of(random, &GROUNDS).map(|color| about(random, color));
        let side = if random.bool() { 1.0 } else { -1.0 };
        let level = within(random, 0.72..1.2);
        let warmth = within(random, -0.08..0.08);
        let mut back = Figure::default();
        clouds(&mut back, random, horizon);
        hills(&mut back, random, horizon);
        litter(&mut back, random, horizon, soil[1]);
        let mut front = Figure::default();
        growth(&mut front, random, soil[1]);
        Self {
            horizon,
            sky,
            ground: soil.map(linear),
            grain: within(random, 0.12..0.4),
            sun: Vec2::new(side * within(random, 0.3..0.8), within(random, 0.4..0.8)),
            tint: Vec3::new(1.0 + warmth, 1.0, 1.0 - warmth) * level,
            back,
            front,
            start: Vec2::new(random.f32(), random.f32()) * 1000.0,
        }
    }

    /// A canvas of sky, hills and ground.
    pub(super) fn canvas(&self, band: Band) -> Canvas {
        let (width, height) = band.size;
        let mut light = Vec::with_capacity(width * band.rows.len());
        for row in band.rows.clone() {
            let down = (row as f32 + 0.5) / height as f32;
            for column in 0..width {
                let across = (column as f32 + 0.5) / width as f32 * WIDE;
                light.push(if down < self.horizon { self.sky_at(across, down) } else { self.ground_at(across, down) });
            }
        }
        let mut canvas = Canvas { band, light, sun: self.sun };
        canvas.paint(&self.back, &Pose::FRAME);
        canvas
    }

    fn sky_at(&self, across: f32, down: f32) -> Vec3 {
        let haze = noise(Vec2::new(across * 4.0, down * 9.0) + self.start) - 0.5;
        self.sky[0].lerp(self.sky[1], (down / self.horizon + 0.25 * haze).clamp(0.0, 1.0))
    }

    /// Ground recedes: its grain gets finer towards the horizon.
    fn ground_at(&self, across: f32, down: f32) -> Vec3 {
        let near = (down - self.horizon) / (1.0 - self.horizon);
        let depth = 1.0 / (near + 0.12);
        let place = Vec2::new((across - 0.5 * WIDE) * depth * 9.0, depth * 14.0) + self.start;
        let grain = 0.6 * noise(place) + 0.4 * noise(place * 2.7);
        self.ground[0].lerp(self.ground[1], near) * (1.0 + self.grain * (2.0 * grain - 1.0))
    }

    /// Paints what stands before everything, and gives the picture its light and its noise.
    pub(super) fn finish(&self, canvas: &mut Canvas) {
        canvas.paint(&self.front, &Pose::FRAME);
        let (width, first) = (canvas.band.size.0, canvas.band.rows.start);
        let (left, up) = (self.start.x as i32, self.start.y as i32);
        for (pixel, light) in canvas.light.iter_mut().enumerate() {
            let speck = random_at((pixel % width) as i32 + left, (first + pixel / width) as i32 + up) - 0.5;
            *light *= self.tint * (1.0 + 0.1 * speck);
        }
    }

    /// What stands before things.
    pub(super) fn front(&self) -> &Figure {
        &self.front
    }
}

fn clouds(figure: &mut Figure, random: &mut Rng, horizon: f32) {
    for _ in 0..random.usize(0..5) {
        let (x, y) = (WIDE * random.f32(), 1.0 - within(random, 0.03..horizon));
        for _ in 0..random.usize(3..7) {
            let at = [x + within(random, -0.12..0.12), y + within(random, -0.02..0.02)];
            let radii = [within(random, 0.05..0.12), within(random, 0.015..0.04)];
            figure.oval(at, radii, Fill::thin([244, 244, 246], 0.4));
        }
    }
}

fn hills(figure: &mut Figure, random: &mut Rng, horizon: f32) {
    let ground = 1.0 - horizon;
    for _ in 0..random.usize(0..4) {
        let (middle, half, high) = (WIDE * random.f32(), within(random, 0.2..0.6), within(random, 0.04..0.16));
        let color = one_of(random, &[[112, 130, 140], [96, 120, 90], [140, 128, 116], [92, 100, 120]]);
        let fill = Fill::coarse(about(random, color), 0.2);
        let lean = within(random, -0.3..0.3) * half;
        let corners = [
            [middle - half, ground],
            [middle - 0.4 * half + lean, ground + 0.7 * high],
            [middle + lean, ground + high],
        ];
        let right = [[middle + 0.5 * half + lean, ground + 0.6 * high], [middle + half, ground]];
        figure.area(&[corners.as_slice(), &right].concat(), 0.005, fill);
    }
}

/// Stones, puddles, boards, posts, wires and scraps.
fn litter(figure: &mut Figure, random: &mut Rng, horizon: f32, soil: Rgb) {
    let ground = 1.0 - horizon;
    if random.f32() < 0.4 {
        fence(figure, random, ground);
    }
    for _ in 0..random.usize(4..15) {
        let near = random.f32();
        let (x, y) = (WIDE * random.f32(), (1.0 - near) * ground);
        let size = 0.02 + 0.03 * near;
        match random.usize(..5) {
            0 => figure.oval([x, y], [1.6 * size, 0.4 * size], Fill::thin(times(soil, 0.55), 0.7)),
            1 => {
                let stone = about(random, [128, 122, 116]);
                figure.oval([x, y + 0.5 * size], [size, 0.7 * size], Fill::coarse(stone, 0.4));
            }
            2 => {
                let scrap = any_color(random);
                let [across, up] = [within(random, -1.0..1.0) * size, within(random, 0.2..0.6) * size];
                figure.area(&[[x, y], [x + size, y + 0.2 * up], [x + across, y + up]], 0.0, scrap);
            }
            3 => {
                let wood = about(random, [146, 112, 72]);
                figure.slab([x - size, y], [x + size, y + 1.7 * size], Fill::coarse(wood, 0.3));
                figure.line([x - size, y], [x + size, y + 1.7 * size], 0.15 * size, times(wood, 0.7));
            }
            _ => {
                let far = within(random, 1.0..4.0) * size;
                figure.line([x, y], [x + far, y + within(random, -0.01..0.01)], 0.1 * size, times(soil, 0.6));
            }
        }
    }
    for _ in 0..random.usize(0..3) {
        let (left, right) = (1.0 - within(random, 0.02..horizon), 1.0 - within(random, 0.02..horizon));
        figure.line([0.0, left], [WIDE, right], 0.0025, [70, 70, 76]);
    }
}

fn fence(figure: &mut Figure, random: &mut Rng, ground: f32) {
    let color = one_of(random, &[[150, 116, 80], [214, 210, 202], [110, 110, 114]]);
    let (foot, high) = (ground - within(random, 0.0..0.06), within(random, 0.05..0.09));
    for post in 0..random.usize(6..16) {
        let x = 0.02 + 0.1 * post as f32;
        figure.line([x, foot], [x, foot + high], 0.007, color);
    }
    for rail in [0.4, 0.8] {
        figure.line([0.0, foot + rail * high], [WIDE, foot + rail * high], 0.005, times(color, 0.85));
    }
}

/// Blades of grass and stones at the lower border.
fn growth(figure: &mut Figure, random: &mut Rng, soil: Rgb) {
    for _ in 0..random.usize(0..4) {
        let x = WIDE * random.f32();
        if random.f32() < 0.4 {
            let stone = about(random, [112, 108, 104]);
            figure.oval([x, 0.0], [within(random, 0.05..0.12), within(random, 0.03..0.07)], Fill::coarse(stone, 0.4));
            continue;
        }
        for _ in 0..7 {
            let from = x + within(random, -0.05..0.05);
            let tip = [from + within(random, -0.04..0.04), within(random, 0.04..0.11)];
            figure.limb([from, -0.01], tip, [0.006, 0.002], times(soil, within(random, 0.5..0.9)));
        }
    }
}

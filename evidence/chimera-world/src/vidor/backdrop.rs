//! Where it happens: a room, a park or a street, each never quite the same.

use fastrand::Rng;
use glam::Vec2;

use super::lens::{EXTENT, Lens};
use crate::brush::{Canvas, Outline, Rgb, mixed};

/// Paints a place by chance over a whole canvas.
pub(super) fn paint(canvas: &mut Canvas<Rgb>, lens: &Lens, random: &mut Rng) {
    let mut painter = Painter { canvas, horizon: lens.horizon + 0.18 + 0.06 * random.f32(), random };
    match painter.random.usize(..3) {
        0 => painter.room(),
        1 => painter.park(),
        _ => painter.street(),
    }
}

struct Painter<'a> {
    canvas: &'a mut Canvas<Rgb>,
    /// Where the ground meets what is behind it.
    horizon: f32,
    random: &'a mut Rng,
}

impl Painter<'_> {
    fn number(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.random.f32()
    }

    fn color(&mut self, list: &[Rgb]) -> Rgb {
        let ink = list[self.random.usize(..list.len())];
        let toward = if self.random.bool() { [255; 3] } else { [0; 3] };
        mixed(ink, toward, 0.12 * self.random.f32())
    }

    fn fill(&mut self, outline: &Outline, ink: Rgb) {
        self.canvas.fill(outline, |_, _| ink);
    }

    /// A band from side to side that changes from one colour to another, downwards.
    fn band(&mut self, [top, bottom]: [f32; 2], [upper, lower]: [Rgb; 2]) {
        let outline = Outline::rectangle([0.0, top], [EXTENT.x, bottom]);
        self.canvas.fill(&outline, |at, _| mixed(upper, lower, ((at.y - top) / (bottom - top)).clamp(0.0, 1.0)));
    }

    /// Small strokes all over the ground, larger where it is nearer.
    fn strewn(&mut self, count: usize, ink: Rgb, flat: f32) {
        for _ in 0..count {
            let y = self.horizon + (1.0 - self.horizon) * self.random.f32().sqrt();
            let size = 0.004 + 0.012 * (y - self.horizon);
            let x = self.number(0.0, EXTENT.x);
            self.fill(&Outline::ellipse([x, y], [size * flat, size], 0.0), ink);
        }
    }

    fn room(&mut self) {
        let wall = self.color(&[[222, 212, 190], [190, 205, 215], [214, 196, 196], [200, 212, 190]]);
        let floor = self.color(&[[176, 138, 98], [150, 120, 92], [186, 170, 150], [140, 132, 128]]);
        let horizon = self.horizon;
        self.band([0.0, horizon], [wall, mixed(wall, [0; 3], 0.06)]);
        self.band([horizon, 1.0], [mixed(floor, [0; 3], 0.18), floor]);
        // Boards meet far away.
        for board in -9..=9 {
            let (far, near) = (0.75 + 0.07 * board as f32, 0.75 + 0.26 * board as f32);
            let line = [[far, horizon], [far + 0.002, horizon], [near + 0.006, 1.0], [near, 1.0]];
            self.fill(&Outline::polygon(&line), mixed(floor, [0; 3], 0.28));
        }
        self.fill(&Outline::rectangle([0.0, horizon - 0.02], [EXTENT.x, horizon]), mixed(wall, [255; 3], 0.5));
        if self.random.bool() {
            let x = self.number(0.1, 1.0);
            self.fill(&Outline::rectangle([x, 0.0], [x + 0.34, 0.2]), [245, 245, 245]);
            self.fill(&Outline::rectangle([x + 0.02, 0.0], [x + 0.16, 0.185]), [170, 205, 235]);
            self.fill(&Outline::rectangle([x + 0.18, 0.0], [x + 0.32, 0.185]), [170, 205, 235]);
        }
        for _ in 0..self.random.usize(..3) {
            let (x, y) = (self.number(0.05, 1.3), self.number(0.04, 0.12));
            let ink = self.color(&[[150, 90, 60], [70, 100, 140], [120, 140, 90]]);
            self.fill(&Outline::rectangle([x, y], [x + 0.13, y + 0.1]), [90, 70, 50]);
            self.fill(&Outline::rectangle([x + 0.01, y + 0.01], [x + 0.12, y + 0.09]), ink);
        }
        if self.random.bool() {
            let (x, y) = (self.number(0.4, 1.1), self.number(0.6, 0.8));
            let ink = self.color(&[[160, 70, 70], [80, 100, 130], [120, 130, 90], [190, 160, 110]]);
            self.fill(&Outline::ellipse([x, y], [0.36, 0.11], 0.0), ink);
            self.fill(&Outline::ellipse([x, y], [0.3, 0.085], 0.0), mixed(ink, [255; 3], 0.25));
        }
        self.strewn(12, mixed(floor, [0; 3], 0.1), 3.0);
    }

    fn park(&mut self) {
        let grass = self.color(&[[110, 160, 80], [128, 168, 84], [96, 144, 84], [150, 160, 90]]);
        let sky = self.color(&[[150, 195, 235], [190, 210, 225], [170, 190, 220]]);
        let horizon = self.horizon;
        self.band([0.0, horizon], [sky, mixed(sky, [255; 3], 0.45)]);
        for _ in 0..self.random.usize(6..14) {
            let (x, size) = (self.number(-0.05, 1.55), self.number(0.05, 0.12));
            let ink = self.color(&[[70, 110, 60], [85, 125, 70], [60, 100, 75]]);
            self.fill(&Outline::rectangle([x - 0.01, horizon - size], [x + 0.01, horizon]), [105, 80, 60]);
            self.fill(&Outline::ellipse([x, horizon - size], [size, 0.9 * size], 0.0), ink);
        }
        self.band([horizon, 1.0], [mixed(grass, [0; 3], 0.12), grass]);
        if self.random.bool() {
            let (far, near) = (self.number(0.3, 1.2), self.number(0.1, 1.4));
            let path = [[far - 0.03, horizon], [far + 0.03, horizon], [near + 0.2, 1.0], [near - 0.2, 1.0]];
            self.fill(&Outline::polygon(&path), [200, 182, 148]);
        }
        self.strewn(90, mixed(grass, [0; 3], 0.22), 0.8);
        self.strewn(50, mixed(grass, [255; 3], 0.2), 0.8);
    }

    fn street(&mut self) {
        let road = self.color(&[[120, 120, 124], [135, 132, 128], [108, 110, 116]]);
        let horizon = self.horizon;
        self.band([0.0, horizon], [[185, 205, 225], [215, 222, 228]]);
        let mut x = -self.number(0.0, 0.2);
        while x < EXTENT.x {
            let (width, top) = (self.number(0.2, 0.38), self.number(-0.05, 0.12));
            let ink = self.color(&[[186, 120, 96], [205, 190, 165], [150, 160, 170], [170, 140, 120]]);
            self.fill(&Outline::rectangle([x, top], [x + width, horizon]), ink);
            for column in 0..3 {
                for row in 0..3 {
                    let at =
                        Vec2::new(x + 0.03 + column as f32 * (width - 0.03) / 3.0, top + 0.03 + 0.085 * row as f32);
                    let corner = at + Vec2::new(0.05, 0.05);
                    if corner.y < horizon - 0.01 && corner.x < x + width {
                        self.fill(&Outline::rectangle(at.into(), corner.into()), mixed(ink, [40, 50, 70], 0.6));
                    }
                }
            }
            x += width;
        }
        let kerb = horizon + 0.09;
        self.band([horizon, kerb], [[178, 174, 168], [192, 188, 182]]);
        self.band([kerb, 1.0], [mixed(road, [0; 3], 0.1), road]);
        self.fill(&Outline::rectangle([0.0, kerb], [EXTENT.x, kerb + 0.012]), [225, 222, 215]);
        if self.random.bool() {
            let (start, y) = (self.number(-0.2, 0.0), self.number(0.58, 0.72));
            for dash in 0..7 {
                let x = start + 0.26 * dash as f32;
                self.fill(&Outline::rectangle([x, y], [x + 0.14, y + 0.018]), [232, 230, 222]);
            }
        }
        self.strewn(80, mixed(road, [0; 3], 0.16), 1.6);
    }
}

//! Buildings, from the front, with and without windows and doors.

use fastrand::Rng;

use crate::kinds::one_of;
use crate::photo::class::Class;
use crate::photo::figure::{Figure, Fill, Rgb, about, times, within};
use crate::photo::thing::Thing;

pub(super) fn building(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    match thing.class {
        Class::House => house(figure, random, thing),
        Class::Skyscraper => skyscraper(figure, random, thing),
        Class::Tower => tower(figure, random, thing),
        _ => block(figure, random, thing),
    }
}

fn plaster(random: &mut Rng) -> Rgb {
    let color = one_of(
        random,
        &[[226, 214, 190], [198, 160, 126], [170, 92, 74], [186, 192, 196], [222, 190, 110], [150, 164, 150]],
    );
    about(random, color)
}

/// The glass of one building's windows.
fn glass(random: &mut Rng) -> Rgb {
    one_of(random, &[[84, 110, 138], [50, 60, 76], [236, 206, 120]])
}

/// A window in its frame.
fn window(figure: &mut Figure, [x, y]: [f32; 2], [half_wide, half_high]: [f32; 2], glass: Rgb) {
    figure.part(Class::Window, |figure| {
        figure.slab([x - half_wide, y - half_high], [x + half_wide, y + half_high], [240, 238, 230]);
        let (wide, high) = (0.78 * half_wide, 0.78 * half_high);
        figure.slab([x - wide, y - high], [x + wide, y + high], glass);
        figure.line([x, y - high], [x, y + high], 0.1 * half_wide, [240, 238, 230]);
        figure.line([x - wide, y], [x + wide, y], 0.1 * half_wide, [240, 238, 230]);
    });
}

fn door(figure: &mut Figure, random: &mut Rng, x: f32, [half, high]: [f32; 2]) {
    let choice = one_of(random, &[[110, 66, 40], [140, 36, 36], [40, 70, 110], [44, 84, 60]]);
    let color = about(random, choice);
    figure.part(Class::Door, |figure| {
        figure.slab([x - half, 0.0], [x + half, high], times(color, 0.55));
        figure.slab([x - 0.82 * half, 0.0], [x + 0.82 * half, 0.95 * high], color);
        figure.disc([x + 0.5 * half, 0.45 * high], 0.13 * half, [230, 200, 90]);
    });
}

fn house(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let (wall, pane) = (plaster(random), glass(random));
    let choice = one_of(random, &[[160, 66, 50], [96, 70, 60], [84, 88, 96], [120, 96, 50]]);
    let roof = about(random, choice);
    let (half, eaves) = (within(random, 0.46..0.6), within(random, 0.5..0.6));
    let chimney = within(random, 0.15..0.3);
    figure.slab([chimney, eaves + 0.1], [chimney + 0.1, 0.98], times(roof, 0.8));
    figure.slab([-half, 0.0], [half, eaves], Fill::coarse(wall, 0.15));
    figure.area(&[[-half - 0.08, eaves], [half + 0.08, eaves], [0.0, 1.0]], 0.01, Fill::coarse(roof, 0.35));
    let side = if random.bool() { 1.0 } else { -1.0 };
    if thing.has(Class::Door) {
        door(figure, random, side * 0.2, [0.1, 0.36]);
    }
    if thing.has(Class::Window) {
        window(figure, [-side * 0.24, 0.56 * eaves], [0.13, 0.12], pane);
        if random.bool() {
            window(figure, [0.0, eaves + 0.16], [0.08, 0.08], pane);
        }
    }
}

/// Offices or a barn with a flat roof: a building of no kind that the classes know.
fn block(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let (wall, pane) = (plaster(random), glass(random));
    let high = within(random, 0.56..0.72);
    figure.slab([-0.55, 0.0], [0.55, high], Fill::coarse(wall, 0.15));
    figure.slab([-0.58, high], [0.58, high + 0.05], times(wall, 0.6));
    if thing.has(Class::Window) {
        let columns = random.usize(2..5);
        for column in 0..columns {
            let x = -0.5 + (column as f32 + 0.5) / columns as f32;
            window(figure, [x, 0.78 * high], [0.085, 0.09], pane);
            if column + 1 == columns {
                window(figure, [x, 0.36 * high], [0.085, 0.09], pane);
            }
        }
    }
    if thing.has(Class::Door) {
        let x = within(random, -0.35..0.0);
        door(figure, random, x, [0.11, 0.52 * high]);
    }
}

fn skyscraper(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let choice = one_of(random, &[[108, 124, 140], [150, 146, 140], [92, 100, 112], [164, 140, 116]]);
    let (wall, pane) = (about(random, choice), glass(random));
    let half = within(random, 0.13..0.19);
    if random.bool() {
        figure.line([0.0, 0.9], [0.0, 1.12], 0.014, [90, 90, 96]);
        figure.slab([-0.6 * half, 0.9], [0.6 * half, 1.0], times(wall, 0.85));
    }
    figure.slab([-half, 0.0], [half, 0.94], wall);
    figure.slab([0.62 * half, 0.0], [half, 0.94], times(wall, 0.75));
    if thing.has(Class::Window) {
        figure.group(Class::Window, |figure| {
            for row in 0..9 {
                let low = 0.09 + 0.092 * row as f32;
                for column in 0..3 {
                    let left = -0.84 * half + 0.47 * half * column as f32;
                    let lit = if random.f32() < 0.2 { [250, 226, 150] } else { pane };
                    figure.slab([left, low], [left + 0.34 * half, low + 0.055], lit);
                }
            }
        });
    }
}

fn tower(figure: &mut Figure, random: &mut Rng, thing: &Thing) {
    let choice = one_of(random, &[[156, 148, 136], [190, 176, 150], [124, 118, 114]]);
    let (wall, pane) = (about(random, choice), glass(random));
    let stone = Fill::coarse(wall, 0.4);
    figure.area(&[[-0.17, 0.0], [0.17, 0.0], [0.13, 0.76], [-0.13, 0.76]], 0.0, stone);
    for course in 0..7 {
        let (y, half) = (0.1 + 0.1 * course as f32, 0.165 - 0.005 * course as f32);
        figure.line([-half, y], [half, y], 0.004, times(wall, 0.7));
    }
    figure.slab([-0.18, 0.74], [0.18, 0.82], Fill::coarse(times(wall, 0.9), 0.4));
    if random.bool() {
        for merlon in [-0.14, 0.0, 0.14] {
            figure.slab([merlon - 0.04, 0.82], [merlon + 0.04, 0.9], stone);
        }
    } else {
        let choice = one_of(random, &[[150, 60, 50], [60, 80, 120], [70, 100, 70]]);
        figure.area(&[[-0.19, 0.82], [0.19, 0.82], [0.0, 1.08]], 0.01, about(random, choice));
    }
    if thing.has(Class::Window) {
        window(figure, [0.0, 0.6], [0.05, 0.065], pane);
        window(figure, [0.0, 0.4], [0.05, 0.065], pane);
    }
    if thing.has(Class::Door) {
        door(figure, random, 0.0, [0.07, 0.22]);
    }
}

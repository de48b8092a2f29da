//! Digits of our own, in MNIST's files: strokes of a pen, shaken, turned and slanted, some of them badly. For whoever has no MNIST at hand.

use std::path::Path;

use chimera_data::error::Result;
use chimera_data::new_folder::NewFolder;
use chimera_data::seed::stream;
use fastrand::Rng;
use glam::{Affine2, Vec2};

/// Pixels a side, as MNIST has them.
const SIDE: usize = 28;

/// One in so many is written badly.
const CARELESS: usize = 8;

/// Points of an arc.
const ARC: usize = 9;

/// Writes so many digits to learn from and to test on into a folder, as MNIST's idx files.
///
/// # Errors
/// A folder that cannot be written.
pub(crate) fn write_digits(folder: &Path, (train, test): (usize, usize), seed: u64) -> Result<()> {
    let new = NewFolder::create(folder)?;
    for (part, count) in [("train", train), ("t10k", test)] {
        let mut random = stream(seed, part, 0);
        let labels: Vec<u8> = (0..count).map(|_| random.u8(..10)).collect();
        let pictures: Vec<u8> = labels.iter().flat_map(|&digit| drawn(&mut random, digit)).collect();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let side = SIDE as u32;
        put(&new.path().join(format!("{part}-images-idx3-ubyte")), &[0x803, count, side, side], &pictures)?;
        put(&new.path().join(format!("{part}-labels-idx1-ubyte")), &[0x801, count], &labels)?;
    }
    new.finish()
}

fn put(path: &Path, head: &[u32], body: &[u8]) -> Result<()> {
    chimera_data::file::write_atomic(path, |out| {
        head.iter().try_for_each(|number| out.write_all(&number.to_be_bytes()))?;
        out.write_all(body)
    })
}

/// A digit as grey pixels.
fn drawn(random: &mut Rng, digit: u8) -> Vec<u8> {
    let careless = if random.usize(..CARELESS) == 0 { 2.5 } else { 1.0 };
    let mut shake = |by: f32| careless * by * (random.f32() * 2.0 - 1.0);
    let turn = Affine2::from_angle(shake(0.18));
    let slant = Affine2::from_cols_array(&[1.0 + shake(0.15), 0.0, shake(0.25), 1.0 + shake(0.1), 0.0, 0.0]);
    let place = Affine2::from_translation(Vec2::new(0.5 + shake(0.04), 0.5 + shake(0.04)));
    let map = place * turn * slant * Affine2::from_translation(Vec2::splat(-0.5));
    let width = 0.055 + shake(0.012);
    let strokes: Vec<Vec<Vec2>> = strokes(digit)
        .into_iter()
        .map(|stroke| {
            stroke.into_iter().map(|point| map.transform_point2(point + Vec2::new(shake(0.03), shake(0.03)))).collect()
        })
        .collect();
    let ink = |at: Vec2| {
        let near = strokes.iter().flat_map(|stroke| stroke.windows(2)).map(|ends| distance(at, ends[0], ends[1]));
        let distance = near.fold(f32::INFINITY, f32::min);
        255.0 * ((width - distance) / 0.03 + 0.5).clamp(0.0, 1.0)
    };
    let middle = |pixel: usize| (pixel as f32 + 0.5) / SIDE as f32;
    (0..SIDE * SIDE).map(|pixel| ink(Vec2::new(middle(pixel % SIDE), middle(pixel / SIDE))) as u8).collect()
}

fn distance(at: Vec2, from: Vec2, to: Vec2) -> f32 {
    let along = to - from;
    let share = ((at - from).dot(along) / along.length_squared().max(1e-9)).clamp(0.0, 1.0);
    at.distance(from + share * along)
}

/// How a digit is written, in a square of side 1 whose origin is the upper left corner.
fn strokes(digit: u8) -> Vec<Vec<Vec2>> {
    let line = |points: &[[f32; 2]]| points.iter().copied().map(Vec2::from).collect::<Vec<_>>();
    // Around a centre with two radii, from one angle to another, in turns; 0 is to the right, 1/4 down.
    let arc = |center: [f32; 2], radii: [f32; 2], turns: [f32; 2]| {
        let point = |step: usize| {
            let angle = std::f32::consts::TAU * (turns[0] + (turns[1] - turns[0]) * step as f32 / (ARC - 1) as f32);
            Vec2::from(center) + Vec2::from(radii) * Vec2::from_angle(angle)
        };
        (0..ARC).map(point).collect::<Vec<_>>()
    };
    let joined = |parts: &[Vec<Vec2>]| parts.concat();
    match digit {
        0 => vec![arc([0.5, 0.5], [0.2, 0.32], [0.0, 1.0])],
        1 => vec![line(&[[0.4, 0.3], [0.53, 0.18], [0.53, 0.82]])],
        2 => vec![joined(&[arc([0.5, 0.35], [0.18, 0.17], [-0.5, 0.1]), line(&[[0.3, 0.8], [0.72, 0.8]])])],
        3 => vec![arc([0.47, 0.34], [0.18, 0.16], [-0.45, 0.25]), arc([0.47, 0.66], [0.2, 0.17], [-0.25, 0.45])],
        4 => vec![line(&[[0.6, 0.82], [0.6, 0.18], [0.28, 0.6], [0.76, 0.6]])],
        5 => vec![joined(&[
            line(&[[0.7, 0.2], [0.38, 0.2], [0.35, 0.45]]),
            arc([0.48, 0.62], [0.21, 0.19], [-0.3, 0.42]),
        ])],
        6 => vec![joined(&[line(&[[0.62, 0.18], [0.42, 0.35]]), arc([0.5, 0.63], [0.18, 0.18], [-0.5, 0.5])])],
        7 => vec![line(&[[0.28, 0.2], [0.72, 0.2], [0.45, 0.82]])],
        8 => vec![arc([0.5, 0.34], [0.15, 0.15], [0.0, 1.0]), arc([0.5, 0.66], [0.19, 0.17], [0.0, 1.0])],
        _ => vec![arc([0.5, 0.37], [0.17, 0.18], [0.0, 1.0]), line(&[[0.67, 0.37], [0.6, 0.82]])],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_inked_unlike_each_other_and_the_same_for_a_seed() {
        let mean = |digit: u8| -> Vec<f32> {
            let mut random = stream(3, "test", u64::from(digit));
            let mut sum = vec![0.0; SIDE * SIDE];
            for _ in 0..40 {
                let picture = drawn(&mut random, digit);
                sum.iter_mut().zip(picture).for_each(|(sum, ink)| *sum += f32::from(ink) / 40.0);
            }
            sum
        };
        let means: Vec<Vec<f32>> = (0..10).map(mean).collect();
        let distance = |one: &[f32], other: &[f32]| {
            one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f32>().sqrt()
        };
        for one in 0..10 {
            let ink: f32 = means[one].iter().sum::<f32>() / 255.0;
            assert!((30.0..250.0).contains(&ink), "{one} has ink for {ink} pixels");
            for other in 0..one {
                assert!(distance(&means[one], &means[other]) > 500.0, "{one} looks like {other}");
            }
        }
        let of = |seed| drawn(&mut stream(seed, "test", 0), 4);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}

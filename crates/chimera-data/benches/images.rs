//! Decoding and resizing a JPEG of 1024 x 768 (quality 90, 4:2:0) and one of 4032 x 3024 to 224 x 224 on one core and, with
//! `-- --python PATH` to a Python that has Pillow, the same there, side by side, with and without `draft`. Prints ratios, how
//! far the pictures differ, and what a second thread brings.
//!
//!     cargo bench -p chimera-data --bench images -- --python "$PWD/.venv/bin/python"

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use chimera_data::media::augment::AugmentParams;
use chimera_data::media::image::{ImageLimits, ImageReader};
use chimera_data::media::picture::{Picture, Size};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let python = arguments.iter().position(|argument| argument == "--python").and_then(|at| arguments.get(at + 1));
    let target = Size::new(224, 224).expect("a size");
    for (width, height, times) in [(1024, 768, 100), (4032, 3024, 8)] {
        let jpeg = photograph(width, height);
        let bits = 8.0 * jpeg.len() as f64 / (f64::from(width) * f64::from(height));
        println!("{width} x {height}, {bits:.2} bits a pixel, to 224 x 224:");
        let (picture, ours) = best_of(times, || decode(&jpeg, target));
        println!("  one core: {:.2} ms", milliseconds(ours));
        match python {
            None => println!("  Pillow: not measured (pass `--python PATH`)"),
            Some(python) => {
                for (draft, wanted) in [(true, 1.0), (false, 1.5)] {
                    let (theirs, seconds) = pillow(python, &jpeg, draft, times);
                    // Again, so that a machine that slows down does so for both.
                    let ours = best_of(times, || decode(&jpeg, target)).1.min(ours).as_secs_f64();
                    let words = if draft { "with draft" } else { "without draft" };
                    let ratio = seconds / ours;
                    let difference = mean_difference(picture.pixels(), &theirs);
                    println!(
                        "  Pillow {words}: {:.2} ms against {:.2} ms; ratio {ratio:.2}x (target {wanted}x at 1024 x 768), \
                         mean difference {difference:.2} of 255",
                        seconds * 1e3,
                        ours * 1e3
                    );
                }
            }
        }
        let (one, two) = (throughput(&jpeg, target, 1, times), throughput(&jpeg, target, 2, times));
        println!("  two threads: {:.2}x one", two / one);
        if times == 100 {
            let augment = AugmentParams { erase: 1.0, ..AugmentParams::default() }.check(1).expect("parameters");
            let (_, augmented) = best_of(times, || augment.apply("sample", 1, &picture));
            println!("  augmentation of 224 x 224: {:.2} ms", milliseconds(augmented));
        }
    }
}

fn decode(jpeg: &[u8], target: Size) -> Picture {
    ImageReader::new(ImageLimits::default()).decode(Path::new("made.jpg"), jpeg, target).expect("a good JPEG")
}

/// Soft noise on many scales over a few shapes: as many bits a pixel as a photograph of quality 90 has.
fn photograph(width: u16, height: u16) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut planes = Vec::new();
    for _ in 0..3 {
        let mut plane = vec![128.0_f32; usize::from(width) * usize::from(height)];
        for (cell, strength) in [(256, 90.0), (64, 50.0), (16, 26.0), (4, 12.0), (1, 5.0)] {
            let columns = usize::from(width) / cell + 2;
            let lattice: Vec<f32> = (0..columns * (usize::from(height) / cell + 2)).map(|_| rng.f32() - 0.5).collect();
            for (at, value) in plane.iter_mut().enumerate() {
                let (x, y) = (at % usize::from(width), at / usize::from(width));
                let (left, top) = (x / cell, y / cell);
                let (share_x, share_y) = ((x % cell) as f32 / cell as f32, (y % cell) as f32 / cell as f32);
                let node = |column: usize, row: usize| lattice[row * columns + column];
                let upper = node(left, top) * (1.0 - share_x) + node(left + 1, top) * share_x;
                let lower = node(left, top + 1) * (1.0 - share_x) + node(left + 1, top + 1) * share_x;
                *value += strength * (upper * (1.0 - share_y) + lower * share_y);
            }
        }
        planes.push(plane);
    }
    // Mostly grey: channels share the first plane.
    let channel = |at: usize, plane: usize| (planes[0][at] + 0.4 * (planes[plane][at] - 128.0)).clamp(0.0, 255.0) as u8;
    let pixels: Vec<u8> =
        (0..planes[0].len()).flat_map(|at| [channel(at, 0), channel(at, 1), channel(at, 2)]).collect();
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 90);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.encode(&pixels, width, height, ColorType::Rgb).expect("a JPEG");
    bytes
}

fn best_of<T>(times: usize, mut work: impl FnMut() -> T) -> (T, Duration) {
    let mut run = || {
        let start = Instant::now();
        let result = black_box(work());
        (result, start.elapsed())
    };
    let first = run();
    (1..times).fold(first, |best, _| {
        let next = run();
        if next.1 < best.1 { next } else { best }
    })
}

/// Images a second, the best of three runs.
fn throughput(jpeg: &[u8], target: Size, threads: usize, images: usize) -> f64 {
    let work = || {
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..images).for_each(|_| drop(black_box(decode(jpeg, target)))));
            }
        });
    };
    (threads * images) as f64 / best_of(3, work).1.as_secs_f64()
}

/// Runs the script beside this file: the JPEG on its input, seconds and pixels on its output.
fn pillow(python: &str, jpeg: &[u8], draft: bool, times: usize) -> (Vec<u8>, f64) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/images_pillow.py");
    let mut child = Command::new(python)
        .args([script, if draft { "draft" } else { "full" }, &times.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the given Python starts");
    let mut input = child.stdin.take().expect("a pipe was asked for");
    input.write_all(jpeg).expect("the script reads its input");
    drop(input);
    let output = child.wait_with_output().expect("the script ends");
    assert!(output.status.success(), "the script failed");
    let (seconds, pixels) = output.stdout.split_at(8);
    (pixels.to_vec(), f64::from_le_bytes(seconds.try_into().expect("eight bytes")))
}

fn mean_difference(ours: &[u8], theirs: &[u8]) -> f64 {
    assert_eq!(ours.len(), theirs.len(), "Pillow gave another size");
    let sum: u64 = ours.iter().zip(theirs).map(|(ours, theirs)| u64::from(ours.abs_diff(*theirs))).sum();
    sum as f64 / ours.len() as f64
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

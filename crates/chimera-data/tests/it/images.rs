//! Images of every kind, right and wrong, from files to RGB pixels of one size.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use chimera_data::error::media::MediaProblem;
use chimera_data::error::{Error, Fault, Result};
use chimera_data::media::image::{ImageLimits, ImageReader};
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::image_files::{exif, jpeg, png};
use image::{ExtendedColorType, ImageFormat};
use jpeg_encoder::{ColorType, SamplingFactor};

fn size(width: usize, height: usize) -> Size {
    Size::new(width, height).unwrap()
}

fn decode(bytes: &[u8], width: usize, height: usize) -> Result<Picture> {
    ImageReader::default().decode(Path::new("x.jpg"), bytes, size(width, height))
}

fn pixels(bytes: &[u8], width: usize, height: usize) -> Vec<u8> {
    decode(bytes, width, height).unwrap().into_pixels()
}

fn problem(bytes: &[u8]) -> MediaProblem {
    match decode(bytes, 8, 8) {
        Err(Error::Media { path, problem }) => {
            assert_eq!(path, Path::new("x.jpg"));
            problem
        }
        other => panic!("{other:?}"),
    }
}

fn near(got: &[u8], want: &[u8], by: u8) -> bool {
    got.len() == want.len() && got.iter().zip(want).all(|(got, want)| got.abs_diff(*want) <= by)
}

/// A soft picture, which JPEG keeps well.
fn soft(width: usize, height: usize) -> Vec<u8> {
    let wave = |at: usize, of: usize, turns: f64| (at as f64 / of as f64 * turns * std::f64::consts::TAU).sin();
    let color = |x: usize, y: usize| [wave(x, width, 1.0), wave(y, height, 1.5), wave(x + y, width + height, 2.0)];
    (0..width * height)
        .flat_map(|at| color(at % width, at / width))
        .map(|value| (128.0 + 100.0 * value) as u8)
        .collect()
}

#[test]
fn png_of_every_depth_and_colour() {
    // Grey of 8, 16, 2 and 1 bits; 16 bits are rounded: 0x80FF / 257 = 128.5 down to 128.
    assert_eq!(pixels(&png(2, 1, 8, 0, &[], &[0, 7, 200]), 2, 1), [7, 7, 7, 200, 200, 200]);
    assert_eq!(pixels(&png(2, 1, 16, 0, &[], &[0, 0x80, 0x80, 0xFF, 0xFF]), 2, 1), [128, 128, 128, 255, 255, 255]);
    assert_eq!(pixels(&png(2, 1, 2, 0, &[], &[0, 0b0110_0000]), 2, 1), [85, 85, 85, 170, 170, 170]);
    assert_eq!(pixels(&png(2, 1, 1, 0, &[], &[0, 0b0100_0000]), 2, 1), [0, 0, 0, 255, 255, 255]);
    // RGB of 8 and 16 bits.
    assert_eq!(pixels(&png(1, 1, 8, 2, &[], &[0, 1, 2, 3]), 1, 1), [1, 2, 3]);
    assert_eq!(pixels(&png(1, 1, 16, 2, &[], &[0, 1, 1, 2, 2, 3, 3]), 1, 1), [1, 2, 3]);
    // A palette, and one whose second colour is transparent.
    let palette: (&[u8; 4], &[u8]) = (b"PLTE", &[10, 20, 30, 40, 50, 60]);
    assert_eq!(pixels(&png(2, 1, 8, 3, &[palette], &[0, 1, 0]), 2, 1), [40, 50, 60, 10, 20, 30]);
    let clear: (&[u8; 4], &[u8]) = (b"tRNS", &[255, 0]);
    assert_eq!(pixels(&png(2, 1, 8, 3, &[palette, clear], &[0, 1, 0]), 2, 1), [255, 255, 255, 10, 20, 30]);
    // Alpha over white: (100 * 51 + 255 * 204) / 255 = 224 for a fifth.
    assert_eq!(pixels(&png(2, 1, 8, 6, &[], &[0, 9, 9, 9, 0, 100, 0, 255, 51]), 2, 1), [255, 255, 255, 224, 204, 255]);
    assert_eq!(pixels(&png(1, 1, 8, 4, &[], &[0, 100, 51]), 1, 1), [224; 3]);
    assert_eq!(pixels(&png(1, 1, 16, 4, &[], &[0, 100, 100, 51, 51]), 1, 1), [224; 3]);
}

#[test]
fn other_formats_are_known_by_their_bytes() {
    let picture = soft(20, 10);
    for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::Gif, ImageFormat::WebP] {
        let mut bytes = Cursor::new(Vec::new());
        image::write_buffer_with_format(&mut bytes, &picture, 20, 10, ExtendedColorType::Rgb8, format).unwrap();
        // A GIF has 256 colours.
        let by = if format == ImageFormat::Gif { 24 } else { 0 };
        assert!(near(&pixels(bytes.get_ref(), 20, 10), &picture, by), "{format:?}");
        for length in [1, 4, 12, 30, bytes.get_ref().len() / 2] {
            assert!(decode(&bytes.get_ref()[..length], 8, 8).is_err(), "{format:?} cut to {length}");
        }
    }
}

#[test]
fn jpeg_of_every_kind() {
    let picture = soft(64, 48);
    let rgb = |adjust: fn(&mut jpeg_encoder::Encoder<&mut Vec<u8>>)| jpeg(&picture, 64, 48, ColorType::Rgb, adjust);
    // With subsampled colours Pillow is off by 26, 14 and 40 on these files.
    for (bytes, by) in [
        (rgb(|_| {}), 4),
        (rgb(|encoder| encoder.set_progressive(true)), 4),
        (rgb(|encoder| encoder.set_restart_interval(3)), 4),
        (rgb(|encoder| encoder.set_sampling_factor(SamplingFactor::F_2_2)), 28),
        (rgb(|encoder| encoder.set_sampling_factor(SamplingFactor::F_2_1)), 16),
        (rgb(|encoder| encoder.set_sampling_factor(SamplingFactor::F_4_1)), 42),
    ] {
        assert!(near(&pixels(&bytes, 64, 48), &picture, by), "{by}");
    }
    let grey: Vec<u8> = picture.iter().step_by(3).copied().collect();
    let expected: Vec<u8> = grey.iter().flat_map(|&value| [value; 3]).collect();
    assert!(near(&pixels(&jpeg(&grey, 64, 48, ColorType::Luma, |_| {}), 64, 48), &expected, 2));
}

#[test]
fn inks_of_adobe_and_of_others() {
    // 20 % cyan, 60 % magenta, no yellow, 40 % black: (0.8, 0.4, 1) * 0.6 of 255.
    let inks = [51, 153, 0, 102].repeat(16 * 16);
    let expected = [122, 61, 153].repeat(16 * 16);
    for color in [ColorType::Cmyk, ColorType::CmykAsYcck] {
        let bytes = jpeg(&inks, 16, 16, color, |_| {});
        assert!(near(&pixels(&bytes, 16, 16), &expected, 3), "{color:?} {:?}", &pixels(&bytes, 16, 16)[..3]);
    }
    // Without the marker of Adobe the stored numbers are inks themselves; the encoder stores them inverted.
    let inverted: Vec<u8> = inks.iter().map(|ink| 255 - ink).collect();
    let bytes = jpeg(&inverted, 16, 16, ColorType::Cmyk, |_| {});
    let marker = bytes.windows(9).position(|window| window.starts_with(&[0xFF, 0xEE]) && window.ends_with(b"Adobe"));
    let marker = marker.unwrap();
    let plain = [&bytes[..marker], &bytes[marker + 16..]].concat();
    assert!(near(&pixels(&plain, 16, 16), &expected, 3), "{:?}", &pixels(&plain, 16, 16)[..3]);
}

#[test]
fn scaled_decoding_is_close_to_decoding_in_full() {
    let picture = Picture::new(size(800, 600), soft(800, 600)).unwrap();
    for sampling in [SamplingFactor::F_1_1, SamplingFactor::F_2_2] {
        let bytes = jpeg(picture.pixels(), 800, 600, ColorType::Rgb, |encoder| encoder.set_sampling_factor(sampling));
        // In full, a half, a quarter, an eighth; odd sizes in between.
        for (width, height) in [(800, 600), (500, 500), (400, 300), (224, 224), (200, 150), (99, 75), (41, 31), (1, 1)]
        {
            let got = pixels(&bytes, width, height);
            let expected = picture.resized(size(width, height));
            assert!(near(&got, expected.pixels(), 12), "{width} x {height}");
            let total: u32 = got.iter().zip(expected.pixels()).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
            assert!(f64::from(total) / (got.len() as f64) < 2.0, "{width} x {height}");
        }
    }
}

#[test]
fn every_orientation_is_turned_upright() {
    // Stored: red top left, green top right, blue bottom left, white bottom right.
    let (width, height) = (48, 32);
    let corners = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]];
    let corner = |x: usize, y: usize| corners[usize::from(x >= width / 2) + 2 * usize::from(y >= height / 2)];
    let stored: Vec<u8> = (0..width * height).flat_map(|at| corner(at % width, at / width)).collect();
    // EXIF 2.3, tag 274: where the stored top left and top right corners are seen (0 top left, 1 top right, 2 and 3 below).
    let seen = [(0, 1), (1, 0), (3, 2), (2, 3), (0, 2), (1, 3), (3, 1), (2, 0)];
    for (orientation, (first, second)) in (1..=8).zip(seen) {
        let jpeg = jpeg(&stored, 48, 32, ColorType::Rgb, |encoder| {
            encoder.add_app_segment(1, exif(orientation)).unwrap();
        });
        let rows: Vec<u8> = stored.chunks_exact(3 * width).flat_map(|row| [&[0], row].concat()).collect();
        let png = png(48, 32, 8, 2, &[(b"eXIf", &exif(orientation)[6..])], &rows);
        for (bytes, by) in [(jpeg, 6), (png, 0)] {
            let (width, height) = if orientation > 4 { (12, 20) } else { (20, 12) };
            let picture = decode(&bytes, width, height).unwrap();
            let at = |place: usize| {
                let (x, y) = ([2, width - 3][place % 2], [2, height - 3][place / 2]);
                &picture.pixels()[3 * (y * width + x)..][..3]
            };
            assert!(near(at(first), &corners[0], by), "orientation {orientation}: {:?}", at(first));
            assert!(near(at(second), &corners[1], by), "orientation {orientation}: {:?}", at(second));
        }
    }
}

#[test]
fn bombs_are_refused_before_they_go_off() {
    let limits = ImageLimits::default();
    let too_large = |width, height| MediaProblem::TooLarge { width, height, side: limits.side, pixels: limits.pixels };
    assert_eq!(problem(&png(30_000, 30_000, 8, 6, &[], &[0])), too_large(30_000, 30_000));
    assert_eq!(problem(&png(1, 100_000, 8, 0, &[], &[0])), too_large(1, 100_000));
    let mut bytes = jpeg(&soft(16, 16), 16, 16, ColorType::Rgb, |_| {});
    let frame = bytes.windows(2).position(|window| window == [0xFF, 0xC0]).unwrap();
    bytes[frame + 5..frame + 9].copy_from_slice(&[0x75, 0x30, 0x75, 0x30]);
    assert_eq!(problem(&bytes), too_large(30_000, 30_000));
    let error = decode(&bytes, 8, 8).unwrap_err();
    assert_eq!(error.fault(), Fault::Input);
    assert_eq!(
        error.to_string(),
        "cannot use `x.jpg`: it has 30000 x 30000 pixels, more than 32768 a side or 134217728 in all\n\
         hint: shrink the image first, or remove its sample"
    );
    // A size that is allowed but a lie.
    assert!(matches!(problem(&png(5000, 5000, 8, 2, &[], &[0; 100])), MediaProblem::DamagedImage { .. }));
    // Limits can be set, for bytes as well.
    let strict = ImageReader::new(ImageLimits { side: 10, pixels: 50, bytes: 100 });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    fs::write(&path, png(10, 6, 1, 0, &[], &[0; 18])).unwrap();
    let refused = strict.read(&path, size(1, 1)).unwrap_err();
    assert!(matches!(refused, Error::Media { problem: MediaProblem::TooLarge { .. }, .. }), "{refused}");
    fs::write(&path, [0; 101]).unwrap();
    let refused = strict.read(&path, size(1, 1)).unwrap_err().to_string();
    assert!(refused.contains("the file has more than 100 bytes"), "{refused}");
}

#[test]
fn what_is_no_image_says_so() {
    assert_eq!(problem(b""), MediaProblem::Empty);
    assert_eq!(problem(b"<html>404 Not Found</html>"), MediaProblem::NotAnImage);
    assert!(matches!(problem(b"II*\0\x08\0\0\0"), MediaProblem::UnsupportedImage { .. }));
    assert_eq!(
        decode(b"text", 8, 8).unwrap_err().to_string(),
        "cannot use `x.jpg`: no image format is recognised\n\
         hint: images are JPEG, PNG, WebP, BMP or GIF; look at what the file holds, or fetch it again"
    );
    // The system's refusals are its own.
    let folder = tempfile::tempdir().unwrap();
    let missing = ImageReader::default().read(&folder.path().join("no.png"), size(8, 8)).unwrap_err();
    assert!(matches!(missing, Error::Read { .. }) && missing.to_string().contains("no such file"), "{missing}");
    let opened = ImageReader::default().read(folder.path(), size(8, 8)).unwrap_err();
    assert!(matches!(opened, Error::Read { .. }) && opened.to_string().contains("it is a folder"), "{opened}");
}

#[test]
fn a_cut_jpeg_is_damaged_wherever_it_is_cut() {
    let picture = soft(64, 64);
    for progressive in [false, true] {
        let bytes = jpeg(&picture, 64, 64, ColorType::Rgb, |encoder| encoder.set_progressive(progressive));
        for length in (4..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
            let found = problem(&bytes[..length]);
            assert!(matches!(found, MediaProblem::DamagedImage { .. }), "{length}: {found:?}");
        }
    }
    let bytes = jpeg(&picture, 64, 64, ColorType::Rgb, |_| {});
    assert_eq!(
        decode(&bytes[..bytes.len() / 2], 8, 8).unwrap_err().to_string(),
        "cannot use `x.jpg`: the image is damaged or cut off (it ends too early)\n\
         hint: fetch the file again, or remove its sample"
    );
}

#[test]
fn arbitrary_damage_is_an_error_or_a_picture() {
    let mut rng = fastrand::Rng::with_seed(11);
    let picture = soft(40, 30);
    let mut files = vec![
        jpeg(&picture, 40, 30, ColorType::Rgb, |encoder| encoder.set_sampling_factor(SamplingFactor::F_2_2)),
        jpeg(&picture, 40, 30, ColorType::Rgb, |encoder| encoder.set_progressive(true)),
    ];
    for format in [ImageFormat::Png, ImageFormat::Bmp, ImageFormat::Gif, ImageFormat::WebP] {
        let mut bytes = Cursor::new(Vec::new());
        image::write_buffer_with_format(&mut bytes, &picture, 40, 30, ExtendedColorType::Rgb8, format).unwrap();
        files.push(bytes.into_inner());
    }
    // Small limits, so that a size made up by chance costs no time.
    let reader = ImageReader::new(ImageLimits { side: 1000, pixels: 1 << 18, ..ImageLimits::default() });
    for round in 0..3000 {
        let mut bytes = files[round % files.len()].clone();
        for _ in 0..rng.usize(1..6) {
            // Headers are where harm is done.
            let end = if rng.bool() { bytes.len().min(700) } else { bytes.len() };
            let at = rng.usize(..end);
            bytes[at] = rng.u8(..);
        }
        match reader.decode(Path::new("x"), &bytes, size(9, 7)) {
            Ok(picture) => assert_eq!(picture.size(), size(9, 7)),
            Err(Error::Media { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn a_written_png_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jpg");
    let picture = Picture::new(size(31, 17), soft(31, 17)).unwrap();
    write_png(&path, &picture).unwrap();
    let first = fs::read(&path).unwrap();
    // Under another name: bytes decide, not names.
    assert_eq!(ImageReader::default().read(&path, size(31, 17)).unwrap(), picture);
    write_png(&path, &picture).unwrap();
    assert_eq!(fs::read(&path).unwrap(), first);
    assert!(write_png(&folder.path().join("no/a.png"), &picture).is_err());
}

#[expect(clippy::disallowed_methods, reason = "real data lie where the environment says, and nowhere by default")]
fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("CHIMERA_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: CHIMERA_DATA is not set");
    }
    folder
}

#[test]
fn real_images_decode() {
    let Some(data) = real_data() else { return };
    for (folder, extension) in [("clevr/images/train", "png"), ("openimages/validation", "jpg")] {
        let mut count = 0;
        for entry in fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|found| found == extension) {
                ImageReader::default().read(&path, size(64, 64)).unwrap();
                count += 1;
            }
        }
        assert!(count >= 100, "{folder} has {count}");
    }
}

#[test]
fn real_images_are_what_pillow_makes_of_them() {
    let Some(data) = real_data() else { return };
    // `input`: the two images opened by Pillow, resized to 224 x 224 (bilinear), then (value / 255 - mean) / std, planar.
    let bytes = fs::read(data.join("weights/parity.safetensors")).unwrap();
    let header = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let text = std::str::from_utf8(&bytes[8..8 + header]).unwrap();
    let entry = &text[text.find("\"input\"").unwrap()..];
    let start = entry.split_once("\"data_offsets\":[").unwrap().1.split(',').next().unwrap().parse::<usize>().unwrap();
    let input = &bytes[8 + header + start..];
    let (mean, deviation) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
    let files = ["clevr/images/train/CLEVR_train_000005.png", "openimages/validation/004e8f8aa9860565.jpg"];
    for (number, (file, (mean_allowed, most_allowed))) in files.into_iter().zip([(0.1, 1.01), (1.0, 24.0)]).enumerate()
    {
        let picture = ImageReader::default().read(&data.join(file), size(224, 224)).unwrap();
        let (mut most, mut sum) = (0.0_f64, 0.0_f64);
        for (at, &got) in picture.pixels().iter().enumerate() {
            let (pixel, channel) = (at / 3, at % 3);
            let place = 4 * ((number * 3 + channel) * 224 * 224 + pixel);
            let value = f64::from(f32::from_le_bytes(input[place..place + 4].try_into().unwrap()));
            let difference = ((value * deviation[channel] + mean[channel]) * 255.0 - f64::from(got)).abs();
            most = most.max(difference);
            sum += difference;
        }
        let average = sum / picture.pixels().len() as f64;
        assert!(average <= mean_allowed && most <= most_allowed, "{file}: mean {average}, most {most}");
    }
}

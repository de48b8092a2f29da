//! Augmentation against its closed forms.

use std::thread;

use super::*;

fn size(width: usize, height: usize) -> Size {
    Size::new(width, height).unwrap()
}

fn random_picture(width: usize, height: usize, seed: u64) -> Picture {
    let mut rng = Rng::with_seed(seed);
    let size = size(width, height);
    Picture::new(size, (0..size.bytes()).map(|_| rng.u8(..)).collect()).unwrap()
}

/// The value at `column`, `row` of the red channel.
fn red(picture: &Picture, column: usize, row: usize) -> u8 {
    picture.pixels()[3 * (row * picture.size().width() + column)]
}

fn still() -> Affine {
    Affine { degrees: 0.0, shear: 0.0, scale: 1.0, translate: (0.0, 0.0) }
}

#[test]
fn identity_parameters_give_the_input() {
    let augment = AugmentParams::identity().check(7).unwrap();
    for seed in 0..20 {
        let picture = random_picture(13, 9, seed);
        assert_eq!(augment.apply("a", seed, &picture), picture);
    }
}

#[test]
fn the_same_seed_id_and_epoch_give_the_same_bytes_at_any_thread_count() {
    let augment = AugmentParams { shear: 5.0, erase: 0.5, ..AugmentParams::default() }.check(123).unwrap();
    let picture = random_picture(32, 24, 1);
    let ids: Vec<String> = (0..40).map(|number| format!("sample {number}")).collect();
    let alone: Vec<Picture> = ids.iter().map(|id| augment.apply(id, 3, &picture)).collect();
    for threads in [2, 5] {
        let part = &|first| ids.iter().skip(first).step_by(threads).map(|id| augment.apply(id, 3, &picture)).collect();
        let parts: Vec<Vec<Picture>> = thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        for (at, expected) in alone.iter().enumerate() {
            assert_eq!(&parts[at % threads][at / threads], expected);
        }
    }
    // Id, epoch and seed each matter.
    assert_ne!(alone[0], alone[1]);
    assert_ne!(alone[0], augment.apply(&ids[0], 4, &picture));
    let other = AugmentParams::default().check(124).unwrap();
    assert_ne!(alone[0], other.apply(&ids[0], 3, &picture));
}

#[test]
fn what_is_switched_off_does_not_change_the_rest() {
    let on = AugmentParams { erase: 1.0, ..AugmentParams::default() }.check(5).unwrap().draw("x", 1);
    let off = AugmentParams { erase: 0.0, ..AugmentParams::default() }.check(5).unwrap().draw("x", 1);
    assert_eq!((on.colors, on.affine), (off.colors, off.affine));
    assert!(on.erasing.is_some() && off.erasing.is_none());
}

#[test]
fn brightness_scales_and_clamps() {
    let mut pixels = [0, 10, 101, 200, 255, 1];
    ColorStep::Brightness(1.5).apply(&mut pixels);
    // 1.5 v, halves upwards, at most 255.
    assert_eq!(pixels, [0, 15, 152, 255, 255, 2]);
}

#[test]
fn contrast_and_saturation_go_to_grey_at_zero() {
    // Greys 0.299 * 255 = 76.245 and 0.114 * 255 = 29.07; their mean 52.6575.
    let red_and_blue = [255, 0, 0, 0, 0, 255];
    let mut pixels = red_and_blue;
    ColorStep::Saturation(0.0).apply(&mut pixels);
    assert_eq!(pixels, [76, 76, 76, 29, 29, 29]);
    let mut pixels = red_and_blue;
    ColorStep::Contrast(0.0).apply(&mut pixels);
    assert_eq!(pixels, [53; 6]);
    // Half way: (255 + 52.6575) / 2 = 153.8, 52.6575 / 2 = 26.3.
    let mut pixels = red_and_blue;
    ColorStep::Contrast(0.5).apply(&mut pixels);
    assert_eq!(pixels, [154, 26, 26, 26, 26, 154]);
}

#[test]
fn thirds_of_the_wheel_rotate_the_channels() {
    let picture = random_picture(16, 16, 2);
    let mut pixels = picture.pixels().to_vec();
    ColorStep::Hue(1.0 / 3.0).apply(&mut pixels);
    for (before, after) in picture.pixels().chunks_exact(3).zip(pixels.chunks_exact(3)) {
        // Red goes to green, green to blue, blue to red.
        for (channel, &value) in before.iter().enumerate() {
            assert!(after[(channel + 1) % 3].abs_diff(value) <= 1, "{before:?} {after:?}");
        }
    }
    // Complement: half a turn exchanges red and cyan; greys have no hue.
    let mut pixels = [200, 50, 50, 90, 90, 90];
    ColorStep::Hue(0.5).apply(&mut pixels);
    assert_eq!(pixels, [50, 200, 200, 90, 90, 90]);
}

#[test]
fn a_quarter_turn_moves_every_pixel_to_its_place() {
    let picture = random_picture(9, 9, 3);
    let turned = Affine { degrees: 90.0, ..still() }.apply(picture.clone(), [0; 3]);
    let back = Affine { degrees: -90.0, ..still() }.apply(picture.clone(), [0; 3]);
    let half = Affine { degrees: 180.0, ..still() }.apply(picture.clone(), [0; 3]);
    for row in 0..9 {
        for column in 0..9 {
            // Clockwise, the left column read upwards becomes the top row.
            assert_eq!(red(&turned, column, row), red(&picture, row, 8 - column));
            assert_eq!(red(&back, column, row), red(&picture, 8 - row, column));
            assert_eq!(red(&half, column, row), red(&picture, 8 - column, 8 - row));
        }
    }
}

#[test]
fn moving_scaling_and_slanting_have_their_closed_forms() {
    let picture = random_picture(8, 8, 4);
    // A quarter of 8 is 2 to the right, an eighth is 1 up; what comes in is the fill.
    let moved = Affine { translate: (0.25, -0.125), ..still() }.apply(picture.clone(), [77; 3]);
    // Twice as large: the result at the centre (x = 4.5 from 4, so 0.25 from it) lies between source pixels 3 and 4.
    let large = Affine { scale: 2.0, ..still() }.apply(picture.clone(), [77; 3]);
    // 45 degrees: a row moves by its distance from the middle.
    let slanted = Affine { shear: 45.0, ..still() }.apply(picture.clone(), [77; 3]);
    for row in 0..8 {
        for column in 0..8 {
            let expected = if column >= 2 && row < 7 { red(&picture, column - 2, row + 1) } else { 77 };
            assert_eq!(red(&moved, column, row), expected);
        }
    }
    let corner = |column, row| f64::from(red(&picture, column, row));
    let upper = 0.25 * corner(3, 3) + 0.75 * corner(4, 3);
    let lower = 0.25 * corner(3, 4) + 0.75 * corner(4, 4);
    assert!((f64::from(red(&large, 4, 4)) - (0.25 * upper + 0.75 * lower)).abs() <= 0.51);
    // Row 7 is 3.5 below the middle: half of pixels 0 and 1 lies at 3.5 + 0.5 + ... = column 4.
    let between = |first: f64, second: f64| (first + second) / 2.0;
    assert!((f64::from(red(&slanted, 4, 7)) - between(corner(0, 7), corner(1, 7))).abs() <= 0.51);
    assert_eq!(red(&slanted, 2, 7), 77);
}

#[test]
fn the_erased_share_is_within_its_range() {
    let params =
        AugmentParams { erase: 1.0, erase_area: (0.05, 0.3), fill: [255, 0, 255], ..AugmentParams::identity() };
    let augment = params.check(9).unwrap();
    let picture = Picture::filled(size(40, 30), [9, 9, 9]);
    let (mut shares, mut corners) = (Vec::new(), Vec::new());
    for epoch in 0..500 {
        let result = augment.apply("id", epoch, &picture);
        let erased: Vec<usize> = (0..1200).filter(|&at| result.pixels()[3 * at..3 * at + 3] == [255, 0, 255]).collect();
        let (columns, rows) = (erased.iter().map(|at| at % 40), erased.iter().map(|at| at / 40));
        let extent = |places: &mut dyn Iterator<Item = usize>| {
            let places: Vec<usize> = places.collect();
            (places.iter().copied().min().unwrap(), places.iter().copied().max().unwrap())
        };
        let ((left, right), (top, bottom)) = (extent(&mut columns.into_iter()), extent(&mut rows.into_iter()));
        // One full rectangle and nothing else.
        assert_eq!((right - left + 1) * (bottom - top + 1), erased.len());
        assert_eq!(result.pixels().iter().filter(|&&value| value == 9).count(), 3 * (1200 - erased.len()));
        shares.push(erased.len() as f64 / 1200.0);
        corners.push((left, top));
    }
    assert!(shares.iter().all(|share| (0.05..=0.3).contains(share)));
    // Uniform: the mean of 500 draws from 0.05 to 0.3 is 0.175, give or take 3 * 0.25 / sqrt(12 * 500) = 0.01; rectangles that do
    // not fit are the large ones, which takes a little off.
    let mean = shares.iter().sum::<f64>() / 500.0;
    assert!((0.15..0.185).contains(&mean), "{mean}");
    assert!(corners.iter().any(|corner| corner.0 == 0) && corners.iter().any(|corner| corner.1 > 20));
}

#[test]
fn erasing_happens_as_often_as_asked() {
    let augment = AugmentParams { erase: 0.25, ..AugmentParams::identity() }.check(1).unwrap();
    let erased = (0..2000).filter(|&epoch| augment.draw("id", epoch).erasing.is_some()).count();
    // 500 expected, standard deviation sqrt(2000 * 0.25 * 0.75) = 19.4; four of them.
    assert!((422..=578).contains(&erased), "{erased}");
}

#[test]
fn a_given_size_is_reached_first() {
    let params = AugmentParams { size: Some(size(5, 7)), ..AugmentParams::identity() };
    let picture = random_picture(20, 20, 5);
    assert_eq!(params.check(0).unwrap().apply("a", 0, &picture), picture.resized(size(5, 7)));
}

#[test]
fn impossible_ranges_are_refused_with_what_is_possible() {
    let refused = |params: AugmentParams| params.check(0).unwrap_err().to_string();
    let with = AugmentParams::default;
    assert_eq!(
        refused(AugmentParams { hue: 0.6, ..with() }),
        "augmentation cannot use `hue` = 0.6\nhint: `hue` is from 0 to 0.5"
    );
    assert_eq!(
        refused(AugmentParams { erase_area: (0.0, 0.5), ..with() }),
        "augmentation cannot use `erase_area` = 0\nhint: `erase_area` is above 0, at most 1"
    );
    assert_eq!(
        refused(AugmentParams { scale: (1.2, 0.8), ..with() }),
        "augmentation cannot use `scale` from 1.2 to 0.8\nhint: the first number is the smaller one"
    );
    assert!(refused(AugmentParams { brightness: f64::NAN, ..with() }).contains("`brightness` = NaN"));
    assert!(refused(AugmentParams { degrees: -1.0, ..with() }).contains("from 0 to 180"));
}

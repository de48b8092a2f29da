//! Scenes: parts are where their shapes are, and whatever labels can say can be seen.

use super::*;

fn photo(number: u64) -> Photo {
    let (kind, mut random) = (Photos { together: 0.3 }, Rng::with_seed(number));
    loop {
        let things = kind.objects(&mut random, None);
        if let Some(photo) = kind.place(&mut random, &things) {
            return photo;
        }
    }
}

/// Bands change no pixel.
#[test]
fn a_picture_in_bands_is_the_whole() {
    let size = Size::new(90, 61).unwrap();
    for photo in (0..4).map(photo) {
        let whole = photo.painted(size, None, 90 * 61).unwrap();
        for pixels in [1, 90 * 7, 90 * 60] {
            assert!(photo.painted(size, None, pixels).unwrap().pixels() == whole.pixels(), "{pixels}");
        }
    }
}

/// Boxes of wheels that nothing covers are where their circles are.
#[test]
fn parts_are_where_their_shapes_are() {
    let mut checked = 0;
    for photo in (0..60).map(photo) {
        let boxes = photo.boxes();
        for (number, placed) in photo.placed.iter().enumerate() {
            let of_thing = || boxes.iter().filter(|boxed| boxed.thing == number);
            // A motorcycle's own fork and pipe lie over its wheels.
            let is_covered = of_thing().any(|boxed| boxed.is_occluded || boxed.is_truncated);
            if is_covered || placed.thing.class == Class::Motorcycle {
                continue;
            }
            let mut wheels = of_thing().filter(|boxed| boxed.class == Class::Wheel);
            for (part, _) in placed.boxed_parts().filter(|(_, part)| part.class == Class::Wheel) {
                let strokes = placed.figure.strokes.iter().filter(|stroke| stroke.part == Some(part));
                let outline = strokes.map(|stroke| placed.pose.outside(stroke.shape.bounds()));
                let [low, high] = outline.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])]).unwrap();
                let expected = [low.x / WIDE, high.x / WIDE, low.y, high.y].map(f64::from);
                let sides = wheels.next().unwrap().sides;
                let pixel = 1.0 / (FINER * LOOKED_AT.1) as f64;
                let is_near = |(side, expected): (&f64, &f64)| (side - expected).abs() < 1.5 * pixel;
                assert!(sides.iter().zip(&expected).all(is_near), "{sides:?} {expected:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

/// Every thing that can be drawn, with every choice of its parts and clothes, is seen with all of them now and then: what
/// labels can say of a thing is never ruled out by how it looks.
#[test]
fn whatever_a_thing_shows_can_be_seen() {
    let (kind, mut random) = (Photos { together: 0.0 }, Rng::with_seed(8));
    let mut all: Vec<Thing> = Vec::new();
    for thing in (0..15_000).flat_map(|_| things(&mut random, 4, 0.0)).collect::<Vec<_>>() {
        if !all.contains(&thing) {
            all.push(thing);
        }
    }
    // A woman with or without a face and a dress, bareheaded or in one of five hats; and so on for others.
    let of = |class: Class| all.iter().filter(|thing| thing.class == class).count();
    let counts =
        [Class::Man, Class::Woman, Class::Girl, Class::Person, Class::House, Class::Van, Class::Bicycle].map(of);
    assert_eq!(counts, [12, 24, 24, 2, 4, 2, 2]);
    for thing in &all {
        let photo = (0..40).find_map(|_| kind.place(&mut random, std::slice::from_ref(thing)));
        let photo = photo.unwrap_or_else(|| panic!("{thing:?} is never seen with all that it shows"));
        let boxes = photo.boxes();
        for class in thing.labels() {
            assert!(boxes.iter().any(|boxed| boxed.class == class), "{thing:?} has no box of {class:?}");
        }
    }
}

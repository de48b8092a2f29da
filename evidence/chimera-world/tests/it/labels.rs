//! What files say and what pictures show agree.

use chimera_data::clevr::concept::Concept;
use chimera_data::clevr::look::{Color, Material, Shape};
use chimera_data::media::picture::Size;
use chimera_data::seed::stream;
use chimera_logic::rules::RuleSet;
use chimera_world::clip::{Act, Clips};
use chimera_world::draw::draw;
use chimera_world::paint::Paint;
use chimera_world::render::{mask, picture};
use chimera_world::solid::Solid;
use chimera_world::still::{Still, Stills};
use chimera_world::view::View;
use chimera_world::wish::{HouseRules, Wish};

fn no_rules() -> HouseRules {
    HouseRules::new(RuleSet::default(), true).unwrap()
}

fn act(number: u64) -> Act {
    draw(&Clips { together: 0.3 }, &no_rules(), &mut stream(3, "act", number), Wish::Kept, None).unwrap()
}

fn still(number: u64) -> Still {
    draw(&Stills { together: 0.3 }, &no_rules(), &mut stream(3, "still", number), Wish::Kept, None).unwrap()
}

/// `inside_camera_view`, and so `enter` and `exit`, by an id mask of each object alone.
#[test]
fn what_is_in_view_is_in_the_mask() {
    let (mut borders, mut entered, mut left) = (0, 0, 0);
    for number in 0..12 {
        let act = act(number);
        let annotation = act.described(0);
        let frames = act.motion.frames.len();
        let mut seen = vec![vec![false; act.clip.things.len()]; frames];
        for (frame, seen) in seen.iter_mut().enumerate() {
            let view = act.view(frame);
            for (object, seen) in seen.iter_mut().enumerate() {
                // More rays than those that decide: a sliver of a few pixels may be missed by either.
                let pixels = mask(&view, (480, 320), Some(object)).into_iter().flatten().count();
                let said = annotation.motion_trajectory[frame].objects[object].inside_camera_view;
                assert!(
                    said == (pixels > 0) || pixels < 12,
                    "clip {number} frame {frame} object {object}: {pixels} pixels"
                );
                borders += usize::from((12..800).contains(&pixels));
                *seen = said;
            }
        }
        for (object, thing) in act.clip.things.iter().enumerate() {
            let has = |frame: usize| seen[frame][object];
            let first = (0..frames).find(|&frame| has(frame)).unwrap();
            let last = (0..frames).rfind(|&frame| has(frame)).unwrap();
            assert_eq!(thing.seen, Some((first as u32, last as u32)));
            entered += usize::from(first > 0);
            left += usize::from(last + 1 < frames);
        }
        let any = |name: &str| Concept::parse(name).unwrap().in_clip(&act.clip);
        let things = 0..act.clip.things.len();
        assert_eq!(any("enter(any)"), things.clone().any(|object| !seen[0][object]));
        assert_eq!(any("exit(any)"), things.clone().any(|object| !seen[frames - 1][object]));
    }
    assert!(borders > 50 && entered > 5 && left > 3, "{borders} {entered} {left}");
}

/// The colour of paint without how bright it is.
fn tint([red, green, blue]: [f32; 3]) -> [f32; 3] {
    let sum = red + green + blue + 1e-3;
    [red / sum, green / sum, blue / sum]
}

/// The colour whose rubber is tinted most like these bytes.
fn nearest(bytes: [f32; 3]) -> Color {
    let linear = bytes.map(|byte| (byte / 255.0).powf(2.2));
    let far = |color: &Color| {
        let paint = tint(Paint::new(*color, Material::Rubber).albedo.to_array());
        paint.iter().zip(tint(linear)).map(|(one, other)| (one - other).powi(2)).sum::<f32>()
    };
    Color::ALL.into_iter().min_by(|one, other| far(one).total_cmp(&far(other))).unwrap()
}

/// The pixels of an object have the colour of its label, and fill the outline of its shape.
#[test]
fn colours_and_shapes_are_those_of_labels() {
    let size = Size::new(240, 160).unwrap();
    let (mut right, mut all) = ([0, 0], [0, 0]);
    for number in 0..40 {
        let still = still(number);
        let (painted, seen) = (picture(&still.view, size).unwrap(), mask(&still.view, (240, 160), None));
        let scene = still.described(("test", 0), size);
        for (index, object) in scene.objects.iter().enumerate() {
            let pixels: Vec<usize> = (0..seen.len()).filter(|&pixel| seen[pixel] == Some(index)).collect();
            let mean: [f32; 3] = std::array::from_fn(|channel| {
                let sum: f32 = pixels.iter().map(|pixel| f32::from(painted.pixels()[3 * pixel + channel])).sum();
                sum / pixels.len() as f32
            });
            let metal = usize::from(object.material == Material::Metal);
            all[metal] += 1;
            right[metal] += usize::from(nearest(mean) == object.color);

            // Whatever stands alone there fills the labelled outline better than any other.
            let (solid, paint) = still.view.solids[index];
            let alone = |shape: Shape| {
                let turn = (object.rotation % std::f64::consts::TAU) as f32;
                let solid = Solid::new(shape, solid.half(), object.coords.map(|at| at as f32).into(), turn);
                let view = View { solids: vec![(solid, paint)], ..still.view.clone() };
                mask(&view, (240, 160), None)
            };
            let seen_alone = mask(&still.view, (240, 160), Some(index));
            let differ = |shape: &Shape| {
                alone(*shape).iter().zip(&seen_alone).filter(|(one, other)| one.is_some() != other.is_some()).count()
            };
            let best = Shape::ALL.into_iter().min_by_key(differ).unwrap();
            assert_eq!((best, differ(&best)), (object.shape, 0), "still {number} object {index}");

            // The middle is where the file says.
            let [column, row] = [object.pixel_coords.0 as usize, object.pixel_coords.1 as usize];
            assert!(seen_alone[row.min(159) * 240 + column.min(239)].is_some(), "still {number} object {index}");
        }
    }
    let share = |material: usize| right[material] as f64 / all[material] as f64;
    assert!(all.iter().all(|&all| all > 50) && share(0) > 0.97 && share(1) > 0.85, "{right:?} of {all:?}");
}

/// Whether a thing lies left of another can be seen.
#[test]
fn relations_are_those_of_the_picture() {
    for number in 0..30 {
        let scene = still(number).described(("test", 0), Size::new(480, 320).unwrap());
        let count = scene.objects.len();
        for one in 0..count {
            let (left, right) = (&scene.relationships["left"][one], &scene.relationships["right"][one]);
            assert!(!left.contains(&one) && left.iter().all(|other| !right.contains(other)));
            for other in 0..count {
                let at = |object: usize| scene.objects[object].pixel_coords;
                // At about the same depth, left in the world is left in the picture.
                if (at(one).2 - at(other).2).abs() < 0.5 && left.contains(&other) {
                    assert!(at(other).0 <= at(one).0, "still {number}: {other} left of {one}");
                }
                let behind = scene.relationships["behind"][one].contains(&other);
                let far = |object: usize| {
                    let [x, y, _] = scene.objects[object].coords;
                    let [dx, dy, _] = scene.directions["behind"];
                    x * dx + y * dy
                };
                assert_eq!(behind, far(other) - far(one) > 0.2);
                assert_eq!(behind, scene.relationships["front"][other].contains(&one));
            }
        }
    }
}

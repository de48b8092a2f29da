//! Concepts of clips against a second reading of their definitions that shares no code with the first.

use chimera_data::clevr::clip::{Clip, ClipThing, Collision};
use chimera_data::clevr::concept::{Concept, PRESET};
use chimera_data::clevr::look::{Color, Look, Material, Shape};

/// Words with what they ask of colour, material and shape, written down by hand.
const FILTERS: [(&str, &str, &str, &str); 10] = [
    ("any", "", "", ""),
    ("red", "red", "", ""),
    ("red_any", "red", "", ""),
    ("cube", "", "", "cube"),
    ("gray_cyl", "gray", "", "cylinder"),
    ("blue_sphere", "blue", "", "sphere"),
    ("metal_any", "", "metal", ""),
    ("rubber_sphere", "", "rubber", "sphere"),
    ("green_metal_cube", "green", "metal", "cube"),
    ("shape=sphere", "", "", "sphere"),
];

fn is(look: Look, filter: usize) -> bool {
    let (_, color, material, shape) = FILTERS[filter];
    let asks = |word: &str, has: &str| word.is_empty() || word == has;
    asks(color, look.color.as_str()) && asks(material, look.material.as_str()) && asks(shape, look.shape.as_str())
}

/// The definitions, over every object, every ordered pair and every frame.
fn holds(event: &str, a: usize, b: usize, clip: &Clip) -> bool {
    let mut found = false;
    let visible =
        |thing: usize, frame: u32| clip.things[thing].seen.is_some_and(|(first, last)| first <= frame && frame <= last);
    for thing in 0..clip.things.len() {
        let ever: Vec<u32> = (0..clip.frames).filter(|frame| visible(thing, *frame)).collect();
        let matching = is(clip.things[thing].look, a);
        found |= match event {
            "" => matching,
            "enter" => matching && !ever.is_empty() && !ever.contains(&0),
            "exit" => matching && !ever.is_empty() && !ever.contains(&(clip.frames - 1)),
            _ => false,
        };
    }
    for one in 0..clip.things.len() {
        for other in 0..clip.things.len() {
            for collision in &clip.collisions {
                let pair = collision.things == [one, other] || collision.things == [other, one];
                if !pair || !is(clip.things[one].look, a) || !is(clip.things[other].look, b) {
                    continue;
                }
                // Not there at the start, there in some frame before the collision.
                let entered =
                    |thing: usize| !visible(thing, 0) && (1..collision.frame).any(|frame| visible(thing, frame));
                found |= match event {
                    "collide" => true,
                    "collide_before_half" => f64::from(collision.frame) < f64::from(clip.frames) / 2.0,
                    "entered_then_collided" => entered(one) || entered(other),
                    _ => false,
                };
            }
        }
    }
    found
}

fn random_clip(random: &mut fastrand::Rng) -> Clip {
    let frames = random.u32(1..9);
    let things: Vec<ClipThing> = (0..random.usize(0..5))
        .map(|_| {
            let look = Look {
                color: Color::ALL[random.usize(0..4)],
                material: Material::ALL[random.usize(0..2)],
                shape: Shape::ALL[random.usize(0..3)],
                size: None,
            };
            let (one, other) = (random.u32(0..frames), random.u32(0..frames));
            ClipThing { look, seen: (random.u32(0..6) > 0).then_some((one.min(other), one.max(other))) }
        })
        .collect();
    let pairs = if things.len() < 2 { 0 } else { random.usize(0..4) };
    let collisions = (0..pairs)
        .map(|_| {
            let one = random.usize(0..things.len());
            let other = (one + random.usize(1..things.len())) % things.len();
            Collision { things: [one, other], frame: random.u32(0..frames) }
        })
        .collect();
    Clip { frames, things, collisions }
}

#[test]
fn events_equal_their_definitions_on_random_clips() {
    let mut random = fastrand::Rng::with_seed(123);
    let events = ["", "enter", "exit", "collide", "collide_before_half", "entered_then_collided"];
    let mut seen = [[0_usize; 2]; 6];
    for _ in 0..20_000 {
        let clip = random_clip(&mut random);
        for (number, event) in events.into_iter().enumerate() {
            let (a, b) = (random.usize(0..FILTERS.len()), random.usize(0..FILTERS.len()));
            let name = match number {
                0 => FILTERS[a].0.to_owned(),
                1 | 2 => format!("{event}({})", FILTERS[a].0),
                _ => format!("{event}({}, {})", FILTERS[a].0, FILTERS[b].0),
            };
            let concept = Concept::parse(&name).unwrap();
            let expected = holds(event, a, b, &clip);
            assert_eq!(concept.in_clip(&clip), expected, "{name} in {clip:?}");
            assert_eq!(concept.in_scene(&clip.looks()), (number == 0).then_some(expected), "{name}");
            seen[number][usize::from(expected)] += 1;
        }
    }
    // Both answers were met often enough to mean something.
    assert!(seen.iter().flatten().all(|count| *count > 500), "{seen:?}");
}

#[test]
fn collisions_have_no_order_and_one_object_is_no_pair() {
    let look = |color| Look { color, material: Material::Metal, shape: Shape::Cube, size: None };
    let thing = |color| ClipThing { look: look(color), seen: Some((0, 9)) };
    let clip = Clip {
        frames: 10,
        things: vec![thing(Color::Red), thing(Color::Blue)],
        collisions: vec![Collision { things: [0, 1], frame: 5 }],
    };
    let holds = |name: &str| Concept::parse(name).unwrap().in_clip(&clip);
    assert!(holds("collide(red,blue)") && holds("collide(blue,red)") && holds("collide(any,cube)"));
    // The red cube is red and a cube; the other one must be the red one then, and it is not.
    assert!(!holds("collide(red,red_cube)"));
    // Frame 5 of 10 is not before the half.
    assert!(!holds("collide_before_half(red,blue)"));
    assert!(PRESET.iter().all(|name| !Concept::parse(name).unwrap().is_event()));
}

//! Things: what there is in a scene before anything has a place. A few kinds are everywhere and many are rare, as in
//! photographs; some like to come together.

use std::sync::LazyLock;

use fastrand::Rng;

use super::class::{Class, Classes};
use super::figure::within;
use crate::meanings::Meaning;

/// Something that can be drawn, with the parts that it shows and what it wears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is, as closely as can be told.
    pub class: Class,
    /// The parts that it shows and what it wears, each class once.
    pub with: Vec<Class>,
    /// All that can be said of it. Things are drawn by the thousand for a scene that breaks a rule.
    shows: Classes,
}

impl Meaning for Class {
    type Object = Thing;

    /// Things are placed so that all that they are and show can be seen.
    fn among(&self, things: &[Thing]) -> Option<bool> {
        Some(things.iter().any(|thing| thing.shows().has(*self)))
    }

    /// What it is a kind of, and what all that can show it is: a wheel comes with a land vehicle.
    fn entails(&self, wider: &Self) -> bool {
        NEVER_WITHOUT[*self as usize].has(*wider)
    }
}

/// How common each thing is. What stands for a class with kinds of its own is something whose kind the classes do not know:
/// a pig is a mammal, a shrub a plant, somebody in a hood a person.
const COMMON: [(Class, f32); 48] = [
    (Class::Tree, 9.0),
    (Class::Man, 8.5),
    (Class::Woman, 7.5),
    (Class::Car, 7.5),
    (Class::House, 6.0),
    (Class::Dog, 6.0),
    (Class::Flower, 5.5),
    (Class::Bicycle, 5.0),
    (Class::Bird, 4.0),
    (Class::Building, 3.8),
    (Class::Cat, 3.6),
    (Class::Person, 3.2),
    (Class::Horse, 3.0),
    (Class::Girl, 3.0),
    (Class::Boy, 3.0),
    (Class::Plant, 2.4),
    (Class::StreetLight, 2.4),
    (Class::Bus, 2.2),
    (Class::Balloon, 2.0),
    (Class::TrafficSign, 1.8),
    (Class::Truck, 1.7),
    (Class::Motorcycle, 1.6),
    (Class::Skyscraper, 1.6),
    (Class::Sheep, 1.5),
    (Class::Ball, 1.5),
    (Class::Airplane, 1.5),
    (Class::Kite, 1.4),
    (Class::PalmTree, 1.2),
    (Class::Football, 1.1),
    (Class::Bench, 1.1),
    (Class::Duck, 0.9),
    (Class::Mammal, 0.8),
    (Class::TrafficLight, 0.8),
    (Class::Tower, 0.8),
    (Class::Houseplant, 0.7),
    (Class::Animal, 0.7),
    (Class::StopSign, 0.6),
    (Class::Sunflower, 0.6),
    (Class::Van, 0.6),
    (Class::Taxi, 0.5),
    (Class::LandVehicle, 0.5),
    (Class::Rose, 0.5),
    (Class::ChristmasTree, 0.5),
    (Class::Elephant, 0.5),
    (Class::Helicopter, 0.45),
    (Class::Owl, 0.45),
    (Class::Fox, 0.4),
    (Class::Giraffe, 0.35),
];

/// What people have on their heads, and how often.
const ON_HEADS: [(Class, f32); 5] = [
    (Class::Hat, 0.14),
    (Class::BicycleHelmet, 0.17),
    (Class::Helmet, 0.07),
    (Class::SunHat, 0.07),
    (Class::CowboyHat, 0.05),
];

/// What a thing of a class may show or wear, each by itself, and how often.
fn parts_of(class: Class) -> &'static [(Class, f32)] {
    match class {
        Class::Woman | Class::Girl => &[(Class::HumanFace, 0.8), (Class::Dress, 0.45)],
        class if class.is(Class::Person) => &[(Class::HumanFace, 0.8)],
        Class::Bicycle => &[(Class::BicycleWheel, 0.85)],
        class if class.is(Class::LandVehicle) => &[(Class::Wheel, 0.85)],
        Class::Skyscraper => &[(Class::Window, 0.85)],
        class if class.is(Class::Building) => &[(Class::Window, 0.85), (Class::Door, 0.65)],
        _ => &[],
    }
}

/// What it may have on its head, one of these at most. In a hood there is no room for a hat.
fn hats_of(class: Class) -> &'static [(Class, f32)] {
    if class.is(Class::Person) && class != Class::Person { &ON_HEADS } else { &[] }
}

/// For each class, all that is there wherever it is: what each thing shows that can show it at all.
static NEVER_WITHOUT: LazyLock<Vec<Classes>> = LazyLock::new(|| {
    let shown_by = |thing: Class| {
        let with = parts_of(thing).iter().chain(hats_of(thing)).map(|(part, _)| *part);
        std::iter::once(thing).chain(with).map(move |label| (label, Classes::closed([thing, label])))
    };
    let ways: Vec<(Class, Classes)> = COMMON.iter().flat_map(|(thing, _)| shown_by(*thing)).collect();
    let always = |class: &Class| {
        let shown = ways.iter().filter(|(label, _)| label.is(*class)).map(|(_, shown)| *shown);
        shown.reduce(Classes::common).unwrap_or_default()
    };
    Class::ALL.iter().map(always).collect()
});

impl Thing {
    /// A thing of a kind, with parts and clothes as they come.
    fn new(random: &mut Rng, class: Class) -> Self {
        let maybe = |(part, chance): &(Class, f32)| (random.f32() < *chance).then_some(*part);
        let mut with: Vec<Class> = parts_of(class).iter().filter_map(maybe).collect();
        if class.is(Class::Person) {
            let mut left = random.f32();
            for &(wear, chance) in hats_of(class) {
                if (0.0..chance).contains(&left) {
                    with.push(wear);
                }
                left -= chance;
            }
        }
        let shows = Classes::closed(std::iter::once(class).chain(with.iter().copied()));
        Self { class, with, shows }
    }

    /// What it is called by boxes: itself, and what it shows and wears.
    pub fn labels(&self) -> impl Iterator<Item = Class> {
        std::iter::once(self.class).chain(self.with.iter().copied())
    }

    /// All that can be said of it.
    #[must_use]
    pub fn shows(&self) -> Classes {
        self.shows
    }

    /// Whether it shows a part or wears something.
    pub(super) fn has(&self, class: Class) -> bool {
        self.with.contains(&class)
    }
}

/// Draws so many things. With the probability `together` a thing brings its partner along, if there is room: a man a dog,
/// and the other way round.
#[must_use]
pub fn things(random: &mut Rng, count: usize, together: f64) -> Vec<Thing> {
    let mut classes = Vec::with_capacity(count + 1);
    while classes.len() < count {
        let class = one_by_weight(random, &COMMON);
        classes.push(class);
        if random.f64() < together {
            classes.push(partner(class));
        }
    }
    classes.truncate(count);
    let mut things: Vec<Thing> = classes.into_iter().map(|class| Thing::new(random, class)).collect();
    // Who came with whom is not to be told by the order.
    random.shuffle(&mut things);
    things
}

fn one_by_weight(random: &mut Rng, list: &[(Class, f32)]) -> Class {
    let mut left = within(random, 0.0..list.iter().map(|(_, weight)| weight).sum());
    for &(class, weight) in list {
        left -= weight;
        if left < 0.0 {
            return class;
        }
    }
    list[0].0
}

/// Pairs that like to come together.
const PAIRS: [[Class; 2]; 13] = [
    [Class::Man, Class::Dog],
    [Class::Woman, Class::Flower],
    [Class::House, Class::Tree],
    [Class::Car, Class::StreetLight],
    [Class::Bicycle, Class::Bench],
    [Class::Boy, Class::Ball],
    [Class::Girl, Class::Balloon],
    [Class::Cat, Class::Houseplant],
    [Class::Bird, Class::Plant],
    [Class::Horse, Class::Sheep],
    [Class::Bus, Class::TrafficSign],
    [Class::Building, Class::Truck],
    [Class::Motorcycle, Class::TrafficLight],
];

/// What likes to come with a thing; its own partner is that thing, or another of its kind.
#[must_use]
pub fn partner(class: Class) -> Class {
    let other = |[one, other]: &[Class; 2]| match class {
        class if class == *one => Some(*other),
        class if class == *other => Some(*one),
        _ => None,
    };
    PAIRS.iter().find_map(other).unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_drawn_and_a_few_kinds_are_most_of_it() {
        let mut random = Rng::with_seed(3);
        let drawn: Vec<Thing> = (0..4000).flat_map(|_| things(&mut random, 5, 0.0)).collect();
        let count = |class: Class| drawn.iter().filter(|thing| thing.class == class).count();
        let total: f32 = COMMON.iter().map(|(_, weight)| weight).sum();
        for (class, weight) in COMMON {
            let expected = drawn.len() as f32 * weight / total;
            assert!((count(class) as f32 - expected).abs() < 5.0 * expected.sqrt(), "{class:?} {}", count(class));
        }
        for &class in Class::ALL {
            assert!(drawn.iter().any(|thing| thing.shows().has(class)), "{class:?} is never drawn");
        }
        let mut shares: Vec<usize> = COMMON.iter().map(|(class, _)| count(*class)).collect();
        shares.sort_unstable_by(|one, other| other.cmp(one));
        let head: usize = shares[..8].iter().sum();
        assert!(2 * head > drawn.len() * 9 / 10 && shares[0] > 15 * shares[47], "{shares:?}");
    }

    #[test]
    fn parts_and_clothes_belong_to_what_has_them() {
        let mut random = Rng::with_seed(4);
        for thing in (0..2000).flat_map(|_| things(&mut random, 5, 0.3)) {
            for part in &thing.with {
                let is_part = part.wholes().iter().any(|whole| thing.class.is(*whole));
                let is_worn = part.is(Class::Clothing) && thing.class.is(Class::Person);
                assert!(is_part || is_worn, "{thing:?}");
            }
            assert!(thing.labels().filter(|class| class.is(Class::Hat) || class.is(Class::Helmet)).count() <= 1);
        }
    }

    /// A class entails another exactly if no thing that is drawn shows the one without the other.
    #[test]
    fn entailment_is_what_drawn_things_show() {
        let mut random = Rng::with_seed(6);
        let drawn: Vec<Classes> =
            (0..12_000).flat_map(|_| things(&mut random, 5, 0.0)).map(|thing| thing.shows()).collect();
        for one in Class::ALL {
            for other in Class::ALL {
                let never_alone = drawn.iter().all(|shown| !shown.has(*one) || shown.has(*other));
                assert_eq!(one.entails(other), never_alone, "{one:?} {other:?}");
            }
        }
        assert!(Class::Wheel.entails(&Class::LandVehicle) && !Class::Wheel.entails(&Class::Car));
        assert!(Class::Helmet.entails(&Class::Person) && Class::Furniture.entails(&Class::Bench));
        assert!(!Class::SportsEquipment.entails(&Class::Person), "a ball needs nobody");
    }

    #[test]
    fn partners_come_as_often_as_asked() {
        let share = |together: f64| {
            let mut random = Rng::with_seed(5);
            let (mut dogs, mut walked) = (0_u32, 0_u32);
            for _ in 0..6000 {
                let things = things(&mut random, 4, together);
                let has = |class: Class| things.iter().any(|thing| thing.class == class);
                dogs += u32::from(has(Class::Dog));
                walked += u32::from(has(Class::Dog) && has(Class::Man));
            }
            f64::from(walked) / f64::from(dogs)
        };
        for &class in Class::ALL {
            assert_eq!(partner(partner(class)), class);
        }
        assert!(share(0.0) < 0.3 && share(1.0) > 0.999, "{} {}", share(0.0), share(1.0));
        assert!((share(0.0)..share(1.0)).contains(&share(0.5)), "{}", share(0.5));
    }
}

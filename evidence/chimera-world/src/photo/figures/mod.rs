//! How each thing looks: a parametric figure a class, never twice the same.

mod aloft;
mod beasts;
mod birds;
mod buildings;
mod cars;
mod cycles;
mod people;
mod plants;
mod street;
mod wear;

use fastrand::Rng;

use super::class::Class;
use super::figure::Figure;
use super::thing::Thing;

/// Where a thing is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Behind everything else.
    Back,
    /// On the ground.
    Ground,
    /// In the air.
    Sky,
}

/// Draws a thing as it looks this time.
#[must_use]
pub fn figure(random: &mut Rng, thing: &Thing) -> Figure {
    let mut figure = Figure::default();
    let draw = match thing.class {
        class if class.is(Class::Person) => people::person,
        class if class.is(Class::Bird) => birds::bird,
        class if class.is(Class::Mammal) => beasts::beast,
        Class::Animal => birds::tortoise,
        Class::Bicycle | Class::Motorcycle => cycles::cycle,
        class if class.is(Class::LandVehicle) => cars::car,
        class if class.is(Class::Building) => buildings::building,
        class if class.is(Class::Plant) => plants::plant,
        Class::Airplane | Class::Helicopter | Class::Balloon | Class::Kite => aloft::flyer,
        _ => street::furniture,
    };
    draw(&mut figure, random, thing);
    figure
}

/// Where a thing is at home, and how large its unit is there, in heights of the picture.
#[must_use]
pub fn measure(class: Class) -> (Home, f32) {
    match class {
        Class::Skyscraper => (Home::Back, 0.78),
        Class::Tower => (Home::Back, 0.66),
        Class::House => (Home::Back, 0.46),
        Class::Building => (Home::Back, 0.52),
        Class::Tree | Class::PalmTree => (Home::Back, 0.56),
        Class::ChristmasTree => (Home::Ground, 0.48),
        Class::Man | Class::Woman | Class::Person => (Home::Ground, 0.56),
        Class::Boy | Class::Girl => (Home::Ground, 0.44),
        Class::Dog | Class::Fox => (Home::Ground, 0.34),
        Class::Cat => (Home::Ground, 0.33),
        Class::Horse => (Home::Ground, 0.46),
        Class::Sheep | Class::Mammal => (Home::Ground, 0.35),
        Class::Elephant => (Home::Ground, 0.52),
        Class::Giraffe => (Home::Ground, 0.64),
        Class::Bird | Class::Owl | Class::Animal => (Home::Ground, 0.28),
        Class::Duck => (Home::Ground, 0.28),
        Class::Car | Class::Taxi => (Home::Ground, 0.54),
        Class::Van => (Home::Ground, 0.54),
        Class::Bus => (Home::Ground, 0.56),
        Class::Truck => (Home::Ground, 0.56),
        Class::LandVehicle => (Home::Ground, 0.48),
        Class::Motorcycle => (Home::Ground, 0.48),
        Class::Bicycle => (Home::Ground, 0.52),
        Class::Airplane => (Home::Sky, 0.44),
        Class::Helicopter => (Home::Sky, 0.42),
        Class::Kite => (Home::Sky, 0.3),
        Class::Balloon => (Home::Sky, 0.34),
        Class::Plant | Class::Houseplant => (Home::Ground, 0.34),
        Class::Sunflower => (Home::Ground, 0.46),
        Class::Rose | Class::Flower => (Home::Ground, 0.4),
        Class::StreetLight => (Home::Ground, 0.64),
        Class::TrafficLight | Class::TrafficSign | Class::StopSign => (Home::Ground, 0.5),
        Class::Bench => (Home::Ground, 0.36),
        _ => (Home::Ground, 0.22),
    }
}

//! How they move: some stand and look, some go straight on, some go after others or run from them.

use std::ops::Range;

use fastrand::Rng;
use glam::Vec2;

use super::cast::Category;
use super::lens::{DEPTHS, Lens};

/// Frames of a clip.
pub const FRAMES: usize = 64;

/// Frames a second.
pub const RATE: f32 = 25.0;

/// Slower than this is standing still, in metres a second.
pub(crate) const SLOW: f32 = 0.25;

/// Somebody who goes after another stops at so many metres from it.
const ARRIVED: f32 = 0.3;

/// How often another place to start from is looked for, clear of those who are there already by this share of how far both reach.
const TRIES: usize = 6;
const CLEAR: f32 = 1.05;

/// How large somebody is beside others of its kind.
const SIZES: Range<f32> = 0.88..1.14;

/// How high birds fly.
const FLIGHT: Range<f32> = 1.2..2.3;

/// What is on a chair is so much above its seat.
const PERCHED: f32 = 0.01;

/// Who it is, and how large beside others of its kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Being {
    /// What it is.
    pub category: Category,
    /// How large it is, 1 for the usual size.
    pub size: f32,
}

impl Being {
    /// One of a kind, of a size by chance.
    pub(super) fn drawn(random: &mut Rng, category: Category) -> Self {
        Self { category, size: within(random, SIZES) }
    }

    /// How high it reaches, or where something would lie on it.
    #[must_use]
    pub fn top(&self) -> f32 {
        self.size * unsized_top(self.category)
    }

    /// How far it reaches on the ground, about.
    #[must_use]
    pub fn reach(&self) -> f32 {
        let nature = self.category.nature();
        0.5 * self.size * (nature.length + nature.breadth)
    }
}

/// Somebody in a frame. Lengths are in metres, on the ground to the right and away from the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Where it is.
    pub place: Vec2,
    /// How high above the ground.
    pub lift: f32,
    /// Where it faces, of length 1. What has no face faces the camera.
    pub heading: Vec2,
    /// Where it goes, a second.
    pub velocity: Vec2,
    /// How far it has gone.
    pub way: f32,
}

impl Moment {
    /// Whether it goes anywhere.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.velocity.length() > SLOW
    }
}

/// What somebody is about to do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plan {
    /// Stays, and turns to somebody.
    Stand(Option<usize>),
    /// Goes straight on in some of the frames.
    Go { velocity: Vec2, from: usize, to: usize },
    /// Goes after another.
    Seek { whom: usize, speed: f32 },
    /// Runs from another.
    Flee { whom: usize, speed: f32 },
}

/// Towards the camera.
const NEAR: Vec2 = Vec2::NEG_Y;

/// Draws what everybody does, frame by frame.
pub(super) fn walks(random: &mut Rng, lens: &Lens, beings: &[Being]) -> Vec<Vec<Moment>> {
    let plans: Vec<Plan> = (0..beings.len()).map(|being| plan(random, beings, being)).collect();
    let mut now: Vec<Moment> = Vec::with_capacity(beings.len());
    for (being, plan) in beings.iter().zip(&plans) {
        let mut moment = start(random, lens, being.category, *plan);
        for _ in 0..TRIES {
            let is_free = |(other, taken): (&Being, &Moment)| {
                taken.place.distance(moment.place) > CLEAR * (other.reach() + being.reach())
            };
            if beings.iter().zip(&now).all(is_free) {
                break;
            }
            moment = start(random, lens, being.category, *plan);
        }
        now.push(moment);
    }
    perch(random, beings, &mut now);
    let mut frames = Vec::with_capacity(FRAMES);
    for frame in 0..FRAMES {
        let before = now.clone();
        for (number, moment) in now.iter_mut().enumerate() {
            let wanted = wanted(plans[number], frame, &before, number, beings);
            step(moment, beings[number].category, wanted, frame > 0);
        }
        frames.push(now.clone());
    }
    frames
}

/// What somebody is about to do, by what it is.
fn plan(random: &mut Rng, beings: &[Being], number: usize) -> Plan {
    let category = beings[number].category;
    let speed = category.nature().speed * (0.6 + 0.7 * random.f32());
    // Its partner often, if that is there; else anybody.
    let partner = beings.iter().position(|other| other.category == category.partner());
    let other = |random: &mut Rng| {
        let other = random.usize(..beings.len().max(2) - 1);
        let other = if other >= number { other + 1 } else { other };
        partner.filter(|_| random.bool()).unwrap_or(other)
    };
    let across = |random: &mut Rng, spread: f32| {
        let side = if random.bool() { 0.0 } else { std::f32::consts::PI };
        Vec2::from_angle(side + spread * (2.0 * random.f32() - 1.0)) * speed
    };
    let go = |random: &mut Rng, velocity: Vec2| {
        let from = if random.f32() < 0.3 { random.usize(..FRAMES / 2) } else { 0 };
        let to = if random.f32() < 0.3 { random.usize(FRAMES / 2..FRAMES) } else { FRAMES };
        Plan::Go { velocity, from, to }
    };
    let chance = random.f32();
    match category {
        Category::Toy | Category::Chair | Category::Bicycle => Plan::Stand(None),
        Category::Ball | Category::Car if chance < 0.45 => Plan::Stand(None),
        Category::Ball => {
            let velocity = across(random, 1.2);
            go(random, velocity)
        }
        Category::Car => Plan::Go { velocity: across(random, 0.12), from: 0, to: FRAMES },
        _ if chance < 0.2 && beings.len() > 1 => Plan::Seek { whom: other(random), speed },
        _ if chance < 0.34 && beings.len() > 1 => Plan::Flee { whom: other(random), speed },
        _ if chance < 0.6 || category == Category::Bird => {
            let velocity = across(random, 1.0);
            go(random, velocity)
        }
        _ => Plan::Stand((random.f32() < 0.6 && beings.len() > 1).then(|| other(random))),
    }
}

/// Where somebody is at first: in view, or such that it comes into view or leaves it.
fn start(random: &mut Rng, lens: &Lens, category: Category, plan: Plan) -> Moment {
    let depth = DEPTHS.start + (DEPTHS.end - DEPTHS.start) * random.f32();
    // Large things are not looked at from near by.
    let depth = if category.nature().length > 0.8 { depth.max(4.6) } else { depth };
    let mut place = Vec2::new(0.88 * lens.half_width(depth) * (2.0 * random.f32() - 1.0), depth);
    if let Plan::Go { velocity, from, to } = plan {
        // It is at this place at some time on its way.
        let time = random.f32() * (to - from) as f32 / RATE;
        place -= velocity * time;
    }
    let heading = match category {
        Category::Ball | Category::Toy => NEAR,
        Category::Bicycle | Category::Car => {
            let turn = 0.35 * (2.0 * random.f32() - 1.0);
            Vec2::from_angle(turn) * if random.bool() { 1.0 } else { -1.0 }
        }
        _ => Vec2::from_angle(std::f32::consts::TAU * random.f32()),
    };
    let lift = if category == Category::Bird { within(random, FLIGHT) } else { 0.0 };
    Moment { place, lift, heading, velocity: Vec2::ZERO, way: random.f32() }
}

fn within(random: &mut Rng, range: Range<f32>) -> f32 {
    range.start + (range.end - range.start) * random.f32()
}

/// How high one of the usual size reaches, or where something would lie on it.
fn unsized_top(category: Category) -> f32 {
    let nature = category.nature();
    nature.seat.unwrap_or(nature.height)
}

/// Whether it may be on a chair.
fn perches(category: Category) -> bool {
    matches!(category, Category::Cat | Category::Toy)
}

/// The least and the most that one of a category begins above the ground, and ends.
pub(super) fn heights(category: Category) -> [Range<f32>; 2] {
    let (least, most) = (SIZES.start, SIZES.end);
    let begin = match category {
        Category::Bird => FLIGHT,
        category if perches(category) => 0.0..most * unsized_top(Category::Chair) + PERCHED,
        _ => 0.0..0.0,
    };
    let top = unsized_top(category);
    [begin.clone(), begin.start + least * top..begin.end + most * top]
}

/// Some cats and toys are on a chair.
fn perch(random: &mut Rng, beings: &[Being], now: &mut [Moment]) {
    let Some(chair) = beings.iter().position(|being| being.category == Category::Chair) else { return };
    if let Some(other) = beings.iter().position(|being| perches(being.category))
        && random.f32() < 0.4
    {
        // A little nearer: it is painted over the chair.
        now[other].place = now[chair].place + 0.02 * NEAR;
        now[other].lift = beings[chair].top() + PERCHED;
    }
}

/// Where somebody wants to go in a frame, a second, and where it turns while it stands.
fn wanted(plan: Plan, frame: usize, before: &[Moment], number: usize, beings: &[Being]) -> (Vec2, Option<Vec2>) {
    let from_to = |whom: usize| before[whom].place - before[number].place;
    // Whoever is up on something stays there.
    let is_up = before[number].lift > 0.0 && beings[number].category != Category::Bird;
    match plan {
        Plan::Stand(whom) => (Vec2::ZERO, whom.map(from_to)),
        Plan::Go { velocity, from, to } if (from..to).contains(&frame) && !is_up => (velocity, None),
        Plan::Go { .. } => (Vec2::ZERO, None),
        Plan::Seek { whom, speed } => {
            let way = from_to(whom);
            let gap = way.length() - beings[whom].reach() - beings[number].reach();
            if gap < ARRIVED || is_up { (Vec2::ZERO, Some(way)) } else { (way.normalize_or_zero() * speed, None) }
        }
        Plan::Flee { whom, speed } => {
            let way = from_to(whom);
            if is_up { (Vec2::ZERO, Some(way)) } else { (-way.normalize_or_zero() * speed, None) }
        }
    }
}

/// Somebody goes on by a frame.
fn step(moment: &mut Moment, category: Category, (velocity, turn): (Vec2, Option<Vec2>), moves_on: bool) {
    // Nobody turns at once.
    moment.velocity = if moves_on { moment.velocity.lerp(velocity, 0.25) } else { velocity };
    if moves_on {
        moment.place += moment.velocity / RATE;
        moment.way += moment.velocity.length() / RATE;
    }
    if matches!(category, Category::Ball | Category::Toy) {
        return;
    }
    let facing = if moment.moves() { Some(moment.velocity) } else { turn };
    if let Some(facing) = facing.and_then(Vec2::try_normalize) {
        let turned = if moves_on { moment.heading.lerp(facing, 0.3) } else { facing };
        moment.heading = turned.try_normalize().unwrap_or(facing);
    }
}

//! Scenes: three to six things in their places before a backdrop, all of which, and all of whose parts, can be seen.

use chimera_data::error::Result;
use chimera_data::media::picture::{Picture, Size};
use fastrand::Rng;

use super::backdrop::Backdrop;
use super::canvas::{Band, Canvas, Pose, WIDE};
use super::class::{Class, Classes};
use super::figure::{Figure, Part};
use super::figures::{Home, figure, measure};
use super::layout::{depth, free_pose};
use super::sight::Sight;
use super::thing::{Thing, things};
use crate::draw::Kind;
use crate::paint::Film;

/// How many things there are.
const COUNT: std::ops::RangeInclusive<usize> = 3..=6;

/// A picture of this size is looked at to find out what is seen.
const LOOKED_AT: (usize, usize) = (96, 64);

/// A thing must be seen in so many pixels of it, and a part in so many.
const SEEN: usize = 30;
const PART_SEEN: usize = 5;

/// And so much of a thing must not be hidden.
const BARE: f32 = 0.5;

/// Boxes are drawn in a picture that is so many times finer; whatever is seen in the coarse one is seen in it too.
const FINER: usize = 3;

/// Pixels that are painted at a time: three megabytes of light.
const BAND: usize = 1 << 18;

/// How often what has a box has another one as something that it is a kind of.
const ALSO: f32 = 0.25;

/// How often people are asked about a class that is not there.
const ASKED: f32 = 0.4;

/// Scenes with figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Photos {
    /// How often a thing brings its partner along.
    pub together: f64,
}

/// A figure in its place.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) thing: Thing,
    pub(super) figure: Figure,
    pub(super) pose: Pose,
    /// Which of its parts are seen well enough to have a box.
    is_seen: Vec<bool>,
    /// For what has a box (itself first, then its parts) a wider class that has the same one.
    also: Vec<Option<Class>>,
}

/// A picture that stands for a photograph.
#[derive(Clone, Debug)]
pub struct Photo {
    backdrop: Backdrop,
    /// From back to front.
    placed: Vec<Placed>,
    /// Classes that people were asked about and did not see.
    denied: Vec<Class>,
    /// Classes that people were asked about and did see.
    confirmed: Vec<Class>,
}

/// A box around what is seen of a thing or a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boxed {
    /// The number of its thing, from back to front.
    pub thing: usize,
    /// What it is.
    pub class: Class,
    /// Left, right, upper and lower side, as shares of the picture.
    pub sides: [f64; 4],
    /// Whether something stands before it.
    pub is_occluded: bool,
    /// Whether it goes on outside the picture.
    pub is_truncated: bool,
    /// Whether it is around many at once.
    pub is_group: bool,
}

impl Kind for Photos {
    type Concept = Class;
    type Scene = Photo;
    /// Things, and how many kinds of parts and clothes they show.
    type Bustle = (usize, usize);

    fn objects(&self, random: &mut Rng, like: Option<Self::Bustle>) -> Vec<Thing> {
        let count = like.map_or_else(|| random.usize(COUNT), |(count, ..)| count);
        things(random, count, self.together)
    }

    fn place(&self, random: &mut Rng, things: &[Thing]) -> Option<Photo> {
        let backdrop = Backdrop::new(random);
        let mut placed: Vec<Placed> = Vec::with_capacity(things.len());
        for thing in things {
            let figure = figure(random, thing);
            let pose = free_pose(random, thing.class, &figure, backdrop.horizon, &placed)?;
            let is_seen = vec![false; figure.parts.len()];
            placed.push(Placed { thing: thing.clone(), figure, pose, is_seen, also: Vec::new() });
        }
        placed.sort_by(|one, other| depth(one).total_cmp(&depth(other)));
        let sights = Sight::of(&placed, backdrop.front(), LOOKED_AT);
        for (placed, sight) in placed.iter_mut().zip(sights) {
            let seen = sight.whole?.pixels;
            if seen < SEEN || (seen as f32) < BARE * sight.alone as f32 {
                return None;
            }
            for (is_seen, part) in placed.is_seen.iter_mut().zip(sight.parts) {
                *is_seen = part.is_some_and(|seen| seen.pixels >= PART_SEEN);
            }
            let shows = |class: &Class| placed.boxed_parts().any(|(_, part)| part.class == *class);
            if !placed.thing.with.iter().all(shows) {
                return None;
            }
            let labels = std::iter::once(placed.thing.class).chain(placed.figure.parts.iter().map(|part| part.class));
            placed.also = labels.map(|class| also(random, class)).collect();
        }
        let shown = shown(&placed);
        let mut asked = |is_there: bool| -> Vec<Class> {
            let wanted = Class::ALL.iter().filter(|class| shown.has(**class) == is_there);
            wanted.copied().filter(|_| random.f32() < ASKED).collect()
        };
        let (confirmed, denied) = (asked(true), asked(false));
        Some(Photo { backdrop, placed, denied, confirmed })
    }

    fn labels(&self, scene: &Photo, concepts: &[Class]) -> Vec<bool> {
        let shown = shown(&scene.placed);
        concepts.iter().map(|class| shown.has(*class)).collect()
    }

    fn bustle(&self, scene: &Photo) -> Self::Bustle {
        (scene.placed.len(), scene.placed.iter().map(|placed| placed.thing.with.len()).sum())
    }
}

/// All that can be said of a scene.
fn shown(placed: &[Placed]) -> Classes {
    placed.iter().fold(Classes::default(), |all, placed| all.and(placed.thing.shows()))
}

fn also(random: &mut Rng, class: Class) -> Option<Class> {
    let wider: Vec<Class> = class.ancestors().collect();
    (random.f32() < ALSO && !wider.is_empty()).then(|| wider[random.usize(..wider.len())])
}

impl Placed {
    /// The parts that are seen well enough to have a box, by number.
    fn boxed_parts(&self) -> impl Iterator<Item = (usize, Part)> {
        self.figure.parts.iter().copied().enumerate().filter(|(part, _)| self.is_seen[*part])
    }

    /// Whether it goes on outside the picture, by more than a pixel.
    fn is_truncated(&self) -> bool {
        let [low, high] = self.pose.outside(self.figure.bounds());
        let pixel = 1.0 / LOOKED_AT.1 as f32;
        low.min_element() < -pixel || high.x > WIDE + pixel || high.y > 1.0 + pixel
    }
}

impl Photo {
    /// The things in it, from back to front.
    pub fn things(&self) -> impl Iterator<Item = &Thing> {
        self.placed.iter().map(|placed| &placed.thing)
    }

    /// Classes that people were asked about: those that they saw, and those that they did not.
    #[must_use]
    pub fn asked(&self) -> (&[Class], &[Class]) {
        (&self.confirmed, &self.denied)
    }

    /// Boxes around things and parts as far as they can be seen; some have a second one as what they are a kind of.
    #[must_use]
    pub fn boxes(&self) -> Vec<Boxed> {
        let size = (LOOKED_AT.0 * FINER, LOOKED_AT.1 * FINER);
        let sights = Sight::of(&self.placed, self.backdrop.front(), size);
        let mut boxes = Vec::new();
        for (number, (placed, sight)) in self.placed.iter().zip(sights).enumerate() {
            let is_truncated = placed.is_truncated();
            let is_occluded = sight.whole.is_some_and(|seen| (seen.pixels as f32) < 0.97 * sight.alone as f32);
            let whole = Part { class: placed.thing.class, is_group: false };
            let all = std::iter::once((None, whole))
                .chain(placed.boxed_parts().map(|(part, described)| (Some(part), described)));
            for (part, Part { class, is_group }) in all {
                let Some(seen) = part.map_or(sight.whole, |part| sight.parts[part]) else { continue };
                let side = |at: usize, of: usize| at as f64 / of as f64;
                let [left, right] = [side(seen.columns[0], size.0), side(seen.columns[1] + 1, size.0)];
                let [upper, lower] = [side(seen.rows[0], size.1), side(seen.rows[1] + 1, size.1)];
                let sides = [left, right, upper, lower];
                let boxed = Boxed { thing: number, class, sides, is_occluded, is_truncated, is_group };
                boxes.push(boxed);
                let wider = placed.also[part.map_or(0, |part| part + 1)];
                boxes.extend(wider.map(|class| Boxed { class, ..boxed }));
            }
        }
        boxes
    }

    /// Paints it.
    ///
    /// # Errors
    /// None: the size is a picture's.
    pub fn picture(&self, size: Size) -> Result<Picture> {
        self.painted(size, None, BAND)
    }

    /// Paints it as if a thing, by its number from back to front, were not there, but for its shadow. To compare with.
    ///
    /// # Errors
    /// As [`Self::picture`].
    pub fn picture_without(&self, thing: usize, size: Size) -> Result<Picture> {
        self.painted(size, Some(thing), BAND)
    }

    /// In bands of so many pixels.
    fn painted(&self, size: Size, without: Option<usize>, pixels: usize) -> Result<Picture> {
        let (film, mut bytes) = (Film::new(), Vec::with_capacity(size.bytes()));
        for band in Band::all((size.width(), size.height()), pixels) {
            let canvas = self.band(band, without);
            bytes.extend(canvas.light.iter().flat_map(|light| film.bytes(*light)));
        }
        Picture::new(size, bytes)
    }

    fn band(&self, band: Band, without: Option<usize>) -> Canvas {
        let mut canvas = self.backdrop.canvas(band);
        for (number, placed) in self.placed.iter().enumerate() {
            if measure(placed.thing.class).0 != Home::Sky {
                canvas.shade(&placed.figure, &placed.pose);
            }
            if without != Some(number) {
                canvas.paint(&placed.figure, &placed.pose);
            }
        }
        self.backdrop.finish(&mut canvas);
        canvas
    }
}

#[cfg(test)]
mod tests;

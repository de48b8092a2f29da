//! A clip: who is there, where they go, who of them is seen, and what holds between them.

use chimera_data::error::Result;
use chimera_data::media::frames::frame_indices;
use chimera_data::media::picture::Size;
use chimera_data::vidor::TAKEN;
use chimera_data::vidor::annotation::{Annotation, BoundingBox, RelationInstance, Track, TrackBox};
use chimera_data::vidor::shown::{Instance, Shown};
use fastrand::Rng;
use glam::{Affine2, Vec2};

use super::cast::{Category, cast};
use super::concept::Concept;
use super::figure::{Aspect, Part};
use super::lens::{EXTENT, Lens};
use super::relation::{Predicate, Relation, relations};
use super::walk::{Being, FRAMES, Moment, RATE, walks};
use crate::draw::Kind;

/// How many there are.
const COUNT: std::ops::RangeInclusive<usize> = 3..=6;

/// Points across and down of somebody, by which it is told how much of it is seen.
const POINTS: usize = 6;

/// Everybody is there in so many of the frames that are looked at.
const SEEN: usize = 2;

/// Two come no nearer than this share of how far they reach.
const ROOM: f32 = 0.7;

/// Clips of moving figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Stories {
    together: f64,
    /// The frames that labels are about.
    looked: Vec<u64>,
}

impl Stories {
    /// Clips in which somebody brings a partner along so often.
    ///
    /// # Errors
    /// None that can happen: a clip has frames.
    pub fn new(together: f64) -> Result<Self> {
        Ok(Self { together, looked: frame_indices(FRAMES as u64, TAKEN as usize)? })
    }
}

/// A clip.
#[derive(Clone, Debug)]
pub struct Story {
    pub(super) lens: Lens,
    /// Decides the place and how everybody looks.
    pub(super) paint: u64,
    /// Who is there.
    pub beings: Vec<Being>,
    /// Where they go: frame by frame, all of them.
    pub walks: Vec<Vec<Moment>>,
    /// Who of them is seen: frame by frame, all of them.
    pub there: Vec<Vec<bool>>,
    /// What holds between them.
    pub relations: Vec<Relation>,
}

impl Kind for Stories {
    type Concept = Concept;
    type Scene = Story;
    /// How many there are, and how many of them go somewhere.
    type Bustle = (usize, usize);

    fn objects(&self, random: &mut Rng, like: Option<Self::Bustle>) -> Vec<Category> {
        let count = like.map_or_else(|| random.usize(COUNT), |(count, _)| count);
        cast(random, count, self.together)
    }

    fn place(&self, random: &mut Rng, cast: &[Category]) -> Option<Story> {
        let lens = Lens::drawn(random);
        let beings: Vec<Being> = cast.iter().map(|category| Being::drawn(random, *category)).collect();
        let walks = walks(random, &lens, &beings);
        if !walks.iter().all(|moments| have_room(&beings, moments)) {
            return None;
        }
        let there: Vec<Vec<bool>> = walks.iter().map(|moments| seen(&lens, &beings, moments)).collect();
        let is_seen = |who: usize| self.looked.iter().filter(|frame| there[**frame as usize][who]).count() >= SEEN;
        if !(0..beings.len()).all(is_seen) {
            return None;
        }
        let relations = relations(&beings, &walks, &there);
        Some(Story { lens, paint: random.u64(..), beings, walks, there, relations })
    }

    fn labels(&self, story: &Story, concepts: &[Concept]) -> Vec<bool> {
        let shown = story.shown(&self.looked);
        let holds = |concept: &Concept| match concept {
            Concept::There(category) => shown.objects.contains(category),
            Concept::Related(subject, predicate, object) => shown.relations.contains(&(*subject, *predicate, *object)),
        };
        concepts.iter().map(holds).collect()
    }

    fn bustle(&self, story: &Story) -> Self::Bustle {
        let goes = |who: &usize| story.walks.iter().any(|moments| moments[*who].moves());
        (story.beings.len(), (0..story.beings.len()).filter(goes).count())
    }
}

/// Whether nobody walks through another.
fn have_room(beings: &[Being], moments: &[Moment]) -> bool {
    let apart = |one: usize, other: usize| {
        let (here, there) = (&moments[one], &moments[other]);
        let (low, high) = (&beings[one], &beings[other]);
        let one_over_other = here.lift >= there.lift + high.top() || there.lift >= here.lift + low.top();
        one_over_other || here.place.distance(there.place) > ROOM * (low.reach() + high.reach())
    };
    let ahead = moments.iter().all(|moment| moment.place.y > 1.5);
    ahead && (0..beings.len()).all(|one| (0..one).all(|other| apart(one, other)))
}

/// The upper left and lower right corner of the rectangle that somebody takes up in the view, about.
fn around(lens: &Lens, being: &Being, moment: &Moment) -> [Vec2; 2] {
    let nature = being.category.nature();
    let scale = lens.scale(moment.place.y) * being.size;
    let half =
        scale * if matches!(Aspect::of(moment.heading), Aspect::Side { .. }) { nature.length } else { nature.breadth };
    let foot = lens.seen(moment.place, moment.lift);
    [foot - Vec2::new(half, scale * nature.height), foot + Vec2::new(half, 0.0)]
}

/// Whether each is seen: at least a quarter of the rectangle around it is in the picture, and not behind that of somebody nearer.
fn seen(lens: &Lens, beings: &[Being], moments: &[Moment]) -> Vec<bool> {
    let rectangles: Vec<[Vec2; 2]> =
        beings.iter().zip(moments).map(|(being, moment)| around(lens, being, moment)).collect();
    let holds = |[low, high]: &[Vec2; 2], point: Vec2| point.cmpge(*low).all() && point.cmplt(*high).all();
    let is_seen = |who: usize| {
        let [low, high] = rectangles[who];
        let nearer: Vec<&[Vec2; 2]> = (0..beings.len())
            .filter(|other| moments[*other].place.y < moments[who].place.y)
            .map(|other| &rectangles[other])
            .collect();
        let points = (0..POINTS * POINTS).map(|point| {
            let share = Vec2::new((point % POINTS) as f32 + 0.5, (point / POINTS) as f32 + 0.5) / POINTS as f32;
            low + (high - low) * share
        });
        let free = |point: &Vec2| {
            holds(&[Vec2::ZERO, EXTENT], *point) && !nearer.iter().any(|rectangle| holds(rectangle, *point))
        };
        4 * points.filter(free).count() >= POINTS * POINTS
    };
    (0..beings.len()).map(is_seen).collect()
}

impl Story {
    /// What the importer's labels say of it, at these frames.
    #[must_use]
    pub fn shown(&self, looked: &[u64]) -> Shown<Category, Predicate> {
        let category = |who: usize| self.beings[who].category;
        let there = |frame: u64| {
            let seen = &self.there[frame as usize];
            (0..seen.len()).filter(|who| seen[*who]).map(category)
        };
        let instance = |relation: &Relation| Instance {
            subject: category(relation.subject),
            predicate: relation.predicate,
            object: category(relation.object),
            frames: u64::from(relation.frames.start)..u64::from(relation.frames.end),
        };
        Shown::at(looked, there, self.relations.iter().map(instance))
    }

    /// What VidOR's file says about it.
    #[must_use]
    pub fn described(&self, video_id: String, video_path: String, size: Size) -> Annotation {
        let (looks, _) = self.looks();
        let track =
            |(tid, being): (usize, &Being)| Track { tid: tid as u64, category: being.category.name().to_owned() };
        let boxes = |frame: usize| {
            let mut boxes: Vec<TrackBox> = self
                .figures(&looks, frame)
                .iter()
                .filter(|(who, ..)| self.there[frame][*who])
                .map(|(who, parts, map)| TrackBox {
                    tid: *who as u64,
                    bbox: bounding_box(parts, map, size),
                    generated: 0,
                    tracker: "none".to_owned(),
                })
                .collect();
            boxes.sort_by_key(|track| track.tid);
            boxes
        };
        let instance = |relation: &Relation| RelationInstance {
            subject_tid: relation.subject as u64,
            predicate: relation.predicate.name().to_owned(),
            object_tid: relation.object as u64,
            begin_fid: u64::from(relation.frames.start),
            end_fid: u64::from(relation.frames.end),
        };
        Annotation {
            version: "VERSION 1.0".to_owned(),
            video_id,
            video_hash: String::new(),
            video_path,
            frame_count: self.walks.len() as u64,
            fps: f64::from(RATE),
            width: size.width() as u32,
            height: size.height() as u32,
            tracks: self.beings.iter().enumerate().map(track).collect(),
            trajectories: (0..self.walks.len()).map(boxes).collect(),
            relation_instances: self.relations.iter().map(instance).collect(),
        }
    }
}

/// The pixels around all parts, as far as they are in the picture.
fn bounding_box(parts: &[Part], map: &Affine2, size: Size) -> BoundingBox {
    let bounds = parts.iter().filter_map(|part| part.outline.mapped(map).bounds());
    let (low, high) = bounds.fold((EXTENT, Vec2::ZERO), |(low, high), [least, most]| (low.min(least), high.max(most)));
    let pixels = Vec2::new(size.width() as f32, size.height() as f32);
    let inside = |at: Vec2| (at / EXTENT * pixels).clamp(Vec2::ZERO, pixels);
    let (low, high) = (inside(low), inside(high));
    let [xmin, ymin] = low.min(pixels - 1.0).floor().to_array().map(|at| at as u32);
    let [xmax, ymax] = (high.ceil() - 1.0).to_array().map(|at| at.max(0.0) as u32);
    BoundingBox { xmin, ymin, xmax: xmax.max(xmin), ymax: ymax.max(ymin) }
}

//! What files say of moving figures and what can be seen of them agree: relations with geometry, boxes with pixels.

use std::collections::BTreeSet;

use chimera_data::media::picture::Size;
use chimera_data::seed::stream;
use chimera_data::vidor::annotation::RelationInstance;
use chimera_logic::rules::RuleSet;
use chimera_world::draw::{Kind, draw};
use chimera_world::vidor::concept::Concept;
use chimera_world::vidor::relation::Predicate;
use chimera_world::vidor::story::{Stories, Story};
use chimera_world::vidor::walk::{Being, Moment};
use chimera_world::wish::{HouseRules, Wish};
use glam::Vec2;

fn stories() -> Stories {
    Stories::new(0.3).unwrap()
}

pub(crate) fn story(number: u64) -> Story {
    let rules = HouseRules::over(RuleSet::default(), Concept::named).unwrap();
    draw(&stories(), &rules, &mut stream(3, "story", number), Wish::Kept, None).unwrap()
}

/// What is so, what is not, and what is too near to a limit to tell.
fn below(value: f32, limit: f32) -> Option<bool> {
    ((value - limit).abs() > 1e-3).then_some(value < limit)
}

fn all(parts: &[Option<bool>]) -> Option<bool> {
    if parts.contains(&Some(false)) { Some(false) } else { (!parts.contains(&None)).then_some(true) }
}

fn not(part: Option<bool>) -> Option<bool> {
    part.map(|part| !part)
}

/// Degrees between two directions.
fn between(one: Vec2, other: Vec2) -> f32 {
    let turn = (one.y.atan2(one.x) - other.y.atan2(other.x)).to_degrees().rem_euclid(360.0);
    turn.min(360.0 - turn)
}

/// A relation by its definition on the page, told in angles.
fn oracle(predicate: Predicate, one: (&Being, &Moment), other: (&Being, &Moment)) -> Option<bool> {
    let ((a, here), (b, there)) = (one, other);
    let lives = a.category.nature().lives;
    let reach = |being: &Being| {
        let nature = being.category.nature();
        being.size * (nature.length + nature.breadth) / 2.0
    };
    let top = |being: &Being, lift: f32| {
        let nature = being.category.nature();
        lift + being.size * nature.seat.unwrap_or(nature.height)
    };
    let (dx, dy) = (there.place.x - here.place.x, there.place.y - here.place.y);
    let (to, from) = (Vec2::new(dx, dy), Vec2::new(-dx, -dy));
    let distance = (dx * dx + dy * dy).sqrt();
    let moves = |moment: &Moment| below(0.25, (moment.velocity.x.powi(2) + moment.velocity.y.powi(2)).sqrt());
    let close = all(&[
        below(distance - reach(a) - reach(b), 0.9),
        below(here.lift, top(b, there.lift)),
        below(there.lift, top(a, here.lift)),
    ]);
    let sight = below(distance, 5.0);
    let angle = between(there.heading, from);
    let over = |upper: (&Being, &Moment), lower: (&Being, &Moment)| {
        all(&[below(distance, reach(a) + reach(b)), not(below(upper.1.lift, top(lower.0, lower.1.lift)))])
    };
    match predicate {
        Predicate::InFrontOf => all(&[close, below(angle, 45.0)]),
        Predicate::Behind => all(&[close, below(135.0, angle)]),
        Predicate::NextTo => all(&[close, not(below(angle, 45.0)), not(below(135.0, angle))]),
        Predicate::Towards => all(&[sight, moves(here), below(between(here.velocity, to), 25.0)]),
        Predicate::Away => all(&[sight, moves(here), below(between(here.velocity, from), 25.0)]),
        Predicate::Chase => {
            all(&[Some(lives), oracle(Predicate::Towards, one, other), oracle(Predicate::Away, other, one)])
        }
        Predicate::Watch => all(&[Some(lives), sight, not(moves(here)), below(between(here.heading, to), 15.0)]),
        Predicate::Above => over(one, other),
        Predicate::Beneath => over(other, one),
    }
}

/// Every relation of a file holds throughout its interval, and whatever holds is in the file.
#[test]
fn relations_are_those_of_geometry() {
    let (mut held, mut unsure, mut all) = ([0; 9], 0, 0);
    for number in 0..150 {
        let story = story(number);
        let file = story.described("v".to_owned(), "0000/v".to_owned(), Size::new(96, 64).unwrap());
        let count = story.beings.len();
        for frame in 0..file.trajectories.len() {
            let there = |who: usize| file.trajectories[frame].iter().any(|track| track.tid == who as u64);
            let seen = |who: usize| (&story.beings[who], &story.walks[frame][who]);
            for subject in 0..count {
                for object in (0..count).filter(|object| *object != subject) {
                    for (index, predicate) in Predicate::ALL.into_iter().enumerate() {
                        let covering = file.relation_instances.iter().filter(|instance| {
                            instance.subject_tid == subject as u64
                                && instance.object_tid == object as u64
                                && instance.predicate == predicate.name()
                                && (instance.begin_fid..instance.end_fid).contains(&(frame as u64))
                        });
                        let said = covering.count();
                        assert!(said <= 1, "story {number}: {predicate:?} is said twice at {frame}");
                        let wanted = if there(subject) && there(object) {
                            oracle(predicate, seen(subject), seen(object))
                        } else {
                            Some(false)
                        };
                        all += 1;
                        unsure += usize::from(wanted.is_none());
                        held[index] += said;
                        let told = (number, subject, predicate, object, frame);
                        assert!(wanted.is_none_or(|wanted| wanted == (said == 1)), "{told:?}: {wanted:?}, said {said}");
                    }
                }
            }
        }
        // Intervals are as long as can be: where one ends, none of its kind begins.
        for one in &file.relation_instances {
            let goes_on = |other: &&RelationInstance| {
                (one.subject_tid, &one.predicate, one.object_tid)
                    == (other.subject_tid, &other.predicate, other.object_tid)
                    && one.end_fid == other.begin_fid
            };
            assert!(one.begin_fid < one.end_fid && !file.relation_instances.iter().any(|other| goes_on(&other)));
        }
    }
    assert!(held.iter().all(|count| *count > 200) && unsure * 200 < all, "{held:?}, {unsure} of {all} unsure");
}

/// Boxes hold the pixels of their figures and no more, what is nearer is before what is farther, and who is there can be seen.
#[test]
fn boxes_are_those_of_pixels() {
    let (width, height) = (240, 160);
    let size = Size::new(width, height).unwrap();
    let (mut boxes, mut tight, mut hidden, mut both) = (0_usize, 0_usize, 0_usize, 0_usize);
    for number in 0..60 {
        let story = story(number);
        let file = story.described("v".to_owned(), "0000/v".to_owned(), size);
        for frame in [4, 31, 60] {
            let all = story.mask(size, frame, None);
            let alone: Vec<Vec<bool>> = (0..story.beings.len())
                .map(|who| story.mask(size, frame, Some(who)).iter().map(Option::is_some).collect())
                .collect();
            for pixel in 0..all.len() {
                let depth = |who: &usize| story.walks[frame][*who].place.y;
                let here = (0..alone.len()).filter(|who| alone[*who][pixel]);
                both += usize::from(here.clone().count() > 1);
                assert_eq!(all[pixel], here.min_by(|one, other| depth(one).total_cmp(&depth(other))));
            }
            for (who, alone) in alone.iter().enumerate() {
                let pixels: Vec<[usize; 2]> = (0..alone.len())
                    .filter(|pixel| alone[*pixel])
                    .map(|pixel| [pixel % width, pixel / width])
                    .collect();
                let visible = all.iter().filter(|ink| **ink == Some(who)).count();
                let track = file.trajectories[frame].iter().find(|track| track.tid == who as u64);
                assert_eq!(track.is_some(), story.there[frame][who]);
                let Some(track) = track else {
                    // Nobody who is well to be seen, in the middle and before everybody else, is left out.
                    let inner = |[x, y]: &[usize; 2]| (20..width - 20).contains(x) && (12..height - 12).contains(y);
                    let clear = !pixels.is_empty() && visible == pixels.len() && pixels.iter().all(inner);
                    assert!(!clear, "story {number} frame {frame}: {who} is not there, but can be seen");
                    continue;
                };
                boxes += 1;
                hidden += usize::from(visible == 0);
                let said = [track.bbox.xmin, track.bbox.ymin, track.bbox.xmax, track.bbox.ymax].map(|at| at as usize);
                assert!(said[2] < width && said[3] < height);
                assert!(pixels.iter().all(|[x, y]| (said[0]..=said[2]).contains(x) && (said[1]..=said[3]).contains(y)));
                let edge = |axis: usize| pixels.iter().map(move |pixel| pixel[axis]);
                let found = [edge(0).min(), edge(1).min(), edge(0).max(), edge(1).max()].map(Option::unwrap);
                // What is thinner than a pixel may lie between the middles of two.
                tight += usize::from(said.iter().zip(found).all(|(said, found)| said.abs_diff(found) <= 1));
            }
        }
    }
    assert!(boxes > 500 && both > 2000, "{boxes} {both}");
    assert!(100 * tight > 97 * boxes && 200 * hidden < boxes, "{tight} {hidden} {boxes}");
}

/// Whoever is in a story is seen in a frame that labels are about, so objects can be told before anybody moves.
#[test]
fn everybody_is_seen() {
    for number in 0..100 {
        let story = story(number);
        let categories: BTreeSet<_> = story.beings.iter().map(|being| being.category).collect();
        let looked = [4, 12, 20, 28, 36, 44, 52, 60];
        assert_eq!(story.shown(&looked).objects, categories, "story {number}");
        let concepts: Vec<Concept> = categories.into_iter().map(Concept::There).collect();
        assert!(stories().labels(&story, &concepts).iter().all(|there| *there));
    }
}

//! The world in VidOR's format: files as the real ones are, relations that are those of geometry, boxes that are those of pixels, and
//! no trace of a violation but itself.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera::data::dataset::Dataset;
use chimera::data::import::{RuleConcepts, VidorImport, VidorVideos, import_vidor};
use chimera::data::split::Split;
use chimera::data::vidor::annotation::{Annotation, RelationInstance};
use chimera::media::frame_folder::FrameFolder;
use chimera::media::frames::FrameShape;
use chimera::media::image::ImageReader;
use chimera::media::picture::Size;
use chimera::seed::stream;
use chimera_logic::rules::RuleSet;
use chimera_world::clevrer::Footage;
use chimera_world::draw::{Kind, draw};
use chimera_world::order::Order;
use chimera_world::presets;
use chimera_world::vidor::concept::Concept;
use chimera_world::vidor::relation::Predicate;
use chimera_world::vidor::story::{Stories, Story};
use chimera_world::vidor::walk::{Being, Moment};
use chimera_world::vidor::write_vidor;
use chimera_world::wish::{HouseRules, Wish};
use glam::Vec2;

use crate::files::{Traces, brightness, bytes, eight, files, order, schema, test_scenes};

fn rules() -> HouseRules<Concept> {
    HouseRules::over(presets::rules(presets::VIDOR), Concept::named).unwrap()
}

fn write(out: &Path, order: &Order, footage: &Footage) {
    write_vidor(out, order, footage, &rules(), &|_, _| {}).unwrap();
}

fn stories() -> Stories {
    Stories::new(0.3).unwrap()
}

fn story(number: u64) -> Story {
    let rules = HouseRules::over(RuleSet::default(), Concept::named).unwrap();
    draw(&stories(), &rules, &mut stream(3, "story", number), Wish::Kept, None).unwrap()
}

/// Imports what the rules speak of, however rare it is.
fn import(world: &Path, rules: &HouseRules<Concept>) -> Dataset {
    let names = rules.concepts().iter().map(Concept::name).collect();
    let source = VidorImport::new(world.to_owned(), VidorVideos::Beside);
    let rules = Some(RuleConcepts { file: world.join("rules.rules"), names });
    import_vidor(&VidorImport { rules, strict: true, ..source }, &world.with_extension("ds")).unwrap().dataset
}

/// Which rules each row breaks, by the importer's labels.
fn broken(dataset: &Dataset, rules: &HouseRules<Concept>) -> Vec<Vec<usize>> {
    let table = dataset.table();
    let column = |concept: &Concept| table.concepts.iter().position(|name| *name == concept.name()).unwrap();
    let columns: Vec<usize> = rules.concepts().iter().map(column).collect();
    let label = |row: usize, column: &usize| table.labels.get(row, *column).unwrap();
    (0..table.ids.len())
        .map(|row| rules.broken(&columns.iter().map(|column| label(row, column)).collect::<Vec<_>>()))
        .collect()
}

#[test]
fn files_import_as_they_are_and_break_what_they_should() {
    let folder = tempfile::tempdir().unwrap();
    let (world, rules) = (folder.path().join("world"), rules());
    write(&world, &Order { oracle: 40, ..order(400, 100) }, &eight());
    for path in [
        "annotation/training/0000/0000000399.json",
        "annotation/validation/0001/0000001000.json",
        "annotation/oracle/0002/0000002039.json",
        "video/0001/0000001099/frame_00004.png",
        "video/0002/0000002000/frame_00060.png",
        "rules.rules",
    ] {
        assert!(world.join(path).is_file(), "{path}");
    }
    let dataset = import(&world, &rules);
    let count = |split: Split| dataset.splits().iter().filter(|other| **other == split).count();
    assert_eq!(count(Split::Train) + count(Split::Calibration), 400);
    assert_eq!((count(Split::Test), count(Split::Oracle)), (100, 40));
    let broken = broken(&dataset, &rules);
    let of = |split: Split| -> Vec<&Vec<usize>> {
        dataset.splits().iter().zip(&broken).filter(|(other, _)| **other == split).map(|(_, broken)| broken).collect()
    };
    assert!(
        of(Split::Train).iter().chain(&of(Split::Calibration)).all(|broken| broken.is_empty()),
        "train breaks a rule"
    );
    let mut of_rule = vec![0; rules.len()];
    for (split, wanted) in [(Split::Test, 30), (Split::Oracle, 12)] {
        assert_eq!(of(split).iter().filter(|broken| !broken.is_empty()).count(), wanted, "{split}");
        // Each rule in turn, and only that one.
        assert!(of(split).iter().all(|broken| broken.len() <= 1), "{split}");
        of(split).iter().for_each(|broken| broken.iter().for_each(|rule| of_rule[*rule] += 1));
    }
    assert!(of_rule.iter().all(|count| *count >= 4), "{of_rule:?}");
}

#[test]
fn a_seed_decides_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, seed: u64, threads: usize| {
        let order = Order { seed, threads: NonZeroUsize::new(threads).unwrap(), ..order(7, 10) };
        let root = folder.path().join(name);
        write(&root, &order, &eight());
        let read = |path: PathBuf| (path.strip_prefix(&root).unwrap().to_owned(), fs::read(path).unwrap());
        files(&root).into_iter().map(read).collect::<Vec<_>>()
    };
    let one = write("one", 5, 1);
    assert_eq!(one.len(), 21 * 9 + 1);
    assert!(one == write("two", 5, 2), "threads change something");
    assert!(one != write("three", 6, 2), "a seed changes nothing");
}

/// The keys of VidOR's files, as its makers describe them.
const ANNOTATION: [&str; 31] = [
    ": object",
    ".fps: float",
    ".frame_count: integer",
    ".height: integer",
    ".relation_instances: list",
    ".relation_instances[]: object",
    ".relation_instances[].begin_fid: integer",
    ".relation_instances[].end_fid: integer",
    ".relation_instances[].object_tid: integer",
    ".relation_instances[].predicate: string",
    ".relation_instances[].subject_tid: integer",
    ".subject/objects: list",
    ".subject/objects[]: object",
    ".subject/objects[].category: string",
    ".subject/objects[].tid: integer",
    ".trajectories: list",
    ".trajectories[]: list",
    ".trajectories[][]: object",
    ".trajectories[][].bbox: object",
    ".trajectories[][].bbox.xmax: integer",
    ".trajectories[][].bbox.xmin: integer",
    ".trajectories[][].bbox.ymax: integer",
    ".trajectories[][].bbox.ymin: integer",
    ".trajectories[][].generated: integer",
    ".trajectories[][].tid: integer",
    ".trajectories[][].tracker: string",
    ".version: string",
    ".video_hash: string",
    ".video_id: string",
    ".video_path: string",
    ".width: integer",
];

#[test]
fn files_have_the_schema_of_the_real_ones() {
    let mut ours = BTreeSet::new();
    for number in 0..20 {
        let annotation = story(number).described("v".to_owned(), "0000/v".to_owned(), Size::new(96, 64).unwrap());
        schema(&serde_json::to_value(&annotation).unwrap(), "", &mut ours);
    }
    let expected: BTreeSet<String> = ANNOTATION.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(ours, expected);
    let Some(data) = std::env::var_os("CHIMERA_DATA").map(PathBuf::from) else {
        eprintln!("CHIMERA_DATA is not set: real files were skipped");
        return;
    };
    let file = fs::File::open(data.join("vidvrd/VidVRD-dataset.zip")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut real = BTreeSet::new();
    for number in (0..archive.len()).step_by(25) {
        let entry = archive.by_index(number).unwrap();
        if entry.is_file() {
            schema(&serde_json::from_reader(entry).unwrap(), "", &mut real);
        }
    }
    // What VidOR has beyond VidVRD; its rates are no whole numbers.
    let beyond = [".trajectories[][].tracker", ".version", ".video_hash", ".video_path", ".fps"];
    let is_beyond = |line: &String| beyond.iter().any(|key| line.starts_with(&format!("{key}: ")));
    let without =
        |lines: BTreeSet<String>| -> Vec<String> { lines.into_iter().filter(|line| !is_beyond(line)).collect() };
    assert_eq!(without(real), without(ours));
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

/// More frames may be kept if the importer then takes the same ones.
#[test]
fn frames_that_are_taken_are_those_of_labels() {
    let folder = tempfile::tempdir().unwrap();
    let few = Order { oracle: 0, violations: 0.0, size: Size::new(32, 32).unwrap(), ..order(2, 0) };
    let shape = FrameShape::new(8, 32, 32).unwrap();
    let taken = |kept: usize| {
        let out = folder.path().join(kept.to_string());
        write(&out, &few, &Footage::Frames(NonZeroUsize::new(kept).unwrap()));
        let mut frames = vec![0; shape.bytes()];
        let video = FrameFolder::open(&out.join("video/0000/0000000001")).unwrap();
        assert_eq!(video.count(), kept as u64);
        video.read(ImageReader::default(), shape, &mut frames).unwrap();
        frames
    };
    let eight = taken(8);
    assert!([24, 40, 64].iter().all(|kept| taken(*kept) == eight));
    for kept in [1, 4, 7, 9, 16, 63, 65, usize::MAX] {
        let out = folder.path().join("refused");
        let footage = Footage::Frames(NonZeroUsize::new(kept).unwrap());
        let error = write_vidor(&out, &few, &footage, &rules(), &|_, _| {}).unwrap_err().to_string();
        assert!(error.contains("or all 64, got") && !out.exists(), "{error}");
    }
}

#[test]
fn a_violation_leaves_no_other_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (world, rules) = (folder.path().join("world"), rules());
    let order = Order { size: Size::new(48, 32).unwrap(), ..order(100, test_scenes(1500)) };
    write(&world, &order, &eight());
    let dataset = import(&world, &rules);
    let mut traces = Traces::new(["objects", "brightness", "bytes"]);
    for (row, broken) in broken(&dataset, &rules).into_iter().enumerate() {
        if dataset.splits()[row] != Split::Test {
            continue;
        }
        let place = dataset.media_name(row).unwrap();
        let file = fs::read(world.join(format!("annotation/validation/{place}.json"))).unwrap();
        let annotation: Annotation = serde_json::from_slice(&file).unwrap();
        let frames = files(&world.join("video").join(place));
        assert_eq!(frames.len(), 8);
        traces.add(!broken.is_empty(), [annotation.tracks.len() as f64, brightness(&frames), bytes(&frames)]);
    }
    traces.check();
}

/// Videos show what frames show.
#[test]
fn clips_can_be_videos() {
    if ["ffmpeg", "ffprobe"].iter().any(|name| std::process::Command::new(name).arg("-version").output().is_err()) {
        eprintln!("skipped: ffmpeg is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let one = Order { oracle: 0, violations: 0.0, ..order(1, 0) };
    let (frames, videos) = (folder.path().join("frames"), folder.path().join("videos"));
    write(&frames, &one, &eight());
    write(&videos, &one, &Footage::Mp4("ffmpeg".into()));
    let shape = FrameShape::new(8, 64, 96).unwrap();
    let (mut kept, mut decoded) = (vec![0; shape.bytes()], vec![0; shape.bytes()]);
    let place = "video/0000/0000000000";
    FrameFolder::open(&frames.join(place)).unwrap().read(ImageReader::default(), shape, &mut kept).unwrap();
    let reader = chimera::media::video::VideoReader::default();
    let video = videos.join(format!("{place}.mp4"));
    assert_eq!(reader.count(&video).unwrap(), 64);
    reader.read(&video, shape, &mut decoded).unwrap();
    let sum: f64 = kept.iter().zip(&decoded).map(|(one, other)| f64::from(one.abs_diff(*other))).sum();
    assert!(sum / (kept.len() as f64) < 6.0, "{}", sum / kept.len() as f64);
    assert!(
        fs::read_to_string(videos.join("annotation/training/0000/0000000000.json"))
            .unwrap()
            .contains("0000/0000000000.mp4")
    );
}

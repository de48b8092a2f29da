//! Whether an explanation names the rule that is broken, and points at an object of it: on scenes that break exactly one rule, by their masks.
//!
//!     cargo bench -p chimera-lab --bench explain -- clevr MODEL [--scenes 200] [--seed 77] [--size 96x64] [--method neural]
//!     cargo bench -p chimera-lab --bench explain -- clevrer MODEL
//!
//! The model is one that was trained on that world with its built-in rules (`docs/explain.md`). Scenes are drawn anew.
//! Prints, over scenes that are flagged: how often the rule that is told first is the one that is broken, how often the strongest evidence
//! for the broken rule lies in the mask of an object of the rule, how often a place at random would; and how long an explanation
//! of three rules, as the command gives it, takes against scoring the same samples one by one.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints its result or stops"
)]

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use chimera::explain::explainer::{Explained, Explainer, Wanted};
use chimera::score::engine::{Engine, Scoring};
use chimera::score::flag::FlagParams;
use chimera::score::method::Method;
use chimera::score::pass::Pass;
use chimera_data::clevr::clip::Clip;
use chimera_data::clevr::concept::Concept;
use chimera_data::dataset::manifest::Kind as Media;
use chimera_data::import::loose::Loose;
use chimera_data::media::frames::frame_indices;
use chimera_data::media::picture::Size;
use chimera_data::media::png::write_png;
use chimera_data::seed::stream;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::stream::{Sources, Stream};
use chimera_logic::rules::RuleSet;
use chimera_world::clip::{Act, Clips};
use chimera_world::draw::{Kind, draw};
use chimera_world::motion::FRAMES;
use chimera_world::presets;
use chimera_world::render::{mask, picture};
use chimera_world::still::{Still, Stills};
use chimera_world::view::View;
use chimera_world::wish::{HouseRules, Wish};

/// Frames of a clip that are kept.
const KEPT: usize = 8;

/// A scene that breaks one rule.
struct Scene {
    rule: usize,
    /// What is seen, frame by frame.
    views: Vec<View>,
    /// Its objects that a rule speaks of.
    objects: Vec<usize>,
}

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (Some(world), Some(model)) = (words.next(), words.next().map(PathBuf::from)) else {
        eprintln!("skipped: expected a world (clevr or clevrer) and a model");
        return;
    };
    let (mut scenes, mut seed, mut size, mut method) = (200, 77, [96, 64], None);
    while let Some(word) = words.next() {
        let value = words.next().unwrap_or_else(|| panic!("`{word}` takes a value"));
        match word.as_str() {
            "--scenes" => scenes = value.parse().expect("a number of scenes"),
            "--seed" => seed = value.parse().expect("a seed"),
            "--size" => {
                let sides: Vec<usize> = value.split('x').map(|side| side.parse().expect("a side")).collect();
                size = sides.try_into().expect("a size");
            }
            "--method" => {
                method = Method::ALL.iter().find(|(name, _)| *name == value).map(|(_, method)| *method);
                assert!(method.is_some(), "unknown method `{value}`");
            }
            _ => panic!("unknown option `{word}`"),
        }
    }
    let size = Size::new(size[0], size[1]).expect("a size");
    let folder = tempfile::tempdir().expect("a folder");
    let drawn = match world.as_str() {
        "clevr" => draw_scenes(&Stills { together: 0.0 }, presets::CLEVR, (seed, scenes), still),
        "clevrer" => draw_scenes(&Clips { together: 0.0 }, presets::CLEVRER, (seed, scenes), act),
        other => panic!("unknown world `{other}`; there are clevr and clevrer"),
    };
    let paths: Vec<PathBuf> =
        drawn.iter().enumerate().map(|(number, scene)| write(folder.path(), number, scene, size)).collect();
    measure(&model, &drawn, &paths, method);
}

/// Scenes that break each rule in turn.
fn draw_scenes<K: Kind<Concept = Concept>>(
    kind: &K,
    text: &str,
    (seed, count): (u64, usize),
    told: impl Fn(&K::Scene, &HouseRules<Concept>, usize) -> Scene,
) -> Vec<Scene> {
    let house = HouseRules::new(presets::rules(text), true)
        .or_else(|_| HouseRules::new(presets::rules(text), false))
        .expect("built-in rules");
    let mut scenes = Vec::new();
    for number in 0.. {
        if scenes.len() == count {
            break;
        }
        let (rule, mut random) = (number % house.len(), stream(seed, "explain", number as u64));
        let scene = draw(kind, &house, &mut random, Wish::Broken(rule), None).expect("a scene");
        let broken = house.broken(&kind.labels(&scene, house.concepts()));
        if broken == [rule] {
            scenes.push(told(&scene, &house, rule));
        }
    }
    scenes
}

/// Concepts of a rule.
fn concepts_of<'a>(house: &'a HouseRules<Concept>, rules: &RuleSet, rule: usize) -> Vec<&'a Concept> {
    use chimera_logic::dag::Node;
    let cone = rules.dag.cone(&[rules.rules[rule].root]);
    let leaf = |node| match rules.dag.node(node) {
        Node::Leaf(concept) => Some(&house.concepts()[concept.index()]),
        Node::Gate(..) => None,
    };
    cone.into_iter().filter_map(leaf).collect()
}

fn still(scene: &Still, house: &HouseRules<Concept>, rule: usize) -> Scene {
    let rules = presets::rules(presets::CLEVR);
    let concepts = concepts_of(house, &rules, rule);
    let looks = scene.looks();
    let is_of =
        |object: &usize| concepts.iter().any(|concept| concept.in_scene(&looks[*object..=*object]) == Some(true));
    Scene { rule, views: vec![scene.view.clone()], objects: (0..looks.len()).filter(is_of).collect() }
}

fn act(scene: &Act, house: &HouseRules<Concept>, rule: usize) -> Scene {
    let rules = presets::rules(presets::CLEVRER);
    let concepts = concepts_of(house, &rules, rule);
    let clip = &scene.clip;
    let mut objects = Vec::new();
    for concept in concepts {
        for object in 0..clip.things.len() {
            let alone = Clip { things: vec![clip.things[object]], collisions: Vec::new(), frames: clip.frames };
            if concept.in_clip(&alone) {
                objects.push(object);
            }
        }
        for collision in &clip.collisions {
            let alone = Clip { collisions: vec![*collision], ..clip.clone() };
            if concept.is_event()
                && concept.in_clip(&alone)
                && !concept.in_clip(&Clip { collisions: Vec::new(), ..clip.clone() })
            {
                objects.extend(collision.things);
            }
        }
    }
    objects.sort_unstable();
    objects.dedup();
    let kept = frame_indices(u64::from(FRAMES), KEPT).expect("frames");
    Scene { rule, views: kept.iter().map(|&frame| scene.view(frame as usize)).collect(), objects }
}

/// Writes a scene as users have it: a picture, or a folder of frames.
fn write(folder: &Path, number: usize, scene: &Scene, size: Size) -> PathBuf {
    if let [view] = &scene.views[..] {
        let path = folder.join(format!("{number:05}.png"));
        write_png(&path, &picture(view, size).expect("a picture")).expect("a file");
        return path;
    }
    let path = folder.join(format!("{number:05}"));
    std::fs::create_dir(&path).expect("a folder");
    for (frame, view) in scene.views.iter().enumerate() {
        write_png(&path.join(format!("frame_{frame:05}.png")), &picture(view, size).expect("a picture"))
            .expect("a file");
    }
    path
}

fn measure(model: &Path, scenes: &[Scene], paths: &[PathBuf], method: Option<Method>) {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let device = DeviceChoice::Cpu.open().expect("the processor");
    let engine = Engine::open(model, &device, threads).expect("a model");
    let method = method.unwrap_or(engine.default_method());
    let parts = Explainer::parts_of(model, &device, &engine, method, (None, threads)).expect("parts");
    let (scoring, flagging) =
        (Scoring { method, ..Scoring::default() }, FlagParams { rate: Some(0.05), ..FlagParams::default() });
    let explainer = Explainer::new(&engine, &parts, (scoring, &flagging), threads).expect("an explainer");
    let ready = engine.ready(scoring, None, threads).expect("ready");
    let kind = if scenes[0].views.len() == 1 { Media::Image } else { Media::Video };
    // As many rules as the command tells by default.
    let wanted = Wanted { rules: &[], top_k: 3, maps: true };
    let [mut scoring, mut explaining] = [0.0; 2];
    let (mut flagged, mut right, mut in_mask) = (0, 0, 0);
    let (mut share, mut asked) = (0.0, 0);
    for (scene, path) in scenes.iter().zip(paths) {
        let loose = Loose::of(std::slice::from_ref(path), kind).expect("a medium");
        let sources = Sources::Loose(&loose);
        let began = Instant::now();
        let stream = Stream::open(&engine.model.bank, sources, None, threads).expect("a stream");
        let stop = std::sync::atomic::AtomicBool::new(false);
        Pass { ready: &ready, stream: &stream, threads, stop: &stop }.run(&mut |_| Ok(())).expect("scores");
        scoring += began.elapsed().as_secs_f64();
        let began = Instant::now();
        let explained = explainer.explain(sources, 0, &wanted).expect("an explanation");
        explaining += began.elapsed().as_secs_f64();
        if explained.told.flagged != Some(true) {
            continue;
        }
        flagged += 1;
        let own: Vec<&str> = engine.rules().collect();
        right += usize::from(explained.told.standings[0].rule == own[scene.rule]);
        // Where the broken rule is seen, whether it is told first or not.
        let about =
            explainer.explain(sources, 0, &Wanted { rules: &[scene.rule], ..wanted.clone() }).expect("an explanation");
        let Some((is_hit, fills)) = hits(&about, scene) else { continue };
        asked += 1;
        in_mask += usize::from(is_hit);
        share += fills;
    }
    let of = |part: usize, all: usize| format!("{part} of {all} ({:.1} %)", 100.0 * part as f64 / all.max(1) as f64);
    println!("{} scenes that break one rule, method {}", scenes.len(), method.name());
    println!("flagged: {}", of(flagged, scenes.len()));
    println!("the rule told first is the broken one: {}", of(right, flagged));
    println!(
        "evidence in the mask of an object of the rule: {}; at random {:.1} %",
        of(in_mask, asked),
        100.0 * share / f64::from(asked.max(1) as u32)
    );
    println!(
        "explaining {:.1} ms, scoring {:.1} ms a sample: {:.1}x",
        1e3 * explaining / scenes.len() as f64,
        1e3 * scoring / scenes.len() as f64,
        explaining / scoring
    );
}

/// Whether the strongest evidence lies in an object of the rule, and the share of the picture that they fill; `None` without evidence.
fn hits(explained: &Explained<'_>, scene: &Scene) -> Option<(bool, f64)> {
    let maps = explained.told.rules.first()?.maps.iter().filter(|map| map.concept.is_none());
    let map = maps.max_by(|one, other| one.most.total_cmp(&other.most))?;
    let peak = map.peak?;
    let (width, height) = (160, 160);
    let seen = mask(&scene.views[map.frame], (width, height), None);
    let is_object = |pixel: &Option<usize>| pixel.is_some_and(|object| scene.objects.contains(&object));
    let [across, down] = [peak[0] * width as f64, peak[1] * height as f64].map(|at| at as usize);
    let share = seen.iter().filter(|pixel| is_object(pixel)).count() as f64 / seen.len() as f64;
    Some((is_object(&seen[down * width + across]), share))
}

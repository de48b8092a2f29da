//! The world in Open Images' format: files as the real ones are, labels that agree with boxes and pixels, no trace of a
//! violation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera_data::dataset::Dataset;
use chimera_data::import::{OpenImagesImport, import_openimages};
use chimera_data::media::picture::Size;
use chimera_data::seed::stream;
use chimera_data::split::Split;
use chimera_logic::rules::RuleSet;
use chimera_world::draw::draw;
use chimera_world::openimages::write_openimages;
use chimera_world::order::Order;
use chimera_world::photo::class::Class;
use chimera_world::photo::scene::{Photo, Photos};
use chimera_world::presets;
use chimera_world::wish::{HouseRules, Wish};
use serde_json::Value;

use crate::files::{Traces, brightness, bytes, files, order, test_scenes};

fn rules() -> HouseRules<Class> {
    HouseRules::over(presets::rules(presets::OPENIMAGES), Class::named).unwrap()
}

fn write(out: &Path, order: &Order) {
    write_openimages(out, order, &rules(), &|_, _| {}).unwrap();
}

fn import(world: &Path, top: usize, open_world: bool) -> (Dataset, Vec<String>) {
    let out = world.with_extension(format!("ds-{top}-{open_world}"));
    let folder = Some(world.to_owned());
    let import = OpenImagesImport { folder, top, open_world, strict: true, ..OpenImagesImport::default() };
    let imported = import_openimages(&import, &out).unwrap();
    (imported.dataset, imported.notes.into_iter().map(|note| note.message).collect())
}

/// The rows of a file without its header, cell by cell.
fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn class_of(id: &str) -> Class {
    *Class::ALL.iter().find(|class| class.id() == id).unwrap()
}

/// For each picture the classes of its boxes and whatever they are kinds of, climbed step by step.
fn closed(world: &Path, split: &str) -> BTreeMap<String, BTreeSet<Class>> {
    let mut shown: BTreeMap<String, BTreeSet<Class>> = BTreeMap::new();
    for row in rows(&world.join(format!("{split}-annotations-bbox.csv"))) {
        let mut open = vec![class_of(&row[2])];
        while let Some(class) = open.pop() {
            shown.entry(row[0].clone()).or_default().insert(class);
            open.extend(class.above());
        }
    }
    shown
}

/// Each tie of a hierarchy by ids: what is below, which list it stands in, what is above.
fn ties(branch: &Value, found: &mut BTreeSet<(String, String, String)>) {
    let id = |branch: &Value| branch["LabelName"].as_str().unwrap().to_owned();
    for (key, value) in branch.as_object().unwrap() {
        for below in value.as_array().into_iter().flatten() {
            found.insert((id(below), key.clone(), id(branch)));
            ties(below, found);
        }
    }
}

#[test]
fn files_are_as_the_real_ones_are() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("w");
    write(&world, &order(6, 6));
    let header = |path: &Path| fs::read_to_string(path).unwrap().lines().next().unwrap().to_owned();
    for split in ["train", "test", "oracle"] {
        assert_eq!(
            header(&world.join(format!("{split}-annotations-bbox.csv"))),
            "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside"
        );
        let labels = world.join(format!("{split}-annotations-human-imagelabels-boxable.csv"));
        assert_eq!(header(&labels), "ImageID,Source,LabelName,Confidence");
        let pictures = files(&world.join(split));
        let id = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let ids: BTreeSet<String> = pictures.iter().map(id).collect();
        assert!(ids.iter().all(|id| id.len() == 16 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte))));
        assert_eq!(ids, closed(&world, split).into_keys().collect(), "a picture without boxes, or boxes without one");
        assert!(pictures.iter().all(|path| fs::read(path).unwrap().starts_with(&[0xff, 0xd8, 0xff])), "no JPEG");
    }
    let json = |path: PathBuf| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let ties_in = |folder: &Path| {
        let mut found = BTreeSet::new();
        ties(&json(folder.join("bbox_labels_600_hierarchy.json")), &mut found);
        found
    };
    let names = |folder: &Path| -> BTreeSet<String> {
        let text = fs::read_to_string(folder.join("class-descriptions-boxable.csv")).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let (ours, our_names) = (ties_in(&world), names(&world));
    assert_eq!(our_names.len(), Class::ALL.len());
    let Some(data) = std::env::var_os("CHIMERA_DATA").map(|data| PathBuf::from(data).join("openimages")) else {
        eprintln!("CHIMERA_DATA is not set: real files were skipped");
        return;
    };
    assert_eq!(header(&data.join("validation-annotations-bbox.csv")), header(&world.join("test-annotations-bbox.csv")));
    let (real, real_names) = (ties_in(&data), names(&data));
    // Some editions of the real file call a human face just that.
    let strange: Vec<&String> = our_names.iter().filter(|line| !real_names.contains(*line)).collect();
    assert!(strange.iter().all(|line| line.starts_with("/m/0dzct,")), "{strange:?}");
    // Kinds are the real ones, and a class with several parents has all of them that are classes here.
    let kinds = |ties: &BTreeSet<(String, String, String)>| -> BTreeSet<(String, String)> {
        ties.iter().filter(|tie| tie.1 == "Subcategory").map(|tie| (tie.0.clone(), tie.2.clone())).collect()
    };
    let known: BTreeSet<String> = our_names.iter().map(|line| line.split(',').next().unwrap().to_owned()).collect();
    let ours = kinds(&ours);
    let is_known = |id: &String| known.contains(id);
    // `Auto part` and others that are no classes here stand between some and the root.
    let expected: BTreeSet<(String, String)> =
        kinds(&real).into_iter().filter(|(below, above)| is_known(below) && is_known(above)).collect();
    assert_eq!(ours.into_iter().filter(|(_, above)| is_known(above)).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_seed_decides_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let content = |name: &str, seed: u64, threads: usize| -> Vec<(PathBuf, Vec<u8>)> {
        let root = folder.path().join(name);
        write(&root, &Order { seed, threads: NonZeroUsize::new(threads).unwrap(), ..order(12, 12) });
        let read = |path: PathBuf| (path.strip_prefix(&root).unwrap().to_owned(), fs::read(path).unwrap());
        files(&root).into_iter().map(read).collect()
    };
    let one = content("one", 5, 1);
    assert!(one == content("two", 5, 2), "threads change something");
    assert!(one != content("three", 6, 2), "a seed changes nothing");
}

/// What is imported is what boxes show, closed upwards; what people answered agrees with it.
#[test]
fn labels_are_those_of_boxes() {
    let folder = tempfile::tempdir().unwrap();
    let world = folder.path().join("w");
    write(&world, &Order { oracle: 40, ..order(300, 60) });
    let (all, notes) = import(&world, Class::ALL.len(), false);
    // Classes with several parents are in the real file too.
    assert!(
        notes.iter().all(|note| note.contains("several places") || note.contains("all became concepts")),
        "{notes:?}"
    );
    let table = all.table();
    let counts = Split::ALL.map(|split| all.splits().iter().filter(|of| **of == split).count());
    assert_eq!(counts.iter().sum::<usize>(), 400);
    assert_eq!((counts[0] + counts[1], counts[2], counts[3]), (300, 60, 40));
    let mut shown = BTreeMap::new();
    ["train", "test", "oracle"].iter().for_each(|split| shown.extend(closed(&world, split)));
    for (row, id) in table.ids.iter().enumerate() {
        for (column, name) in table.concepts.iter().enumerate() {
            let expected = shown[id].contains(&Class::named(name).unwrap());
            assert_eq!(table.labels.get(row, column), Some(expected), "{id} {name}");
        }
    }
    let (open, notes) = import(&world, Class::ALL.len(), true);
    assert!(!notes.iter().any(|note| note.contains("not believed")), "{notes:?}");
    let (mut absent, mut unknown) = (0, 0);
    let table = open.table();
    for (row, id) in table.ids.iter().enumerate() {
        for (column, name) in table.concepts.iter().enumerate() {
            let is_shown = shown[id].contains(&Class::named(name).unwrap());
            match table.labels.get(row, column) {
                Some(value) => assert_eq!(value, is_shown, "{id} {name}"),
                None => assert!(!is_shown, "{id} {name}"),
            }
            absent += usize::from(table.labels.get(row, column) == Some(false));
            unknown += usize::from(table.labels.get(row, column).is_none());
        }
    }
    assert!(absent > 5000 && unknown > 5000, "{absent} {unknown}");

    // With few concepts, some classes speak for concepts from outside.
    let (few, _) = import(&world, 20, false);
    let beyond = few.table().oov_ancestors.as_ref().unwrap().iter().filter(|above| !above.is_empty()).count();
    assert!(beyond > 20, "{beyond}");
}

fn photo(number: u64) -> Photo {
    let rules = HouseRules::over(RuleSet::default(), Class::named).unwrap();
    draw(&Photos { together: 0.3 }, &rules, &mut stream(3, "photo", number), Wish::Kept, None).unwrap()
}

/// A channel that changes by so much, of 255, changes much.
const MUCH: u8 = 64;

/// Whatever changes when a thing is taken away lies in its box, and fills it.
#[test]
fn boxes_hold_the_pixels_of_their_things() {
    let (width, height) = (288, 192);
    let size = Size::new(width, height).unwrap();
    let (mut checked, mut occluded, mut truncated, mut sides, mut near) = (0, 0, 0, 0, 0);
    for number in 0..40 {
        let photo = photo(number);
        let (whole, boxes) = (photo.picture(size).unwrap(), photo.boxes());
        for (thing, described) in photo.things().enumerate() {
            let without = photo.picture_without(thing, size).unwrap();
            let change = |at: usize| {
                let channels = (3 * at..3 * at + 3).map(|at| whole.pixels()[at].abs_diff(without.pixels()[at]));
                channels.max().unwrap()
            };
            let within = |least: u8| {
                let changed: Vec<usize> = (0..width * height).filter(|&at| change(at) >= least).collect();
                let side = |of: fn(usize, usize) -> usize, unit: usize| {
                    let all = changed.iter().map(|at| of(*at, 288));
                    let (first, last) = (all.clone().min().unwrap(), all.max().unwrap() + 1);
                    [first as f64 / unit as f64, last as f64 / unit as f64]
                };
                [side(|at, width| at % width, width), side(|at, width| at / width, height)].concat()
            };
            let of_thing = || boxes.iter().filter(|boxed| boxed.thing == thing);
            let boxed = of_thing().find(|boxed| boxed.class == described.class).unwrap();
            // A pixel that is covered by less than half is not in the box, and what is thinner than a pixel may be missed: it
            // changes little. So all that changes much is in the box, and the box is in what changes at all.
            let (much, any) = (within(MUCH), within(1));
            let outward = [-1.0, 1.0, -1.0, 1.0];
            for (side, unit) in [width, width, height, height].into_iter().enumerate() {
                let beyond = |inner: f64, outer: f64| (inner - outer) * outward[side] * unit as f64;
                let told = || format!("photo {number} {described:?}: {much:?} {:?} {any:?}", boxed.sides);
                assert!(beyond(much[side], boxed.sides[side]) < 3.01, "{}", told());
                assert!(beyond(boxed.sides[side], any[side]) < 3.01, "{}", told());
                let far = (any[side] - boxed.sides[side]).abs() * unit as f64;
                (sides, near) = (sides + 1, near + usize::from(far < 1.01));
            }
            for part in of_thing() {
                let [left, right, upper, lower] = boxed.sides;
                let [l, r, u, d] = part.sides;
                assert!(left <= l && r <= right && upper <= u && d <= lower, "{described:?} {part:?}");
            }
            // All that a thing shows or wears has a box.
            for class in described.labels() {
                assert!(of_thing().any(|boxed| boxed.class == class), "photo {number} {described:?} {class:?}");
            }
            checked += 1;
            occluded += usize::from(boxed.is_occluded);
            truncated += usize::from(boxed.is_truncated);
        }
    }
    assert!(checked > 120 && occluded > 10 && truncated > 10, "{checked} {occluded} {truncated}");
    assert!(near * 100 > sides * 95, "{near} of {sides}");
}

#[test]
fn a_violation_leaves_no_other_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (world, rules) = (folder.path().join("w"), rules());
    write(&world, &order(300, test_scenes(1500)));
    let broken = |shown: &BTreeSet<Class>| {
        let labels: Vec<bool> = rules.concepts().iter().map(|class| shown.contains(class)).collect();
        rules.broken(&labels)
    };
    assert!(closed(&world, "train").values().all(|shown| broken(shown).is_empty()), "train breaks a rule");
    let mut things: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows(&world.join("test-annotations-bbox.csv")) {
        *things.entry(row[0].clone()).or_default() += 1;
    }
    let mut traces = Traces::new(["boxes", "brightness", "bytes"]);
    let (mut of_rule, mut alone) = (vec![0; rules.len()], 0);
    for (id, shown) in closed(&world, "test") {
        let path = [world.join("test").join(format!("{id}.jpg"))];
        let broken = broken(&shown);
        broken.iter().for_each(|rule| of_rule[*rule] += 1);
        alone += usize::from(broken.len() == 1);
        traces.add(!broken.is_empty(), [things[&id] as f64, brightness(&path), bytes(&path)]);
    }
    assert!(of_rule.iter().all(|count| *count >= 25), "{of_rule:?}");
    assert_eq!(alone, of_rule.iter().sum::<usize>(), "a picture breaks one rule alone");
    traces.check();
}

#[test]
fn impossible_orders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |order: &Order, text: &str| {
        let rules = HouseRules::over(presets::rules(text), Class::named);
        let wrote = rules.and_then(|rules| write_openimages(&folder.path().join("out"), order, &rules, &|_, _| {}));
        assert!(!folder.path().join("out").exists(), "something is left");
        wrote.unwrap_err().to_string()
    };
    let fine = order(2, 2);
    assert!(refused(&Order { together: 2.0, ..fine.clone() }, "a: Dog => Cat\n").contains("`together` from 0 to 1"));
    assert!(refused(&fine, "a: Dogg => Cat\n").contains("got `Dogg`\nhint: did you mean `Dog`?"));
    let never = refused(&fine, "never: Dog => Animal\n");
    assert!(never.contains("breaks the rule `never`, got none"), "{never}");
    let always = refused(&fine, "always: Dog & !Animal\n");
    assert!(always.contains("keep all rules, got none"), "{always}");
}

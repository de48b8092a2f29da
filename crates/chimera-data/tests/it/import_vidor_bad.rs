//! Import of VidOR and VidVRD from what is damaged, missing, doubled or of another length: counted and listed, or refused.

use std::fs;

use chimera_data::dataset::assign::DEFAULT_SEED;
use chimera_data::import::{
    ImportOptions, RuleConcepts, SplitRule, VidorConcepts, VidorImport, VidorVideos, import_vidor,
};
use chimera_data::split::Split;

use crate::support::import_place::{PNG, Place, told};
use crate::support::vidor::{MP4, annotation, write_zip};
use serde_json::{Value, json};

fn source(place: &Place, name: &str) -> VidorImport {
    let concepts = VidorConcepts { min_rel_support: 1, ..VidorConcepts::default() };
    VidorImport { concepts, ..VidorImport::new(place.path(name), VidorVideos::LabelsOnly) }
}

fn refused(place: &Place, import: &VidorImport) -> String {
    let message = import_vidor(import, &place.path("ds")).unwrap_err().to_string();
    place.assert_no_dataset();
    message
}

/// A video of 16 frames with a dog that chases a ball.
fn good(video: &str) -> Value {
    annotation(video, 16, &[("dog", 0..16), ("ball", 0..16)], &[(0, "chase", 1, 0..16)])
}

/// Something that makes an annotation wrong.
type Change = fn(&mut Value);

#[test]
fn bad_annotations_are_left_out_and_counted() {
    let cases: [(&str, Change); 8] = [
        ("got tid 9 in number 0 of `relation_instances`", |all| all["relation_instances"][0]["object_tid"] = json!(9)),
        ("got 16 and 16 in number 0 of `relation_instances`", |all| {
            all["relation_instances"][0]["begin_fid"] = json!(16);
        }),
        ("at most 16, got 0 and 17", |all| all["relation_instances"][0]["end_fid"] = json!(17)),
        ("got tid 7 at frame 2", |all| all["trajectories"][2] = json!([{"tid": 7, "bbox": {}}])),
        ("got `dog` and `cat`", |all| all["subject/objects"][1] = json!({"tid": 0, "category": "cat"})),
        ("missing field `relation_instances`", |all| {
            drop(all.as_object_mut().unwrap().remove("relation_instances"));
        }),
        ("missing field `frame_count`", |all| drop(all.as_object_mut().unwrap().remove("frame_count"))),
        ("invalid type: map, expected a sequence", |all| all["trajectories"] = json!({"0": []})),
    ];
    let place = Place::new();
    place.write("vidor/annotations/train/good.json", good("good").to_string());
    for (number, (_, spoil)) in cases.iter().enumerate() {
        let mut bad = good(&format!("bad{number}"));
        spoil(&mut bad);
        place.write(&format!("vidor/annotations/train/bad{number}.json"), bad.to_string());
    }
    place.write("vidor/annotations/train/words.json", "no JSON");
    place.write("vidor/annotations/train/half.json", &good("half").to_string()[..99]);
    // One byte more than 64 MiB, of which none is on the disk.
    let large = place.write("vidor/annotations/train/large.json", "");
    fs::File::options().write(true).open(large).unwrap().set_len((64 << 20) + 1).unwrap();
    place.write("vidor/annotations/val/again.json", good("good").to_string());
    let imported = import_vidor(&source(&place, "vidor"), &place.path("ds")).unwrap();
    assert_eq!(imported.dataset.table().ids, ["good"]);
    let notes = told(&imported.notes);
    assert!(notes.contains("11 samples were left out, since what is said of them cannot be used"), "{notes}");
    let line = |name: &str| {
        let lines = imported.notes.iter().flat_map(|note| &note.listed);
        lines.clone().find(|line| line.starts_with(&format!("annotations/train/{name}.json: "))).unwrap()
    };
    for (number, (expected, _)) in cases.iter().enumerate() {
        assert!(
            line(&format!("bad{number}")).contains(expected),
            "{} should say {expected}",
            line(&format!("bad{number}"))
        );
    }
    assert!(line("words").contains("expected ident at line 1 column 2"), "{}", line("words"));
    assert!(line("half").contains("EOF while parsing"), "{}", line("half"));
    assert!(
        line("large").contains("expected an annotation of at most 67108864 bytes, got 67108865"),
        "{}",
        line("large")
    );
    // What is in train and in val stays in train.
    assert!(notes.contains("1 sample was left out, since its picture or video came before"), "{notes}");
    assert!(notes.contains("annotations/val/again.json: good is in annotations/train/good.json"), "{notes}");
    let strict = VidorImport { strict: true, ..source(&place, "vidor") };
    let error = import_vidor(&strict, &place.path("strict")).unwrap_err().to_string();
    assert!(error.contains("expected 13 samples") && error.contains("got 12 that cannot\n  annotations/train/bad0"));
}

#[test]
fn damaged_archives_are_refused_or_their_entries_left_out() {
    let place = Place::new();
    let (one, two) = (good("one").to_string(), good("two").to_string());
    let huge = vec![b' '; (64 << 20) + 1];
    let entries: [(&str, &[u8]); 3] =
        [("train/one.json", one.as_bytes()), ("train/two.json", two.as_bytes()), ("train/huge.json", &huge)];
    write_zip(&place.path("whole.zip"), &entries);
    let import = source(&place, "whole.zip");
    let imported = import_vidor(&import, &place.path("whole")).unwrap();
    assert_eq!(imported.dataset.table().ids, ["one", "two"]);
    assert!(told(&imported.notes).contains("train/huge.json: expected an annotation of at most 67108864 bytes"));
    assert!(refused(&place, &VidorImport { strict: true, ..import }).contains("got 1 that cannot: train/huge.json"));

    let bytes = fs::read(place.path("whole.zip")).unwrap();
    place.write("cut.zip", &bytes[..bytes.len() / 2]);
    let message = refused(&place, &source(&place, "cut.zip"));
    assert!(message.contains("cut.zip` as a zip archive: ") && message.contains("was fetched to its end"), "{message}");
    place.write("words.zip", "no archive");
    assert!(refused(&place, &source(&place, "words.zip")).contains("words.zip` as a zip archive: "));
    assert!(refused(&place, &source(&place, "gone.zip")).contains("gone.zip`: no such file or folder"));

    // A byte in the middle of the content of the first entry, whose name and header have 30 + 14 bytes.
    let mut spoilt = bytes.clone();
    spoilt[44 + 60] ^= 0x55;
    place.write("spoilt.zip", &spoilt);
    let imported = import_vidor(&source(&place, "spoilt.zip"), &place.path("spoilt")).unwrap();
    assert_eq!(imported.dataset.table().ids, ["two"]);
    assert!(told(&imported.notes).contains("train/one.json: "), "{}", told(&imported.notes));

    // The size that the directory claims for the first entry: bytes 24 to 27 of its record, which begins with PK\x01\x02.
    let at = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let mut boasting = bytes;
    boasting[at + 24..at + 28].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    place.write("boasting.zip", &boasting);
    let imported = import_vidor(&source(&place, "boasting.zip"), &place.path("boasting")).unwrap();
    assert!(told(&imported.notes).contains("train/one.json: it claims 2147483647 bytes, more than"));
}

#[test]
fn layouts_and_splits_of_another_kind_are_refused() {
    let place = Place::new();
    place.write("other/labels/a.json", "{}");
    let message = refused(&place, &source(&place, "other"));
    assert!(
        message.contains("got none of that kind\nhint: give the folder, or a zip archive of it, that"),
        "{message}"
    );
    write_zip(&place.path("other.zip"), &[("labels/a.json", b"{}")]);
    assert!(refused(&place, &source(&place, "other.zip")).contains("got none of that kind"));
    for frames in [0, 4097] {
        let import = VidorImport { frames, ..source(&place, "other") };
        assert!(refused(&place, &import).contains(&format!("frames from 1 to 4096, got `{frames}`")));
    }
    (0..20).for_each(|number| {
        let text = good(&format!("v{number:02}")).to_string();
        place.write(&format!("parts/annotations/part1/{number}.json"), text);
    });
    let message = refused(&place, &source(&place, "parts"));
    assert!(
        message.contains("in the name `annotations/part1/0.json`, got `part1`\nhint: to deal all samples"),
        "{message}"
    );
    let split = SplitRule::Shares(vec![(Split::Train, 0.5), (Split::Test, 0.5)]);
    let options = ImportOptions { split, seed: DEFAULT_SEED, ..ImportOptions::default() };
    let dealt = import_vidor(&VidorImport { options, ..source(&place, "parts") }, &place.path("dealt")).unwrap();
    assert_eq!(dealt.dataset.table().ids.len(), 20);
    // No concept at all is no dataset; what is said would change that.
    fs::rename(place.path("parts/annotations/part1"), place.path("parts/annotations/train")).unwrap();
    let none = |top_objects: usize, top_relations: usize, min_rel_support: usize| {
        let concepts = VidorConcepts { top_objects, top_relations, min_rel_support };
        refused(&place, &VidorImport { concepts, ..source(&place, "parts") })
    };
    let message = none(0, 0, 1);
    assert!(message.contains("got `--top-objects 0` and `--top-relations 0`\nhint: give one of them a larger number"));
    // Where rules name concepts, theirs may be all.
    let concepts = VidorConcepts { top_objects: 0, top_relations: 0, min_rel_support: 1 };
    let rules = Some(RuleConcepts { file: "my.rules".into(), names: vec!["obj:dog".to_owned()] });
    let named = VidorImport { concepts, rules, ..source(&place, "parts") };
    let imported = import_vidor(&named, &place.path("named")).unwrap();
    assert_eq!(imported.dataset.table().concepts, ["obj:dog"]);
    // A fifth of 20 videos is for test, and dogs chase balls in the other 16.
    let message = none(0, 200, 17);
    assert!(message.contains("got `--top-objects 0` and no relation in 17 of 16 train videos"), "{message}");
    assert!(message.ends_with("hint: give `--top-objects` a larger number, or `--min-rel-support 16`"), "{message}");
    let concepts = VidorConcepts { top_objects: 0, top_relations: 200, min_rel_support: 16 };
    let imported = import_vidor(&VidorImport { concepts, ..source(&place, "parts") }, &place.path("few")).unwrap();
    assert_eq!(imported.dataset.table().concepts, ["rel:dog-chase-ball"]);
    assert!(!told(&imported.notes).contains("no concept"), "whoever asks for no objects need not be told");
    // Frames in which nothing is to be seen.
    let empty = Place::new();
    empty.write("vidor/train/a.json", annotation("a", 16, &[("dog", 0..1)], &[]).to_string());
    let message = refused(&empty, &source(&empty, "vidor"));
    assert!(message.contains("objects in the frames that are taken of 1 train videos, got none\nhint: take more"));
}

#[test]
fn several_videos_of_one_id_are_told_and_refused() {
    let place = Place::new();
    let write = |name: &str, path: Option<&str>| {
        let mut text = annotation(name, 8, &[("dog", 0..8)], &[]);
        path.into_iter().for_each(|path| text["video_path"] = json!(path));
        place.write(&format!("vidor/train/{name}.json"), text.to_string());
    };
    write("one", None);
    write("two", Some("b/two.mp4"));
    write("three", None);
    for video in ["b/one.mp4", "a/one.webm", "a/two.mp4", "b/two.mp4", "c/three.mp4"] {
        place.write(&format!("vidor/videos/{video}"), MP4);
    }
    place.write("vidor/videos/a/one/0.png", PNG);
    let beside = VidorImport { videos: VidorVideos::Beside, ..source(&place, "vidor") };
    let imported = import_vidor(&beside, &place.path("told")).unwrap();
    let notes = told(&imported.notes);
    // Files come before folders of frames; the path of `two` says which it is.
    let told_of = "`video_id` is that of several videos: the one at `video_path`, else the first, is taken";
    let expected = format!("1 {told_of}: one: a/one.webm, not b/one.mp4, a/one");
    assert!(notes.contains(&expected), "{notes}");
    assert_eq!(imported.dataset.table().media.as_ref().unwrap(), &["a/one.webm", "c/three.mp4", "b/two.mp4"]);
    let message = refused(&place, &VidorImport { strict: true, ..beside.clone() });
    assert!(message.contains("expected one video of each `video_id` in `"), "{message}");
    assert!(message.contains("got 1 otherwise: one: a/one.webm, not b/one.mp4, a/one\nhint: "), "{message}");
    // A folder of frames beside the file at the path might be meant as well, and the other way round.
    (0..8).for_each(|number| drop(place.write(&format!("vidor/videos/b/two/{number}.png"), PNG)));
    let message = refused(&place, &VidorImport { strict: true, ..beside.clone() });
    assert!(
        message.contains("got 2 otherwise\n  one: a/one.webm, not b/one.mp4, a/one\n  two: b/two.mp4, not b/two\n")
    );
    write("two", Some("b/two"));
    let message = refused(&place, &VidorImport { strict: true, ..beside });
    assert!(message.contains("\n  two: b/two, not b/two.mp4\n"), "{message}");
}

#[test]
fn a_folder_around_or_of_another_source_is_named() {
    let place = Place::new();
    place.write("around/VidVRD-dataset/train/a.json", good("a").to_string());
    let inner = place.path("around/VidVRD-dataset");
    let message = refused(&place, &source(&place, "around"));
    let expected = format!("hint: `{0}` looks like VidOR or VidVRD: `chimera import vidor {0} --out", inner.display());
    assert!(message.contains(&expected), "{message}");
    place.write("mnist/train-images-idx3-ubyte.gz", "x");
    let message = refused(&place, &source(&place, "mnist"));
    assert!(message.contains("mnist` looks like MNIST: `chimera import mnist "), "{message}");
    fs::create_dir(place.path("nothing")).unwrap();
    let message = refused(&place, &source(&place, "nothing"));
    assert!(message.contains("hint: give the folder, or a zip archive of it, that holds"), "{message}");
}

#[test]
fn videos_that_are_missing_or_of_another_length_are_told() {
    let place = Place::new();
    let beside = |name: &str| VidorImport { videos: VidorVideos::Beside, ..source(&place, name) };
    let write = |name: &str, frames: u64| {
        let text = annotation(name, frames, &[("dog", 0..frames)], &[]).to_string();
        place.write(&format!("vidor/train/{name}.json"), text);
    };
    [("long", 20), ("few", 20), ("eight", 20), ("short", 3)].into_iter().for_each(|(name, frames)| write(name, frames));
    let message = refused(&place, &beside("vidor"));
    assert!(
        message.contains("vidor/videos` or `") && message.contains("vidor/video`, got no such folder\nhint: say where"),
        "{message}"
    );
    fs::create_dir(place.path("vidor/videos")).unwrap();
    let message = refused(&place, &beside("vidor"));
    assert!(message.contains("got nothing at 4 of 4 paths") && message.contains("`--labels-only`"), "{message}");
    let gone = VidorImport { videos: VidorVideos::Below(place.path("gone")), ..source(&place, "vidor") };
    assert!(refused(&place, &gone).contains("gone`: no such file or folder"));

    let folder = |name: &str, pictures: u64| {
        (0..pictures).for_each(|number| drop(place.write(&format!("vidor/videos/{name}/{number}.png"), PNG)));
    };
    folder("few", 10);
    folder("eight", 8);
    folder("short", 3);
    place.write("vidor/videos/long.mp4", MP4);
    let imported = import_vidor(&beside("vidor"), &place.path("told")).unwrap();
    assert_eq!(imported.dataset.table().ids.len(), 4, "they stay");
    let notes = told(&imported.notes);
    assert!(
        notes.contains("1 video has fewer frames than the 8 that are taken: some are repeated: train/short.json: 3")
    );
    let expected = "1 folder of frames whose number or names do not fit `frame_count`: the 8 frames taken may be of other moments \
        than the labels: few: 10 frames, `frame_count` 20 in train/few.json";
    assert!(notes.contains(expected), "{notes}");
    assert!(!notes.contains("eight:") && !notes.contains("not there"), "{notes}");
    let strict = || VidorImport { strict: true, ..beside("vidor") };
    let message = refused(&place, &strict());
    assert!(message.contains("expected at least 8 frames of each video in `"), "{message}");
    assert!(message.contains("got 1 otherwise: train/short.json: 3 frames"), "{message}");
    let message = refused(&place, &VidorImport { frames: 3, ..strict() });
    assert!(
        message.contains(
            "expected folders of all `frame_count` frames, or of an even selection that contains the 3 frames that"
        ) && message.contains("(`frame_00004.png`), in `"),
        "{message}"
    );
    assert!(message.contains("got 2 otherwise\n  eight: 8 frames, `frame_count` 20 in train/eight.json"), "{message}");
    fs::remove_dir_all(place.path("vidor/videos/few")).unwrap();
    fs::remove_file(place.path("vidor/train/short.json")).unwrap();
    let message = refused(&place, &strict());
    assert!(message.contains("got nothing at 1 of 3 paths, `0000/few.mp4`"), "{message}");
    // A folder without anything is passed over.
    fs::rename(place.path("vidor/videos"), place.path("vidor/video")).unwrap();
    fs::create_dir(place.path("vidor/videos")).unwrap();
    let imported = import_vidor(&beside("vidor"), &place.path("other")).unwrap();
    assert_eq!(imported.dataset.media_path(0).map(|path| path.is_dir()), Some(true), "the folder `eight`");
    // A path that leads out of the folder says nothing: the id does.
    let mut away = annotation("eight", 20, &[("dog", 0..20)], &[]);
    away["video_path"] = json!("/elsewhere/../eight.mp4");
    place.write("vidor/train/eight.json", away.to_string());
    let imported = import_vidor(&beside("vidor"), &place.path("away")).unwrap();
    assert_eq!(imported.dataset.table().media.as_ref().unwrap(), &["eight", "0000/few.mp4", "long.mp4"]);
}

//! Import of VidOR and VidVRD: layouts, videos, vocabulary, and labels of the frames that an encoder is shown.

use std::path::Path;

use chimera_data::dataset::manifest::Kind;
use chimera_data::import::{Imported, VidorConcepts, VidorImport, VidorVideos, import_vidor};
use chimera_data::media::frame_folder::FrameFolder;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::image::ImageReader;
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use chimera_data::split::Split;

use crate::support::import_place::{PNG, Place, told};
use crate::support::vidor::{MP4, annotation, held, write_zip};
use serde_json::Value;

/// Every relation that holds in a train video is a concept.
const ALL: VidorConcepts = VidorConcepts { top_objects: 40, top_relations: 200, min_rel_support: 1 };

pub(crate) fn source(place: &Place) -> VidorImport {
    VidorImport { concepts: ALL, ..VidorImport::new(place.path("vidor"), VidorVideos::Beside) }
}

fn import(place: &Place, import: &VidorImport) -> Imported {
    import_vidor(import, &place.path("ds")).unwrap()
}

/// Two videos to train from, two to validate with. All have 16 frames, of which 1, 3, 5 ... 15 are taken.
fn annotations() -> [(&'static str, Value); 4] {
    let chase = [("dog", 0..16), ("ball", 0..1)];
    let nap = [("adult", 4..5), ("baby", 9..16)];
    [
        ("training/0000/11.json", annotation("11", 16, &chase, &[(0, "chase", 1, 2..4), (0, "bite", 1, 4..5)])),
        ("training/0001/22.json", annotation("22", 16, &nap, &[(1, "next_to", 0, 10..11)])),
        ("validation/0000/33.json", annotation("33", 16, &[("dog", 0..1), ("cat", 0..16)], &[(1, "chase", 0, 0..16)])),
        ("validation/0002/44.json", annotation("44", 16, &[], &[])),
    ]
}

/// VidOR's own layout; a video at its path, one under another ending, a folder of frames, and nothing.
pub(crate) fn place() -> Place {
    let place = Place::new();
    for (name, annotation) in annotations() {
        place.write(&format!("vidor/annotations/{name}"), annotation.to_string());
    }
    place.write("vidor/videos/0000/11.mp4", MP4);
    place.write("vidor/videos/elsewhere/11.mp4", MP4);
    place.write("vidor/videos/more/22.webm", b"\x1a\x45\xdf\xa3\x01");
    (0..16).for_each(|frame| drop(place.write(&format!("vidor/videos/33/{frame}.png"), PNG)));
    place.write("vidor/videos/0000/77.mp4", MP4);
    place
}

#[test]
fn annotations_become_samples_at_the_frames_that_are_taken() {
    let place = place();
    let imported = import(&place, &source(&place));
    let dataset = &imported.dataset;
    assert_eq!(dataset.table().ids, ["11", "22", "33", "44"]);
    assert_eq!((dataset.manifest().kind, dataset.manifest().frames), (Kind::Video, Some(8)));
    assert_eq!(dataset.splits()[2..], [Split::Test; 2]);
    assert_eq!(dataset.table().media.as_ref().unwrap(), &["0000/11.mp4", "more/22.webm", "33", "0000/44.mp4"]);
    // Each is in one train video: by name. The bite is at frame 4 alone and [10, 11) at 10 alone, of which neither is taken.
    assert_eq!(dataset.table().concepts, ["obj:baby", "obj:ball", "obj:dog", "rel:dog-chase-ball"]);
    // The ball is at frame 0, which is not taken, but is chased at 3.
    assert_eq!(held(dataset, "11"), ["obj:ball", "obj:dog", "rel:dog-chase-ball"]);
    assert_eq!(held(dataset, "22"), ["obj:baby"], "the adult is at frame 4 alone");
    // Cats are in no train video, but their relation shows that there is a dog.
    assert_eq!(held(dataset, "33"), ["obj:dog"]);
    assert!(held(dataset, "44").is_empty());
    let notes = told(&imported.notes);
    assert!(notes.contains("1 medium that is not there (its sample stays, without it): 0000/44.mp4"), "{notes}");
    assert!(notes.contains("1 video without an annotation was left out: 0000/77.mp4"), "{notes}");
    assert!(notes.contains("2 rows of the split `validation` count as test"), "{notes}");
    let provenance = &dataset.manifest().provenance;
    assert_eq!((provenance.importer.as_str(), provenance.options["frames"].as_str()), ("vidor", "8"));
    assert_eq!(provenance.sources[0].file, "4 annotations: the hash of their hashes, in the order of their paths");
    let strict = VidorImport { strict: true, ..source(&place) };
    assert!(import_vidor(&strict, &place.path("strict")).unwrap_err().to_string().contains("1 of 4 paths"));
}

#[test]
fn folder_and_archive_of_either_layout_say_the_same() {
    let place = place();
    let labels_only = VidorImport { videos: VidorVideos::LabelsOnly, ..source(&place) };
    let expected = import(&place, &labels_only).dataset;
    assert_eq!((expected.manifest().kind, expected.manifest().frames), (Kind::Labels, Some(8)));
    assert!(expected.table().media.is_none() && expected.manifest().media_root.is_none());
    let texts = annotations().map(|(name, annotation)| (name, annotation.to_string()));
    for (name, text) in &texts {
        // VidVRD's layout: no folder `annotations`.
        place.write(&format!("flat/{name}"), text);
    }
    place.write("flat/videos/train/0.json", "no annotation");
    let inside = |folder: &str| texts.each_ref().map(|(name, text)| (format!("{folder}{name}"), text.as_bytes()));
    for (file, folder) in [("a.zip", "annotations/"), ("b.zip", ""), ("c.zip", "VidOR/annotation/"), ("d.zip", "x/y/")]
    {
        let entries = inside(folder);
        let mut entries: Vec<(&str, &[u8])> = entries.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        entries.push(("__MACOSX/train/._11.json", b"junk"));
        entries.push(("README.md", b"words"));
        write_zip(&place.path(file), &entries);
    }
    for name in ["flat", "a.zip", "b.zip", "c.zip", "d.zip"] {
        let import = VidorImport { source: place.path(name), ..labels_only.clone() };
        let dataset = import_vidor(&import, &place.path(&format!("{name}-ds"))).unwrap().dataset;
        let (table, first) = (dataset.table(), expected.table());
        assert_eq!((&table.ids, &table.concepts), (&first.ids, &first.concepts), "{name}");
        assert_eq!(dataset.splits(), expected.splits(), "{name}");
        first.ids.iter().for_each(|id| assert_eq!(held(&dataset, id), held(&expected, id), "{name}"));
        assert_eq!(dataset.manifest().provenance.sources, expected.manifest().provenance.sources, "{name}");
    }
    // The videos of an archive are beside it, or where the user says.
    std::fs::rename(place.path("vidor/videos"), place.path("videos")).unwrap();
    let zipped = VidorImport { source: place.path("a.zip"), ..source(&place) };
    assert_eq!(import_vidor(&zipped, &place.path("beside")).unwrap().dataset.table().media.as_ref().unwrap()[2], "33");
    let below = VidorImport { videos: VidorVideos::Below(place.path("videos")), ..source(&place) };
    assert_eq!(import_vidor(&below, &place.path("below")).unwrap().dataset.media_name(1), Some("more/22.webm"));
}

#[test]
fn concepts_are_those_of_most_train_videos() {
    let place = Place::new();
    let tracks = [("a", 0..8), ("b", 0..8), ("c", 0..8)];
    // In 3 train videos a sees b, in 2 of them b sees c and c sees a, in 1 a sees c; in 5 test videos c sees b.
    let seen: [&[(u64, u64)]; 3] = [&[(0, 1), (1, 2), (2, 0)], &[(0, 1), (1, 2), (2, 0), (0, 2)], &[(0, 1)]];
    for (number, pairs) in seen.iter().enumerate() {
        let relations: Vec<_> = pairs.iter().map(|&(subject, object)| (subject, "see", object, 0..8)).collect();
        let text = annotation(&format!("t{number}"), 8, &tracks, &relations).to_string();
        place.write(&format!("vidor/train/t{number}.json"), text);
    }
    for number in 0..5 {
        let text =
            annotation(&format!("v{number}"), 8, &[("b", 0..8), ("d", 0..8)], &[(1, "see", 0, 0..8)]).to_string();
        place.write(&format!("vidor/val/v{number}.json"), text);
    }
    let relations = |top_relations: usize, min_rel_support: usize| {
        let concepts = VidorConcepts { top_objects: 2, top_relations, min_rel_support };
        let import = VidorImport { concepts, videos: VidorVideos::LabelsOnly, ..source(&place) };
        let imported = import_vidor(&import, &place.path(&format!("{top_relations}-{min_rel_support}"))).unwrap();
        let mut names = imported.dataset.table().concepts.clone();
        // All three objects are in 3 videos: the first by name.
        assert_eq!(names.drain(..2).collect::<Vec<_>>(), ["obj:a", "obj:b"]);
        (names, told(&imported.notes))
    };
    let (most, second, third, last) = ("rel:a-see-b", "rel:b-see-c", "rel:c-see-a", "rel:a-see-c");
    assert_eq!(relations(9, 1).0, [most, second, third, last]);
    let (names, notes) = relations(2, 1);
    assert_eq!(names, [most, second]);
    assert!(notes.contains("1 object is no concept, since 2 are there more often: obj:c (3)"), "{notes}");
    assert!(notes.contains("2 relations are no concepts, since 2 hold more often: rel:c-see-a (2), rel:a-"), "{notes}");
    let (names, notes) = relations(9, 3);
    assert_eq!(names, [most]);
    assert!(notes.contains("3 relations are no concepts, since they hold in fewer than 3 train videos"), "{notes}");
    assert!(relations(9, 4).0.is_empty());
}

#[test]
fn labels_are_about_the_frames_that_a_reader_shows() {
    // One video for each frame in which an object can be: white there, black elsewhere.
    let (place, frames) = (Place::new(), 11);
    let paint = |white: bool| Picture::filled(Size::new(2, 2).unwrap(), [if white { 255 } else { 0 }; 3]);
    for at in 0..frames {
        let text = annotation(&format!("v{at:02}"), frames, &[("lamp", at..at + 1)], &[]).to_string();
        place.write(&format!("vidor/annotations/train/v{at:02}.json"), text);
        for frame in 0..frames {
            let path = place.write(&format!("vidor/videos/v{at:02}/{frame}.png"), "");
            write_png(&path, &paint(frame == at)).unwrap();
        }
    }
    for wanted in [1, 3, 4, 8, 11, 30] {
        let import = VidorImport { frames: wanted, strict: wanted <= 11, ..source(&place) };
        let dataset = import_vidor(&import, &place.path(&format!("ds{wanted}"))).unwrap().dataset;
        let shape = FrameShape::new(dataset.manifest().frames.unwrap() as usize, 2, 2).unwrap();
        let mut labelled = 0;
        for (row, id) in dataset.table().ids.iter().enumerate() {
            let (mut bytes, folder) = (vec![0; shape.bytes()], dataset.media_path(row).unwrap());
            FrameFolder::open(&folder).unwrap().read(ImageReader::default(), shape, &mut bytes).unwrap();
            assert_eq!(held(&dataset, id).len() == 1, bytes.contains(&255), "{wanted} frames of {id}");
            labelled += held(&dataset, id).len();
        }
        assert_eq!(labelled, wanted.min(11) as usize);
    }
}

/// What three original files say at 8 frames, by hand: frame i is floor((2 i + 1) n / 16).
const BY_HAND: [(&str, &[&str]); 3] = [
    // 288 frames: 18, 54, 90, 126, 162, 198, 234, 270. Two birds in frames 240 to 269; all relations [240, 270), so that the last
    // frame taken is the first one after their end.
    ("ILSVRC2015_train_00194006", &[]),
    // 131 frames: 8, 24, 40, 57, 73, 90, 106, 122. Two sheep in 0 to 29 and 90 to 119; right and left in [0, 30) and [90, 120).
    ("ILSVRC2015_train_00256001", &["obj:sheep", "rel:sheep-stand_left-sheep", "rel:sheep-stand_right-sheep"]),
    // 551 frames: 34, 103, 172, 241, 309, 378, 447, 516. An elephant and a person in 180 to 539; stand_right [180, 540), stand_left
    // and feed [195, 540); walk_toward and walk_left [180, 210), which lies between 172 and 241. No person feeds an elephant in
    // any train video, so that is no concept.
    (
        "ILSVRC2015_train_00590000",
        &["obj:elephant", "obj:person", "rel:elephant-stand_right-person", "rel:person-stand_left-elephant"],
    ),
];

#[test]
fn the_original_archive_is_read() {
    #[expect(clippy::disallowed_methods, reason = "tests use real data where they are told of it")]
    let archive = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("vidvrd/VidVRD-dataset.zip"));
    let Some(archive) = archive.filter(|archive| archive.is_file()) else {
        eprintln!("skipped: CHIMERA_DATA does not name a folder with `vidvrd/VidVRD-dataset.zip`");
        return;
    };
    let place = Place::new();
    let paper = VidorImport { strict: true, ..VidorImport::new(archive, VidorVideos::LabelsOnly) };
    let everything = VidorConcepts { top_objects: 1000, top_relations: 100_000, min_rel_support: 1 };
    let every = import(&place, &VidorImport { concepts: everything, ..paper.clone() }).dataset;
    for (id, expected) in BY_HAND {
        let mut held = held(&every, id);
        held.sort();
        assert_eq!(held, expected, "{id}");
    }
    // All figures: `python benches/vidor_json.py VidVRD-dataset.zip`, which knows nothing of this code.
    assert_eq!(every.table().concepts.len(), 35 + 2626);
    let imported = import_vidor(&paper, &place.path("paper")).unwrap();
    let (dataset, table) = (&imported.dataset, imported.dataset.table());
    let test = dataset.splits().iter().filter(|split| **split == Split::Test).count();
    assert_eq!((table.ids.len(), test), (1000, 200));
    assert_eq!(table.concepts.len(), 35 + 21);
    let ones = |column: usize| table.labels.counts(column).holds;
    let count = |name: &str| ones(table.concepts.iter().position(|other| other == name).unwrap());
    assert_eq!((0..35).map(ones).sum::<u64>(), 1609);
    assert_eq!((35..56).map(ones).sum::<u64>(), 897);
    assert_eq!(table.concepts[..3], ["obj:person", "obj:car", "obj:dog"]);
    assert_eq!(["obj:person", "obj:car", "obj:dog", "obj:bicycle", "obj:bird"].map(count), [380, 120, 148, 118, 59]);
    assert_eq!(table.concepts[35..37], ["rel:person-ride-bicycle", "rel:bicycle-move_beneath-person"]);
    assert_eq!(["rel:person-ride-bicycle", "rel:motorcycle-move_beneath-person"].map(count), [109, 43]);
    assert_eq!(table.ids.iter().filter(|id| held(dataset, id).is_empty()).count(), 36);
    let notes = told(&imported.notes);
    assert!(notes.contains("903 annotations have `trajectories` shorter than `frame_count`"), "{notes}");
    assert!(notes.contains("2605 relations are no concepts, since they hold in fewer than 20"), "{notes}");
    assert!(!notes.contains("left out"), "{notes}");
}

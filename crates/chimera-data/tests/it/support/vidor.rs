//! Annotations of VidOR and archives of them, made for tests.

use std::io::Write;
use std::path::Path;

use chimera_data::dataset::Dataset;
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The first bytes of a video, which are all that an importer looks at.
pub(crate) const MP4: &[u8] = b"\0\0\0\x20ftypisom";

/// A track: its category, and the frames in which it is there.
pub(crate) type Track<'a> = (&'a str, std::ops::Range<u64>);

/// A relation: subject and object by the numbers of their tracks, and from when to before when.
pub(crate) type Relation<'a> = (u64, &'a str, u64, std::ops::Range<u64>);

/// An annotation of so many frames; tracks are numbered from 0.
pub(crate) fn annotation(video: &str, frames: u64, tracks: &[Track<'_>], relations: &[Relation<'_>]) -> Value {
    let objects = tracks.iter().enumerate().map(|(tid, (category, _))| json!({"tid": tid, "category": category}));
    let at = |frame: u64| {
        let there = tracks.iter().enumerate().filter(|(_, (_, frames))| frames.contains(&frame));
        let boxed = there.map(|(tid, _)| {
            let corners = json!({"xmin": 1, "ymin": 2, "xmax": 30, "ymax": 40});
            json!({"tid": tid, "bbox": corners, "generated": 0, "tracker": "none"})
        });
        boxed.collect::<Vec<_>>()
    };
    let instances = relations.iter().map(|(subject, predicate, object, frames)| {
        json!({"subject_tid": subject, "predicate": predicate, "object_tid": object,
               "begin_fid": frames.start, "end_fid": frames.end})
    });
    json!({"version": "VERSION 1.0", "video_id": video, "video_hash": "0", "video_path": format!("0000/{video}.mp4"),
           "frame_count": frames, "fps": 29.97, "width": 640, "height": 360,
           "subject/objects": objects.collect::<Vec<_>>(), "trajectories": (0..frames).map(at).collect::<Vec<_>>(),
           "relation_instances": instances.collect::<Vec<_>>()})
}

/// Writes a zip archive.
pub(crate) fn write_zip(path: &Path, entries: &[(&str, &[u8])]) {
    let mut writer = ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap();
}

/// The names of the concepts that hold in a sample.
pub(crate) fn held(dataset: &Dataset, id: &str) -> Vec<String> {
    let table = dataset.table();
    let row = table.ids.iter().position(|other| other == id).unwrap();
    let columns = (0..table.concepts.len()).filter(|&column| table.labels.get(row, column).unwrap());
    columns.map(|column| table.concepts[column].clone()).collect()
}

//! Clips as MP4 files show what the same clips show as folders of frames.

use std::fs;
use std::num::NonZeroUsize;
use std::process::Command;

use chimera_data::media::frame_folder::FrameFolder;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::image::ImageReader;
use chimera_data::media::picture::Size;
use chimera_data::media::video::VideoReader;
use chimera_logic::rules::RuleSet;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::order::Order;
use chimera_world::wish::HouseRules;

fn order() -> Order {
    Order {
        size: Size::new(96, 64).unwrap(),
        train: 1,
        test: 0,
        oracle: 0,
        violations: 0.0,
        together: 0.3,
        seed: 3,
        threads: NonZeroUsize::MIN,
    }
}

#[test]
fn videos_show_what_frames_show() {
    if ["ffmpeg", "ffprobe"].iter().any(|name| Command::new(name).arg("-version").output().is_err()) {
        eprintln!("skipped: ffmpeg is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let rules = HouseRules::new(RuleSet::default(), true).unwrap();
    let write = |name: &str, footage: Footage| {
        let out = folder.path().join(name);
        write_clevrer(&out, &order(), &footage, &rules, &|_, _| {}).unwrap();
        out.join("video_train/video_00000-01000")
    };
    let frames = write("frames", Footage::Frames(NonZeroUsize::new(128).unwrap())).join("video_00000");
    let video = write("videos", Footage::Mp4("ffmpeg".into())).join("video_00000.mp4");
    let again = write("again", Footage::Mp4("ffmpeg".into())).join("video_00000.mp4");
    assert!(fs::read(&video).unwrap() == fs::read(again).unwrap(), "the same order gives another file");
    let shape = FrameShape::new(8, 64, 96).unwrap();
    let (mut kept, mut decoded) = (vec![0; shape.bytes()], vec![0; shape.bytes()]);
    FrameFolder::open(&frames).unwrap().read(ImageReader::default(), shape, &mut kept).unwrap();
    let reader = VideoReader::default();
    assert_eq!(reader.count(&video).unwrap(), 128);
    reader.read(&video, shape, &mut decoded).unwrap();
    let differ = |one: &[u8]| {
        let sum = one.iter().zip(&decoded).map(|(one, other)| f64::from(one.abs_diff(*other))).sum::<f64>();
        sum / decoded.len() as f64
    };
    let frame = shape.bytes() / 8;
    let backwards: Vec<u8> = kept.chunks(frame).rev().flatten().copied().collect();
    let first: Vec<u8> = kept[..frame].repeat(8);
    let (same, others) = (differ(&kept), [differ(&backwards), differ(&first)]);
    assert!(others.iter().all(|other| 2.0 * same < *other), "{same:.2} where wrong frames differ by {others:.2?}");
}

#[test]
fn a_program_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let rules = HouseRules::new(RuleSet::default(), true).unwrap();
    let refused = |program: &str, order: &Order| {
        let out = folder.path().join("out");
        let error = write_clevrer(&out, order, &Footage::Mp4(program.into()), &rules, &|_, _| {}).unwrap_err();
        assert!(!out.exists(), "something is left");
        error.to_string()
    };
    let missing = refused("no-such-program", &order());
    assert!(missing.contains("`no-such-program` to write MP4, got none that runs"), "{missing}");
    let odd = refused("true", &Order { size: Size::new(95, 64).unwrap(), ..order() });
    assert!(odd.contains("even width and height"), "{odd}");
    // It runs, takes nothing and writes nothing.
    let lazy = refused("true", &order());
    assert!(lazy.contains("cannot write a video with `true`"), "{lazy}");
}

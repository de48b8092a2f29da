//! Videos as folders of pictures: the frames are those of pictures read one by one, in natural order, and no program is run.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::check::{FindingKind, MediaCheck, check};
use chimera_data::dataset::manifest::Kind;
use chimera_data::dataset::media::Preparing;
use chimera_data::error::Error;
use chimera_data::error::media::MediaProblem;
use chimera_data::import::{TableImport, import_table};
use chimera_data::media::frame_folder::FrameFolder;
use chimera_data::media::frames::{FrameShape, frame_indices};
use chimera_data::media::image::ImageReader;
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use chimera_data::media::reader::MediaReader;
use chimera_data::media::sheet::SheetParams;
use chimera_data::media::video::VideoReader;
use tempfile::TempDir;

/// A reader that could not run a program if it wanted to.
fn reader() -> MediaReader {
    MediaReader::Videos(VideoReader::new("/no/ffmpeg".into(), "/no/ffprobe".into(), Duration::from_secs(1)))
}

/// Noise of 40 x 30 pixels, another one for each seed.
fn picture(seed: u64) -> Picture {
    let mut random = fastrand::Rng::with_seed(seed);
    let size = Size::new(40, 30).unwrap();
    Picture::new(size, (0..size.bytes()).map(|_| random.u8(..)).collect()).unwrap()
}

/// A folder of so many frames, `frame_0.png` to `frame_11.png`, and something beside them.
fn frames(folder: &Path, count: u64) -> PathBuf {
    fs::create_dir_all(folder.join("folder.png")).unwrap();
    (0..count).for_each(|number| write_png(&folder.join(format!("frame_{number}.png")), &picture(number)).unwrap());
    fs::write(folder.join("notes.txt"), "x").unwrap();
    fs::write(folder.join(".hidden.png"), "x").unwrap();
    folder.to_owned()
}

fn read(folder: &Path, shape: FrameShape) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![0; shape.bytes()];
    reader().read(folder, shape, &mut bytes).map(|()| bytes)
}

fn problem(folder: &Path) -> MediaProblem {
    match read(folder, FrameShape::new(4, 8, 8).unwrap()).unwrap_err() {
        Error::Media { path, problem } => {
            assert_eq!(path, folder, "the folder is the medium");
            problem
        }
        other => panic!("{other}"),
    }
}

#[test]
fn frames_are_the_pictures_in_natural_order() {
    let place = TempDir::new().unwrap();
    let folder = frames(place.path(), 12);
    for (count, height, width) in [(8, 16, 20), (12, 30, 40), (20, 7, 9), (1, 5, 5)] {
        let bytes = read(&folder, FrameShape::new(count, height, width).unwrap()).unwrap();
        let size = Size::new(width, height).unwrap();
        // Number `frame_2` before `frame_10`: each number in its own place, scaled as a picture.
        let expected = frame_indices(12, count).unwrap().into_iter().flat_map(|index| {
            let path = folder.join(format!("frame_{index}.png"));
            ImageReader::default().read(&path, size).unwrap().pixels().to_vec()
        });
        assert!(bytes == expected.collect::<Vec<u8>>(), "{count} frames of {width} x {height}");
    }
    let video = VideoReader::default();
    assert_eq!(video.count(&folder).unwrap(), 12);
    assert_eq!(video.dimensions(&folder).unwrap(), Size::new(40, 30).unwrap());
    // Four frames of 32 x 24, two a row.
    let thumbnail = reader().thumbnail(&folder, NonZeroUsize::new(64).unwrap()).unwrap();
    assert_eq!(thumbnail.size(), Size::new(64, 48).unwrap());
}

#[test]
fn only_the_frames_that_are_wanted_are_opened() {
    let place = TempDir::new().unwrap();
    let folder = frames(place.path(), 12);
    // Of 12 frames, 4 take 1, 4, 7 and 10: floor((i + 0.5) 12 / 4).
    for number in [0, 2, 3, 5, 6, 8, 9, 11] {
        fs::write(folder.join(format!("frame_{number}.png")), "damaged").unwrap();
    }
    assert!(read(&folder, FrameShape::new(4, 8, 8).unwrap()).is_ok());
    let error = read(&folder, FrameShape::new(12, 8, 8).unwrap()).unwrap_err().to_string();
    assert!(error.contains("frame `frame_0.png`: no image format is recognised\nhint: "), "{error}");
}

#[test]
fn a_folder_that_is_no_video_is_refused() {
    let place = TempDir::new().unwrap();
    fs::create_dir(place.path().join("empty")).unwrap();
    fs::write(place.path().join("empty/notes.txt"), "x").unwrap();
    assert_eq!(problem(&place.path().join("empty")), MediaProblem::NoPictures);
    let folder = frames(&place.path().join("cut"), 4);
    let whole = fs::read(folder.join("frame_2.png")).unwrap();
    fs::write(folder.join("frame_2.png"), &whole[..whole.len() / 2]).unwrap();
    let MediaProblem::Frame { name, problem: inner } = problem(&folder) else { panic!("expected a damaged frame") };
    assert!(name == "frame_2.png" && matches!(*inner, MediaProblem::DamagedImage { .. }), "{name}: {inner}");
    fs::write(folder.join("frame_2.png"), "").unwrap();
    assert!(problem(&folder).to_string().contains("frame `frame_2.png`: the file is empty"));
    let small = Picture::filled(Size::new(20, 30).unwrap(), [9; 3]);
    write_png(&folder.join("frame_2.png"), &small).unwrap();
    let sizes = problem(&folder);
    assert_eq!(sizes.to_string(), "frame `frame_2.png` has 20 x 30 pixels, and frames before it 40 x 30");
    // A folder is no picture.
    let pictures = MediaReader::Pictures(ImageReader::default());
    let shape = FrameShape::new(1, 8, 8).unwrap();
    assert!(pictures.read(&folder, shape, &mut vec![0; shape.bytes()]).is_err());
}

/// A dataset of two folders, one of four frames.
fn dataset(place: &Path) -> Dataset {
    frames(&place.join("videos/a"), 12);
    frames(&place.join("videos/b"), 4);
    fs::write(place.join("samples.csv"), "id,media,red\n1,a,1\n2,b,0\n").unwrap();
    let import = TableImport {
        table: place.join("samples.csv"),
        media_root: Some(place.join("videos")),
        ..TableImport::default()
    };
    import_table(&import, &place.join("ds")).unwrap().dataset
}

#[test]
fn a_dataset_of_folders_is_one_of_videos() {
    let place = TempDir::new().unwrap();
    let dataset = dataset(place.path());
    assert_eq!(dataset.manifest().kind, Kind::Video);
    let sheet = dataset.contact_sheet(2, 1, SheetParams::default()).unwrap();
    assert_eq!((sheet.shown, sheet.left_out.len()), (2, 0));
    let threads = NonZeroUsize::new(2).unwrap();
    let report = check(&dataset, None, MediaCheck::Decode { threads, progress: &|_, _| () }).unwrap();
    let kinds: Vec<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
    assert!(kinds.contains(&FindingKind::ShortVideo) && !kinds.contains(&FindingKind::UndecodableMedia), "{report:?}");
    // As pictures they cannot be used.
    let import = TableImport {
        table: place.path().join("samples.csv"),
        media_root: Some(place.path().join("videos")),
        kind: Some(Kind::Image),
        ..TableImport::default()
    };
    let error = import_table(&import, &place.path().join("pictures")).unwrap_err().to_string();
    assert!(error.contains("got what cannot be used at 2 of 2 paths, `a: it is a folder` the first"), "{error}");
}

#[test]
fn prepared_frames_know_a_folder_by_its_frames() {
    let place = TempDir::new().unwrap();
    let dataset = dataset(place.path());
    let shape = FrameShape::new(4, 8, 8).unwrap();
    let cache = place.path().join("cache");
    let prepare = || {
        let threads = NonZeroUsize::new(2).unwrap();
        let preparing = Preparing { cache: &cache, shape, threads, strict: true };
        dataset.prepare(&[0, 1], preparing, &|_| ()).unwrap()
    };
    let first = prepare();
    assert_eq!((first.rows.as_slice(), first.decoded), ([0, 1].as_slice(), 2));
    assert_eq!(first.frames(0), read(&place.path().join("videos/a"), shape).unwrap());
    let kept = prepare();
    assert_eq!((kept.decoded, kept.digest(0)), (0, first.digest(0)));
    // Another name changes nothing, another picture everything.
    let folder = place.path().join("videos/b");
    fs::rename(folder.join("frame_3.png"), folder.join("frame_7.png")).unwrap();
    assert_eq!(prepare().decoded, 0);
    write_png(&folder.join("frame_1.png"), &picture(99)).unwrap();
    let changed = prepare();
    assert_eq!(changed.decoded, 1);
    assert!(changed.digest(1) != first.digest(1) && changed.frames(1) != first.frames(1));
}

/// Frames that were lost leave a gap, or an end that is not reached; frames that were numbered anew are not seen to be even.
#[test]
fn numbers_show_whether_frames_are_spread_over_the_video() {
    let spread = |numbers: &[u64], all: u64| {
        let folder = tempfile::tempdir().unwrap();
        numbers.iter().for_each(|number| fs::write(folder.path().join(format!("f{number:03}.png")), "").unwrap());
        FrameFolder::open(folder.path()).unwrap().is_spread_over(all)
    };
    for kept in [1, 2, 3, 4, 7, 8, 10, 16, 100, 127, 128] {
        let mut even = frame_indices(128, kept).unwrap();
        assert!(spread(&even, 128), "{kept}");
        let one_more: Vec<u64> = even.iter().map(|number| number + 1).collect();
        assert!(spread(&one_more, 128), "{kept} from 1");
        if (4..128).contains(&kept) {
            for lost in [0, kept / 2, kept - 1] {
                let mut rest = even.clone();
                rest.remove(lost);
                assert!(!spread(&rest, 128), "{kept} without {lost}");
            }
            even.truncate(kept / 2);
            assert!(!spread(&even, 128), "half of {kept}");
        }
    }
    let every_tenth: Vec<u64> = (0..128).step_by(10).collect();
    assert!(spread(&every_tenth, 128) && !spread(&every_tenth[..12], 128));
    for kept in [8, 64, 126] {
        assert!(!spread(&(0..kept).collect::<Vec<_>>(), 128), "{kept} anew");
    }
    assert!(!spread(&[0], 128) && !spread(&[130], 128) && !spread(&(0..129).collect::<Vec<_>>(), 128));
}

/// Whatever is taken must be of the same moments as of the whole video; where that is not known, it is not said.
#[test]
fn names_show_which_frames_were_kept() {
    let shows = |numbers: &[u64], all: u64| {
        let folder = tempfile::tempdir().unwrap();
        numbers.iter().for_each(|number| fs::write(folder.path().join(format!("v1_f{number:03}.png")), "").unwrap());
        FrameFolder::open(folder.path()).unwrap().shows_taken(all, 8)
    };
    let first = |count: u64| (0..count).collect::<Vec<_>>();
    let one_more = |numbers: &[u64]| numbers.iter().map(|number| number + 1).collect::<Vec<_>>();
    // Of 64, 4, 12, ... 60 are taken.
    for kept in [8, 24, 40, 48, 56] {
        let even = frame_indices(64, kept).unwrap();
        assert!(shows(&even, 64) && shows(&one_more(&even), 64), "{kept}");
        assert!(!shows(&one_more(&one_more(&even)), 64), "{kept}");
    }
    // All, and as many as are taken, however they are numbered; eight with other numbers are not what is taken.
    assert!(shows(&first(64), 64) && shows(&one_more(&first(64)), 64) && shows(&first(8), 64));
    assert!(!shows(&[0, 8, 16, 24, 32, 40, 48, 56], 64) && !shows(&[8, 9, 10, 11, 12, 13, 14, 15], 64));
    // Some of the first, a number anew, and other moments.
    for (kept, all) in [(24, 64), (40, 64), (56, 64), (600, 900), (296, 300), (120, 131), (65, 64), (9, 8), (8, 3)] {
        assert!(!shows(&first(kept), all) && !shows(&one_more(&first(kept)), all), "{kept} of {all}");
    }
    assert!(!shows(&frame_indices(64, 16).unwrap(), 64) && !shows(&frame_indices(64, 63).unwrap(), 64));
    // Numbers that are one too large count from 1, but not where 0 is there.
    let late: Vec<u64> = one_more(&frame_indices(64, 24).unwrap());
    assert!(!shows(&[&[0], &late[1..]].concat(), 64));
}

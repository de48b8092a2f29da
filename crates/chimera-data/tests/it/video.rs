//! Videos made for the purpose, with the number of each frame in its pixels, must give exactly the frames that were
//! asked for; what is no video must give an error that says so.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use chimera_data::error::media::MediaProblem;
use chimera_data::error::{Error, Fault};
use chimera_data::media::frames::{FrameShape, frame_indices};
use chimera_data::media::prepared::{CHUNK_BYTES, Preparation};
use chimera_data::media::video::VideoReader;
use tempfile::TempDir;

/// Three bands of 32 x 64 pixels: the hexadecimal digits of the frame number, lowest first, as steps of brightness.
const NUMBERED: &str = "geq=lum='16+13*mod(floor(N/pow(16,floor(X/32))),16)':cb=128:cr=128";

fn ffmpeg_is_missing() -> bool {
    let missing = ["ffmpeg", "ffprobe"].iter().any(|name| Command::new(name).arg("-version").output().is_err());
    if missing {
        eprintln!("skipped: ffmpeg is not installed");
    }
    missing
}

/// Runs ffmpeg in a folder with arguments separated by blanks; `NUMBERED` stands for the filter.
fn ffmpeg(folder: &TempDir, arguments: &str) {
    let output = ffmpeg_output(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn ffmpeg_output(folder: &TempDir, arguments: &str) -> Output {
    let arguments = arguments.split_whitespace().map(|argument| argument.replace("NUMBERED", NUMBERED));
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-y", "-nostdin"]).args(arguments).current_dir(folder).output().unwrap()
}

fn source(frames: usize) -> String {
    // 25 frames a second.
    format!("-f lavfi -i color=black:size=96x64:rate=25:duration={} -vf NUMBERED", frames as f64 / 25.0)
}

fn shape(frames: usize) -> FrameShape {
    FrameShape::new(frames, 64, 96).unwrap()
}

/// The number that a frame of 96 x 64 shows.
fn number(frame: &[u8]) -> u64 {
    let digit = |band: usize| {
        let value = f64::from(frame[(32 * 96 + band * 32 + 16) * 3]);
        // Limited range: 255 / 219 a step of luma.
        (value / (13.0 * 255.0 / 219.0)).round() as u64
    };
    digit(0) + 16 * digit(1) + 256 * digit(2)
}

fn read(reader: &VideoReader, path: &Path, shape: FrameShape) -> Result<Vec<u8>, Error> {
    let mut out = vec![7; shape.bytes()];
    reader.read(path, shape, &mut out).map(|()| out)
}

fn numbers(path: &Path, frames: usize) -> Vec<u64> {
    let frames = read(&VideoReader::default(), path, shape(frames)).unwrap();
    frames.chunks(shape(1).bytes()).map(number).collect()
}

fn problem(path: &Path) -> MediaProblem {
    match read(&VideoReader::default(), path, shape(2)).unwrap_err() {
        Error::Media { path: named, problem } if named == path => problem,
        other => panic!("{other}"),
    }
}

#[test]
fn frames_are_exact_in_any_container() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, codec) in [
        ("a.mp4", "-c:v libx264 -pix_fmt yuv444p -bf 3 -g 30"),
        ("b.mkv", "-c:v libx264 -bf 3 -g 25"),
        ("c.webm", "-c:v libvpx-vp9 -b:v 1M -deadline realtime"),
        ("d.webm", "-c:v libvpx -b:v 1M"),
        ("e.avi", "-c:v mpeg4 -q:v 2 -bf 2"),
        ("f.ts", "-c:v mpeg2video -q:v 2"),
        ("g.h264", "-c:v libx264 -bf 2"),
        // The second of sound is longer than nothing and shorter than the pictures.
        ("h.mov", "-f lavfi -i sine=duration=2 -map 1 -map 0 -c:v libx264 -output_ts_offset 3"),
    ] {
        // Options of outputs follow all inputs, so the filter goes behind.
        let input = "-f lavfi -i color=black:size=96x64:rate=25:duration=12";
        ffmpeg(&folder, &format!("{input} {codec} -vf NUMBERED {name}"));
        let path = folder.path().join(name);
        for wanted in [1, 8, 31] {
            assert_eq!(numbers(&path, wanted), frame_indices(300, wanted).unwrap(), "{name}, {wanted} frames");
        }
    }
}

#[test]
fn packets_that_show_nothing_are_not_counted() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // With a second pass VP8 makes frames that only others refer to.
    let encode = "-f lavfi -i testsrc2=size=192x128:rate=25:duration=8 -pix_fmt yuv420p -c:v libvpx -auto-alt-ref 1 \
        -lag-in-frames 25 -arnr-maxframes 7 -arnr-strength 5 -b:v 300k";
    ffmpeg(&folder, &format!("{encode} -pass 1 -f null -"));
    ffmpeg(&folder, &format!("{encode} -pass 2 a.webm"));
    let scale = "scale=96:64:flags=bilinear+accurate_rnd+full_chroma_int,format=rgb24";
    ffmpeg(&folder, &format!("-i a.webm -vf {scale} -f rawvideo all.rgb"));
    let all = fs::read(folder.path().join("all.rgb")).unwrap();
    let all: Vec<&[u8]> = all.chunks(shape(1).bytes()).collect();
    assert_eq!(all.len(), 200);
    let path = folder.path().join("a.webm");
    assert!(VideoReader::default().count(&path).unwrap() > 200, "there are no hidden frames");
    let expected: Vec<u8> =
        frame_indices(200, 8).unwrap().iter().flat_map(|index| all[*index as usize]).copied().collect();
    assert_eq!(read(&VideoReader::default(), &path, shape(8)).unwrap(), expected);
}

#[test]
fn short_videos_repeat_and_many_frames_pass() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    ffmpeg(&folder, &format!("{} -c:v libx264 a.mp4", source(3)));
    assert_eq!(numbers(&folder.path().join("a.mp4"), 8), [0, 0, 0, 1, 1, 2, 2, 2]);
    ffmpeg(&folder, &format!("{} -c:v libx264 b.mp4", source(400)));
    let path = folder.path().join("b.mp4");
    // More than one filter holds: every frame is passed on and sorted here.
    assert_eq!(numbers(&path, 300), frame_indices(400, 300).unwrap());
    assert_eq!(VideoReader::default().count(&path).unwrap(), 400);
}

#[test]
fn a_reader_that_has_seen_other_lengths_gives_the_same() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let reader = VideoReader::default();
    for (name, frames) in [("a.mp4", 50), ("b.mp4", 50), ("c.mp4", 50), ("d.mp4", 20), ("e.mp4", 90)] {
        ffmpeg(&folder, &format!("{} -c:v libx264 {name}", source(frames)));
        let out = read(&reader, &folder.path().join(name), shape(8)).unwrap();
        let shown: Vec<u64> = out.chunks(shape(1).bytes()).map(number).collect();
        assert_eq!(shown, frame_indices(frames as u64, 8).unwrap(), "{name}");
    }
}

#[test]
fn variable_frame_rate_is_counted_by_frames() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Every frame of 200 is kept, but its time is the square of its number.
    let filter = "NUMBERED,settb=1/12800,setpts=N*N*8+N*512";
    let input = "-f lavfi -i color=black:size=96x64:rate=25:duration=8";
    let output = |mode: &str| format!("{input} -vf {filter} {mode} passthrough -c:v libx264 -g 20 -bf 2 a.mp4");
    // Since version 5.1, and before.
    if !ffmpeg_output(&folder, &output("-fps_mode")).status.success() {
        ffmpeg(&folder, &output("-vsync"));
    }
    let path = folder.path().join("a.mp4");
    assert_eq!(numbers(&path, 8), frame_indices(200, 8).unwrap());
}

#[test]
fn long_videos_are_sought_in_and_give_the_same_frames() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // 4,000 frames and a key frame every 25: seeking is cheaper, as the messages of a ffmpeg that logs its arguments
    // show.
    for (name, options) in [
        ("a.mp4", "-c:v libx264 -preset ultrafast -g 25 -bf 2"),
        ("b.mkv", "-c:v libx264 -preset ultrafast -g 25 -x264-params open-gop=1:bframes=3"),
        ("c.ts", "-c:v libx264 -preset ultrafast -g 25 -bf 2"),
        ("d.mp4", "-c:v libx264 -preset ultrafast -g 25 -bf 2 -output_ts_offset 5"),
    ] {
        let input = "-f lavfi -i color=black:size=96x64:rate=25:duration=160";
        // Large frames of little content make decoding the larger part of the cost.
        ffmpeg(&folder, &format!("{input} -vf NUMBERED,scale=768:512:flags=neighbor {options} {name}"));
        let path = folder.path().join(name);
        let log = folder.path().join(format!("{name}.log"));
        let script = folder.path().join("logging.sh");
        fs::write(&script, format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec ffmpeg \"$@\"\n", log.display())).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let reader = VideoReader::new(script, "ffprobe".into(), Duration::from_secs(600));
        let out = read(&reader, &path, shape(4)).unwrap();
        let shown: Vec<u64> = out.chunks(shape(1).bytes()).map(number).collect();
        assert_eq!(shown, frame_indices(4000, 4).unwrap(), "{name}");
        let log = fs::read_to_string(&log).unwrap();
        let passes = log.lines().filter(|line| line.contains("-f null")).count();
        eprintln!("{name}: {} runs, {passes} whole passes", log.lines().count());
        if name != "c.ts" {
            assert_eq!((log.lines().count(), passes), (4, 0), "{name} was decoded as a whole: {log}");
        }
    }
}

#[test]
fn rotation_is_respected() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    ffmpeg(&folder, &format!("{} -c:v libx264 a.mp4", source(10)));
    // Since version 6, and before.
    if !ffmpeg_output(&folder, "-display_rotation 90 -i a.mp4 -c copy b.mp4").status.success() {
        ffmpeg(&folder, "-i a.mp4 -c copy -metadata:s:v rotate=90 b.mp4");
    }
    let upright = read(&VideoReader::default(), &folder.path().join("a.mp4"), shape(1)).unwrap();
    let turned = FrameShape::new(1, 96, 64).unwrap();
    let turned = read(&VideoReader::default(), &folder.path().join("b.mp4"), turned).unwrap();
    // Frame 5: a bright band on the left of the upright picture. Turned by 90 degrees it is at the top or at the
    // bottom.
    assert_eq!(number(&upright), 5);
    let pixel = |x: usize, y: usize| turned[(y * 64 + x) * 3];
    let ends = [pixel(32, 16), pixel(32, 80)];
    assert!(ends.iter().any(|end| *end > 60) && ends.iter().any(|end| *end < 10), "{ends:?}");
    assert_eq!(pixel(5, 16), pixel(58, 16));
}

#[test]
fn what_is_no_video_says_so() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    assert_eq!(problem(&file("zero.mp4", b"")), MediaProblem::Empty);
    assert!(matches!(problem(&file("text.mp4", b"hello\n")), MediaProblem::Unrecognised { .. }));
    let art = problem(&file("art.txt", "not a video\n".repeat(500).as_bytes()));
    assert!(matches!(art, MediaProblem::NoVideo | MediaProblem::Unrecognised { .. }), "{art:?}");
    ffmpeg(&folder, "-f lavfi -i sine=duration=1 sound.m4a");
    assert_eq!(problem(&folder.path().join("sound.m4a")), MediaProblem::NoVideo);
    let missing = read(&VideoReader::default(), &folder.path().join("no.mp4"), shape(1)).unwrap_err();
    assert!(matches!(missing, Error::Read { .. }) && missing.fault() == Fault::Input);
    assert_eq!(problem(folder.path()), MediaProblem::NoPictures);
    assert!(read(&VideoReader::default(), &file("short.mp4", b"x"), shape(1)).is_err());
}

#[test]
fn damaged_videos_are_never_half_read() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    ffmpeg(&folder, "-f lavfi -i testsrc=size=96x64:rate=25:duration=4 -c:v libx264 -movflags +faststart whole.mp4");
    let whole = fs::read(folder.path().join("whole.mp4")).unwrap();
    let path = folder.path().join("cut.mp4");
    for part in [10, 40, 50, 75, 90, 99] {
        fs::write(&path, &whole[..whole.len() * part / 100]).unwrap();
        let problem = problem(&path);
        assert!(
            matches!(problem, MediaProblem::Damaged { .. } | MediaProblem::Unrecognised { .. }),
            "{part} %: {problem:?}"
        );
    }
    // Index at the end, and the end missing.
    ffmpeg(&folder, "-i whole.mp4 -c copy plain.mp4");
    let plain = fs::read(folder.path().join("plain.mp4")).unwrap();
    fs::write(&path, &plain[..plain.len() / 2]).unwrap();
    assert!(matches!(problem(&path), MediaProblem::Unrecognised { .. }));
    // Bytes in the middle of the pictures overwritten.
    let mut noise = whole.clone();
    let middle = noise.len() / 2;
    let mut random = fastrand::Rng::with_seed(1);
    noise[middle..middle + 600].fill_with(|| random.u8(..));
    fs::write(&path, &noise).unwrap();
    assert!(matches!(problem(&path), MediaProblem::Damaged { .. }));
}

#[test]
fn odd_file_names_are_safe() {
    if ffmpeg_is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    ffmpeg(&folder, &format!("{} -c:v libx264 a.mp4", source(5)));
    for name in ["-i.mp4", "two words.mp4", "line\nbreak.mp4", "http:x.mp4", "100%d'\";$(x).mp4", "concat:a|b.mp4"] {
        let path = folder.path().join(name);
        fs::copy(folder.path().join("a.mp4"), &path).unwrap();
        assert_eq!(numbers(&path, 1), [2], "{name:?}");
    }
}

#[test]
fn missing_programs_and_slow_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mp4");
    fs::write(&path, "x").unwrap();
    let reader = VideoReader::new("/no/ffmpeg".into(), "/no/ffprobe".into(), Duration::from_secs(1));
    let error = read(&reader, &path, shape(1)).unwrap_err();
    assert!(error.to_string().starts_with("cannot run the program `/no/ffprobe`: no such file or folder\nhint: "));
    assert!(error.to_string().contains("install ffmpeg"));
    assert_eq!(error.fault(), Fault::Machine);
    #[cfg(unix)]
    {
        let slow: PathBuf = folder.path().join("slow.sh");
        fs::write(&slow, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let reader = VideoReader::new(slow.clone(), slow, Duration::from_secs(1));
        let error = read(&reader, &path, shape(1)).unwrap_err();
        assert!(matches!(error, Error::Media { problem: MediaProblem::TimedOut { seconds: 1 }, .. }), "{error}");
    }
}

#[test]
fn clevrer_videos_decode() {
    #[expect(clippy::disallowed_methods, reason = "tests use real data where they are told of it")]
    let Some(data) = std::env::var_os("CHIMERA_DATA") else {
        eprintln!("skipped: CHIMERA_DATA is not set");
        return;
    };
    if ffmpeg_is_missing() {
        return;
    }
    let mut videos = Vec::new();
    for split in ["video_train", "video_validation"] {
        let Ok(groups) = fs::read_dir(Path::new(&data).join("clevrer").join(split)) else { continue };
        for group in groups {
            videos.extend(fs::read_dir(group.unwrap().path()).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    videos.sort();
    assert!(!videos.is_empty());
    let shape = FrameShape::new(8, 224, 224).unwrap();
    let reader = VideoReader::default();
    let folder = tempfile::tempdir().unwrap();
    let preparation = Preparation {
        folder: folder.path(),
        shape,
        recipe: &VideoReader::recipe(),
        threads: NonZeroUsize::new(2).unwrap(),
        strict: true,
        chunk_bytes: CHUNK_BYTES,
    };
    let decode = |path: &Path, out: &mut [u8]| reader.read(path, shape, out);
    let prepared = preparation.run(&videos, &decode, &|_| ()).unwrap();
    for (number, path) in videos.iter().enumerate() {
        assert_eq!(reader.count(path).unwrap(), 128, "{}", path.display());
        let first = prepared.sample(number).unwrap();
        // The old reader guesses the number of frames by now, a new one counts them.
        assert_eq!(first, read(&reader, path, shape).unwrap());
        assert_eq!(first, read(&VideoReader::default(), path, shape).unwrap());
        let frames: Vec<&[u8]> = first.chunks(shape.frame_bytes()).collect();
        assert!(frames.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

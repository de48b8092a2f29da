//! Prepared frames: they equal what was decoded, are made once, survive kills, damage and company, and know their media
//! by content. The decoder here is synthetic: it spreads the digest of a file over its frames.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use chimera_data::error::{Error, Result};
use chimera_data::media::frames::FrameShape;
use chimera_data::media::prepared::{Preparation, Prepared, Progress};

const SHAPE: (usize, usize, usize) = (2, 5, 7);

fn shape() -> FrameShape {
    FrameShape::new(SHAPE.0, SHAPE.1, SHAPE.2).unwrap()
}

fn preparation(folder: &Path) -> Preparation<'_> {
    Preparation {
        folder,
        shape: shape(),
        recipe: "synthetic 1",
        threads: NonZeroUsize::new(2).unwrap(),
        strict: false,
        chunk_bytes: 4 * shape().bytes(),
    }
}

/// Pixels that follow from the content alone; a file that begins with `bad` cannot be decoded.
fn decode(path: &Path, out: &mut [u8]) -> Result<()> {
    let content = fs::read(path).map_err(|cause| Error::Read { path: path.to_owned(), cause })?;
    if content.starts_with(b"bad") {
        return Err(Error::Input { message: format!("`{}` is bad", path.display()), hint: None });
    }
    out.copy_from_slice(&pixels(&content));
    Ok(())
}

fn pixels(content: &[u8]) -> Vec<u8> {
    let mut pixels = vec![0; shape().bytes()];
    blake3::Hasher::new().update(content).finalize_xof().fill(&mut pixels);
    pixels
}

fn media(folder: &Path, count: usize) -> Vec<PathBuf> {
    let folder = folder.join("media");
    fs::create_dir_all(&folder).unwrap();
    let paths: Vec<PathBuf> = (0..count).map(|number| folder.join(format!("{number}.bin"))).collect();
    for (number, path) in paths.iter().enumerate() {
        fs::write(path, format!("medium {number}")).unwrap();
    }
    paths
}

fn assert_exact(prepared: &Prepared, media: &[PathBuf]) {
    assert_eq!(prepared.len(), media.len());
    for (number, path) in media.iter().enumerate() {
        assert_eq!(prepared.sample(number).unwrap(), pixels(&fs::read(path).unwrap()), "{}", path.display());
    }
}

/// Files of one kind anywhere in the cache.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|other| other == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn frames_are_decoded_once_and_streamed_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let media = media(folder.path(), 50);
    let (calls, steps) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let counting = |path: &Path, out: &mut [u8]| {
        calls.fetch_add(1, Ordering::Relaxed);
        decode(path, out)
    };
    let progress = |progress: Progress| {
        if matches!(progress, Progress::Preparing { done: 1..=50, total: 50 }) {
            steps.fetch_add(1, Ordering::Relaxed);
        }
    };
    let prepared = preparation(&cache).run(&media, &counting, &progress).unwrap();
    assert_exact(&prepared, &media);
    assert_eq!((prepared.decoded(), calls.load(Ordering::Relaxed), steps.load(Ordering::Relaxed)), (50, 50, 50));
    let again = preparation(&cache).run(&media, &counting, &progress).unwrap();
    assert_exact(&again, &media);
    assert_eq!((again.decoded(), calls.load(Ordering::Relaxed)), (0, 50));

    let order: Vec<usize> = (0..50).map(|number| number * 17 % 50).chain([3, 3]).collect();
    let batches: Vec<_> = again.batches(&order, NonZeroUsize::new(8).unwrap()).unwrap().collect();
    assert_eq!(batches.iter().map(|batch| batch.frames.len()).collect::<Vec<_>>(), [8, 8, 8, 8, 8, 8, 4]);
    let streamed: Vec<usize> = batches.iter().flat_map(|batch| batch.samples.clone()).collect();
    assert_eq!(streamed, order);
    for (number, frames) in batches.iter().flat_map(|batch| batch.samples.iter().zip(&batch.frames)) {
        assert_eq!(*frames, pixels(format!("medium {number}").as_bytes()));
    }
    assert!(again.batches(&[50], NonZeroUsize::MIN).is_err());
    assert!(preparation(&cache).run(&[], &decode, &|_| ()).unwrap().is_empty());
}

#[test]
fn the_number_of_threads_changes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let media = media(folder.path(), 40);
    let contents = [1, 2, 5].map(|threads| {
        let cache = folder.path().join(threads.to_string());
        let threads = NonZeroUsize::new(threads).unwrap();
        Preparation { threads, ..preparation(&cache) }.run(&media, &decode, &|_| ()).unwrap();
        let chunks = files(&cache, "frames");
        assert!(chunks.len() >= 10);
        chunks.iter().map(|path| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap())).collect::<Vec<_>>()
    });
    assert!(contents[0] == contents[1] && contents[0] == contents[2]);
}

#[test]
fn media_are_known_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let mut media = media(folder.path(), 20);
    preparation(&cache).run(&media, &decode, &|_| ()).unwrap();
    // Same length, same modification time, other content.
    let modified = fs::metadata(&media[7]).unwrap().modified().unwrap();
    fs::write(&media[7], "MEDIUM 7").unwrap();
    fs::File::options().write(true).open(&media[7]).unwrap().set_modified(modified).unwrap();
    // Another name, another order, a copy.
    let renamed = folder.path().join("renamed");
    fs::rename(&media[3], &renamed).unwrap();
    media[3] = renamed.clone();
    media.reverse();
    media.push(renamed);
    let prepared = preparation(&cache).run(&media, &decode, &|_| ()).unwrap();
    assert_eq!(prepared.decoded(), 1);
    assert_exact(&prepared, &media);
    // Another recipe or shape is another preparation; the first one stays.
    let other = Preparation { recipe: "synthetic 2", ..preparation(&cache) };
    assert_eq!(other.run(&media, &decode, &|_| ()).unwrap().decoded(), 20);
    let (wide, ones) = (FrameShape::new(2, 5, 8).unwrap(), |_: &Path, out: &mut [u8]| {
        out.fill(1);
        Ok(())
    });
    let other = Preparation { shape: wide, ..preparation(&cache) };
    assert_eq!(other.run(&media, &ones, &|_| ()).unwrap().decoded(), 20);
    assert_eq!(preparation(&cache).run(&media, &decode, &|_| ()).unwrap().decoded(), 0);
}

#[test]
fn undecodable_media_are_listed_or_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let mut media = media(folder.path(), 20);
    fs::write(&media[4], "bad 4").unwrap();
    fs::write(&media[9], "bad 4").unwrap();
    media[12] = folder.path().join("missing");
    let prepared = preparation(&cache).run(&media, &decode, &|_| ()).unwrap();
    let listed: Vec<(usize, &Path)> =
        prepared.undecodable().iter().map(|one| (one.sample, one.path.as_path())).collect();
    assert_eq!(listed, [(4, media[4].as_path()), (9, media[9].as_path()), (12, media[12].as_path())]);
    assert!(prepared.undecodable()[0].reason.to_string().ends_with("is bad"));
    assert!(matches!(*prepared.undecodable()[2].reason, Error::Read { .. }));
    assert!(prepared.sample(4).is_none() && prepared.sample(20).is_none());
    assert_eq!(prepared.decoded(), 17);
    let all: Vec<usize> = (0..20).collect();
    let batches: Vec<_> = prepared.batches(&all, NonZeroUsize::new(6).unwrap()).unwrap().collect();
    assert_eq!(batches.iter().map(|batch| batch.samples.len()).collect::<Vec<_>>(), [6, 6, 5]);
    // Mended media are decoded the next time.
    fs::write(&media[4], "good").unwrap();
    assert_eq!(preparation(&cache).run(&media, &decode, &|_| ()).unwrap().decoded(), 1);

    let strict = Preparation { strict: true, ..preparation(&cache) };
    assert!(strict.run(&media[..12], &decode, &|_| ()).unwrap_err().to_string().ends_with("9.bin` is bad"));
    assert!(strict.run(&media[12..], &decode, &|_| ()).is_err());
    // A missing program is nobody's medium.
    let no_program = |_: &Path, _: &mut [u8]| {
        let cause = std::io::ErrorKind::NotFound.into();
        Err(Error::Program { program: "ffmpeg".into(), cause })
    };
    let other = Preparation { recipe: "other", ..preparation(&cache) };
    assert!(matches!(other.run(&media, &no_program, &|_| ()), Err(Error::Program { .. })));
    // Nothing can be decoded: no chunk, no error.
    let none = other.run(&media[9..10], &decode, &|_| ()).unwrap();
    assert_eq!((none.decoded(), none.undecodable().len()), (0, 1));
}

#[test]
fn a_medium_that_changes_under_the_decoder_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let media = media(folder.path(), 3);
    let changing = |path: &Path, out: &mut [u8]| {
        if path.ends_with("1.bin") {
            fs::write(path, "changed").unwrap();
        }
        decode(path, out)
    };
    let prepared = preparation(&cache).run(&media, &changing, &|_| ()).unwrap();
    assert_eq!(prepared.undecodable().len(), 1);
    assert!(prepared.undecodable()[0].reason.to_string().ends_with("it changed while it was being read"));
    assert_exact(&preparation(&cache).run(&media, &decode, &|_| ()).unwrap(), &media);
}

#[test]
fn damage_anywhere_is_found_set_aside_and_mended() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let media = media(folder.path(), 16);
    let all_in_few = Preparation { chunk_bytes: 1 << 20, ..preparation(&cache) };
    all_in_few.run(&media, &decode, &|_| ()).unwrap();
    let chunk = files(&cache, "frames").swap_remove(0);
    let whole = fs::read(&chunk).unwrap();
    let mut random = fastrand::Rng::with_seed(5);
    let mut damages: Vec<Vec<u8>> =
        vec![Vec::new(), vec![0; 10], vec![0; whole.len()], [whole.clone(), vec![0]].concat()];
    damages.extend((0..20).map(|_| whole[..random.usize(..whole.len())].to_vec()));
    damages.extend((0..whole.len()).map(|position| {
        let mut damaged = whole.clone();
        damaged[position] ^= 1 << random.u8(..8);
        damaged
    }));
    for (number, damaged) in damages.iter().enumerate() {
        // A new file, as a disk would show it after a crash; mapped chunks are never written to.
        fs::remove_file(&chunk).unwrap();
        fs::write(&chunk, damaged).unwrap();
        let prepared = all_in_few.run(&media, &decode, &|_| ()).unwrap();
        assert_eq!(prepared.set_aside().len(), 1, "damage {number}");
        assert_exact(&prepared, &media);
        assert_eq!(fs::read(&chunk).unwrap(), whole);
        fs::remove_file(&prepared.set_aside()[0]).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_complete_cache_can_be_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let media = media(folder.path(), 5);
    preparation(&cache).run(&media, &decode, &|_| ()).unwrap();
    let inner = files(&cache, "frames")[0].parent().unwrap().to_owned();
    fs::remove_file(inner.join("lock")).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
    assert_exact(&preparation(&cache).run(&media, &decode, &|_| ()).unwrap(), &media);
    assert!(!inner.join("lock").exists());
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The folder for a child process, and how long its decoder takes.
const CHILD: &str = "CHIMERA_TEST_PREPARED_CHILD";
const CHILD_MEDIA: usize = 120;

/// Not a test of its own: what the children of the tests below do.
#[test]
#[ignore = "run by other tests in a child process"]
fn child_prepares() {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let media: Vec<PathBuf> = (0..CHILD_MEDIA).map(|number| folder.join(format!("media/{number}.bin"))).collect();
    let slow = |path: &Path, out: &mut [u8]| {
        thread::sleep(Duration::from_millis(3));
        decode(path, out)
    };
    let prepared = preparation(&folder.join("cache")).run(&media, &slow, &|_| ()).unwrap();
    assert_exact(&prepared, &media);
    fs::write(folder.join(format!("decoded-{}", std::process::id())), prepared.decoded().to_string()).unwrap();
}

fn spawn(folder: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "prepared::child_prepares", "--ignored"]).env(CHILD, folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_killed_run_is_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let media = media(folder.path(), CHILD_MEDIA);
    let mut random = fastrand::Rng::with_seed(11);
    let (mut kills, mut progressed) = (0, 0);
    for round in 0..60 {
        let before = files(&cache, "frames").len();
        let mut child = spawn(folder.path());
        thread::sleep(Duration::from_millis(random.u64(5..60 + 10 * round)));
        let finished = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let now = files(&cache, "frames").len();
        assert!(now >= before, "a chunk was lost");
        progressed += usize::from(now > before);
        kills += usize::from(!finished);
        if finished {
            break;
        }
    }
    assert!(kills >= 2 && progressed >= 1, "{kills} kills, {progressed} runs that got on");
    let resumed = preparation(&cache).run(&media, &decode, &|_| ()).unwrap();
    assert_exact(&resumed, &media);
    assert!(resumed.set_aside().is_empty() && resumed.decoded() < CHILD_MEDIA);
    // The last builder removes what the killed ones left, if there was anything to build.
    fs::write(&media[0], "new").unwrap();
    preparation(&cache).run(&media, &decode, &|_| ()).unwrap();
    assert!(files(&cache, "tmp").is_empty());
}

#[test]
fn processes_share_a_folder_and_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let media = media(folder.path(), CHILD_MEDIA);
    let children: Vec<Child> = (0..3).map(|_| spawn(folder.path())).collect();
    let ids: Vec<u32> = children.iter().map(Child::id).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let decoded = ids.iter().map(|id| fs::read_to_string(folder.path().join(format!("decoded-{id}"))).unwrap());
    assert_eq!(decoded.map(|count| count.parse::<usize>().unwrap()).sum::<usize>(), CHILD_MEDIA);
    let prepared = preparation(&folder.path().join("cache")).run(&media, &decode, &|_| ()).unwrap();
    assert_eq!(prepared.decoded(), 0);
    assert_exact(&prepared, &media);
}

//! Encoded samples: they equal what the encoder gave, are made once, survive kills, damage and company, and know their
//! samples by id and content. The encoder here is synthetic: numbers that follow from id and content.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use chimera_data::error::{Error, Result};
use chimera_leaf::encoded::{CHUNK_BYTES, Encoded, EncodedCache, EncodedParams, EncoderFingerprint, RowKey};

const FEATURES: usize = 5;
const CONCEPTS: usize = 3;
const ROW_BYTES: usize = 4 * (FEATURES + CONCEPTS);

fn params(folder: &Path) -> EncodedParams<'_> {
    EncodedParams {
        folder,
        encoder: EncoderFingerprint([7; 32]),
        features: NonZeroUsize::new(FEATURES).unwrap(),
        concepts: CONCEPTS,
        threads: NonZeroUsize::new(2).unwrap(),
        chunk_bytes: 4 * ROW_BYTES,
    }
}

/// Samples with these numbers in their ids.
fn ids(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("sample {number}")).collect()
}

fn keys(ids: &[String]) -> Vec<RowKey<'_>> {
    ids.iter().map(|id| RowKey { id, content: *blake3::hash(id.as_bytes()).as_bytes() }).collect()
}

/// The numbers of a sample: z, then logits.
fn values(key: &RowKey<'_>, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; 4 * count];
    blake3::Hasher::new().update(key.id.as_bytes()).update(&key.content).finalize_xof().fill(&mut bytes);
    bytes.chunks_exact(4).map(|word| f32::from(u16::from_le_bytes([word[0], word[1]])) / 64.0 - 512.0).collect()
}

fn encode(keys: &[RowKey<'_>], rows: &[usize], z: &mut [f32], logits: &mut [f32]) {
    let outputs = z.chunks_exact_mut(FEATURES).zip(logits.chunks_exact_mut(CONCEPTS));
    for (&row, (z, logits)) in rows.iter().zip(outputs) {
        let values = values(&keys[row], FEATURES + CONCEPTS);
        z.copy_from_slice(&values[..FEATURES]);
        logits.copy_from_slice(&values[FEATURES..]);
    }
}

/// Opens the cache, encodes what is missing in batches of three, and opens it for reading.
fn run(params: &EncodedParams<'_>, keys: &[RowKey<'_>]) -> Result<Encoded> {
    let mut cache = EncodedCache::open(params, keys, &|| ())?;
    let encode = |rows: &[usize], z: &mut [f32], logits: &mut [f32]| {
        encode(keys, rows, z, logits);
        Ok(())
    };
    cache.fill(NonZeroUsize::new(3).unwrap(), encode, |_, _| ())?;
    cache.finish()
}

fn assert_exact(encoded: &Encoded, keys: &[RowKey<'_>]) {
    assert_eq!((encoded.len(), encoded.features(), encoded.concepts()), (keys.len(), FEATURES, CONCEPTS));
    for (row, key) in keys.iter().enumerate() {
        let values = values(key, FEATURES + CONCEPTS);
        assert_eq!((encoded.z(row), encoded.logits(row)), values.split_at(FEATURES), "{}", key.id);
    }
}

/// Files of one kind anywhere in the cache.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().unwrap_or_default() == extension {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn rows_are_encoded_once_and_read_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let ids = ids(0..50);
    let keys = keys(&ids);
    let params = params(&cache);
    let mut opened = EncodedCache::open(&params, &keys, &|| ()).unwrap();
    assert_eq!(opened.missing(), (0..50).collect::<Vec<_>>());
    assert_eq!(opened.chunk_rows(), 4);
    let (mut seen, mut steps) = (Vec::new(), Vec::new());
    let encode = |rows: &[usize], z: &mut [f32], logits: &mut [f32]| {
        assert!(rows.len() <= 3);
        seen.extend_from_slice(rows);
        encode(&keys, rows, z, logits);
        Ok(())
    };
    opened.fill(NonZeroUsize::new(3).unwrap(), encode, |done, total| steps.push((done, total))).unwrap();
    assert_eq!(seen, (0..50).collect::<Vec<_>>());
    assert_eq!((steps[0], steps[steps.len() - 1]), ((3, 50), (50, 50)));
    let encoded = opened.finish().unwrap();
    assert_exact(&encoded, &keys);
    assert_eq!((encoded.encoded(), encoded.is_empty()), (50, false));
    let again = run(&params, &keys).unwrap();
    assert_exact(&again, &keys);
    assert_eq!(again.encoded(), 0);

    let (mut z, mut logits) = (vec![1.0], vec![2.0]);
    again.gather(&[7, 0, 7], &mut z).unwrap();
    again.gather_logits(&[7, 0, 7], &mut logits).unwrap();
    assert_eq!(z, [again.z(7), again.z(0), again.z(7)].concat());
    assert_eq!(logits, [again.logits(7), again.logits(0), again.logits(7)].concat());
    let error = again.gather(&[50], &mut z).unwrap_err();
    assert_eq!(error.to_string(), "there is no row 50 among the 50 encoded ones");
    assert!(run(&params, &[]).unwrap().is_empty());
}

#[test]
fn only_what_is_new_is_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ids(0..30);
    let mut keys = keys(&ids);
    let params = params(folder.path());
    assert_eq!(run(&params, &keys[..20]).unwrap().encoded(), 20);
    // Ten more samples, another order, one sample twice.
    keys.reverse();
    keys.push(keys[0]);
    let encoded = run(&params, &keys).unwrap();
    assert_eq!(encoded.encoded(), 10);
    assert_exact(&encoded, &keys);
    // Another medium under the old id, and the old medium under another id, are new.
    keys[3].content = [1; 32];
    keys[4].id = "another";
    let encoded = run(&params, &keys).unwrap();
    assert_eq!(encoded.encoded(), 2);
    assert_exact(&encoded, &keys);
    // So is everything for another encoder; the first one's rows stay.
    let other = EncodedParams { encoder: EncoderFingerprint([8; 32]), ..params };
    assert_eq!(run(&other, &keys).unwrap().encoded(), 30);
    assert_eq!(run(&params, &keys).unwrap().encoded(), 0);
}

#[test]
fn what_is_not_finite_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ids(0..3);
    let keys = keys(&ids);
    let mut cache = EncodedCache::open(&params(folder.path()), &keys, &|| ()).unwrap();
    let (mut z, mut logits) = (vec![0.0; 2 * FEATURES], vec![0.0; 2 * CONCEPTS]);
    z[FEATURES + 1] = f32::NAN;
    let hint = "\nhint: look at the sample and at the encoder's weights; a lower learning rate may help";
    let error = cache.write(&[0, 2], &z, &logits).unwrap_err();
    assert_eq!(error.to_string(), format!("expected finite features of sample `sample 2`, got NaN at 1{hint}"));
    z[FEATURES + 1] = 0.0;
    logits[0] = f32::NEG_INFINITY;
    let error = cache.write(&[0, 2], &z, &logits).unwrap_err();
    assert_eq!(error.to_string(), format!("expected finite logits of sample `sample 0`, got -inf at 0{hint}"));
    logits[0] = 0.0;
    let error = cache.write(&[0, 2], &z[1..], &logits).unwrap_err();
    assert_eq!(error.to_string(), "expected 2 x 5 features, got 9");
    let error = cache.write(&[0, 3], &z, &logits).unwrap_err();
    assert_eq!(error.to_string(), "there is no row 3 among 3 samples");
    assert!(files(folder.path(), "encoded").is_empty());
    // What is right is written; what is missing is named.
    cache.write(&[0, 2], &z, &logits).unwrap();
    assert_eq!(cache.missing(), [1]);
    let error = cache.finish().unwrap_err();
    assert_eq!(error.to_string(), "expected 3 encoded samples, but 1 are missing, the first of them `sample 1`");
}

#[test]
fn an_error_of_the_encoder_loses_only_its_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ids(0..10);
    let keys = keys(&ids);
    let params = params(folder.path());
    let mut cache = EncodedCache::open(&params, &keys, &|| ()).unwrap();
    let failing = |rows: &[usize], z: &mut [f32], logits: &mut [f32]| {
        if rows.contains(&6) {
            return Err(Error::Input { message: "no".to_owned(), hint: None });
        }
        encode(&keys, rows, z, logits);
        Ok(())
    };
    assert_eq!(cache.fill(NonZeroUsize::MIN, failing, |_, _| ()).unwrap_err().to_string(), "no");
    drop(cache);
    let encoded = run(&params, &keys).unwrap();
    assert_eq!(encoded.encoded(), 6);
    assert_exact(&encoded, &keys);
}

#[test]
fn damage_anywhere_is_found_set_aside_and_mended() {
    let folder = tempfile::tempdir().unwrap();
    let ids = ids(0..6);
    let keys = keys(&ids);
    let params = EncodedParams { chunk_bytes: 3 * ROW_BYTES, ..params(folder.path()) };
    run(&params, &keys).unwrap();
    let chunk = files(folder.path(), "encoded").swap_remove(0);
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
        let encoded = run(&params, &keys).unwrap();
        assert_eq!((encoded.set_aside().len(), encoded.encoded()), (1, 3), "damage {number}");
        assert_exact(&encoded, &keys);
        assert_eq!(fs::read(&chunk).unwrap(), whole);
        fs::remove_file(&encoded.set_aside()[0]).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_complete_cache_can_be_read_only_and_an_incomplete_one_names_its_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let ids = ids(0..5);
    let keys = keys(&ids);
    let params = params(folder.path());
    run(&params, &keys).unwrap();
    let inner = files(folder.path(), "encoded")[0].parent().unwrap().to_owned();
    fs::remove_file(inner.join("lock")).unwrap();
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o555)).unwrap();
    assert_exact(&run(&params, &keys).unwrap(), &keys);
    assert!(!inner.join("lock").exists());
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
    // A folder that cannot be made: its place is taken by a file.
    let taken = folder.path().join("taken");
    fs::write(&taken, "").unwrap();
    let error = run(&EncodedParams { folder: &taken, ..params }, &keys).unwrap_err().to_string();
    assert!(error.contains(&taken.display().to_string()), "{error}");
}

/// The folder for a child process, and how many samples it encodes.
const CHILD: &str = "CHIMERA_TEST_ENCODED_CHILD";
const CHILD_SAMPLES: usize = 120;
/// Rows in one of its chunks: some 2 kB with their list.
const CHILD_ROWS: usize = 12;

/// Not a test of its own: what the children of the tests below do.
#[test]
#[ignore = "run by other tests in a child process"]
fn child_encodes() {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let folder = Path::new(&folder);
    let ids = ids(0..CHILD_SAMPLES);
    let keys = keys(&ids);
    let cache = folder.join("cache");
    let params = EncodedParams { chunk_bytes: CHILD_ROWS * ROW_BYTES, ..params(&cache) };
    let mut opened = EncodedCache::open(&params, &keys, &|| ()).unwrap();
    let slow = |rows: &[usize], z: &mut [f32], logits: &mut [f32]| {
        thread::sleep(Duration::from_millis(3));
        encode(&keys, rows, z, logits);
        Ok(())
    };
    if let Err(error) = opened.fill(NonZeroUsize::MIN, slow, |_, _| ()) {
        fs::write(folder.join("error"), error.to_string()).unwrap();
        return;
    }
    let encoded = opened.finish().unwrap();
    assert_exact(&encoded, &keys);
    fs::write(folder.join(format!("encoded-{}", std::process::id())), encoded.encoded().to_string()).unwrap();
}

/// What the test binary is told to run one test as a child.
fn child(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("encoded::{name}"), "--ignored"]).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn spawn(folder: &Path) -> Child {
    child("child_encodes").env(CHILD, folder).spawn().unwrap()
}

#[test]
fn a_killed_run_is_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let mut random = fastrand::Rng::with_seed(11);
    let (mut kills, mut progressed) = (0, 0);
    for round in 0..60 {
        let before = files(&cache, "encoded").len();
        let mut child = spawn(folder.path());
        thread::sleep(Duration::from_millis(random.u64(5..60 + 10 * round)));
        let finished = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let now = files(&cache, "encoded").len();
        assert!(now >= before, "a chunk was lost");
        progressed += usize::from(now > before);
        kills += usize::from(!finished);
        if finished {
            break;
        }
    }
    assert!(kills >= 2 && progressed >= 1, "{kills} kills, {progressed} runs that got on");
    let mut ids = ids(0..CHILD_SAMPLES);
    let resumed = run(&params(&cache), &keys(&ids)).unwrap();
    assert_exact(&resumed, &keys(&ids));
    assert!(resumed.set_aside().is_empty() && resumed.encoded() < CHILD_SAMPLES);
    // The last one to write removes what the killed ones left, if there is anything to write.
    ids.push("new".to_owned());
    run(&params(&cache), &keys(&ids)).unwrap();
    assert!(files(&cache, "tmp").is_empty());
}

#[test]
fn processes_share_a_folder_and_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..3).map(|_| spawn(folder.path())).collect();
    let names: Vec<String> = children.iter().map(|child| format!("encoded-{}", child.id())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let counts = names.iter().map(|name| fs::read_to_string(folder.path().join(name)).unwrap());
    assert_eq!(counts.map(|count| count.parse::<usize>().unwrap()).sum::<usize>(), CHILD_SAMPLES);
    let ids = ids(0..CHILD_SAMPLES);
    let encoded = run(&params(&folder.path().join("cache")), &keys(&ids)).unwrap();
    assert_eq!(encoded.encoded(), 0);
    assert_exact(&encoded, &keys(&ids));
}

/// A limit on the size of files stands for a full disk: the write fails in the middle of a chunk.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_chunk_and_names_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let mut shell = Command::new("sh");
    // A block is 512 bytes or 1 kB, less than a chunk and more than the child's report.
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" --exact encoded::child_encodes --ignored"]);
    shell.arg(std::env::current_exe().unwrap()).env(CHILD, folder.path());
    assert!(shell.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    let inner = files(&cache, "").into_iter().find(|path| path.ends_with("lock")).unwrap();
    let inner = inner.parent().unwrap().display().to_string();
    let error = fs::read_to_string(folder.path().join("error")).unwrap();
    assert!(error.starts_with(&format!("cannot write `{inner}`: ")), "{error}");
    assert!(files(&cache, "encoded").is_empty() && files(&cache, "tmp").is_empty());
    let ids = ids(0..CHILD_SAMPLES);
    assert_eq!(run(&params(&cache), &keys(&ids)).unwrap().encoded(), CHILD_SAMPLES);
}

/// Samples of the two runs whose memory is compared; a row has 4 kB.
const MEMORY: &str = "CHIMERA_TEST_ENCODED_MEMORY";

/// Not a test of its own: encodes and reads many samples and writes down the most anonymous memory it had.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by another test in a child process"]
fn child_streams() {
    fn anonymous() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
    #[expect(clippy::disallowed_methods, reason = "how a test tells its child what to do")]
    let Some(folder) = std::env::var_os(MEMORY) else { return };
    let folder = Path::new(&folder);
    let count: usize = folder.file_name().unwrap().to_str().unwrap().parse().unwrap();
    let ids = ids(0..count);
    let keys = keys(&ids);
    let params = EncodedParams {
        features: NonZeroUsize::new(1000).unwrap(),
        concepts: 24,
        chunk_bytes: CHUNK_BYTES,
        ..params(folder)
    };
    let mut most = 0;
    let mut cache = EncodedCache::open(&params, &keys, &|| ()).unwrap();
    let constant = |rows: &[usize], z: &mut [f32], logits: &mut [f32]| {
        z.chunks_exact_mut(1000).zip(rows).for_each(|(z, &row)| z.fill(row as f32));
        logits.fill(0.0);
        Ok(())
    };
    cache.fill(NonZeroUsize::new(64).unwrap(), constant, |_, _| most = most.max(anonymous())).unwrap();
    let encoded = cache.finish().unwrap();
    for row in 0..count {
        assert_eq!(encoded.z(row)[row % 1000], row as f32);
    }
    fs::write(folder.join("most"), most.max(anonymous()).to_string()).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let most = |count: usize| {
        let folder = folder.path().join(count.to_string());
        fs::create_dir(&folder).unwrap();
        assert!(child("child_streams").env(MEMORY, &folder).status().unwrap().success());
        fs::read_to_string(folder.join("most")).unwrap().parse::<u64>().unwrap()
    };
    let (few, many) = (most(5_000), most(25_000));
    // Twenty thousand samples more are 82 MB of numbers; their ids, keys and places are a few.
    assert!(many < few + 16_000, "{few} kB for 5,000 samples, {many} kB for 25,000");
}

//! One bit that a disk turned over in a cached file: it is noticed wherever it is, what the file held is made anew, and no
//! number that is read, and no model that is trained, is another one.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use chimera_data::dataset::Dataset;
use chimera_leaf::bank::{LeafBank, LeafBankConfig};
use chimera_leaf::config::{EncoderChoice, LeafConfig, Weights};
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::encoded::{CHUNK_BYTES, EncodedParams, EncoderFingerprint, Kept, RowKey};
use chimera_leaf::encoder::Batch;
use chimera_leaf::samples::{Opening, Samples};
use chimera_leaf::stage::{Cached, LeafStage, StageEvent};
use chimera_leaf::vectors::{Seen, Vectors, View};

use crate::support::squares::{bytes, run_with, small, squares};
use tempfile::TempDir;

/// Pictures of the dataset: two in each file of frames.
const PICTURES: usize = 24;

/// The end of a cached file: the length of its list of rows, the checksum of the list, and a mark.
const TRAILER: usize = 48;

/// Bits that are turned over in each of the three parts of a file: its rows, their list, and its end.
const FLIPS: usize = 24;

/// A folder in memory where the system has one: thousands of files are made, and the disk would be waited for at each.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn threads() -> NonZeroUsize {
    NonZeroUsize::new(2).unwrap()
}

/// Files of a cache by their paths in it, but for locks.
fn files(cache: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for folder in fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path()) {
        for path in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if !path.ends_with("lock") {
                found.insert(path.strip_prefix(cache).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// The rows of a file, their list, and its end.
fn parts(file: &[u8]) -> [Range<usize>; 3] {
    let list = file.windows(8).position(|window| window == b"chimera ").unwrap();
    let end = file.len() - TRAILER;
    [0..list, list..end, end..file.len()]
}

/// Bytes and bits to turn over: the same number in each part of a file, evenly spread.
fn flips(file: &[u8]) -> Vec<(usize, u8)> {
    let mut random = fastrand::Rng::with_seed(file.len() as u64);
    let even = |part: Range<usize>| (0..FLIPS).map(move |number| part.start + number * part.len() / FLIPS);
    parts(file).into_iter().flat_map(even).map(|at| (at, random.u8(..8))).collect()
}

/// Makes a cache folder anew, with these files alone. Mapped files are never written to: these are new.
fn restore(cache: &Path, files: &BTreeMap<PathBuf, Vec<u8>>) {
    fs::remove_dir_all(cache).unwrap();
    for (path, content) in files {
        fs::create_dir_all(cache.join(path).parent().unwrap()).unwrap();
        fs::write(cache.join(path), content).unwrap();
    }
}

/// The same with one bit of one file turned over. Gives back what is in that file.
fn damage(cache: &Path, files: &BTreeMap<PathBuf, Vec<u8>>, path: &Path, (at, bit): (usize, u8)) -> Vec<u8> {
    restore(cache, files);
    let mut content = files[path].clone();
    content[at] ^= 1 << bit;
    fs::write(cache.join(path), &content).unwrap();
    content
}

/// Turns bits over in every file of a cache, one at a time, and lets `read` read it. It gives back what was set aside.
fn at_every_flip(cache: &Path, read: &mut dyn FnMut(&str) -> Vec<PathBuf>) {
    let whole = files(cache);
    assert!(!whole.is_empty());
    for (path, content) in &whole {
        for (at, bit) in flips(content) {
            let damaged = damage(cache, &whole, path, (at, bit));
            let place = format!("bit {bit} of byte {at} of {} in {}", content.len(), path.display());
            let set_aside = read(&place);
            assert_eq!(set_aside.len(), 1, "{place}: not noticed");
            assert!(fs::read(&set_aside[0]).unwrap() == damaged, "{place}: not kept aside");
        }
    }
    restore(cache, &whole);
}

/// Turns one bit over in each part of some files of a folder's cache, and lets `train` train with it.
fn at_some_flips(folder: &Path, cached: &str, train: &mut dyn FnMut(&str)) {
    let cache = folder.join("cache").join(cached);
    let whole = files(&cache);
    for (number, (path, content)) in whole.iter().step_by(whole.len().div_ceil(3)).enumerate() {
        for part in parts(content) {
            let place = (part.start + (number + 1) * part.len() / 4, 6);
            damage(&cache, &whole, path, place);
            let _ = fs::remove_file(folder.join("checkpoint.safetensors"));
            let _ = fs::remove_dir_all(folder.join("cache/encoded"));
            train(&format!("{cached}: bit {} of byte {} of {}", place.1, place.0, path.display()));
        }
    }
}

/// Trains, and says of what damaged files were set aside.
fn train(dataset: &Dataset, config: &LeafConfig, folder: &Path) -> (LeafStage, Vec<Cached>) {
    let set_aside = Mutex::new(Vec::new());
    let stage = run_with(dataset, config, folder, 2, &|event| {
        if let StageEvent::SetAside { content, files } = event {
            assert_eq!(files.len(), 1);
            set_aside.lock().unwrap().push(content);
        }
    });
    (stage.unwrap(), set_aside.into_inner().unwrap())
}

fn open<'a>(dataset: &'a Dataset, bank: &LeafBank, frames: &Path) -> Samples<'a> {
    let opening = Opening { cache: frames, threads: threads(), strict: true };
    Samples::open(dataset, &bank.config().encoder, opening, &|_| {}).unwrap()
}

fn bits(numbers: impl IntoIterator<Item = f32>) -> Vec<u32> {
    numbers.into_iter().map(f32::to_bits).collect()
}

/// The numbers of all frames as the encoder takes them.
fn seen(samples: &Samples<'_>, bank: &LeafBank) -> Vec<u32> {
    let rows: Vec<usize> = (0..PICTURES).collect();
    match samples.batch(&rows, None, &bank.tensors()).unwrap() {
        Batch::Frames(frames) => bits(frames.into_data().iter::<f32>()),
        _ => panic!("expected frames"),
    }
}

/// z and logits of all samples.
fn numbers(encoded: &EncodedRows) -> Vec<u32> {
    let rows = (0..PICTURES).flat_map(|row| [encoded.z(row).unwrap(), encoded.logits_of(row).unwrap()]);
    bits(rows.flatten().copied())
}

fn encode(samples: &Samples<'_>, bank: &LeafBank, folder: &Path) -> EncodedRows {
    EncodedRows::make(bank, View { samples, vectors: None }, folder, threads(), &|_| {}).unwrap()
}

#[test]
fn in_frames_they_change_no_z_and_no_model() {
    let folder = folder();
    let dataset = squares(&folder.path().join("ds"), PICTURES, false);
    let config = LeafConfig { epochs: 2, ..small() };
    let (whole, set_aside) = train(&dataset, &config, folder.path());
    assert!(set_aside.is_empty());
    let (bank, frames) = (&whole.trained.bank, folder.path().join("cache/frames"));
    let encoded = files(&folder.path().join("cache/encoded"));
    let expected = seen(&open(&dataset, bank, &frames), bank);
    assert_eq!(files(&frames).len(), 12);
    let mut number = 0;
    at_every_flip(&frames, &mut |place| {
        let samples = open(&dataset, bank, &frames);
        assert!(seen(&samples, bank) == expected, "{place}: other frames");
        // What is kept of them, in a cache that has nothing yet. z of the same frames are the same, so not each time.
        if number % 8 == 0 {
            let again = folder.path().join("again");
            encode(&samples, bank, &again);
            assert!(files(&again) == encoded, "{place}: other z");
            fs::remove_dir_all(&again).unwrap();
        }
        number += 1;
        samples.set_aside().to_vec()
    });
    at_some_flips(folder.path(), "frames", &mut |place| {
        let (stage, set_aside) = train(&dataset, &config, folder.path());
        assert_eq!(set_aside, [Cached::Frames], "{place}");
        assert!(bytes(&stage) == bytes(&whole) && stage.calibration == whole.calibration, "{place}: another model");
        assert!(files(&folder.path().join("cache/encoded")) == encoded, "{place}: other z");
    });
}

#[test]
fn in_z_and_logits_they_change_nothing_that_is_read() {
    let folder = folder();
    let dataset = squares(&folder.path().join("ds"), PICTURES, false);
    let (whole, _) = train(&dataset, &LeafConfig { epochs: 1, ..small() }, folder.path());
    let (bank, cache) = (&whole.trained.bank, folder.path().join("cache/encoded"));
    let samples = open(&dataset, bank, &folder.path().join("cache/frames"));
    let expected = numbers(&whole.encoded);
    let encoder = EncoderFingerprint::of(&bank.bank_fingerprint().unwrap(), &bank.tensors());
    let features = NonZeroUsize::new(bank.config().encoder.features()).unwrap();
    let params =
        EncodedParams { folder: &cache, encoder, features, concepts: 2, threads: threads(), chunk_bytes: CHUNK_BYTES };
    let ids = &dataset.table().ids;
    let key = |row: usize| RowKey { id: &ids[row], content: samples.content_hash(row).unwrap() };
    // As `score` looks into the cache: what it finds is right, and it writes nothing.
    let found = |place: &str| -> usize {
        let (kept, before) = (Kept::open(&params), files(&cache));
        let mut found = 0;
        for row in 0..PICTURES {
            let Some((z, logits)) = kept.find(&key(row)) else { continue };
            let of_row = [whole.encoded.z(row).unwrap(), whole.encoded.logits_of(row).unwrap()].concat();
            assert_eq!(bits([z, logits].concat()), bits(of_row), "{place}: other numbers of row {row}");
            found += 1;
        }
        assert!(files(&cache) == before, "{place}: the cache was changed");
        found
    };
    assert_eq!(found("nowhere"), PICTURES);
    let kept = files(&cache);
    at_every_flip(&cache, &mut |place| {
        assert_eq!(found(place), 0, "{place}: damage was read");
        let encoded = encode(&samples, bank, &cache);
        assert!(numbers(&encoded) == expected, "{place}: other numbers");
        assert_eq!(encoded.encoded(), PICTURES);
        let mut now = files(&cache);
        encoded.set_aside().iter().for_each(|path| _ = now.remove(path.strip_prefix(&cache).unwrap()));
        assert!(now == kept, "{place}: other files");
        encoded.set_aside().to_vec()
    });
}

#[test]
fn in_vectors_of_a_frozen_network_they_change_no_model() {
    let folder = folder();
    let dataset = squares(&folder.path().join("ds"), PICTURES, false);
    let untrained = LeafConfig {
        encoder: Some(EncoderChoice::MobilenetV2),
        weights: Some(Weights::Untrained),
        size: Some(32),
        features: 8,
        epochs: 2,
        batch: 8,
        ..small()
    };
    let bank = LeafBankConfig {
        encoder: untrained.encoder_for(&dataset).unwrap(),
        concepts: dataset.table().concepts.clone(),
    };
    let bank = bank.init(77, &DeviceChoice::Cpu.open().unwrap()).unwrap();
    let weights = folder.path().join("weights.safetensors");
    fs::write(&weights, bank.encoder_bytes().unwrap()).unwrap();
    let config = LeafConfig { freeze: true, weights: Some(Weights::File(weights)), ..untrained };
    let (whole, _) = train(&dataset, &config, folder.path());
    let encoded = files(&folder.path().join("cache/encoded"));

    let (samples, cache) =
        (open(&dataset, &bank, &folder.path().join("cache/frames")), folder.path().join("cache/vectors"));
    let rows: Vec<usize> = (0..PICTURES).collect();
    let read = || {
        let vectors = Vectors::make(&bank, &samples, &cache, threads(), &|_| {}).unwrap();
        let seen = View { samples: &samples, vectors: Some(&vectors) }.seen(&rows, None, &bank.tensors()).unwrap();
        let Seen::Vectors(numbers) = seen else { panic!("expected vectors") };
        (bits(numbers.into_data().iter::<f32>()), vectors.computed(), vectors.set_aside().to_vec())
    };
    // The network that was trained on is this one.
    let (expected, computed, _) = read();
    assert_eq!((expected.len(), computed), (PICTURES * 1280, 0));
    at_every_flip(&cache, &mut |place| {
        let (numbers, computed, set_aside) = read();
        assert!(numbers == expected, "{place}: other vectors");
        assert_eq!(computed, PICTURES, "{place}");
        set_aside
    });
    at_some_flips(folder.path(), "vectors", &mut |place| {
        let (stage, set_aside) = train(&dataset, &config, folder.path());
        assert_eq!(set_aside, [Cached::Vectors], "{place}");
        assert!(bytes(&stage) == bytes(&whole) && stage.calibration == whole.calibration, "{place}: another model");
        assert!(files(&folder.path().join("cache/encoded")) == encoded, "{place}: other z");
    });
}

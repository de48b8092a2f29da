//! Samples that are encoded without being kept: the bits that training's way gives, in any company, from media, from given
//! features and from the cache; and an end where it is asked for.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chimera_data::dataset::manifest::Kind;
use chimera_data::import::loose::Loose;
use chimera_leaf::bank::LeafBank;
use chimera_leaf::config::LeafConfig;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stream::{Part, Sources, Stream};

use crate::support::squares::{run_on, small, squares};

/// All that a stream gives, in one.
fn streamed(bank: &LeafBank, sources: Sources<'_>, cache: Option<&Path>, threads: usize) -> Part {
    let stream = Stream::open(bank, sources, cache, NonZeroUsize::new(threads).unwrap()).unwrap();
    let mut all = Part::default();
    let go_on = AtomicBool::new(false);
    stream
        .run(&go_on, &mut |part| {
            assert!(part.samples.len() <= 64, "batches are bounded");
            all.samples.extend(part.samples);
            all.z.extend(part.z);
            all.logits.extend(part.logits);
            all.left_out.extend(part.left_out);
            all.kept += part.kept;
            Ok(())
        })
        .unwrap();
    all
}

fn assert_same_bits(part: &Part, encoded: &EncodedRows, rows: &[usize]) {
    let bits = |numbers: &[f32]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    let z: Vec<f32> = rows.iter().flat_map(|&row| encoded.z(row).unwrap()).copied().collect();
    assert_eq!(bits(&part.z), bits(&z));
    assert_eq!(bits(&part.logits), bits(&encoded.logits(rows).unwrap()));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.sort();
    found
}

#[test]
fn pictures_have_the_bits_that_training_gave_them() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 150, false);
    let stage = run_on(&dataset, &LeafConfig { epochs: 1, ..small() }, folder.path(), 2, None).unwrap();
    let bank = &stage.trained.bank;
    let cache = folder.path().join("cache/encoded");
    let before = files(&folder.path().join("cache"));
    // Backwards, so that company differs from training's.
    let rows: Vec<usize> = (0..150).rev().collect();
    let sources = Sources::Rows { dataset: &dataset, rows: &rows };
    for threads in [1, 2, 3] {
        let new = streamed(bank, sources, None, threads);
        assert_eq!((new.samples.len(), new.kept), (150, 0));
        assert_same_bits(&new, &stage.encoded, &rows);
        let kept = streamed(bank, sources, Some(&cache), threads);
        assert_eq!((kept.samples, kept.kept), ((0..150).collect(), 150));
        assert_eq!((&kept.z, &kept.logits), (&new.z, &new.logits));
    }
    // A picture that changed is not what the cache holds of it, and one that is gone is named.
    fs::copy(folder.path().join("ds/media/1.png"), folder.path().join("ds/media/0.png")).unwrap();
    fs::remove_file(folder.path().join("ds/media/7.png")).unwrap();
    let some = [7, 0, 1];
    let part = streamed(bank, Sources::Rows { dataset: &dataset, rows: &some }, Some(&cache), 2);
    assert_eq!((part.samples.as_slice(), part.kept), ([1, 2].as_slice(), 1));
    assert_same_bits(&part, &stage.encoded, &[1, 1]);
    assert_eq!((part.left_out[0].row, part.left_out[0].reason.as_str()), (0, "no such file or folder"));
    // Loose pictures are the same pictures.
    let paths = [3, 10, 2].map(|row| folder.path().join(format!("ds/media/{row}.png")));
    let loose = Loose::of(&paths, Kind::Image).unwrap();
    // In the order in which they were named.
    assert_same_bits(&streamed(bank, Sources::Loose(&loose), None, 2), &stage.encoded, &[3, 10, 2]);
    assert_eq!(files(&folder.path().join("cache")), before, "nothing is written");
}

#[test]
fn a_stream_ends_where_it_is_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = squares(&folder.path().join("ds"), 200, false);
    let stage = run_on(&dataset, &LeafConfig { epochs: 1, ..small() }, folder.path(), 2, None).unwrap();
    let rows: Vec<usize> = (0..200).collect();
    for threads in [1, 2] {
        let sources = Sources::Rows { dataset: &dataset, rows: &rows };
        let stream = Stream::open(&stage.trained.bank, sources, None, NonZeroUsize::new(threads).unwrap()).unwrap();
        let (stop, mut samples) = (AtomicBool::new(false), Vec::new());
        stream
            .run(&stop, &mut |part| {
                samples.extend(part.samples);
                stop.store(true, Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
        // The first batch, and what of the next was read by then: whatever it is, it has no holes.
        assert!(samples.len() >= 64 && samples.len() <= 128, "{}", samples.len());
        assert_eq!(samples, (0..samples.len()).collect::<Vec<_>>());
        let (mut count, already) = (0, AtomicBool::new(true));
        let mut add = |part: Part| {
            count += part.samples.len();
            Ok(())
        };
        stream.run(&already, &mut add).unwrap();
        assert_eq!(count, 0);
        // What the taker refuses ends it, too.
        let go_on = AtomicBool::new(false);
        let refuse = &mut |_| Err(Loose::of(&["/no/such".into()], Kind::Image).unwrap_err());
        assert!(stream.run(&go_on, refuse).unwrap_err().to_string().contains("/no/such"));
    }
}

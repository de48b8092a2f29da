//! Dataset folders: what is written comes back, what is wrong is named, and nothing half-made reads as one.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::draft::{DatasetWriter, Draft};
use chimera_data::dataset::manifest::{Kind, Manifest};
use chimera_data::dataset::media::Preparing;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use chimera_data::split::Split;
use chimera_data::table::LabelTable;
use tempfile::TempDir;

const SAMPLES: &str = "id,media,split,group,oov_ancestors,red,blue sphere\n\
    a,x/a.png,train,g1,Vehicle|Car,1,0\nb,b.png,train,g1,,,1\nc,,calibration,,,0,0\nd,d.png,test,g2,,1,\ne,d.png,oracle,,,0,1\n";

fn table(folder: &Path, text: &str) -> LabelTable {
    let path = folder.join("source.csv");
    fs::write(&path, text).unwrap();
    LabelTable::read(&path).unwrap()
}

/// A folder made by hand.
fn by_hand(manifest: &str, samples: &str) -> (TempDir, Result<Dataset, String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dataset.toml"), manifest).unwrap();
    fs::write(folder.path().join("samples.csv"), samples).unwrap();
    let opened = Dataset::open(folder.path()).map_err(|error| error.to_string());
    (folder, opened)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const LABELS: &str = "name = 'small'\nkind = 'labels'\n";

#[test]
fn what_is_written_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path(), SAMPLES);
    let mut manifest = Manifest::new("small", Kind::Image);
    manifest.media_root = Some("media".to_owned());
    let out = folder.path().join("ds");
    let written = Dataset::write(&out, Draft { manifest, table: table.clone(), features: None }).unwrap();
    assert_eq!(names(&out), ["dataset.toml", "samples.parquet"]);
    assert_eq!(names(folder.path()), ["ds", "source.csv"]);
    let opened = Dataset::open(&out).unwrap();
    for dataset in [&written, &opened] {
        assert_eq!(dataset.table().path, out.join("samples.parquet"));
        assert_eq!(dataset.table().ids, table.ids);
        assert_eq!(dataset.table().labels, table.labels);
        assert_eq!(dataset.table().concepts, table.concepts);
        assert_eq!(dataset.table().media, table.media);
        assert_eq!(dataset.table().groups, table.groups);
        assert_eq!(dataset.table().oov_ancestors, table.oov_ancestors);
        assert_eq!(dataset.splits(), [Split::Train, Split::Train, Split::Calibration, Split::Test, Split::Oracle]);
        assert_eq!(dataset.train().unwrap().numbers(), [0, 1]);
        assert_eq!(dataset.test().numbers(), [3]);
        assert_eq!(dataset.oracle().numbers(), [4]);
        let halves = [dataset.fit_half().len(), dataset.threshold_half().len()];
        assert_eq!(halves.iter().sum::<usize>(), 1);
        assert_eq!(dataset.media_path(0).unwrap(), out.join("media/x/a.png"));
        assert_eq!(dataset.media_path(2), None);
        assert_eq!(dataset.features().unwrap(), None);
    }
    assert_eq!(written.manifest(), opened.manifest());
    assert_eq!(written.fingerprints().unwrap(), opened.fingerprints().unwrap());
    // The same draft gives the same bytes.
    let again = folder.path().join("again");
    let draft = Draft { manifest: written.manifest().clone(), table, features: None };
    Dataset::write(&again, draft).unwrap();
    for name in names(&out) {
        assert_eq!(fs::read(out.join(&name)).unwrap(), fs::read(again.join(&name)).unwrap(), "{name}");
    }
}

/// Rows of one group share a half of calibration, those of one picture share a split, and the order of the table matters
/// to nothing.
#[test]
fn what_belongs_together_stays_together() {
    let row = |row: usize| format!("s{row:03},p{}.png,g{},{}\n", row % 97, row / 4, row % 2);
    let rows: Vec<String> = (0..400).map(row).collect();
    let manifest = "name = 'small'\nkind = 'image'\nmedia-root = '.'\n";
    let read = |rows: &[String]| by_hand(manifest, &format!("id,media,group,red\n{}", rows.concat())).1;
    let (no_groups, alone) = by_hand(
        manifest,
        &format!("id,media,red\n{}", {
            (0..400).map(|row| format!("s{row:03},p{}.png,{}\n", row % 97, row % 2)).collect::<String>()
        }),
    );
    drop(no_groups);
    let alone = alone.unwrap();
    for row in 97..400 {
        assert_eq!(alone.splits()[row], alone.splits()[row % 97], "rows of one picture");
    }
    assert!(alone.splits().contains(&Split::Calibration));
    // Every group shares a picture with another, so that all hang together and nothing can be carved.
    assert!(!read(&rows).unwrap().splits().contains(&Split::Calibration));

    let grouped: Vec<String> = (0..400).map(|row| format!("s{row:03},p{row}.png,g{},{}\n", row / 4, row % 2)).collect();
    let dataset = read(&grouped).unwrap();
    let (fit, thresholds) = (dataset.fit_half(), dataset.threshold_half());
    assert!(!fit.is_empty() && !thresholds.is_empty());
    let groups = |numbers: &[usize]| numbers.iter().map(|row| row / 4).collect::<std::collections::BTreeSet<_>>();
    assert!(groups(fit.numbers()).is_disjoint(&groups(thresholds.numbers())));
    let mut backward = grouped.clone();
    backward.reverse();
    let reversed = read(&backward).unwrap();
    let train = |dataset: &Dataset| -> Vec<String> {
        dataset.train().unwrap().numbers().iter().map(|&row| dataset.table().ids[row].to_owned()).collect()
    };
    assert_eq!(train(&dataset), train(&reversed));
    let prints = |dataset: &Dataset| dataset.row_fingerprint(&dataset.train().unwrap());
    assert_eq!(prints(&dataset), prints(&reversed));
}

/// Rows without a medium that can be decoded are left out and listed; the others have their frames.
#[test]
fn frames_are_prepared_for_the_rows_that_have_some() {
    let (folder, _) = by_hand(
        "name = 'x'\nkind = 'image'\nmedia-root = '.'\n",
        "id,media,red\na,a.png,1\nb,,0\nc,c.png,1\nd,d.png,0\n",
    );
    for (name, red) in [("a.png", 200), ("d.png", 90)] {
        let picture = Picture::filled(Size::new(8, 8).unwrap(), [red, 0, 0]);
        write_png(&folder.path().join(name), &picture).unwrap();
    }
    fs::write(folder.path().join("c.png"), "no picture").unwrap();
    let dataset = Dataset::open(folder.path()).unwrap();
    let cache = folder.path().join("cache");
    let preparing = Preparing {
        cache: &cache,
        shape: FrameShape::new(1, 4, 4).unwrap(),
        threads: NonZeroUsize::MIN,
        strict: false,
    };
    for decoded in [2, 0] {
        let prepared = dataset.prepare(&[3, 2, 1, 0], preparing, &|_| {}).unwrap();
        assert_eq!((prepared.rows.as_slice(), prepared.decoded), (&[3, 0][..], decoded));
        assert_eq!((prepared.frames(0)[0], prepared.frames(1)[0], prepared.frames(1).len()), (90, 200, 48));
        let left: Vec<(usize, &str)> = prepared.left_out.iter().map(|left| (left.row, left.reason.as_str())).collect();
        assert_eq!(left, [(1, "it has no medium"), (2, "no image format is recognised")]);
    }
    let strict = |rows: &[usize]| dataset.prepare(rows, Preparing { strict: true, ..preparing }, &|_| {});
    assert!(strict(&[1]).unwrap_err().to_string().contains("expected a medium for sample `b`"));
    assert!(strict(&[2]).unwrap_err().to_string().contains("c.png"));
    assert!(strict(&[0, 3]).is_ok());
}

#[test]
fn a_folder_with_files_is_refused_and_an_empty_one_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let draft =
        Draft { manifest: Manifest::new("x", Kind::Labels), table: table(folder.path(), SAMPLES), features: None };
    let out = folder.path().join("ds");
    fs::create_dir(&out).unwrap();
    Dataset::write(&out, draft.clone()).unwrap();
    let before = fs::read(out.join("samples.parquet")).unwrap();
    let error = Dataset::write(&out, draft.clone()).unwrap_err().to_string();
    assert!(error.starts_with("expected an empty or new folder, got `"), "{error}");
    assert_eq!(fs::read(out.join("samples.parquet")).unwrap(), before);
    let missing = Dataset::write(&folder.path().join("no/such/ds"), draft.clone()).unwrap_err().to_string();
    assert!(missing.contains("no such file or folder") && missing.contains("create it first"), "{missing}");
    let file = Dataset::write(&folder.path().join("source.csv"), draft.clone()).unwrap_err().to_string();
    assert!(file.starts_with("cannot write `"), "{file}");
    let below = Dataset::write(&folder.path().join("source.csv/ds"), draft).unwrap_err().to_string();
    assert!(below.starts_with("cannot write `"), "{below}");
    assert_eq!(names(folder.path()), ["ds", "source.csv"]);
}

#[cfg(unix)]
#[test]
fn a_new_folder_is_as_public_as_any() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let draft =
        Draft { manifest: Manifest::new("x", Kind::Labels), table: table(folder.path(), SAMPLES), features: None };
    Dataset::write(&folder.path().join("ds"), draft).unwrap();
    fs::create_dir(folder.path().join("plain")).unwrap();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("ds"), mode("plain"));
}

#[test]
fn what_is_not_finished_is_no_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("ds");
    let writer = DatasetWriter::create(&out).unwrap();
    fs::write(writer.path().join("picture.png"), "x").unwrap();
    assert!(!out.exists());
    assert!(Dataset::open(writer.path()).unwrap_err().to_string().starts_with("expected a dataset folder"));
    drop(writer);
    assert!(names(folder.path()).is_empty());
    // A draft that makes no dataset leaves nothing either.
    let mut table = table(folder.path(), SAMPLES);
    table.concepts[0] = "split".to_owned();
    let draft = Draft { manifest: Manifest::new("x", Kind::Labels), table, features: None };
    let error = Dataset::write(&out, draft).unwrap_err().to_string();
    assert!(error.contains("a name that is not reserved"), "{error}");
    assert_eq!(names(folder.path()), ["source.csv"]);
}

#[test]
fn folders_made_by_hand_are_read_and_calibration_is_carved() {
    let rows: String = (0..50).map(|row| format!("s{row},{}\n", row % 2)).collect();
    let (_folder, opened) = by_hand(LABELS, &format!("id,red\n{rows}"));
    let dataset = opened.unwrap();
    let sizes = |split: Split| dataset.splits().iter().filter(|other| **other == split).count();
    assert_eq!(Split::ALL.map(sizes), [45, 5, 0, 0]);
    let mut train = dataset.train().unwrap().numbers().to_vec();
    train.sort_unstable();
    assert_eq!(dataset.table().training_rows(), train);
    // The other order of rows carves the same samples and has the same fingerprints.
    let mut lines: Vec<String> = rows.lines().map(str::to_owned).collect();
    lines.reverse();
    let (_other, again) = by_hand(LABELS, &format!("id,red\n{}", lines.join("\n")));
    let again = again.unwrap();
    assert_eq!(again.fingerprints().unwrap(), dataset.fingerprints().unwrap());
    let (train, train_again) = (dataset.train().unwrap(), again.train().unwrap());
    assert_eq!(dataset.row_fingerprint(&train), again.row_fingerprint(&train_again));
    assert_eq!(dataset.label_fingerprint(0, &train), again.label_fingerprint(0, &train_again));
    assert_ne!(dataset.row_fingerprint(&train), dataset.row_fingerprint(&train.filtered(|row| row > 0)));
    // One label changes the labels and nothing else.
    let (_third, changed) = by_hand(LABELS, &format!("id,red\n{}", rows.replace("s7,1", "s7,")));
    let (changed, prints) = (changed.unwrap().fingerprints().unwrap(), dataset.fingerprints().unwrap());
    assert_eq!((changed.rows, changed.media), (prints.rows, prints.media));
    assert_ne!(changed.labels, prints.labels);
}

#[test]
fn what_is_wrong_with_a_folder_is_named() {
    let message = |manifest: &str, samples: &str| by_hand(manifest, samples).1.unwrap_err();
    let images = "name = 'x'\nkind = 'image'\nmedia-root = '.'\n";
    for (manifest, samples, expected) in [
        (LABELS, "id,split,red\na,val,1\n", "line 2: expected train, calibration, test or oracle, got the split `val`"),
        (LABELS, "id,split,red\na,,1\n", "got the split ``"),
        (
            LABELS,
            "id,split,group,red\na,train,g,1\nb,test,g,1\n",
            "line 3: expected group `g` in one split, got `test` here and `train` on line 2",
        ),
        (LABELS, "id,red\na,yes\n", "expected 0, 1, true, false or an empty cell, got `yes`"),
        (LABELS, "id,red\na,1\na,1\n", "expected a new id, got `a` again"),
        (images, "id,red\na,1\n", "expected a column `media` in a dataset of kind `image`"),
        ("name = 'x'\nkind = 'video'\n", "id,media,red\na,a.mp4,1\n", "expected a media root"),
        (images, "id,media,red\na,../a.png,1\n", "line 2: expected a path inside the media root, got `../a.png`"),
        (images, "id,media,red\na,/etc/passwd,1\n", "line 2: expected a path inside the media root"),
        ("name = 'x'\nkind = 'features'\n", "id,red\na,1\n", "expected `features.safetensors`"),
        ("name = 'x'\nknd = 'labels'\n", "id,red\na,1\n", "hint: did you mean `kind`?"),
        ("name = 'x'\nkind = 'labels'\nlayout = 2\n", "id,red\na,1\n", "a newer Chimera wrote this folder"),
    ] {
        let got = message(manifest, samples);
        assert!(got.contains(expected), "{got}");
    }
    let (folder, dataset) = by_hand(LABELS, "id,split,red\na,test,1\n");
    assert!(dataset.unwrap().train().unwrap_err().to_string().starts_with("expected train rows"));
    fs::write(folder.path().join("samples.parquet"), "x").unwrap();
    assert!(Dataset::open(folder.path()).unwrap_err().to_string().contains("got both"));
    let empty = tempfile::tempdir().unwrap();
    assert!(
        Dataset::open(empty.path())
            .unwrap_err()
            .to_string()
            .starts_with("expected a dataset folder with `dataset.toml`")
    );
    assert!(Dataset::open(&empty.path().join("no")).unwrap_err().to_string().contains("no such file or folder"));
}

//! Import of Open Images: the real files against counts made by pandas and by a plain walk over their hierarchy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chimera_data::dataset::hierarchy::Hierarchy;
use chimera_data::import::{OpenImagesImport, import_openimages};
use chimera_data::split::Split;

use crate::support::import_place::{Place, told};

/// The files of Open Images that are at hand; tests say that they skip without.
fn real() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where real files lie is said by the environment")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|folder| Path::new(&folder).join("openimages"));
    let folder = folder.filter(|folder| folder.join("validation-annotations-bbox.csv").exists());
    if folder.is_none() {
        println!("skipped: no Open Images files under CHIMERA_DATA");
    }
    folder
}

/// Counts by pandas, from validation-annotations-bbox.csv as `b`:
///
///     len(b), b.ImageID.nunique()                                                    905, 239
///     b.drop_duplicates(["ImageID", "LabelName"]).LabelName.value_counts()           as below, of all pictures
#[test]
fn real_boxes_have_the_counts_of_pandas() {
    let Some(folder) = real() else { return };
    let place = Place::new();
    let real = OpenImagesImport { folder: Some(folder), strict: true, ..OpenImagesImport::default() };
    let imported = import_openimages(&real, &place.path("ds")).unwrap();
    let table = imported.dataset.table();
    assert_eq!(table.ids.len(), 239);
    let count = |column: usize| (table.concepts[column].as_str(), table.labels.counts(column).holds);
    let counts: BTreeMap<&str, u64> = (0..table.concepts.len()).map(count).collect();
    let expected = BTreeMap::from([("Person", 88), ("Boat", 56), ("Apple", 45), ("Bicycle", 45), ("Bird", 40)]);
    assert_eq!(counts, expected, "none of the five is above another, so closure adds nothing");
    let notes = told(&imported.notes);
    // 240 photos lie there: [f[:-4] for f in os.listdir("validation") if f[:-4] not in set(b.ImageID)] has one.
    assert!(notes.contains("1 picture without a box that can be used is no sample"), "{notes}");
    assert!(notes.contains("190 classes stand at several places of the hierarchy"), "{notes}");
    assert!(notes.contains("train pictures show 5 classes, which all became concepts"), "{notes}");
    let test = imported.dataset.splits().iter().filter(|split| **split == Split::Test).count();
    assert_eq!(test, 24, "a tenth of 239");
    assert!(table.oov_ancestors.as_ref().unwrap().iter().all(Vec::is_empty), "no class of the file is above another");
}

/// Counts by a plain walk over the JSON in Python: 601 names and the nameless root; 647 different pairs of a class and its
/// `Subcategory`, 38 of one and its `Part`, 1,521 pairs of a class and one above it by `Subcategory` alone.
#[test]
fn every_class_of_the_real_hierarchy_reaches_the_root() {
    let Some(folder) = real() else { return };
    let place = Place::new();
    let real = OpenImagesImport { folder: Some(folder), ..OpenImagesImport::default() };
    import_openimages(&real, &place.path("ds")).unwrap();
    let hierarchy = Hierarchy::read(&place.path("ds")).unwrap();
    let (classes, ancestors) = (hierarchy.classes(), hierarchy.ancestors());
    let root = hierarchy.number("/m/0bl9f").unwrap();
    assert_eq!(classes.len(), 602);
    assert!((0..classes.len()).all(|class| class == root || ancestors[class].contains(&root)));
    assert_eq!(classes.iter().map(|class| class.is_a.len()).sum::<usize>(), 647);
    assert_eq!(classes.iter().map(|class| class.part_of.len()).sum::<usize>(), 38);
    assert_eq!(ancestors.iter().map(BTreeSet::len).sum::<usize>(), 1521);
    // Ancestors of ancestors are ancestors: nothing is added by going up again.
    assert!(ancestors.iter().all(|above| above.iter().all(|&class| ancestors[class].is_subset(above))));
    let names = |class: &str| -> BTreeSet<&str> {
        let above = &ancestors[hierarchy.number(class).unwrap()];
        above.iter().map(|&class| classes[class].name.as_str()).collect()
    };
    assert_eq!(names("Tank"), BTreeSet::from(["Weapon", "Land vehicle", "Vehicle", "/m/0bl9f"]));
    assert_eq!(names("Human hand"), BTreeSet::from(["/m/0bl9f"]), "a hand is a part of a body, not a kind of it");
}

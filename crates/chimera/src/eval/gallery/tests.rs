//! Which samples are chosen, and which thumbnails they need.

use chimera_data::import::{TableImport, import_table};

use super::*;

#[test]
fn both_ends_of_both_classes_and_every_tenth_of_as_many_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 200);
    let rows: Vec<usize> = (0..200).collect();
    let scores: Vec<Option<f64>> = (0..200).map(|row| (row != 7).then_some(f64::from(row) / 200.0)).collect();
    // 60 of 200 break it; nobody knows whether the second does, and the eighth has no score.
    let broken: Vec<Option<bool>> = (0..200).map(|row| (row != 1).then_some(row >= 140)).collect();
    let panel = panel(&dataset, &rows, (None, &scores, &broken), 1);
    let titles: Vec<&str> = panel.strips.iter().map(|strip| strip.title.as_str()).collect();
    let expected = [
        "normal, the 10 smallest of 138",
        "normal, the 10 largest",
        "violating, the 10 smallest of 60",
        "violating, the 10 largest",
        "60 normal and 60 violating, one of every 10, low to high",
    ];
    assert_eq!(titles, expected);
    assert!(panel.strips.iter().all(|strip| strip.tiles.is_sorted_by_key(|tile| tile.score)));
    assert_eq!(panel.strips[0].tiles[1].id, "r002");
    assert_eq!(panel.strips[3].tiles[9].id, "r199");
    let balanced = &panel.strips[4].tiles;
    assert_eq!((balanced.len(), balanced.iter().filter(|tile| tile.broken).count()), (12, 6));
    let gallery = Gallery::of(&dataset, &rows, &[(None, &scores, broken)], 1, NonZeroUsize::MIN);
    assert!(gallery.panels.is_empty() && gallery.words[0].contains("no media"));
}

fn dataset(folder: &std::path::Path, rows: usize) -> Dataset {
    let table = folder.join("t.csv");
    let lines: String = (0..rows).map(|row| format!("r{row:03},{}\n", row % 2)).collect();
    std::fs::write(&table, format!("id,a\n{lines}")).unwrap();
    let import = TableImport { table, ..TableImport::default() };
    import_table(&import, &folder.join("ds")).unwrap().dataset
}

#[test]
fn every_tenth_is_every_tenth_of_thousands_and_a_longer_step_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = dataset(folder.path(), 12_000);
    let balanced = |rows: usize| {
        let numbers: Vec<usize> = (0..rows).collect();
        let scores: Vec<Option<f64>> = (0..rows).map(|row| Some(row as f64)).collect();
        let broken: Vec<Option<bool>> = (0..rows).map(|row| Some(row % 2 == 0)).collect();
        let mut panel = panel(&dataset, &numbers, (None, &scores, &broken), 1);
        panel.strips.pop().unwrap()
    };
    let strip = balanced(5000);
    assert_eq!((strip.tiles.len(), strip.is_small), (500, true));
    assert!(strip.tiles.iter().enumerate().all(|(at, tile)| tile.row == 10 * at));
    assert_eq!(strip.title, "2500 normal and 2500 violating, one of every 10, low to high");
    let strip = balanced(12_000);
    assert_eq!(strip.tiles.len(), 1000);
    assert!(
        strip.title.ends_with("one of every 12, low to high, as every tenth would be 1200 samples"),
        "{}",
        strip.title
    );
}

#[test]
fn a_large_thumbnail_serves_as_a_small_one() {
    let tile = |row: usize| Tile { row, id: row.to_string(), score: 0.0, broken: false };
    let strip = |rows: &[usize], is_small: bool| Strip {
        title: String::new(),
        tiles: rows.iter().map(|row| tile(*row)).collect(),
        is_small,
    };
    let panel = Panel { rule: None, strips: vec![strip(&[1, 2, 3], false), strip(&[3, 4, 5, 6], true)] };
    let mut gallery = Gallery::default();
    assert_eq!(gallery.wanted(&panel), [(1, false), (2, false), (3, false), (4, true), (5, true), (6, true)]);
    gallery.pictures.extend([(2, Vec::new()), (4, Vec::new())]);
    gallery.small.extend([(1, Vec::new()), (5, Vec::new())]);
    assert_eq!(gallery.wanted(&panel), [(1, false), (3, false), (6, true)]);
}

//! Labels against a dumb oracle: what is above a class is found by scanning all ties again and again until nothing changes.

use super::super::oov::oov_classes;
use super::*;
use crate::dataset::hierarchy::Relation;

/// Random classes without circles: ties lead to smaller numbers.
fn random_hierarchy(random: &mut fastrand::Rng) -> (Hierarchy, Vec<Cell>) {
    let (count, mut hierarchy, mut ties) = (random.usize(2..12), Hierarchy::default(), Vec::new());
    (0..count).for_each(|number| _ = hierarchy.add(&format!("c{number}"), Some(format!("/m/{number:02}"))));
    for _ in 0..random.usize(0..2 * count) {
        let class = random.usize(1..count);
        let above = random.usize(0..class);
        if random.u8(0..4) == 0 {
            hierarchy.tie(class, Relation::PartOf, above);
        } else {
            hierarchy.tie(class, Relation::IsA, above);
            ties.push((class as u32, above as u32));
        }
    }
    (hierarchy, ties)
}

fn random_rows(random: &mut fastrand::Rng, count: usize, classes: usize) -> Rows {
    let wanted = random.usize(0..3 * count);
    let cell = |_| (random.usize(0..count) as u32, random.usize(0..classes) as u32);
    let cells: BTreeSet<Cell> = (0..wanted).map(cell).collect();
    Rows { count, shown: cells.into_iter().collect() }
}

/// Cells with everything above them.
fn scanned(cells: &[Cell], ties: &[Cell]) -> BTreeSet<Cell> {
    let mut all: BTreeSet<Cell> = cells.iter().copied().collect();
    loop {
        let more: Vec<Cell> = all
            .iter()
            .flat_map(|&(row, class)| ties.iter().filter(move |tie| tie.0 == class).map(move |tie| (row, tie.1)))
            .collect();
        let before = all.len();
        all.extend(more);
        if all.len() == before {
            return all;
        }
    }
}

/// The cells of a table, by class.
fn cells_of(value: &BitTable, vocabulary: &Vocabulary) -> BTreeSet<Cell> {
    let columns = vocabulary.classes.iter().enumerate();
    let cell = |(column, &class): (usize, &usize)| {
        (0..value.rows()).filter(move |&row| value.get(row, column)).map(move |row| (row as u32, class as u32))
    };
    columns.flat_map(cell).collect()
}

#[test]
fn closure_is_what_scanning_finds_and_neither_grows_nor_shrinks() {
    let mut random = fastrand::Rng::with_seed(50);
    let (mut raised, mut beyond) = (0, 0);
    for _ in 0..500 {
        let (hierarchy, ties) = random_hierarchy(&mut random);
        let classes = hierarchy.classes().len();
        let rows = random_rows(&mut random, 6, classes);
        let is_train: Vec<bool> = (0..rows.count).map(|_| random.u8(0..4) > 0).collect();
        let top = random.usize(1..=classes);
        let vocabulary = Vocabulary::choose(&hierarchy, &rows, &is_train, top);

        // The most common classes of train rows, by a box of their own.
        let count = |class: usize| {
            rows.shown.iter().filter(|cell| cell.1 as usize == class && is_train[cell.0 as usize]).count()
        };
        let mut expected: Vec<usize> = (0..classes).filter(|&class| count(class) > 0).collect();
        expected.sort_by_key(|&class| (Reverse(count(class)), class));
        expected.truncate(top);
        assert_eq!(vocabulary.classes, expected);

        let is_concept = |cell: &Cell| vocabulary.classes.contains(&(cell.1 as usize));
        let (own, others): (Vec<Cell>, Vec<Cell>) = rows.shown.iter().copied().partition(is_concept);
        let closed: BTreeSet<Cell> = scanned(&own, &ties).into_iter().filter(is_concept).collect();
        let shown = close(&vocabulary, &rows);
        assert_eq!(cells_of(&shown.value, &vocabulary), closed);
        raised += closed.len() - own.len();

        let only: BTreeSet<Cell> = scanned(&others, &ties).into_iter().filter(is_concept).collect();
        let only: BTreeSet<Cell> = only.difference(&closed).copied().collect();
        let told = shown.oov_ancestors.iter().enumerate().flat_map(|(row, columns)| {
            columns.iter().map(|&column| (row as u32, vocabulary.classes[column] as u32)).collect::<Vec<_>>()
        });
        assert_eq!(told.collect::<BTreeSet<Cell>>(), only);
        beyond += only.len();

        // Closed labels closed again stay as they are; another box takes nothing away.
        let again = close(&vocabulary, &Rows { count: rows.count, shown: closed.iter().copied().collect() });
        assert_eq!(again.value, shown.value);
        let mut more: BTreeSet<Cell> = rows.shown.iter().copied().collect();
        more.insert((random.usize(0..rows.count) as u32, random.usize(0..classes) as u32));
        let more = close(&vocabulary, &Rows { count: rows.count, shown: more.into_iter().collect() });
        assert!(cells_of(&more.value, &vocabulary).is_superset(&closed));

        let listed: Vec<usize> = oov_classes(&vocabulary, &rows).iter().map(|oov| oov.class).collect();
        let is_listed = |class: &usize| {
            others.iter().any(|cell| cell.1 as usize == *class)
                && scanned(&[(0, *class as u32)], &ties).iter().any(is_concept)
        };
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), (0..classes).filter(is_listed).collect());
    }
    assert!(raised > 100 && beyond > 100, "{raised} {beyond}");
}

#[test]
fn an_open_world_believes_what_nothing_speaks_against() {
    let mut random = fastrand::Rng::with_seed(51);
    let (mut believed, mut refused) = (0, 0);
    for _ in 0..500 {
        let (hierarchy, ties) = random_hierarchy(&mut random);
        let classes = hierarchy.classes().len();
        let rows = random_rows(&mut random, 6, classes);
        let (yes, no) = (random_rows(&mut random, 6, classes), random_rows(&mut random, 6, classes));
        let vocabulary = Vocabulary::choose(&hierarchy, &rows, &[true; 6], random.usize(1..=classes));
        let shown = close(&vocabulary, &rows);
        let (labels, clashes) = open_world(&vocabulary, &shown, &rows, (&yes, &no));
        let spoken: Vec<Cell> = rows.shown.iter().chain(&yes.shown).copied().collect();
        let evidence = scanned(&spoken, &ties);
        let expected: Vec<Cell> = no.shown.iter().copied().filter(|cell| evidence.contains(cell)).collect();
        assert_eq!(clashes, expected);
        refused += clashes.len();
        for (column, &class) in vocabulary.classes.iter().enumerate() {
            for row in 0..rows.count {
                let above = scanned(&[(row as u32, class as u32)], &ties);
                let is_false = above.iter().any(|cell| no.shown.contains(cell) && !evidence.contains(cell));
                let is_true = shown.value.get(row, column);
                assert!(!(is_true && is_false), "a box and a believed absence never meet");
                let label = if is_true { Some(true) } else { is_false.then_some(false) };
                assert_eq!(labels.get(row, column), label);
                assert!(!is_false || !evidence.contains(&(row as u32, class as u32)));
                believed += usize::from(is_false);
            }
        }
    }
    assert!(believed > 100 && refused > 100, "{believed} {refused}");
}

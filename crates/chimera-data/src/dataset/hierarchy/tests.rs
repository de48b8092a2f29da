//! The hierarchy against a dumb oracle: reachability by scanning all ties again and again until nothing changes.

use super::*;

/// Classes `0`, `1`, ... with ties from pairs.
fn of(count: usize, is_a: &[(usize, usize)], part_of: &[(usize, usize)]) -> Hierarchy {
    let mut hierarchy = Hierarchy::default();
    (0..count).for_each(|number| assert_eq!(hierarchy.add(&number.to_string(), None), Some(number)));
    is_a.iter().for_each(|&(class, above)| hierarchy.tie(class, Relation::IsA, above));
    part_of.iter().for_each(|&(class, above)| hierarchy.tie(class, Relation::PartOf, above));
    hierarchy
}

/// All pairs of a class and one above it.
fn scanned(ties: &[(usize, usize)]) -> BTreeSet<(usize, usize)> {
    let mut reached: BTreeSet<(usize, usize)> = ties.iter().copied().collect();
    loop {
        let further: Vec<(usize, usize)> = reached
            .iter()
            .flat_map(|&(class, middle)| {
                reached.iter().filter(move |tie| tie.0 == middle).map(move |tie| (class, tie.1))
            })
            .collect();
        let before = reached.len();
        reached.extend(further);
        if reached.len() == before {
            return reached;
        }
    }
}

#[test]
fn ancestors_and_circles_are_those_of_repeated_scanning() {
    let mut random = fastrand::Rng::with_seed(10);
    let (mut with_circles, mut without) = (0, 0);
    for _ in 0..400 {
        let count = random.usize(1..9);
        let mut ties = || (0..random.usize(0..9)).map(|_| (random.usize(0..count), random.usize(0..count))).collect();
        let (is_a, part_of): (Vec<_>, Vec<_>) = (ties(), ties());
        let hierarchy = of(count, &is_a, &part_of);
        let (kinds, parts) = (scanned(&is_a), scanned(&part_of));
        let ancestors = hierarchy.ancestors();
        for (class, found) in ancestors.iter().enumerate() {
            let expected: BTreeSet<usize> = kinds.iter().filter(|tie| tie.0 == class).map(|tie| tie.1).collect();
            assert_eq!(*found, expected, "{class} in {is_a:?}");
        }
        let has_circle = kinds.iter().chain(&parts).any(|(class, above)| class == above);
        let circle = hierarchy.circle();
        assert_eq!(circle.is_some(), has_circle, "{is_a:?} {part_of:?}");
        let Some(circle) = circle else {
            without += 1;
            continue;
        };
        with_circles += 1;
        let way: Vec<usize> = circle.iter().map(|name| name.parse().unwrap()).collect();
        assert_eq!(way.first(), way.last());
        let steps = |ties: &[(usize, usize)]| way.windows(2).all(|step| ties.contains(&(step[0], step[1])));
        assert!(way.len() > 1 && (steps(&is_a) || steps(&part_of)), "{way:?} in {is_a:?} {part_of:?}");
    }
    assert!(with_circles > 50 && without > 50, "{with_circles} {without}");
}

#[test]
fn the_file_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut hierarchy = of(4, &[(1, 0), (2, 0), (2, 1)], &[(3, 2)]);
    hierarchy.closed = true;
    hierarchy.add("Wood-burning \"stove\"", Some("/m/04169hn".to_owned())).unwrap();
    let mut text = Vec::new();
    hierarchy.write(&mut text).unwrap();
    fs::write(folder.path().join(HIERARCHY), &text).unwrap();
    assert_eq!(Hierarchy::read(folder.path()).unwrap(), hierarchy, "{}", String::from_utf8_lossy(&text));
    assert_eq!(hierarchy.add("2", None), None, "a name stands for one class");
    let read = |text: &str| {
        fs::write(folder.path().join(HIERARCHY), text).unwrap();
        Hierarchy::read(folder.path()).unwrap_err().to_string()
    };
    for (text, expected) in [
        ("{", "cannot read `"),
        (r#"{"classes": [{"name": "a", "isa": []}]}"#, "unknown field `isa`"),
        (r#"{"classes": [{"name": "a"}, {"name": "a"}]}"#, "expected a class once in `"),
        (r#"{"classes": [{"name": "a", "part_of": ["b"]}]}"#, "above `a`, got `b`\nhint: list it in `classes`, too"),
        (r#"{"classes": [{"name": "a", "is_a": ["b"]}, {"name": "b", "is_a": ["a"]}]}"#, "got a below b below a"),
        (r#"{"classes": [{"name": "a", "part_of": ["a"]}]}"#, "got a below a"),
    ] {
        let error = read(text);
        assert!(error.contains(expected), "{error}");
    }
    let two = r#"{"classes": [{"name": "Vehicle"}, {"name": "Car", "is_a": ["Vehicel"], "part_of": ["x", "y"]}]}"#;
    let expected = "above `Car`, got `Vehicel`; 2 other ties lead to no class, too\nhint: did you mean `Vehicle`?";
    assert!(read(two).contains(expected), "{}", read(two));
    let missing = Hierarchy::read(&folder.path().join("elsewhere")).unwrap_err().to_string();
    assert!(missing.contains("got none\nhint: `chimera import openimages` writes one"), "{missing}");
}

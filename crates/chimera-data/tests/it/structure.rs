//! Rules from structure: what a hierarchy gives, what closed labels make pointless, and that the rest can be broken.

use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::hierarchy::Hierarchy;
use chimera_data::dataset::structure::*;
use chimera_data::import::{TableImport, import_table};
use chimera_logic::lint::lint;
use chimera_logic::load::{Loaded, load_text};
use chimera_logic::truth::holds;

use crate::support::import_place::Place;

/// Vehicle > Land vehicle (no concept) > Car, Bicycle; Vehicle > Boat; a wheel is a part of a bicycle, a spoke of a wheel;
/// a hand of a body (no concept), which is one of a person.
const CLASSES: &str = r#"[{"name": "Vehicle"}, {"name": "Land vehicle", "is_a": ["Vehicle"]},
  {"name": "Car", "is_a": ["Land vehicle"]}, {"name": "Bicycle", "is_a": ["Land vehicle", "Toy"]}, {"name": "Toy"},
  {"name": "Boat", "is_a": ["Vehicle"]}, {"name": "Wheel", "part_of": ["Bicycle"]}, {"name": "Spoke", "part_of": ["Wheel"]},
  {"name": "Body", "part_of": ["Person"]}, {"name": "Human hand", "part_of": ["Body"]}, {"name": "Person"}]"#;

/// More bicycles than cars than boats; closed upwards.
const LABELS: &str = "id,Vehicle,Car,Bicycle,Boat,Wheel,Spoke,Human hand,Person\n1,1,1,1,0,1,0,0,0\n2,1,1,1,0,0,0,0,1\n\
    3,1,0,1,1,0,0,1,1\n4,0,0,0,0,0,1,0,0\n";

fn dataset(place: &Place, labels: &str, hierarchy: &str) -> Dataset {
    let table = place.write("labels.csv", labels);
    let import = TableImport { table, ..TableImport::default() };
    import_table(&import, &place.path("ds")).unwrap();
    place.write("ds/hierarchy.json", hierarchy);
    Dataset::open(&place.path("ds")).unwrap()
}

fn stated(closed: bool) -> String {
    format!("{{\"closed\": {closed}, \"classes\": {CLASSES}}}")
}

fn formulas<'a>(rules: impl IntoIterator<Item = &'a StructuralRule>) -> Vec<&'a str> {
    rules.into_iter().map(|rule| rule.formula.as_str()).collect()
}

#[test]
fn ties_give_rules_both_ways_and_siblings_compounds() {
    let place = Place::new();
    let dataset = dataset(&place, LABELS, &stated(true));
    let structure = rules_from_structure(&dataset, StructureOptions::default()).unwrap();
    let left_out: Vec<_> =
        structure.left_out.iter().map(|(rule, reason)| (rule.formula.as_str(), reason.as_str())).collect();
    let reason = "it always holds, since labels are closed upwards";
    assert_eq!(left_out, [("Car => Vehicle", reason), ("Bicycle => Vehicle", reason), ("Boat => Vehicle", reason)]);
    let of = |origin: Origin| formulas(structure.rules.iter().filter(|rule| rule.origin == origin));
    assert!(of(Origin::Kind).is_empty());
    assert_eq!(of(Origin::Part), ["Wheel => Bicycle", "Spoke => Wheel", "\"Human hand\" => Person"]);
    assert_eq!(of(Origin::CoarseToFine), ["Vehicle => Car", "Vehicle => Bicycle", "Vehicle => Boat"]);
    assert_eq!(of(Origin::WholeToPart), ["Bicycle => Wheel", "Wheel => Spoke", "Person => \"Human hand\""]);
    // Which sibling is the more common depends on which rows are for training; here all three are on train rows.
    let siblings = of(Origin::Siblings);
    assert_eq!(siblings.len(), 6, "two rules for each of three pairs: {siblings:?}");
    assert!(
        siblings.contains(&"Vehicle => Bicycle & Car") && siblings.contains(&"Vehicle => Bicycle | Car"),
        "{siblings:?}"
    );
    let few = StructureOptions { per_parent_pair_limit: 1, natural: false, ..StructureOptions::default() };
    let few = rules_from_structure(&dataset, few).unwrap();
    assert_eq!((few.rules.len(), few.left_out.len()), (3 + 3 + 2, 0));
    let none = StructureOptions { inverted: false, ..StructureOptions::default() };
    assert_eq!(rules_from_structure(&dataset, none).unwrap().rules.len(), 3);
}

#[test]
fn labels_that_are_not_closed_can_break_the_natural_rules() {
    let place = Place::new();
    let broken = LABELS.replace("1,1,1,1,0,1,0,0,0", "1,0,1,1,0,1,0,0,0");
    let dataset = dataset(&place, &broken, &stated(false));
    let structure = rules_from_structure(&dataset, StructureOptions::default()).unwrap();
    assert!(structure.left_out.is_empty() && formulas(&structure.rules).contains(&"Car => Vehicle"));
    // A hierarchy that promises what its labels do not keep is refused.
    place.write("ds/hierarchy.json", stated(true));
    let error = rules_from_structure(&dataset, StructureOptions::default()).unwrap_err().to_string();
    assert!(error.contains("got `Car => Vehicle` broken by 1 row, 1"), "{error}");
    place.write("ds/hierarchy.json", r#"{"classes": [{"name": "Vehicle"}, {"name": "Car"}]}"#);
    let error = rules_from_structure(&dataset, StructureOptions::default()).unwrap_err().to_string();
    assert!(error.contains("got 2 of 8 concepts that are classes of it, and no tie"), "{error}");
}

#[test]
fn the_file_is_canonical_and_without_errors() {
    let place = Place::new();
    let dataset = dataset(&place, LABELS, &stated(true));
    let text = rules_from_structure(&dataset, StructureOptions::default()).unwrap().to_text(&dataset);
    assert!(
        text.starts_with("# Rules from the hierarchy of `ds`, over its 8 concepts\n\n# a part comes with its whole\n"),
        "{text}"
    );
    assert!(
        text.contains("\nhuman_hand_of_person [family=simple]: \"Human hand\" => Person  # through Body\n"),
        "{text}"
    );
    assert!(text.contains(" [family=compound]: Vehicle => Bicycle & Car\n"), "{text}");
    assert!(text.contains("\n# left out\n# car_is_vehicle: Car => Vehicle (it always holds, since"), "{text}");
    let mut loaded = load_text("structure.rules", &text, dataset.table().vocabulary());
    lint(&loaded.rule_set, &mut loaded.diagnostics).unwrap();
    assert_eq!(loaded.diagnostics.errors(), 0, "{text}");
    assert_eq!(loaded.rule_set.rules.len(), 3 + 3 + 3 + 6);
}

/// What is said of a class that is no concept is taken over to its wholes and kinds where that is sound, with the way; that a
/// kind of a part is a part is left to the reader.
#[test]
fn small_vocabularies_get_rules_that_the_hierarchy_says() {
    let place = Place::new();
    let classes = r#"{"classes": [{"name": "Sports equipment", "part_of": ["Building"]}, {"name": "Building"},
      {"name": "Bicycle", "is_a": ["Sports equipment", "Land vehicle"]}, {"name": "Land vehicle", "is_a": ["Vehicle"]},
      {"name": "Wheel", "part_of": ["Bicycle"]}, {"name": "Human hand", "part_of": ["Body"]}, {"name": "Person"},
      {"name": "Body", "part_of": ["Person"]}, {"name": "Vehicle"}, {"name": "Ball", "is_a": ["Sports equipment"]}]}"#;
    let both = StructureOptions::default();
    let made = |concepts: &str| {
        let place = Place::new();
        let cells = vec!["1"; concepts.split(',').count()].join(",");
        rules_from_structure(&dataset(&place, &format!("id,{concepts}\n1,{cells}\n"), classes), both).unwrap()
    };
    let structure = made("Bicycle,Building,Person,Human hand,Wheel");
    let rules: Vec<(&str, String)> =
        structure.rules.iter().map(|rule| (rule.formula.as_str(), rule.through.join(" "))).collect();
    let expected = ["\"Human hand\" => Person", "Wheel => Bicycle", "Person => \"Human hand\"", "Bicycle => Wheel"];
    assert_eq!(rules.iter().map(|(formula, _)| *formula).collect::<Vec<_>>(), expected);
    assert_eq!(rules.iter().map(|(_, way)| way.as_str()).collect::<Vec<_>>(), ["Body", "", "Body", ""]);
    let reason = "the hierarchy does not say it; it is inferred through Sports equipment";
    let left_out: Vec<(&str, &str)> =
        structure.left_out.iter().map(|(rule, reason)| (rule.formula.as_str(), reason.as_str())).collect();
    assert_eq!(left_out, [("Bicycle => Building", reason), ("Building => Bicycle", reason)]);
    // A part of what is no concept is a part of what that is a kind of, but of no whole of that.
    let structure = made("Wheel,Vehicle,Building");
    let rules: Vec<&str> = formulas(&structure.rules);
    assert_eq!(rules, ["Wheel => Vehicle", "Vehicle => Wheel"]);
    assert_eq!(structure.rules[0].through, ["Bicycle", "Land vehicle"]);
    assert_eq!(formulas(structure.left_out.iter().map(|(rule, _)| rule)), ["Wheel => Building", "Building => Wheel"]);
    // Where the hierarchy says it itself, it is a rule.
    let structure = made("Ball,Sports equipment,Building");
    assert_eq!(
        formulas(&structure.rules),
        [
            "Ball => \"Sports equipment\"",
            "\"Sports equipment\" => Building",
            "\"Sports equipment\" => Ball",
            "Building => \"Sports equipment\""
        ]
    );
    assert!(structure.left_out.is_empty());
    // Hints that can help: a vocabulary that nothing ties, of a folder that was made by hand.
    let untied = dataset(&place, "id,Person,Building\n1,1,1\n", classes);
    let error = rules_from_structure(&untied, both).unwrap_err().to_string();
    assert!(error.contains("got 2 of 2 concepts that are classes of it") && error.contains("by hand"), "{error}");
}

/// The real hierarchy with all its classes as concepts, against a walk over pairs and all that closure allows: a rule is left
/// out exactly if no closed assignment breaks it.
#[test]
fn on_the_real_hierarchy_what_is_left_can_be_broken() {
    #[expect(clippy::disallowed_methods, reason = "where real files lie is said by the environment")]
    let data = std::env::var_os("CHIMERA_DATA").map(|folder| Path::new(&folder).join("openimages"));
    let Some(data) = data.filter(|folder| folder.join("bbox_labels_600_hierarchy.json").exists()) else {
        println!("skipped: no Open Images files under CHIMERA_DATA");
        return;
    };
    let place = Place::new();
    let import = chimera_data::import::OpenImagesImport { folder: Some(data), ..Default::default() };
    chimera_data::import::import_openimages(&import, &place.path("real")).unwrap();
    let hierarchy = Hierarchy::read(&place.path("real")).unwrap();
    let names: Vec<&str> = hierarchy.classes().iter().map(|class| class.name.as_str()).collect();
    let concepts: Vec<&str> = names.iter().copied().filter(|name| *name != "/m/0bl9f").collect();
    // Every class alone with what is above it, and nothing at all.
    let ancestors = hierarchy.ancestors();
    let mut table = format!("id,{}\n", concepts.join(","));
    for (class, name) in names.iter().enumerate() {
        let shows = |other: &&str| {
            let other = hierarchy.number(other).unwrap();
            if other == class || ancestors[class].contains(&other) { "1" } else { "0" }
        };
        let cells: Vec<&str> = concepts.iter().map(shows).collect();
        table += &format!("{},{}\n", name.replace(',', " "), cells.join(","));
    }
    let text = std::fs::read_to_string(place.path("real/hierarchy.json")).unwrap();
    let dataset = dataset(&place, &table, &text);
    let structure = rules_from_structure(&dataset, StructureOptions::default()).unwrap();
    let count = |origin: Origin| structure.rules.iter().filter(|rule| rule.origin == origin).count();
    // By Python over the JSON: 647 ties of kinds, less 90 to the root, which is no concept, and 3 to a class that is also above
    // another parent; 38 ties of parts.
    assert_eq!((count(Origin::Kind), structure.left_out.len()), (0, count(Origin::CoarseToFine)));
    assert_eq!((count(Origin::CoarseToFine), count(Origin::Part), count(Origin::WholeToPart)), (554, 38, 38));
    let text = structure.to_text(&dataset);
    let Loaded { rule_set, diagnostics, .. } = load_text("s.rules", &text, dataset.table().vocabulary());
    assert_eq!(diagnostics.errors(), 0);
    for rule in &rule_set.rules {
        let broken = (0..names.len()).any(|class| {
            let label = |concept: chimera_logic::vocabulary::ConceptId| {
                let other = hierarchy.number(concepts[concept.index()]).unwrap();
                other == class || ancestors[class].contains(&other)
            };
            !holds(&rule_set.dag, rule.root, &label)
        });
        assert!(broken, "{}", rule.name);
    }
}

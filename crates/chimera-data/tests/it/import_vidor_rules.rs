//! Import of VidOR and VidVRD with the concepts that rules name: labelled however rare they are, and read against the words of
//! the annotations.

use chimera_data::error::Result;
use chimera_data::import::{
    ImportOptions, Imported, RuleConcepts, VidorConcepts, VidorImport, VidorVideos, import_vidor,
};

use crate::import_vidor::{place, source};
use crate::support::import_place::{Place, told};
use crate::support::vidor::{annotation, held};

/// What rules name is labelled however rare it is; what annotations have no word for is a mistake.
#[test]
fn concepts_of_rules_are_labelled() {
    let place = place();
    let concepts = VidorConcepts { top_objects: 1, ..VidorConcepts::default() };
    let with = |names: &[&str], out: &str| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let rules = Some(RuleConcepts { file: "my.rules".into(), names });
        import_vidor(&VidorImport { rules, concepts, ..source(&place) }, &place.path(out))
    };
    // The first is a concept already, the last is in no video at a frame that is taken.
    let names = ["obj:baby", "rel:dog-chase-ball", "obj:cat", "rel:cat-chase-baby"];
    let dataset = with(&names, "named").unwrap().dataset;
    assert_eq!(dataset.table().concepts, names);
    assert_eq!(held(&dataset, "11"), ["rel:dog-chase-ball"]);
    assert_eq!(held(&dataset, "22"), ["obj:baby"]);
    assert_eq!(held(&dataset, "33"), ["obj:cat"]);
    assert_eq!(dataset.manifest().provenance.options["rules"], names.join(","));
    // The adult is at frame 4 alone and bites at 4 alone, which is not taken: words of the annotations, but nothing to see.
    let unseen = with(&["obj:adult", "rel:dog-bite-ball", "rel:cat-chase-dog"], "unseen").unwrap();
    assert_eq!(unseen.dataset.table().concepts[1..], ["obj:adult", "rel:dog-bite-ball", "rel:cat-chase-dog"]);
    assert_eq!(held(&unseen.dataset, "22"), ["obj:baby"]);
    let notes = told(&unseen.notes);
    let why = "2 words of rules are in the annotations, but in no frame that is taken: more `--frames` may show them";
    assert!(notes.contains(&format!("{why}: adult, bite")), "{notes}");
    assert!(notes.contains("2 concepts hold in no sample: obj:adult, rel:dog-bite-ball"), "{notes}");
    for (name, expected) in [
        ("obj:babby", "in `obj:babby` of `my.rules`, got `babby`\nhint: did you mean `baby`?"),
        ("rel:dog-chsae-ball", "got `chsae`\nhint: did you mean `chase`?"),
        ("rel:dog-chase-bell", "did you mean `ball`?"),
        (
            "obj:horse",
            "expected words of the annotations in `obj:horse` of `my.rules`, got `horse`\n\
             hint: no annotation speaks of `horse`: take out the rules that do, or import more videos",
        ),
        ("dog", "expected `obj:<category>` or"),
        ("rel:dog", "got `rel:dog`"),
    ] {
        let message = with(&[name], name).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Imports the labels of annotations with the concepts of rules and no others.
fn named(place: &Place, names: &[&str], limit: Option<usize>, out: &str) -> Result<Imported> {
    let rules =
        Some(RuleConcepts { file: "my.rules".into(), names: names.iter().map(|name| (*name).to_owned()).collect() });
    let concepts = VidorConcepts { top_objects: 0, top_relations: 0, min_rel_support: 1 };
    let labels = VidorImport::new(place.path("vidor"), VidorVideos::LabelsOnly);
    let options = ImportOptions { limit, ..ImportOptions::default() };
    import_vidor(&VidorImport { rules, concepts, options, ..labels }, &place.path(out))
}

#[test]
fn words_may_have_hyphens() {
    let place = Place::new();
    let tracks = [("t-shirt", 0..16), ("cup", 0..16), ("x-ray", 0..1)];
    let text = annotation("v", 16, &tracks, &[(0, "next_to", 1, 0..16), (1, "lean-on", 0, 2..3)]);
    place.write("vidor/train/v.json", text.to_string());
    // The first holds; frame 2, at which the second does, is not taken; the third holds nowhere.
    let names = ["rel:t-shirt-next_to-cup", "rel:cup-lean-on-t-shirt", "rel:x-ray-next_to-t-shirt", "obj:t-shirt"];
    let imported = named(&place, &names, None, "ds").unwrap();
    assert_eq!(imported.dataset.table().concepts, names);
    assert_eq!(held(&imported.dataset, "v"), ["rel:t-shirt-next_to-cup", "obj:t-shirt"]);
    let notes = told(&imported.notes);
    assert!(notes.contains("2 words of rules are in the annotations, but in no frame"), "{notes}");
    assert!(notes.contains("may show them: x-ray, lean-on"), "{notes}");
    // Of the ways to read a name, the one that knows most words says which it does not know.
    for (name, expected) in [
        ("rel:t-shirt-next_too-cup", "got `next_too`\nhint: did you mean `next_to`?"),
        ("rel:t-shirt-next_to-x-ry", "got `x-ry`\nhint: did you mean `x-ray`?"),
        ("rel:t-shirt-cup", "got `t`"),
        ("rel:t-shirt", "expected `obj:<category>` or"),
    ] {
        let message = named(&place, &[name], None, name).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// More frames show nothing of a video that is not taken, and a word for what is done is none for a thing.
#[test]
fn why_a_word_is_not_seen_is_told() {
    let place = Place::new();
    for number in 0..6 {
        let tracks = [(format!("thing{number}"), 0..16), ("play".to_owned(), 0..1)];
        let tracks = tracks.each_ref().map(|(category, frames)| (category.as_str(), frames.clone()));
        let text = annotation(&format!("v{number}"), 16, &tracks, &[(0, "play", 0, 0..16)]);
        place.write(&format!("vidor/train/v{number}.json"), text.to_string());
    }
    let taken = named(&place, &["obj:play"], Some(3), "taken").unwrap();
    let ids = &taken.dataset.table().ids;
    let left = (0..6).find(|number| !ids.iter().any(|id| id == format!("v{number}"))).unwrap();
    let names = [format!("obj:thing{left}"), format!("rel:thing{left}-play-play"), "obj:play".to_owned()];
    let notes = |limit: Option<usize>, out: &str| {
        told(&named(&place, &names.each_ref().map(String::as_str), limit, out).unwrap().notes)
    };
    let some = notes(Some(3), "some");
    let why = "1 word of rules is only in annotations that are left out, by `--limit` or since their video came before";
    assert!(some.contains(&format!("{why}: thing{left}")), "{some}");
    let frames =
        "1 word of rules is in the annotations, but in no frame that is taken: more `--frames` may show it: play";
    assert!(some.contains(frames), "{some}");
    let all = notes(None, "all");
    assert!(all.contains(frames) && !all.contains("left out, by"), "{all}");
}

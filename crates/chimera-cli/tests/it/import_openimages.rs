//! `import openimages` and `rules structure` as a user types them, from files to rules that check.

use crate::support::Sandbox;
use chimera::media::picture::{Picture, Size};
use chimera::media::png::write_png;

const HEADER: &str =
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside";

/// Ten pictures of validation, with vehicles in three levels and a part.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "oi/class-descriptions-boxable.csv",
        "/m/v,Vehicle\n/m/l,Land vehicle\n/m/c,Car\n/m/b,Bicycle\n/m/w,Bicycle wheel\n/m/t,Taxi\n",
    );
    sandbox.write(
        "oi/bbox_labels_600_hierarchy.json",
        r#"{"LabelName": "/m/0", "Subcategory": [{"LabelName": "/m/v", "Subcategory": [{"LabelName": "/m/l", "Subcategory": [
          {"LabelName": "/m/c", "Subcategory": [{"LabelName": "/m/t"}]},
          {"LabelName": "/m/b", "Part": [{"LabelName": "/m/w"}]}]}]}, {"LabelName": "/m/w"}]}"#,
    );
    // Cars are on so many pictures that they are the most common kind whichever pictures are for training.
    let shown = [
        ("0", "clw"),
        ("1", "bw"),
        ("2", "cv"),
        ("3", "cl"),
        ("4", "c"),
        ("5", "bw"),
        ("6", "v"),
        ("7", "cb"),
        ("8", "cl"),
        ("9", "cvw"),
    ];
    let row = |id: &str, class: char| format!("{id},x,/m/{class},1,0.1,0.5,0.2,0.8,0,0,0,0,0");
    let rows: Vec<String> =
        shown.iter().flat_map(|(id, classes)| classes.chars().map(|class| row(id, class))).collect();
    sandbox.write("oi/validation-annotations-bbox.csv", format!("{HEADER}\n{}\n", rows.join("\n")));
    std::fs::create_dir_all(sandbox.path("oi/validation")).unwrap();
    for id in 0..10 {
        let picture = Picture::filled(Size::new(12, 8).unwrap(), [20 * id; 3]);
        write_png(&sandbox.path(&format!("oi/validation/{id}.jpg")), &picture).unwrap();
    }
    sandbox
}

#[test]
fn files_become_a_dataset_and_its_hierarchy_rules() {
    let sandbox = sandbox();
    let ran = sandbox.run("import openimages oi --top 5 --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("note: pictures of one split alone are dealt: train=0.9,test=0.1 with seed 123"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("`ds`: 10 samples of kind image, 5 concepts; train 8, calibration 1, test 1"),
        "{}",
        ran.err
    );
    let ran = sandbox.run("rules structure ds -o structure.rules");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let reason = "(it always holds, since labels are closed upwards)";
    assert!(ran.err.contains(&format!("left out: Car => \"Land vehicle\" {reason}")), "{}", ran.err);
    assert!(ran.err.contains("wrote 7 rules to `structure.rules`"), "{}", ran.err);
    let rules = sandbox.read("structure.rules");
    for expected in [
        "bicycle_wheel_of_bicycle [family=simple]: \"Bicycle wheel\" => Bicycle\n",
        "vehicle_shows_land_vehicle [family=simple]: Vehicle => \"Land vehicle\"\n",
        "land_vehicle_shows_car [family=simple]: \"Land vehicle\" => Car\n",
        "bicycle_has_bicycle_wheel [family=simple]: Bicycle => \"Bicycle wheel\"\n",
        "land_vehicle_shows_car_and_bicycle [family=compound]: \"Land vehicle\" => Car & Bicycle\n",
        "# bicycle_is_land_vehicle: Bicycle => \"Land vehicle\" (it always holds, since labels are closed upwards)\n",
    ] {
        assert!(rules.contains(expected), "{expected}\n{rules}");
    }
    assert_eq!(sandbox.run("rules check structure.rules --data ds").code, 0);
    assert_eq!(sandbox.run("rules fmt structure.rules --check").code, 0, "{rules}");
    assert_eq!(sandbox.run("rules structure ds").out, rules, "the same on standard output");
    assert_eq!(sandbox.run("data check ds").code, 0);
}

#[test]
fn files_can_be_named_and_mistakes_are_told() {
    let sandbox = sandbox();
    let named = "import openimages --boxes train=oi/validation-annotations-bbox.csv --classes oi/class-descriptions-boxable.csv \
        --hierarchy oi/bbox_labels_600_hierarchy.json --images oi/validation --out named";
    let ran = sandbox.run(named);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for (words, expected) in [
        ("import openimages --out none", "required arguments were not provided"),
        ("import openimages oi --val-train-frac 1.5 --out none", "expected a share between 0 and 1"),
        ("import openimages oi --val-train-frac 0.5 --split train=1 --out none", "cannot be used with"),
        ("import openimages oi --image-labels x.csv --out none", "--open-world"),
        (
            "import openimages oi --open-world --out none",
            "expected `train-annotations-human-imagelabels-boxable.csv` in `oi`",
        ),
        ("import openimages oi --top 0 --out none", "expected a number of 1 at least"),
        ("import openimages named --out none", "expected `train-annotations-bbox.csv` in `named`, got none"),
        ("rules structure named --direction natural -o x.csv", "what is written here ends in `.rules`"),
        ("rules structure oi", "expected a dataset folder with `dataset.toml`"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
    }
    // Five concepts tie, but with one alone there is nothing to say.
    assert_eq!(sandbox.run("import openimages oi --top 1 --out one").code, 0);
    let ran = sandbox.run("rules structure one");
    assert!(ran.code == 2 && ran.err.contains("expected ties between the 1 concepts of `one`"), "{}", ran.err);
    assert!(sandbox.run("import openimages --help").out.contains("oidv6-train-annotations-bbox.csv"));
    assert!(sandbox.run("rules structure --help").out.contains("--per-parent-pair-limit"));
}

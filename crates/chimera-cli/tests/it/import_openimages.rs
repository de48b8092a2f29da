//! `import openimages` and `rules structure` as a user types them, from files to rules that check.

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::Sandbox;

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
    // Nobody's rules are written over, but what is the same may be written again.
    assert_eq!(sandbox.run("rules structure ds -o structure.rules").code, 0);
    sandbox.write("structure.rules", "mine: Car => Bicycle\n");
    let ran = sandbox.run("rules structure ds -o structure.rules");
    let expected = "`structure.rules` is there with other rules; it is left as it is\nhint: give another file to `-o`";
    assert!(ran.code == 2 && ran.err.contains(expected), "{}", ran.err);
    assert_eq!(sandbox.read("structure.rules"), "mine: Car => Bicycle\n");
    // Of closed labels and without parts, only what is read the other way is left.
    let boxes = sandbox.read("oi/validation-annotations-bbox.csv");
    let kinds: Vec<&str> = boxes.lines().filter(|row| !row.contains("/m/w") && !row.contains("/m/b")).collect();
    sandbox.write("oi/validation-annotations-bbox.csv", format!("{}\n", kinds.join("\n")));
    let ran = sandbox.run("import openimages oi --top 3 --out kinds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = sandbox.run("rules structure kinds --direction natural");
    assert!(ran.code == 2 && ran.err.contains("the other way: `--direction inverted`"), "{}", ran.err);
}

#[test]
fn files_can_be_named_and_mistakes_are_told() {
    let sandbox = sandbox();
    sandbox.write("own.rules", "a: Car => Bicycle\n");
    let named = "import openimages --boxes train=oi/validation-annotations-bbox.csv --classes oi/class-descriptions-boxable.csv \
        --hierarchy oi/bbox_labels_600_hierarchy.json --images oi/validation --out named";
    let ran = sandbox.run(named);
    assert_eq!(ran.code, 0, "{}", ran.err);
    // The rules name bicycles, which one class alone would leave out.
    let ran = sandbox.run("import openimages oi --top 1 --rules own.rules --out few");
    assert!(ran.code == 0 && ran.err.contains("10 samples of kind image, 2 concepts;"), "{}", ran.err);
    assert_eq!(sandbox.run("rules check own.rules --data few").code, 0);
    sandbox.write("unlike.rules", "a: Car => Xylophone\n");
    sandbox.write("strange.rules", "a: Car => Bycicle\n");
    for (words, expected) in [
        ("import openimages oi --rules strange.rules --out none", "got `Bycicle`\nhint: did you mean `Bicycle`?"),
        ("import openimages --out none", "required arguments were not provided"),
        ("import openimages oi --val-train-frac 1.5 --out none", "expected a share between 0 and 1"),
        ("import openimages oi --val-train-frac 0.5 --split train=1 --out none", "cannot be used with"),
        ("import openimages oi --image-labels x.csv --out none", "--open-world"),
        (
            "import openimages oi --open-world --out none",
            "expected `validation-annotations-human-imagelabels-boxable.csv` in `oi`",
        ),
        ("import openimages oi --top 0 --out none", "expected a number of 1 at least"),
        (
            "import openimages named --out none",
            "expected `<split>-annotations-bbox.csv` in `named`, got none\nhint: `named` is a dataset already: `chimera data show named`",
        ),
        (
            "import openimages oi --rules unlike.rules --out none",
            "expected classes of `oi/class-descriptions-boxable.csv` in the rules of `unlike.rules`, got `Xylophone`\nhint: no class is",
        ),
        (
            "import openimages . --out none",
            "hint: `./oi` looks like Open Images: `chimera import openimages ./oi --out",
        ),
        ("import mnist oi --out none", "hint: `oi` looks like Open Images: `chimera import openimages oi --out DIR`"),
        ("import openimages oi --boxes foo=oi/validation-annotations-bbox.csv --out none", "got `foo`"),
        ("import openimages oi --val-train-frac 0.001 --out none", "expected rows for the split `train` in"),
        ("data show oi", "hint: make one with `chimera import openimages oi --out DIR`"),
        ("import table oi --out none", "hint: make a dataset of it first: `chimera import openimages oi --out DIR`"),
        (
            "rules check own.rules --data oi",
            "hint: make a dataset of it first: `chimera import openimages oi --out DIR`",
        ),
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
    assert!(ran.code == 2 && ran.err.contains("got 1 of 1 concepts that are classes of it, and no tie"), "{}", ran.err);
    assert!(ran.err.contains("hint: import again with a larger `--top`"), "{}", ran.err);
    // Where train pictures show fewer classes than were asked for, those that rules name do not make it look otherwise.
    let boxes = sandbox.read("oi/validation-annotations-bbox.csv");
    let wheels: Vec<&str> = boxes.lines().filter(|row| row.contains("LabelName") || row.contains("/m/w")).collect();
    sandbox.write("oi/validation-annotations-bbox.csv", format!("{}\n", wheels.join("\n")));
    sandbox.write("taxi.rules", "a: Taxi => \"Bicycle wheel\"\n");
    let ran = sandbox.run("import openimages oi --top 2 --rules taxi.rules --val-train-frac 0.5 --out two");
    assert!(ran.code == 0 && ran.err.contains("2 concepts;"), "{}", ran.err);
    let ran = sandbox.run("rules structure two");
    assert!(ran.code == 2 && ran.err.contains("hint: write ties between concepts into"), "{}", ran.err);
    assert!(sandbox.run("import openimages --help").out.contains("oidv6-train-annotations-bbox.csv"));
    assert!(sandbox.run("rules structure --help").out.contains("--per-parent-pair-limit"));
}

/// A hierarchy that was edited by hand, from good to bad.
#[test]
fn data_check_looks_at_the_hierarchy() {
    let sandbox = Sandbox::new();
    let rows: String = (0..9).map(|row| format!("r{row},{},{},1,0\n", row % 2, u8::from(row > 7))).collect();
    sandbox.write("labels.csv", format!("id,Car,Vehicle,Person,Bus\n{rows}"));
    assert_eq!(sandbox.run("import table labels.csv --out ds").code, 0);
    let checked = |hierarchy: &str| {
        sandbox.write("ds/hierarchy.json", hierarchy);
        let ran = sandbox.run("data check ds");
        (ran.code, ran.out)
    };
    let classes = r#"[{"name": "Vehicle"}, {"name": "Car", "is_a": ["Vehicle"]}, {"name": "Persons"}]"#;
    let (code, out) = checked(&format!("{{\"classes\": {classes}}}"));
    assert_eq!(code, 0, "{out}");
    let expected = "warning: 2 concepts are no classes of `hierarchy.json`: nothing is a kind or a part of them\n  \
        Person: there is a class `Persons`\n  Bus\n";
    assert!(out.contains(expected) && !out.contains("closed"), "{out}");
    // Cars are on rows 1, 3, 5 and 7; none of these shows a vehicle.
    let (code, out) = checked(&format!("{{\"closed\": true, \"classes\": {classes}}}"));
    let expected = "error: 1 tie of `hierarchy.json` is broken by labels, which it says are closed upwards\n  \
        Car => Vehicle: 4 rows, r1, r3, r5, r7\n";
    assert!(code == 1 && out.contains(expected), "{out}");
    let (code, out) = checked(r#"{"classes": [{"name": "Car", "is_a": ["Vehicle", "Thing"]}]}"#);
    assert!(code == 1 && out.contains("above `Car`, got `Vehicle`; 1 other tie leads to no class, too"), "{out}");
    let (code, out) = checked("no JSON");
    assert!(code == 1 && out.contains("error: cannot read `ds/hierarchy.json`: "), "{out}");
    std::fs::remove_file(sandbox.path("ds/hierarchy.json")).unwrap();
    assert!(!sandbox.run("data check ds").out.contains("hierarchy"));
}

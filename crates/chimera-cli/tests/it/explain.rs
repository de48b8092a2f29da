//! `explain` as a user meets it: the numbers of `score`, repairs that hold, evidence where the object is, a page that computes what-if as `score` does.

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use serde_json::Value;

use crate::support::Sandbox;
use crate::support::trained::trained;

fn explained(sandbox: &Sandbox, words: &str) -> Value {
    let ran = sandbox.run(&format!("explain {words} --json --cache cache"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The numbers of `score` for a sample.
fn scored(sandbox: &Sandbox, words: &str) -> Value {
    let ran = sandbox.run(&format!("score {words} --json --cache cache"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(ran.out.lines().next().unwrap()).unwrap()
}

#[test]
fn an_explanation_has_the_numbers_of_score() {
    let sandbox = trained();
    for method in ["neural", "indep-cal", "chimera", "graft", "wmc", "indep"] {
        let told = explained(&sandbox, &format!("model ds --id s000000 --method {method}"));
        let row = scored(&sandbox, &format!("model ds --split test --method {method}"));
        assert_eq!(row["id"], "s000000");
        assert_eq!(told["anomaly"], row["anomaly"], "{method}");
        assert_eq!(told["flagged"], row["flagged"]);
        let standings = told["standings"].as_array().unwrap();
        assert_eq!(standings.len(), 2);
        for standing in standings {
            let name = standing["rule"].as_str().unwrap();
            assert_eq!(standing["score"], row[format!("rule:{name}")], "{method} {name}");
            assert_eq!(standing["p"], row[format!("p:{name}")], "{method} {name}");
        }
        // Parts of a rule have probabilities of their own, by the same method.
        let parts = told["rules"][0]["parts"].as_array().unwrap();
        assert!(parts.iter().all(|part| (0.0..=1.0).contains(&part["p"].as_f64().unwrap())), "{parts:?}");
    }
}

/// What is believed of concepts breaks the rule and the repair mends it, or keeps it and the change breaks it.
#[test]
fn changes_turn_what_is_believed() {
    let sandbox = trained();
    let mut seen = [0; 2];
    for number in (0..400).step_by(20) {
        let told = explained(&sandbox, &format!("model ds --id s{number:06} --rule watched"));
        let rule = &told["rules"][0];
        let believed = |concept: &str| {
            let of = told["concepts"].as_array().unwrap().iter().find(|of| of["concept"] == concept).unwrap();
            of["p"].as_f64().unwrap() >= 0.5
        };
        let value = |list: &Value, concept: &str| {
            list.as_array().unwrap().iter().find(|of| of["concept"] == concept)?["shown"].as_bool()
        };
        let breach = &rule["breach"]["concepts"];
        assert_eq!(
            [value(breach, "a"), value(breach, "b")],
            [Some(true), Some(false)],
            "the one way to break `a => b`"
        );
        let is_broken = believed("a") && !believed("b");
        let change = if is_broken { &rule["repair"] } else { &rule["breaks"] };
        assert!(rule["repair"].is_null() != is_broken && rule["breaks"].is_null() == is_broken, "{rule}");
        let is = |concept: &str| value(&change["concepts"], concept).unwrap_or(believed(concept));
        assert_eq!(is("a") && !is("b"), !is_broken, "{rule}");
        for of in change["concepts"].as_array().unwrap() {
            assert_ne!(of["shown"], believed(of["concept"].as_str().unwrap()), "{rule}");
        }
        assert!(change["cost"].as_f64().unwrap() >= 0.0);
        let words = change["words"].as_str().unwrap();
        assert!(words.starts_with(if is_broken { "would hold if `" } else { "would be broken if `" }), "{words}");
        seen[usize::from(is_broken)] += 1;
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");
}

#[test]
fn what_cannot_be_explained_gets_words() {
    let sandbox = trained();
    sandbox.write("why.html", "mine");
    for (words, expected) in [
        ("model ds", "expected one sample of the dataset `ds`\nhint: name it with `--id`, for instance `--id s000000`"),
        ("model ds --id nobody", "the dataset `ds` has no sample `nobody`"),
        ("model ds --id s000000 --rule wached", "the model has no rule `wached`\nhint: did you mean `watched`?"),
        ("model ds --id s000000 --rule zzzzzzzz", "hint: it has watched, either"),
        ("model ds --id s000000 -o why.txt", "expected a page `.html` for `-o`, got `why.txt`"),
        ("model ds --id s000000 -o model/why.html", "`model/why.html` lies in `model`, which the command reads"),
        ("model ds --id s000000 -o -", "expected a file for `-o`, got `-`"),
        ("model ds --id s000000 -o /dev/stdout", "expected a file for `-o`, got `/dev/stdout`"),
        ("model ds --id s000000 --fpr 2", "expected `--fpr` from"),
        ("model ds --id s000000 --method oracle", "invalid value"),
        ("model gone.jpg -o why.html", "expected a dataset folder with features"),
        ("nothing ds --id s000000", "cannot read `nothing/manifest.json`: "),
    ] {
        let ran = sandbox.run(&format!("explain {words}"));
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
        assert!(ran.out.is_empty());
    }
    assert_eq!(sandbox.read("why.html"), "mine");
}

const RED: [u8; 3] = [210, 30, 30];
const YELLOW: [u8; 3] = [220, 200, 40];
const SIDE: usize = 32;
const SQUARE: usize = 8;

/// A noisy grey picture with squares; where the first is.
fn painted(random: &mut fastrand::Rng, colors: &[[u8; 3]]) -> (Picture, Option<[usize; 2]>) {
    let mut picture = Picture::filled(Size::new(SIDE, SIDE).unwrap(), [0; 3]);
    picture.pixels_mut().iter_mut().for_each(|byte| *byte = 110 + random.u8(..30));
    let mut places: Vec<[usize; 2]> = Vec::new();
    for color in colors {
        let place = loop {
            let place = [random.usize(..SIDE - SQUARE), random.usize(..SIDE - SQUARE)];
            let apart = |other: &[usize; 2]| (0..2).any(|side| place[side].abs_diff(other[side]) > SQUARE);
            if places.iter().all(apart) {
                break place;
            }
        };
        for row in place[1]..place[1] + SQUARE {
            for column in place[0]..place[0] + SQUARE {
                picture.pixels_mut()[(row * SIDE + column) * 3..][..3].copy_from_slice(color);
            }
        }
        places.push(place);
    }
    (picture, places.first().copied())
}

/// Pictures of coloured squares under `red => blue | green`, and a model of them.
fn squares() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(8);
    let mut table = String::from("id,media,split,red,blue,green,yellow\n");
    std::fs::create_dir(sandbox.path("media")).unwrap();
    for row in 0..700 {
        let [red, blue, green, yellow]: [bool; 4] = std::array::from_fn(|_| random.bool());
        let blue = blue || (red && !green);
        let mut colors = Vec::new();
        let squares = [(red, RED), (blue, [30, 60, 220]), (green, [30, 190, 50]), (yellow, YELLOW)];
        squares.into_iter().for_each(|(shown, color)| colors.extend(shown.then_some(color)));
        let name = format!("{row:04}.png");
        write_png(&sandbox.path("media").join(&name), &painted(&mut random, &colors).0).unwrap();
        let labels = [red, blue, green, yellow].map(|shown| u8::from(shown).to_string()).join(",");
        table += &format!("s{row:04},{name},train,{labels}\n");
    }
    sandbox.write("labels.csv", table);
    sandbox.write("my.rules", "red_in_company: red => blue | green\n");
    let ran = sandbox.run("import table labels.csv --media-root media --size 32x32 --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = sandbox.run(
        "train ds --rules my.rules --out model --cache cache --size 32 --features 32 --hidden 16 --epochs 12 --batch 16 --rate 0.002 --patience 12 \
         --gate-epochs 4",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

#[test]
fn evidence_lies_on_the_object_and_the_page_counts_as_score_does() {
    let sandbox = squares();
    let mut random = fastrand::Rng::with_seed(9);
    let (mut hits, mut broken, count) = (0, 0, 12);
    for number in 0..count {
        let (picture, place) = painted(&mut random, &[RED, YELLOW]);
        write_png(&sandbox.path(&format!("odd{number}.png")), &picture).unwrap();
        let told = explained(&sandbox, &format!("model odd{number}.png --top-k 1 --fpr 0.05"));
        broken += usize::from(told["flagged"] == true && told["rules"][0]["rule"] == "red_in_company");
        let maps = told["rules"][0]["maps"].as_array().unwrap();
        let of_rule = maps.iter().find(|map| map["concept"].is_null()).unwrap();
        let peak = [0, 1].map(|side| (of_rule["peak"][side].as_f64().unwrap() * SIDE as f64) as usize);
        hits +=
            usize::from((0..2).all(|side| (place.unwrap()[side]..place.unwrap()[side] + SQUARE).contains(&peak[side])));
    }
    // The square fills a sixteenth of the picture.
    assert!(broken >= 9 && hits >= 9, "{broken} flagged for the rule, evidence in the square in {hits} of {count}");

    let ran = sandbox.run("explain model odd0.png -o why.html --cache cache --method wmc");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("odd0.png: ") && ran.out.contains("  would "), "{}", ran.out);
    let page = sandbox.read("why.html");
    assert!(page.len() < 3_000_000 && page.matches("data:image/jpeg").count() == 1);
    for outside in ["http:", "https:", "src="] {
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains(outside), "{outside}");
    }
    // What the page's script computes with, computed here as it does; against `score`.
    let data = page.split_once("const data=").unwrap().1.split_once(";\n").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    let told = explained(&sandbox, "model odd0.png --method wmc");
    let names: Vec<&str> =
        told["concepts"].as_array().unwrap().iter().map(|of| of["concept"].as_str().unwrap()).collect();
    for (set, value) in [("", 0.0), ("--set blue=1", 1.0), ("--set blue=0", 0.0)] {
        let mut p: Vec<f64> = data["concepts"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
        if !set.is_empty() {
            p[names.iter().position(|name| *name == "blue").unwrap()] = value;
        }
        let row = scored(&sandbox, &format!("model odd0.png --method wmc {set}"));
        for (rule, standing) in data["rules"].as_array().unwrap().iter().zip(told["standings"].as_array().unwrap()) {
            let mut values = vec![0.0, 1.0];
            for decision in rule["decisions"].as_array().unwrap() {
                let [concept, low, high] = [0, 1, 2].map(|at| decision[at].as_u64().unwrap() as usize);
                values.push(p[concept] * values[high] + (1.0 - p[concept]) * values[low]);
            }
            let found = values[rule["root"].as_u64().unwrap() as usize];
            let expected = row[format!("p:{}", standing["rule"].as_str().unwrap())].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-9, "{set} {standing}: {found} {expected}");
        }
    }

    // Media that cannot be read leave an older page as it is.
    let bytes = std::fs::read(sandbox.path("odd0.png")).unwrap();
    sandbox.write("cut.png", &bytes[..200]);
    let ran = sandbox.run("explain model cut.png -o why.html");
    assert!(ran.code == 2 && ran.err.contains("`cut.png` cannot be explained"), "{}", ran.err);
    assert_eq!(sandbox.read("why.html"), page);
    let ran = sandbox.run("explain model media");
    assert!(ran.code == 2 && ran.err.contains("expected one sample, got 700 in `media`"), "{}", ran.err);
}

#[cfg(feature = "evidence")]
#[test]
fn a_video_is_told_frame_by_frame() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run("world clevrer --out w --train 60 --test 4 --oracle 0 --size 48x32 --seed 3");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(sandbox.run("import clevrer w --rules w/rules.rules --out ds").code, 0);
    let ran = sandbox.run(
        "train ds --rules w/rules.rules --out model --cache cache --size 32 --pooling order --features 16 --hidden 8 --epochs 1 --gate-epochs 1",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ids = std::fs::read_dir(sandbox.path("w/video_test")).unwrap().next().unwrap().unwrap().path();
    let clip = std::fs::read_dir(ids).unwrap().next().unwrap().unwrap().path();
    let ran =
        sandbox.run(&format!("explain model {} -o why.html --json --cache cache --method indep-cal", clip.display()));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let frames = told["frames"].as_u64().unwrap() as usize;
    assert!(frames > 1);
    for rule in told["rules"].as_array().unwrap() {
        let when = &rule["when"];
        assert_eq!([&when["so_far"], &when["without"]].map(|list| list.as_array().unwrap().len()), [frames; 2]);
        // With all frames seen it is what it is.
        let standing = told["standings"].as_array().unwrap().iter().find(|of| of["rule"] == rule["rule"]).unwrap();
        assert_eq!(when["so_far"][frames - 1], standing["score"]);
        let looked_at: Vec<u64> =
            rule["maps"].as_array().unwrap().iter().map(|map| map["frame"].as_u64().unwrap()).collect();
        // What breaks a rule by missing is seen nowhere.
        let is_seen = rule["breach"]["concepts"].as_array().unwrap().iter().any(|of| of["shown"] == true);
        assert_eq!(!looked_at.is_empty(), is_seen, "{rule}");
        assert!(looked_at.iter().all(|frame| (*frame as usize) < frames));
    }
    let page = sandbox.read("why.html");
    assert!(
        page.contains("score, had the video stopped there") && page.matches("data:image/jpeg").count() >= frames.min(8)
    );
    // One frame would make a model of pictures, which refuses videos.
    let ran = sandbox.run("train ds --out one --cache cache --frames 1");
    assert!(ran.code == 2 && ran.err.contains("expected at least 2 frames of a video, got `1`"), "{}", ran.err);
}

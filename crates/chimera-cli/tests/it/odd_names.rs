//! Names that hold `<`, `"`, `&` and letters of any script, from labels to the pages of `explain` and `data check --model`; and what pages of
//! pictures show.

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use serde_json::Value;

use crate::support::Sandbox;

const CAP: &str = "<i>cap</i> & \"visor\"";
const AREA: &str = "große Fläche 面";
const WORN: &str = "<worn> & \"safe\" ü";
const RULES: &str = r#"
"<worn> & \"safe\" ü": "<i>cap</i> & \"visor\"" => "große Fläche 面"
either: "<i>cap</i> & \"visor\"" | green
"#;
const ROWS: usize = 240;
const SIDE: usize = 32;
/// Rows whose labels are turned over for the audit.
const WRONG: usize = 5;

/// A noisy grey picture with a band a concept that is shown.
fn painted(random: &mut fastrand::Rng, shown: [bool; 3]) -> Picture {
    let mut picture = Picture::filled(Size::new(SIDE, SIDE).unwrap(), [0; 3]);
    picture.pixels_mut().iter_mut().for_each(|byte| *byte = 110 + random.u8(..30));
    let colors = [[210, 30, 30], [30, 60, 220], [30, 190, 50]];
    for (band, color) in colors.iter().enumerate().filter(|(band, _)| shown[*band]) {
        for row in 0..SIDE {
            for column in 10 * band + 2..10 * band + 10 {
                picture.pixels_mut()[(row * SIDE + column) * 3..][..3].copy_from_slice(color);
            }
        }
    }
    picture
}

/// Pictures under rules that their labels keep, a model of them, and the same pictures with some wrong labels.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(5);
    let head = format!("id,media,split,\"{}\",{AREA},green\n", CAP.replace('"', "\"\""));
    let [mut table, mut wrong] = [head.clone(), head];
    std::fs::create_dir(sandbox.path("media")).unwrap();
    let mut turned = 0;
    for row in 0..ROWS {
        let [cap, area, green]: [bool; 3] = std::array::from_fn(|_| random.bool());
        let [area, green] = [area || cap, green || !cap];
        let name = format!("{row:04}.png");
        write_png(&sandbox.path("media").join(&name), &painted(&mut random, [cap, area, green])).unwrap();
        let line = |area: bool| {
            let labels = [cap, area, green].map(|shown| u8::from(shown).to_string()).join(",");
            format!("s<{row:04}>,{name},train,{labels}\n")
        };
        table += &line(area);
        let is_turned = cap && turned < WRONG;
        wrong += &line(area && !is_turned);
        turned += usize::from(is_turned);
    }
    sandbox.write("labels.csv", table);
    sandbox.write("wrong.csv", wrong);
    sandbox.write("my.rules", RULES);
    for (labels, folder) in [("labels", "ds"), ("wrong", "noisy")] {
        let ran = sandbox.run(&format!("import table {labels}.csv --media-root media --size 32x32 --out {folder}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let ran = sandbox.run(
        "train ds --rules my.rules --out model --cache cache --size 32 --features 16 --hidden 8 --epochs 2 --batch 16 --rate 0.002 --gate-epochs 1",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

/// Names are on the page as text, and nothing of them as HTML.
fn is_escaped(page: &str) {
    for name in ["&lt;i&gt;cap&lt;/i&gt; &amp; &quot;visor&quot;", AREA, "&lt;worn&gt; &amp; &quot;safe&quot; ü"] {
        assert!(page.contains(name), "{name}");
    }
    for raw in ["<i>cap", "<worn>", "s<0"] {
        assert!(!page.contains(raw), "{raw}");
    }
}

#[test]
fn names_of_any_kind_stay_text_on_pages() {
    let sandbox = sandbox();
    let explain = |rule: &str| {
        let mut command = sandbox.command("explain model noisy --id s<0000> -o why.html --json --cache cache --rule");
        let output = command.arg(rule).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        (told["rules"][0].clone(), sandbox.read("why.html"))
    };
    let (rule, page) = explain(WORN);
    assert_eq!(rule["rule"], WORN);
    let breach: Vec<(&str, bool)> = rule["breach"]["concepts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| (of["concept"].as_str().unwrap(), of["shown"].as_bool().unwrap()))
        .collect();
    assert_eq!(breach.len(), 2);
    assert!(breach.contains(&(CAP, true)) && breach.contains(&(AREA, false)), "{breach:?}");
    assert!(!rule["maps"].as_array().unwrap().is_empty());
    assert!(page.contains("s&lt;0000&gt;"));
    is_escaped(&page);
    // What breaks this one is missing: there is nothing to point at.
    let (rule, page) = explain("either");
    assert!(rule["breach"]["concepts"].as_array().unwrap().iter().all(|of| of["shown"] == false), "{rule}");
    assert_eq!(rule["maps"], serde_json::json!([]));
    assert!(page.contains("what breaks the rule is missing") && !page.contains("<b>what breaks it</b>"));
    is_escaped(&page);

    let ran = sandbox.run("data check noisy --rules my.rules --model model --cache cache -o audit");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let page = sandbox.read("audit/audit.html");
    is_escaped(&page);
    // A card with a thumbnail for each row that breaks the rule.
    assert_eq!(page.matches("<div class=\"card\" data-verdict=").count(), WRONG);
    assert_eq!(page.matches("url(data:image/jpeg;base64,").count(), WRONG);
    assert_eq!(page.matches("<div class=\"tile bad t").count(), WRONG);
    assert!(!page.contains("<script") && !page.contains("no media") && !page.contains("thumbnails of"));
    let mut csv = csv::Reader::from_path(sandbox.path("audit/audit.csv")).unwrap();
    let concepts: Vec<String> = csv.records().map(|record| record.unwrap()[4].to_owned()).collect();
    assert_eq!(concepts.len(), 2 * WRONG);
    assert!(concepts.iter().all(|concept| [CAP, AREA].contains(&concept.as_str())), "{concepts:?}");
}

//! The commands `import` and `data` as a user meets them, up to a kill in the middle of an import.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chimera_data::media::image::ImageReader;
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::Sandbox;

const LABELS: &str = "id,media,split,person,helmet\n\
    a,a.png,train,1,1\nb,b.png,train,0,0\nc,c.png,train,1,0\nd,d.png,calibration,1,1\ne,e.png,test,1,\nf,f.png,test,0,0\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("labels.csv", LABELS);
    sandbox.write("my.rules", "worn: person => helmet\n");
    std::fs::create_dir(sandbox.path("images")).unwrap();
    for (number, name) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
        picture(&sandbox, &format!("images/{name}.png"), 40 * number as u8);
    }
    sandbox
}

/// A small picture of one grey.
fn picture(sandbox: &Sandbox, name: &str, grey: u8) {
    write_png(&sandbox.path(name), &Picture::filled(Size::new(20, 10).unwrap(), [grey; 3])).unwrap();
}

#[test]
fn import_show_check_and_rules_on_a_folder() {
    let sandbox = sandbox();
    let ran = sandbox.run("import table labels.csv --media-root images --out ds");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert!(
        ran.err.contains("`ds`: 6 samples of kind image, 2 concepts; train 3, calibration 1, test 2"),
        "{}",
        ran.err
    );

    assert!(sandbox.read("ds/dataset.toml").contains("media-root = \"../images\""));

    let shown = sandbox.run("data show ds");
    assert_eq!(shown.code, 0, "{}", shown.err);
    for part in ["ds: 6 samples of kind image, 2 concepts", "8.3 % of labels unknown", "person", "0.6667"] {
        assert!(shown.out.contains(part), "{part} in\n{}", shown.out);
    }
    let json: serde_json::Value = serde_json::from_str(&sandbox.run("data show ds --json").out).unwrap();
    assert_eq!(json["splits"][0]["rows"], 3);
    assert_eq!(json["concepts"][1]["unknown"], 1);
    assert_eq!(json["fingerprints"]["rows"].as_str().unwrap().len(), 64);

    let check = sandbox.run("data check ds");
    let nothing = "unknown labels: 8.3 % (1 of 12)\n  helmet: 16.7 %\n\nno findings\n";
    assert_eq!((check.code, check.out.as_str()), (0, nothing), "{}", check.err);
    let check = sandbox.run("data check ds --rules my.rules");
    assert_eq!(check.code, 0, "warnings alone are no failure");
    assert!(check.out.contains("warning: 1 row to learn from breaks rule `worn`\n  c\n"), "{}", check.out);
    assert!(check.out.contains("0 errors, 1 warning"), "{}", check.out);
    let report: serde_json::Value =
        serde_json::from_str(&sandbox.run("data check ds --rules my.rules --json").out).unwrap();
    assert_eq!(report["rules"][0]["broken"]["train"], serde_json::json!(["c"]));
    assert_eq!(report["rules"][0]["unknown"], 1);
    assert_eq!(report["findings"][0]["kind"], "broken-rule");

    // Rules on the folder are rules on its table.
    let truth = |data: &str| sandbox.run(&format!("rules truth my.rules --data {data}")).out;
    assert_eq!(truth("ds"), truth("labels.csv"));
    let rules = sandbox.run("rules check my.rules --data ds");
    assert!(rules.out.contains("broken by 1 of the 3 training rows"), "{}", rules.out);
    let again = sandbox.run("import table labels.csv --out ds");
    assert_eq!(again.code, 2);
    assert!(again.err.contains("expected an empty or new folder"), "{}", again.err);
}

#[test]
fn check_finds_what_is_wrong() {
    let sandbox = sandbox();
    sandbox.write(
        "bad.csv",
        "id,media,split,person,never,nowhere\na,a.png,train,1,0,\nb,a.png,test,0,0,\nc,gone.png,train,1,0,\nd,b.png,train,0,0,\n",
    );
    let ran = sandbox.run("import table bad.csv --media-root images --out ds");
    assert!(
        ran.err.contains("note: 1 medium that is not there (its sample stays, without it)\n  gone.png"),
        "{}",
        ran.err
    );
    let check = sandbox.run("data check ds/");
    assert_eq!(check.code, 1);
    for part in [
        "error: 1 medium is not there\n  gone.png",
        "error: 1 medium is in two splits\n  a.png: calibration and test",
        "warning: 1 concept is the same on all train rows where it is known: nothing can be learned of it\n  never: never there",
        "warning: 1 concept is known on no train row\n  nowhere",
        "unknown labels: 33.3 % (4 of 12)\n  nowhere: 100.0 %",
        "2 errors, 2 warnings",
    ] {
        assert!(check.out.contains(part), "{part} in\n{}", check.out);
    }
    sandbox.write("hand/dataset.toml", "name = 'hand'\nkind = 'labels'\n");
    sandbox.write("hand/samples.csv", "id,red\na,1\na,yes\n");
    let check = sandbox.run("data check hand --json");
    assert_eq!(check.code, 1);
    let report: serde_json::Value = serde_json::from_str(&check.out).unwrap();
    assert_eq!((&report["findings"][0]["kind"], &report["findings"][0]["count"]), (&"unreadable".into(), &2.into()));
}

/// What would keep a reader waiting for ever is told apart without being opened, and a lost root takes one line.
#[cfg(unix)]
#[test]
fn pipes_and_lost_roots_are_findings() {
    let sandbox = sandbox();
    sandbox.run("import table labels.csv --media-root images --out ds");
    std::fs::remove_file(sandbox.path("images/b.png")).unwrap();
    let made = Command::new("mkfifo").arg(sandbox.path("images/b.png")).status().unwrap();
    assert!(made.success());
    let check = sandbox.run("data check ds");
    assert!(
        check.out.contains("error: 1 medium cannot be decoded\n  b.png: it is not a regular file"),
        "{}",
        check.out
    );
    let shown = sandbox.run("data show ds --sheet sheet.png");
    assert!(shown.err.contains("left out: cannot read"), "{}", shown.err);
    std::fs::rename(sandbox.path("images"), sandbox.path("moved")).unwrap();
    let check = sandbox.run("data check ds");
    assert_eq!((check.code, check.out.lines().count()), (1, 5), "{}", check.out);
    assert!(check.out.starts_with("error: the media root `ds/../images` is not there\n"), "{}", check.out);
}

/// A video of three frames where five are taken is counted and listed, and read all the same.
#[test]
fn short_videos_are_listed() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("clips")).unwrap();
    for (name, frames) in [("long.mp4", "9"), ("short.mp4", "3")] {
        let mut command = Command::new("ffmpeg");
        command.args(["-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=5", "-frames:v", frames]);
        let Ok(status) = command.arg(sandbox.path("clips").join(name)).status() else {
            println!("skipped: there is no ffmpeg");
            return;
        };
        assert!(status.success());
    }
    sandbox.write("clips.csv", "id,media,split,red\na,long.mp4,train,1\nb,short.mp4,test,0\n");
    let ran = sandbox.run("import table clips.csv --media-root clips --frames 5 --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let check = sandbox.run("data check ds");
    let expected = "warning: 1 video is short: frames are repeated\n  short.mp4: 3 of the 5 frames that are taken\n";
    assert!(check.code == 0 && check.out.contains(expected), "{}", check.out);
}

/// Media are read: damage and copies under other names are found, and a sheet shows what is left.
#[test]
fn media_are_looked_into() {
    let sandbox = sandbox();
    sandbox.run("import table labels.csv --media-root images --out ds");
    // `e` is of test and becomes a copy of `a`, which is of train; `b` loses its end; `c` is something else.
    std::fs::copy(sandbox.path("images/a.png"), sandbox.path("images/e.png")).unwrap();
    let whole = std::fs::read(sandbox.path("images/b.png")).unwrap();
    sandbox.write("images/b.png", &whole[..whole.len() / 2]);
    sandbox.write("images/c.png", "not a picture");
    let check = sandbox.run("data check ds --threads 2");
    assert_eq!(check.code, 1, "{}", check.err);
    for part in [
        "error: 2 media cannot be decoded",
        "  b.png: the image is damaged or cut off",
        "  c.png: no image format is recognised",
        "error: 1 medium is in two splits\n  e.png: train and test, the same as a.png",
        "2 errors, 0 warnings",
    ] {
        assert!(check.out.contains(part), "{part} in\n{}", check.out);
    }
    let names = sandbox.run("data check ds --no-decode").out;
    assert_eq!(names, "unknown labels: 8.3 % (1 of 12)\n  helmet: 16.7 %\n\nno findings\n");

    let shown = sandbox.run("data show ds --sheet sheet.png --samples 5");
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.err.contains("4 samples in `sheet.png`"), "{}", shown.err);
    assert_eq!(shown.err.matches("left out: cannot use").count(), 2, "{}", shown.err);
    let reader = ImageReader::default();
    let sheet = reader.read_within(&sandbox.path("sheet.png"), 690.try_into().unwrap()).unwrap();
    // Four cells of 160 pixels and a margin of 10, as in `media/sheet`.
    assert_eq!(sheet.size().width(), 690);
    let same = sandbox.run("data show ds --sheet again.png --samples 5");
    assert_eq!(same.code, 0);
    let bytes = |name: &str| std::fs::read(sandbox.path(name)).unwrap();
    assert_eq!(bytes("sheet.png"), bytes("again.png"));
    for (words, expected) in [
        ("data show ds --sheet sheet.jpg", "`.png`"),
        ("data show ds --samples 5", "--sheet"),
        ("data show ds --sheet sheet.png --samples 0", "1 at least"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}");
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
    }
}

#[test]
fn what_cannot_run_exits_2_and_says_why() {
    let sandbox = sandbox();
    // Without media there is no sheet, but all else is told.
    sandbox.write("bare/dataset.toml", "name = 'bare'\nkind = 'labels'\n");
    sandbox.write("bare/samples.csv", "id,split,red\na,train,1\nb,test,0\n");
    let shown = sandbox.run("data show bare --sheet sheet.png");
    assert_eq!(shown.code, 2, "{}", shown.err);
    assert!(shown.out.starts_with("bare: 2 samples of kind labels, 1 concept\n"), "{}", shown.out);
    assert!(shown.err.contains("got `bare` of kind labels\nhint: import it again with its pictures"), "{}", shown.err);
    sandbox.write("yes.csv", "id,red\na,yes\n");
    for (words, expected) in [
        ("import table none.csv --out ds", "cannot read `none.csv`"),
        ("import table yes.csv --out ds", "got `yes`"),
        ("import table labels.csv", "--out"),
        ("import table labels.csv --out no/such/ds", "no/such/ds"),
        ("import table labels.csv --out ds --split train:1", "train=0.8,test=0.2"),
        ("import table labels.csv --out ds --split fold=1", "train=0.8,test=0.2"),
        ("import table labels.csv --out ds --split train=0.5,test=0.4", "expected shares that sum to 1"),
        ("import table labels.csv --out ds --split test=1", "expected a share of train"),
        ("import table labels.csv --out ds --strict", "expected `--media-root` beside `--strict`"),
        (
            "import features labels.csv --features z.npy --kind video --out ds",
            "expected `--media-root` beside `--kind`",
        ),
        ("import table labels.csv --out ds --ignore id", "got `--id-column` and `--ignore`"),
        (
            "import table labels.csv --out ds --split-column person --group-column person",
            "one use for the column `person`",
        ),
        ("import table labels.csv --out ds --limit 0", "expected a limit of 1 at least"),
        ("import table labels.csv --out ds --unknown 1", "possible values: 0"),
        ("import table labels.csv --out ds --group-column patient", "expected a column `patient`"),
        ("import features labels.csv --features z.npy --out ds", "cannot read `z.npy`"),
        ("import mnist images --out ds", "expected `train-images-idx3-ubyte`"),
        ("import coco labels.csv --media-root images --out ds", "cannot read `labels.csv`"),
        ("data show nowhere", "cannot read `nowhere`"),
        ("data show images", "expected a dataset folder"),
        ("data check nowhere", "cannot read `nowhere`"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{words}: {}", ran.err);
    }
    assert_eq!(sandbox.files(), ["bare", "images", "labels.csv", "my.rules", "yes.csv"]);
}

/// An import that takes a while, caught in the middle of writing its pictures.
fn importing(sandbox: &Sandbox, command: &mut Command) -> Child {
    let count = 30_000u32;
    let head = |shape: &[u32]| -> Vec<u8> {
        [0, 0, 8, shape.len() as u8].into_iter().chain(shape.iter().flat_map(|length| length.to_be_bytes())).collect()
    };
    let images: Vec<u8> = head(&[count, 8, 8]).into_iter().chain((0..count * 64).map(|pixel| pixel as u8)).collect();
    let labels: Vec<u8> = head(&[count]).into_iter().chain((0..count).map(|picture| (picture % 10) as u8)).collect();
    sandbox.write("mnist/train-images-idx3-ubyte", images);
    sandbox.write("mnist/train-labels-idx1-ubyte", labels);
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let writes = || {
        let folder = sandbox.files().into_iter().find(|name| name.starts_with(".chimera-"));
        folder.is_some_and(|folder| sandbox.path(&folder).join("media/train/01").exists())
    };
    while !writes() {
        assert!(!sandbox.path("ds").exists(), "the import was over before it could be stopped");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_kill_while_writing_leaves_no_dataset() {
    let sandbox = Sandbox::new();
    let mut child = importing(&sandbox, &mut sandbox.command("import mnist mnist --out ds"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!sandbox.path("ds").exists());
    let left = sandbox.files().into_iter().find(|name| name.starts_with(".chimera-")).unwrap();
    assert_eq!(sandbox.run(&format!("data show {left}")).code, 2);
    let ran = sandbox.run("import mnist mnist --limit 100 --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(sandbox.run("data check ds -q --no-decode").code, 0);
}

#[cfg(unix)]
fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_at_all() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let sandbox = Sandbox::new();
        let mut child = importing(&sandbox, &mut sandbox.command("import mnist mnist --out ds"));
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(sandbox.files(), ["mnist"], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_shall_outlive_its_terminal_does() {
    let sandbox = Sandbox::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" import mnist mnist --out ds", env!("CARGO_BIN_EXE_chimera")]);
    let mut child = importing(&sandbox, shell.current_dir(sandbox.path("")));
    send("-HUP", &child);
    assert!(child.wait().unwrap().success());
    assert!(sandbox.path("ds/dataset.toml").exists());
}

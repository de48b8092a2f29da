//! Media that cannot be read: every command that meets some says so, with `-q`, too.

use std::fs;

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::Sandbox;

/// A dataset folder `ds` of pictures, two of which were damaged after the import: one of train, one of test.
fn damaged() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(6);
    let mut table = String::from("id,media,split,bright,red\n");
    fs::create_dir(sandbox.path("images")).unwrap();
    for number in 0..80 {
        let (bright, red) = if number == 5 { (true, false) } else { (random.bool(), random.bool()) };
        let grey = if bright { random.u8(140..200) } else { random.u8(20..80) };
        let picture = Picture::filled(Size::new(16, 16).unwrap(), [if red { 255 } else { grey }, grey, grey]);
        write_png(&sandbox.path(&format!("images/{number}.png")), &picture).unwrap();
        let split = if number % 4 == 0 { "test" } else { "train" };
        table += &format!("s{number},{number}.png,{split},{},{}\n", u8::from(bright), u8::from(red));
    }
    sandbox.write("labels.csv", table);
    sandbox.write("r.rules", "r: bright => red\n");
    sandbox.write("more.rules", "more: red => bright\n");
    assert_eq!(sandbox.run("import table labels.csv --media-root images --out ds").code, 0);
    sandbox.write("images/5.png", "no picture");
    sandbox.write("images/8.png", "no picture");
    sandbox
}

#[test]
fn commands_say_what_they_cannot_read_with_q_too() {
    let sandbox = damaged();
    let warning = "warning: 2 samples left out, without a medium that can be decoded\n";
    let sizes = "--size 16 --features 8 --hidden 8 --epochs 1 --gate-epochs 1";
    // What lies in caches makes no difference.
    let train = |out: &str| format!("train ds --rules r.rules --out {out} --cache cache {sizes}");
    for words in [
        train("model").as_str(),
        &train("again"),
        "add model more.rules --data ds --cache cache",
        "eval model ds -o report --cache cache --methods indep",
        "data check ds --rules r.rules --model model --cache cache",
    ] {
        let ran = sandbox.run(&format!("{words} -q"));
        assert_eq!(ran.code, i32::from(words.starts_with("data check")), "{words}: {}", ran.err);
        assert!(ran.err.contains(warning), "{words}: {}", ran.err);
        assert!(!ran.err.contains("epoch") && !ran.err.contains(".png"), "{words}: {}", ran.err);
    }
    // Findings are results, which `-q` leaves as they are.
    let check = sandbox.run("data check ds -q");
    assert_eq!(check.code, 1);
    assert!(check.out.starts_with("error: 2 media cannot be decoded\n  5.png: "), "{}", check.out);
    for words in ["data show ds --sheet s.png --samples 80", "mine ds --explain bright=>red --sheet s.png --samples 80"]
    {
        let ran = sandbox.run(&format!("{words} -q"));
        assert_eq!(ran.code, 0, "{words}: {}", ran.err);
        assert!(ran.err.contains("warning: left out: cannot use `ds/../images/5.png`: "), "{words}: {}", ran.err);
    }
}

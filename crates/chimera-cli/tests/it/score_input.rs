//! What can be given to `score`: patterns, names with white space, and clear words about everything else.

use std::fs;

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::trained::{import, trained};
use crate::support::{Ran, Sandbox};

/// A folder with pictures in `images`, the dataset `ds` of them, and `model`.
fn pictures() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,media,split,bright,red\n");
    fs::create_dir_all(sandbox.path("images/more")).unwrap();
    for number in 0..80 {
        let (bright, red) = (random.bool(), random.bool());
        let grey = if bright { random.u8(140..200) } else { random.u8(20..80) };
        let picture = Picture::filled(Size::new(16, 16).unwrap(), [if red { 255 } else { grey }, grey, grey]);
        let name = if number % 2 == 0 { format!("more/{number}.png") } else { format!("{number}.png") };
        write_png(&sandbox.path(&format!("images/{name}")), &picture).unwrap();
        table += &format!("i{number},{name},train,{},{}\n", u8::from(bright), u8::from(red));
    }
    sandbox.write("labels.csv", table);
    sandbox.write("r.rules", "r: bright => red\n");
    assert_eq!(sandbox.run("import table labels.csv --media-root images --out ds").code, 0);
    let train = "train ds --rules r.rules --out model --cache cache --size 16 --features 16 --hidden 16 --epochs 1";
    let ran = sandbox.run(train);
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

fn score(sandbox: &Sandbox, inputs: &[&str]) -> Ran {
    Ran::from(sandbox.command("score model --cache cache").args(inputs).output().unwrap())
}

/// Ids of the rows, in order.
fn ids(ran: &Ran) -> Vec<&str> {
    assert_eq!(ran.code, 0, "{}", ran.err);
    ran.out.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect()
}

#[test]
fn media_are_named_as_the_user_named_them() {
    let sandbox = pictures();
    assert_eq!(ids(&score(&sandbox, &["images/*.png"])).len(), 40);
    assert_eq!(ids(&score(&sandbox, &["images/**/*.png"])).len(), 80);
    assert_eq!(
        ids(&score(&sandbox, &["images/[13].png", "./images/more/2.png"])),
        ["images/1.png", "images/3.png", "./images/more/2.png"]
    );
    // Rows have the order of the inputs, those of a folder the order of their paths, and each path one row.
    let given = ["images/9.png", "images/more/2.png", "images/11.png", "images/more", "images/9.png"];
    let ran = score(&sandbox, &given);
    let rows = ids(&ran);
    assert_eq!((rows.len(), &rows[..3]), (42, &given[..3]));
    assert!(rows[3..].is_sorted() && rows[3..].iter().all(|id| id.starts_with("images/more/")), "{rows:?}");
    // White space belongs to a name, and so do the signs of patterns where there is such a file.
    for name in [" odd [1] .png ", "images [2].png"] {
        fs::copy(sandbox.path("images/1.png"), sandbox.path(name)).unwrap();
    }
    let ran = score(&sandbox, &["images [2].png", " odd [1] .png "]);
    assert_eq!(ids(&ran), ["images [2].png", " odd [1] .png "]);
    let whole = fs::canonicalize(sandbox.path("images/1.png")).unwrap();
    assert_eq!(ids(&score(&sandbox, &[whole.to_str().unwrap()])), [whole.to_str().unwrap()]);
    // All have the scores of the picture that they are copies of.
    let tail = |ran: &Ran| ran.out.lines().nth(1).unwrap().split_once(',').unwrap().1.to_owned();
    assert_eq!(tail(&ran), tail(&score(&sandbox, &["images/1.png"])));
}

#[test]
fn what_cannot_be_scored_is_said_before_any_work() {
    let sandbox = pictures();
    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.write("film.mp4", "no film");
    sandbox.write("list.csv", "no picture");
    import(&sandbox, "features", 20);
    fs::create_dir(sandbox.path("videos")).unwrap();
    sandbox.write("videos/dataset.toml", "name = 'v'\nkind = 'video'\nmedia-root = '.'\n");
    sandbox.write("videos/samples.csv", "id,media,split,bright,red\nv,../film.mp4,test,1,1\n".replace("../", ""));
    for (inputs, expected) in [
        (&["images/*.gif"][..], "expected files that match `images/*.gif`, got none"),
        (&["ds", "ds"], "expected one dataset folder, or media alone, got the dataset `ds` among 2 inputs"),
        (&["images", "features"], "got the dataset `features` among 2 inputs"),
        (&["gone.png"], "cannot read `gone.png`: no such file or folder"),
        (&["images/1.png", "gone"], "cannot read `gone`: no such file or folder"),
        (&["empty"], "expected pictures in `empty`, got none\nhint: the model looks at pictures"),
        (&["film.mp4"], "expected pictures, which the model looks at, got `film.mp4`"),
        (&["features"], "expected pictures in `features`, which the model looks at, got no media"),
        (&["videos"], "expected pictures in `videos`, which the model looks at, got videos"),
        (&["images", "--split", "test"], "`--split` is about a dataset folder"),
        (&["list.csv", "-o", "list.csv"], "`list.csv` is what the command reads; it is left as it is"),
    ] {
        let ran = score(&sandbox, inputs);
        assert_eq!(ran.code, 2, "{inputs:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{inputs:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{inputs:?}");
    }
    assert_eq!(sandbox.read("list.csv"), "no picture");
    // Nothing that can be read: there is a row all the same, which says why it has no score.
    let ran = score(&sandbox, &["list.csv", "-o", "out.csv"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.err.contains("warning: 1 of 1 input could not be read; the column `error` says why\n  list.csv: "),
        "{}",
        ran.err
    );
    let rows = sandbox.read("out.csv");
    let rows: Vec<&str> = rows.lines().collect();
    assert!(rows.len() == 2 && rows[1].starts_with("list.csv,,,"), "{rows:?}");
}

/// Whatever lies in a folder has a row or is counted in a warning, but for what is hidden.
#[cfg(unix)]
#[test]
fn nothing_in_a_folder_vanishes_without_a_word() {
    let sandbox = pictures();
    fs::create_dir(sandbox.path("odd")).unwrap();
    fs::copy(sandbox.path("images/1.png"), sandbox.path("odd/b.png")).unwrap();
    std::os::unix::fs::symlink("gone", sandbox.path("odd/a.png")).unwrap();
    std::os::unix::fs::symlink("../images", sandbox.path("odd/link")).unwrap();
    for name in ["notes.txt", "list.csv", "deep/more.txt", ".DS_Store", "film.mp4"] {
        sandbox.write(&format!("odd/{name}"), "x");
    }
    let left_out = "warning: left out 3 files that are neither pictures nor videos, such as `odd/deep/more.txt`\n\
                    warning: left out 1 video, `odd/film.mp4`: the model looks at pictures\n\
                    warning: left out 1 link to a folder, `odd/link`; what is there is taken where the link itself is named\n";
    let not_read = "could not be read; the column `error` says why\n";
    let ran = score(&sandbox, &["odd", "-q", "--fpr", "0.5"]);
    assert_eq!((ran.code, ran.err), (3, format!("{left_out}warning: 1 of 2 inputs {not_read}")));
    let rows: Vec<&str> = ran.out.lines().collect();
    assert!(rows.len() == 3 && rows[1].starts_with("odd/a.png,,,no such file or folder,,"), "{rows:?}");
    assert!(rows[2].starts_with("odd/b.png,0."), "{rows:?}");
    // A link that leads nowhere is there, also for a pattern and where it is named.
    for name in ["odd/a.*", "odd/a.png"] {
        let ran = score(&sandbox, &[name, "-q", "--fpr", "0.5"]);
        assert_eq!((ran.code, ran.err), (3, format!("warning: 1 of 1 input {not_read}")), "{name}");
    }
    assert_eq!(ids(&score(&sandbox, &["odd/link"])).len(), 80);

    // `explain` reads folders in the same way.
    fs::remove_file(sandbox.path("odd/a.png")).unwrap();
    let ran = sandbox.run("explain model odd --cache cache --no-maps -q --fpr 0.5");
    assert_eq!((ran.code, ran.err.as_str()), (0, left_out));
    assert!(ran.out.starts_with("odd/b.png: "), "{}", ran.out);
    std::os::unix::fs::symlink("gone", sandbox.path("odd/b2.png")).unwrap();
    let ran = sandbox.run("explain model odd/b2.png --cache cache");
    assert!(ran.code == 2 && ran.err.contains("`odd/b2.png` cannot be explained: "), "{}", ran.err);
}

#[test]
fn features_of_another_width_are_not_scored() {
    let sandbox = trained();
    sandbox.write_npy("wide.npy", 3, &[0; 24]);
    sandbox.write("wide.csv", "id,split,a,b\nx,test,1,1\ny,test,0,0\n");
    assert_eq!(sandbox.run("import features wide.csv --features wide.npy --out wide").code, 0);
    sandbox.write("bare.csv", "id,split,a,b\nx,test,1,1\ny,test,0,0\n");
    assert_eq!(sandbox.run("import table bare.csv --out bare").code, 0);
    sandbox.write("one.png", "");
    for (input, expected) in [
        ("wide", "expected 4 features a sample in `wide`, which the model looks at, got 3"),
        ("bare", "expected features in `bare`, which the model looks at, got no media"),
        ("one.png", "expected a dataset folder with features, as the model was trained on, got files"),
    ] {
        let ran = score(&sandbox, &[input]);
        assert_eq!(ran.code, 2, "{input}: {}", ran.err);
        assert!(ran.err.contains(expected), "{input}: {}", ran.err);
    }
}

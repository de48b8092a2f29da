//! A dataset of pictures that a small network can learn from.

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use super::Sandbox;

/// Pictures that are dark or bright, each with a stripe at one side, as a dataset folder `ds`.
pub(crate) fn pictures(count: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,media,split,bright,left\n");
    std::fs::create_dir(sandbox.path("images")).unwrap();
    for number in 0..count {
        let (bright, left) = (random.bool(), random.bool());
        let grey = if bright { random.u8(140..220) } else { random.u8(40..110) };
        let mut picture = Picture::filled(Size::new(16, 16).unwrap(), [grey; 3]);
        for row in 0..16 {
            let start = 3 * (16 * row + if left { 1 } else { 12 });
            picture.pixels_mut()[start..start + 9].fill(random.u8(..));
        }
        write_png(&sandbox.path(&format!("images/{number}.png")), &picture).unwrap();
        let split = if number % 4 == 0 { "test" } else { "train" };
        table += &format!("s{number:03},{number}.png,{split},{},{}\n", u8::from(bright), u8::from(left));
    }
    sandbox.write("labels.csv", table);
    let ran = sandbox.run("import table labels.csv --media-root images --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

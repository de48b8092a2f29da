//! MNIST's digits, dealt to splits so that no picture serves two of them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use chimera_data::split::Split;
use flate2::read::GzDecoder;

/// Pixels a side.
pub(crate) const SIDE: usize = 28;

const PIXELS: usize = SIDE * SIDE;

/// Of so many official train pictures, one is for calibration.
const CALIBRATED: usize = 6;

/// Digits for every split.
pub(crate) struct Digits {
    train: Pool,
    calibration: Pool,
    oracle: Pool,
    test: Pool,
}

/// Pictures by the digit that they show.
#[derive(Default)]
pub(crate) struct Pool {
    by_digit: [Vec<Vec<u8>>; 10],
}

impl Digits {
    /// Reads the four idx files of a folder: train and calibration are of the official train pictures, oracle and
    /// test of the official test pictures in turn, since these get harder towards the end.
    pub(crate) fn read(folder: &Path) -> Self {
        let (mut train, mut calibration) = (Pool::default(), Pool::default());
        let (mut oracle, mut test) = (Pool::default(), Pool::default());
        for (number, (digit, picture)) in pictures(folder, "train").into_iter().enumerate() {
            let pool = if number % CALIBRATED == 0 { &mut calibration } else { &mut train };
            pool.by_digit[digit].push(picture);
        }
        for (number, (digit, picture)) in pictures(folder, "t10k").into_iter().enumerate() {
            let pool = if number % 2 == 0 { &mut oracle } else { &mut test };
            pool.by_digit[digit].push(picture);
        }
        Self { train, calibration, oracle, test }
    }

    /// The pictures that rows of a split are made of.
    pub(crate) fn of(&self, split: Split) -> &Pool {
        match split {
            Split::Train => &self.train,
            Split::Calibration => &self.calibration,
            Split::Oracle => &self.oracle,
            Split::Test => &self.test,
        }
    }
}

impl Pool {
    /// A picture of a digit, row after row of grey. Any number will do; those after the last begin again.
    pub(crate) fn picture(&self, digit: usize, number: usize) -> &[u8] {
        let pictures = &self.by_digit[digit];
        &pictures[number % pictures.len()]
    }
}

/// All pictures of an official split with their digits.
fn pictures(folder: &Path, split: &str) -> Vec<(usize, Vec<u8>)> {
    let images = content(folder, &format!("{split}-images-idx3-ubyte"), 16);
    let labels = content(folder, &format!("{split}-labels-idx1-ubyte"), 8);
    assert_eq!(images.len(), labels.len() * PIXELS, "a label for every picture of {split}");
    labels.into_iter().map(usize::from).zip(images.chunks_exact(PIXELS).map(<[u8]>::to_vec)).collect()
}

/// The bytes of an idx file, packed or not, after its head.
fn content(folder: &Path, name: &str, head: usize) -> Vec<u8> {
    let (plain, packed) = (folder.join(name), folder.join(format!("{name}.gz")));
    let mut bytes = Vec::new();
    let read = if plain.is_file() {
        File::open(&plain).and_then(|mut file| file.read_to_end(&mut bytes))
    } else {
        File::open(&packed).and_then(|file| GzDecoder::new(file).read_to_end(&mut bytes))
    };
    read.expect("MNIST's idx files");
    bytes.split_off(head)
}

//! Pictures that a leaf bank can learn from, and runs of its stage on them.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::Result;
use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::stage::{self, LeafStage, StageEvent, Workplace};
use chimera_leaf::train::{Start, TrainEvent};

const SIDE: usize = 24;

/// Pictures with a red and a blue square, each there or not, at random places on a random grey.
pub(crate) fn squares(folder: &Path, count: usize, shuffle_labels: bool) -> Dataset {
    let mut random = fastrand::Rng::with_seed(5);
    let mut samples = String::from("id,media,split,red,blue\n");
    let mut labels: Vec<[bool; 2]> = (0..count).map(|_| [random.bool(), random.bool()]).collect();
    fs::create_dir_all(folder.join("media")).unwrap();
    for (number, label) in labels.iter().enumerate() {
        let grey = random.u8(60..190);
        let mut picture = Picture::filled(Size::new(SIDE, SIDE).unwrap(), [grey; 3]);
        for (&there, color) in label.iter().zip([[220, 30, 30], [30, 30, 220]]) {
            let (left, top) = (random.usize(0..SIDE - 6), random.usize(0..SIDE - 6));
            for row in top..top + 6 {
                let start = 3 * (row * SIDE + left);
                if there {
                    picture.pixels_mut()[start..start + 18].as_chunks_mut().0.fill(color);
                }
            }
        }
        write_png(&folder.join(format!("media/{number}.png")), &picture).unwrap();
    }
    if shuffle_labels {
        random.shuffle(&mut labels);
    }
    for (number, label) in labels.iter().enumerate() {
        let split = match number % 10 {
            0 | 5 => "test",
            1 => "calibration",
            _ => "train",
        };
        let [red, blue] = label.map(u8::from);
        samples += &format!("s{number:04},{number}.png,{split},{red},{blue}\n");
    }
    fs::write(folder.join("samples.csv"), samples).unwrap();
    fs::write(folder.join("dataset.toml"), "name = 'squares'\nkind = 'image'\nmedia-root = 'media'\nsize = [24, 24]\n")
        .unwrap();
    Dataset::open(folder).unwrap()
}

pub(crate) fn run_on(
    dataset: &Dataset,
    config: &LeafConfig,
    folder: &Path,
    threads: usize,
    stop_after: Option<usize>,
) -> Result<LeafStage> {
    run_with(dataset, config, folder, threads, &|event| {
        // A panic is the nearest thing to a kill that a test can do to itself.
        if let StageEvent::Training(TrainEvent::Epoch(record)) = event
            && Some(record.epoch) == stop_after
        {
            panic!("stopped");
        }
    })
}

pub(crate) fn run_with(
    dataset: &Dataset,
    config: &LeafConfig,
    folder: &Path,
    threads: usize,
    events: &(dyn Fn(StageEvent<'_>) + Sync),
) -> Result<LeafStage> {
    fs::create_dir_all(folder).unwrap();
    let workplace = Workplace {
        cache: &folder.join("cache"),
        start: Start::GoOn,
        checkpoint: &folder.join("checkpoint.safetensors"),
        log: &folder.join("train.jsonl"),
        device: DeviceChoice::Cpu.open().unwrap(),
        threads: NonZeroUsize::new(threads).unwrap(),
        strict: true,
    };
    stage::run(dataset, config, &workplace, events)
}

pub(crate) fn small() -> LeafConfig {
    LeafConfig { features: 32, epochs: 6, batch: 32, rate: 3e-3, ..LeafConfig::default() }
}

pub(crate) fn bytes(stage: &LeafStage) -> [Vec<u8>; 2] {
    [stage.trained.bank.encoder_bytes().unwrap(), stage.trained.bank.head_bytes().unwrap()]
}

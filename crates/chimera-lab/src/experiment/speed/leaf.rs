//! Images a second through leaf banks, from frames as bytes: training and encoding.

use burn::tensor::{Device, Tensor};
use chimera::error::{Error, Result};
use chimera::leaf::adam::AdamSettings;
use chimera::leaf::bank::{LeafBank, LeafBankConfig};
use chimera::leaf::cnn::{DETECTORS, GRID, LAYERS};
use chimera::leaf::encoder::{Batch, DEFAULT_FEATURES, EncoderConfig, Network};
use chimera::leaf::input;
use chimera::leaf::learner::{Learner, Lesson};
use chimera::leaf::pool::Pooling;
use chimera::leaf::vectors::Seen;
use chimera::media::frames::FrameShape;
use serde_json::json;

use super::counts::Picture;
use super::record::{Cost, Measurement, On};
use super::timing::{Steps, seconds_a_step};
use super::{Bench, Notes, ceilings, torch};

const CONCEPTS: usize = 10;
const UNIT: &str = "images/s";

/// Seconds for all of PyTorch's ways.
const TORCH_SECONDS: [u64; 2] = [50, 190];

/// A network and its sizes.
#[derive(Clone, Copy, Debug)]
struct Case {
    network: Network,
    side: usize,
    batch: usize,
}

impl Case {
    fn name(&self) -> String {
        format!("`{}` {} px, batch {}", self.network.as_str(), self.side, self.batch)
    }

    fn cost(&self, what: &str) -> Cost {
        let picture = Picture::of(self.network, self.side);
        if what == "train" { picture.training(self.batch) } else { picture.encoding(self.batch) }
    }
}

fn cases(bench: &Bench<'_>, on: On) -> Vec<Case> {
    let case = |network, side, batch| Case { network, side, batch };
    let large = match on {
        On::Cpu => 8,
        On::Gpu => 128,
    };
    if bench.quick {
        return vec![case(Network::Cnn, 32, 16), case(Network::Resnet18, 64, 4), case(Network::MobilenetV2, 64, 4)];
    }
    vec![
        case(Network::Cnn, 64, 64),
        case(Network::Cnn, 64, 512),
        case(Network::Resnet18, 224, large),
        case(Network::MobilenetV2, 224, large),
    ]
}

pub(super) fn measure(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    for on in bench.places() {
        let device = match (on, &bench.gpu) {
            (On::Gpu, Some((_, device))) => device,
            _ => &bench.cpu,
        };
        let cases = cases(bench, on);
        for case in &cases {
            bench.site.say(&format!("{} on the {}", case.name(), on.name()));
            notes.keep(ours(bench, *case, device, on)?)?;
        }
        let described: Vec<_> = cases
            .iter()
            .map(|case| {
                let Case { network, side, batch } = case;
                json!({"name": case.name(), "network": network.as_str(), "side": side, "batch": batch})
            })
            .collect();
        let sizes = json!({
            "cases": described, "features": DEFAULT_FEATURES, "concepts": CONCEPTS, "grid": GRID,
            "detectors": DETECTORS, "layers": LAYERS,
        });
        let theirs = torch::ask(bench, "leaf", on, sizes, TORCH_SECONDS[usize::from(on == On::Gpu)])?;
        let with_cost = |measured: Measurement| match cases.iter().find(|case| case.name() == measured.case) {
            Some(case) => {
                let cost = case.cost(&measured.what);
                measured.costing(cost)
            }
            None => measured,
        };
        notes.keep(theirs.into_iter().map(with_cost).collect())?;
    }
    Ok(())
}

fn ours(bench: &Bench<'_>, case: Case, device: &Device, on: On) -> Result<Vec<Measurement>> {
    // All of it in one thread of the pool: a GPU has a queue for each.
    ceilings::pool(bench)?.install(|| timed(bench, case, device, on))
}

fn timed(bench: &Bench<'_>, case: Case, device: &Device, on: On) -> Result<Vec<Measurement>> {
    let measured = |what: &str, steps: &mut dyn Steps| -> Result<Measurement> {
        let timed = seconds_a_step(steps, bench.budget())?;
        let rate = (case.batch as f64 / timed.seconds, UNIT);
        Ok(Measurement::ours(what, &case.name(), on, rate).costing(case.cost(what)).timed(timed))
    };
    let training = measured("train", &mut Training::new(bench, case, device)?)?;
    Ok(vec![training, measured("encode", &mut Encoding::new(bench, case, device)?)?])
}

/// Samples as the cache has them: bytes.
struct Frames<'a> {
    bench: &'a Bench<'a>,
    samples: Vec<Vec<u8>>,
    shape: FrameShape,
    device: Device,
}

impl<'a> Frames<'a> {
    fn new(bench: &'a Bench<'a>, case: Case, device: Device) -> Result<Self> {
        let shape = FrameShape::new(1, case.side, case.side)?;
        let mut random = fastrand::Rng::with_seed(bench.seed);
        let samples = (0..case.batch).map(|_| (0..shape.bytes()).map(|_| random.u8(..)).collect()).collect();
        Ok(Self { bench, samples, shape, device })
    }

    fn batch(&self) -> Result<Batch> {
        let samples: Vec<&[u8]> = self.samples.iter().map(Vec::as_slice).collect();
        input::batch(&samples, self.shape, self.bench.site.threads, &self.device)
    }

    /// Waits for the device.
    fn wait(&self) -> Result<()> {
        self.device.sync().map_err(|error| Error::input(format!("the device failed: {error:?}"), None))
    }
}

fn bank(case: Case, seed: u64, device: &Device) -> Result<LeafBank> {
    let (Case { network, side: size, .. }, pooling) = (case, Pooling::Mean);
    let encoder = EncoderConfig::Frames { network, frames: 1, size, pooling, features: DEFAULT_FEATURES };
    let concepts = (0..CONCEPTS).map(|concept| concept.to_string()).collect();
    LeafBankConfig { encoder, concepts }.init(seed, device)
}

struct Training<'a> {
    learner: Learner,
    frames: Frames<'a>,
    labels: Vec<Option<bool>>,
}

impl<'a> Training<'a> {
    fn new(bench: &'a Bench<'a>, case: Case, device: &Device) -> Result<Self> {
        let device = device.clone().autodiff();
        let mut random = fastrand::Rng::with_seed(bench.seed);
        Ok(Self {
            learner: Learner::new(bank(case, bench.seed, &device)?, AdamSettings::default().init(), None),
            labels: (0..case.batch * CONCEPTS).map(|_| Some(random.bool())).collect(),
            frames: Frames::new(bench, case, device)?,
        })
    }
}

impl Steps for Training<'_> {
    fn step(&mut self) -> Result<()> {
        let seen = Seen::Samples(self.frames.batch()?);
        self.learner.step(Lesson { seen, labels: self.labels.clone(), rate: 1e-3 })?;
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        self.frames.wait()
    }
}

struct Encoding<'a> {
    bank: LeafBank,
    frames: Frames<'a>,
    /// The sum of every z so far: nothing can be left undone that goes into it.
    sum: Option<Tensor<1>>,
}

impl<'a> Encoding<'a> {
    fn new(bench: &'a Bench<'a>, case: Case, device: &Device) -> Result<Self> {
        let bank = bank(case, bench.seed, device)?;
        Ok(Self { bank, frames: Frames::new(bench, case, device.clone())?, sum: None })
    }
}

impl Steps for Encoding<'_> {
    fn step(&mut self) -> Result<()> {
        let sum = self.bank.forward(self.frames.batch()?)?.z.sum();
        self.sum = Some(match self.sum.take() {
            Some(before) => before + sum,
            None => sum,
        });
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        if let Some(sum) = self.sum.take() {
            std::hint::black_box(sum.into_scalar::<f32>());
        }
        self.frames.wait()
    }
}

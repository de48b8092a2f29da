//! Whether steps that a GPU recorded and repeats are those that it takes one by one, to the last bit: passes over
//! batches with other samples, labels and rates in each step.

use std::num::NonZeroUsize;

use burn::tensor::Device;
use chimera_data::error::{Error, Result};
use chimera_data::media::frames::FrameShape;

use super::{Agreement, difference};
use crate::adam::AdamSettings;
use crate::bank::LeafBankConfig;
use crate::device::settle;
use crate::encoder::{EncoderConfig, Network};
use crate::learner::{Learner, Lesson};
use crate::pool::Pooling;
use crate::vectors::Seen;
use crate::{input, parameters};

const CONCEPTS: usize = 7;

/// Samples of each step of three passes: one in which nothing is repeated that was recorded, one with many steps, and one in
/// which sizes change in between.
const PASSES: [&[usize]; 3] = [&[6, 6, 4], &[6, 6, 6, 6, 6, 4], &[6, 6, 6, 3, 6, 6, 6, 6]];

/// Steps that are repeated in them: from the third of equal ones on, but for the last of a pass.
const REPEATED: usize = 3 + 1 + 1;

/// Compares all networks. What a device cannot do at all is as far apart as can be.
pub(super) fn check(device: &Device) -> Vec<Agreement> {
    // Nothing is recorded while something is made ready behind the scenes.
    settle();
    let networks = [
        (Network::Cnn, 3, Pooling::Order),
        (Network::Resnet18, 1, Pooling::Mean),
        (Network::MobilenetV2, 1, Pooling::Mean),
    ];
    let compared = networks.map(|(network, frames, pooling)| {
        let run = |one_by_one| learned(device, network, frames, pooling, one_by_one);
        let (expected, found, why) = match (run(true), run(false)) {
            (Ok(expected), Ok(found)) => (expected, found, String::new()),
            (Err(error), _) | (_, Err(error)) => (Default::default(), Default::default(), format!(" ({error})")),
        };
        let names = ["losses", "weights and running statistics"];
        let apart = expected.into_iter().zip(found).zip(names).map(|((expected, found), what)| {
            let difference = if expected.is_empty() { f32::INFINITY } else { difference(&expected, &found) };
            let name = format!("{} in repeated steps: {what}{why}", network.as_str());
            Agreement { name, difference, tolerance: 0.0, ok: difference <= 0.0 }
        });
        apart.collect::<Vec<_>>()
    });
    compared.concat()
}

/// Losses of all passes, and weights and running statistics after them. The optimizer's own means and its count of steps
/// show in the later passes.
fn learned(
    device: &Device,
    network: Network,
    frames: usize,
    pooling: Pooling,
    one_by_one: bool,
) -> Result<[Vec<f32>; 2]> {
    let (size, device) = (48, device.clone().autodiff());
    let encoder = EncoderConfig::Frames { network, frames, size, pooling, features: 40 };
    let concepts = (0..CONCEPTS).map(|concept| concept.to_string()).collect();
    let mut bank = LeafBankConfig { encoder, concepts }.init_on(3, &device)?;
    let mut optimizer = AdamSettings { weight_decay: 1e-3, ..AdamSettings::default() }.init();
    let shape = FrameShape::new(frames, size, size)?;
    let mut random = fastrand::Rng::with_seed(17);
    let (mut losses, mut repeated) = (Vec::new(), 0);
    for steps in PASSES {
        let learner = Learner::new(bank, optimizer, None);
        let mut learner = if one_by_one { learner.one_by_one() } else { learner };
        for (step, &samples) in steps.iter().enumerate() {
            let bytes: Vec<u8> = (0..samples * shape.bytes()).map(|_| random.u8(..)).collect();
            let bytes: Vec<&[u8]> = bytes.chunks_exact(shape.bytes()).collect();
            let labels = (0..samples * CONCEPTS).map(|_| (random.u8(..) > 40).then(|| random.bool())).collect();
            let seen = Seen::Samples(input::batch(&bytes, shape, NonZeroUsize::MIN, &device)?);
            let lesson = Lesson { seen, labels, rate: 1e-3 / (1.0 + step as f64) };
            let is_last = step + 1 == steps.len();
            repeated += usize::from(learner.is_recorded() && !is_last && samples == steps[0]);
            let loss = if is_last { learner.last_step(lesson)? } else { learner.step(lesson)? };
            losses.push(loss);
        }
        (bank, optimizer) = learner.into_parts()?;
    }
    let expected = if one_by_one { 0 } else { REPEATED };
    if repeated != expected {
        return Err(Error::input(format!("expected {expected} repeated steps, got {repeated}"), None));
    }
    let losses = losses.into_iter().map(|loss| loss.into_scalar::<f32>()).collect();
    let weights = parameters::taken(&bank).into_values().flat_map(|array| array.values).collect();
    Ok([losses, weights])
}

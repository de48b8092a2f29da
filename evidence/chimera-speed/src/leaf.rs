//! Images a second through leaf banks, from frames as bytes: training and encoding.

use chimera_data::error::Result;
use chimera_leaf::cnn::{DETECTORS, GRID, LAYERS};
use chimera_leaf::device::Device;
use chimera_leaf::encoder::{DEFAULT_FEATURES, Network};
use chimera_leaf::workload::{Encoding, Load, Training, Work};
use serde_json::json;

use super::counts::Picture;
use super::record::{Cost, Measurement, On};
use super::timing::seconds_a_step;
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
    let measured = |what: &str, steps: &mut dyn Work| -> Result<Measurement> {
        let timed = seconds_a_step(steps, bench.budget())?;
        let rate = (case.batch as f64 / timed.seconds, UNIT);
        Ok(Measurement::ours(what, &case.name(), on, rate).costing(case.cost(what)).timed(timed))
    };
    let Case { network, side, batch } = case;
    let load = Load { network, side, batch, concepts: CONCEPTS, seed: bench.seed, threads: bench.site.threads };
    let training = measured("train", &mut Training::new(&load, device)?)?;
    Ok(vec![training, measured("encode", &mut Encoding::new(&load, device)?)?])
}

//! Whether a GPU computes what the processor does: gates in both precisions, and the networks of the leaf bank.

use chimera_data::error::{Error, Result};

use crate::device::{Device, DeviceChoice, Gpus, gpus};

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What was compared.
    pub what: String,
    /// What the processor says, where that is one number.
    pub cpu: Option<f64>,
    /// What the GPU says.
    pub gpu: Option<f64>,
    /// How far they are apart.
    pub apart: f64,
    /// How far they may be.
    pub allowed: f64,
}

impl Compared {
    /// Whether they agree. A number that is none does not.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.apart <= self.allowed
    }
}

/// Compares a device with the processor; `tell` hears what is going on.
///
/// # Errors
/// A device that is not there, or what it reports.
pub fn run(device: DeviceChoice, tell: &dyn Fn(&str)) -> Result<Vec<Compared>> {
    let number = match device {
        DeviceChoice::Cuda(number) => number,
        DeviceChoice::Auto => match gpus() {
            Gpus { there, .. } if !there.is_empty() => {
                there.iter().map(|(choice, _)| *choice).find_map(number_of).unwrap_or(0)
            }
            Gpus { missing, .. } => {
                let why = missing.map_or_else(|| "none is there".to_owned(), |(why, _)| why);
                let hint = "`chimera devices` says what can be computed on".to_owned();
                return Err(Error::input(format!("no GPU to hold against the processor: {why}"), Some(hint)));
            }
        },
        DeviceChoice::Cpu => {
            let message = "the processor is what a GPU is held against, and `--device cpu` names no GPU".to_owned();
            return Err(Error::input(
                message,
                Some("give `--device cuda:0`, if `chimera devices` lists it".to_owned()),
            ));
        }
    };
    let opened = DeviceChoice::Cuda(number).open()?;
    compare(number, &opened, tell)
}

fn number_of(choice: DeviceChoice) -> Option<usize> {
    match choice {
        DeviceChoice::Cuda(number) => Some(number),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    }
}

#[cfg(not(feature = "cuda"))]
fn compare(_: usize, _: &Device, _: &dyn Fn(&str)) -> Result<Vec<Compared>> {
    Ok(Vec::new())
}

#[cfg(feature = "cuda")]
fn compare(number: usize, device: &Device, tell: &dyn Fn(&str)) -> Result<Vec<Compared>> {
    use chimera_cuda::agreement;
    use chimera_cuda::gpu::{Gpu, Precision};

    use crate::device::{failed, kernels_folder};

    let mut compared = Vec::new();
    for precision in [Precision::Fp32, Precision::Tf32] {
        tell(&format!("gates in {}", precision.as_str()));
        let gpu = Gpu::open(number, precision, kernels_folder()).map_err(|error| failed(&error))?;
        let agreements = agreement::check(&gpu).map_err(|error| failed(&error))?;
        compared.extend(agreements.into_iter().map(|one| Compared {
            what: format!("{}: {}", precision.as_str(), one.what),
            cpu: one.cpu,
            gpu: one.gpu,
            apart: one.difference,
            allowed: one.tolerance,
        }));
    }
    tell("networks of the leaf bank");
    compared.extend(crate::agreement::check(device.tensors()).into_iter().map(|one| Compared {
        what: one.name,
        cpu: None,
        gpu: None,
        apart: f64::from(one.difference),
        allowed: f64::from(one.tolerance),
    }));
    Ok(compared)
}

//! Where things are computed: the processor, or an NVIDIA GPU where the program was built for it and one is there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use burn::tensor::Device as Tensors;
use serde::{Deserialize, Serialize};

use chimera_data::error::{Error, Result};

/// What a user can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum DeviceChoice {
    /// The best that this program was built for and that is there: the first GPU, or else the processor.
    #[default]
    Auto,
    /// This machine's processor.
    Cpu,
    /// The NVIDIA GPU of a number, counted from 0.
    Cuda(usize),
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => write!(f, "auto"),
            Self::Cpu => write!(f, "cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl From<DeviceChoice> for String {
    fn from(choice: DeviceChoice) -> Self {
        choice.to_string()
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(word: &str) -> std::result::Result<Self, String> {
        match word {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let number = word.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                number.map(Self::Cuda).ok_or_else(|| format!("expected `auto`, `cpu` or `cuda:N`, got `{word}`"))
            }
        }
    }
}

impl TryFrom<String> for DeviceChoice {
    type Error = String;

    fn try_from(word: String) -> std::result::Result<Self, String> {
        word.parse()
    }
}

/// A device that was found and is ready.
#[derive(Clone, Debug)]
pub struct Device(Tensors);

impl Device {
    /// The device as tensors know it.
    pub(crate) fn tensors(&self) -> &Tensors {
        &self.0
    }
}

impl From<Tensors> for Device {
    fn from(device: Tensors) -> Self {
        Self(device.without_autodiff())
    }
}

impl DeviceChoice {
    /// The device, found and ready.
    ///
    /// # Errors
    /// A GPU that this program was not built for, that is not there, or that cannot be used.
    pub fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device(Tensors::flex())),
            Self::Auto => Ok(Device(available::first().unwrap_or_else(Tensors::flex))),
            Self::Cuda(number) => available::open(number).map(Device),
        }
    }
}

/// The folder of compiled kernels in a cache folder.
pub const FOLDER: &str = "kernels";

/// Where compiled kernels are kept.
static KERNELS: OnceLock<PathBuf> = OnceLock::new();

/// Keeps compiled kernels in a cache folder, for the next run. Said once, before a GPU is opened; where nobody says it, each
/// run compiles them anew.
pub fn keep_kernels_in(cache: &Path) {
    // A second folder changes nothing: kernels may be on their way into the first.
    let _ = KERNELS.set(cache.join(FOLDER));
}

/// Where compiled kernels are kept, if [somebody said so](keep_kernels_in).
#[must_use]
pub fn kernels_folder() -> Option<&'static Path> {
    KERNELS.get().map(PathBuf::as_path)
}

/// Waits until nothing is made ready behind the scenes any more. To be called before the program ends: libraries of the driver
/// that take themselves apart while a thread is still in them bring the process down.
pub fn settle() {
    available::settle();
}

/// A GPU, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpus {
    /// Those that can be used, in words.
    pub there: Vec<(DeviceChoice, String)>,
    /// Why there is none, or not all can be used, and what helps.
    pub missing: Option<(String, Option<String>)>,
}

/// The GPUs of this machine, as far as this program can use them.
#[must_use]
pub fn gpus() -> Gpus {
    available::all()
}

/// The number of a GPU that was [opened](DeviceChoice::open); `None` for the processor.
#[must_use]
pub fn gpu_number(device: &Device) -> Option<usize> {
    number_of(&device.0)
}

/// The same of a device as tensors know it.
pub(crate) fn number_of(device: &Tensors) -> Option<usize> {
    available::number(device)
}

#[cfg(not(feature = "cuda"))]
mod available {
    use super::{DeviceChoice, Error, Gpus, Result, Tensors};

    const BUILD: &str = "build it with `cargo build --release --features cuda` (docs/speed.md says how)";

    pub(super) fn first() -> Option<Tensors> {
        None
    }

    pub(super) fn open(number: usize) -> Result<Tensors> {
        let message =
            format!("cannot compute on `{}`: this program was built without GPUs", DeviceChoice::Cuda(number));
        Err(Error::input(message, Some(BUILD.to_owned())))
    }

    pub(super) fn all() -> Gpus {
        let why = "this program was built without GPUs".to_owned();
        Gpus { there: Vec::new(), missing: Some((why, Some(BUILD.to_owned()))) }
    }

    pub(super) fn number(_: &Tensors) -> Option<usize> {
        None
    }

    pub(super) fn settle() {}
}

#[cfg(feature = "cuda")]
pub use available::{failed, gates};

#[cfg(feature = "cuda")]
pub(crate) use available::is_settled;

#[cfg(feature = "cuda")]
mod available {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};
    use std::thread::{self, JoinHandle};
    use std::time::SystemTime;

    use burn::cubecl::config::cache::CacheConfig;
    use burn::cubecl::config::memory::PersistentMemory;
    use burn::cubecl::config::{CubeClRuntimeConfig, RuntimeConfig};
    use chimera_cuda::gpu::{Gpu, GpuError, Missing, Precision, compiler, devices, driver, usable};

    use super::{Device, DeviceChoice, Error, Gpus, Path, PathBuf, Result, Tensors, kernels_folder};
    use crate::cuda::version as kernels_version;

    /// How folders of compiled kernels of networks begin, and how many of other environments stay.
    const NETWORKS: &str = "networks-";
    const KEPT: usize = 3;

    /// What gates are taught with on a device, as soon as it is ready.
    type Ready = Arc<OnceLock<std::result::Result<Arc<Gpu>, GpuError>>>;

    /// Devices that were opened.
    static OPENED: Mutex<BTreeMap<usize, Ready>> = Mutex::new(BTreeMap::new());

    /// Threads that make devices ready.
    static BEHIND: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

    /// Waits for a device, or makes it ready where nobody has begun to.
    fn ready(number: usize, ready: &Ready) -> std::result::Result<Arc<Gpu>, GpuError> {
        ready.get_or_init(|| Gpu::open(number, Precision::Tf32, kernels_folder()).map(Arc::new)).clone()
    }

    pub(super) fn first() -> Option<Tensors> {
        (0..devices().map_or(0, |devices| devices.len())).find_map(|number| open(number).ok())
    }

    pub(super) fn open(number: usize) -> Result<Tensors> {
        usable(number).map_err(|missing| refused(number, &missing))?;
        keep_kernels_of_networks();
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.entry(number).or_insert_with(|| {
            let gates = Ready::default();
            // Kernels of gates take seconds to compile; meanwhile something else is done.
            let later = Arc::clone(&gates);
            let work = move || {
                // Whoever asks for the device hears of errors.
                let _ = ready(number, &later);
            };
            // Without another thread, whoever asks first makes it ready.
            if let Ok(thread) = thread::Builder::new().name("kernels".to_owned()).spawn(work) {
                BEHIND.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
            }
            gates
        });
        Ok(Tensors::cuda(number))
    }

    /// Kernels of networks go where those of gates go. Burn is told before it is first used, and takes nothing from a
    /// configuration that happens to lie in the current folder; told again, it stays as it is.
    fn keep_kernels_of_networks() {
        let mut config = CubeClRuntimeConfig::default();
        // Training asks for the same sizes in each step. Measured: as fast or up to a quarter faster, most with small batches;
        // no slower where a network only encodes.
        config.memory.persistent_memory = PersistentMemory::SizeMatch;
        if let Some(folder) = kernels_folder() {
            let own = folder.join(format!("{NETWORKS}{}", environment()));
            forget_others(folder, &own);
            config.compilation.cache = true;
            config.environment.path = CacheConfig::Directory(own);
        }
        CubeClRuntimeConfig::try_set(config);
    }

    /// What compiled kernels of networks hang on beside the device, which burn looks at itself: their text, compiler, driver,
    /// and this program. In another environment they would be refused, and the refusal would end the program.
    fn environment() -> String {
        let program =
            std::env::current_exe().and_then(std::fs::metadata).map(|found| (found.len(), found.modified().ok()));
        let known = (kernels_version(), compiler().ok(), driver().ok(), program.ok());
        blake3::hash(format!("{known:?}").as_bytes()).to_hex()[..16].to_owned()
    }

    /// Removes what other environments left, but for the last few: somebody may go to and fro between them.
    fn forget_others(folder: &Path, own: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut others: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(std::result::Result::ok)
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(NETWORKS) && entry.path() != own)
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        others.sort();
        let many = others.len().saturating_sub(KEPT);
        for (_, path) in others.into_iter().take(many) {
            // What cannot be removed costs room, nothing else.
            let _ = std::fs::remove_dir_all(path);
        }
    }

    pub(super) fn settle() {
        let threads = std::mem::take(&mut *BEHIND.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // One that panicked has said so, and is over.
            let _ = thread.join();
        }
    }

    pub(super) fn number(device: &Tensors) -> Option<usize> {
        let device = device.clone().without_autodiff();
        let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.keys().copied().find(|&number| device == Tensors::cuda(number))
    }

    /// Whether nothing is made ready behind the scenes any more.
    pub(crate) fn is_settled() -> bool {
        let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.values().all(|gates| gates.get().is_some())
    }

    /// What teaches and runs gates on a device; `None` for the processor.
    ///
    /// # Errors
    /// Kernels that do not compile, or what the driver reports.
    pub fn gates(device: &Device) -> Result<Option<Arc<Gpu>>> {
        let device = device.tensors();
        let Some(number) = number(device) else { return Ok(None) };
        // Networks are done: what burn holds in reserve for them is free for gates.
        device.memory_cleanup();
        let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned().unwrap_or_default();
        ready(number, &opened).map(Some).map_err(|error| failed(&error))
    }

    /// An error of a GPU, for the user.
    #[must_use]
    pub fn failed(error: &GpuError) -> Error {
        let hint = match error {
            GpuError::Memory { .. } => "give a smaller `--gate-batch`, or `--device cpu`",
            _ => "`chimera selftest` looks at the device; `--device cpu` does without it",
        };
        Error::input(error.to_string(), Some(hint.to_owned()))
    }

    fn refused(number: usize, missing: &Missing) -> Error {
        let message = format!("cannot compute on `{}`: {missing}", DeviceChoice::Cuda(number));
        Error::input(message, Some(help(missing).to_owned()))
    }

    fn help(missing: &Missing) -> &'static str {
        match missing {
            Missing::Driver | Missing::DriverFails(_) => {
                "`nvidia-smi` must work first; `--device cpu` computes on the processor"
            }
            Missing::Compiler => {
                "install NVIDIA's CUDA toolkit, or say where libnvrtc lies with `LD_LIBRARY_PATH` (it comes with PyTorch, too)"
            }
            Missing::TooNew { .. } => {
                "install a newer CUDA toolkit, or say where a newer libnvrtc lies with `LD_LIBRARY_PATH`; `--device cpu` does without it"
            }
            Missing::Device | Missing::Number { .. } | Missing::TooOld { .. } => {
                "`chimera devices` lists what is there; `--device cpu` computes on the processor"
            }
        }
    }

    pub(super) fn all() -> Gpus {
        let found = match devices() {
            Ok(found) => found,
            Err(missing) => {
                return Gpus {
                    there: Vec::new(),
                    missing: Some((missing.to_string(), Some(help(&missing).to_owned()))),
                };
            }
        };
        let version = compiler();
        let mut gpus = Gpus { there: Vec::new(), missing: None };
        for device in found {
            match usable(device.number) {
                Ok(device) => {
                    let (major, minor) = version.clone().unwrap_or_default();
                    let words = format!(
                        "{}, {:.0} GB, compute capability {}.{}, NVRTC {major}.{minor}",
                        device.name,
                        device.memory as f64 / 1e9,
                        device.capability.0,
                        device.capability.1,
                    );
                    gpus.there.push((DeviceChoice::Cuda(device.number), words));
                }
                Err(missing) => gpus.missing = Some((missing.to_string(), Some(help(&missing).to_owned()))),
            }
        }
        gpus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_there_and_back() {
        for (word, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda:0", DeviceChoice::Cuda(0)),
            ("cuda:7", DeviceChoice::Cuda(7)),
        ] {
            assert_eq!(word.parse(), Ok(choice));
            assert_eq!(choice.to_string(), word);
        }
        assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(0)));
        for word in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "CPU"] {
            let refused = word.parse::<DeviceChoice>().unwrap_err();
            assert_eq!(refused, format!("expected `auto`, `cpu` or `cuda:N`, got `{word}`"));
        }
    }

    #[test]
    fn the_processor_is_always_there() {
        assert_eq!(gpu_number(&DeviceChoice::Cpu.open().unwrap()), None);
        DeviceChoice::Auto.open().unwrap();
        if gpus().there.is_empty() {
            let error = DeviceChoice::Cuda(0).open().unwrap_err().to_string();
            assert!(error.starts_with("cannot compute on `cuda:0`: "), "{error}");
            assert!(error.contains("\nhint: "), "{error}");
            assert!(gpus().missing.is_some());
        }
    }
}

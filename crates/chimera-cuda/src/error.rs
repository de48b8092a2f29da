//! Why there is no GPU to compute on, and why a computation came to nothing.

use cudarc::driver::DriverError;

/// The first devices with asynchronous copies and TF32 have this version.
pub(crate) const OLDEST: (i32, i32) = (8, 0);

/// Why there is no GPU to compute on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// libcuda is not there.
    #[error("NVIDIA's driver is not installed (libcuda was not found)")]
    Driver,
    /// The driver does not start.
    #[error("NVIDIA's driver does not start: {0}")]
    DriverFails(String),
    /// There is no device, or none that may be seen.
    #[error("NVIDIA's driver sees no GPU")]
    Device,
    /// No device of this number.
    #[error("there is no GPU number {wanted}: the driver sees {there}")]
    Number {
        /// What was asked for.
        wanted: usize,
        /// How many there are.
        there: usize,
    },
    /// NVRTC is not there.
    #[error("NVRTC, the compiler of NVIDIA's CUDA toolkit, was not found (libnvrtc)")]
    Compiler,
    /// The device is too old.
    #[error("{name} has compute capability {}.{}; 8.0 or later is needed", .capability.0, .capability.1)]
    TooOld {
        /// Its name.
        name: String,
        /// Its version.
        capability: (i32, i32),
    },
    /// The device is newer than the compiler.
    #[error(
        "NVRTC {}.{} does not know {name} (compute capability {}.{})",
        .compiler.0, .compiler.1, .capability.0, .capability.1
    )]
    TooNew {
        /// Its name.
        name: String,
        /// Its version.
        capability: (i32, i32),
        /// The version of the compiler.
        compiler: (i32, i32),
    },
}

/// Why a computation on a GPU came to nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GpuError {
    /// There is none.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The driver reports an error.
    #[error("the GPU reports an error: {0}")]
    Driver(String),
    /// A kernel does not compile: a mistake here, or a compiler of another age.
    #[error("NVRTC does not compile `{kernel}`: {reason}")]
    Compile {
        /// The file.
        kernel: &'static str,
        /// What the compiler says.
        reason: String,
    },
    /// More memory is needed than there is.
    #[error("the GPU has {free} bytes of memory left, and one gate needs {needed}")]
    Memory {
        /// What is needed at least.
        needed: usize,
        /// What is there.
        free: usize,
    },
}

impl From<DriverError> for GpuError {
    fn from(error: DriverError) -> Self {
        Self::Driver(error.to_string())
    }
}

/// A result on a GPU.
pub type Result<T> = std::result::Result<T, GpuError>;

//! Where tensors live.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

/// What a user can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceChoice {
    /// The best that this program was built for and that is there: so far the processor.
    #[default]
    Auto,
    /// This machine's processor.
    Cpu,
}

impl DeviceChoice {
    /// The device.
    #[must_use]
    pub fn open(self) -> Device {
        match self {
            Self::Auto | Self::Cpu => Device::flex(),
        }
    }
}

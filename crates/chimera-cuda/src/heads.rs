//! What kernels read of a gate's head and of its vectors.

use crate::gpu::device_repr;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceHead {
    pub(crate) feature: u64,
    pub(crate) head: u64,
    pub(crate) offset: u64,
    pub(crate) gradient: u64,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceVectors {
    pub(crate) hidden_gradient: u64,
    pub(crate) feature_gradient: u64,
    pub(crate) feature: u64,
    pub(crate) first_bias: u64,
    pub(crate) marks: u64,
    pub(crate) second_bias: u64,
    pub(crate) head: u64,
    pub(crate) offset: u64,
    pub(crate) added: u64,
    pub(crate) negated: [u64; 4],
    pub(crate) arity: i32,
}

device_repr!(DeviceHead, DeviceVectors);

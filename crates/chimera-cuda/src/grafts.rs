//! Grafts on a device: what concepts add to z, as the kernels of `teach.cu` read it.

use chimera_gate::graft::FlatGrafting;
use chimera_gate::normal::BelowZero;
use cudarc::driver::CudaSlice;

use crate::gpu::{Gpu, Result, device_repr};
use crate::program::Program;

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceEffects {
    added: u64,
    spread: u64,
    means: u64,
    table: u64,
    width: i32,
    rectified: i32,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct DeviceGrafted {
    pub(crate) seed: u64,
    pub(crate) bases: u64,
    pub(crate) changes: u64,
    pub(crate) out: u64,
    pub(crate) most_changes: i32,
}

device_repr!(DeviceEffects, DeviceGrafted);

/// Bytes that [`upload`] takes.
pub(crate) fn bytes(flat: &FlatGrafting<'_>, width: usize) -> usize {
    let effects = flat.effects;
    let concepts = effects.shares.len();
    let of_samples = if effects.rectified { flat.labels.rows() * width + BelowZero::table().values().len() } else { 0 };
    4 * ((concepts + 2) * width + concepts + of_samples)
}

/// What concepts add to z, on a device.
pub(crate) fn upload(
    gpu: &Gpu,
    flat: &FlatGrafting<'_>,
    program: &Program,
    width: usize,
    held: &mut Vec<CudaSlice<f32>>,
) -> Result<DeviceEffects> {
    let effects = flat.effects;
    let features = effects.base.len();
    let mut keep = |values: &[f32]| -> Result<u64> {
        let mut wide = vec![0.0; values.len() / features.max(1) * width];
        for (out, values) in wide.chunks_exact_mut(width).zip(values.chunks_exact(features)) {
            out[..features].copy_from_slice(values);
        }
        held.push(gpu.upload(&wide)?);
        Ok(held.last().map_or(0, |slice| gpu.at(slice)))
    };
    let (base, added, spread) = (keep(&effects.base)?, keep(&effects.added)?, keep(&effects.spread)?);
    let (mut means, mut table) = (0, 0);
    if effects.rectified {
        held.push(gpu.upload(BelowZero::table().values())?);
        table = held.last().map_or(0, |slice| gpu.at(slice));
        held.push(gpu.upload(&effects.shares)?);
        let shares = held.last().map_or(0, |slice| gpu.at(slice));
        let rows = flat.labels.rows();
        held.push(gpu.zeros(rows * width)?);
        means = held.last().map_or(0, |slice| gpu.at(slice));
        let [value, known] = program.labels;
        let numbers = [rows.div_ceil(64), effects.shares.len(), width].map(|number| number as i32);
        let mut launch = gpu.launch(&gpu.kernels.means);
        launch.arg(&base).arg(&added).arg(&shares).arg(&spread).arg(&value).arg(&known);
        launch.arg(&numbers[0]).arg(&numbers[1]).arg(&numbers[2]).arg(&means);
        launch.go((rows as u32, 1), 256)?;
    }
    Ok(DeviceEffects { added, spread, means, table, width: width as i32, rectified: i32::from(effects.rectified) })
}

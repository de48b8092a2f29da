//! NVIDIA's compiler: its version, the architecture to compile for, and a source made into what the driver loads.
//!
//! For an architecture that the compiler knows it gives machine code, which is loaded as it is. For a newer one it gives PTX of
//! the newest that it knows, and the driver compiles that again.

use std::ffi::CStr;
use std::path::Path;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaModule};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};

use crate::error::{GpuError, Missing, OLDEST, Result};
use crate::shelf::{Made, Shelf};

/// The first version that gives machine code, and says for what.
const GIVES_MACHINE_CODE: (i32, i32) = (11, 2);

/// The version of NVRTC.
///
/// # Errors
/// There is none.
pub fn compiler() -> std::result::Result<(i32, i32), Missing> {
    let (mut major, mut minor) = (0, 0);
    #[allow(unsafe_code, reason = "asks for a library by name, then for its version, which is two numbers")]
    let answered = unsafe {
        sys::is_culib_present() && sys::nvrtcVersion(&mut major, &mut minor) == sys::nvrtcResult::NVRTC_SUCCESS
    };
    if answered { Ok((major, minor)) } else { Err(Missing::Compiler) }
}

/// What is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Machine code of an architecture.
    Machine(i32),
    /// PTX, which any driver makes into code of its device.
    Portable(i32),
}

impl Target {
    fn option(self) -> String {
        match self {
            Self::Machine(architecture) => format!("--gpu-architecture=sm_{architecture}"),
            Self::Portable(architecture) => format!("--gpu-architecture=compute_{architecture}"),
        }
    }
}

/// What to compile for, the best first, on a device with such a version and with a compiler that knows such architectures.
fn targets((major, minor): (i32, i32), known: &[i32]) -> Vec<Target> {
    let device = 10 * major + minor;
    let oldest = 10 * OLDEST.0 + OLDEST.1;
    let newest = known.iter().copied().filter(|&known| known <= device).max().unwrap_or(oldest).max(oldest);
    let machine = known.contains(&device).then_some(Target::Machine(device));
    machine.into_iter().chain([Target::Portable(newest)]).collect()
}

/// The architectures that the compiler knows; none where it is too old to say.
fn known(version: (i32, i32)) -> Vec<i32> {
    if version < GIVES_MACHINE_CODE {
        return Vec::new();
    }
    let mut count = 0;
    #[allow(unsafe_code, reason = "asks how many numbers there are, then has them written to a list of that length")]
    unsafe {
        if sys::nvrtcGetNumSupportedArchs(&mut count) != sys::nvrtcResult::NVRTC_SUCCESS {
            return Vec::new();
        }
        let mut known = vec![0; usize::try_from(count).unwrap_or(0)];
        let answered = sys::nvrtcGetSupportedArchs(known.as_mut_ptr()) == sys::nvrtcResult::NVRTC_SUCCESS;
        if answered { known } else { Vec::new() }
    }
}

/// Whether the compiler makes code for a device; one that is too old to say is taken at its word when it compiles.
pub(crate) fn knows(version: (i32, i32), (major, minor): (i32, i32)) -> bool {
    let known = known(version);
    known.is_empty() || known.contains(&(10 * major + minor))
}

/// A source with its options.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) options: Vec<String>,
}

/// Modules of sources, in their order, compiled at the same time where they do not lie in the folder.
pub(crate) fn modules(
    context: &Arc<CudaContext>,
    capability: (i32, i32),
    sources: &[Source],
    folder: Option<&Path>,
) -> Result<Vec<Arc<CudaModule>>> {
    let version = compiler()?;
    let targets = targets(capability, &known(version));
    let load = |source: &Source| {
        let mut failed = GpuError::Missing(Missing::Compiler);
        for &target in &targets {
            match module(context, source, target, version, Shelf(folder)) {
                Ok(module) => return Ok(module),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    };
    // Each takes a second.
    std::thread::scope(|scope| {
        let workers: Vec<_> = sources.iter().map(|source| scope.spawn(|| load(source))).collect();
        let joined =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect()
    })
}

fn module(
    context: &Arc<CudaContext>,
    source: &Source,
    target: Target,
    version: (i32, i32),
    shelf: Shelf<'_>,
) -> Result<Arc<CudaModule>> {
    let options = [&source.options[..], &[target.option()]].concat();
    let made = Made { source: source.text, options: &options, compiler: version };
    // The driver reads PTX up to a zero, and machine code by the lengths that it begins with.
    let load = |image: Vec<u8>| context.load_module(Ptx::from_binary(image));
    if let Some(module) = shelf.get(made).and_then(|image| load(image).ok()) {
        return Ok(module);
    }
    let image = compile(source, target, &options)?;
    let module = load(image.clone())?;
    // Only what the driver takes is kept.
    shelf.put(made, &image);
    Ok(module)
}

/// A program of the compiler, which is given back to it in the end.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        #[allow(unsafe_code, reason = "made by the compiler, and used by nobody any more")]
        let _ = unsafe { nvrtc::destroy_program(self.0) };
    }
}

fn compile(source: &Source, target: Target, options: &[String]) -> Result<Vec<u8>> {
    let fails = |reason: String| GpuError::Compile { kernel: source.name, reason };
    let told = |error: nvrtc::NvrtcError| fails(error.to_string());
    let text = std::ffi::CString::new(source.text).map_err(|error| fails(error.to_string()))?;
    let program = Program(nvrtc::create_program(&text, None).map_err(told)?);
    #[allow(unsafe_code, reason = "the program lives until the end of this function, and its text longer")]
    unsafe {
        if let Err(error) = nvrtc::compile_program(program.0, options) {
            let log: Vec<u8> =
                nvrtc::get_program_log(program.0).unwrap_or_default().into_iter().map(|letter| letter as u8).collect();
            let log = CStr::from_bytes_until_nul(&log).map(|log| log.to_string_lossy().trim().to_owned());
            return Err(fails(log.ok().filter(|log| !log.is_empty()).unwrap_or_else(|| error.to_string())));
        }
        match target {
            Target::Portable(_) => {
                Ok(nvrtc::get_ptx(program.0).map_err(told)?.into_iter().map(|letter| letter as u8).collect())
            }
            Target::Machine(_) => {
                let mut length = 0;
                sys::nvrtcGetCUBINSize(program.0, &mut length).result().map_err(told)?;
                if length == 0 {
                    return Err(fails("no machine code came out".to_owned()));
                }
                let mut image = vec![0_u8; length];
                sys::nvrtcGetCUBIN(program.0, image.as_mut_ptr().cast()).result().map_err(told)?;
                Ok(image)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_where_the_compiler_knows_the_device() {
        let known = [75, 80, 86, 89, 90, 100, 120];
        assert_eq!(targets((9, 0), &known), [Target::Machine(90), Target::Portable(90)]);
        assert_eq!(targets((12, 0), &known), [Target::Machine(120), Target::Portable(120)]);
        // Newer than the compiler, between what it knows, and a compiler that does not say.
        assert_eq!(targets((13, 0), &known), [Target::Portable(120)]);
        assert_eq!(targets((8, 7), &known), [Target::Portable(86)]);
        assert_eq!(targets((9, 0), &[]), [Target::Portable(80)]);
        assert_eq!(targets((9, 0), &[35, 75]), [Target::Portable(80)]);
    }

    #[test]
    fn kernels_compile_for_architectures_of_all_ages() {
        let version = match compiler() {
            Ok(version) => version,
            Err(missing) => return println!("skipped: {missing}"),
        };
        let known = known(version);
        for capability in [(8, 0), (9, 0)] {
            for target in targets(capability, &known) {
                for source in crate::gpu::sources(crate::gpu::Precision::Tf32) {
                    let options = [&source.options[..], &[target.option()]].concat();
                    let image = compile(&source, target, &options);
                    assert!(image.is_ok_and(|image| image.len() > 1000), "{} for {target:?}", source.name);
                }
            }
        }
    }
}

//! Devices: which are there, and one made ready.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchArgs,
    LaunchConfig, PushKernelArg, result::device, sys::CUdevice_attribute, sys::CUfunction_attribute,
};

pub use crate::compiler::compiler;
use crate::compiler::{Source, knows, modules};
use crate::error::OLDEST;
pub use crate::error::{GpuError, Missing, Result};

/// How products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Numbers are rounded to 10 bits behind the point before they are multiplied, and added up with 23.
    #[default]
    Tf32,
    /// Each number is split in two, and three products are added: as exact as 32-bit floats.
    Fp32,
}

impl Precision {
    /// The name that messages and keys use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tf32 => "tf32",
            Self::Fp32 => "fp32",
        }
    }
}

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its version.
    pub capability: (i32, i32),
    /// Bytes of memory.
    pub memory: usize,
}

/// The devices that the driver sees.
///
/// # Errors
/// No driver, or no device.
pub fn devices() -> std::result::Result<Vec<Described>, Missing> {
    #[allow(unsafe_code, reason = "asks for a library by name; nothing of it is called")]
    let there = unsafe { cudarc::driver::sys::is_culib_present() };
    if !there {
        return Err(Missing::Driver);
    }
    cudarc::driver::result::init().map_err(fails)?;
    let count = device::get_count().map_err(fails)?;
    // A context would take memory of every device, and time.
    let describe = |number: i32| -> std::result::Result<Described, Missing> {
        let device = device::get(number).map_err(fails)?;
        #[allow(unsafe_code, reason = "the device is one that the driver gave for its number")]
        let (attribute, memory) =
            unsafe { (|attribute| device::get_attribute(device, attribute).map_err(fails), device::total_mem(device)) };
        Ok(Described {
            number: number as usize,
            name: device::get_name(device).map_err(fails)?,
            capability: (
                attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            memory: memory.map_err(fails)?,
        })
    };
    if count <= 0 {
        return Err(Missing::Device);
    }
    (0..count).map(describe).collect()
}

fn fails(error: DriverError) -> Missing {
    use cudarc::driver::sys::CUresult;
    if error.0 == CUresult::CUDA_ERROR_NO_DEVICE { Missing::Device } else { Missing::DriverFails(error.to_string()) }
}

/// The device of a number, if it can be used: a driver, a compiler that knows it, and a device that is not too old.
///
/// # Errors
/// What is missing.
pub fn usable(number: usize) -> std::result::Result<Described, Missing> {
    let devices = devices()?;
    let compiler = compiler()?;
    let there = devices.len();
    let device = devices.into_iter().nth(number).ok_or(Missing::Number { wanted: number, there })?;
    if device.capability < OLDEST {
        return Err(Missing::TooOld { name: device.name, capability: device.capability });
    }
    // Gates could do with code for older devices, but burn's compiler asks for the device's own.
    if !knows(compiler, device.capability) {
        return Err(Missing::TooNew { name: device.name, capability: device.capability, compiler });
    }
    Ok(device)
}

/// The version of the driver, as it tells it.
///
/// # Errors
/// There is none, or it does not answer.
pub fn driver() -> std::result::Result<i32, Missing> {
    #[allow(unsafe_code, reason = "asks for a library by name, then for its version, which is one number")]
    let version = unsafe {
        if !cudarc::driver::sys::is_culib_present() {
            return Err(Missing::Driver);
        }
        let mut version = 0;
        cudarc::driver::sys::cuDriverGetVersion(&mut version).result().map(|()| version)
    };
    version.map_err(fails)
}

/// A size of tiles that products are computed in, and kernels for it.
#[derive(Debug)]
struct Products {
    tile: usize,
    threads: u32,
    forward: CudaFunction,
    backward: CudaFunction,
    learn: CudaFunction,
}

/// Blocks of a launch downwards: hardware counts no further.
pub(crate) const MOST_DOWN: usize = 65_535;

/// Depth of a tile; stages that are loaded ahead.
const DEPTH: usize = 16;
const STAGES: usize = 4;

/// A device made ready.
#[derive(Debug)]
pub struct Gpu {
    /// What it is.
    pub device: Described,
    /// How it multiplies.
    pub precision: Precision,
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) kernels: Kernels,
    processors: usize,
    /// One piece of work at a time: two would only take each other's memory.
    turn: Mutex<()>,
}

#[derive(Debug)]
pub(crate) struct Kernels {
    large: Products,
    small: Products,
    pub(crate) draw: CudaFunction,
    pub(crate) means: CudaFunction,
    pub(crate) grafts: CudaFunction,
    pub(crate) fill: CudaFunction,
    pub(crate) heads: CudaFunction,
    pub(crate) logits: CudaFunction,
    pub(crate) vectors: CudaFunction,
}

/// Which product, and with that what lies in which order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Forward,
    Backward,
    Learn,
}

/// One product of many; as in `product.cu`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Product {
    pub(crate) a: u64,
    pub(crate) b: u64,
    pub(crate) c: u64,
    pub(crate) beside: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) step: u64,
    pub(crate) m: i32,
    pub(crate) n: i32,
    pub(crate) k: i32,
    pub(crate) lda: i32,
    pub(crate) ldb: i32,
    pub(crate) ldc: i32,
}

/// Constants of Adam as `product.cu` takes them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Decay {
    pub(crate) beta_1: f32,
    pub(crate) beta_2: f32,
    pub(crate) weight_decay: f32,
}

/// Numbers that kernels take as they lie in memory.
macro_rules! device_repr {
    ($($name:ty),*) => {
        $(
            #[allow(unsafe_code, reason = "a plain structure of numbers in C's order, as the kernel declares it")]
            unsafe impl cudarc::driver::DeviceRepr for $name {}
        )*
    };
}
pub(crate) use device_repr;

device_repr!(Product, Decay);

/// Products that are computed in one launch.
#[derive(Debug)]
pub(crate) struct Batch {
    problems: CudaSlice<Product>,
    count: usize,
    kind: Kind,
    /// The sizes of the largest.
    most: (usize, usize),
}

impl Gpu {
    /// Makes a device ready: compiles kernels for it, which takes a second or two, or takes them from a folder where an earlier
    /// run left them.
    ///
    /// # Errors
    /// What is missing, or what does not compile.
    pub fn open(number: usize, precision: Precision, kernels: Option<&Path>) -> Result<Self> {
        let device = usable(number)?;
        let context = CudaContext::new(number)?;
        // Everything here runs in one stream, in order: there is nothing to keep track of.
        #[allow(unsafe_code, reason = "all buffers are used in the one stream of this device")]
        unsafe {
            context.disable_event_tracking();
        }
        let processors = context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as usize;
        let stream = context.new_stream()?;
        let kernels = Kernels::load(&modules(&context, device.capability, &sources(precision), kernels)?)?;
        Ok(Self { device, precision, stream, kernels, processors, turn: Mutex::new(()) })
    }

    /// Waits until no other thread works on the device.
    pub(crate) fn turn(&self) -> std::sync::MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of memory that are free once everything that was begun is done: until then, buffers that were dropped are not.
    pub(crate) fn free(&self) -> Result<usize> {
        self.stream.synchronize()?;
        Ok(self.stream.context().mem_get_info()?.0)
    }

    pub(crate) fn upload<T: DeviceRepr>(&self, values: &[T]) -> Result<CudaSlice<T>> {
        if values.is_empty() {
            return Ok(self.stream.null()?);
        }
        Ok(self.stream.clone_htod(values)?)
    }

    pub(crate) fn zeros<T: DeviceRepr + cudarc::driver::ValidAsZeroBits>(&self, count: usize) -> Result<CudaSlice<T>> {
        Ok(self.stream.alloc_zeros(count.max(1))?)
    }

    /// Where a buffer lies.
    pub(crate) fn at<T>(&self, buffer: &CudaSlice<T>) -> u64 {
        buffer.device_ptr(&self.stream).0
    }

    /// A launch of a kernel.
    pub(crate) fn launch<'a>(&'a self, function: &'a CudaFunction) -> Launch<'a> {
        Launch(self.stream.launch_builder(function))
    }

    /// Products ready to be launched.
    pub(crate) fn batch(&self, problems: &[Product], kind: Kind) -> Result<Batch> {
        let most = |size: fn(&Product) -> i32| problems.iter().map(size).max().unwrap_or(0) as usize;
        let most = (most(|problem| problem.m), most(|problem| problem.n));
        Ok(Batch { problems: self.upload(problems)?, count: problems.len(), kind, most })
    }

    /// Computes products.
    pub(crate) fn multiply(&self, batch: &Batch, decay: Decay) -> Result<()> {
        if batch.count == 0 || batch.most.0 == 0 || batch.most.1 == 0 {
            return Ok(());
        }
        let tiles = |tile: usize| batch.most.0.div_ceil(tile) * batch.most.1.div_ceil(tile);
        let Kernels { large, small, .. } = &self.kernels;
        // Large tiles read less, but there must be one for every processor; a step of Adam is bound by memory, and more of the
        // small ones wait for it at a time.
        let is_large = !matches!(batch.kind, Kind::Learn) && tiles(large.tile) * batch.count >= self.processors;
        let products = if is_large { large } else { small };
        let function = match batch.kind {
            Kind::Forward => &products.forward,
            Kind::Backward => &products.backward,
            Kind::Learn => &products.learn,
        };
        for start in (0..batch.count).step_by(MOST_DOWN) {
            let problems = self.at(&batch.problems) + (start * size_of::<Product>()) as u64;
            let shape = LaunchConfig {
                grid_dim: (tiles(products.tile) as u32, MOST_DOWN.min(batch.count - start) as u32, 1),
                block_dim: (products.threads, 1, 1),
                shared_mem_bytes: shared(products.tile, batch.kind),
            };
            let mut launch = self.stream.launch_builder(function);
            launch.arg(&problems).arg(&decay);
            #[allow(
                unsafe_code,
                reason = "arguments are those of the kernel; problems point into buffers that are held"
            )]
            unsafe {
                launch.launch(shape)?;
            }
        }
        Ok(())
    }
}

/// A kernel with arguments. Those that are places point into buffers that the caller holds.
pub(crate) struct Launch<'a>(LaunchArgs<'a>);

impl<'a> Launch<'a> {
    pub(crate) fn arg<T: DeviceRepr>(&mut self, argument: &'a T) -> &mut Self {
        self.0.arg(argument);
        self
    }

    /// Starts it, blocks across and down.
    pub(crate) fn go(&mut self, (across, down): (u32, u32), threads: u32) -> Result<()> {
        if across == 0 || down == 0 {
            return Ok(());
        }
        let shape = LaunchConfig { grid_dim: (across, down, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
        #[allow(unsafe_code, reason = "arguments are those that the kernel declares")]
        unsafe {
            self.0.launch(shape)?;
        }
        Ok(())
    }
}

/// Bytes of shared memory of a product: what is loaded ahead, and afterwards, where weights learn, the tile of their gradient.
fn shared(tile: usize, kind: Kind) -> u32 {
    let deep = tile * (DEPTH + 4);
    let wide = DEPTH * (tile + 8);
    let floats = match kind {
        Kind::Forward => 2 * deep,
        Kind::Backward => deep + wide,
        Kind::Learn => 2 * wide,
    };
    let gradient = if matches!(kind, Kind::Learn) { tile * (tile + 8) } else { 0 };
    4 * (STAGES * floats).max(gradient) as u32
}

/// What is compiled: products in both sizes of tiles, and the rest.
pub(crate) fn sources(precision: Precision) -> [Source; 4] {
    let precise = usize::from(precision == Precision::Fp32);
    let product = |tile: usize, rows: usize, columns: usize| Source {
        name: "product.cu",
        text: include_str!("kernels/product.cu"),
        options: [("BM", tile), ("BN", tile), ("WM", rows), ("WN", columns), ("BK", DEPTH), ("PRECISE", precise)]
            .map(|(name, number)| format!("-D{name}={number}"))
            .into(),
    };
    let plain = |name, text| Source { name, text, options: Vec::new() };
    [
        product(128, 64, 32),
        product(64, 32, 32),
        plain("draw.cu", include_str!("kernels/draw.cu")),
        plain("teach.cu", include_str!("kernels/teach.cu")),
    ]
}

impl Kernels {
    /// From modules of [`sources`], in their order.
    fn load(modules: &[Arc<CudaModule>]) -> Result<Self> {
        let [large, small, draw, teach] = modules else {
            return Err(GpuError::Driver("a kernel is missing".to_owned()));
        };
        Ok(Self {
            large: Products::new(large, 128, 256)?,
            small: Products::new(small, 64, 128)?,
            draw: draw.load_function("draw")?,
            means: teach.load_function("means")?,
            grafts: teach.load_function("grafts")?,
            fill: teach.load_function("fill")?,
            heads: teach.load_function("heads")?,
            logits: teach.load_function("logits")?,
            vectors: teach.load_function("vectors")?,
        })
    }
}

impl Products {
    fn new(module: &Arc<CudaModule>, tile: usize, threads: u32) -> Result<Self> {
        let function = |name: &str, kind| -> Result<CudaFunction> {
            let function = module.load_function(name)?;
            let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function.set_attribute(attribute, shared(tile, kind) as i32)?;
            Ok(function)
        };
        Ok(Self {
            tile,
            threads,
            forward: function("forward", Kind::Forward)?,
            backward: function("backward", Kind::Backward)?,
            learn: function("learn", Kind::Learn)?,
        })
    }
}

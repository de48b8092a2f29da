//! Kernels in CUDA C++ on the queue of burn's own: the text goes to NVRTC when a kernel is first needed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, DType, Shape};
use burn::cubecl::ir::metadata::Info;
use burn::cubecl::ir::{ElemType, FloatKind, UIntKind};
use burn::cubecl::prelude::{
    AddressType, BufferIOAttr, Client, CubeCount, CubeDim, CubeKernel, ExecutionMode, KernelDefinition, KernelId,
    KernelMetadata, KernelSettings, PrecompiledSource, Scope,
};
use burn::cubecl::server::{Handle, KernelArguments, MetadataBindingInfo};

/// A tensor on the device.
pub(super) type Array = FloatTensor<Cube>;

/// Threads of a block of kernels that go over elements.
pub(super) const THREADS: u32 = 256;

/// Bytes that a pointer of four floats has to be a multiple of.
const ALIGNMENT: u64 = 16;

/// Files of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Product,
    WeightGradient,
    Arrange,
    Normalise,
    Depthwise,
    Pool,
    Time,
    Loss,
}

/// What every file begins with.
const TENSOR_CORE: &str = include_str!("tensor_core.cuh");

impl Source {
    const ALL: [Self; 8] = [
        Self::Product,
        Self::WeightGradient,
        Self::Arrange,
        Self::Normalise,
        Self::Depthwise,
        Self::Pool,
        Self::Time,
        Self::Loss,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Product => include_str!("product.cu"),
            Self::WeightGradient => include_str!("weight_gradient.cu"),
            Self::Arrange => include_str!("arrange.cu"),
            Self::Normalise => include_str!("normalise.cu"),
            Self::Depthwise => include_str!("depthwise.cu"),
            Self::Pool => include_str!("pool.cu"),
            Self::Time => include_str!("time.cu"),
            Self::Loss => include_str!("loss.cu"),
        }
    }
}

/// A hash of all kernels: compiled ones may be kept on disk, and must not outlive a change of their text.
pub(crate) fn version() -> u64 {
    static VERSION: OnceLock<u64> = OnceLock::new();
    *VERSION.get_or_init(|| {
        let mut hash = blake3::Hasher::new();
        hash.update(TENSOR_CORE.as_bytes());
        Source::ALL.iter().for_each(|source| _ = hash.update(source.text().as_bytes()));
        let mut bytes = [0; 8];
        hash.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    })
}

/// Whether products go the way of other GPUs on Hopper, too.
static AS_OTHERS: AtomicBool = AtomicBool::new(false);

/// Runs something with products as on GPUs other than Hopper, to hold that way against the CPU where no such GPU is at hand. It
/// is for the whole program.
pub(crate) fn as_other_gpus<T>(run: impl FnOnce() -> T) -> T {
    AS_OTHERS.store(true, Ordering::Relaxed);
    let result = run();
    AS_OTHERS.store(false, Ordering::Relaxed);
    result
}

/// What a kernel of products is told of that.
pub(super) fn way_of_products() -> Option<(&'static str, usize)> {
    AS_OTHERS.load(Ordering::Relaxed).then_some(("AS_OTHERS", 1))
}

/// One kernel: its file, its name there, what is defined before it, and the threads of a block.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    pub source: Source,
    pub entry: &'static str,
    pub defines: Vec<(&'static str, usize)>,
    pub threads: u32,
}

impl Kernel {
    /// One without definitions, for blocks of [`THREADS`].
    pub(super) fn plain(source: Source, entry: &'static str) -> Self {
        Self { source, entry, defines: Vec::new(), threads: THREADS }
    }

    fn cube_dim(&self) -> CubeDim {
        CubeDim::new_1d(self.threads)
    }
}

impl KernelMetadata for Kernel {
    fn id(&self) -> KernelId {
        let info = (self.source, self.entry, self.defines.clone(), version());
        KernelId::new::<Self>().info(info).cube_dim(self.cube_dim().0)
    }

    fn address_type(&self) -> ElemType {
        UIntKind::U32.into()
    }
}

impl CubeKernel for Kernel {
    fn define(&self) -> KernelDefinition {
        // Only its dimensions are read: the text stands for the rest.
        let settings = KernelSettings::new(self.cube_dim().0, ExecutionMode::Checked, AddressType::U32);
        KernelDefinition { body: Scope::root(settings.clone()), settings, info: Info::default() }
    }

    fn source(&self) -> Option<PrecompiledSource> {
        let defines: String = self.defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        // A file holds several kernels, and all would be compiled for each.
        let source = format!("#define ONLY_{}\n{defines}{TENSOR_CORE}{}", self.entry, self.source.text());
        Some(PrecompiledSource { source, entrypoint_name: self.entry.to_owned(), lang: "cuda" })
    }
}

/// The numbers that a kernel gets by value, in the order of its struct.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<u32>);

impl Numbers {
    /// Numbers as `int`. What is too large for one is cut to the largest.
    pub(super) fn of<const N: usize>(values: [usize; N]) -> Self {
        Self(values.iter().map(|value| i32::try_from(*value).unwrap_or(i32::MAX).cast_unsigned()).collect())
    }

    /// With numbers as `float` after them.
    pub(super) fn floats<const N: usize>(mut self, values: [f32; N]) -> Self {
        self.0.extend(values.map(f32::to_bits));
        self
    }

    fn words(mut self) -> Vec<u64> {
        if self.0.len() % 2 == 1 {
            self.0.push(0);
        }
        self.0.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
    }
}

/// Puts a kernel on the queue. Its parameters are the buffers that it reads, those that it writes, and the numbers.
pub(super) fn launch(
    client: &Client,
    kernel: Kernel,
    blocks: [usize; 3],
    read: &[&Handle],
    written: &[&Handle],
    numbers: Numbers,
) {
    let words = numbers.words();
    let length = words.len();
    let mut arguments = KernelArguments::new().with_info(MetadataBindingInfo::new(words, length));
    for handle in read {
        arguments = arguments.with_buffer_io((*handle).clone().binding(), BufferIOAttr::ReadOnly);
    }
    for handle in written {
        arguments = arguments.with_buffer_io((*handle).clone().binding(), BufferIOAttr::ReadWrite);
    }
    let [x, y, z] = blocks.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    client.launch(Box::new(kernel), CubeCount::Static(x, y, z), arguments);
}

/// Blocks that go over so many elements.
pub(super) fn blocks(elements: usize) -> [usize; 3] {
    [elements.div_ceil(THREADS as usize).max(1), 1, 1]
}

/// Blocks of kernels that add the parts of so many numbers, 32 a block.
pub(super) fn sum_blocks(numbers: usize) -> [usize; 3] {
    [numbers.div_ceil(32).max(1), 1, 1]
}

/// Memory for so many floats.
pub(super) fn floats(client: &Client, count: usize) -> Handle {
    client.empty(count.max(1) * size_of::<f32>())
}

/// A new tensor beside another one, its numbers in `handle`.
pub(super) fn array(like: &Array, handle: Handle, shape: impl Into<Shape>) -> Array {
    Array::new_contiguous(like.client.clone(), like.device.clone(), shape.into(), handle, DType::F32)
}

/// A tensor with the same numbers, one after another, at an address that vectors can be loaded from.
pub(super) fn contiguous(tensor: Array) -> Array {
    if tensor.is_contiguous() && is_aligned(&tensor.handle) {
        return tensor;
    }
    let (client, device, shape) = (tensor.client.clone(), tensor.device.clone(), tensor.meta.shape.clone());
    let numbers =
        burn::cubecl::std::tensor::into_contiguous(&client, tensor.binding(), ElemType::Float(FloatKind::F32));
    Array::new_contiguous(client, device, shape, numbers.handle, DType::F32)
}

/// Whether vectors of four floats can be loaded from where it begins.
pub(super) fn is_aligned(handle: &Handle) -> bool {
    handle.offset_start.unwrap_or(0).is_multiple_of(ALIGNMENT)
}

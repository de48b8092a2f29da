//! Training and using leaf banks on the CPU, side by side with the same networks in PyTorch: images a second, the
//! share of what a plain matrix product reaches on this machine in the same run, and the memory that training takes.
//!
//!     cargo bench -p chimera-leaf --bench leaf -- --python "$PWD/.venv/bin/python" [--only resnet18]

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::fs;
use std::process::Command;
use std::time::Instant;

use burn::tensor::{Device, Tensor, TensorData};
use chimera_leaf::adam::AdamSettings;
use chimera_leaf::bank::{LeafBank, LeafBankConfig};
use chimera_leaf::cnn::{DETECTORS, GRID, LAYERS, WIDTH};
use chimera_leaf::encoder::{Batch, DEFAULT_FEATURES, EncoderConfig, Network};
use chimera_leaf::learner::{Learner, Lesson};
use chimera_leaf::pool::Pooling;
use chimera_leaf::vectors::Seen;

const BATCH: usize = 64;
const CONCEPTS: usize = 10;
const TIMES: usize = 5;

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let option =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let (python, only) = (option("--python"), option("--only"));
    let threads = std::thread::available_parallelism().expect("a number").get();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let peak = sgemm_peak(&pool, threads);
    println!("{threads} threads, {:.0} GFLOP/s in a plain product of 512x512 matrices a thread", peak / 1e9);
    // ResNet-18 at 224 pixels: 1.82 G multiplications and additions an image (torchvision's documentation).
    let resnet = Flops { encoding: 3.64e9, training: 3.0 * 3.64e9 };
    let runs = [
        (Network::Cnn, 28, BATCH, 40, Flops::of_cnn(28)),
        (Network::Cnn, 64, BATCH, 12, Flops::of_cnn(64)),
        (Network::Resnet18, 224, 8, 2, resnet),
    ];
    for (network, side, batch, steps, flops) in runs {
        let name = network.as_str();
        if only.is_some_and(|only| only != name) {
            continue;
        }
        println!("{name}, {side}x{side}, batch {batch}:");
        let mut training = pool.install(|| Training::new(network, side, batch));
        let mut encoding = Encoding::new(network, side, batch);
        let mut task = Task { name, side, batch, steps, peak, threads, python };
        measure("train", flops.training, &task, || pool.install(|| training.step()));
        task.steps *= 3;
        measure("encode", flops.encoding, &task, || pool.install(|| encoding.step()));
    }
    // Resident pages that belong to no file, at their peak.
    let anonymous = status("VmHWM") - (status("VmRSS") - status("RssAnon"));
    println!("anonymous memory at the peak: {:.0} MB", anonymous / 1e6);
}

/// What is timed.
struct Task<'a> {
    name: &'a str,
    side: usize,
    batch: usize,
    steps: usize,
    peak: f64,
    threads: usize,
    python: Option<&'a String>,
}

/// Times ours and theirs in turn and prints the best of each.
fn measure(what: &str, flops: f64, task: &Task<'_>, mut step: impl FnMut()) {
    for _ in 0..3 {
        step();
    }
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TIMES {
        let started = Instant::now();
        for _ in 0..task.steps {
            step();
        }
        ours = ours.min(started.elapsed().as_secs_f64());
        if let Some(python) = task.python {
            theirs = theirs.min(torch(python, what, task));
        }
    }
    let images = (task.steps * task.batch) as f64;
    print!(
        "  {what}: {:.0} images/s, {:.0} % of the product",
        images / ours,
        100.0 * images * flops / ours / task.peak
    );
    match task.python {
        Some(_) => println!("; PyTorch {:.0} images/s: {:.2} times as fast", images / theirs, theirs / ours),
        None => println!("; give a Python that has torch to compare: -- --python PATH"),
    }
}

/// Floating-point operations for one image, multiplications and additions.
struct Flops {
    encoding: f64,
    training: f64,
}

impl Flops {
    fn of_cnn(side: usize) -> Self {
        let (mut inputs, mut size) = (3, side);
        let mut layers = Vec::new();
        for (outputs, pool) in LAYERS {
            layers.push((2 * 9 * inputs * outputs * size * size) as f64);
            size = if pool { size.div_ceil(2) } else { size };
            inputs = outputs;
        }
        layers.push((2 * inputs * DETECTORS * size * size) as f64);
        layers.push((2 * WIDTH * DEFAULT_FEATURES) as f64);
        let encoding: f64 = layers.iter().sum();
        // Backwards there are two products for each, but the images need no gradient.
        Self { encoding, training: 3.0 * encoding - layers[0] }
    }
}

fn bank(network: Network, size: usize, device: &Device) -> LeafBank {
    let (frames, pooling, features) = (1, Pooling::Mean, DEFAULT_FEATURES);
    let encoder = EncoderConfig::Frames { network, frames, size, pooling, features };
    let concepts = (0..CONCEPTS).map(|concept| concept.to_string()).collect();
    LeafBankConfig { encoder, concepts }.init_on(1, device).expect("a bank")
}

struct Training {
    learner: Learner,
    images: TensorData,
    labels: Vec<Option<bool>>,
    device: Device,
}

impl Training {
    fn new(network: Network, side: usize, batch: usize) -> Self {
        let device = Device::flex().autodiff();
        let mut random = fastrand::Rng::with_seed(3);
        Self {
            learner: Learner::new(bank(network, side, &device), AdamSettings::default().init(), None),
            images: drawn([batch, 3, side, side]),
            labels: (0..batch * CONCEPTS).map(|_| Some(random.bool())).collect(),
            device,
        }
    }

    fn step(&mut self) {
        let images = Tensor::from_data(self.images.clone(), &self.device);
        let seen = Seen::Samples(Batch::Frames(images));
        self.learner.step(Lesson { seen, labels: self.labels.clone(), rate: 1e-3 }).expect("a step");
    }
}

struct Encoding {
    bank: LeafBank,
    images: TensorData,
    device: Device,
}

impl Encoding {
    fn new(network: Network, side: usize, batch: usize) -> Self {
        let device = Device::flex();
        Self { bank: bank(network, side, &device), images: drawn([batch, 3, side, side]), device }
    }

    fn step(&mut self) {
        let images = Tensor::from_data(self.images.clone(), &self.device);
        let answer = self.bank.forward(Batch::Frames(images)).expect("images");
        std::hint::black_box(answer.z.into_data());
    }
}

fn drawn<const D: usize>(shape: [usize; D]) -> TensorData {
    let mut random = fastrand::Rng::with_seed(2);
    TensorData::new((0..shape.iter().product()).map(|_| random.f32()).collect::<Vec<_>>(), shape)
}

/// Operations a second of `threads` products of 512x512 matrices side by side, the best of many.
fn sgemm_peak(pool: &rayon::ThreadPool, threads: usize) -> f64 {
    const SIZE: usize = 512;
    const PRODUCTS: usize = 8;
    let work = || {
        let (one, other) = (vec![0.5_f32; SIZE * SIZE], vec![0.5_f32; SIZE * SIZE]);
        let mut product = vec![0.0_f32; SIZE * SIZE];
        let (size, step) = (SIZE, SIZE as isize);
        let started = Instant::now();
        for _ in 0..PRODUCTS {
            #[allow(unsafe_code, reason = "the crate takes pointers; all three matrices have SIZE * SIZE floats")]
            unsafe {
                gemm::gemm(
                    size,
                    size,
                    size,
                    product.as_mut_ptr(),
                    step,
                    1,
                    false,
                    one.as_ptr(),
                    step,
                    1,
                    other.as_ptr(),
                    step,
                    1,
                    0.0,
                    1.0,
                    false,
                    false,
                    false,
                    gemm::Parallelism::None,
                );
            }
        }
        std::hint::black_box(product);
        started.elapsed().as_secs_f64()
    };
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        best = best.min(pool.broadcast(|_| work()).into_iter().fold(0.0, f64::max));
    }
    (threads * PRODUCTS * 2 * SIZE * SIZE * SIZE) as f64 / best
}

/// Seconds of the same steps in PyTorch.
fn torch(python: &str, what: &str, task: &Task<'_>) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/leaf_torch.py");
    let numbers = [task.side, task.batch, task.steps, task.threads, DEFAULT_FEATURES, CONCEPTS, GRID, DETECTORS];
    let mut command = Command::new(python);
    command.arg(script).args([what, task.name]).args(numbers.iter().map(ToString::to_string));
    command.args(LAYERS.iter().map(|(outputs, pool)| format!("{outputs}:{}", u8::from(*pool))));
    let output = command.output().expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("seconds")
}

/// Bytes that the system counts for this process under a name.
fn status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a line");
    1024.0 * line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number")
}

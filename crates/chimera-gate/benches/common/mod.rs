//! What the benchmarks share: the machine's peak in a plain product, work on threads, and the same work in PyTorch.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Instant;

/// What follows a name on the command line.
pub(crate) fn argument(name: &str) -> Option<String> {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)
}

/// Does pieces of work on threads.
pub(crate) fn spread(threads: usize, count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= count {
                        break;
                    }
                    work(piece);
                }
            });
        }
    });
}

/// Operations a second of `threads` products of 512x512 matrices side by side, the best of many.
pub(crate) fn sgemm_peak(threads: usize) -> f64 {
    const SIZE: usize = 512;
    const PRODUCTS: usize = 8;
    let (barrier, slowest) = (Barrier::new(threads), Mutex::new(0.0_f64));
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        *slowest.lock().expect("a lock") = 0.0;
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let (one, other) = (vec![0.5_f32; SIZE * SIZE], vec![0.5_f32; SIZE * SIZE]);
                    let mut product = vec![0.0_f32; SIZE * SIZE];
                    barrier.wait();
                    let started = Instant::now();
                    for _ in 0..PRODUCTS {
                        plain_product(SIZE, &one, &other, &mut product);
                    }
                    std::hint::black_box(product);
                    let seconds = started.elapsed().as_secs_f64();
                    let mut slowest = slowest.lock().expect("a lock");
                    *slowest = slowest.max(seconds);
                });
            }
        });
        best = best.min(*slowest.lock().expect("a lock"));
    }
    (threads * PRODUCTS * 2 * SIZE * SIZE * SIZE) as f64 / best
}

fn plain_product(size: usize, one: &[f32], other: &[f32], product: &mut [f32]) {
    let step = size as isize;
    #[allow(unsafe_code, reason = "the crate takes pointers; all three matrices have size * size floats")]
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

/// Seconds of the same work in PyTorch.
pub(crate) fn torch(python: &str, what: &str, numbers: [usize; 6]) -> f64 {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/gates_torch.py");
    let output = Command::new(python).args([script, what]).args(numbers.map(|number| number.to_string())).output();
    let output = output.expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("seconds")
}

//! What this machine can reach: plain products and plain copies. Everything else is a share of it.

use std::fs;
use std::hint::black_box;
use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Instant;

use chimera_data::error::{Error, Result};
use chimera_gate::product::Panels;
use chimera_leaf::workload::Product;
use serde_json::json;

use super::record::{Measurement, OURS, On};
use super::timing::seconds_a_step;
use super::{Bench, Notes, torch};

/// Sides of the matrices that each thread multiplies by itself.
const SIDE: usize = 512;

/// The name of the processor, as the system has it.
pub(super) fn processor() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

pub(super) fn measure(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    let ours = |what: &str, case: String, value: f64, unit| Measurement::ours(what, &case, On::Cpu, (value, unit));
    let own = ours("product", format!("{SIDE} x {SIDE} a thread"), product(bench), "FLOP/s");
    let side = bench.full_or_quick(4096, SIDE);
    let tensors = ours("product", format!("{side} x {side}"), tensor_product(bench, side)?, "FLOP/s");
    let megabytes = bench.full_or_quick(256, 16);
    let copy = ours("copy", format!("{megabytes} MB a thread"), copy(bench, megabytes << 20), "B/s");
    notes.keep(vec![own, Measurement { by: "burn".to_owned(), ..tensors }, copy])?;
    for on in bench.places() {
        let sides = json!({"side": match on {
            On::Cpu => side,
            On::Gpu => bench.full_or_quick(8192, 1024),
        }});
        notes.keep(torch::ask(bench, "ceilings", on, sides, 45)?)?;
    }
    Ok(())
}

/// The best of several rounds of the same work on every thread, in seconds of the slowest thread.
fn rounds<T>(threads: usize, rounds: usize, ready: impl Fn() -> T + Sync, work: impl Fn(&mut T) + Sync) -> f64 {
    let (barrier, slowest) = (Barrier::new(threads), Mutex::new(vec![0.0_f64; rounds]));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut room = ready();
                work(&mut room);
                for round in 0..rounds {
                    barrier.wait();
                    let started = Instant::now();
                    work(&mut room);
                    let seconds = started.elapsed().as_secs_f64();
                    let mut slowest = slowest.lock().unwrap_or_else(PoisonError::into_inner);
                    slowest[round] = slowest[round].max(seconds);
                }
            });
        }
    });
    slowest.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().fold(f64::INFINITY, f64::min)
}

/// Operations a second of our own product loop, a product on each thread.
fn product(bench: &Bench<'_>) -> f64 {
    const PRODUCTS: usize = 4;
    let threads = bench.site.threads.get();
    let ready = || {
        let panels = Panels::from_fn(SIDE, SIDE, |output, input| (output + input) as f32 * 1e-3);
        (panels, vec![0.5_f32; SIDE * SIDE], vec![0.0_f32; SIDE], vec![0.0_f32; SIDE * SIDE])
    };
    let seconds = rounds(threads, bench.full_or_quick(20, 3), ready, |(panels, x, bias, out)| {
        for _ in 0..PRODUCTS {
            panels.apply((x, SIDE), SIDE, bias, (out, SIDE));
        }
        black_box(out);
    });
    (threads * PRODUCTS * 2 * SIDE * SIDE * SIDE) as f64 / seconds
}

/// Operations a second of one large product of tensors on all threads.
fn tensor_product(bench: &Bench<'_>, side: usize) -> Result<f64> {
    let mut work = Product::new(side, &bench.cpu);
    let timed = pool(bench)?.install(|| seconds_a_step(&mut work, bench.budget()))?;
    Ok(2.0 * (side as f64).powi(3) / timed.seconds)
}

/// Bytes read and written a second by plain copies on all threads.
fn copy(bench: &Bench<'_>, bytes: usize) -> f64 {
    let threads = bench.site.threads.get();
    let ready = || (vec![1_u8; bytes], vec![0_u8; bytes]);
    let seconds = rounds(threads, bench.full_or_quick(8, 3), ready, |(from, to)| {
        to.copy_from_slice(from);
        black_box(to);
    });
    (2 * threads * bytes) as f64 / seconds
}

/// Threads for loops of tensors.
pub(super) fn pool(bench: &Bench<'_>) -> Result<rayon::ThreadPool> {
    let threads = bench.site.threads;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build();
    pool.map_err(|error| Error::input(format!("cannot start {threads} threads for {OURS}: {error}"), None))
}

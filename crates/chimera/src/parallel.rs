//! Independent pieces of work on several threads, with results in the order of the pieces.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::error::{Error, Result};

/// Does `count` pieces of work. After an error no new piece is begun; of several errors the one of the first piece is
/// given.
///
/// # Errors
/// That of a piece of work.
pub fn in_parallel<T: Send>(
    threads: NonZeroUsize,
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        let mut mine = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                break;
            }
            let result = work(piece);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            mine.push((piece, result));
        }
        mine
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get().min(count)).map(|_| scope.spawn(worker)).collect();
        let mut results = Vec::with_capacity(count);
        for worker in workers {
            match worker.join() {
                Ok(mine) => results.extend(mine),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(piece, _)| *piece);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs work in which loops of their own spread over so many threads and no more.
pub(crate) fn in_pool<T: Send>(threads: NonZeroUsize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    pool(threads)?.install(work)
}

/// Threads for work that is done piece by piece.
pub(crate) fn pool(threads: NonZeroUsize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build();
    pool.map_err(|error| Error::input(format!("cannot start {threads} threads: {error}"), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_and_the_first_error_wins() {
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).unwrap();
            assert_eq!(in_parallel(threads, 100, |i| Ok(i * i)).unwrap(), (0..100).map(|i| i * i).collect::<Vec<_>>());
            let error =
                in_parallel(threads, 100, |i| if i < 40 { Ok(()) } else { Err(Error::input(i.to_string(), None)) });
            let number: usize = error.unwrap_err().to_string().parse().unwrap();
            assert!((40..40 + threads.get()).contains(&number));
        }
        assert!(in_parallel(NonZeroUsize::MIN, 0, |_| Ok(())).unwrap().is_empty());
    }
}

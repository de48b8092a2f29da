//! Independent pieces of work on several threads, with results in the order of the pieces.

use std::num::NonZeroUsize;
use std::ops::Range;
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

/// Rows in parts for so many threads, one after the other, none larger than `most`.
pub fn parts(rows: usize, most: usize, threads: NonZeroUsize) -> Vec<Range<usize>> {
    let size = most.min(rows.div_ceil(threads.get())).max(1);
    (0..rows).step_by(size).map(|first| first..rows.min(first + size)).collect()
}

/// So many columns of all rows, one after the other, from those of parts of the rows.
pub fn join_columns<T: Copy>(columns: usize, parts: &[Vec<T>]) -> Vec<T> {
    let column = |column: usize| {
        parts.iter().flat_map(move |part| {
            let rows = part.len() / columns;
            &part[column * rows..][..rows]
        })
    };
    (0..columns).flat_map(column).copied().collect()
}

/// Runs work in which loops of their own spread over so many threads and no more.
pub fn in_pool<T: Send>(threads: NonZeroUsize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    pool(threads)?.install(work)
}

/// Threads for work that is done piece by piece.
pub fn pool(threads: NonZeroUsize) -> Result<rayon::ThreadPool> {
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

    #[test]
    fn columns_of_parts_are_those_of_all_rows() {
        let two = NonZeroUsize::new(2).unwrap();
        assert_eq!([parts(7, 100, two), parts(7, 3, two)], [vec![0..4, 4..7], vec![0..3, 3..6, 6..7]]);
        assert!(parts(0, 5, two).is_empty());
        // Row r of column c is 10 c + r.
        let part = |rows: Range<usize>| (0..3).flat_map(|c| rows.clone().map(move |r| 10 * c + r)).collect();
        for most in [1, 3, 100] {
            let found: Vec<Vec<usize>> = parts(7, most, two).into_iter().map(part).collect();
            assert_eq!(join_columns(3, &found), part(0..7));
        }
        assert!(join_columns::<usize>(0, &[Vec::new()]).is_empty() && join_columns::<usize>(3, &[]).is_empty());
    }
}

//! Buffers that results and gradients leave behind, for those of the next layer or step: memory that is new to the process is
//! given page by page, which costs more than many a sum that is written to it.

use std::sync::{Mutex, PoisonError};

/// Numbers that are kept at most, of each kind, and buffers that they lie in.
const KEPT: usize = 16 << 20;
const KEPT_BUFFERS: usize = 64;

/// Numbers of a buffer that is worth it.
const LEAST: usize = 4 << 10;

/// Buffers of floats.
pub(crate) static FLOATS: Buffers<f32> = Buffers::new();

/// Buffers of bytes.
pub(super) static BYTES: Buffers<u8> = Buffers::new();

/// Buffers of one kind, the one that was left last at the end.
pub(crate) struct Buffers<T>(Mutex<Vec<Vec<T>>>);

impl<T: Copy + Default> Buffers<T> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// So many numbers. What they are is left from before.
    pub(crate) fn take(&self, count: usize) -> Vec<T> {
        if count < LEAST {
            return vec![T::default(); count];
        }
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Not one that is much too large: something larger will need it.
        let fits = |buffer: &Vec<T>| (count..=2 * count).contains(&buffer.capacity());
        let Some(at) = buffers.iter().rposition(fits) else {
            return vec![T::default(); count];
        };
        let mut buffer = buffers.remove(at);
        drop(buffers);
        buffer.resize(count, T::default());
        buffer
    }

    /// So many zeros.
    pub(crate) fn zeros(&self, count: usize) -> Vec<T> {
        let mut buffer = self.take(count);
        buffer.fill(T::default());
        buffer
    }

    /// Keeps a buffer that nobody needs, in place of older ones where there are too many.
    pub(crate) fn leave(&self, buffer: Vec<T>) {
        if buffer.capacity() < LEAST {
            return;
        }
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.push(buffer);
        while buffers.len() > KEPT_BUFFERS || buffers.iter().map(Vec::capacity).sum::<usize>() > KEPT {
            buffers.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_goes_round() {
        let buffers = Buffers::<f32>::new();
        let mut buffer = buffers.take(3 * LEAST);
        buffer.fill(1.0);
        let place = buffer.as_ptr();
        buffers.leave(buffer);
        // One of this size would waste too much of it.
        let other = buffers.take(LEAST);
        assert_ne!(other.as_ptr(), place);
        let again = buffers.zeros(2 * LEAST);
        assert!(again.as_ptr() == place && again == vec![0.0; 2 * LEAST]);
    }

    #[test]
    fn the_oldest_are_let_go() {
        let buffers = Buffers::<u8>::new();
        for _ in 0..3 {
            buffers.leave(vec![0; KEPT / 2]);
        }
        assert_eq!(buffers.0.lock().unwrap().len(), 2);
        for _ in 0..100 {
            buffers.leave(vec![0; LEAST]);
            buffers.leave(Vec::new());
        }
        assert_eq!(buffers.0.lock().unwrap().len(), KEPT_BUFFERS);
        buffers.leave(vec![0; KEPT + 1]);
        assert!(buffers.0.lock().unwrap().is_empty());
    }
}

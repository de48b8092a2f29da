//! Buffers that results and gradients leave behind, for those of the next layer or step: memory that is new to the process is
//! given page by page, which costs more than many a sum that is written to it.

use std::sync::{Mutex, PoisonError};

/// Numbers that are kept at most, of each kind.
const KEPT: usize = 16 << 20;

/// Buffers of floats.
pub(in crate::leaf) static FLOATS: Buffers<f32> = Buffers::new();

/// Buffers of bytes.
pub(super) static BYTES: Buffers<u8> = Buffers::new();

/// Buffers of one kind, the one that was left last at the end.
pub(in crate::leaf) struct Buffers<T>(Mutex<Vec<Vec<T>>>);

impl<T: Copy + Default> Buffers<T> {
    const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// So many numbers. What they are is left from before.
    pub(in crate::leaf) fn take(&self, count: usize) -> Vec<T> {
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Not one that is much too large: something larger will need it.
        let fits = |buffer: &Vec<T>| (count..=2 * count).contains(&buffer.capacity());
        let mut buffer = match buffers.iter().rposition(fits) {
            Some(at) => buffers.swap_remove(at),
            None => Vec::new(),
        };
        drop(buffers);
        if buffer.capacity() == 0 {
            return vec![T::default(); count];
        }
        buffer.resize(count, T::default());
        buffer
    }

    /// So many zeros.
    pub(in crate::leaf) fn zeros(&self, count: usize) -> Vec<T> {
        let mut buffer = self.take(count);
        buffer.fill(T::default());
        buffer
    }

    /// Keeps a buffer that nobody needs, in place of older ones where there are too many.
    pub(in crate::leaf) fn leave(&self, buffer: Vec<T>) {
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.push(buffer);
        while buffers.iter().map(Vec::capacity).sum::<usize>() > KEPT {
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
        let mut buffer = buffers.take(100);
        buffer.fill(1.0);
        let place = buffer.as_ptr();
        buffers.leave(buffer);
        // One of this size would waste too much of it.
        assert_ne!(buffers.take(10).as_ptr(), place);
        let again = buffers.zeros(60);
        assert_eq!((again.as_ptr(), again), (place, vec![0.0; 60]));
    }

    #[test]
    fn the_oldest_are_let_go() {
        let buffers = Buffers::<u8>::new();
        for _ in 0..3 {
            buffers.leave(vec![0; KEPT / 2]);
        }
        assert_eq!(buffers.0.lock().unwrap().len(), 2);
        buffers.leave(vec![0; KEPT + 1]);
        assert!(buffers.0.lock().unwrap().is_empty());
    }
}

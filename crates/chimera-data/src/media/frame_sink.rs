//! Raw frames out of a pipe, which delivers them in pieces of any length.

use std::ops::Range;

use super::frames::FrameShape;

/// Sorts a stream of bytes into frames.
pub(super) struct FrameSink<'a> {
    frame_bytes: usize,
    out: &'a mut [u8],
    /// Bytes seen so far.
    seen: usize,
    /// Frames that came whole.
    pub(super) whole: usize,
    /// Positions of `out` that are written.
    pub(super) filled: usize,
}

impl<'a> FrameSink<'a> {
    pub(super) fn new(shape: FrameShape, out: &'a mut [u8]) -> Self {
        Self { frame_bytes: shape.frame_bytes(), out, seen: 0, whole: 0, filled: 0 }
    }

    /// Takes the next bytes; `positions` tells where in the output a frame goes, counted as they come.
    pub(super) fn take(&mut self, mut piece: &[u8], positions: impl Fn(usize) -> Range<usize>) {
        while !piece.is_empty() {
            let (frame, within) = (self.seen / self.frame_bytes, self.seen % self.frame_bytes);
            let (now, later) = piece.split_at(piece.len().min(self.frame_bytes - within));
            let positions = positions(frame);
            for position in positions.clone() {
                let start = position * self.frame_bytes + within;
                self.out[start..start + now.len()].copy_from_slice(now);
            }
            self.seen += now.len();
            if self.seen.is_multiple_of(self.frame_bytes) {
                self.whole += 1;
                self.filled += positions.len();
            }
            piece = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_land_where_they_are_wanted_however_the_pipe_cuts_them() {
        let shape = FrameShape::new(4, 1, 2).unwrap();
        let stream: Vec<u8> = (0..24).collect();
        for length in 1..=24 {
            let mut out = vec![99; shape.bytes()];
            let mut sink = FrameSink::new(shape, &mut out);
            for piece in stream.chunks(length) {
                // Frame 0 fills two positions, frame 1 none, frames 2 and 3 one each.
                sink.take(piece, |frame| [0..2, 0..0, 2..3, 3..4][frame].clone());
            }
            assert_eq!((sink.whole, sink.filled), (4, 4));
            let expected = [&stream[..6], &stream[..6], &stream[12..]].concat();
            assert_eq!(out, expected);
        }
    }
}

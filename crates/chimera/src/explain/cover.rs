//! Patches that are laid over a picture: what a score loses without them is what they say.

use chimera_data::media::frames::FrameShape;

/// Cells a side of the grid that patches lie on, and that maps are drawn on.
pub const CELLS: usize = 16;

/// Cells a side of large patches, and of small ones.
const LARGE: usize = 4;
const SMALL: usize = 3;

/// A square of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Patch {
    /// The first column and row of cells.
    pub at: [usize; 2],
    /// Cells a side.
    pub side: usize,
}

impl Patch {
    /// Large patches all over the picture, overlapping by half.
    #[must_use]
    pub fn everywhere() -> Vec<Self> {
        let places = || (0..=CELLS - LARGE).step_by(LARGE / 2);
        places().flat_map(|down| places().map(move |across| Self { at: [across, down], side: LARGE })).collect()
    }

    /// Small patches inside this one and over its border.
    #[must_use]
    pub fn inside(self) -> Vec<Self> {
        let places = |first: usize| first.saturating_sub(1)..(first + self.side).min(CELLS + 1 - SMALL);
        places(self.at[1])
            .flat_map(|down| places(self.at[0]).map(move |across| Self { at: [across, down], side: SMALL }))
            .collect()
    }

    /// Whether a cell lies under it.
    #[must_use]
    pub fn covers(self, [across, down]: [usize; 2]) -> bool {
        let under = |first: usize, at: usize| (first..first + self.side).contains(&at);
        under(self.at[0], across) && under(self.at[1], down)
    }

    /// The picture with the patch in the mean colour of what surrounds it.
    #[must_use]
    pub fn over(self, frame: &[u8], shape: FrameShape) -> Vec<u8> {
        let (width, height) = (shape.width.get(), shape.height.get());
        let edge = |cell: usize, size: usize| (cell * size).div_ceil(CELLS);
        let [left, right] = [self.at[0], self.at[0] + self.side].map(|cell| edge(cell, width));
        let [top, bottom] = [self.at[1], self.at[1] + self.side].map(|cell| edge(cell, height));
        let ring = |size: usize| (size / CELLS).max(1);
        let rows = top.saturating_sub(ring(height))..(bottom + ring(height)).min(height);
        let columns = left.saturating_sub(ring(width))..(right + ring(width)).min(width);
        let (mut sum, mut count) = ([0_u64; 3], 0);
        for row in rows {
            for column in columns.clone() {
                if !((top..bottom).contains(&row) && (left..right).contains(&column)) {
                    let pixel = &frame[(row * width + column) * 3..][..3];
                    sum.iter_mut().zip(pixel).for_each(|(sum, channel)| *sum += u64::from(*channel));
                    count += 1;
                }
            }
        }
        let mean = sum.map(|sum| (sum / count.max(1)) as u8);
        let mut covered = frame.to_vec();
        for row in top..bottom {
            covered[(row * width + left) * 3..(row * width + right) * 3].as_chunks_mut::<3>().0.fill(mean);
        }
        covered
    }
}

/// What each cell says: the mean of what patches over it say.
#[must_use]
pub fn spread(patches: &[Patch], values: &[f64]) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_usize); CELLS * CELLS];
    for (patch, value) in patches.iter().zip(values) {
        for down in patch.at[1]..patch.at[1] + patch.side {
            for across in patch.at[0]..patch.at[0] + patch.side {
                let cell = &mut sums[down * CELLS + across];
                *cell = (cell.0 + value, cell.1 + 1);
            }
        }
    }
    sums.into_iter().map(|(sum, count)| if count == 0 { 0.0 } else { sum / count as f64 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_reach_every_cell_and_take_the_colour_around_them() {
        let patches = Patch::everywhere();
        assert_eq!(patches.len(), 49);
        let cells = || (0..CELLS).flat_map(|down| (0..CELLS).map(move |across| [across, down]));
        assert!(cells().all(|cell| patches.iter().any(|patch| patch.covers(cell))));
        for patch in patches {
            let small = patch.inside();
            assert!(small.iter().all(|small| small.at.iter().all(|at| at + small.side <= CELLS)));
            assert!(
                cells().filter(|cell| patch.covers(*cell)).all(|cell| small.iter().any(|small| small.covers(cell)))
            );
        }
        // Grey with a white square of two cells: under a patch that is just as large it is grey again.
        let shape = FrameShape::new(1, 32, 48).unwrap();
        let frame: Vec<u8> =
            (0..32 * 48)
                .flat_map(|pixel| {
                    if (6..9).contains(&(pixel % 48)) && (4..6).contains(&(pixel / 48)) { [255; 3] } else { [90; 3] }
                })
                .collect();
        let patch = Patch { at: [2, 2], side: 1 };
        assert!(patch.over(&frame, shape).iter().all(|byte| *byte == 90));
        let elsewhere = Patch { at: [9, 9], side: 2 };
        assert_eq!(elsewhere.over(&frame, shape), frame);
    }

    #[test]
    fn a_cell_says_the_mean_of_its_patches() {
        let patches = [Patch { at: [0, 0], side: 2 }, Patch { at: [1, 0], side: 2 }];
        let cells = spread(&patches, &[1.0, 4.0]);
        assert_eq!([cells[0], cells[1], cells[2], cells[3], cells[CELLS + 1]], [1.0, 2.5, 4.0, 0.0, 2.5]);
    }
}

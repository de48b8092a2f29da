//! The one inner loop under all three products of a convolution: a small block of results held in registers while both
//! operands are walked in place.
//!
//! A convolution over channels-last images is a matrix product whose left operand need not be copied out first: the
//! window of a pixel is a few *segments* of neighbouring floats. Forward, the rows of the block are pixels and a step
//! goes to the next float of the window; for the gradient of the weights the rows are places in the window and a step
//! goes to the next pixel. [`Walk`] says which.
//!
//! A result is summed in one lane, in the order of the walk, whatever else is computed beside it: how work is cut into
//! blocks, batches or threads changes no bit.

#![allow(unsafe_code, reason = "pointers without bounds checks in the hottest loop; `multiply` checks their range")]

use super::lanes::{LANES, Lanes, bring, load_row, store_row};
use super::panels::PANEL;

/// Where the operands of a product lie, in floats.
///
/// `c[row][column] = start + sum over segments and steps of a[row][segment][step] * b[segment][step][column]`
#[derive(Debug, Clone, Copy)]
pub struct Walk {
    /// Runs of steps.
    pub segments: usize,
    /// Steps of a run.
    pub steps: usize,
    /// Between rows, segments and steps of the left operand.
    pub a: [usize; 3],
    /// Between segments and steps of the right operand. Its columns are neighbours, padded to a multiple of [`LANES`].
    pub b: [usize; 2],
    /// Between rows of the result. Its columns are neighbours.
    pub c: usize,
}

/// What a sum begins with, and what is done with it.
#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// Begin with zero.
    Replace,
    /// Begin with what is there.
    Add,
    /// Begin with a number a column (padded like the right operand); then keep what is positive, if told.
    Bias(&'a [f32], bool),
}

/// Computes `rows` times `columns` results of a [`Walk`].
///
/// # Panics
///
/// When a walk leaves its slice: a mistake of the caller, never of data.
pub fn multiply(walk: &Walk, rows: usize, columns: usize, a: &[f32], b: &[f32], c: &mut [f32], finish: Finish<'_>) {
    multiply_ahead(walk, rows, columns, a, (b, &[]), c, finish);
}

/// The same, and meanwhile what will be read next is brought near: the right operand of the next product.
#[inline]
pub(super) fn multiply_ahead(
    walk: &Walk,
    rows: usize,
    columns: usize,
    a: &[f32],
    (b, ahead): (&[f32], &[f32]),
    c: &mut [f32],
    finish: Finish<'_>,
) {
    if rows == 0 || columns == 0 {
        return;
    }
    let padded = columns.next_multiple_of(LANES);
    if walk.segments > 0 && walk.steps > 0 {
        let last = [rows - 1, walk.segments - 1, walk.steps - 1];
        let far = |counts: &[usize], steps: &[usize]| {
            counts.iter().zip(steps).map(|(count, step)| *count as u128 * *step as u128).sum::<u128>()
        };
        assert!(far(&last, &walk.a) < a.len() as u128, "left operand");
        assert!(far(&last[1..], &walk.b) + padded as u128 <= b.len() as u128, "right operand");
    }
    assert!((rows - 1) as u128 * walk.c as u128 + columns as u128 <= c.len() as u128, "result");
    if let Finish::Bias(bias, _) = finish {
        assert!(padded <= bias.len(), "bias");
    }
    let block = Block { walk, a: a.as_ptr(), b: b.as_ptr(), c: c.as_mut_ptr(), finish, ahead, piece: LANES };
    // SAFETY: all that a block reads and writes was checked above, and each arm asks for its instructions first.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return avx512(block, rows, columns);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return avx2(block, rows, columns);
            }
        }
        blocks::<[f32; LANES], 4, 1, 0>(block, rows, columns);
    }
}

#[derive(Clone, Copy)]
struct Block<'a> {
    walk: &'a Walk,
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    finish: Finish<'a>,
    /// What is brought near, and how much of it at the start of a segment.
    ahead: &'a [f32],
    piece: usize,
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512(block: Block<'_>, rows: usize, columns: usize) {
    unsafe {
        match block.walk.a[0] {
            1 => blocks::<std::arch::x86_64::__m512, 12, 2, 1>(block, rows, columns),
            PANEL => blocks::<std::arch::x86_64::__m512, 12, 2, PANEL>(block, rows, columns),
            _ => blocks::<std::arch::x86_64::__m512, 12, 2, 0>(block, rows, columns),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2(block: Block<'_>, rows: usize, columns: usize) {
    unsafe { blocks::<[std::arch::x86_64::__m256; 2], 6, 1, 0>(block, rows, columns) }
}

/// Cuts rows evenly into blocks of at most `R`, and columns into bundles, `B` at a time; twice as many where rows are
/// so few that the sums of a block would wait for each other.
#[inline(always)]
unsafe fn blocks<L: Lanes, const R: usize, const B: usize, const A: usize>(
    block: Block<'_>,
    rows: usize,
    columns: usize,
) {
    let parts = rows.div_ceil(R);
    let widest = if 2 * rows <= R { 2 * B } else { B };
    // Each part brings a share of what is ahead, and each of its segments a share of that, so that it comes evenly.
    let share = block.ahead.len().div_ceil(parts).next_multiple_of(LANES).max(1);
    let piece = share.div_ceil(block.walk.segments.max(1)).next_multiple_of(LANES);
    let mut column = 0;
    while column < columns {
        let left = (columns - column).div_ceil(LANES);
        let bundles = if left >= widest { widest } else { left.min(B) };
        let width = (columns - column).min(bundles * LANES);
        for part in 0..parts {
            let (from, to) = (part * rows / parts, (part + 1) * rows / parts);
            let here = Block {
                a: unsafe { block.a.add(from * block.walk.a[0]) },
                b: unsafe { block.b.add(column) },
                c: unsafe { block.c.add(from * block.walk.c + column) },
                finish: match block.finish {
                    Finish::Bias(bias, positive) => Finish::Bias(&bias[column..], positive),
                    other => other,
                },
                walk: block.walk,
                ahead: match column {
                    0 => block.ahead.chunks(share).nth(part).unwrap_or_default(),
                    _ => &[],
                },
                piece,
            };
            unsafe {
                match bundles {
                    1 => of_rows::<L, 1, A>(here, to - from, width),
                    2 => of_rows::<L, 2, A>(here, to - from, width),
                    _ => of_few_rows::<L, 4, A>(here, to - from, width),
                }
            }
        }
        column += bundles * LANES;
    }
}

/// Turns the number of rows into a constant, so that all sums of a block stay in registers.
#[inline(always)]
unsafe fn of_rows<L: Lanes, const B: usize, const A: usize>(block: Block<'_>, rows: usize, width: usize) {
    unsafe {
        match rows {
            ..=6 => of_few_rows::<L, B, A>(block, rows, width),
            7 => one::<L, 7, B, A>(block, width),
            8 => one::<L, 8, B, A>(block, width),
            9 => one::<L, 9, B, A>(block, width),
            10 => one::<L, 10, B, A>(block, width),
            11 => one::<L, 11, B, A>(block, width),
            _ => one::<L, 12, B, A>(block, width),
        }
    }
}

#[inline(always)]
unsafe fn of_few_rows<L: Lanes, const B: usize, const A: usize>(block: Block<'_>, rows: usize, width: usize) {
    unsafe {
        match rows {
            1 => one::<L, 1, B, A>(block, width),
            2 => one::<L, 2, B, A>(block, width),
            3 => one::<L, 3, B, A>(block, width),
            4 => one::<L, 4, B, A>(block, width),
            5 => one::<L, 5, B, A>(block, width),
            _ => one::<L, 6, B, A>(block, width),
        }
    }
}

/// Where the rows of a block begin: multiples of one stride. A machine adds a register times 1, 2, 4 or 8 to an address for
/// nothing; odd multiples are kept in registers, so that no instruction is spent on addresses between the products.
#[derive(Clone, Copy)]
struct RowOffsets([usize; 6]);

impl RowOffsets {
    #[inline(always)]
    fn new(stride: usize, hide: bool) -> Self {
        let bytes = stride * size_of::<f32>();
        // Hidden from the compiler, which would else find out that they are multiples and add them up again each time.
        Self([1, 3, 5, 7, 9, 11].map(|odd| if hide { std::hint::black_box(odd * bytes) } else { odd * bytes }))
    }

    #[inline(always)]
    unsafe fn of(self, first: *const f32, row: usize) -> *const f32 {
        let [one, three, five, seven, nine, eleven] = self.0;
        let bytes = match row {
            0 => 0,
            1 => one,
            2 => 2 * one,
            3 => three,
            4 => 4 * one,
            5 => five,
            6 => 2 * three,
            7 => seven,
            8 => 8 * one,
            9 => nine,
            10 => 2 * five,
            _ => eleven,
        };
        unsafe { first.byte_add(bytes) }
    }
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "iterators over registers are not always unrolled; these loops are")]
unsafe fn one<L: Lanes, const R: usize, const B: usize, const A: usize>(block: Block<'_>, width: usize) {
    let Walk { segments, steps, a: [a_row, a_segment, a_step], b: [b_segment, b_step], c: c_row } = *block.walk;
    let row_at = RowOffsets::new(if A == 0 { a_row } else { A }, A == 0);
    unsafe {
        let mut sums = [[L::splat(0.0); B]; R];
        match block.finish {
            Finish::Replace => {}
            Finish::Bias(bias, _) => {
                for bundle in 0..B {
                    let first = L::load(bias.as_ptr().add(bundle * LANES));
                    for row in 0..R {
                        sums[row][bundle] = first;
                    }
                }
            }
            Finish::Add => {
                for row in 0..R {
                    load_row(&mut sums[row], block.c.add(row * c_row), width);
                }
            }
        }
        let mut ahead = block.ahead.chunks(block.piece);
        for segment in 0..segments {
            ahead.next().unwrap_or_default().iter().step_by(LANES).for_each(|line| bring(line));
            let (mut a, mut b) = (block.a.wrapping_add(segment * a_segment), block.b.wrapping_add(segment * b_segment));
            for _ in 0..steps {
                let mut right = [L::splat(0.0); B];
                for bundle in 0..B {
                    right[bundle] = L::load(b.add(bundle * LANES));
                }
                for row in 0..R {
                    let left = L::splat(*row_at.of(a, row));
                    for bundle in 0..B {
                        sums[row][bundle] = sums[row][bundle].add_product(left, right[bundle]);
                    }
                }
                // After the last step they may point beyond their slices, where nothing is read.
                a = a.wrapping_add(a_step);
                b = b.wrapping_add(b_step);
            }
        }
        if let Finish::Bias(_, true) = block.finish {
            for row in 0..R {
                for bundle in 0..B {
                    sums[row][bundle] = sums[row][bundle].positive();
                }
            }
        }
        for row in 0..R {
            store_row(&sums[row], block.c.add(row * c_row), width);
        }
    }
}

#[cfg(test)]
mod tests;

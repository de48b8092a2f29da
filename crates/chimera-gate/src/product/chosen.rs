//! Sums of chosen patches of floats, each times a factor: a product whose right operand is mostly zero and is known as a
//! list of what is not.
//!
//! A gradient that comes back through a pooling is such an operand: of four neighbours one gets it. [`add_columns`] sums
//! over all places for many results at a time, [`Runs`] over what was chosen at one place. A result is summed in one lane in
//! the order of the list, so nothing beside it changes its bits.

#![allow(unsafe_code, reason = "pointers without bounds checks in a hot loop; their range is checked once a call")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, __m512, _CMP_NEQ_UQ, _mm_loadu_si128, _mm512_add_epi32, _mm512_cmp_ps_mask, _mm512_cvtepu8_epi32,
    _mm512_loadu_ps, _mm512_mask_cmpeq_epi32_mask, _mm512_maskz_compress_epi32, _mm512_maskz_compress_ps,
    _mm512_mullo_epi32, _mm512_set1_epi32, _mm512_setr_epi32, _mm512_setzero_ps, _mm512_storeu_ps, _mm512_storeu_si512,
};

use super::lanes::{LANES, Lanes};

/// A few rows of neighbouring floats, as they lie on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Patch {
    /// Rows, at least one.
    pub rows: usize,
    /// Floats of a row, a multiple of [`LANES`].
    pub width: usize,
    /// Floats between rows of what is read.
    pub from_row: usize,
    /// Floats between rows of what is added to.
    pub to_row: usize,
}

impl Patch {
    /// Stops where a patch leaves a slice.
    fn check(&self, from: &[f32], farthest_from: usize, to: &[f32], farthest_to: usize) {
        assert!(self.rows > 0 && self.width > 0 && self.width.is_multiple_of(LANES), "patch");
        let reach = |row: usize| (self.rows - 1) as u128 * row as u128 + self.width as u128;
        assert!(farthest_from as u128 + reach(self.from_row) <= from.len() as u128, "what is read");
        assert!(farthest_to as u128 + reach(self.to_row) <= to.len() as u128, "what is added to");
    }
}

/// Patches and their factors, in rows of `step` columns.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'a> {
    /// Where a patch begins.
    pub offsets: &'a [u32],
    /// What it is multiplied by.
    pub factors: &'a [f32],
    /// Columns of a row.
    pub step: usize,
}

/// Adds to each column of results, which are `to_column` floats apart, the sum of its patches.
///
/// # Panics
///
/// When a patch leaves its slice: a mistake of the caller, never of data.
pub fn add_columns(chosen: Chosen<'_>, patch: Patch, from: &[f32], to: &mut [f32], to_column: usize) {
    let Chosen { offsets, factors, step } = chosen;
    if offsets.is_empty() {
        return;
    }
    assert!(step > 0 && offsets.len() == factors.len() && offsets.len().is_multiple_of(step), "lists");
    let farthest = farthest(offsets);
    patch.check(from, farthest, to, (step - 1) * to_column);
    let columns = Columns { chosen, patch, from: from.as_ptr(), to: to.as_mut_ptr(), to_column };
    // SAFETY: all that is read and written was checked above, and each arm asks for its instructions first.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return add_columns_avx512(columns);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return add_columns_avx2(columns);
            }
        }
        columns.add_in_small_blocks::<[f32; LANES]>();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn add_columns_avx512(columns: Columns<'_>) {
    unsafe { columns.add_in_large_blocks::<__m512>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn add_columns_avx2(columns: Columns<'_>) {
    unsafe { columns.add_in_small_blocks::<[__m256; 2]>() }
}

fn farthest(offsets: &[u32]) -> usize {
    super::widest(|| offsets.iter().fold(0, |one, other| one.max(*other))) as usize
}

#[derive(Clone, Copy)]
struct Columns<'a> {
    chosen: Chosen<'a>,
    patch: Patch,
    from: *const f32,
    to: *mut f32,
    to_column: usize,
}

impl Columns<'_> {
    /// As many sums at a time as 32 registers hold.
    #[inline(always)]
    unsafe fn add_in_large_blocks<L: Lanes>(self) {
        let bundles = self.patch.width / LANES;
        let rows = if self.patch.rows == 3 { 3 } else { 1 };
        unsafe {
            for row in (0..self.patch.rows).step_by(rows) {
                let mut bundle = 0;
                while bundle < bundles {
                    let left = bundles - bundle;
                    bundle += match (rows, left) {
                        (3, 6..) => self.add::<L, 1, 3, 6>(row, bundle),
                        (3, 3..) => self.add::<L, 2, 3, 3>(row, bundle),
                        (3, _) => self.add::<L, 4, 3, 1>(row, bundle),
                        (_, 2..) => self.add::<L, 8, 1, 2>(row, bundle),
                        _ => self.add::<L, 8, 1, 1>(row, bundle),
                    };
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn add_in_small_blocks<L: Lanes>(self) {
        for row in 0..self.patch.rows {
            let mut bundle = 0;
            while bundle < self.patch.width / LANES {
                bundle += unsafe {
                    match self.patch.width / LANES - bundle {
                        3.. => self.add::<L, 2, 1, 3>(row, bundle),
                        2 => self.add::<L, 2, 1, 2>(row, bundle),
                        _ => self.add::<L, 4, 1, 1>(row, bundle),
                    }
                };
            }
        }
    }

    /// `R` rows of `B` bundles of all columns, `C` columns at a time; gives `B`.
    #[inline(always)]
    unsafe fn add<L: Lanes, const C: usize, const R: usize, const B: usize>(self, row: usize, bundle: usize) -> usize {
        let whole = self.chosen.step / C * C;
        for column in (0..whole).step_by(C) {
            unsafe { self.add_few::<L, C, R, B>(row, bundle, column) };
        }
        for column in whole..self.chosen.step {
            unsafe { self.add_few::<L, 1, R, B>(row, bundle, column) };
        }
        B
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "iterators over registers are not always unrolled; these loops are")]
    unsafe fn add_few<L: Lanes, const C: usize, const R: usize, const B: usize>(
        self,
        row: usize,
        bundle: usize,
        first: usize,
    ) {
        let Patch { from_row, to_row, .. } = self.patch;
        let step = self.chosen.step;
        unsafe {
            let from = self.from.add(row * from_row + bundle * LANES);
            let to = self.to.add(first * self.to_column + row * to_row + bundle * LANES);
            let (mut offset, mut factor) = (self.chosen.offsets.as_ptr(), self.chosen.factors.as_ptr());
            (offset, factor) = (offset.add(first), factor.add(first));
            let mut sums = [[[L::splat(0.0); B]; R]; C];
            for column in 0..C {
                for row in 0..R {
                    for bundle in 0..B {
                        sums[column][row][bundle] =
                            L::load(to.add(column * self.to_column + row * to_row + bundle * LANES));
                    }
                }
            }
            for _ in 0..self.chosen.offsets.len() / step {
                for column in 0..C {
                    let patch = from.add(*offset.add(column) as usize);
                    let left = L::splat(*factor.add(column));
                    for row in 0..R {
                        for bundle in 0..B {
                            let right = L::load(patch.add(row * from_row + bundle * LANES));
                            sums[column][row][bundle] = sums[column][row][bundle].add_product(left, right);
                        }
                    }
                }
                // After the last row they may point beyond their slices, where nothing is read.
                (offset, factor) = (offset.wrapping_add(step), factor.wrapping_add(step));
            }
            for column in 0..C {
                for row in 0..R {
                    for bundle in 0..B {
                        sums[column][row][bundle]
                            .store(to.add(column * self.to_column + row * to_row + bundle * LANES));
                    }
                }
            }
        }
    }
}

/// What was chosen at each place, without what is multiplied by zero.
#[derive(Debug, Default)]
pub struct Runs {
    offsets: Vec<u32>,
    factors: Vec<f32>,
    /// Entries that are filled.
    filled: usize,
    /// Where each run ends, and where its sum is added.
    runs: Vec<(usize, usize)>,
}

impl Runs {
    /// Forgets everything but its buffers.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.runs.clear();
    }

    /// Adds a run for each choice: the patches of all columns that chose it, `step` floats between those of two columns, the
    /// first of them at `offset`; `targets` says where the sum of a run goes.
    ///
    /// # Panics
    ///
    /// When there are not as many choices as factors.
    pub fn choose(&mut self, choices: &[u8], factors: &[f32], [offset, step]: [u32; 2], targets: [usize; 4]) {
        assert!(choices.len() == factors.len(), "lists");
        let room = self.filled + 4 * (choices.len() + LANES);
        if self.offsets.len() < room {
            self.offsets.resize(2 * room, 0);
            self.factors.resize(2 * room, 0.0);
        }
        // SAFETY: there is room for all columns and a bundle behind each run; the instructions are asked for.
        #[cfg(target_arch = "x86_64")]
        if choices.len().is_multiple_of(LANES) && is_x86_feature_detected!("avx512f") {
            return unsafe { self.choose_bundles(choices, factors, [offset, step], targets) };
        }
        for (choice, target) in (0..).zip(targets) {
            let before = self.filled;
            for (column, (chosen, factor)) in (0..).zip(choices.iter().zip(factors)) {
                self.offsets[self.filled] = offset + column * step;
                self.factors[self.filled] = *factor;
                self.filled += usize::from(*chosen == choice && *factor != 0.0);
            }
            if self.filled > before {
                self.runs.push((self.filled, target));
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    unsafe fn choose_bundles(
        &mut self,
        choices: &[u8],
        factors: &[f32],
        [offset, step]: [u32; 2],
        targets: [usize; 4],
    ) {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let offsets = |first: usize| {
            let first = _mm512_set1_epi32((offset + first as u32 * step).cast_signed());
            _mm512_add_epi32(first, _mm512_mullo_epi32(lanes, _mm512_set1_epi32(step.cast_signed())))
        };
        for (choice, target) in (0..).zip(targets) {
            let before = self.filled;
            for first in (0..choices.len()).step_by(LANES) {
                unsafe {
                    let factors = _mm512_loadu_ps(factors.as_ptr().add(first));
                    let chosen = _mm512_cvtepu8_epi32(_mm_loadu_si128(choices.as_ptr().add(first).cast()));
                    let counts = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(factors, _mm512_setzero_ps());
                    let taken = _mm512_mask_cmpeq_epi32_mask(counts, chosen, _mm512_set1_epi32(choice));
                    let offsets = _mm512_maskz_compress_epi32(taken, offsets(first));
                    _mm512_storeu_si512(self.offsets.as_mut_ptr().add(self.filled).cast(), offsets);
                    let factors = _mm512_maskz_compress_ps(taken, factors);
                    _mm512_storeu_ps(self.factors.as_mut_ptr().add(self.filled), factors);
                    self.filled += taken.count_ones() as usize;
                }
            }
            if self.filled > before {
                self.runs.push((self.filled, target));
            }
        }
    }

    /// Adds the sum of each run where it belongs.
    ///
    /// # Panics
    ///
    /// When a patch leaves its slice: a mistake of the caller, never of data.
    pub fn add(&self, patch: Patch, from: &[f32], to: &mut [f32]) {
        let farthest = [
            farthest(&self.offsets[..self.filled]),
            self.runs.iter().map(|(_, target)| *target).max().unwrap_or_default(),
        ];
        patch.check(from, farthest[0], to, farthest[1]);
        let (from, to) = (from.as_ptr(), to.as_mut_ptr());
        // SAFETY: all that is read and written was checked above, and each arm asks for its instructions first.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx512f") {
                    return self.add_avx512(patch, from, to);
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    return self.add_avx2(patch, from, to);
                }
            }
            self.add_in_small_blocks::<[f32; LANES]>(patch, from, to);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    unsafe fn add_avx512(&self, patch: Patch, from: *const f32, to: *mut f32) {
        unsafe { self.add_in_large_blocks::<__m512>(patch, from, to) }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn add_avx2(&self, patch: Patch, from: *const f32, to: *mut f32) {
        unsafe { self.add_in_small_blocks::<[__m256; 2]>(patch, from, to) }
    }

    #[inline(always)]
    unsafe fn add_in_large_blocks<L: Lanes>(&self, patch: Patch, from: *const f32, to: *mut f32) {
        let rows = if patch.rows == 3 { 3 } else { 1 };
        for row in (0..patch.rows).step_by(rows) {
            let mut bundle = 0;
            while bundle < patch.width / LANES {
                bundle += unsafe {
                    match (rows, patch.width / LANES - bundle) {
                        (3, 6..) => self.add_block::<L, 3, 6>(patch, row, bundle, from, to),
                        (3, 3..) => self.add_block::<L, 3, 3>(patch, row, bundle, from, to),
                        (3, _) => self.add_block::<L, 3, 1>(patch, row, bundle, from, to),
                        (_, 8..) => self.add_block::<L, 1, 8>(patch, row, bundle, from, to),
                        (_, 3..) => self.add_block::<L, 1, 3>(patch, row, bundle, from, to),
                        _ => self.add_block::<L, 1, 1>(patch, row, bundle, from, to),
                    }
                };
            }
        }
    }

    #[inline(always)]
    unsafe fn add_in_small_blocks<L: Lanes>(&self, patch: Patch, from: *const f32, to: *mut f32) {
        for row in 0..patch.rows {
            let mut bundle = 0;
            while bundle < patch.width / LANES {
                bundle += unsafe {
                    match patch.width / LANES - bundle {
                        6.. => self.add_block::<L, 1, 6>(patch, row, bundle, from, to),
                        3.. => self.add_block::<L, 1, 3>(patch, row, bundle, from, to),
                        _ => self.add_block::<L, 1, 1>(patch, row, bundle, from, to),
                    }
                };
            }
        }
    }

    /// `R` rows of `B` bundles of all runs; gives `B`.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "iterators over registers are not always unrolled; these loops are")]
    unsafe fn add_block<L: Lanes, const R: usize, const B: usize>(
        &self,
        patch: Patch,
        row: usize,
        bundle: usize,
        from: *const f32,
        to: *mut f32,
    ) -> usize {
        let Patch { from_row, to_row, .. } = patch;
        unsafe {
            let from = from.add(row * from_row + bundle * LANES);
            let to = to.add(row * to_row + bundle * LANES);
            let (offsets, factors) = (self.offsets.as_ptr(), self.factors.as_ptr());
            let mut entry = 0;
            for (end, target) in &self.runs {
                let mut sums = [[L::splat(0.0); B]; R];
                while entry < *end {
                    let patch = from.add(*offsets.add(entry) as usize);
                    let left = L::splat(*factors.add(entry));
                    for row in 0..R {
                        for bundle in 0..B {
                            let right = L::load(patch.add(row * from_row + bundle * LANES));
                            sums[row][bundle] = sums[row][bundle].add_product(left, right);
                        }
                    }
                    entry += 1;
                }
                // Added at the end: a run does not wait for what the one before it has written.
                let one = L::splat(1.0);
                for row in 0..R {
                    for bundle in 0..B {
                        let at = to.add(target + row * to_row + bundle * LANES);
                        L::load(at).add_product(one, sums[row][bundle]).store(at);
                    }
                }
            }
        }
        B
    }
}

#[cfg(test)]
mod tests;

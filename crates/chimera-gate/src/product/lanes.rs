//! Sixteen floats at once, in the registers of the machine at hand: the only vocabulary in which [`super::tile`] is
//! written.
//!
//! A bundle is one register with AVX-512, two with AVX2 and left to the compiler elsewhere.

#![allow(unsafe_code, reason = "vector loads and stores go through pointers; `tile` checks their range once a call")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, __m512, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_set1_ps, _mm256_setzero_ps,
    _mm256_storeu_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_max_ps, _mm512_set1_ps, _mm512_setzero_ps,
    _mm512_storeu_ps,
};

/// Floats in a bundle.
pub const LANES: usize = 16;

/// A bundle of [`LANES`] floats.
///
/// # Safety
///
/// Every function needs the instructions that its implementor is named for; `load` and `store` a valid range of
/// [`LANES`] floats.
pub(super) trait Lanes: Copy {
    /// The same float in every lane.
    unsafe fn splat(value: f32) -> Self;
    /// The floats at a place.
    unsafe fn load(from: *const f32) -> Self;
    /// Writes the floats to a place.
    unsafe fn store(self, to: *mut f32);
    /// `self + factor * other`, rounded once where the machine can.
    unsafe fn add_product(self, factor: Self, other: Self) -> Self;
    /// The larger of each lane and zero; what is no number stays none.
    unsafe fn positive(self) -> Self;
}

#[cfg(target_arch = "x86_64")]
impl Lanes for __m512 {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { _mm512_storeu_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn add_product(self, factor: Self, other: Self) -> Self {
        unsafe { _mm512_fmadd_ps(factor, other, self) }
    }

    #[inline(always)]
    unsafe fn positive(self) -> Self {
        // Of a number that is none, the second operand is given.
        unsafe { _mm512_max_ps(_mm512_setzero_ps(), self) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for [__m256; 2] {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        unsafe { [_mm256_set1_ps(value); 2] }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        unsafe { [_mm256_loadu_ps(from), _mm256_loadu_ps(from.add(8))] }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe {
            _mm256_storeu_ps(to, self[0]);
            _mm256_storeu_ps(to.add(8), self[1]);
        }
    }

    #[inline(always)]
    unsafe fn add_product(self, factor: Self, other: Self) -> Self {
        unsafe { [_mm256_fmadd_ps(factor[0], other[0], self[0]), _mm256_fmadd_ps(factor[1], other[1], self[1])] }
    }

    #[inline(always)]
    unsafe fn positive(self) -> Self {
        unsafe { [_mm256_max_ps(_mm256_setzero_ps(), self[0]), _mm256_max_ps(_mm256_setzero_ps(), self[1])] }
    }
}

impl Lanes for [f32; LANES] {
    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        [value; LANES]
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        unsafe { from.cast::<Self>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        unsafe { to.cast::<Self>().write_unaligned(self) }
    }

    #[inline(always)]
    unsafe fn add_product(mut self, factor: Self, other: Self) -> Self {
        for lane in 0..LANES {
            self[lane] += factor[lane] * other[lane];
        }
        self
    }

    #[inline(always)]
    unsafe fn positive(self) -> Self {
        self.map(|value| if value < 0.0 { 0.0 } else { value })
    }
}

/// Asks for a line of the cache, and does not wait for it.
#[inline(always)]
pub(super) fn bring(line: *const f32) {
    // SAFETY: it is a hint, and all machines of this kind have it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// The first `width` floats at a place, the rest zero.
#[inline(always)]
pub(super) unsafe fn load_row<L: Lanes, const B: usize>(sums: &mut [L; B], from: *const f32, width: usize) {
    unsafe {
        if width == B * LANES {
            for (bundle, sum) in sums.iter_mut().enumerate() {
                *sum = L::load(from.add(bundle * LANES));
            }
            return;
        }
        let mut padded = [[0.0_f32; LANES]; B];
        std::ptr::copy_nonoverlapping(from, padded.as_mut_ptr().cast(), width);
        for (bundle, sum) in sums.iter_mut().enumerate() {
            *sum = L::load(padded[bundle].as_ptr());
        }
    }
}

/// Writes the first `width` floats to a place.
#[inline(always)]
pub(super) unsafe fn store_row<L: Lanes, const B: usize>(sums: &[L; B], to: *mut f32, width: usize) {
    unsafe {
        if width == B * LANES {
            for (bundle, sum) in sums.iter().enumerate() {
                sum.store(to.add(bundle * LANES));
            }
            return;
        }
        let mut padded = [[0.0_f32; LANES]; B];
        for (bundle, sum) in sums.iter().enumerate() {
            sum.store(padded[bundle].as_mut_ptr());
        }
        std::ptr::copy_nonoverlapping(padded.as_ptr().cast(), to, width);
    }
}

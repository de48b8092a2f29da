//! Plain loops with the widest instructions of the machine at hand: the compiler vectorises them once for each set.

/// Does work with the widest instructions. Sums and products are not rounded otherwise for it: the compiler never joins a
/// product and a sum on its own.
#[inline(always)]
pub fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[allow(unsafe_code, reason = "each arm asks for its instructions first")]
        // SAFETY: see the reason.
        unsafe {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
            {
                return avx512(work);
            }
            if is_x86_feature_detected!("avx2") {
                return avx2(work);
            }
        }
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
fn avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

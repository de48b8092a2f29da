//! A device computes what the processor does. Without one there is nothing to compare.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use chimera_cuda::agreement;
use chimera_cuda::gpu::{Gpu, GpuError, Missing, Precision, devices, usable};

#[test]
fn a_device_agrees_with_the_processor() {
    if let Err(missing) = usable(0) {
        println!("skipped: {missing}");
        return;
    }
    for precision in [Precision::Fp32, Precision::Tf32] {
        let gpu = Gpu::open(0, precision, None).unwrap();
        for one in agreement::check(&gpu).unwrap() {
            assert!(one.holds(), "{}: {} is more than {}", one.what, one.difference, one.tolerance);
        }
    }
}

#[test]
fn what_is_missing_is_named() {
    match devices() {
        Err(missing) => {
            let error = Gpu::open(0, Precision::Tf32, None).unwrap_err();
            assert_eq!(error.to_string(), missing.to_string());
            assert!(missing.to_string().starts_with("NVIDIA's driver"), "{missing}");
        }
        Ok(found) => {
            let wanted = found.len();
            let error = Gpu::open(wanted, Precision::Tf32, None).unwrap_err();
            assert!(matches!(error, GpuError::Missing(Missing::Number { .. } | Missing::Compiler)), "{error}");
        }
    }
}

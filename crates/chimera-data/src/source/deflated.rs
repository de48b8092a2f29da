//! How much a compressed file can hold, so that a small one which claims to be huge is refused before it is unpacked.

/// Bytes that one deflated byte can stand for: a run of 258 costs two bits.
const RATIO: u64 = 1032;

/// So many bytes are unpacked at most: 16 GiB.
const BUDGET: u64 = 1 << 34;

/// Refuses, in words, to unpack so many bytes out of so many compressed ones.
pub(crate) fn check(packed: u64, plain: u64) -> Result<(), String> {
    if plain > packed.saturating_mul(RATIO) {
        return Err(format!("it claims {plain} bytes, more than {packed} compressed ones can hold"));
    }
    if plain > BUDGET {
        return Err(format!("it claims {plain} bytes; compressed files are read up to {BUDGET}, save it uncompressed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_deflate_really_does_is_allowed_and_nothing_much_beyond() {
        let plain = 1 << 24;
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![0; plain]).unwrap();
        let packed = encoder.finish().unwrap().len() as u64;
        assert_eq!(check(packed, plain as u64), Ok(()));
        assert!(check(packed, 2 * plain as u64).unwrap_err().contains("compressed ones can hold"));
        assert!(check(u64::MAX, BUDGET + 1).unwrap_err().contains("save it uncompressed"));
    }
}

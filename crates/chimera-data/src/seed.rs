//! One seed from the user, many independent streams of random numbers: each is named by what it is for, so that drawing
//! more in one place changes nothing in another.

/// A generator for one purpose and number (an epoch, say).
///
/// # Examples
///
/// ```
/// use chimera_data::seed::stream;
///
/// let mut order = stream(123, "order", 0);
/// order.u64(..); // what is drawn here changes nothing below
/// assert_eq!(stream(123, "erasing", 0).u64(..), stream(123, "erasing", 0).u64(..));
/// assert_ne!(stream(123, "erasing", 0).u64(..), stream(123, "erasing", 1).u64(..));
/// ```
#[must_use]
pub fn stream(seed: u64, purpose: &str, number: u64) -> fastrand::Rng {
    let mut hasher = blake3::Hasher::new_derive_key("chimera random numbers");
    hasher.update(&seed.to_le_bytes()).update(&number.to_le_bytes()).update(purpose.as_bytes());
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    fastrand::Rng::with_seed(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_everything_that_names_them() {
        let first = |seed, purpose, number| stream(seed, purpose, number).u64(..);
        assert_eq!(first(1, "order", 2), first(1, "order", 2));
        let others = [first(2, "order", 2), first(1, "orde", 2), first(1, "order", 3)];
        assert!(!others.contains(&first(1, "order", 2)));
    }
}

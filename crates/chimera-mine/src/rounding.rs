//! Shares with four digits, rounded away from a rule's favour: one that was broken once never reads as 1.

/// The largest number of four digits that is no larger.
#[must_use]
pub fn down(share: f64) -> f64 {
    // What a share of four digits misses it by in floating point is not meant.
    (share * 1e4 + 1e-6).floor() / 1e4
}

/// The smallest number of four digits that is no smaller.
#[must_use]
pub fn up(share: f64) -> f64 {
    (share * 1e4 - 1e-6).ceil() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_was_broken_never_reads_as_one() {
        assert_eq!((down(20_000.0 / 20_001.0), up(1.0 / 20_001.0)), (0.9999, 0.0001));
        assert_eq!((down(1.0), up(1.0), down(0.0)), (1.0, 1.0, 0.0));
        // Numbers of four digits stay what they are.
        for number in 0..=10_000 {
            let share = f64::from(number) / 1e4;
            assert_eq!((down(share), up(share)), (share, share));
        }
    }
}

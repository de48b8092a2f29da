//! Sorting rows by score: whole words by their upper half, without comparisons.

/// Below this many items a comparison sort is faster.
const FEW: usize = 512;
/// The upper half in digits of a byte: the ends of 256 runs stay in the nearest cache, those of 2048 would not.
const SHIFTS: [u32; 4] = [32, 40, 48, 56];
const DIGITS: usize = 1 << 8;

/// A word whose order as a number is that of the score; no two orders of NaN are promised. Both zeros are one score.
pub(super) fn ascending(score: f32) -> u32 {
    // Adding zero makes the negative zero positive.
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

/// Sorts by the upper half; items alike in it keep their order, which must be ascending in the lower half.
pub(super) fn sort_by_upper_half(items: &mut Vec<u64>) {
    if items.len() < FEW {
        items.sort_unstable();
        return;
    }
    let digit = |item: u64, shift: u32| (item >> shift) as usize & (DIGITS - 1);
    let mut counts = [[0_usize; DIGITS]; SHIFTS.len()];
    for &item in items.iter() {
        for (counts, shift) in counts.iter_mut().zip(SHIFTS) {
            counts[digit(item, shift)] += 1;
        }
    }
    let mut sorted = vec![0; items.len()];
    for (counts, shift) in counts.iter_mut().zip(SHIFTS) {
        if counts.contains(&items.len()) {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            (*count, start) = (start, start + *count);
        }
        for &item in items.iter() {
            let place = &mut counts[digit(item, shift)];
            sorted[*place] = item;
            *place += 1;
        }
        std::mem::swap(items, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_order_as_their_scores() {
        let scores = [f32::NEG_INFINITY, f32::MIN, -1.5, -1.0, -1e-45, 0.0, 1e-45, 1.0, 1.0 + f32::EPSILON, f32::MAX];
        assert!(scores.windows(2).all(|pair| ascending(pair[0]) < ascending(pair[1])));
        assert!(ascending(f32::MAX) < ascending(f32::INFINITY));
        assert_eq!(ascending(-0.0), ascending(0.0));
    }

    #[test]
    fn sorting_equals_that_of_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(3);
        for length in [0, 1, 2, FEW - 1, FEW, FEW + 1, 5000] {
            // All upper halves, few of them, one, and those that differ in one digit alone.
            for mask in [u64::MAX, 0x7, 0, 0xFF00_0000] {
                let mut items: Vec<u64> = (0..length as u64).map(|row| (random.u64(..) & mask) << 32 | row).collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                sort_by_upper_half(&mut items);
                assert_eq!(items, expected);
            }
        }
    }
}

//! Rows that bit columns have in common, for all pairs of two lists of columns at once: AND and count, with the widest
//! instructions of the machine at hand. Columns are taken four by four (or two by two), so that a word is loaded once for
//! several pairs, and in blocks of rows that stay in the cache.

/// Words of a block: the eight columns of a tile take 32 kB.
const BLOCK: usize = 512;

/// The instructions that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instructions {
    /// Eight words at once, with an instruction that counts (AVX-512 VPOPCNTDQ).
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Four words at once, with a table of the ones of four bits (AVX2).
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Word by word, as the compiler sees fit.
    Plain,
}

impl Instructions {
    fn widest() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq") {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Plain
    }
}

/// Adds to `into[l * right.len() + r]` the number of rows on which column `l` of the left and column `r` of the right hold.
///
/// # Panics
/// If columns differ in length, or `into` has another size.
pub(super) fn add_common(left: &[&[u64]], right: &[&[u64]], into: &mut [u64]) {
    add_with(Instructions::widest(), left, right, into);
}

fn add_with(instructions: Instructions, left: &[&[u64]], right: &[&[u64]], into: &mut [u64]) {
    let words = left.iter().chain(right).next().map_or(0, |column| column.len());
    assert!(left.iter().chain(right).all(|column| column.len() == words), "columns of one length");
    assert_eq!(into.len(), left.len() * right.len(), "a count for each pair");
    for start in (0..words).step_by(BLOCK) {
        let block = start..(start + BLOCK).min(words);
        let left: Vec<&[u64]> = left.iter().map(|column| &column[block.clone()]).collect();
        let right: Vec<&[u64]> = right.iter().map(|column| &column[block.clone()]).collect();
        match instructions {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => tiles::<4>(&left, &right, into, |left, right| {
                #[allow(unsafe_code, reason = "this machine has the instructions")]
                // SAFETY: see the reason.
                unsafe {
                    x86::avx512(left, right)
                }
            }),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => tiles::<2>(&left, &right, into, |left, right| {
                #[allow(unsafe_code, reason = "this machine has the instructions")]
                // SAFETY: see the reason.
                unsafe {
                    x86::avx2(left, right)
                }
            }),
            Instructions::Plain => tiles::<2>(&left, &right, into, plain),
        }
    }
}

/// Columns of a tile, all of one length.
type Side<'a, const SIDE: usize> = [&'a [u64]; SIDE];

/// The counts of a tile.
type Counts<const SIDE: usize> = [[u64; SIDE]; SIDE];

/// Goes through all pairs tile by tile. A tile that sticks out at an edge counts its last column again and drops that.
fn tiles<const SIDE: usize>(
    left: &[&[u64]],
    right: &[&[u64]],
    into: &mut [u64],
    count: impl Fn(Side<'_, SIDE>, Side<'_, SIDE>) -> Counts<SIDE>,
) {
    for top in (0..left.len()).step_by(SIDE) {
        let rows: Side<'_, SIDE> = std::array::from_fn(|at| left[(top + at).min(left.len() - 1)]);
        for start in (0..right.len()).step_by(SIDE) {
            let columns: Side<'_, SIDE> = std::array::from_fn(|at| right[(start + at).min(right.len() - 1)]);
            let counts = count(rows, columns);
            for (counts, row) in counts.iter().zip(into.chunks_exact_mut(right.len()).skip(top)) {
                counts.iter().zip(&mut row[start..]).for_each(|(count, sum)| *sum += count);
            }
        }
    }
}

fn plain<const SIDE: usize>(left: Side<'_, SIDE>, right: Side<'_, SIDE>) -> Counts<SIDE> {
    left.map(|left| right.map(|right| common(left, right)))
}

fn common(left: &[u64], right: &[u64]) -> u64 {
    left.iter().zip(right).map(|(left, right)| u64::from((left & right).count_ones())).sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The two loops in instructions of the machine. What is loaded is a whole chunk of a slice, so nothing is read beyond it.

    use std::arch::x86_64::*;

    use super::{Counts, Side, common};

    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    pub(super) fn avx512(left: Side<'_, 4>, right: Side<'_, 4>) -> Counts<4> {
        #[allow(unsafe_code, reason = "eight words are read from a reference to eight words")]
        // SAFETY: see the reason; no alignment is asked for.
        let load = |words: &[u64; 8]| unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
        let (lefts, rights) = (left.map(|words| words.as_chunks::<8>()), right.map(|words| words.as_chunks::<8>()));
        let steps = lefts[0].0.len();
        let (rows, columns) = (lefts.map(|chunks| &chunks.0[..steps]), rights.map(|chunks| &chunks.0[..steps]));
        let mut sums = [[_mm512_setzero_si512(); 4]; 4];
        for step in 0..steps {
            let row: [__m512i; 4] = std::array::from_fn(|at| load(&rows[at][step]));
            for (at, column) in columns.iter().enumerate() {
                let column = load(&column[step]);
                for (sums, row) in sums.iter_mut().zip(row) {
                    sums[at] = _mm512_add_epi64(sums[at], _mm512_popcnt_epi64(_mm512_and_si512(row, column)));
                }
            }
        }
        std::array::from_fn(|row| {
            std::array::from_fn(|column| {
                _mm512_reduce_add_epi64(sums[row][column]) as u64 + common(lefts[row].1, rights[column].1)
            })
        })
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(left: Side<'_, 2>, right: Side<'_, 2>) -> Counts<2> {
        /// Bytes of ones overflow after so many steps of at most eight.
        const STEPS: usize = 31;
        #[allow(unsafe_code, reason = "four words are read from a reference to four words")]
        // SAFETY: see the reason; no alignment is asked for.
        let load = |words: &[u64; 4]| unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
        let (zero, low) = (_mm256_setzero_si256(), _mm256_set1_epi8(15));
        // Ones of 0 to 15, twice.
        let ones = _mm256_set_epi64x(
            0x0403_0302_0302_0201,
            0x0302_0201_0201_0100,
            0x0403_0302_0302_0201,
            0x0302_0201_0201_0100,
        );
        let (lefts, rights) = (left.map(|words| words.as_chunks::<4>()), right.map(|words| words.as_chunks::<4>()));
        let steps = lefts[0].0.len();
        let (rows, columns) = (lefts.map(|chunks| &chunks.0[..steps]), rights.map(|chunks| &chunks.0[..steps]));
        let mut sums = [[zero; 2]; 2];
        for start in (0..steps).step_by(STEPS) {
            let mut bytes = [[zero; 2]; 2];
            for step in start..(start + STEPS).min(steps) {
                let column: [__m256i; 2] = std::array::from_fn(|at| load(&columns[at][step]));
                for (bytes, row) in bytes.iter_mut().zip(rows) {
                    let row = load(&row[step]);
                    for (bytes, column) in bytes.iter_mut().zip(column) {
                        let both = _mm256_and_si256(row, column);
                        let lower = _mm256_shuffle_epi8(ones, _mm256_and_si256(both, low));
                        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(both), low);
                        let counts = _mm256_add_epi8(lower, _mm256_shuffle_epi8(ones, upper));
                        *bytes = _mm256_add_epi8(*bytes, counts);
                    }
                }
            }
            for (sums, bytes) in sums.iter_mut().flatten().zip(bytes.into_iter().flatten()) {
                *sums = _mm256_add_epi64(*sums, _mm256_sad_epu8(bytes, zero));
            }
        }
        let total = |sums: __m256i| {
            let halves = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
            (_mm_extract_epi64::<0>(halves) + _mm_extract_epi64::<1>(halves)) as u64
        };
        std::array::from_fn(|row| {
            std::array::from_fn(|column| total(sums[row][column]) + common(lefts[row].1, rights[column].1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_instructions_count_what_single_bits_say() {
        let mut available = vec![Instructions::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            available.extend(is_x86_feature_detected!("avx2").then_some(Instructions::Avx2));
            available.extend((Instructions::widest() == Instructions::Avx512).then_some(Instructions::Avx512));
        }
        let mut random = fastrand::Rng::with_seed(3);
        for words in [0, 1, 3, 4, 8, 9, 130, BLOCK - 1, BLOCK, 2 * BLOCK + 13] {
            for (lefts, rights) in [(1, 1), (3, 6), (4, 4), (9, 2), (0, 3), (2, 0)] {
                // All ones, too: bytes must not overflow.
                let column = |random: &mut fastrand::Rng| -> Vec<u64> {
                    let full = random.u8(..) < 60;
                    (0..words).map(|_| if full { u64::MAX } else { random.u64(..) }).collect()
                };
                let [left, right] =
                    [lefts, rights].map(|count| (0..count).map(|_| column(&mut random)).collect::<Vec<_>>());
                let expected: Vec<u64> = left
                    .iter()
                    .flat_map(|left| right.iter().map(|right| 7 + common(left, right)).collect::<Vec<_>>())
                    .collect();
                let [left, right] = [&left, &right].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
                for &instructions in &available {
                    let mut counts = vec![7; lefts * rights];
                    add_with(instructions, &left, &right, &mut counts);
                    assert_eq!(counts, expected, "{instructions:?} {words} words {lefts} x {rights}");
                }
            }
        }
        let (one, other) = (0xdead_beef_0bad_cafe_u64, 0x0f0f_f0f0_1234_5678_u64);
        let bits = (0..64).filter(|bit| one >> bit & other >> bit & 1 == 1).count();
        assert_eq!(common(&[one], &[other]), bits as u64);
    }
}

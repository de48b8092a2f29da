//! Boolean columns of Parquet straight into bits. The file holds them packed, 8 a byte, as we want them; the general decoder
//! would make a byte of every bit and pack it again, which takes longer than everything else together.

use chimera_logic::bits::words_for;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};

/// Bits that grow at the end; those past the end are zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    words: Vec<u64>,
    length: usize,
}

impl Bits {
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.length = 0;
    }

    pub(super) fn are_all_ones(&self) -> bool {
        self.words.iter().map(|word| word.count_ones() as usize).sum::<usize>() == self.length
    }

    /// Adds the lowest `count` bits of a word, at most 64.
    fn push_word(&mut self, word: u64, count: usize) {
        if count == 0 {
            return;
        }
        let (word, shift) = (word & (u64::MAX >> (64 - count)), self.length % 64);
        match self.words.last_mut() {
            Some(last) if shift > 0 => {
                *last |= word << shift;
                if shift + count > 64 {
                    self.words.push(word >> (64 - shift));
                }
            }
            _ => self.words.push(word),
        }
        self.length += count;
    }

    /// Adds `count` bits from bytes, lowest first; `None` where there are too few.
    fn push_bytes(&mut self, bytes: &[u8], count: usize) -> Option<()> {
        let bytes = bytes.get(..count.div_ceil(8))?;
        for (index, chunk) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.push_word(u64::from_le_bytes(word), (count - 64 * index).min(64));
        }
        Some(())
    }

    pub(super) fn push_run(&mut self, bit: bool, count: usize) {
        let word = if bit { u64::MAX } else { 0 };
        for start in (0..count).step_by(64) {
            self.push_word(word, (count - start).min(64));
        }
    }

    /// Adds the bits of `values` one by one where `present` has a one, and zeros elsewhere.
    fn push_spread(&mut self, values: &Self, present: &Self) {
        let mut next = 0;
        for (index, &mask) in present.words.iter().enumerate() {
            let (mut word, mut left) = (0, mask);
            while left != 0 {
                let bit = left.trailing_zeros();
                word |= (values.words[next / 64] >> (next % 64) & 1) << bit;
                next += 1;
                left &= left - 1;
            }
            self.push_word(word, (present.length - 64 * index).min(64));
        }
    }

    /// Adds `count` bits from runs: `header`, an odd one for groups of eight packed bits, an even one for one bit repeated.
    fn push_hybrid(&mut self, mut bytes: &[u8], count: usize) -> Option<()> {
        let mut left = count;
        while left > 0 {
            let (header, rest) = varint(bytes)?;
            let length = usize::try_from(header >> 1).ok().filter(|length| *length > 0)?;
            if header & 1 == 1 {
                let bits = length.saturating_mul(8).min(left);
                self.push_bytes(rest, bits)?;
                left -= bits;
                // The last group may be cut off where no bits of it are wanted.
                bytes = rest.get(length..).unwrap_or_default();
            } else {
                let bits = length.min(left);
                self.push_run(rest.first()? & 1 == 1, bits);
                left -= bits;
                bytes = &rest[1..];
            }
        }
        Some(())
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

/// Adds the labels of a column chunk with `rows` rows to `value`, and whether they are known to `known`. A column that is not
/// `nullable` has no marks for what is known.
pub(super) fn read_chunk(
    mut pages: Box<dyn PageReader>,
    nullable: bool,
    rows: usize,
    value: &mut Bits,
    known: &mut Bits,
) -> Result<()> {
    let (mut left, mut levels, mut packed) = (rows, Bits::default(), Bits::default());
    while let Some(page) = pages.get_next_page()? {
        let count = page.num_values() as usize;
        let (marks, data, encoding) = match &page {
            Page::DataPage { buf, encoding, def_level_encoding, .. } => {
                if nullable && *def_level_encoding != Encoding::RLE {
                    return Err(general(&format!("nulls are marked by {def_level_encoding}")));
                }
                let (marks, data) = if nullable { with_length(buf).ok_or_else(short)? } else { (&[][..], &buf[..]) };
                (marks, data, *encoding)
            }
            Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let marks = buf.get(*rep_levels_byte_len as usize..).ok_or_else(short)?;
                let (marks, data) = marks.split_at_checked(*def_levels_byte_len as usize).ok_or_else(short)?;
                (marks, data, *encoding)
            }
            Page::DictionaryPage { .. } => return Err(general("booleans have a dictionary")),
        };
        left = left.checked_sub(count).ok_or_else(|| general("a column has more values than rows"))?;
        levels.clear();
        if nullable {
            levels.push_hybrid(marks, count).ok_or_else(short)?;
        } else {
            levels.push_run(true, count);
        }
        let present: usize = levels.words().iter().map(|word| word.count_ones() as usize).sum();
        let whole = present == count;
        if !whole {
            packed.clear();
        }
        let target = if whole { &mut *value } else { &mut packed };
        match encoding {
            Encoding::PLAIN => target.push_bytes(data, present),
            Encoding::RLE => with_length(data)
                .map_or(if present == 0 { Some(()) } else { None }, |(runs, _)| target.push_hybrid(runs, present)),
            other => return Err(general(&format!("booleans are encoded by {other}"))),
        }
        .ok_or_else(short)?;
        if !whole {
            value.push_spread(&packed, &levels);
        }
        debug_assert_eq!(levels.words().len(), words_for(count));
        for (index, &word) in levels.words().iter().enumerate() {
            known.push_word(word, (count - 64 * index).min(64));
        }
    }
    if left == 0 { Ok(()) } else { Err(general("a column has fewer values than rows")) }
}

/// A part that begins with its length, and what follows it.
fn with_length(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

fn short() -> ParquetError {
    general("a page ends too early")
}

fn general(message: &str) -> ParquetError {
    ParquetError::General(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits_of(bits: &Bits) -> Vec<bool> {
        (0..bits.len()).map(|row| bits.words()[row / 64] >> (row % 64) & 1 == 1).collect()
    }

    /// Runs by hand: header 2n repeats a bit, 2n + 1 packs 8 n bits; 0xc8 0x01 is 200, so 100 zeros, of which 90 are wanted.
    #[test]
    fn runs_become_bits() {
        let mut bits = Bits::default();
        bits.push_hybrid(&[2 * 5, 1, 2 * 2 + 1, 0b0000_0101, 0xff, 0xc8, 1, 0], 5 + 16 + 90).unwrap();
        let mut expected = vec![true; 5];
        expected.extend([true, false, true, false, false, false, false, false]);
        expected.extend([true; 8]);
        expected.extend([false; 90]);
        assert_eq!(bits_of(&bits), expected);
        for broken in [&[][..], &[0x80][..], &[0, 1][..], &[2 * 5][..], &[3][..], &[0xff; 12][..]] {
            assert_eq!(Bits::default().push_hybrid(broken, 3), None, "{broken:?}");
        }
    }

    #[test]
    fn pieces_join_and_spread_against_lists() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let (mut bits, mut expected) = (Bits::default(), Vec::new());
            for _ in 0..random.usize(0..5) {
                let count = random.usize(0..200);
                match random.u8(0..3) {
                    0 => {
                        let bytes: Vec<u8> = (0..count.div_ceil(8)).map(|_| random.u8(..)).collect();
                        bits.push_bytes(&bytes, count).unwrap();
                        expected.extend((0..count).map(|row| bytes[row / 8] >> (row % 8) & 1 == 1));
                    }
                    1 => {
                        let bit = random.bool();
                        bits.push_run(bit, count);
                        expected.extend((0..count).map(|_| bit));
                    }
                    _ => {
                        let (mut values, mut present) = (Bits::default(), Bits::default());
                        for _ in 0..count {
                            let (there, value) = (random.bool(), random.bool());
                            present.push_run(there, 1);
                            if there {
                                values.push_run(value, 1);
                            }
                            expected.push(there && value);
                        }
                        bits.push_spread(&values, &present);
                    }
                }
            }
            assert_eq!(bits_of(&bits), expected);
            assert_eq!(bits.words().len(), words_for(bits.len()));
            assert_eq!(bits.are_all_ones(), expected.iter().all(|bit| *bit));
        }
    }
}

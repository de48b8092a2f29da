//! What the elements of an array in a file are, and how their bytes become numbers or ids.

/// More characters than that are no id, and a length beyond it is a lie.
pub(super) const LONGEST_TEXT: usize = 1 << 16;

/// What an array's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Half,
    /// Google's sixteen bits with the exponent of a single.
    BrainHalf,
    Single,
    Double,
    /// One byte, 0 or 1.
    Boolean,
    /// Bytes of each, and whether signed.
    Integer(usize, bool),
    /// Code points of four bytes, at most [`LONGEST_TEXT`].
    Unicode(usize),
    /// Bytes of text, at most [`LONGEST_TEXT`].
    Bytes(usize),
}

impl Element {
    /// Bytes of each.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Half | Self::BrainHalf => 2,
            Self::Single => 4,
            Self::Double => 8,
            Self::Integer(size, _) | Self::Bytes(size) => size,
            Self::Unicode(length) => 4 * length,
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::Half | Self::BrainHalf | Self::Single | Self::Double)
    }

    /// Whether features can be made of it.
    pub(super) fn is_number(self) -> bool {
        self.is_float() || matches!(self, Self::Integer(..) | Self::Boolean)
    }

    /// Whether ids can be made of it.
    pub(super) fn is_id(self) -> bool {
        matches!(self, Self::Integer(..) | Self::Unicode(_) | Self::Bytes(_))
    }

    /// Numbers from bytes of either order; `None` for text.
    pub(super) fn numbers(self, bytes: &[u8], little: bool) -> Option<Vec<f32>> {
        let chunks = bytes.chunks_exact(self.size());
        Some(match self {
            Self::Half => chunks.map(|chunk| half::f16::from_le_bytes(ordered(chunk, little)).to_f32()).collect(),
            Self::BrainHalf => chunks.map(|chunk| half::bf16::from_le_bytes(ordered(chunk, little)).to_f32()).collect(),
            Self::Single => chunks.map(|chunk| f32::from_le_bytes(ordered(chunk, little))).collect(),
            Self::Double => chunks.map(|chunk| f64::from_le_bytes(ordered(chunk, little)) as f32).collect(),
            Self::Boolean => bytes.iter().map(|&byte| f32::from(u8::from(byte != 0))).collect(),
            Self::Integer(_, signed) => chunks.map(|chunk| integer(chunk, little, signed) as f32).collect(),
            Self::Unicode(_) | Self::Bytes(_) => return None,
        })
    }

    /// Ids from bytes of either order; `None` for what makes no ids.
    pub(super) fn texts(self, bytes: &[u8], little: bool) -> Option<Vec<String>> {
        let chunks = bytes.chunks_exact(self.size());
        match self {
            Self::Integer(_, signed) => Some(chunks.map(|chunk| integer(chunk, little, signed).to_string()).collect()),
            Self::Unicode(_) => Some(chunks.map(|chunk| unicode(chunk, little)).collect()),
            Self::Bytes(_) => {
                let text = |chunk| String::from_utf8_lossy(chunk).trim_end_matches('\0').to_owned();
                Some(chunks.map(text).collect())
            }
            _ => None,
        }
    }
}

/// The bytes of one number, lowest first.
fn ordered<const N: usize>(chunk: &[u8], little: bool) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(chunk);
    if !little {
        bytes.reverse();
    }
    bytes
}

/// An integer of up to eight bytes.
fn integer(chunk: &[u8], little: bool, signed: bool) -> i128 {
    let highest = if little { chunk.last() } else { chunk.first() };
    let negative = signed && highest.is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[..chunk.len()].copy_from_slice(chunk);
    if !little {
        wide[..chunk.len()].reverse();
    }
    i128::from_le_bytes(wide)
}

fn unicode(chunk: &[u8], little: bool) -> String {
    let point = |bytes: &[u8; 4]| if little { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) };
    let points = chunk.as_chunks::<4>().0.iter().map(point).take_while(|&point| point != 0);
    points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_booleans_become_numbers_and_ids() {
        let integer = Element::Integer(2, true);
        assert_eq!(integer.numbers(&[0xfe, 0xff, 3, 0], true).unwrap(), [-2.0, 3.0]);
        assert_eq!(integer.numbers(&[0xff, 0xfe, 0, 3], false).unwrap(), [-2.0, 3.0]);
        assert_eq!(integer.texts(&[0xfe, 0xff, 3, 0], true).unwrap(), ["-2", "3"]);
        assert_eq!(Element::Integer(8, false).texts(&[0xff; 8], true).unwrap(), [u64::MAX.to_string()]);
        assert_eq!(Element::Boolean.numbers(&[0, 1, 2], true).unwrap(), [0.0, 1.0, 1.0]);
        assert!(Element::Boolean.texts(&[0], true).is_none() && Element::Bytes(1).numbers(b"a", true).is_none());
        // 1.5 as the upper half of the single 0x3fc00000.
        assert_eq!(Element::BrainHalf.numbers(&[0xc0, 0x3f], true).unwrap(), [1.5]);
    }
}

//! NumPy's `.npy`: a matrix of floats, or a list of ids (strings or integers). Nothing pickled is ever read.

use std::path::Path;

use super::{Array, Float};
use crate::error::{Error, Result};

/// What an array's elements are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Element {
    Float(Float),
    /// Bytes, and whether signed.
    Integer(usize, bool),
    /// Code points of four bytes.
    Unicode(usize),
    /// Bytes of text.
    Bytes(usize),
}

impl Element {
    fn size(self) -> usize {
        match self {
            Self::Float(float) => float.size(),
            Self::Integer(size, _) | Self::Bytes(size) => size,
            Self::Unicode(length) => 4 * length,
        }
    }
}

/// What an array's header says.
struct Layout {
    element: Element,
    little: bool,
    fortran: bool,
    shape: Vec<usize>,
}

/// Decodes a file's bytes; `origin` names it in messages. Arrays of no use here (objects, three-dimensional ids) are `None`.
pub(super) fn decode(origin: &Path, bytes: &[u8]) -> Result<Option<Array>> {
    let wrong = |what: &str| Error::input(format!("cannot read `{}` as a NumPy array: {what}", origin.display()), None);
    let (header, data) = split(bytes).ok_or_else(|| wrong("expected the header of an `.npy` file"))?;
    let layout = match layout_of(header) {
        Ok(Some(layout)) => layout,
        Ok(None) => return Ok(None),
        Err(what) => return Err(wrong(what)),
    };
    let count = layout.shape.iter().try_fold(1usize, |product, &length| product.checked_mul(length));
    let length = count.and_then(|count| count.checked_mul(layout.element.size()));
    if length != Some(data.len()) {
        return Err(wrong(&format!("expected {} bytes of numbers, got {}", length.unwrap_or(usize::MAX), data.len())));
    }
    Ok(array_of(layout, data))
}

/// The header's text and the bytes after it.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (&[major, _], rest) = rest.split_first_chunk::<2>()?;
    let (length, rest) = if major == 1 {
        let (length, rest) = rest.split_first_chunk::<2>()?;
        (usize::from(u16::from_le_bytes(*length)), rest)
    } else {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        (usize::try_from(u32::from_le_bytes(*length)).ok()?, rest)
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`; `None` for elements of no use.
fn layout_of(header: &str) -> std::result::Result<Option<Layout>, &'static str> {
    let after = |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let fortran = match after("fortran_order") {
        Some(rest) if rest.starts_with("True") => true,
        Some(rest) if rest.starts_with("False") => false,
        _ => return Err("its header does not say `fortran_order`"),
    };
    let shape = after("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')')).map(|(inside, _)| inside);
    let lengths = shape.ok_or("its header does not say `shape`")?.split(',').map(str::trim);
    let shape: std::result::Result<Vec<usize>, _> =
        lengths.filter(|length| !length.is_empty()).map(str::parse).collect();
    let shape = shape.map_err(|_| "its shape is no list of numbers")?;
    // Records have a list here, and are of no use.
    let Some(descr) = after("descr").and_then(|rest| rest.strip_prefix('\'')?.split_once('\'')).map(|(text, _)| text)
    else {
        return Ok(None);
    };
    let (order, kind) = descr.split_at(descr.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0));
    let (kind, size) = kind.split_at(usize::from(!kind.is_empty()));
    let size: usize = size.parse().unwrap_or(0);
    let element = match (kind, size) {
        ("f", 2) => Element::Float(Float::Half),
        ("f", 4) => Element::Float(Float::Single),
        ("f", 8) => Element::Float(Float::Double),
        ("i", 1 | 2 | 4 | 8) => Element::Integer(size, true),
        ("u", 1 | 2 | 4 | 8) => Element::Integer(size, false),
        ("U", 1..) => Element::Unicode(size),
        ("S", 1..) => Element::Bytes(size),
        _ => return Ok(None),
    };
    Ok(Some(Layout { element, little: order != ">", fortran, shape }))
}

fn array_of(layout: Layout, data: &[u8]) -> Option<Array> {
    let Layout { element, little, fortran, shape } = layout;
    if let Element::Float(float) = element {
        let values = float.decode(data, little);
        let values = match (fortran, shape.as_slice()) {
            (true, &[rows, columns]) => {
                (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect()
            }
            _ => values,
        };
        return Some(Array::Numbers(shape, values));
    }
    let [_] = shape.as_slice() else { return None };
    let text = |chunk: &[u8]| match element {
        Element::Integer(_, signed) => integer_text(chunk, little, signed),
        Element::Unicode(_) => unicode_text(chunk, little),
        _ => String::from_utf8_lossy(chunk).trim_end_matches('\0').to_owned(),
    };
    Some(Array::Ids(data.chunks_exact(element.size()).map(text).collect()))
}

/// An integer of up to eight bytes in decimal.
pub(super) fn integer_text(chunk: &[u8], little: bool, signed: bool) -> String {
    let mut bytes = chunk.to_vec();
    if !little {
        bytes.reverse();
    }
    let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(&bytes);
    i128::from_le_bytes(wide).to_string()
}

fn unicode_text(chunk: &[u8], little: bool) -> String {
    let point = |bytes: &[u8; 4]| if little { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) };
    let points = chunk.as_chunks::<4>().0.iter().map(point).take_while(|&point| point != 0);
    points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as NumPy writes it.
    fn file(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if fortran { "True" } else { "False" };
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Array> {
        decode(Path::new("a.npy"), bytes).unwrap()
    }

    #[test]
    fn floats_of_all_sizes_and_orders() {
        let values = [1.0f32, -2.5, 0.0, 4.0, 5.0, 6.0];
        let expected = Some(Array::Numbers(vec![2, 3], values.to_vec()));
        let single: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(read(&file("<f4", false, "(2, 3)", &single)), expected);
        let double: Vec<u8> = values.iter().flat_map(|&value| f64::from(value).to_be_bytes()).collect();
        assert_eq!(read(&file(">f8", false, "(2, 3)", &double)), expected);
        let halves: Vec<u8> = values.iter().flat_map(|&value| half::f16::from_f32(value).to_le_bytes()).collect();
        assert_eq!(read(&file("<f2", false, "(2, 3)", &halves)), expected);
        let columns: Vec<u8> =
            [1.0f32, 4.0, -2.5, 5.0, 0.0, 6.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(read(&file("<f4", true, "(2, 3)", &columns)), expected);
    }

    #[test]
    fn ids_of_all_kinds() {
        let ids = |texts: [&str; 2]| Some(Array::Ids(texts.map(str::to_owned).to_vec()));
        assert_eq!(
            read(&file("<i8", false, "(2,)", &[7i64.to_le_bytes(), (-1i64).to_le_bytes()].concat())),
            ids(["7", "-1"])
        );
        assert_eq!(read(&file("|u1", false, "(2,)", &[255, 3])), ids(["255", "3"]));
        assert_eq!(read(&file("|S3", false, "(2,)", b"ab\0xyz")), ids(["ab", "xyz"]));
        let points: Vec<u8> = ['é', 'x', 'y', '\0'].iter().flat_map(|&c| (c as u32).to_le_bytes()).collect();
        assert_eq!(read(&file("<U2", false, "(2,)", &points)), ids(["éx", "y"]));
        assert_eq!(read(&file("|O", false, "(2,)", b"pickle")), None);
    }

    #[test]
    fn rubbish_is_an_error_and_never_a_panic() {
        let good = file("<f4", false, "(2, 3)", &[0; 24]);
        assert!(decode(Path::new("a.npy"), &good[..good.len() - 1]).is_err());
        assert!(decode(Path::new("a.npy"), b"id,red\n").is_err());
        assert!(decode(Path::new("a.npy"), &file("<f4", false, "(99999999999, 99999999999)", &[])).is_err());
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..5000 {
            let mut bytes = good.clone();
            for _ in 0..random.usize(1..5) {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            let _ = decode(Path::new("a.npy"), &bytes);
        }
    }
}

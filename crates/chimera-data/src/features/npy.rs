//! NumPy's `.npy`: a matrix of numbers, or a list of ids (strings or integers). Nothing pickled is ever read.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::choose::{Described, choose};
use super::content::{Content, FeatureSource};
use super::element::{Element, LONGEST_TEXT};
use crate::error::{Error, Result};

/// No header of an array is longer; records of a thousand fields are.
const LONGEST_HEADER: usize = 1 << 20;

/// What an array's header says.
#[derive(Debug, PartialEq)]
pub(super) struct Layout {
    pub(super) array: Described,
    little: bool,
    fortran: bool,
    /// Bytes of the header, all that comes before the elements.
    head: u64,
}

impl Layout {
    /// Bytes of the whole file, header and elements; `None` where they cannot be counted.
    pub(super) fn file_size(&self) -> Option<u64> {
        let count = self.array.shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length as u64))?;
        count.checked_mul(self.array.element?.size() as u64)?.checked_add(self.head)
    }

    /// Bytes of the elements alone, once [`Self::file_size`] was found right.
    pub(super) fn data_size(&self) -> u64 {
        self.file_size().map_or(0, |size| size - self.head)
    }

    /// The numbers in the elements, row-major.
    pub(super) fn numbers(&self, data: &[u8]) -> Option<Vec<f32>> {
        let values = self.array.element?.numbers(data, self.little)?;
        Some(match (self.fortran, self.array.shape.as_slice()) {
            (true, &[rows, columns]) => {
                (0..rows * columns).map(|at| values[at % columns * rows + at / columns]).collect()
            }
            _ => values,
        })
    }

    /// The ids in the elements.
    pub(super) fn texts(&self, data: &[u8]) -> Option<Vec<String>> {
        self.array.element?.texts(data, self.little)
    }
}

/// Reads a file that is one array.
pub(super) fn read(source: &FeatureSource, id_column: &str) -> Result<Content> {
    let path = source.path.as_path();
    let refused = |cause| Error::read(path, cause);
    let file = File::open(path).map_err(refused)?;
    let size = file.metadata().map_err(refused)?.len();
    let mut reader = BufReader::new(file);
    let layout = read_layout(&mut reader, "z").map_err(|what| wrong(path, &what))?;
    choose(path, std::slice::from_ref(&layout.array), source.array.as_deref(), id_column)?;
    if layout.file_size() != Some(size) {
        let promised =
            layout.file_size().map_or_else(|| "more bytes than can be counted".to_owned(), |b| b.to_string());
        return Err(wrong(path, &format!("expected {promised} bytes by its header, got {size}")));
    }
    let mut data = Vec::new();
    reader.take(layout.data_size()).read_to_end(&mut data).map_err(refused)?;
    let values = layout.numbers(&data).unwrap_or_default();
    Ok(Content::of_matrix(&layout.array, values))
}

pub(super) fn wrong(path: &Path, what: &str) -> Error {
    Error::input(format!("cannot read `{}` as a NumPy array: {what}", path.display()), None)
}

/// Reads a header and nothing after it; says in words what is wrong with it.
pub(super) fn read_layout(reader: &mut dyn Read, name: &str) -> std::result::Result<Layout, String> {
    let mut head = [0; 8];
    let none = |_| "expected the header of an `.npy` file, got something else".to_owned();
    reader.read_exact(&mut head).map_err(none)?;
    if !head.starts_with(b"\x93NUMPY") {
        return Err("expected the header of an `.npy` file, got something else".to_owned());
    }
    // Version 1 has two bytes for the length, all others have four.
    let width = if head[6] == 1 { 2 } else { 4 };
    let mut length = [0; 4];
    reader.read_exact(&mut length[..width]).map_err(none)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Err(format!("expected a header of at most {LONGEST_HEADER} bytes, got {length}"));
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).map_err(none)?;
    let text = String::from_utf8(text).map_err(|_| "its header is no text".to_owned())?;
    layout_of(&text, name, (head.len() + width + length) as u64).map_err(str::to_owned)
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn layout_of(header: &str, name: &str, head: u64) -> std::result::Result<Layout, &'static str> {
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
    let descr = after("descr").ok_or("its header does not say `descr`")?;
    let quoted = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(text, _)| text);
    let little = !quoted.is_some_and(|text| text.starts_with('>'));
    let element = quoted.and_then(element_of);
    let type_name = quoted.unwrap_or("a record").to_owned();
    Ok(Layout { array: Described { name: name.to_owned(), element, type_name, shape }, little, fortran, head })
}

/// The elements that `<f4` and the like stand for, where they are of use.
fn element_of(descr: &str) -> Option<Element> {
    let (_, kind) = descr.split_at(descr.find(|c: char| c.is_ascii_alphabetic())?);
    let (kind, size) = kind.split_at(1);
    match (kind, size.parse().ok()?) {
        ("f", 2) => Some(Element::Half),
        ("f", 4) => Some(Element::Single),
        ("f", 8) => Some(Element::Double),
        ("b", 1) => Some(Element::Boolean),
        ("i", size @ (1 | 2 | 4 | 8)) => Some(Element::Integer(size, true)),
        ("u", size @ (1 | 2 | 4 | 8)) => Some(Element::Integer(size, false)),
        ("U", length @ 1..=LONGEST_TEXT) => Some(Element::Unicode(length)),
        ("S", length @ 1..=LONGEST_TEXT) => Some(Element::Bytes(length)),
        _ => None,
    }
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

    /// The layout and the elements' bytes, if the file is as long as it says.
    fn open(bytes: &[u8]) -> Option<(Layout, &[u8])> {
        let layout = read_layout(&mut &bytes[..], "z").ok()?;
        (layout.file_size() == Some(bytes.len() as u64)).then(|| {
            let head = layout.head as usize;
            (layout, &bytes[head..])
        })
    }

    fn numbers(bytes: &[u8]) -> Vec<f32> {
        let (layout, data) = open(bytes).unwrap();
        layout.numbers(data).unwrap()
    }

    fn texts(bytes: &[u8]) -> Vec<String> {
        let (layout, data) = open(bytes).unwrap();
        layout.texts(data).unwrap()
    }

    #[test]
    fn numbers_of_all_sizes_and_orders() {
        let values = [1.0f32, -2.0, 0.0, 4.0, 5.0, 6.0];
        let single: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(numbers(&file("<f4", false, "(2, 3)", &single)), values);
        let double: Vec<u8> = values.iter().flat_map(|&value| f64::from(value).to_be_bytes()).collect();
        assert_eq!(numbers(&file(">f8", false, "(2, 3)", &double)), values);
        let halves: Vec<u8> = values.iter().flat_map(|&value| half::f16::from_f32(value).to_le_bytes()).collect();
        assert_eq!(numbers(&file("<f2", false, "(2, 3)", &halves)), values);
        let integers: Vec<u8> = values.iter().flat_map(|&value| (value as i32).to_be_bytes()).collect();
        assert_eq!(numbers(&file(">i4", false, "(2, 3)", &integers)), values);
        assert_eq!(numbers(&file("|b1", false, "(1, 3)", &[1, 0, 1])), [1.0, 0.0, 1.0]);
        let columns: Vec<u8> =
            [1.0f32, 4.0, -2.0, 5.0, 0.0, 6.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(numbers(&file("<f4", true, "(2, 3)", &columns)), values);
    }

    #[test]
    fn ids_of_all_kinds() {
        let eights = [7i64.to_le_bytes(), (-1i64).to_le_bytes()].concat();
        assert_eq!(texts(&file("<i8", false, "(2,)", &eights)), ["7", "-1"]);
        assert_eq!(texts(&file("|u1", false, "(2,)", &[255, 3])), ["255", "3"]);
        assert_eq!(texts(&file("|S3", false, "(2,)", b"ab\0xyz")), ["ab", "xyz"]);
        let points: Vec<u8> = ['é', 'x', 'y', '\0'].iter().flat_map(|&c| (c as u32).to_le_bytes()).collect();
        assert_eq!(texts(&file("<U2", false, "(2,)", &points)), ["éx", "y"]);
        let pickled = file("|O", false, "(2,)", b"pickle");
        let layout = read_layout(&mut &pickled[..], "z").unwrap();
        assert_eq!((layout.array.element, layout.array.type_name.as_str()), (None, "|O"));
    }

    /// Lengths whose bytes overflow, alone or times the shape, in 64 bits and in any.
    #[test]
    fn lengths_beyond_all_memory_are_refused() {
        for descr in ["<U4611686018427387904", "|S18446744073709551615", "<U99999999999999999999999", "<U65537", "<U0"]
        {
            for shape in ["(0,)", "(1,)", "(2, 3)", "(99999999999, 99999999999)"] {
                assert!(open(&file(descr, false, shape, &[])).is_none(), "{descr} {shape}");
            }
        }
        let wide = file("<U65536", false, "(9999999999999,)", &[]);
        assert!(read_layout(&mut &wide[..], "z").unwrap().file_size().is_some());
        assert!(open(&wide).is_none());
        assert!(open(&file("<f4", false, "(99999999999, 99999999999)", &[])).is_none());
        let long = [b"\x93NUMPY\x02\x00".as_slice(), &u32::MAX.to_le_bytes()].concat();
        assert!(read_layout(&mut &long[..], "z").unwrap_err().contains("at most"));
    }

    #[test]
    fn rubbish_is_an_error_and_never_a_panic() {
        assert!(read_layout(&mut &b"id,red\n"[..], "z").is_err());
        let good = [
            file("<f4", false, "(2, 3)", &[0; 24]),
            file("<U2", false, "(3,)", &[0; 24]),
            file("|S8", true, "(3,)", &[0; 24]),
            file(">i8", true, "(3, 1)", &[0; 24]),
        ];
        assert!(good.iter().all(|bytes| open(bytes).is_some() && open(&bytes[..bytes.len() - 1]).is_none()));
        let mut random = fastrand::Rng::with_seed(1);
        for turn in 0..20_000 {
            let mut bytes = good[turn % good.len()].clone();
            for _ in 0..random.usize(1..5) {
                // Digits and quotes of the header are where the damage tells.
                let at = random.usize(..bytes.len());
                bytes[at] = if random.bool() { random.u8(b'0'..=b'9') } else { random.u8(..) };
            }
            if let Some((layout, data)) = open(&bytes) {
                let count: usize = layout.array.shape.iter().product();
                let decoded =
                    layout.numbers(data).map_or(0, |n| n.len()).max(layout.texts(data).map_or(0, |t| t.len()));
                assert_eq!(decoded, count);
            }
        }
    }
}

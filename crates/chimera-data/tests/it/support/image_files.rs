//! Image files made for tests, right ones and wrong ones.

use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

/// A JPEG of quality 100 without subsampling, with what `adjust` adds.
pub(crate) fn jpeg(
    pixels: &[u8],
    width: u16,
    height: u16,
    color: ColorType,
    adjust: impl FnOnce(&mut Encoder<&mut Vec<u8>>),
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 100);
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    adjust(&mut encoder);
    encoder.encode(pixels, width, height, color).unwrap();
    bytes
}

/// An EXIF segment (APP1) that says nothing but the orientation, 1 to 8.
pub(crate) fn exif(orientation: u8) -> Vec<u8> {
    let mut data = b"Exif\0\0II*\0\x08\0\0\0\x01\0".to_vec();
    data.extend([0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]);
    data
}

/// A PNG of any kind, its rows (each with its filter byte) stored without compression.
pub(crate) fn png(width: u32, height: u32, depth: u8, color: u8, chunks: &[(&[u8; 4], &[u8])], rows: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, color, 0, 0, 0]].concat();
    chunk(&mut bytes, b"IHDR", &header);
    for (name, data) in chunks {
        chunk(&mut bytes, name, data);
    }
    let length = u16::try_from(rows.len()).unwrap();
    let (low, high) = rows.iter().fold((1_u32, 0_u32), |(low, high), &byte| {
        let low = (low + u32::from(byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    let zlib = [
        &[0x78, 0x01, 0x01][..],
        &length.to_le_bytes(),
        &(!length).to_le_bytes(),
        rows,
        &(high << 16 | low).to_be_bytes(),
    ];
    chunk(&mut bytes, b"IDAT", &zlib.concat());
    chunk(&mut bytes, b"IEND", &[]);
    bytes
}

fn chunk(bytes: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
    let start = bytes.len();
    bytes.extend(name);
    bytes.extend(data);
    let sum = bytes[start..].iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 })
    });
    bytes.extend((!sum).to_be_bytes());
}

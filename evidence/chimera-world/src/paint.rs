//! What surfaces look like: CLEVR's eight colours in rubber and metal, on a grey floor. Light is added up in linear
//! numbers and becomes bytes at the end.

use chimera_data::clevr::look::{Color, Material};
use glam::Vec3;

/// A surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// Of light that falls on it, the share that is scattered.
    pub albedo: Vec3,
    /// Whether it mirrors what is around it.
    pub metal: bool,
}

impl Paint {
    /// The paint of an object.
    #[must_use]
    pub fn new(color: Color, material: Material) -> Self {
        let (rubber, metal) = bytes_of(color);
        match material {
            Material::Rubber => Self { albedo: linear(rubber), metal: false },
            Material::Metal => Self { albedo: linear(metal), metal: true },
        }
    }
}

/// The colours of objects in rubber, as they look in CLEVR's pictures, and in metal, as CLEVR's makers chose them for both:
/// bytes of sRGB.
fn bytes_of(color: Color) -> ([u8; 3], [u8; 3]) {
    match color {
        Color::Gray => ([104, 104, 104], [87, 87, 87]),
        Color::Red => ([158, 50, 48], [173, 35, 35]),
        Color::Blue => ([64, 100, 182], [42, 75, 215]),
        Color::Green => ([46, 112, 36], [29, 105, 20]),
        Color::Brown => ([140, 88, 36], [129, 74, 25]),
        Color::Purple => ([140, 62, 162], [129, 38, 192]),
        Color::Cyan => ([62, 165, 160], [41, 208, 208]),
        Color::Yellow => ([184, 172, 66], [255, 238, 51]),
    }
}

/// Bytes of sRGB as linear light.
pub(crate) fn linear(bytes: [u8; 3]) -> Vec3 {
    Vec3::from(bytes.map(|byte| {
        let value = f32::from(byte) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    }))
}

/// Steps of the table from linear light to bytes.
const STEPS: usize = 4096;

/// From linear light to bytes of sRGB.
#[derive(Debug)]
pub(crate) struct Film {
    bytes: Vec<u8>,
}

impl Film {
    pub(crate) fn new() -> Self {
        let byte = |step: usize| {
            // The table is finer where it is dark, where the eye is too.
            let value = (step as f32 / (STEPS - 1) as f32).powi(2);
            let value = if value <= 0.003_130_8 { 12.92 * value } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
            (value * 255.0).round() as u8
        };
        Self { bytes: (0..STEPS).map(byte).collect() }
    }

    /// The bytes of a colour; what is too bright is white.
    pub(crate) fn bytes(&self, light: Vec3) -> [u8; 3] {
        let byte = |value: f32| {
            let step = (value.clamp(0.0, 1.0).sqrt() * (STEPS - 1) as f32 + 0.5) as usize;
            self.bytes[step.min(STEPS - 1)]
        };
        light.to_array().map(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        let film = Film::new();
        for color in Color::ALL {
            let (bytes, _) = bytes_of(color);
            let back = film.bytes(linear(bytes));
            assert!(back.iter().zip(bytes).all(|(one, other)| one.abs_diff(other) <= 1), "{color:?} {back:?}");
        }
        assert_eq!(film.bytes(Vec3::new(-1.0, 0.5, 7.0)), [0, 188, 255]);
    }
}

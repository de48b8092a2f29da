//! One change of colours, as torchvision defines it, rounded to eight bits at its end.

/// What is done to the colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ColorStep {
    /// All channels times a factor.
    Brightness(f64),
    /// Distance from the picture's mean grey times a factor.
    Contrast(f64),
    /// Distance from the pixel's own grey times a factor.
    Saturation(f64),
    /// Hue moved by so many turns of the colour wheel.
    Hue(f64),
}

impl ColorStep {
    pub(super) fn apply(self, pixels: &mut [u8]) {
        match self {
            Self::Brightness(factor) if factor != 1.0 => away_from(0.0, factor, pixels),
            Self::Contrast(factor) if factor != 1.0 => away_from(mean_grey(pixels), factor, pixels),
            Self::Saturation(factor) if factor != 1.0 => saturate(factor as f32, pixels),
            Self::Hue(turns) if turns != 0.0 => turn_hue((6.0 * turns) as f32, pixels),
            _ => {}
        }
    }
}

/// Every channel's distance from `origin` times `factor`.
fn away_from(origin: f64, factor: f64, pixels: &mut [u8]) {
    let table: [u8; 256] = std::array::from_fn(|value| byte((origin + (value as f64 - origin) * factor) as f32));
    for value in pixels {
        *value = table[usize::from(*value)];
    }
}

fn byte(value: f32) -> u8 {
    // A cast of a float is clamped to the range of its target.
    (value + 0.5) as u8
}

/// Luma in thousandths, with the weights of ITU-R 601 that JPEG and Pillow use.
fn luma(pixel: &[u8]) -> u32 {
    299 * u32::from(pixel[0]) + 587 * u32::from(pixel[1]) + 114 * u32::from(pixel[2])
}

fn mean_grey(pixels: &[u8]) -> f64 {
    let sum: u64 = pixels.chunks_exact(3).map(|pixel| u64::from(luma(pixel))).sum();
    sum as f64 / 1000.0 / (pixels.len() / 3).max(1) as f64
}

fn saturate(factor: f32, pixels: &mut [u8]) {
    for pixel in pixels.chunks_exact_mut(3) {
        let grey = luma(pixel) as f32 / 1000.0;
        for value in pixel {
            *value = byte(grey + (f32::from(*value) - grey) * factor);
        }
    }
}

/// Moves hue by `sixths` of the wheel; the largest and the least channel, and so saturation and value, stay.
fn turn_hue(sixths: f32, pixels: &mut [u8]) {
    for pixel in pixels.chunks_exact_mut(3) {
        let [red, green, blue] = [f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2])];
        let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
        let spread = most - least;
        if spread == 0.0 {
            continue;
        }
        let hue = if most == red {
            (green - blue) / spread
        } else if most == green {
            2.0 + (blue - red) / spread
        } else {
            4.0 + (red - green) / spread
        };
        // Hue is from -1 to 5 and moves by at most 3, so one turn brings it back.
        let hue = hue + sixths;
        let hue = if hue < 0.0 { hue + 6.0 } else { hue };
        let sector = hue as u8;
        let share = hue - f32::from(sector);
        let (falling, rising) = (byte(most - spread * share), byte(least + spread * share));
        let (most, least) = (byte(most), byte(least));
        let turned = match sector % 6 {
            1 => [falling, most, least],
            2 => [least, most, rising],
            3 => [least, falling, most],
            4 => [rising, least, most],
            5 => [most, least, falling],
            _ => [most, rising, least],
        };
        pixel.copy_from_slice(&turned);
    }
}

//! Pictures changed a little at random while an encoder is trained, as in the paper's appendix: resized, colours jittered,
//! turned and moved, a rectangle erased, in this order.
//!
//! [`AugmentParams`] says how much, [`Augment`] is the same once it has been checked. What is drawn depends on the seed, the
//! sample's id and the epoch and on nothing else, so neither threads nor the order of samples can change a byte. All random
//! numbers are drawn whether or not they are used: switching erasing off leaves the colours as they were.

mod affine;
mod color;
mod erase;

use fastrand::Rng;

use self::affine::Affine;
use self::color::ColorStep;
use self::erase::Erasing;
use super::picture::{Picture, Size};
use crate::error::{Error, Result};

/// How much pictures are changed. The defaults are mild: what is on the picture, and its labels, must stay what they are.
#[derive(Clone, Debug, PartialEq)]
pub struct AugmentParams {
    /// Pictures are first resized to this; `None`, the default, leaves their size.
    pub size: Option<Size>,
    /// All channels times a factor of 1 - b to 1 + b; b from 0 to 1, default 0.2.
    pub brightness: f64,
    /// Distance from the picture's mean grey times a factor of 1 - c to 1 + c; c from 0 to 1, default 0.2.
    pub contrast: f64,
    /// Distance from the pixel's own grey times a factor of 1 - s to 1 + s; s from 0 to 1, default 0.2.
    pub saturation: f64,
    /// Hue moved by up to so many turns of the colour wheel either way; from 0 to 0.5, default 0.02.
    pub hue: f64,
    /// Turned by up to so many degrees either way; from 0 to 180, default 10.
    pub degrees: f64,
    /// Moved by up to this share of each side either way; from 0 to 1, default 0.05.
    pub translate: f64,
    /// Least and largest factor of size; from 0.1 to 10, default 0.9 to 1.1.
    pub scale: (f64, f64),
    /// Slanted along the rows by up to so many degrees either way; from 0 to 60, default 0.
    pub shear: f64,
    /// How often a rectangle is erased; from 0 to 1, default 0.25.
    pub erase: f64,
    /// Least and largest share of the picture that is erased; above 0, at most 1, default 0.02 to 0.2.
    pub erase_area: (f64, f64),
    /// Least and largest height of the erased rectangle divided by its width; from 0.01 to 100, default 0.3 to 3.3.
    pub erase_aspect: (f64, f64),
    /// What fills the erased rectangle and what was outside the picture; black by default.
    pub fill: [u8; 3],
}

impl Default for AugmentParams {
    fn default() -> Self {
        Self {
            size: None,
            brightness: 0.2,
            contrast: 0.2,
            saturation: 0.2,
            hue: 0.02,
            degrees: 10.0,
            translate: 0.05,
            scale: (0.9, 1.1),
            shear: 0.0,
            erase: 0.25,
            erase_area: (0.02, 0.2),
            erase_aspect: (0.3, 3.3),
            fill: [0; 3],
        }
    }
}

impl AugmentParams {
    /// Changes nothing; a start for those who want one kind of change only.
    #[must_use]
    pub fn identity() -> Self {
        Self {
            brightness: 0.0,
            contrast: 0.0,
            saturation: 0.0,
            hue: 0.0,
            degrees: 0.0,
            translate: 0.0,
            scale: (1.0, 1.0),
            shear: 0.0,
            erase: 0.0,
            ..Self::default()
        }
    }

    /// The same, once every range has been found possible.
    ///
    /// # Errors
    /// [`Error::Input`] with the parameter, its value and what is allowed.
    pub fn check(self, seed: u64) -> Result<Augment> {
        within("brightness", self.brightness, 0.0, 1.0)?;
        within("contrast", self.contrast, 0.0, 1.0)?;
        within("saturation", self.saturation, 0.0, 1.0)?;
        within("hue", self.hue, 0.0, 0.5)?;
        within("degrees", self.degrees, 0.0, 180.0)?;
        within("translate", self.translate, 0.0, 1.0)?;
        ordered("scale", self.scale, 0.1, 10.0)?;
        within("shear", self.shear, 0.0, 60.0)?;
        within("erase", self.erase, 0.0, 1.0)?;
        ordered("erase_area", self.erase_area, f64::MIN_POSITIVE, 1.0)?;
        ordered("erase_aspect", self.erase_aspect, 0.01, 100.0)?;
        Ok(Augment { params: self, seed })
    }
}

fn within(name: &str, value: f64, least: f64, most: f64) -> Result<()> {
    // A comparison with NaN is false, so it is refused as well.
    if value >= least && value <= most {
        return Ok(());
    }
    let range =
        if least == f64::MIN_POSITIVE { format!("above 0, at most {most}") } else { format!("from {least} to {most}") };
    Err(Error::input(format!("augmentation cannot use `{name}` = {value}"), Some(format!("`{name}` is {range}"))))
}

fn ordered(name: &str, (low, high): (f64, f64), least: f64, most: f64) -> Result<()> {
    within(name, low, least, most)?;
    within(name, high, least, most)?;
    if low <= high {
        return Ok(());
    }
    Err(Error::input(
        format!("augmentation cannot use `{name}` from {low} to {high}"),
        Some("the first number is the smaller one".to_owned()),
    ))
}

/// Checked parameters and a seed.
#[derive(Clone, Debug)]
pub struct Augment {
    params: AugmentParams,
    seed: u64,
}

/// What was drawn for one sample in one epoch. All frames of a video get the same.
#[derive(Clone, Debug)]
pub struct Augmentation {
    size: Option<Size>,
    colors: [ColorStep; 4],
    affine: Affine,
    erasing: Option<Erasing>,
    fill: [u8; 3],
}

impl Augment {
    /// Draws what happens to `sample` in `epoch`.
    #[must_use]
    pub fn draw(&self, sample: &str, epoch: u64) -> Augmentation {
        let mut rng = self.rng(sample, epoch);
        let params = &self.params;
        let mut colors = [
            ColorStep::Brightness(around(&mut rng, 1.0, params.brightness)),
            ColorStep::Contrast(around(&mut rng, 1.0, params.contrast)),
            ColorStep::Saturation(around(&mut rng, 1.0, params.saturation)),
            ColorStep::Hue(around(&mut rng, 0.0, params.hue)),
        ];
        rng.shuffle(&mut colors);
        let affine = Affine {
            degrees: around(&mut rng, 0.0, params.degrees),
            shear: around(&mut rng, 0.0, params.shear),
            scale: between(&mut rng, params.scale),
            translate: (around(&mut rng, 0.0, params.translate), around(&mut rng, 0.0, params.translate)),
        };
        let erases = rng.f64() < params.erase;
        let erasing = Erasing::draw(&mut rng, params.erase_area, params.erase_aspect);
        Augmentation { size: params.size, colors, affine, erasing: erases.then_some(erasing), fill: params.fill }
    }

    /// The picture of `sample` as `epoch` shows it.
    #[must_use]
    pub fn apply(&self, sample: &str, epoch: u64, picture: &Picture) -> Picture {
        self.draw(sample, epoch).apply(picture)
    }

    fn rng(&self, sample: &str, epoch: u64) -> Rng {
        let mut hasher = blake3::Hasher::new();
        hasher
            .update(b"augment")
            .update(&self.seed.to_le_bytes())
            .update(&epoch.to_le_bytes())
            .update(sample.as_bytes());
        let mut first = [0; 8];
        hasher.finalize_xof().fill(&mut first);
        Rng::with_seed(u64::from_le_bytes(first))
    }
}

impl Augmentation {
    /// Does to `picture` what was drawn.
    #[must_use]
    pub fn apply(&self, picture: &Picture) -> Picture {
        let mut picture = self.size.map_or_else(|| picture.clone(), |size| picture.resized(size));
        for step in self.colors {
            step.apply(picture.pixels_mut());
        }
        let mut picture = self.affine.apply(picture, self.fill);
        if let Some(erasing) = &self.erasing {
            erasing.apply(&mut picture, self.fill);
        }
        picture
    }
}

fn around(rng: &mut Rng, middle: f64, reach: f64) -> f64 {
    between(rng, (middle - reach, middle + reach))
}

fn between(rng: &mut Rng, (low, high): (f64, f64)) -> f64 {
    // Exact where both ends are equal: identity parameters must give the input.
    low + (high - low) * rng.f64()
}

#[cfg(test)]
mod tests;

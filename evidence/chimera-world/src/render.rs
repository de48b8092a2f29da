//! Pictures of a view, by a ray tracer that spends its rays where something is. Nine rays a pixel find out what is seen in
//! it, one where only the floor can be; each surface that they meet is then shaded once. The same view gives the same bytes.

use chimera_data::error::Result;
use chimera_data::media::picture::{Picture, Size};
use glam::Vec3;

use crate::paint::Film;
use crate::shade::Shader;
use crate::solid::Hit;
use crate::view::View;

/// Rays a side of a pixel in which solids may be.
const FINE: usize = 3;

/// The rays of such a pixel, those in the middle first: the first that meets a surface stands for it.
const INSIDE_OUT: [usize; FINE * FINE] = [4, 1, 3, 5, 7, 0, 2, 6, 8];

/// Paints the pixels of a view.
///
/// # Errors
/// None: the size is a picture's.
pub fn picture(view: &View, size: Size) -> Result<Picture> {
    let (width, height) = (size.width(), size.height());
    let (film, shader) = (Film::new(), Shader::new(view));
    let solids = solids_of_pixels(view, width, height);
    let mut pixels = Vec::with_capacity(size.bytes());
    for (pixel, among) in solids.into_iter().enumerate() {
        let (column, row) = (pixel % width, pixel / width);
        let ray = |right: f32, below: f32| {
            view.camera.ray((column as f32 + right) / width as f32, (row as f32 + below) / height as f32)
        };
        let start = noise(column, row);
        let light = if among == 0 {
            shader.floor_seen(ray(0.5, 0.5), start)
        } else {
            let place = |step: usize| (step as f32 + 0.5) / FINE as f32;
            let rays = INSIDE_OUT.map(|number| ray(place(number % FINE), place(number / FINE)));
            mixed(view, &shader, &rays, among, start)
        };
        pixels.extend(film.bytes(light));
    }
    Picture::new(size, pixels)
}

/// The same picture by brute force: nine rays a pixel at every solid, each shaded by itself. To compare with.
///
/// # Errors
/// As [`picture`].
pub fn plain_picture(view: &View, size: Size) -> Result<Picture> {
    let (width, height) = (size.width(), size.height());
    let (film, shader) = (Film::new(), Shader::new(view));
    let mut pixels = Vec::with_capacity(size.bytes());
    for pixel in 0..width * height {
        let (column, row) = (pixel % width, pixel / width);
        let start = noise(column, row);
        let mut light = Vec3::ZERO;
        for number in 0..FINE * FINE {
            let inside = |step: usize| (step as f32 + 0.5) / FINE as f32;
            let across = (column as f32 + inside(number % FINE)) / width as f32;
            let down = (row as f32 + inside(number / FINE)) / height as f32;
            let ray = view.camera.ray(across, down);
            light += match view.first(view.camera.position, ray, view.all()) {
                Some((index, hit)) => shader.solid_seen(ray, index, &hit, start),
                None => shader.floor_seen(ray, start),
            };
        }
        pixels.extend(film.bytes(light / (FINE * FINE) as f32));
    }
    Picture::new(size, pixels)
}

/// A surface that rays of a pixel meet: what they meet first, and how many they are.
#[derive(Clone, Copy)]
struct Surface {
    ray: Vec3,
    met: Option<(usize, Hit)>,
    count: u32,
}

/// The light of a pixel: that of its surfaces by their shares.
fn mixed(view: &View, shader: &Shader<'_>, rays: &[Vec3; FINE * FINE], among: u32, start: f32) -> Vec3 {
    let mut surfaces: [Option<Surface>; FINE * FINE] = [None; FINE * FINE];
    for &ray in rays {
        let met = view.first(view.camera.position, ray, among);
        let side = |met: &Option<(usize, Hit)>| met.map(|(index, hit)| (index, hit.side));
        for surface in &mut surfaces {
            match surface {
                Some(known) if side(&known.met) == side(&met) => known.count += 1,
                Some(_) => continue,
                None => *surface = Some(Surface { ray, met, count: 1 }),
            }
            break;
        }
    }
    let mut light = Vec3::ZERO;
    for (number, surface) in surfaces.iter().flatten().enumerate() {
        let start = (start + number as f32 * 0.37).fract();
        let color = match surface.met {
            Some((index, hit)) => shader.solid_seen(surface.ray, index, &hit, start),
            None => shader.floor_seen(surface.ray, start),
        };
        light += color * (surface.count as f32 / rays.len() as f32);
    }
    light
}

/// Which solid is seen in the middle of each pixel, row after row; `None` where the floor is. `alone` asks for one solid as
/// if there were no other.
#[must_use]
pub fn mask(view: &View, (width, height): (usize, usize), alone: Option<usize>) -> Vec<Option<usize>> {
    let wanted = alone.map_or(u32::MAX, |index| 1 << index);
    let solids = solids_of_pixels(view, width, height);
    let pixel = |(number, among): (usize, u32)| {
        let (across, down) = ((number % width) as f32 + 0.5, (number / width) as f32 + 0.5);
        let ray = view.camera.ray(across / width as f32, down / height as f32);
        view.first(view.camera.position, ray, among & wanted).map(|(index, _)| index)
    };
    solids.into_iter().enumerate().map(pixel).collect()
}

/// The solids that may be seen in each pixel, as bits.
fn solids_of_pixels(view: &View, width: usize, height: usize) -> Vec<u32> {
    let mut solids = vec![0; width * height];
    for index in 0..view.solids.len() {
        let [columns, rows] = view.span(index).pixels(width, height);
        for row in rows {
            solids[row * width..][columns.clone()].iter_mut().for_each(|solids| *solids |= 1 << index);
        }
    }
    solids
}

/// A number from 0 to 1 that looks random from pixel to pixel and is evenly spread among neighbours.
fn noise(column: usize, row: usize) -> f32 {
    (52.982_918 * (0.067_110_56 * column as f32 + 0.005_837_15 * row as f32).fract()).fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::draw;
    use crate::still::Stills;
    use crate::wish::{HouseRules, Wish};

    /// What is left out makes no visible difference.
    #[test]
    fn a_picture_is_what_brute_force_gives() {
        let rules = HouseRules::new(chimera_logic::rules::RuleSet::default(), false).unwrap();
        for seed in 0..6 {
            let mut random = fastrand::Rng::with_seed(seed);
            let still = draw(&Stills { together: 0.0 }, &rules, &mut random, Wish::Kept, None).unwrap();
            let size = Size::new(96, 64).unwrap();
            let (ours, plain) = (picture(&still.view, size).unwrap(), plain_picture(&still.view, size).unwrap());
            let differences = ours.pixels().iter().zip(plain.pixels()).map(|(one, other)| one.abs_diff(*other));
            let mean = differences.clone().map(f64::from).sum::<f64>() / ours.pixels().len() as f64;
            let large = differences.filter(|difference| *difference > 40).count();
            assert!(mean < 1.5 && large < ours.pixels().len() / 100, "{mean} {large}");
        }
    }
}

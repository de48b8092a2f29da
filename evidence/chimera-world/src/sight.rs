//! Whether a camera sees a solid at all.

use crate::camera::Camera;
use crate::solid::Solid;

/// Rays across and down that look for it: a solid between them is smaller than a pixel of a picture that size.
const RAYS: [usize; 2] = [240, 160];

/// Whether any part of a solid is inside the picture. What stands before it does not count.
#[must_use]
pub(crate) fn in_view(camera: &Camera, solid: &Solid) -> bool {
    let span = camera.span(solid.center(), solid.reach());
    let inside = |[from, to]: [f32; 2]| from > 0.0 && to < 1.0;
    if inside(span.across) && inside(span.down) {
        return true;
    }
    let [width, height] = RAYS;
    let [columns, rows] = span.pixels(width, height);
    rows.into_iter().any(|row| {
        columns.clone().any(|column| {
            let (across, down) = ((column as f32 + 0.5) / width as f32, (row as f32 + 0.5) / height as f32);
            solid.hit(camera.position, camera.ray(across, down)).is_some()
        })
    })
}

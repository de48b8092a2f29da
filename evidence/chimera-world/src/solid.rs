//! Solids that stand upright, and where a ray meets them.

use chimera_data::clevr::look::Shape;
use glam::{Vec2, Vec3};

/// A ball, a cube or a cylinder. All are as wide as high, so one number says how large they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    shape: Shape,
    half: f32,
    center: Vec3,
    /// Cosine and sine of the turn around the vertical.
    turn: Vec2,
}

/// Where a ray meets a solid first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// How far along the ray.
    pub distance: f32,
    /// What points away from the surface, a little rounded at edges, as those of real things are.
    pub normal: Vec3,
    /// Which of its faces; round faces are one.
    pub side: u8,
}

/// How much of a half is rounded at an edge.
const ROUNDED: f32 = 0.12;

impl Solid {
    /// A solid whose centre is at `center`; `half` is the radius or half the side, `yaw` the turn around the vertical.
    #[must_use]
    pub fn new(shape: Shape, half: f32, center: Vec3, yaw: f32) -> Self {
        Self { shape, half, center, turn: Vec2::from_angle(yaw) }
    }

    /// Where its centre is.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        self.center
    }

    /// Radius, or half the side.
    #[must_use]
    pub fn half(&self) -> f32 {
        self.half
    }

    /// What it is.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Radius of a ball around the centre that holds all of it.
    #[must_use]
    pub fn reach(&self) -> f32 {
        match self.shape {
            Shape::Sphere => self.half,
            Shape::Cylinder => self.half * std::f32::consts::SQRT_2,
            Shape::Cube => self.half * 1.733,
        }
    }

    /// Where a ray of unit direction, from outside, meets the solid.
    #[must_use]
    pub fn hit(&self, origin: Vec3, direction: Vec3) -> Option<Hit> {
        let offset = origin - self.center;
        // Half the distance to the point next to the centre decides for most rays.
        let along = -offset.dot(direction);
        let beside = offset.length_squared() - along * along;
        if beside > self.reach() * self.reach() || along < 0.0 && offset.length_squared() > self.reach() * self.reach()
        {
            return None;
        }
        match self.shape {
            Shape::Sphere => {
                let distance = along - (self.half * self.half - beside).sqrt();
                (distance > 0.0).then(|| Hit { distance, normal: (offset + direction * distance) / self.half, side: 0 })
            }
            Shape::Cube => {
                let (offset, direction) = (self.inwards(offset), self.inwards(direction));
                let hit = slabs(offset, direction, self.half)?;
                Some(Hit { normal: self.outwards(hit.normal), ..hit })
            }
            Shape::Cylinder => round_slab(offset, direction, self.half),
        }
    }

    /// As the solid sees it, without its turn.
    fn inwards(&self, vector: Vec3) -> Vec3 {
        let level = Vec2::new(self.turn.x, -self.turn.y).rotate(vector.truncate());
        level.extend(vector.z)
    }

    fn outwards(&self, vector: Vec3) -> Vec3 {
        self.turn.rotate(vector.truncate()).extend(vector.z)
    }
}

/// A ray and a cube around the origin.
fn slabs(origin: Vec3, direction: Vec3, half: f32) -> Option<Hit> {
    let inverse = direction.recip();
    let (one, other) = ((-half - origin) * inverse, (half - origin) * inverse);
    let (near, far) = (one.min(other), one.max(other));
    let (enter, leave) = (near.max_element(), far.min_element());
    if enter > leave || enter <= 0.0 {
        return None;
    }
    let axis = near.max_position();
    let mut normal = Vec3::ZERO;
    normal[axis] = -direction[axis].signum();
    let at = origin + direction * enter;
    for other in (0..3).filter(|other| *other != axis) {
        normal[other] = tilt(at[other], half);
    }
    Some(Hit { distance: enter, normal: normal.normalize(), side: 2 * axis as u8 + u8::from(direction[axis] < 0.0) })
}

/// How far a normal leans outwards at a place between two edges: nothing but near them, half right at them.
fn tilt(at: f32, half: f32) -> f32 {
    let near = ((at.abs() / half - (1.0 - ROUNDED)) / ROUNDED).clamp(0.0, 1.0);
    at.signum() * near * near
}

/// A ray and an upright cylinder around the origin, as high as wide.
fn round_slab(origin: Vec3, direction: Vec3, half: f32) -> Option<Hit> {
    let (from, along) = (origin.truncate(), direction.truncate());
    let steep = along.length_squared();
    let (mut enter, mut leave, mut cap) = (f32::NEG_INFINITY, f32::INFINITY, true);
    let inside = from.length_squared() - half * half;
    if steep > 1e-12 {
        let middle = from.dot(along);
        let root = middle * middle - steep * inside;
        if root <= 0.0 {
            return None;
        }
        let root = root.sqrt();
        (enter, leave, cap) = ((-middle - root) / steep, (-middle + root) / steep, false);
    } else if inside > 0.0 {
        return None;
    }
    if direction.z.abs() > 1e-12 {
        let (one, other) = ((-half - origin.z) / direction.z, (half - origin.z) / direction.z);
        let (near, far) = (one.min(other), one.max(other));
        if near > enter {
            (enter, cap) = (near, true);
        }
        leave = leave.min(far);
    } else if origin.z.abs() > half {
        return None;
    }
    if enter > leave || enter <= 0.0 {
        return None;
    }
    let at = origin + direction * enter;
    let around = at.truncate() / half;
    let normal = if cap {
        (around.normalize_or_zero() * tilt(around.length(), 1.0)).extend(-direction.z.signum())
    } else {
        around.extend(tilt(at.z, half))
    };
    Some(Hit { distance: enter, normal: normal.normalize(), side: u8::from(cap) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a point is in a solid: the definition, in other words than the code above.
    fn holds(solid: &Solid, yaw: f32, point: Vec3) -> bool {
        let offset = point - solid.center;
        let (sin, cos) = yaw.sin_cos();
        let (x, y) = (cos * offset.x + sin * offset.y, cos * offset.y - sin * offset.x);
        match solid.shape {
            Shape::Sphere => offset.length() < solid.half,
            Shape::Cube => [x, y, offset.z].iter().all(|side| side.abs() < solid.half),
            Shape::Cylinder => x.hypot(y) < solid.half && offset.z.abs() < solid.half,
        }
    }

    /// Rays against small steps along them.
    #[test]
    fn rays_meet_what_is_there() {
        let mut random = fastrand::Rng::with_seed(1);
        let mut number = |from: f32, to: f32| from + (to - from) * random.f32();
        let (mut met, mut missed) = (0, 0);
        for shape in Shape::ALL {
            for _ in 0..300 {
                let yaw = number(-3.0, 3.0);
                let center = Vec3::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0));
                let solid = Solid::new(shape, number(0.2, 0.8), center, yaw);
                let origin = Vec3::new(number(-4.0, 4.0), number(-4.0, 4.0), 4.0);
                let aim = center + Vec3::new(number(-1.0, 1.0), number(-1.0, 1.0), number(-1.0, 1.0));
                let direction = (aim - origin).normalize();
                let step = 0.002;
                let walked = (0..6000).map(|steps| steps as f32 * step);
                let first = walked.into_iter().find(|&distance| holds(&solid, yaw, origin + direction * distance));
                match (solid.hit(origin, direction), first) {
                    (Some(hit), Some(first)) => {
                        met += 1;
                        assert!((hit.distance - first).abs() <= 2.0 * step, "{solid:?}: {hit:?}, walked {first}");
                        assert!((hit.normal.length() - 1.0).abs() < 1e-3 && hit.normal.dot(direction) < 0.75);
                        let at = origin + direction * hit.distance;
                        assert!(
                            !holds(&solid, yaw, at + hit.normal * 0.01) && holds(&solid, yaw, at - hit.normal * 0.01)
                        );
                    }
                    (None, None) => missed += 1,
                    // A corner that steps pass over, or that rounding does.
                    (Some(hit), None) => assert!(!holds(&solid, yaw, origin + direction * (hit.distance + 0.01))),
                    (None, Some(first)) => assert!(!holds(&solid, yaw, origin + direction * (first + 0.01))),
                }
            }
        }
        assert!(met > 200 && missed > 200, "{met} {missed}");
    }
}

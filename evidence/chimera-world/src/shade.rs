//! How much light a surface sends to the camera: lamps with soft shadows, rubber that scatters, metal that mirrors.

use glam::{Vec2, Vec3};

use crate::paint::Paint;
use crate::solid::Hit;
use crate::view::{Lamp, View, each};

/// Of the light on the floor, the share that it scatters.
const FLOOR: Vec3 = Vec3::new(0.301, 0.298, 0.294);

/// What is mirrored where neither floor nor solid is: a dark studio.
const STUDIO: f32 = 0.05;

/// Rays towards each lamp where something may stand between.
const RAYS: [usize; 3] = [8, 5, 4];

/// How far rays start above a surface, in halves of the solid.
const ABOVE: f32 = 1e-3;

/// Turns between seeds of a sunflower: they cover a disc evenly.
const GOLDEN: f32 = 0.618_034;

/// A view, made ready to be shaded.
pub(crate) struct Shader<'a> {
    view: &'a View,
    /// For each solid and lamp, a circle on the floor that its shadow cannot leave.
    shadows: Vec<[(Vec2, f32); 3]>,
    /// Where rays towards each lamp go, on a disc of radius 1.
    seeds: [Vec<Vec2>; 3],
}

impl<'a> Shader<'a> {
    pub(crate) fn new(view: &'a View) -> Self {
        let shadows = view.solids.iter().map(|(solid, _)| {
            let circle = |lamp: &Lamp| shadow(lamp, solid.center(), solid.reach());
            [circle(&view.lamps[0]), circle(&view.lamps[1]), circle(&view.lamps[2])]
        });
        let seed = |number: usize, of: usize| {
            let turn = std::f32::consts::TAU * GOLDEN * number as f32;
            Vec2::from_angle(turn) * ((number as f32 + 0.5) / of as f32).sqrt()
        };
        let seeds = RAYS.map(|rays| (0..rays).map(|number| seed(number, rays)).collect());
        Self { view, shadows: shadows.collect(), seeds }
    }

    /// The floor as the camera sees it in a direction; the studio's dark where the ray passes over it. `start` is a number
    /// from 0 to 1 that differs between neighbours.
    pub(crate) fn floor_seen(&self, ray: Vec3, start: f32) -> Vec3 {
        self.beyond(self.view.camera.position, ray, start)
    }

    /// A solid as the camera sees it.
    pub(crate) fn solid_seen(&self, ray: Vec3, index: usize, hit: &Hit, start: f32) -> Vec3 {
        let (solid, paint) = &self.view.solids[index];
        let point = self.view.camera.position + ray * hit.distance + hit.normal * (ABOVE * solid.half());
        let others = self.view.all() & !(1 << index);
        if paint.metal {
            self.metal(point, ray, hit, paint, others)
        } else {
            self.rubber(point, ray, hit, paint, (others, start))
        }
    }

    fn beyond(&self, origin: Vec3, direction: Vec3, start: f32) -> Vec3 {
        if direction.z > -1e-4 {
            return Vec3::splat(STUDIO + 0.3 * direction.z.max(0.0));
        }
        let point = origin - direction * (origin.z / direction.z);
        let mut light = self.view.ambient * self.open_sky(point);
        for (number, lamp) in self.view.lamps.iter().enumerate() {
            let mut among = 0;
            for (index, circles) in self.shadows.iter().enumerate() {
                let (center, radius) = circles[number];
                among |= u32::from(point.truncate().distance_squared(center) < radius * radius) << index;
            }
            light += falling(lamp, point, Vec3::Z) * self.lit(number, point, among, start);
        }
        FLOOR * light
    }

    /// Of the light from everywhere, what solids near a point of the floor leave of it.
    fn open_sky(&self, point: Vec3) -> f32 {
        let mut open = 1.0;
        for (solid, _) in &self.view.solids {
            let offset = solid.center() - point;
            let (square, half) = (offset.length_squared(), solid.half());
            if square < 36.0 * half * half {
                // The share of the sky that a ball hides, weighed by its height.
                let share = half * half * offset.z / (square * square.sqrt());
                open *= 1.0 - share.min(0.9);
            }
        }
        open
    }

    /// The share of a lamp that is seen from a point, past the solids that may stand between.
    fn lit(&self, number: usize, point: Vec3, among: u32, start: f32) -> f32 {
        let lamp = &self.view.lamps[number];
        let offset = lamp.position - point;
        let distance = offset.length();
        let towards = offset / distance;
        // What is not within the cone from the point to the lamp is in nobody's way.
        let mut between = 0;
        each(among, |index| {
            let solid = &self.view.solids[index].0;
            let way = solid.center() - point;
            let along = way.dot(towards);
            let reach = solid.reach() + lamp.radius * (along / distance).max(0.0);
            let is_near = way.length_squared() - along * along < reach * reach && along > -solid.reach();
            between |= u32::from(is_near) << index;
        });
        if between == 0 {
            return 1.0;
        }
        let (side, up) = towards.any_orthonormal_pair();
        let turn = Vec2::from_angle(std::f32::consts::TAU * start);
        let seeds = &self.seeds[number];
        let mut seen = 0;
        for &seed in seeds {
            let at = turn.rotate(seed) * lamp.radius;
            let direction = (offset + side * at.x + up * at.y).normalize();
            let mut free = true;
            each(between, |index| free = free && self.view.solids[index].0.hit(point, direction).is_none());
            seen += usize::from(free);
        }
        seen as f32 / seeds.len() as f32
    }

    /// Light is scattered on all sides, a little of it shines.
    fn rubber(&self, point: Vec3, ray: Vec3, hit: &Hit, paint: &Paint, (others, start): (u32, f32)) -> Vec3 {
        // What faces the floor gets light from the floor.
        let mut light = self.view.ambient * (1.1 + 0.25 * hit.normal.z);
        let mut shine = 0.0;
        for (number, lamp) in self.view.lamps.iter().enumerate() {
            let falling = falling(lamp, point, hit.normal);
            if falling > 0.0 {
                let falling = falling * self.lit(number, point, others, start);
                let half_way = ((lamp.position - point).normalize() - ray).normalize();
                light += falling;
                shine += falling * half_way.dot(hit.normal).max(0.0).powi(16);
            }
        }
        paint.albedo * light + Vec3::splat(0.08 * shine)
    }

    /// What is around is mirrored in the metal's colour, and lamps are bright spots.
    fn metal(&self, point: Vec3, ray: Vec3, hit: &Hit, paint: &Paint, others: u32) -> Vec3 {
        let away = ray - hit.normal * (2.0 * ray.dot(hit.normal));
        let around = match self.view.first(point, away, others) {
            Some((index, other)) => {
                let at = point + away * other.distance;
                let light: f32 = self.view.lamps.iter().map(|lamp| falling(lamp, at, other.normal)).sum();
                self.view.solids[index].1.albedo * (light + self.view.ambient)
            }
            None => self.beyond(point, away, 0.5),
        };
        let (mut spots, mut light) = (0.0, 0.25 * self.view.ambient);
        for lamp in &self.view.lamps {
            let offset = lamp.position - point;
            let strength = lamp.power / offset.length_squared();
            let facing = away.dot(offset.normalize()).max(0.0);
            spots += strength * (7.0 * facing.powi(120) + 1.2 * facing.powi(10));
            light += 0.12 * falling(lamp, point, hit.normal);
        }
        // The edge of what is round mirrors nearly white.
        let edge = (1.0 + ray.dot(hit.normal)).clamp(0.0, 1.0).powi(5);
        let tint = paint.albedo.lerp(Vec3::ONE, 0.05 + 0.4 * edge);
        tint * (around * 1.4 + Vec3::splat(spots)) + paint.albedo * light + Vec3::splat(0.1 * spots)
    }
}

/// How much light of a lamp falls on a surface, with nothing between.
fn falling(lamp: &Lamp, point: Vec3, normal: Vec3) -> f32 {
    let offset = lamp.position - point;
    let square = offset.length_squared();
    (normal.dot(offset) / square.sqrt()).max(0.0) * lamp.power / square
}

/// A circle on the floor that the shadow of a ball cannot leave.
fn shadow(lamp: &Lamp, center: Vec3, reach: f32) -> (Vec2, f32) {
    let near = center.truncate();
    let above = lamp.position.z - center.z - reach - lamp.radius;
    if above <= 0.1 * lamp.position.z {
        return (near, f32::INFINITY);
    }
    let far = (center.z + reach) / above;
    let end = near + (center - lamp.position).truncate() * far;
    (near.midpoint(end), 0.5 * near.distance(end) + (reach + lamp.radius * far) * (1.0 + far))
}

//! Solids: what rules can say about them, and which are there: colours, materials, shapes and sizes, some of which like to
//! come together.

use chimera_data::clevr::concept::Concept;
use chimera_data::clevr::look::{Color, Look, Material, ObjectSize, Shape};
use chimera_data::error::{Error, Result};
use chimera_logic::rules::RuleSet;
use fastrand::Rng;

use crate::meanings::Meaning;
use crate::wish::HouseRules;

impl Meaning for Concept {
    type Object = Look;

    fn among(&self, objects: &[Look]) -> Option<bool> {
        self.in_scene(objects)
    }

    fn entails(&self, wider: &Self) -> bool {
        Self::entails(self, wider)
    }
}

impl HouseRules {
    /// Rules over looks and, where scenes move, events.
    ///
    /// # Errors
    /// A concept that is no filter and no event, or one that such scenes do not have.
    pub fn new(set: RuleSet, moving: bool) -> Result<Self> {
        let rules = Self::over(set, |name| solid_concept(name, moving))?;
        Concept::check_distinct(rules.concepts())?;
        Ok(rules)
    }
}

/// A concept of still scenes, or of clips, by its name.
///
/// # Errors
/// One that is no filter and no event, or that such scenes do not have.
pub fn solid_concept(name: &str, moving: bool) -> Result<Concept> {
    let concept = Concept::named(name)?;
    let wrong = if concept.is_event() && !moving {
        "what can be seen in a still picture, got the event"
    } else if concept.size().is_some() && moving {
        "objects of one size, as all are in a clip, got the filter"
    } else {
        return Ok(concept);
    };
    Err(Error::input(format!("expected {wrong} `{}`", concept.name()), None))
}

/// Draws so many objects. With the probability `together` an object brings its partner along, if there is room: a blue
/// sphere a green cube, and the other way round. Metal comes with metal. Sizes are drawn where the dataset has them.
#[must_use]
pub fn looks(random: &mut Rng, count: usize, together: f64, sizes: bool) -> Vec<Look> {
    let mut kinds = Vec::with_capacity(count + 1);
    while kinds.len() < count {
        let kind = (one_of(random, &Color::ALL), one_of(random, &Shape::ALL));
        kinds.push(kind);
        if random.f64() < together {
            kinds.push(partner(kind));
        }
    }
    kinds.truncate(count);
    // Each scene has a taste of its own, from no metal at all to nothing else, and more often for little. Were it drawn
    // evenly, nine of ten clips would have some metal, and whether one has would be worth little to know.
    let taste = random.f64().powi(2);
    let look = |(color, shape): (Color, Shape)| {
        let material = if random.f64() < taste { Material::Metal } else { Material::Rubber };
        let size = sizes.then(|| one_of(random, &ObjectSize::ALL));
        Look { color, material, shape, size }
    };
    let mut looks: Vec<Look> = kinds.into_iter().map(look).collect();
    // Who came with whom is not to be told by the order.
    random.shuffle(&mut looks);
    looks
}

/// Draws other objects of the same shapes, each in its place; `None` where none were found in many tries.
#[must_use]
pub(crate) fn repainted(random: &mut Rng, looks: &[Look], together: f64) -> Option<Vec<Look>> {
    let sizes = looks.iter().any(|look| look.size.is_some());
    let count = |looks: &[Look], shape: Shape| looks.iter().filter(|look| look.shape == shape).count();
    for _ in 0..TRIES {
        let mut drawn = self::looks(random, looks.len(), together, sizes);
        if Shape::ALL.iter().all(|shape| count(&drawn, *shape) == count(looks, *shape)) {
            let mut next =
                |shape: Shape| drawn.iter().position(|look| look.shape == shape).map(|at| drawn.swap_remove(at));
            return looks.iter().map(|look| next(look.shape)).collect();
        }
    }
    None
}

/// How often objects are drawn until their shapes are those that are wanted.
const TRIES: usize = 200;

/// What likes to come with an object; its own partner is that object.
#[must_use]
pub fn partner((color, shape): (Color, Shape)) -> (Color, Shape) {
    let color = match color {
        Color::Gray => Color::Red,
        Color::Red => Color::Gray,
        Color::Blue => Color::Green,
        Color::Green => Color::Blue,
        Color::Brown => Color::Purple,
        Color::Purple => Color::Brown,
        Color::Cyan => Color::Yellow,
        Color::Yellow => Color::Cyan,
    };
    let shape = match shape {
        Shape::Sphere => Shape::Cube,
        Shape::Cube => Shape::Sphere,
        Shape::Cylinder => Shape::Cylinder,
    };
    (color, shape)
}

/// One of a list, each as likely.
pub(crate) fn one_of<T: Copy, const N: usize>(random: &mut Rng, list: &[T; N]) -> T {
    list[random.usize(..N)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_come_as_often_as_asked() {
        let share = |together: f64| {
            let mut random = Rng::with_seed(5);
            let (mut alone, mut paired) = (0_u32, 0_u32);
            for _ in 0..4000 {
                let looks = looks(&mut random, 4, together, true);
                assert!(looks.len() == 4 && looks.iter().all(|look| look.size.is_some()));
                let has = |kind| looks.iter().any(|look| (look.color, look.shape) == kind);
                for kind in looks.iter().map(|look| (look.color, look.shape)) {
                    assert_eq!(partner(partner(kind)), kind);
                    if has(partner(kind)) { paired += 1 } else { alone += 1 }
                }
            }
            f64::from(paired) / f64::from(paired + alone)
        };
        // By chance, one of three others is the partner with 1 / 24 each.
        assert!((share(0.0) - (1.0 - (23.0_f64 / 24.0).powi(3))).abs() < 0.02, "{}", share(0.0));
        assert!(share(1.0) > 0.999 && (0.4..0.8).contains(&share(0.5)), "{} {}", share(0.5), share(1.0));
    }
}

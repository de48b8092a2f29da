//! Scenes are drawn again and again until one is as wanted. What keeps all rules is drawn alike in all splits; what breaks one
//! has as many objects and as much going on as a scene of its split that keeps all.

use chimera_data::error::{Error, Result};
use fastrand::Rng;

use crate::meanings::Meaning;
use crate::wish::{HouseRules, Wish};

/// After so many draws of objects a wish is given up.
const DRAWS: usize = 200_000;

/// And after so many times that they were put in their places, which takes longer.
const PLACES: usize = 3_000;

/// So many scenes tell which rules were never kept.
const LOOKED_AT: usize = 300;

/// So often a scene is painted anew before another is placed.
const REPAINTS: usize = 24;

/// What scenes of a kind are made of.
pub(crate) type ObjectOf<K> = <<K as Kind>::Concept as Meaning>::Object;

/// A kind of scene.
pub trait Kind: Sync {
    /// What rules can speak of.
    type Concept: Meaning;
    /// What is drawn.
    type Scene: Send;
    /// What scenes must have in common, so that nothing but rules tells them apart.
    type Bustle: Copy + PartialEq + Send + Sync;

    /// Draws the objects of a scene: as many as in another, or as it comes.
    fn objects(&self, random: &mut Rng, like: Option<Self::Bustle>) -> Vec<ObjectOf<Self>>;

    /// Puts objects in their places; `None` where they do not fit.
    fn place(&self, random: &mut Rng, objects: &[ObjectOf<Self>]) -> Option<Self::Scene>;

    /// Gives the objects of a scene another look, as likely as any other, where that changes nothing else; `false` where it
    /// would. Spares placing them anew.
    fn repaint(&self, _random: &mut Rng, _scene: &mut Self::Scene) -> bool {
        false
    }

    /// What each concept is in a scene.
    fn labels(&self, scene: &Self::Scene, concepts: &[Self::Concept]) -> Vec<bool>;

    /// What is going on in a scene.
    fn bustle(&self, scene: &Self::Scene) -> Self::Bustle;
}

/// How closely a scene must be like another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Likeness {
    /// All of its bustle.
    Whole,
    /// What is drawn first: how many objects there are.
    Objects,
    /// Nothing.
    None,
}

/// Draws a scene as wanted, and as full of bustle as another; where that cannot be, with as many objects; where that cannot be
/// either (a rule against collisions is broken by collisions alone), as it comes.
///
/// # Errors
/// A wish that does not come true.
pub fn draw<K: Kind>(
    kind: &K,
    rules: &HouseRules<K::Concept>,
    random: &mut Rng,
    wish: Wish,
    like: Option<K::Bustle>,
) -> Result<K::Scene> {
    let closely =
        if like.is_some() { &[Likeness::Whole, Likeness::Objects, Likeness::None][..] } else { &[Likeness::None] };
    for wish in rules.in_order(wish) {
        for likeness in closely {
            let like = like.filter(|_| *likeness != Likeness::None);
            if let Some(scene) = try_to_draw(kind, rules, random, wish, like, *likeness) {
                return Ok(scene);
            }
        }
    }
    let message = match wish {
        Wish::Kept => {
            let why = match &never_kept(kind, rules, random)[..] {
                [] => String::new(),
                rules => format!("; whatever comes by chance breaks `{}`", rules.join("` and `")),
            };
            format!("expected scenes that keep all rules, got none in {DRAWS} draws{why}")
        }
        Wish::Broken(rule) | Wish::BrokenAmongOthers(rule) => {
            format!("expected a scene that breaks the rule `{}`, got none in {DRAWS} draws", rules.name(rule))
        }
    };
    let hint = match wish {
        Wish::Kept => {
            "scenes are drawn until one fits: some that come by chance must keep all rules; take out those that cannot \
             be kept, or cannot be kept together"
        }
        _ => {
            "scenes are drawn until one fits: some that come by chance must break the rule; take it out, or give \
              `--violations 0`"
        }
    };
    Err(Error::input(message, Some(hint.to_owned())))
}

/// The rules that no scene keeps, of some that come by chance.
fn never_kept<'a, K: Kind>(kind: &K, rules: &'a HouseRules<K::Concept>, random: &mut Rng) -> Vec<&'a str> {
    let scenes = (0..LOOKED_AT).filter_map(|_| {
        let objects = kind.objects(random, None);
        kind.place(random, &objects)
    });
    let broken = scenes.map(|scene| rules.broken(&kind.labels(&scene, rules.concepts())));
    let always = broken.reduce(|always, broken| always.into_iter().filter(|rule| broken.contains(rule)).collect());
    always.unwrap_or_default().into_iter().map(|rule| rules.name(rule)).collect()
}

fn try_to_draw<K: Kind>(
    kind: &K,
    rules: &HouseRules<K::Concept>,
    random: &mut Rng,
    wish: Wish,
    like: Option<K::Bustle>,
    likeness: Likeness,
) -> Option<K::Scene> {
    let mut places = 0..PLACES;
    for _ in 0..DRAWS {
        let objects = kind.objects(random, like);
        if !rules.may_fit(wish, &objects) {
            continue;
        }
        places.next()?;
        let Some(mut scene) = kind.place(random, &objects) else { continue };
        for _ in 0..=REPAINTS {
            let is_like = likeness != Likeness::Whole || like.is_none_or(|like| kind.bustle(&scene) == like);
            if is_like && rules.fits(wish, &kind.labels(&scene, rules.concepts())) {
                return Some(scene);
            }
            if !kind.repaint(random, &mut scene) {
                break;
            }
        }
    }
    None
}

/// The rules that no scene is asked to break where so many scenes break one each, in turn.
#[must_use]
pub fn not_in_turn<C: Meaning>(broken: usize, rules: &HouseRules<C>) -> Vec<&str> {
    (broken.min(rules.len())..rules.len()).map(|rule| rules.name(rule)).collect()
}

/// What is wanted of the scenes of a split, in order: so many break a rule, each rule in turn.
///
/// # Errors
/// Rules to be broken where there are none.
pub fn wishes<C: Meaning>(random: &mut Rng, scenes: usize, broken: usize, rules: &HouseRules<C>) -> Result<Vec<Wish>> {
    if broken > 0 && rules.is_empty() {
        let hint = "give a file with rules to `--rules`, or draw without any: `--no-rules`";
        return Err(Error::input("expected rules to be broken, got none".to_owned(), Some(hint.to_owned())));
    }
    let wish = |number: usize| if number < broken { Wish::Broken(number % rules.len()) } else { Wish::Kept };
    let mut wishes: Vec<Wish> = (0..scenes).map(wish).collect();
    random.shuffle(&mut wishes);
    Ok(wishes)
}

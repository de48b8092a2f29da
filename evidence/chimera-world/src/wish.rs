//! What is wanted of a scene: that it keeps all rules, or breaks a certain one.

use chimera_data::clevr::concept::Concept;
use chimera_data::error::Result;
use chimera_logic::dag::Node;
use chimera_logic::rules::RuleSet;
use chimera_logic::rules::format_rules;
use chimera_logic::sat::{Answer, Budget, Solving};
use chimera_logic::truth::holds;

use crate::meanings::{Meaning, meanings};

/// Rules that scenes are drawn under.
#[derive(Clone, Debug)]
pub struct HouseRules<C = Concept> {
    set: RuleSet,
    /// The concepts of the rules, by their numbers.
    concepts: Vec<C>,
    /// Of each rule, whether objects alone decide it, wherever they are.
    early: Vec<bool>,
    /// Of each rule, whether it can be broken while all others are kept.
    alone: Vec<bool>,
}

/// What is wanted of a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// No rule is broken.
    Kept,
    /// This rule is broken, and no other.
    Broken(usize),
    /// This rule is broken, and others may be.
    BrokenAmongOthers(usize),
}

impl<C: Meaning> HouseRules<C> {
    /// Rules over concepts that `named` finds by their names.
    ///
    /// # Errors
    /// A concept that it does not find.
    pub fn over(set: RuleSet, named: impl Fn(&str) -> Result<C>) -> Result<Self> {
        let concepts = set.dag.vocabulary().names().map(named).collect::<Result<Vec<C>>>()?;
        let is_early = |root| {
            let is_late = |node| match set.dag.node(node) {
                Node::Leaf(concept) => concepts[concept.index()].among(&[]).is_none(),
                Node::Gate(..) => false,
            };
            !set.dag.cone(&[root]).into_iter().any(is_late)
        };
        let early = set.roots().into_iter().map(is_early).collect();
        let alone = breakable_alone(&set, &concepts)?;
        Ok(Self { set, concepts, early, alone })
    }

    /// The concepts that rules speak of.
    #[must_use]
    pub fn concepts(&self) -> &[C] {
        &self.concepts
    }

    /// The rules as a file.
    #[must_use]
    pub fn text(&self) -> String {
        format_rules(&self.set)
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.early.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.early.is_empty()
    }

    /// A wish, and what is as good where it does not come true: a rule that cannot be broken alone is broken among others.
    pub(crate) fn in_order(&self, wish: Wish) -> Vec<Wish> {
        match wish {
            Wish::Broken(rule) if self.alone[rule] => vec![wish, Wish::BrokenAmongOthers(rule)],
            Wish::Broken(rule) => vec![Wish::BrokenAmongOthers(rule)],
            _ => vec![wish],
        }
    }

    /// What a rule is called.
    #[must_use]
    pub fn name(&self, rule: usize) -> &str {
        &self.set.rules[rule].name
    }

    /// Whether objects leave it possible that a wish comes true.
    #[must_use]
    pub(crate) fn may_fit(&self, wish: Wish, objects: &[C::Object]) -> bool {
        let labels: Vec<bool> = self.concepts.iter().map(|concept| concept.among(objects).unwrap_or(false)).collect();
        (0..self.len()).filter(|&rule| self.early[rule]).all(|rule| self.fits_rule(wish, rule, &labels))
    }

    /// Whether a wish has come true, by the labels of the concepts.
    #[must_use]
    pub fn fits(&self, wish: Wish, labels: &[bool]) -> bool {
        (0..self.len()).all(|rule| self.fits_rule(wish, rule, labels))
    }

    /// Which rules labels break.
    #[must_use]
    pub fn broken(&self, labels: &[bool]) -> Vec<usize> {
        (0..self.len()).filter(|&rule| !self.holds(rule, labels)).collect()
    }

    fn fits_rule(&self, wish: Wish, rule: usize, labels: &[bool]) -> bool {
        match wish {
            Wish::Kept => self.holds(rule, labels),
            Wish::Broken(wanted) => self.holds(rule, labels) == (wanted != rule),
            Wish::BrokenAmongOthers(wanted) => wanted != rule || !self.holds(rule, labels),
        }
    }

    fn holds(&self, rule: usize, labels: &[bool]) -> bool {
        holds(&self.set.dag, self.set.rules[rule].root, &|concept| labels[concept.index()])
    }
}

/// Of each rule, whether it can be broken while all others are kept, for all that concepts mean.
fn breakable_alone<C: Meaning>(set: &RuleSet, concepts: &[C]) -> Result<Vec<bool>> {
    let mut dag = set.dag.clone();
    let meanings = meanings(&mut dag, concepts)?;
    let rules = set.roots();
    let mut solving = Solving::new(&dag, &[rules.as_slice(), &meanings].concat(), &Budget::new());
    let can_be = |rule: usize| {
        let mut wanted = rules.clone();
        wanted[rule] = wanted[rule].negate_if(true);
        wanted.extend(&meanings);
        !matches!(solving.together(&wanted), Answer::Clash(_))
    };
    Ok((0..rules.len()).map(can_be).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photo::class::Class;
    use crate::presets;

    #[test]
    fn rules_are_broken_alone_where_meaning_allows_it() {
        let alone = |text: &str| HouseRules::new(presets::rules(text), true).unwrap().alone;
        assert_eq!(alone("a: red => cube\nb: red => sphere\n"), [true, true]);
        // Whoever breaks the first breaks the second.
        assert_eq!(alone("a: red => cube\nb: red => cube & sphere\n"), [false, true]);
        assert_eq!(alone("a: collide_before_half(red,cube) => cyan\nb: collide(cube,red) => cyan\n"), [false, true]);
        assert_eq!(alone("a: enter(red_cube) => cyan\nb: red => cyan\n"), [false, true]);
        assert_eq!(alone("a: entered_then_collided(cube,cube) => cyan\nb: enter(cube) => cyan\n"), [false, true]);
        for preset in [presets::CLEVR, presets::CLEVRER] {
            assert!(alone(preset).iter().all(|alone| *alone), "a rule of a preset follows from others");
        }
    }

    /// What closed labels promise counts: a tautology under it can never be broken.
    #[test]
    fn kinds_are_what_is_above_them() {
        let alone = |text: &str| HouseRules::over(presets::rules(text), Class::named).unwrap().alone;
        assert_eq!(alone("a: Dog => Animal\nb: Animal => Dog\n"), [false, true]);
        assert_eq!(alone("a: Animal => Dog\nb: Cat => Carnivore & Dog\n"), [true, false]);
        // Parts and clothes come with what they are drawn on, but not with one kind of it.
        assert_eq!(alone("a: Wheel => \"Land vehicle\"\nb: \"Land vehicle\" => Wheel\n"), [false, true]);
        assert_eq!(alone("a: Hat => Person & Clothing\nb: Dress => Woman\n"), [false, true]);
        assert_eq!(alone("a: Wheel => Car\nb: Car => Wheel\n"), [true, true]);
        assert!(alone(presets::OPENIMAGES).iter().all(|alone| *alone), "a rule of the preset follows from others");
    }
}

//! What is wanted of a scene: that it keeps all rules, or breaks a certain one.

use chimera::data::clevr::concept::Concept;
use chimera::data::clevr::look::Look;
use chimera::error::{Error, Result};
use chimera_logic::dag::{Edge, Node};
use chimera_logic::printer::format_rules;
use chimera_logic::rules::RuleSet;
use chimera_logic::sat::{Answer, Budget, Solving};
use chimera_logic::syntax::Op;
use chimera_logic::truth::holds;

/// Rules that scenes are drawn under.
#[derive(Clone, Debug)]
pub struct HouseRules {
    set: RuleSet,
    /// The concepts of the rules, by their numbers.
    concepts: Vec<Concept>,
    /// Of each rule, whether looks alone decide it.
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

impl HouseRules {
    /// Rules over looks and, where scenes move, events.
    ///
    /// # Errors
    /// A concept that is no filter and no event, or one that such scenes do not have.
    pub fn new(set: RuleSet, moving: bool) -> Result<Self> {
        let names = set.dag.vocabulary().names();
        let concepts = names.map(Concept::named).collect::<Result<Vec<Concept>>>()?;
        Concept::check_distinct(&concepts)?;
        for concept in &concepts {
            let wrong = if concept.is_event() && !moving {
                "what can be seen in a still picture, got the event"
            } else if concept.size().is_some() && moving {
                "objects of one size, as all are in a clip, got the filter"
            } else {
                continue;
            };
            return Err(Error::input(format!("expected rules about {wrong} `{}`", concept.name()), None));
        }
        let is_early = |root| {
            let is_event = |node| match set.dag.node(node) {
                Node::Leaf(concept) => concepts[concept.index()].is_event(),
                Node::Gate(..) => false,
            };
            !set.dag.cone(&[root]).into_iter().any(is_event)
        };
        let early = set.roots().into_iter().map(is_early).collect();
        let alone = breakable_alone(&set, &concepts);
        Ok(Self { set, concepts, early, alone })
    }

    /// The concepts that rules speak of.
    #[must_use]
    pub fn concepts(&self) -> &[Concept] {
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

    /// Whether looks leave it possible that a wish comes true.
    #[must_use]
    pub fn may_fit(&self, wish: Wish, looks: &[Look]) -> bool {
        let labels: Vec<bool> = self.concepts.iter().map(|concept| concept.in_scene(looks).unwrap_or(false)).collect();
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

/// Of each rule, whether it can be broken while all others are kept, for all that concepts mean: what collides early collides.
fn breakable_alone(set: &RuleSet, concepts: &[Concept]) -> Vec<bool> {
    let mut dag = set.dag.clone();
    let names: Vec<String> = dag.vocabulary().names().map(str::to_owned).collect();
    let leaves: Vec<Option<Edge>> =
        names.iter().map(|name| dag.resolve(name).map(|concept| dag.leaf(concept))).collect();
    let mut meanings = Vec::new();
    for (one, concept) in concepts.iter().enumerate() {
        for (other, wider) in concepts.iter().enumerate() {
            if let (Some(narrow), Some(wide)) = (leaves[one], leaves[other])
                && one != other
                && concept.entails(wider)
            {
                meanings.extend(dag.gate(Op::Implies, vec![narrow, wide]));
            }
        }
    }
    let rules = set.roots();
    let mut solving = Solving::new(&dag, &[rules.as_slice(), &meanings].concat(), &Budget::new());
    let can_be = |rule: usize| {
        let mut wanted = rules.clone();
        wanted[rule] = wanted[rule].negate_if(true);
        wanted.extend(&meanings);
        !matches!(solving.together(&wanted), Answer::Clash(_))
    };
    (0..rules.len()).map(can_be).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
}

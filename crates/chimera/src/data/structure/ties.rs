//! Which concepts a hierarchy ties together: directly, or through classes that are no concepts.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::data::hierarchy::Hierarchy;

/// Ties between concepts by number, in order and each once.
pub(super) struct Ties {
    /// A concept and the nearest ones that it is a kind of.
    pub(super) kinds: Vec<(usize, usize)>,
    /// A concept and the nearest ones that it is a part of.
    pub(super) parts: Vec<(usize, usize)>,
    /// A concept and all that it is a kind of.
    pub(super) ancestors: BTreeSet<(usize, usize)>,
}

impl Ties {
    /// Concepts that are no classes of the hierarchy are tied to nothing.
    pub(super) fn between(hierarchy: &Hierarchy, concepts: &[String]) -> Self {
        let mut concept_of = vec![None; hierarchy.classes().len()];
        let classes: Vec<Option<usize>> = concepts.iter().map(|name| hierarchy.number(name)).collect();
        for (concept, class) in classes.iter().enumerate() {
            class.iter().for_each(|&class| concept_of[class] = Some(concept));
        }
        let above = hierarchy.ancestors();
        let is_kind = |one: usize, other: usize| {
            classes[one].zip(classes[other]).is_some_and(|(one, other)| above[one].contains(&other))
        };
        let known = || classes.iter().enumerate().filter_map(|(concept, class)| Some((concept, (*class)?)));
        let (mut kinds, mut parts, mut ancestors) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (concept, class) in known() {
            ancestors.extend(above[class].iter().filter_map(|&class| Some((concept, concept_of[class]?))));
            let nearest = Nearest::of(hierarchy, class, &concept_of);
            // What is above another of them is not the nearest.
            let reduced = |found: &BTreeSet<usize>| -> Vec<(usize, usize)> {
                let is_nearest = |one: &&usize| !found.iter().any(|&other| is_kind(other, **one));
                found.iter().filter(is_nearest).map(|&above| (concept, above)).collect()
            };
            kinds.extend(reduced(&nearest.kinds));
            parts.extend(reduced(&nearest.wholes));
        }
        Self { kinds, parts, ancestors }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.parts.is_empty()
    }

    /// For each parent its pairs of children of which neither is a kind of the other, the most common ones, at most `limit`.
    pub(super) fn sibling_pairs(&self, common: &[u64], names: &[String], limit: usize) -> Vec<(usize, usize, usize)> {
        let parents: BTreeSet<usize> = self.kinds.iter().map(|&(_, above)| above).collect();
        let mut pairs = Vec::new();
        for parent in parents {
            let children = self.kinds.iter().filter(|tie| tie.1 == parent).map(|tie| tie.0);
            let mut children: Vec<usize> = children.collect();
            children.sort_by_key(|&child| (Reverse(common[child]), &names[child]));
            let ranks = (0..children.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
            let tied = |one: usize, other: usize| self.ancestors.contains(&(one, other));
            let of_parent = ranks
                .map(|(earlier, later)| (parent, children[earlier], children[later]))
                .filter(|&(_, one, other)| !tied(one, other) && !tied(other, one));
            pairs.extend(of_parent.take(limit));
        }
        pairs
    }
}

/// The concepts that are met first on the ways up from a class.
#[derive(Default)]
struct Nearest {
    /// On ways of kinds alone.
    kinds: BTreeSet<usize>,
    /// On ways with a step from a part to its whole.
    wholes: BTreeSet<usize>,
}

impl Nearest {
    fn of(hierarchy: &Hierarchy, class: usize, concept_of: &[Option<usize>]) -> Self {
        let (mut nearest, mut seen) = (Self::default(), BTreeSet::new());
        let mut open = vec![(class, false)];
        while let Some((class, is_part)) = open.pop() {
            let class = &hierarchy.classes()[class];
            let kinds = class.is_a.iter().map(|&above| (above, is_part));
            for (above, is_part) in kinds.chain(class.part_of.iter().map(|&whole| (whole, true))) {
                match concept_of[above] {
                    Some(concept) if is_part => _ = nearest.wholes.insert(concept),
                    Some(concept) => _ = nearest.kinds.insert(concept),
                    None if seen.insert((above, is_part)) => open.push((above, is_part)),
                    None => {}
                }
            }
        }
        nearest
    }
}

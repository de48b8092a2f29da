//! Which concepts a hierarchy ties together: directly, or through classes that are no concepts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::dataset::hierarchy::Hierarchy;

/// A concept, one above it, and the classes on the way up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tie {
    pub(super) below: usize,
    pub(super) above: usize,
    /// Classes by number, none of them a concept; the shortest way there is.
    pub(super) through: Vec<usize>,
}

/// Ties between concepts by number, in order and each once.
pub(super) struct Ties {
    /// A concept and the nearest ones that it is a kind of.
    pub(super) kinds: Vec<Tie>,
    /// A concept and the nearest ones that it is a part of, or a part of a part of; or a part of a kind of.
    pub(super) parts: Vec<Tie>,
    /// A concept and the nearest ones that something it is a kind of is a part of. By Open Images sports equipment is a part of
    /// a building, and a bicycle is sports equipment: that a bicycle is a part of a building is nobody's word.
    pub(super) inferred: Vec<Tie>,
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
        let ancestors = hierarchy.ancestors_among(concepts);
        let mut ties = Self { kinds: Vec::new(), parts: Vec::new(), inferred: Vec::new(), ancestors };
        for (concept, class) in classes.iter().enumerate().filter_map(|(concept, class)| Some((concept, (*class)?))) {
            let Nearest { kinds, parts, mut inferred } = Nearest::of(hierarchy, class, &concept_of);
            inferred.retain(|above, _| !kinds.contains_key(above) && !parts.contains_key(above));
            // What is above another of them is not the nearest.
            let is_kind = |one: usize, other: usize| ties.ancestors.contains(&(one, other));
            let reduced = |found: Ways| -> Vec<Tie> {
                let above: Vec<usize> = found.keys().copied().collect();
                let is_nearest = |one: &usize| !above.iter().any(|&other| is_kind(other, *one));
                let nearest = found.into_iter().filter(|(above, _)| is_nearest(above));
                nearest.map(|(above, through)| Tie { below: concept, above, through }).collect()
            };
            let [kinds, parts, inferred] = [kinds, parts, inferred].map(reduced);
            ties.kinds.extend(kinds);
            ties.parts.extend(parts);
            ties.inferred.extend(inferred);
        }
        ties
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.parts.is_empty() && self.inferred.is_empty()
    }

    /// For each parent its pairs of children of which neither is a kind of the other, the most common ones, at most `limit`.
    pub(super) fn sibling_pairs(&self, common: &[u64], names: &[String], limit: usize) -> Vec<(usize, usize, usize)> {
        let parents: BTreeSet<usize> = self.kinds.iter().map(|tie| tie.above).collect();
        let mut pairs = Vec::new();
        for parent in parents {
            let children = self.kinds.iter().filter(|tie| tie.above == parent).map(|tie| tie.below);
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

/// Concepts by number, with the classes on the shortest way to each.
type Ways = BTreeMap<usize, Vec<usize>>;

/// The concepts that are met first on the ways up from a class.
#[derive(Default)]
struct Nearest {
    kinds: Ways,
    parts: Ways,
    inferred: Ways,
}

/// What a way up has been so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Start,
    /// Steps to what it is a kind of.
    Kinds,
    /// Steps to wholes.
    Wholes,
    /// Steps to wholes, and from there to what they are kinds of.
    KindsOfWholes,
    /// A step to a whole of something else than the class itself or its wholes.
    Inferred,
}

impl Way {
    fn then_kind(self) -> Self {
        match self {
            Self::Start | Self::Kinds => Self::Kinds,
            Self::Wholes | Self::KindsOfWholes => Self::KindsOfWholes,
            Self::Inferred => Self::Inferred,
        }
    }

    fn then_whole(self) -> Self {
        match self {
            Self::Start | Self::Wholes => Self::Wholes,
            Self::Kinds | Self::KindsOfWholes | Self::Inferred => Self::Inferred,
        }
    }
}

impl Nearest {
    fn of(hierarchy: &Hierarchy, class: usize, concept_of: &[Option<usize>]) -> Self {
        let (mut nearest, mut seen) = (Self::default(), BTreeSet::new());
        let mut open = VecDeque::from([(class, Way::Start, Vec::new())]);
        while let Some((class, way, through)) = open.pop_front() {
            let class = &hierarchy.classes()[class];
            let kinds = class.is_a.iter().map(|&above| (above, way.then_kind()));
            for (above, way) in kinds.chain(class.part_of.iter().map(|&whole| (whole, way.then_whole()))) {
                let Some(concept) = concept_of[above] else {
                    if seen.insert((above, way)) {
                        open.push_back((above, way, [through.as_slice(), &[above]].concat()));
                    }
                    continue;
                };
                let found = match way {
                    Way::Start | Way::Kinds => &mut nearest.kinds,
                    Way::Wholes | Way::KindsOfWholes => &mut nearest.parts,
                    Way::Inferred => &mut nearest.inferred,
                };
                // The first way that is found is the shortest.
                found.entry(concept).or_insert_with(|| through.clone());
            }
        }
        nearest
    }
}

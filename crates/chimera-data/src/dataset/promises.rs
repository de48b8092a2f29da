//! What labels can never break, because of how they were made: what is closed upwards over a hierarchy, and what concepts mean
//! (`red_cube` never holds without `red`, `rel:dog-chase-cat` never without `obj:dog`). A rule that follows from these tells
//! nothing about samples.

use std::collections::{BTreeMap, BTreeSet};

use chimera_logic::bits::TruthTable;
use chimera_logic::dag::{Dag, Edge, GateError};
use chimera_logic::syntax::Op;
use chimera_logic::truth::Program;

use crate::clevr::concept::Concept;
use crate::dataset::Dataset;
use crate::dataset::hierarchy::{HIERARCHY, Hierarchy};
use crate::error::{Error, Result};
use crate::table::LabelTable;

/// Why one concept never holds without another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Promise {
    /// Labels are closed upwards, and the one is a kind of the other.
    Closed,
    /// The importer labels it so: the one means the other and more.
    Meant,
}

impl Promise {
    /// The reason, to stand behind "it always holds, since".
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Closed => "labels are closed upwards",
            Self::Meant => "that is what concepts mean",
        }
    }
}

/// What to do about labels that are not closed.
pub(super) const UNCLOSED: &str =
    "mend the labels, or write `\"closed\": false` in `hierarchy.json`; `chimera data check` lists all";

/// What one concept never goes without: another, with everything that follows from that, or one of two others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Promises {
    pairs: BTreeMap<(usize, usize), Promise>,
    /// Where neither of the two is promised alone; the smaller number first.
    choices: BTreeMap<(usize, [usize; 2]), Promise>,
}

impl Promises {
    /// What the folder says: `hierarchy.json` where labels are closed, and the language of the importer's concepts.
    ///
    /// # Errors
    /// A hierarchy that cannot be read.
    pub fn of(dataset: &Dataset) -> Result<Self> {
        let concepts = &dataset.table().concepts;
        let mut promises = match dataset.manifest().provenance.importer.as_str() {
            "clevr" | "clevrer" => Self::of_solids(concepts),
            "vidor" => Self::of_relations(concepts),
            _ => Self::default(),
        };
        if dataset.folder().join(HIERARCHY).exists() {
            let hierarchy = Hierarchy::read(dataset.folder())?;
            let closed = Self::of_hierarchy(&hierarchy, concepts);
            promises.pairs.extend(closed.pairs.into_iter().filter(|_| hierarchy.closed));
        }
        Ok(promises.followed())
    }

    /// A concept and all that it is a kind of.
    pub(super) fn of_hierarchy(hierarchy: &Hierarchy, concepts: &[String]) -> Self {
        let pairs = hierarchy.ancestors_among(concepts).into_iter().map(|tie| (tie, Promise::Closed)).collect();
        Self { pairs, choices: BTreeMap::new() }
    }

    /// `blue_sphere` means `blue`; `collide_before_half(red,cube)` means `collide(red,cube)`.
    fn of_solids(names: &[String]) -> Self {
        let concepts: Vec<Option<Concept>> = names.iter().map(|name| Concept::parse(name).ok()).collect();
        let means = |one: usize, other: usize| {
            concepts[one].as_ref().zip(concepts[other].as_ref()).is_some_and(|(one, other)| one.entails(other))
        };
        let mut promises = Self::where_known(names.len(), Promise::Meant, means);
        let known: Vec<(usize, &Concept)> =
            concepts.iter().enumerate().filter_map(|(number, concept)| Some((number, concept.as_ref()?))).collect();
        for &(narrow, concept) in &known {
            let alone = |other: usize| narrow == other || promises.pairs.contains_key(&(narrow, other));
            for (at, &(one, first)) in known.iter().enumerate().filter(|(_, (one, _))| !alone(*one)) {
                for &(other, second) in known[at + 1..].iter().filter(|(other, _)| !alone(*other)) {
                    if concept.entails_either(first, second) {
                        promises.choices.insert((narrow, [one, other]), Promise::Meant);
                    }
                }
            }
        }
        promises
    }

    /// `rel:dog-chase-cat` means `obj:dog` and `obj:cat`.
    fn of_relations(names: &[String]) -> Self {
        let ends = |name: &String| -> Option<[String; 2]> {
            let parts: Vec<&str> = name.strip_prefix("rel:")?.split('-').collect();
            let [subject, _, object] = parts[..] else { return None };
            Some([subject, object].map(|category| format!("obj:{category}")))
        };
        let ends: Vec<Option<[String; 2]>> = names.iter().map(ends).collect();
        let means = |one: usize, other: usize| ends[one].as_ref().is_some_and(|ends| ends.contains(&names[other]));
        Self::where_known(names.len(), Promise::Meant, means)
    }

    fn where_known(concepts: usize, promise: Promise, holds: impl Fn(usize, usize) -> bool) -> Self {
        let all = (0..concepts).flat_map(|one| (0..concepts).map(move |other| (one, other)));
        let pairs = all.filter(|&(one, other)| one != other && holds(one, other)).map(|at| (at, promise)).collect();
        Self { pairs, choices: BTreeMap::new() }
    }

    /// The same with what follows through others.
    fn followed(mut self) -> Self {
        let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        self.pairs.keys().for_each(|&(one, other)| next.entry(one).or_default().push(other));
        for &start in next.keys() {
            let (mut found, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(concept) = open.pop() {
                open.extend(next.get(&concept).into_iter().flatten().filter(|&&above| found.insert(above)));
            }
            for above in found.into_iter().filter(|&above| above != start) {
                self.pairs.entry((start, above)).or_insert(Promise::Meant);
            }
        }
        self
    }

    /// Promises of meaning: of each pair, the first concept never holds without the second.
    #[must_use]
    #[doc(hidden)]
    pub fn promising(pairs: &[(usize, usize)]) -> Self {
        Self { pairs: pairs.iter().map(|&pair| (pair, Promise::Meant)).collect(), choices: BTreeMap::new() }.followed()
    }

    /// Why the first concept never holds without the second; `None` where nothing promises it.
    #[must_use]
    pub fn get(&self, narrow: usize, wide: usize) -> Option<Promise> {
        self.pairs.get(&(narrow, wide)).copied()
    }

    /// Why the first concept never holds without one of two others, neither of which is promised alone; `None` where nothing
    /// promises it.
    #[must_use]
    pub fn either(&self, narrow: usize, [one, other]: [usize; 2]) -> Option<Promise> {
        self.choices.get(&(narrow, [one.min(other), one.max(other)])).copied()
    }

    /// The concepts of each promise, in order: what is promised for the first of them, one or two.
    pub fn concepts(&self) -> impl Iterator<Item = Vec<usize>> {
        let pairs = self.pairs.keys().map(|&(narrow, wide)| vec![narrow, wide]);
        pairs.chain(self.choices.keys().map(|&(narrow, [one, other])| vec![narrow, one, other]))
    }

    /// The promises as formulas, in the order of [`Self::concepts`].
    ///
    /// # Errors
    /// A concept that the graph does not know, and as [`Dag::gate`].
    pub fn axioms(&self, dag: &mut Dag, concepts: &[String]) -> Result<Vec<Edge>> {
        let unsaid = |promised: &[usize], why: &str| {
            let names: Vec<String> = promised.iter().map(|&concept| format!("`{}`", concepts[concept])).collect();
            Error::input(format!("cannot say what {} mean: {why}", names.join(", ")), None)
        };
        let mut axioms = Vec::new();
        for promised in self.concepts() {
            let leaf = |concept: &usize| dag.resolve(&concepts[*concept]).map(|concept| dag.leaf(concept));
            let leaves: Option<Vec<Edge>> = promised.iter().map(leaf).collect();
            let leaves = leaves.ok_or_else(|| unsaid(&promised, "the rules know no such concept"))?;
            axioms.push(promise_of(dag, &leaves).map_err(|error| unsaid(&promised, &error.to_string()))?);
        }
        Ok(axioms)
    }

    /// Makes sure that these labels keep what is promised of them.
    ///
    /// # Errors
    /// The first promise that rows break, with their number.
    pub fn check(&self, table: &LabelTable, labels: &TruthTable) -> Result<()> {
        let mut dag = Dag::new(table.vocabulary());
        let axioms = self.axioms(&mut dag, &table.concepts)?;
        let truth = Program::compile(&dag, &axioms).evaluate(labels);
        for ((column, &axiom), promise) in
            axioms.iter().enumerate().zip(self.pairs.values().chain(self.choices.values()))
        {
            let broken = truth.counts(column).fails;
            if broken > 0 {
                let (path, rule) = (table.path.display(), dag.text(axiom));
                let (expected, hint) = match promise {
                    Promise::Closed => ("that are closed upwards", UNCLOSED),
                    Promise::Meant => (
                        "that mean what their importer says",
                        "mend the labels, or remove `importer` from `dataset.toml` if they mean something else",
                    ),
                };
                let message = format!("expected labels in `{path}` {expected}, got {broken} rows that break `{rule}`");
                return Err(Error::input(message, Some(hint.to_owned())));
            }
        }
        Ok(())
    }
}

/// `narrow => wide`, or `narrow => one | other`: the first leaf promises one of the others.
fn promise_of(dag: &mut Dag, leaves: &[Edge]) -> std::result::Result<Edge, GateError> {
    match *leaves {
        [narrow, one, other] => {
            let either = dag.gate(Op::Or, vec![one, other])?;
            dag.gate(Op::Implies, vec![narrow, either])
        }
        _ => dag.gate(Op::Implies, leaves.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chimera_logic::vocabulary::Vocabulary;

    fn promised(promises: &Promises, names: &[String]) -> Vec<String> {
        let mut dag = Dag::new(Vocabulary::closed(names.to_vec(), "the test"));
        promises.axioms(&mut dag, names).unwrap().into_iter().map(|axiom| dag.text(axiom)).collect()
    }

    #[test]
    fn concepts_promise_what_they_mean() {
        let names = ["red", "red_cube", "enter(red_cube)", "blue"].map(str::to_owned);
        let expected = ["red_cube => red", "enter(red_cube) => red", "enter(red_cube) => red_cube"];
        assert_eq!(promised(&Promises::of_solids(&names), &names), expected);
        let names = ["enter(red)", "entered_then_collided(cube,red)", "enter(cube)", "enter(blue)"].map(str::to_owned);
        let solids = Promises::of_solids(&names);
        assert_eq!(promised(&solids, &names), ["entered_then_collided(cube,red) => enter(cube) | enter(red)"]);
        assert_eq!((solids.either(1, [2, 0]), solids.either(1, [0, 3])), (Some(Promise::Meant), None));
        let names = ["obj:dog", "rel:dog-chase-cat", "obj:cat", "rel:a-b", "rel:sea-dog-bite-cat"].map(str::to_owned);
        let expected = ["rel:dog-chase-cat => obj:dog", "rel:dog-chase-cat => obj:cat"];
        assert_eq!(promised(&Promises::of_relations(&names), &names), expected);
    }

    #[test]
    fn what_follows_through_others_is_promised_too() {
        let pairs = [((0, 1), Promise::Meant), ((1, 2), Promise::Closed), ((2, 3), Promise::Closed)];
        let promises = Promises { pairs: pairs.into(), ..Promises::default() }.followed();
        let all: Vec<Vec<usize>> = promises.concepts().collect();
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!((promises.get(1, 2), promises.get(2, 0)), (Some(Promise::Closed), None));
        // What cannot be said is an error, and not a promise fewer.
        let names = ["a", "b"].map(str::to_owned);
        let mut dag = Dag::new(Vocabulary::closed(names[..1].to_vec(), "the test"));
        let error = Promises::promising(&[(0, 1)]).axioms(&mut dag, &names).unwrap_err().to_string();
        assert_eq!(error, "cannot say what `a`, `b` mean: the rules know no such concept");
        // A circle ends, and nothing promises itself.
        let circle = Promises::promising(&[(0, 1), (1, 0)]);
        assert_eq!(circle.concepts().count(), 2);
    }
}

//! Which concepts become columns: the paper's six, all looks that occur, names of the user's and of a rule file, and of
//! videos the events of the pairs that collide most.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::Content;
use crate::clevr::concept::{Concept, PRESET};
use crate::clevr::look::{Color, Look, Material, ObjectSize, Shape};
use crate::dataset::manifest::Kind;
use crate::error::{Error, Result, shown};
use crate::import::RuleConcepts;

/// Pairs whose events are added where nobody asked for certain concepts.
const EVENT_PAIRS: usize = 8;

/// One word of `--concepts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConceptChoice {
    /// The six of the paper.
    Preset,
    /// Every colour, material, shape and size, and every colour with every shape, that occur in train.
    All,
    /// One by its name.
    Named(String),
}

impl ConceptChoice {
    /// Reads `preset`, `all` or a list of names. A comma inside parentheses belongs to a name.
    #[must_use]
    pub fn parse_list(text: &str) -> Vec<Self> {
        let (mut depth, mut words) = (0_i32, vec![String::new()]);
        for character in text.chars() {
            depth += i32::from(character == '(') - i32::from(character == ')');
            match words.last_mut() {
                Some(word) if character != ',' || depth > 0 => word.push(character),
                _ => words.push(String::new()),
            }
        }
        let choice = |word: &String| match word.trim() {
            "preset" => Self::Preset,
            "all" => Self::All,
            name => Self::Named(name.to_owned()),
        };
        words.iter().map(choice).collect()
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Preset => "preset",
            Self::All => "all",
            Self::Named(name) => name,
        }
    }
}

/// Which concepts to label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConceptOptions {
    /// What was asked for; the preset where that is nothing.
    pub choices: Vec<ConceptChoice>,
    /// What rules need, too.
    pub rules: Option<RuleConcepts>,
    /// Of videos: add the events of so many pairs of colour and shape, those that collide in most train samples. By default 8
    /// with the preset or all, else 0.
    pub max_event_pairs: Option<usize>,
}

impl ConceptOptions {
    fn choices(&self) -> &[ConceptChoice] {
        if self.choices.is_empty() { &[ConceptChoice::Preset] } else { &self.choices }
    }

    /// For the manifest.
    pub(super) fn chosen(&self) -> Vec<(&'static str, String)> {
        let names: Vec<&str> = self.choices().iter().map(ConceptChoice::as_str).collect();
        let mut chosen = vec![("concepts", names.join(","))];
        chosen.extend(self.rules.as_ref().map(RuleConcepts::chosen));
        chosen.extend(self.max_event_pairs.map(|pairs| ("max-event-pairs", pairs.to_string())));
        chosen
    }

    /// Refuses names that mean nothing for this kind of media. To be called before anything slow.
    pub(in super::super) fn check(&self, kind: Kind) -> Result<()> {
        self.settle(kind, &[]).map(|_| ())
    }

    /// The concepts in the order of their columns, each once; `learned` are the samples to learn from. Names that somebody
    /// wrote come before those that would stand for the same.
    pub(super) fn settle(&self, kind: Kind, learned: &[&Content]) -> Result<Vec<Concept>> {
        let written = self.written(kind)?;
        let mut concepts: IndexMap<String, Concept> = IndexMap::new();
        let mut add = |concept: Concept| {
            let concept = written.iter().find(|written| written.means_same(&concept)).unwrap_or(&concept);
            if !concepts.values().any(|before| before.means_same(concept)) {
                concepts.insert(concept.name().to_owned(), concept.clone());
            }
        };
        for choice in self.choices() {
            match choice {
                ConceptChoice::Preset => {
                    PRESET.iter().try_for_each(|name| Concept::parse(name).map(&mut add))?;
                }
                ConceptChoice::All => {
                    occurring(learned).iter().try_for_each(|name| Concept::parse(name).map(&mut add))?;
                }
                ConceptChoice::Named(name) => add(Concept::parse(name)?),
            }
        }
        written.iter().cloned().for_each(&mut add);
        let is_open = self.choices().iter().any(|choice| !matches!(choice, ConceptChoice::Named(_)));
        let pairs = self.max_event_pairs.unwrap_or(if is_open { EVENT_PAIRS } else { 0 });
        if kind == Kind::Video {
            events(learned, pairs).iter().try_for_each(|name| Concept::parse(name).map(&mut add))?;
        }
        Ok(concepts.into_values().collect())
    }
}

impl ConceptOptions {
    /// Concepts that somebody named, on the command line or in rules.
    fn written(&self, kind: Kind) -> Result<Vec<Concept>> {
        let mut concepts = Vec::new();
        for choice in self.choices() {
            if let ConceptChoice::Named(name) = choice {
                concepts.push(checked(name, kind)?);
            }
        }
        for name in self.rules.iter().flat_map(|rules| &rules.names) {
            let refused = |message: String| {
                let file = self.rules.as_ref().map(|rules| rules.file.display().to_string()).unwrap_or_default();
                format!("cannot label `{}`, which `{file}` names: {message}", shown(name))
            };
            let concept = Concept::named(name).and_then(|_| checked(name, kind)).map_err(|error| match error {
                Error::Input { message, hint } => Error::Input { message: refused(message), hint },
                other => other,
            })?;
            concepts.push(concept);
        }
        Concept::check_distinct(&concepts)?;
        Ok(concepts)
    }
}

/// A concept that this kind of media can tell.
fn checked(name: &str, kind: Kind) -> Result<Concept> {
    let concept = Concept::parse(name)?;
    if concept.is_event() && kind != Kind::Video {
        let message = format!("expected concepts of pictures, such as `blue_sphere`, got the event `{}`", shown(name));
        return Err(Error::input(message, Some("only videos tell what happens: `chimera import clevrer`".to_owned())));
    }
    if let Some(size) = concept.size().filter(|_| kind == Kind::Video) {
        let message = format!("expected concepts without sizes, got `{size}` in `{}`", shown(name));
        return Err(Error::input(message, Some("all objects of CLEVRER have one size".to_owned())));
    }
    Ok(concept)
}

/// The names of all looks that occur.
fn occurring(samples: &[&Content]) -> Vec<String> {
    let looks: BTreeSet<Look> = samples.iter().flat_map(|content| content.looks()).collect();
    let met = |is_so: &dyn Fn(&Look) -> bool| looks.iter().any(is_so);
    let mut names = Vec::new();
    names.extend(Color::ALL.iter().filter(|&&color| met(&|look| look.color == color)).map(|color| color.as_str()));
    let materials = Material::ALL.iter().filter(|&&material| met(&|look| look.material == material));
    names.extend(materials.map(|material| material.as_str()));
    names.extend(Shape::ALL.iter().filter(|&&shape| met(&|look| look.shape == shape)).map(|shape| shape.as_str()));
    let sizes = ObjectSize::ALL.iter().filter(|&&size| met(&|look| look.size == Some(size)));
    names.extend(sizes.map(|size| size.as_str()));
    let pairs = Color::ALL.into_iter().flat_map(|color| Shape::ALL.map(|shape| (color, shape)));
    let pairs = pairs.filter(|&(color, shape)| met(&|look| (look.color, look.shape) == (color, shape)));
    names.into_iter().map(str::to_owned).chain(pairs.map(|(color, shape)| format!("{color}_{shape}"))).collect()
}

/// The names of events of the pairs that collide in most samples, a colour and a shape each.
fn events(samples: &[&Content], most: usize) -> Vec<String> {
    let mut counts: BTreeMap<[&str; 2], usize> = BTreeMap::new();
    for content in samples {
        let Content::Clip(clip) = content else { continue };
        let met = clip.collisions.iter().flat_map(|collision| {
            let [one, other] = collision.things.map(|thing| clip.things[thing].look);
            [[one.color.as_str(), other.shape.as_str()], [other.color.as_str(), one.shape.as_str()]]
        });
        let met: BTreeSet<[&str; 2]> = met
            .map(|mut pair| {
                pair.sort_unstable();
                pair
            })
            .collect();
        met.into_iter().for_each(|pair| *counts.entry(pair).or_default() += 1);
    }
    let mut pairs: Vec<([&str; 2], usize)> = counts.into_iter().collect();
    // Pairs are in the order of their names, which stays between equal counts.
    pairs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    pairs.truncate(most);
    let mut names = Vec::new();
    for ([one, other], _) in &pairs {
        for event in ["collide", "collide_before_half", "entered_then_collided"] {
            names.push(format!("{event}({one},{other})"));
        }
    }
    let words: BTreeSet<&str> = pairs.iter().flat_map(|(pair, _)| *pair).collect();
    names.extend(words.into_iter().flat_map(|word| [format!("enter({word})"), format!("exit({word})")]));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_in_parentheses_belongs_to_a_name() {
        let named = |name: &str| ConceptChoice::Named(name.to_owned());
        assert_eq!(
            ConceptChoice::parse_list("preset, collide(red, cube),enter(red)"),
            [ConceptChoice::Preset, named("collide(red, cube)"), named("enter(red)")]
        );
        assert_eq!(ConceptChoice::parse_list("all"), [ConceptChoice::All]);
        assert_eq!(ConceptChoice::parse_list("red,,"), [named("red"), named(""), named("")]);
    }
}

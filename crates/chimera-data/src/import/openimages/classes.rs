//! The classes of Open Images: their names (`class-descriptions-boxable.csv`) and their hierarchy
//! (`bbox_labels_600_hierarchy.json`), a tree in which a class with several parents stands at several places.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

use csv::ReaderBuilder;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::Deserialize;

use crate::dataset::hierarchy::{Hierarchy, Relation};
use crate::error::{Error, Result, lower_first, shown};
use crate::file::open_regular;
use crate::import::RuleConcepts;
use crate::import::note::{Note, met};

/// Header of the newer files of names.
const HEADER: [&str; 2] = ["LabelName", "DisplayName"];

/// Classes by number: those that have a name come first.
pub(super) struct Classes {
    pub(super) hierarchy: Hierarchy,
    /// Numbers by id, of classes that have a name.
    numbers: HashMap<String, u32, FixedState>,
}

impl Classes {
    /// Reads both files; notes what is odd about them.
    pub(super) fn read(names: &Path, tree: &Path, notes: &mut Vec<Note>) -> Result<Self> {
        let described = descriptions(names, notes)?;
        let mut hierarchy = Hierarchy::default();
        let mut numbers = HashMap::default();
        for (id, name) in described {
            // Names were told apart by their ids; only a name that looks like that by itself can still come twice.
            let number = hierarchy.add(&name, Some(id.clone())).ok_or_else(|| {
                let message =
                    format!("expected one class called `{}` in `{}`, got another", shown(&name), names.display());
                Error::input(message, Some(format!("give `{}` another name there", shown(&id))))
            })?;
            numbers.insert(id, number as u32);
        }
        hierarchy.closed = true;
        let mut classes = Self { hierarchy, numbers };
        classes.take_tree(tree, notes)?;
        Ok(classes)
    }

    /// The number of a class that has a name.
    pub(super) fn number(&self, id: &[u8]) -> Option<u32> {
        self.numbers.get(std::str::from_utf8(id).ok()?).copied()
    }

    /// What a class is called.
    pub(super) fn name(&self, number: usize) -> &str {
        &self.hierarchy.classes()[number].name
    }

    /// The classes that rules name; `names` is the file with all names.
    ///
    /// # Errors
    /// A name that no class has.
    pub(super) fn of_rules(&self, rules: &RuleConcepts, names: &Path) -> Result<Vec<usize>> {
        // What has no name comes last, under its id.
        let number = |name: &String| self.hierarchy.number(name).filter(|number| *number < self.numbers.len());
        let unknown = |name: &String| {
            let known = (0..self.numbers.len()).map(|number| self.name(number).to_owned());
            let hint = "no class is called so there: take out the rules that speak of it, or name another file with `--classes`";
            rules.unknown(&format!("classes of `{}` in the rules", names.display()), name, known, hint)
        };
        rules.names.iter().map(|name| number(name).ok_or_else(|| unknown(name))).collect()
    }

    fn take_tree(&mut self, path: &Path, notes: &mut Vec<Note>) -> Result<()> {
        let file = open_regular(path).map_err(|cause| Error::read(path, cause))?;
        let root: Branch = serde_json::from_reader(BufReader::new(file)).map_err(|error| {
            let words = lower_first(&error.to_string());
            let hint = "expected Open Images' hierarchy: objects with `LabelName`, and lists `Subcategory` and `Part`";
            Error::input(format!("cannot read `{}`: {words}", path.display()), Some(hint.to_owned()))
        })?;
        let mut places: BTreeMap<usize, usize> = BTreeMap::new();
        let mut nameless = BTreeMap::new();
        let root = self.take(&root, path, &mut places, &mut nameless)?;
        self.hierarchy.refuse_circle(path)?;
        // The root of all things has no name in Open Images either.
        nameless.retain(|_, number| *number != root);
        let mut unnamed = Note::about(
            "class of the hierarchy has no name: rows that show it cannot be used",
            "classes of the hierarchy have no name: rows that show them cannot be used",
        );
        nameless.keys().for_each(|id| unnamed.add(|| shown(id)));
        let mut outside = Note::about(
            "class has no place in the hierarchy: nothing is above or below it",
            "classes have no place in the hierarchy: nothing is above or below them",
        );
        let is_outside = |number: &u32| !places.contains_key(&(*number as usize));
        (0..self.numbers.len() as u32).filter(is_outside).for_each(|number| {
            outside.add(|| self.name(number as usize).to_owned());
        });
        let repeated = places.values().filter(|&&places| places > 1).count();
        let repeated = Note::of(
            repeated,
            "class stands at several places of the hierarchy: what is above it at any place counts",
            "classes stand at several places of the hierarchy: what is above them at any place counts",
        );
        notes.extend(met([unnamed, outside, repeated]));
        Ok(())
    }

    /// Takes a branch with all below it and gives the number of its class. The reader of JSON bounds the depth.
    fn take(
        &mut self,
        branch: &Branch,
        path: &Path,
        places: &mut BTreeMap<usize, usize>,
        nameless: &mut BTreeMap<String, usize>,
    ) -> Result<usize> {
        let id = &branch.label;
        let known = self.numbers.get(id).map(|&number| number as usize).or_else(|| nameless.get(id).copied());
        let number = match known {
            Some(number) => number,
            None => {
                let added = self.hierarchy.add(id, Some(id.clone()));
                let number = added.ok_or_else(|| {
                    let message =
                        format!("expected ids of classes in `{}`, got the name `{}`", path.display(), shown(id));
                    Error::input(message, None)
                })?;
                nameless.insert(id.clone(), number);
                number
            }
        };
        *places.entry(number).or_default() += 1;
        for (relation, below) in [(Relation::IsA, &branch.kinds), (Relation::PartOf, &branch.parts)] {
            for branch in below {
                let class = self.take(branch, path, places, nameless)?;
                self.hierarchy.tie(class, relation, number);
            }
        }
        Ok(number)
    }
}

/// One place of the tree.
#[derive(Deserialize)]
struct Branch {
    #[serde(rename = "LabelName")]
    label: String,
    #[serde(rename = "Subcategory", default)]
    kinds: Vec<Branch>,
    #[serde(rename = "Part", default)]
    parts: Vec<Branch>,
}

/// Ids with names, in the order of the file. Where classes share a name, their ids are added to it.
fn descriptions(path: &Path, notes: &mut Vec<Note>) -> Result<Vec<(String, String)>> {
    let file = open_regular(path).map_err(|cause| Error::read(path, cause))?;
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file);
    let mut described: Vec<(String, String)> = Vec::new();
    let (mut ids, mut names): (BTreeMap<String, u64>, BTreeMap<String, usize>) = (BTreeMap::new(), BTreeMap::new());
    for (row, record) in reader.records().enumerate() {
        let wrong = |line: u64, got: String| {
            let message = format!("expected an id and a name on line {line} of `{}`, got {got}", path.display());
            Error::input(message, Some("lines are such as `/m/0199g,Bicycle`, each id once".to_owned()))
        };
        let record = record.map_err(|error| wrong(row as u64 + 1, lower_first(&error.to_string())))?;
        let line = record.position().map_or(0, csv::Position::line);
        let (id, name) = (record.get(0).unwrap_or_default().trim(), record.get(1).unwrap_or_default().trim());
        if row == 0 && [id, name] == HEADER {
            continue;
        }
        if id.is_empty() || name.is_empty() || record.len() != 2 {
            return Err(wrong(line, format!("`{}`", shown(&record.iter().collect::<Vec<_>>().join(",")))));
        }
        if let Some(before) = ids.insert(id.to_owned(), line) {
            return Err(wrong(line, format!("`{}` again, as on line {before}", shown(id))));
        }
        *names.entry(name.to_owned()).or_default() += 1;
        described.push((id.to_owned(), name.to_owned()));
    }
    if described.is_empty() {
        return Err(Error::input(format!("expected names of classes in `{}`, got none", path.display()), None));
    }
    let mut alike = Note::new("classes share a name: their ids are added to it");
    for (id, name) in &mut described {
        if names.get(name).is_some_and(|&count| count > 1) {
            *name = format!("{name} ({id})");
            alike.add(|| name.clone());
        }
    }
    notes.extend((alike.count > 0).then_some(alike));
    Ok(described)
}

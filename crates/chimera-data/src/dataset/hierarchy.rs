//! Which class is a kind of which, and which a part of which: the hierarchy beside a dataset's labels, `hierarchy.json`.
//!
//! ```json
//! {"closed": true, "classes": [
//!   {"name": "Vehicle"}, {"name": "Bicycle", "id": "/m/0199g", "is_a": ["Vehicle"]},
//!   {"name": "Bicycle wheel", "part_of": ["Bicycle"]}]}
//! ```

mod closure;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use chimera_logic::vocabulary::Vocabulary;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, lower_first, shown};

/// The file's name inside a dataset folder.
pub(crate) const HIERARCHY: &str = "hierarchy.json";

/// What the manifest calls the number of concepts that `top` gave: fewer where train pictures show fewer classes.
pub(crate) const TOP_FOUND: &str = "top-found";

/// A file, for hints.
const EXAMPLE: &str = r#"{"closed": false, "classes": [{"name": "Vehicle"}, {"name": "Car", "is_a": ["Vehicle"]}]}"#;

/// What ties one class to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A bicycle is a vehicle.
    IsA,
    /// A wheel is a part of a bicycle.
    PartOf,
}

/// A class of things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// What rules call it.
    pub name: String,
    /// What its source calls it.
    pub id: Option<String>,
    /// Numbers of the classes that it is a kind of, directly; each once, in order.
    pub is_a: BTreeSet<usize>,
    /// Numbers of the classes that it is a part of, directly; each once, in order.
    pub part_of: BTreeSet<usize>,
}

/// Classes by number, with what ties them together. A class may have several parents; none is its own ancestor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// Whether labels that go with it are closed: a sample that shows a class shows all classes that it is a kind of.
    pub closed: bool,
    classes: Vec<Class>,
    numbers: BTreeMap<String, usize>,
}

impl Hierarchy {
    /// The classes in the order of their numbers.
    #[must_use]
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// The number of the class of a name.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Adds a class that nothing is tied to yet and gives its number; `None` if its name is taken.
    pub fn add(&mut self, name: &str, id: Option<String>) -> Option<usize> {
        let number = self.classes.len();
        if self.numbers.contains_key(name) {
            return None;
        }
        self.numbers.insert(name.to_owned(), number);
        self.classes.push(Class { name: name.to_owned(), id, ..Class::default() });
        Some(number)
    }

    /// Ties a class to one above it. That it makes no circle is for [`Self::circle`] to say.
    pub fn tie(&mut self, class: usize, relation: Relation, above: usize) {
        match relation {
            Relation::IsA => self.classes[class].is_a.insert(above),
            Relation::PartOf => self.classes[class].part_of.insert(above),
        };
    }

    fn above(&self, class: usize, relation: Relation) -> &BTreeSet<usize> {
        match relation {
            Relation::IsA => &self.classes[class].is_a,
            Relation::PartOf => &self.classes[class].part_of,
        }
    }

    /// For each class the classes that it is a kind of, directly or through others, itself left out.
    #[must_use]
    pub fn ancestors(&self) -> Vec<BTreeSet<usize>> {
        let of = |class: usize| {
            let (mut found, mut open) = (BTreeSet::new(), vec![class]);
            while let Some(class) = open.pop() {
                open.extend(self.classes[class].is_a.iter().filter(|&&above| found.insert(above)));
            }
            found
        };
        (0..self.classes.len()).map(of).collect()
    }

    /// Names along a way that leads from a class back to it by one relation, if there is one.
    #[must_use]
    pub fn circle(&self) -> Option<Vec<&str>> {
        [Relation::IsA, Relation::PartOf].into_iter().find_map(|relation| self.circle_of(relation))
    }

    fn circle_of(&self, relation: Relation) -> Option<Vec<&str>> {
        // What nothing lies above is taken away until nothing more can be; what is left is or leads into a circle.
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); self.classes.len()];
        let mut left: Vec<usize> = (0..below.len()).map(|class| self.above(class, relation).len()).collect();
        (0..below.len()).for_each(|class| self.above(class, relation).iter().for_each(|&up| below[up].push(class)));
        let mut open: Vec<usize> = (0..left.len()).filter(|&class| left[class] == 0).collect();
        while let Some(class) = open.pop() {
            for &under in &below[class] {
                left[under] -= 1;
                open.extend((left[under] == 0).then_some(under));
            }
        }
        let mut way = vec![(0..left.len()).find(|&class| left[class] > 0)?];
        loop {
            let last = *way.last()?;
            let next = *self.above(last, relation).iter().find(|&&above| left[above] > 0)?;
            if let Some(start) = way.iter().position(|&class| class == next) {
                way.push(next);
                return Some(way[start..].iter().map(|&class| self.classes[class].name.as_str()).collect());
            }
            way.push(next);
        }
    }

    /// Refuses a hierarchy with a circle; `path` is the file that it comes from.
    pub(crate) fn refuse_circle(&self, path: &Path) -> Result<()> {
        let Some(circle) = self.circle() else { return Ok(()) };
        let message = format!("expected no class above itself in `{}`, got {}", path.display(), circle.join(" below "));
        Err(Error::input(message, Some("remove one of these ties".to_owned())))
    }

    /// Reads `hierarchy.json` of a dataset folder.
    ///
    /// # Errors
    /// A file that is missing or wrong: names twice, ties to what is no class, a class above itself.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(HIERARCHY);
        let text = fs::read_to_string(&path).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => {
                let message = format!("expected `{HIERARCHY}` in `{}`, got none", folder.display());
                let hint = format!("`chimera import openimages` writes one; your own is such as {EXAMPLE}");
                Error::input(message, Some(hint))
            }
            _ => Error::read(&path, cause),
        })?;
        let stored: Stored = serde_json::from_str(&text).map_err(|error| {
            let words = lower_first(&error.to_string());
            let hint = format!("expected such as {EXAMPLE}");
            Error::input(format!("cannot read `{}`: {words}", path.display()), Some(hint))
        })?;
        let mut hierarchy = Self { closed: stored.closed, ..Self::default() };
        for class in &stored.classes {
            if hierarchy.add(&class.name, class.id.clone()).is_none() {
                let message =
                    format!("expected a class once in `{}`, got `{}` again", path.display(), shown(&class.name));
                return Err(Error::input(message, None));
            }
        }
        let mut strangers = Vec::new();
        for (number, class) in stored.classes.iter().enumerate() {
            let ties = [(Relation::IsA, &class.is_a), (Relation::PartOf, &class.part_of)];
            for (relation, name) in ties.iter().flat_map(|(relation, names)| names.iter().map(|name| (*relation, name)))
            {
                match hierarchy.number(name) {
                    Some(above) => hierarchy.tie(number, relation, above),
                    None => strangers.push((class.name.as_str(), name.as_str())),
                }
            }
        }
        hierarchy.refuse_strangers(&strangers, &path)?;
        hierarchy.refuse_circle(&path)?;
        Ok(hierarchy)
    }

    /// Refuses ties to what is no class; each with the class that is tied.
    fn refuse_strangers(&self, strangers: &[(&str, &str)], path: &Path) -> Result<()> {
        let Some((of, name)) = strangers.first() else { return Ok(()) };
        let more = match strangers.len() - 1 {
            0 => String::new(),
            1 => "; 1 other tie leads to no class, too".to_owned(),
            more => format!("; {more} other ties lead to no class, too"),
        };
        let others = self.classes.iter().map(|class| class.name.clone()).filter(|other| other != of);
        let names = Vocabulary::closed(others, String::new());
        let (path, of, got) = (path.display(), shown(of), shown(name));
        let message = format!("expected a class of `{path}` above `{of}`, got `{got}`{more}");
        let hint = match names.nearest(name) {
            Some(near) => format!("did you mean `{}`? Otherwise list `{got}` in `classes`, too", shown(near)),
            None => "list it in `classes`, too".to_owned(),
        };
        Err(Error::input(message, Some(hint)))
    }

    /// Writes the text of `hierarchy.json`, a class a line.
    ///
    /// # Errors
    /// What the system said.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = |numbers: &BTreeSet<usize>| numbers.iter().map(|&above| self.classes[above].name.clone()).collect();
        write!(out, "{{\"closed\": {}, \"classes\": [", self.closed)?;
        for (number, class) in self.classes.iter().enumerate() {
            let (name, id) = (class.name.clone(), class.id.clone());
            let stored = StoredClass { name, id, is_a: names(&class.is_a), part_of: names(&class.part_of) };
            write!(out, "{}\n  {}", if number > 0 { "," } else { "" }, serde_json::to_string(&stored)?)?;
        }
        writeln!(out, "\n]}}")
    }
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default)]
    closed: bool,
    classes: Vec<StoredClass>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredClass {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    is_a: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    part_of: Vec<String>,
}

#[cfg(test)]
mod tests;

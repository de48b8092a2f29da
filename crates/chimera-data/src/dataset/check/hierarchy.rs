//! What is wrong with a dataset's `hierarchy.json`, and with labels under it.

use chimera_logic::vocabulary::Vocabulary;

use super::{Finding, FindingKind, Listed, Severity};
use crate::dataset::Dataset;
use crate::dataset::hierarchy::{HIERARCHY, Hierarchy};

/// Findings about the hierarchy; none where there is none.
pub(super) fn check(dataset: &Dataset) -> Vec<Finding> {
    if !dataset.folder().join(HIERARCHY).exists() {
        return Vec::new();
    }
    let hierarchy = match Hierarchy::read(dataset.folder()) {
        Ok(hierarchy) => hierarchy,
        Err(error) => return vec![Finding::new(FindingKind::Hierarchy, Severity::Error, error.to_string(), 1)],
    };
    let concepts = &dataset.table().concepts;
    let broken = hierarchy.broken_ties(dataset.table()).into_iter().map(|tie| {
        let reason = Some(tie.in_words());
        Listed { reason, ..Listed::named(tie.rule) }
    });
    let unclosed = [
        "tie of `hierarchy.json` is broken by labels, which it says are closed upwards",
        "ties of `hierarchy.json` are broken by labels, which it says are closed upwards",
    ];
    let unclosed = Finding::about(FindingKind::UnclosedLabels, Severity::Error, unclosed, broken.collect());
    let classes = Vocabulary::closed(hierarchy.classes().iter().map(|class| class.name.clone()), String::new());
    let outside = concepts.iter().filter(|concept| hierarchy.number(concept).is_none()).map(|concept| {
        let reason = classes.nearest(concept).map(|near| format!("there is a class `{near}`"));
        Listed { reason, ..Listed::named(concept) }
    });
    let without = [
        "concept is no class of `hierarchy.json`: nothing is a kind or a part of it",
        "concepts are no classes of `hierarchy.json`: nothing is a kind or a part of them",
    ];
    let without = Finding::about(FindingKind::ConceptsWithoutClass, Severity::Warning, without, outside.collect());
    [unclosed, without].into_iter().flatten().collect()
}

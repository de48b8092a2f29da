//! `--set`: concepts that are taken as given, shown or not.

use anyhow::bail;
use chimera_logic::vocabulary::Vocabulary;

/// The concepts, by number, and whether samples are taken to show them.
pub(super) fn parse(said: &[String], concepts: &[String]) -> anyhow::Result<Vec<(usize, bool)>> {
    let mut given: Vec<(usize, bool)> = Vec::new();
    for said in said {
        // A name may have `=` in it, a value has none.
        let Some((name, value)) = said.rsplit_once('=') else {
            bail!("expected `--set CONCEPT=0` or `CONCEPT=1`, got `{said}`");
        };
        let Some(concept) = concepts.iter().position(|concept| concept == name) else {
            let vocabulary = Vocabulary::closed(concepts.to_vec(), "the concepts of the model");
            let hint =
                vocabulary.nearest(name).map(|near| format!("\nhint: did you mean `{near}`?")).unwrap_or_default();
            bail!("the model has no concept `{name}`{hint}");
        };
        let shown = match value {
            "0" => false,
            "1" => true,
            _ => bail!("expected 0 or 1 for `{name}`, got `{value}`"),
        };
        if given.iter().any(|(other, _)| *other == concept) {
            bail!("`--set` has `{name}` twice");
        }
        given.push((concept, shown));
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn what_cannot_be_given_is_said() {
        let concepts = ["helmet", "rider", "a=b"].map(str::to_owned);
        let parsed = |said: &[&str]| parse(&said.iter().map(|said| (*said).to_owned()).collect::<Vec<_>>(), &concepts);
        assert_eq!(parsed(&["rider=1", "a=b=0"]).unwrap(), [(1, true), (2, false)]);
        let refused = |said: &[&str]| parsed(said).unwrap_err().to_string();
        assert_eq!(refused(&["helmt=1"]), "the model has no concept `helmt`\nhint: did you mean `helmet`?");
        assert_eq!(refused(&["helmet=yes"]), "expected 0 or 1 for `helmet`, got `yes`");
        assert_eq!(refused(&["helmet"]), "expected `--set CONCEPT=0` or `CONCEPT=1`, got `helmet`");
        assert_eq!(refused(&["helmet=1", "helmet=0"]), "`--set` has `helmet` twice");
    }
}

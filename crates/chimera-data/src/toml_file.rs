//! TOML files that people write: what is wrong with one is told with its line, and an unknown key with the one that was
//! meant.

use std::path::Path;

use chimera_logic::vocabulary::Vocabulary;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// What a text says; `path` is its file, for messages.
///
/// # Errors
/// [`Error::Input`] with the file, the line and a hint.
pub fn parse<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        let words = error.message().trim().replace('\n', ", ");
        Error::input(format!("cannot use `{}`: line {line}: {words}", path.display()), key_hint(&words))
    })
}

/// The known key that is most like an unknown one.
fn key_hint(words: &str) -> Option<String> {
    let mut quoted = words.split('`').skip(1).step_by(2);
    let unknown = words.starts_with("unknown").then(|| quoted.next()).flatten()?;
    let known = Vocabulary::closed(quoted.map(str::to_owned), "keys");
    known.nearest(unknown).map(|nearest| format!("did you mean `{nearest}`?"))
}

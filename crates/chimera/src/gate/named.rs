//! The names of concepts inside a safetensors file whose numbers are paired with them by position: a reader compares the names before
//! it believes the positions.

use std::collections::HashMap;

use safetensors::tensor::SafeTensors;

/// The one entry of the file's metadata. Several would be written in no order.
const ENTRY: &str = "concepts";

/// Metadata with these names, in this order.
///
/// # Errors
/// Never in practice: names that cannot be written as JSON.
pub(crate) fn named_concepts<'a>(names: impl Iterator<Item = &'a str>) -> serde_json::Result<HashMap<String, String>> {
    Ok(HashMap::from([(ENTRY.to_owned(), serde_json::to_string(&names.collect::<Vec<_>>())?)]))
}

/// The names in a file; `None` where it has none.
pub(crate) fn concepts_in(bytes: &[u8]) -> Option<Vec<String>> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).ok()?;
    serde_json::from_str(metadata.metadata().as_ref()?.get(ENTRY)?).ok()
}

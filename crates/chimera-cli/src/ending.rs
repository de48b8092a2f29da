//! The ending of a result's file name says what people will take it for, so it must be what is written.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::bail;

/// The ending of a path in lower case.
pub(crate) fn of(path: Option<&Path>) -> Option<String> {
    path?.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
}

/// Refuses a file whose name promises another format than the ones that are written; no ending promises nothing.
pub(crate) fn expect(path: Option<&Path>, endings: &[&str]) -> anyhow::Result<()> {
    match (path, of(path)) {
        (Some(path), Some(ending)) if !endings.contains(&ending.as_str()) && !path.starts_with("/dev") => {
            let listed: Vec<_> = endings.iter().map(|ending| format!("`.{ending}`")).collect();
            bail!(
                "`{}` would not hold what its ending says\nhint: what is written here ends in {}",
                path.display(),
                listed.join(" or ")
            )
        }
        _ => Ok(()),
    }
}

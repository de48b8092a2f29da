//! The media that a table names: brought below one root, looked at, and told apart into pictures and videos.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};

use super::Note;
use crate::dataset::manifest::Kind;
use crate::error::{Error, Result, shown};
use crate::parallel::in_parallel;
use crate::source::media_look::{Claim, Seen, claim_of, look};
use crate::table::LabelTable;

/// Files that are looked at at a time. The wait is for the disk, so it does not depend on the number of cores.
pub(super) const LOOKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// How media are taken.
#[derive(Clone, Copy)]
pub(super) struct Taking {
    /// Pictures or videos; by default what the endings of the paths say.
    pub(super) kind: Option<Kind>,
    /// Whether a medium that is missing or cannot be used is an error.
    pub(super) strict: bool,
    /// What to do where they are not there.
    pub(super) missing_hint: &'static str,
}

impl Taking {
    /// For importers that are told where media are.
    pub(super) fn from_root(kind: Option<Kind>, strict: bool) -> Self {
        Self { kind, strict, missing_hint: "paths start at the media root; check `--media-root`" }
    }
}

/// Makes every path relative to the root, looks at the files and notes what cannot be used. Samples stay, whatever their
/// media are. Returns whether they are pictures or videos.
pub(super) fn settle(table: &mut LabelTable, root: &Path, taking: Taking, notes: &mut Vec<Note>) -> Result<Kind> {
    let Some(media) = &table.media else {
        let message = format!("expected a column `media` in `{}` beside a media root, got none", table.path.display());
        let hint = "name the column that holds the paths with `--media-column`, or leave out `--media-root`";
        return Err(Error::input(message, Some(hint.to_owned())));
    };
    let root_names = RootNames::of(root)?;
    let found = in_parallel(LOOKERS, media.len(), |row| Ok(root_names.find(&media[row])))?;
    let kind = taking.kind.map_or_else(|| kind_of(table, media, &found), Ok)?;
    let stay = ["(its sample stays, without it)", "(their samples stay, without them)"];
    let left = |one: &str, several: &str| Note::about(format!("{one} {}", stay[0]), format!("{several} {}", stay[1]));
    let mut missing = left("medium that is not there", "media that are not there");
    let mut unusable = left("medium that cannot be used", "media that cannot be used");
    let mut nameless = Note::about("sample without a medium", "samples without media");
    let mut stripped = Note::about(
        "path began with the media root, and was taken without it",
        "paths began with the media root, and were taken without it",
    );
    let mut problems = table.no_problems();
    for (row, found) in found.iter().enumerate() {
        let name = &media[row];
        match found {
            Found::Nothing => nameless.add(|| table.ids[row].to_owned()),
            Found::Outside => {
                let message = format!("expected a path inside the media root, got `{}`", shown(name));
                problems.add(table.place(row), message, Some("paths start at the media root; check `--media-root`"));
            }
            Found::Inside(inside) => match inside.seen {
                Seen::Usable => {}
                Seen::Frames if kind == Kind::Video => {}
                Seen::Frames => unusable.add(|| format!("{name}: it is a folder")),
                Seen::Missing => missing.add(|| name.clone()),
                Seen::Unusable(why) => unusable.add(|| format!("{name}: {why}")),
            },
        }
        if let Found::Inside(Inside { stripped: true, .. }) = found {
            stripped.add(|| name.clone());
        }
    }
    problems.into_result()?;
    let (named, failed) = (media.len() - nameless.count, missing.count + unusable.count);
    if failed > 0 && (taking.strict || failed == named) {
        return Err(refusal(&table.path, root, named, (&missing, &unusable), taking));
    }
    let names = found.into_iter().map(|found| match found {
        Found::Inside(inside) => inside.name,
        Found::Nothing | Found::Outside => String::new(),
    });
    table.media = Some(names.collect());
    notes.extend([missing, unusable, nameless, stripped].into_iter().filter(|note| note.count > 0));
    Ok(kind)
}

fn refusal(table: &Path, root: &Path, named: usize, (missing, unusable): (&Note, &Note), taking: Taking) -> Error {
    let (what, note) = if missing.count > 0 { ("nothing", missing) } else { ("what cannot be used", unusable) };
    let first = note.listed.first().map(|name| shown(name)).unwrap_or_default();
    let message = format!(
        "expected the media of `{}` under `{}`, got {what} at {} of {named} paths, `{first}` the first",
        table.display(),
        root.display(),
        note.count
    );
    let hint = if missing.count > 0 { taking.missing_hint } else { "fetch them again, or remove their samples" };
    Error::input(message, Some(hint.to_owned()))
}

/// Where a name of the table leads.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Outside,
    Inside(Inside),
}

/// A path below the root.
#[derive(Debug, PartialEq, Eq)]
struct Inside {
    /// Relative to the root, without `.` and `..`.
    name: String,
    seen: Seen,
    /// Whether the table's path began with the root's own.
    stripped: bool,
}

/// The root by the names that paths in a table can begin with.
struct RootNames {
    /// As it was given, where that is relative.
    given: Option<PathBuf>,
    /// Made absolute as it is written, and with links followed.
    absolute: [PathBuf; 2],
}

impl RootNames {
    fn of(root: &Path) -> Result<Self> {
        let refused = |cause| Error::read(root, cause);
        let written = std::path::absolute(root).map_err(refused)?;
        let given = normalised(root).filter(|given| root.is_relative() && !given.as_os_str().is_empty());
        Ok(Self {
            given,
            absolute: [normalised(&written).unwrap_or(written), fs::canonicalize(root).map_err(refused)?],
        })
    }

    /// A path is taken as it is wherever that leads to something; only else the root's own name before it is passed over.
    fn find(&self, name: &str) -> Found {
        let path = Path::new(name);
        if name.is_empty() {
            return Found::Nothing;
        }
        let inside = if path.is_absolute() { self.relative(path) } else { normalised(path) };
        let Some(inside) = inside else { return Found::Outside };
        let at = |path: &Path| look(&self.absolute[1].join(path));
        let seen = at(&inside);
        let without = self.given.as_ref().filter(|_| path.is_relative() && seen == Seen::Missing);
        let without = without.and_then(|given| inside.strip_prefix(given).ok()).map(|rest| (rest.to_owned(), at(rest)));
        let (path, seen, stripped) = match without {
            Some((rest, seen)) if seen != Seen::Missing => (rest, seen, true),
            _ => (inside, seen, false),
        };
        // It was made of text, so it is text.
        let name = path.into_os_string().into_string().unwrap_or_default();
        Found::Inside(Inside { name, seen, stripped })
    }

    /// An absolute path as one that starts at the root, if it leads there.
    fn relative(&self, path: &Path) -> Option<PathBuf> {
        let path = normalised(path)?;
        let below =
            |path: &Path| self.absolute.iter().find_map(|root| path.strip_prefix(root).ok().map(Path::to_owned));
        below(&path).or_else(|| {
            // Links may lead there; the file itself may be one that leads elsewhere.
            let folder = fs::canonicalize(path.parent()?).ok()?;
            below(&folder.join(path.file_name()?))
        })
    }
}

/// A path without `.` and `..`; `None` where that would lead above its start.
fn normalised(path: &Path) -> Option<PathBuf> {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if parts.file_name().is_some() => {
                parts.pop();
            }
            Component::ParentDir => return None,
            part => parts.push(part),
        }
    }
    Some(parts)
}

/// What the media are, by the endings of their names. Where all that is there are folders of pictures, they are videos.
fn kind_of(table: &LabelTable, media: &[String], found: &[Found]) -> Result<Kind> {
    let is_folder = |found: &Found| matches!(found, Found::Inside(Inside { seen: Seen::Frames, .. }));
    let named = || media.iter().zip(found).filter(|(name, _)| !name.is_empty());
    let claims = |name: &str| claim_of(Path::new(name)) == Claim::Video;
    let video = named().find(|(name, _)| claims(name)).map(|(name, _)| name);
    let picture = named().find(|(name, found)| !claims(name) && !is_folder(found)).map(|(name, _)| name);
    let folder = named().find(|(_, found)| is_folder(found));
    match (video, picture) {
        (Some(video), Some(picture)) => {
            let message = format!(
                "expected pictures or videos in `{}`, got both: `{}` and `{}`",
                table.path.display(),
                shown(picture),
                shown(video)
            );
            Err(Error::input(message, Some("say what they are with `--kind`".to_owned())))
        }
        (Some(_), None) => Ok(Kind::Video),
        (None, None) if folder.is_some() => Ok(Kind::Video),
        _ => Ok(Kind::Image),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder `media` with `a.png` and `media/a.png`, two pictures of one name, and what lies beside it.
    fn place() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("media/media")).unwrap();
        for name in ["media/a.png", "media/media/a.png", "media/b.png", "c.png"] {
            fs::write(folder.path().join(name), b"\x89PNG\r\n\x1a\n").unwrap();
        }
        folder
    }

    fn inside(name: &str, stripped: bool) -> Found {
        Found::Inside(Inside { name: name.to_owned(), seen: Seen::Usable, stripped })
    }

    #[test]
    fn paths_lead_where_they_say() {
        let folder = place();
        let root = fs::canonicalize(folder.path()).unwrap().join("media");
        let mut names = RootNames::of(&root).unwrap();
        let find = |names: &RootNames, name: &str| names.find(name);
        assert_eq!(find(&names, "media/a.png"), inside("media/a.png", false));
        assert_eq!(find(&names, "media/../b.png"), inside("b.png", false));
        assert_eq!(find(&names, "./media/./a.png"), inside("media/a.png", false));
        assert_eq!(find(&names, root.join("b.png").to_str().unwrap()), inside("b.png", false));
        assert_eq!(find(&names, root.join("media/../b.png").to_str().unwrap()), inside("b.png", false));
        let beside = folder.path().join("c.png");
        for outside in ["../c.png", "media/../../c.png", "/etc/passwd", beside.to_str().unwrap()] {
            assert_eq!(find(&names, outside), Found::Outside, "{outside}");
        }
        assert_eq!(find(&names, ""), Found::Nothing);
        // As with `--media-root media`, from the folder around it.
        names.given = Some(PathBuf::from("media"));
        assert_eq!(find(&names, "media/a.png"), inside("media/a.png", false), "another picture than `a.png`");
        assert_eq!(find(&names, "media/b.png"), inside("b.png", true));
        let gone = Inside { name: "media/gone.png".to_owned(), seen: Seen::Missing, stripped: false };
        assert_eq!(find(&names, "media/gone.png"), Found::Inside(gone));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_the_root_lead_there() {
        let folder = place();
        std::os::unix::fs::symlink("media", folder.path().join("link")).unwrap();
        let link = folder.path().join("link/b.png");
        let names = RootNames::of(&folder.path().join("media")).unwrap();
        assert_eq!(names.find(link.to_str().unwrap()), inside("b.png", false));
        let names = RootNames::of(&folder.path().join("link")).unwrap();
        assert_eq!(names.find(folder.path().join("media/b.png").to_str().unwrap()), inside("b.png", false));
    }
}

//! What a column of a label table is for, told by its name and by what the user says about names.

use crate::table::cell::CellRule;

/// The column that names the sample.
pub(super) const ID: &str = "id";

/// The column that lists what a sample shows beyond the vocabulary.
const OOV_ANCESTORS: &str = "oov_ancestors";

/// Names that are never concepts.
pub(crate) const RESERVED: [&str; 5] = [ID, "media", "split", "group", OOV_ANCESTORS];

/// Columns that hold a text about each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Media,
    Split,
    Group,
}

impl Text {
    pub(super) const ALL: [Self; 3] = [Self::Media, Self::Split, Self::Group];
}

/// What the columns are called that are no concepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnNames {
    /// The sample's name; `id`.
    pub id: String,
    /// Its picture or video, a path relative to the media root; `media`.
    pub media: String,
    /// What it is for; `split`.
    pub split: String,
    /// What it was taken from (a scene, a patient): samples of one group stay together; `group`.
    pub group: String,
}

impl Default for ColumnNames {
    fn default() -> Self {
        let [id, media, split, group, _] = RESERVED.map(str::to_owned);
        Self { id, media, split, group }
    }
}

impl ColumnNames {
    /// Every column that has a role, with the option that names it.
    fn roles(&self) -> [(Role, &str, &'static str); 5] {
        [
            (Role::Id, &self.id, "--id-column"),
            (Role::Text(Text::Media), &self.media, "--media-column"),
            (Role::Text(Text::Split), &self.split, "--split-column"),
            (Role::Text(Text::Group), &self.group, "--group-column"),
            (Role::Ancestors, OOV_ANCESTORS, OOV_ANCESTORS),
        ]
    }

    /// Names that the user chose, which must then be there.
    pub(super) fn chosen(&self) -> impl Iterator<Item = &str> {
        self.roles().into_iter().zip(RESERVED).filter(|((_, name, _), own)| name != own).map(|((_, name, _), _)| name)
    }
}

/// What the cells of a column are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Id,
    /// A file's name that is the id of its sample too.
    IdAndMedia,
    Text(Text),
    Ancestors,
    Concept,
    Nothing,
}

/// How to read a table whose names and signs are not ours.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// What the signs in label cells mean.
    pub cells: CellRule,
    /// What the columns are called that are no concepts.
    pub names: ColumnNames,
    /// Columns to leave out.
    pub ignored: Vec<String>,
}

impl TableOptions {
    /// What a column of this name is for, or what it cannot be for at once.
    pub(super) fn role_of(&self, name: &str) -> Result<Role, String> {
        let claims = self.names.roles().into_iter().filter(|(_, own, _)| *own == name);
        let claims: Vec<(Role, &str)> = claims.map(|(role, _, option)| (role, option)).collect();
        let is_ignored = self.ignored.iter().any(|ignored| ignored == name);
        match claims.as_slice() {
            // Its default name gives a column to a role that the user may not want; a name of theirs is wanted.
            [(Role::Id, option), ..] if is_ignored => Err(format!("`{option}` and `--ignore`")),
            [(_, option), ..] if is_ignored && !RESERVED.contains(&name) => Err(format!("`{option}` and `--ignore`")),
            _ if is_ignored => Ok(Role::Nothing),
            [] if RESERVED.contains(&name) => Ok(Role::Nothing),
            [] => Ok(Role::Concept),
            [(role, _)] => Ok(*role),
            [(Role::Id, _), (Role::Text(Text::Media), _)] => Ok(Role::IdAndMedia),
            [(_, first), .., (_, second)] => Err(format!("`{first}` and `{second}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way in which one column can be asked for twice, beside what it is for then.
    #[test]
    fn a_name_has_one_role_but_for_file_names_as_ids() {
        let own = ColumnNames::default();
        let named = |id: &str, media: &str, split: &str, group: &str| {
            let [id, media, split, group] = [id, media, split, group].map(str::to_owned);
            ColumnNames { id, media, split, group }
        };
        let role = |names: &ColumnNames, ignored: &[&str], name: &str| {
            let ignored = ignored.iter().map(|name| (*name).to_owned()).collect();
            TableOptions { names: names.clone(), ignored, ..TableOptions::default() }.role_of(name)
        };
        assert_eq!(role(&named("file", "file", "split", "group"), &[], "file"), Ok(Role::IdAndMedia));
        assert_eq!(role(&named("media", "media", "split", "group"), &[], "media"), Ok(Role::IdAndMedia));
        for name in ["media", "split", "group", OOV_ANCESTORS, "red"] {
            assert_ne!(role(&own, &[], name), Ok(Role::Nothing), "{name}");
            assert_eq!(role(&own, &[name], name), Ok(Role::Nothing), "{name}");
        }
        assert_eq!(role(&own, &["id"], "id").unwrap_err(), "`--id-column` and `--ignore`");
        let other = named("file", "media", "fold", "group");
        assert_eq!((role(&other, &["id"], "id"), role(&other, &[], "split")), (Ok(Role::Nothing), Ok(Role::Nothing)));
        assert_eq!(role(&other, &["fold"], "fold").unwrap_err(), "`--split-column` and `--ignore`");
        for (names, name, expected) in [
            (named("a", "media", "a", "group"), "a", "`--id-column` and `--split-column`"),
            (named("id", "media", "a", "a"), "a", "`--split-column` and `--group-column`"),
            (named("id", "a", "split", "a"), "a", "`--media-column` and `--group-column`"),
            (named("a", "a", "a", "group"), "a", "`--id-column` and `--split-column`"),
            (named("split", "media", "split", "group"), "split", "`--id-column` and `--split-column`"),
            (named(OOV_ANCESTORS, "media", "split", "group"), OOV_ANCESTORS, "`--id-column` and `oov_ancestors`"),
        ] {
            assert_eq!(role(&names, &[], name).unwrap_err(), expected);
        }
    }
}

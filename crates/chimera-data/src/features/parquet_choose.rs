//! Which columns of a Parquet file are the features and which the ids, told by names and types. What could be ids under another
//! name is never passed over: rows would be matched by order, and nobody would notice.

use std::path::Path;

use arrow_schema::DataType;

use super::choose::id_names;
use crate::error::{Error, Result, shown};

/// What pandas calls the index of a table that has no name.
const PANDAS_INDEX: &str = "__index_level_0__";

/// Where the features are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A column of lists.
    List(usize),
    /// A column a number.
    Scalars(Vec<usize>),
}

impl Taken {
    pub(super) fn positions(&self) -> &[usize] {
        match self {
            Self::List(position) => std::slice::from_ref(position),
            Self::Scalars(positions) => positions,
        }
    }
}

/// Positions of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) taken: Taken,
    pub(super) ids: Option<usize>,
    pub(super) unused: Vec<usize>,
}

/// Chooses among columns by name and type: the lists `wanted`, or the only column of lists, or else all numbers.
pub(super) fn choose(
    path: &Path,
    fields: &[(&str, &DataType)],
    wanted: Option<&str>,
    id_column: &str,
) -> Result<Choice> {
    let by_name = |name: &str| fields.iter().position(|(other, _)| *other == name);
    let is_text = |position: &usize| matches!(fields[*position].1, DataType::Utf8 | DataType::Binary);
    let named = id_names(id_column).into_iter().filter(|name| Some(*name) != wanted).find_map(by_name);
    if let Some((name, data_type)) = named.map(|ids| fields[ids])
        && *data_type != DataType::Utf8
        && !data_type.is_integer()
    {
        let (name, got) = (shown(name), shown(&data_type.to_string()));
        let message = format!(
            "expected strings or integers in the column `{name}` of `{}`, got the type `{got}`",
            path.display()
        );
        return Err(Error::input(message, Some("write it as strings, or rename it if it holds no ids".to_owned())));
    }
    let ids = named.or_else(|| by_name(PANDAS_INDEX).filter(|&index| *fields[index].1 == DataType::Utf8));
    let all = 0..fields.len();
    if let (None, Some(text)) = (ids, all.clone().find(is_text)) {
        let name = shown(fields[text].0);
        let message = format!("expected ids or numbers in `{}`, got the column `{name}` of strings", path.display());
        let hint = "call the column of ids `id`, or as the table calls its own; without any, rows are matched by order, \
                    and a column that is neither id nor number must go";
        return Err(Error::input(message, Some(hint.to_owned())));
    }
    let is_list = |position: &usize| matches!(fields[*position].1, DataType::List(item) if is_number(item.data_type()));
    let lists: Vec<usize> = all.clone().filter(is_list).collect();
    // An index of numbers is where a row was, not what it shows.
    let is_scalar = |position: &usize| {
        Some(*position) != ids && fields[*position].0 != PANDAS_INDEX && is_number(fields[*position].1)
    };
    let taken = match (wanted, lists.as_slice()) {
        (Some(name), _) => by_name(name).filter(is_list).map(Taken::List),
        (None, &[only]) => Some(Taken::List(only)),
        (None, []) => Some(Taken::Scalars(all.clone().filter(is_scalar).collect())),
        (None, _) => None,
    };
    let Some(taken) = taken.filter(|taken| !taken.positions().is_empty()) else {
        return Err(nothing_to_take(path, fields, wanted, &lists));
    };
    let unused = all.filter(|position| !taken.positions().contains(position) && Some(*position) != ids).collect();
    Ok(Choice { taken, ids, unused })
}

fn nothing_to_take(path: &Path, fields: &[(&str, &DataType)], wanted: Option<&str>, lists: &[usize]) -> Error {
    const LISTED: usize = 20;
    let several = lists.len() > 1;
    let got = fields.iter().enumerate().filter(|(position, _)| !several || lists.contains(position));
    let got = got.map(|(_, (name, data_type))| format!("`{}` (`{}`)", shown(name), shown(&data_type.to_string())));
    let mut got: Vec<String> = got.collect();
    if got.len() > LISTED {
        let more = got.len() - LISTED;
        got.truncate(LISTED);
        got.push(format!("and {more} more"));
    }
    let expected = match wanted {
        Some(name) => format!("a column of lists of numbers named `{}`", shown(name)),
        None if several => "one column of lists of numbers".to_owned(),
        None => "a column of lists, or columns of numbers,".to_owned(),
    };
    let message = format!("expected {expected} in `{}`, got {}", path.display(), got.join(", "));
    Error::input(message, several.then(|| "name the column to take with `--array`".to_owned()))
}

/// Whether a column of this type holds numbers that are read.
pub(super) fn is_number(data_type: &DataType) -> bool {
    data_type.is_floating() || data_type.is_integer() || *data_type == DataType::Boolean
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Field;

    use super::*;

    fn chosen(fields: &[(&str, &DataType)], wanted: Option<&str>) -> std::result::Result<Choice, String> {
        choose(Path::new("z.parquet"), fields, wanted, "file").map_err(|error| error.to_string())
    }

    #[test]
    fn columns_by_name_and_type() {
        let list = DataType::List(Arc::new(Field::new("item", DataType::Int8, true)));
        let (text, float, integer, date) = (&DataType::Utf8, &DataType::Float32, &DataType::Int64, &DataType::Date32);
        let scalars = |positions: &[usize]| Taken::Scalars(positions.to_vec());
        let found = |taken, ids, unused: &[usize]| Ok(Choice { taken, ids, unused: unused.to_vec() });
        let bits = &DataType::Boolean;
        assert_eq!(
            chosen(&[("a", float), ("ids", integer), ("b", integer), ("day", date), ("c", bits)], None),
            found(scalars(&[0, 2, 4]), Some(1), &[3])
        );
        assert_eq!(chosen(&[("file", text), ("a", float), ("id", text)], None), found(scalars(&[1]), Some(0), &[2]));
        assert_eq!(chosen(&[("a", float), (PANDAS_INDEX, text)], None), found(scalars(&[0]), Some(1), &[]));
        assert_eq!(chosen(&[("a", float), (PANDAS_INDEX, integer)], None), found(scalars(&[0]), None, &[1]));
        assert_eq!(chosen(&[("a", float), ("z", &list)], None), found(Taken::List(1), None, &[0]));
        let two = [("y", &list), ("z", &list), ("id", text), ("a", float)];
        assert_eq!(chosen(&two, Some("y")), found(Taken::List(0), Some(2), &[1, 3]));
        let error = chosen(&two, None).unwrap_err();
        assert!(error.contains("got `y` (`List(") && error.contains("--array") && !error.contains("`a`"), "{error}");
        assert!(chosen(&two, Some("a")).unwrap_err().contains("lists of numbers named `a`"));
        assert!(chosen(&[("id", text)], None).unwrap_err().contains("got `id` (`Utf8`)"));
        assert!(chosen(&[("id", float), ("a", float)], None).unwrap_err().contains("got the type `Float32`"));
        assert!(chosen(&[("name", text), ("a", float)], None).unwrap_err().contains("the column `name` of strings"));
        assert!(chosen(&[("name", text), ("z", &list)], Some("z")).unwrap_err().contains("the column `name`"));
    }
}

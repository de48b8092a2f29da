//! Which array of a file holds the features and which the ids, told by names, types and shapes before anything is decoded.

use std::fmt;
use std::path::Path;

use super::element::Element;
use crate::error::{Error, Result, shown};

/// Names under which features are looked for where there are several matrices.
const FEATURE_NAMES: [&str; 4] = ["z", "features", "embeddings", "x"];

/// Names under which ids are looked for: what the table calls them first.
pub(super) fn id_names(id_column: &str) -> [&str; 3] {
    [id_column, "ids", "id"]
}

/// An array of a file that is not decoded yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Described {
    pub(super) name: String,
    /// `None` where elements are of no use here: objects, records, complex numbers.
    pub(super) element: Option<Element>,
    /// Their type in the file's own words.
    pub(super) type_name: String,
    pub(super) shape: Vec<usize>,
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (type `{}`, shape {:?})", shown(&self.name), shown(&self.type_name), self.shape)
    }
}

/// Positions of what is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) features: usize,
    pub(super) ids: Option<usize>,
}

/// Chooses: the array `wanted`, or the only matrix, or one of a usual name, or the only matrix of floats.
pub(super) fn choose(path: &Path, arrays: &[Described], wanted: Option<&str>, id_column: &str) -> Result<Choice> {
    let by_name = |name: &str| arrays.iter().position(|array| array.name == name);
    let ids = id_names(id_column).into_iter().filter(|name| Some(*name) != wanted).find_map(by_name);
    if let Some(array) = ids.map(|ids| &arrays[ids])
        && !(array.shape.len() == 1 && array.element.is_some_and(Element::is_id))
    {
        return Err(unusable_ids(path, array));
    }
    let is_matrix = |position: usize| {
        let array = &arrays[position];
        Some(position) != ids && array.shape.len() > 1 && array.element.is_some_and(Element::is_number)
    };
    let matrices: Vec<usize> = (0..arrays.len()).filter(|&position| is_matrix(position)).collect();
    let floats = matrices.iter().copied().filter(|&position| arrays[position].element.is_some_and(Element::is_float));
    let floats: Vec<usize> = floats.collect();
    let usual = || FEATURE_NAMES.iter().find_map(|name| by_name(name)).filter(|position| matrices.contains(position));
    let chosen = match (wanted, matrices.as_slice(), floats.as_slice()) {
        (Some(name), ..) => by_name(name).filter(|&position| is_matrix(position)),
        (None, &[only], _) => Some(only),
        (None, _, &[only]) => usual().or(Some(only)),
        (None, ..) => usual(),
    };
    let Some(features) = chosen else { return Err(no_matrix(path, arrays, wanted, matrices.len())) };
    if arrays[features].shape.len() != 2 {
        let message = format!("expected rows and columns in `{}`, got {}", path.display(), arrays[features]);
        return Err(Error::input(message, Some("flatten or pool features to one vector a sample first".to_owned())));
    }
    Ok(Choice { features, ids })
}

fn unusable_ids(path: &Path, array: &Described) -> Error {
    let message = format!("expected ids as one list of strings or integers in `{}`, got {array}", path.display());
    let hint = "save them as `np.asarray(ids).astype(str)`, or rename the array if it holds no ids";
    Error::input(message, Some(hint.to_owned()))
}

fn no_matrix(path: &Path, arrays: &[Described], wanted: Option<&str>, matrices: usize) -> Error {
    let named = wanted.map_or_else(String::new, |name| format!(" named `{}`", shown(name)));
    let got: Vec<String> = arrays.iter().map(ToString::to_string).collect();
    let got = if got.is_empty() { "nothing".to_owned() } else { got.join(", ") };
    let message = format!("expected one matrix of numbers{named} in `{}`, got {got}", path.display());
    let hint = match matrices {
        0 => "save a row of numbers a sample, such as `np.save(\"z.npy\", z.astype(\"float32\"))`",
        _ => "name the array to take with `--array`",
    };
    Error::input(message, Some(hint.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, element: Option<Element>, shape: &[usize]) -> Described {
        Described { name: name.to_owned(), element, type_name: "T".to_owned(), shape: shape.to_vec() }
    }

    fn chosen(arrays: &[Described], wanted: Option<&str>, id_column: &str) -> std::result::Result<Choice, String> {
        choose(Path::new("z.npz"), arrays, wanted, id_column).map_err(|error| error.to_string())
    }

    #[test]
    fn features_by_name_or_by_being_alone() {
        let (float, integer) = (Some(Element::Single), Some(Element::Integer(8, true)));
        let found = |features| Ok(Choice { features, ids: None });
        assert_eq!(chosen(&[array("y", float, &[3]), array("a", integer, &[3, 2])], None, "id"), found(1));
        let several = [array("a", float, &[3, 2]), array("b", float, &[3, 2]), array("x", integer, &[3, 2])];
        assert_eq!(chosen(&several, None, "id"), found(2));
        assert_eq!(chosen(&several, Some("b"), "id"), found(1));
        assert_eq!(chosen(&[array("boxes", integer, &[3, 4]), array("a", float, &[3, 2])], None, "id"), found(1));
        let unclear = chosen(&several[..2], None, "id").unwrap_err();
        assert!(unclear.contains("`a` (type `T`, shape [3, 2]), `b`") && unclear.contains("--array"), "{unclear}");
        assert!(chosen(&several, Some("c"), "id").unwrap_err().contains("named `c`"));
        assert!(chosen(&[array("z", None, &[3, 2])], None, "id").unwrap_err().contains("float32"));
        assert!(chosen(&[array("z", float, &[3, 2, 1])], None, "id").unwrap_err().contains("[3, 2, 1]"));
        assert!(chosen(&[], None, "id").unwrap_err().contains("got nothing"));
    }

    #[test]
    fn ids_are_used_or_refused_but_never_passed_over() {
        let z = array("z", Some(Element::Single), &[3, 2]);
        let text = Some(Element::Unicode(3));
        for (name, id_column) in [("id", "id"), ("ids", "id"), ("file", "file"), ("ids", "file")] {
            let arrays = [z.clone(), array(name, text, &[3])];
            assert_eq!(chosen(&arrays, None, id_column), Ok(Choice { features: 0, ids: Some(1) }), "{name}");
        }
        let both = [array("ids", text, &[3]), z.clone(), array("file", text, &[3])];
        assert_eq!(chosen(&both, None, "file"), Ok(Choice { features: 1, ids: Some(2) }));
        for bad in [
            array("ids", None, &[3]),
            array("ids", Some(Element::Double), &[3]),
            array("id", text, &[3, 1]),
            array("id", Some(Element::Boolean), &[3]),
            array("id", text, &[]),
        ] {
            let error = chosen(&[z.clone(), bad], None, "id").unwrap_err();
            assert!(error.contains("expected ids as one list") && error.contains("type `T`"), "{error}");
        }
    }
}

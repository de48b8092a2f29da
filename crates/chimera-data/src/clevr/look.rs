//! How an object looks: the closed lists of colours, materials, shapes and sizes that both datasets draw from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A closed list of lower-case words, written in files as they are.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($variant:ident $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`.")] $variant,)+
        }

        impl $name {
            /// All of them, in the order in which the datasets list them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// As it is written in the datasets' files.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The one that is written so.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|word| word.as_str() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What colour an object is.
    Color {
        Gray "gray", Red "red", Blue "blue", Green "green", Brown "brown", Purple "purple", Cyan "cyan", Yellow "yellow",
    }
}

words! {
    /// What an object is made of: rubber is dull, metal shines.
    Material { Rubber "rubber", Metal "metal" }
}

words! {
    /// What shape an object has.
    Shape { Cube "cube", Sphere "sphere", Cylinder "cylinder" }
}

words! {
    /// How large an object is, in CLEVR; in CLEVRER all are of one size.
    ObjectSize { Small "small", Large "large" }
}

/// How one object looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Look {
    /// Its colour.
    pub color: Color,
    /// What it is made of.
    pub material: Material,
    /// Its shape.
    pub shape: Shape,
    /// Its size, where the dataset has sizes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<ObjectSize>,
}

impl Look {
    /// All looks of objects with a size: 96.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        Color::ALL.into_iter().flat_map(|color| {
            Material::ALL.into_iter().flat_map(move |material| {
                Shape::ALL.into_iter().flat_map(move |shape| {
                    ObjectSize::ALL.into_iter().map(move |size| Self { color, material, shape, size: Some(size) })
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_files_and_in_code_are_the_same() {
        for color in Color::ALL {
            assert_eq!(serde_json::to_string(&color).unwrap(), format!("\"{color}\""));
            assert_eq!(Color::from_name(color.as_str()), Some(color));
        }
        assert_eq!((Color::ALL.len(), Material::ALL.len(), Shape::ALL.len(), ObjectSize::ALL.len()), (8, 2, 3, 2));
        assert_eq!(Shape::from_name("Cube"), None);
    }

    #[test]
    fn looks_are_all_different() {
        let looks: std::collections::BTreeSet<Look> = Look::all().collect();
        assert_eq!((looks.len(), Look::all().count()), (96, 96));
    }

    #[test]
    fn an_object_of_either_dataset_has_a_look() {
        let text = r#"{"color":"cyan","material":"metal","shape":"cube","rotation":3.5,"size":"large"}"#;
        let look: Look = serde_json::from_str(text).unwrap();
        assert_eq!(look.size, Some(ObjectSize::Large));
        let look: Look =
            serde_json::from_str(r#"{"object_id":3,"color":"cyan","material":"metal","shape":"cube"}"#).unwrap();
        assert_eq!((look.size, look.color), (None, Color::Cyan));
        assert!(serde_json::from_str::<Look>(r#"{"color":"cyan","shape":"cube"}"#).is_err());
    }
}

//! Filters: which objects a name such as `blue_sphere` means. Words joined by `_`, each for one attribute, in any order;
//! `any` asks for nothing; `color=red` says which attribute it is about.

use chimera_logic::vocabulary::Vocabulary;

use super::look::{Color, Look, Material, ObjectSize, Shape};
use crate::error::{Error, Result, shown};

/// Asks for nothing.
const ANY: &str = "any";

/// Other words for the same.
const SHORT: [(&str, &str); 2] = [("cyl", "cylinder"), ("grey", "gray")];

/// Objects that look as a name says. It asks for nothing that the name does not mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    name: String,
    color: Option<Color>,
    material: Option<Material>,
    shape: Option<Shape>,
    size: Option<ObjectSize>,
    /// Which of all looks it matches, a bit each.
    looks: u128,
}

/// A word with the attribute that it is about.
#[derive(Clone, Copy)]
enum Word {
    Color(Color),
    Material(Material),
    Shape(Shape),
    Size(ObjectSize),
}

impl Word {
    fn parse(word: &str) -> Option<Self> {
        let word = SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, full)| full);
        let color = Color::from_name(word).map(Self::Color);
        let material = || Material::from_name(word).map(Self::Material);
        let shape = || Shape::from_name(word).map(Self::Shape);
        let size = || ObjectSize::from_name(word).map(Self::Size);
        color.or_else(material).or_else(shape).or_else(size)
    }

    fn attribute(self) -> &'static str {
        match self {
            Self::Color(_) => "color",
            Self::Material(_) => "material",
            Self::Shape(_) => "shape",
            Self::Size(_) => "size",
        }
    }
}

impl Filter {
    /// Reads a name such as `blue_sphere`, `metal_any`, `gray_cyl`, `large_red_rubber_cube` or `shape=sphere`.
    ///
    /// # Errors
    /// An unknown word, with the nearest known one, or an attribute that is said twice.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        let mut filter = Self { name: name.to_owned(), color: None, material: None, shape: None, size: None, looks: 0 };
        let mut is_any = false;
        for part in name.split('_') {
            if part == ANY {
                if is_any {
                    return Err(twice(name, ANY));
                }
                is_any = true;
                continue;
            }
            let (attribute, text) = part.split_once('=').map_or((None, part), |(name, text)| (Some(name), text));
            let Some(word) = Word::parse(text) else { return Err(unknown(name, text)) };
            if let Some(attribute) = attribute
                && ![attribute, &attribute.replace("colour", "color")].contains(&word.attribute())
            {
                let message = format!(
                    "expected a value of `{}` in `{}`, got the {} `{text}`",
                    shown(attribute),
                    shown(name),
                    word.attribute()
                );
                let hint = format!("write `{}={text}`, or `{text}` alone", word.attribute());
                return Err(Error::input(message, Some(hint)));
            }
            let is_new = match word {
                Word::Color(color) => filter.color.replace(color).is_none(),
                Word::Material(material) => filter.material.replace(material).is_none(),
                Word::Shape(shape) => filter.shape.replace(shape).is_none(),
                Word::Size(size) => filter.size.replace(size).is_none(),
            };
            if !is_new {
                return Err(twice(name, word.attribute()));
            }
        }
        filter.looks =
            Look::all().enumerate().filter(|(_, look)| filter.matches(*look)).fold(0, |looks, (at, _)| looks | 1 << at);
        Ok(filter)
    }

    /// The name, as it was given.
    #[must_use]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether every object that looks so looks as another filter asks, too: `blue_sphere` and `blue`.
    #[must_use]
    pub(crate) fn entails(&self, wider: &Self) -> bool {
        fn asks<T: PartialEq + Copy>(narrow: Option<T>, wide: Option<T>) -> bool {
            wide.is_none() || narrow == wide
        }
        asks(self.color, wider.color)
            && asks(self.material, wider.material)
            && asks(self.shape, wider.shape)
            && asks(self.size, wider.size)
    }

    /// Whether every object that looks so looks as one of two others ask: `red` and `red_metal`, `red_rubber`.
    #[must_use]
    pub(crate) fn entails_either(&self, one: &Self, other: &Self) -> bool {
        self.looks & !(one.looks | other.looks) == 0
    }

    /// The size that it asks for, which only data with sizes can answer.
    #[must_use]
    pub(crate) fn size(&self) -> Option<ObjectSize> {
        self.size
    }

    /// Whether an object looks so. One without a size has none that could be asked for.
    #[must_use]
    pub(crate) fn matches(&self, look: Look) -> bool {
        self.color.is_none_or(|color| color == look.color)
            && self.material.is_none_or(|material| material == look.material)
            && self.shape.is_none_or(|shape| shape == look.shape)
            && (self.size.is_none() || self.size == look.size)
    }
}

fn unknown(name: &str, word: &str) -> Error {
    let got = if word.is_empty() { "nothing".to_owned() } else { format!("`{}`", shown(word)) };
    let message = format!("expected words for colour, material, shape and size in `{}`, got {got}", shown(name));
    let words = Color::ALL.iter().map(|color| color.as_str()).chain(Material::ALL.iter().map(|word| word.as_str()));
    let words = words.chain(Shape::ALL.iter().map(|word| word.as_str()));
    let words = words.chain(ObjectSize::ALL.iter().map(|word| word.as_str())).chain([ANY, "cyl"]);
    let words: Vec<String> = words.map(str::to_owned).collect();
    let list = words.join(", ");
    let known = Vocabulary::closed(words, "the words of filters");
    let hint = known.nearest(word).filter(|_| !word.is_empty()).map(|nearest| format!("did you mean `{nearest}`?"));
    Error::input(message, Some(hint.unwrap_or_else(|| format!("known words are {list}; `_` joins them"))))
}

fn twice(name: &str, attribute: &str) -> Error {
    let message = format!("expected each attribute once in `{}`, got `{attribute}` twice", shown(name));
    Error::input(message, Some("no object has two; name two concepts, and let a rule join them".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALL: Look = Look { color: Color::Blue, material: Material::Metal, shape: Shape::Sphere, size: None };
    const BOX: Look =
        Look { color: Color::Gray, material: Material::Rubber, shape: Shape::Cube, size: Some(ObjectSize::Large) };

    #[test]
    fn names_say_which_objects_are_meant() {
        let cases = [
            ("blue_sphere", true, false),
            ("sphere_blue", true, false),
            ("metal_any", true, false),
            ("any", true, true),
            ("rubber_any", false, true),
            ("large_any", false, true),
            ("small", false, false),
            ("grey_cube", false, true),
            ("gray_cyl", false, false),
            ("large_gray_rubber_cube", false, true),
            ("large_gray_metal_cube", false, false),
            ("shape=sphere", true, false),
            ("colour=blue_shape=sphere", true, false),
            ("size=large", false, true),
        ];
        for (name, ball, block) in cases {
            let filter = Filter::parse(name).unwrap();
            assert_eq!((filter.matches(BALL), filter.matches(BOX)), (ball, block), "{name}");
            assert_eq!(filter.name(), name);
        }
    }

    #[test]
    fn two_filters_may_leave_nothing_over() {
        let filter = |name: &str| Filter::parse(name).unwrap();
        let either = |narrow: &str, one: &str, other: &str| filter(narrow).entails_either(&filter(one), &filter(other));
        assert!(
            either("red", "red_metal", "rubber")
                && either("any", "large", "small")
                && either("red_cube", "blue", "red")
        );
        assert!(!either("red", "red_cube", "red_sphere") && !either("any", "red_metal", "rubber"));
    }

    #[test]
    fn mistakes_are_named_with_the_nearest_word() {
        let message = |name: &str| Filter::parse(name).unwrap_err().to_string();
        assert!(
            message("bleu_sphere").ends_with("got `bleu`\nhint: did you mean `blue`?"),
            "{}",
            message("bleu_sphere")
        );
        assert!(message("Cube").ends_with("hint: did you mean `cube`?"));
        assert!(message("red_blue_cube").contains("got `color` twice"));
        assert!(message("cyl_cylinder").contains("got `shape` twice"));
        assert!(message("any_any").contains("got `any` twice"));
        assert!(message("shape=red").contains("expected a value of `shape` in `shape=red`, got the color `red`"));
        for empty in ["", "_", "red_", "red__cube", "color="] {
            assert!(message(empty).contains(", got nothing\nhint: known words are gray, red"), "{}", message(empty));
        }
        assert!(message("zebra").contains("known words are"));
    }
}

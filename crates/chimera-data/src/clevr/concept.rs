//! Concepts of scenes and videos by their names. A filter (`blue_sphere`) asks whether such an object is there; an event
//! (`collide(red_any,cube)`) whether something happened to such objects.

use chimera_logic::vocabulary::Vocabulary;

use super::clip::{Clip, Collision};
use super::filter::Filter;
use super::look::{Look, ObjectSize};
use crate::error::{Error, Result, shown};

/// The concepts of the paper's CLEVR and CLEVRER experiments.
pub const PRESET: [&str; 6] = ["blue_sphere", "green_cube", "metal_any", "gray_cyl", "red_any", "yellow_cube"];

/// A concept with the name that labels and rules have for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concept {
    name: String,
    meaning: Meaning,
}

/// When a concept holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    /// An object of this look is there.
    There(Filter),
    /// An object of this look comes into view after the first frame.
    Enter(Filter),
    /// An object of this look is out of view before the last frame, for good.
    Exit(Filter),
    /// Two objects meet.
    Meet(Meeting, [Filter; 2]),
}

/// Which collisions of the two looks count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    Any,
    BeforeHalf,
    AfterEntering,
}

/// Names of events, with the number of their operands.
const EVENTS: [(&str, usize); 5] =
    [("enter", 1), ("exit", 1), ("collide", 2), ("collide_before_half", 2), ("entered_then_collided", 2)];

impl Concept {
    /// Reads a filter, or `enter(A)`, `exit(A)`, `collide(A,B)`, `collide_before_half(A,B)`, `entered_then_collided(A,B)`
    /// with filters A and B. White space around operands is dropped: rules write names without.
    ///
    /// # Errors
    /// An unknown event or word, with the nearest known one, or another number of operands.
    pub fn parse(name: &str) -> Result<Self> {
        let name = name.trim();
        let Some((event, rest)) = name.split_once('(') else {
            let filter = Filter::parse(name)?;
            return Ok(Self { name: name.to_owned(), meaning: Meaning::There(filter) });
        };
        let event = event.trim();
        let Some((event, operands)) = EVENTS.into_iter().find(|(known, _)| *known == event) else {
            let known = EVENTS.map(|(event, _)| event.to_owned());
            let list = known.join(", ");
            let nearest = Vocabulary::closed(known, "events");
            let nearest = nearest.nearest(event).map(|nearest| format!("did you mean `{nearest}`?"));
            let message = format!("expected an event ({list}) in `{}`, got `{}`", shown(name), shown(event));
            return Err(Error::input(message, nearest));
        };
        let inside = rest.strip_suffix(')').filter(|inside| !inside.contains(['(', ')']));
        let inside = inside.ok_or_else(|| {
            let message = format!("expected one pair of parentheses that ends `{}`, got another form", shown(name));
            Error::input(message, Some("write it as in `collide(blue_sphere,cube)`".to_owned()))
        })?;
        let filters: Vec<Filter> =
            inside.split(',').map(|part| Filter::parse(part.trim())).collect::<Result<_>>().map_err(|error| {
                let Error::Input { message, hint } = error else { return error };
                Error::Input { message: format!("{message} (in `{}`)", shown(name)), hint }
            })?;
        let name = format!("{event}({})", filters.iter().map(Filter::name).collect::<Vec<_>>().join(","));
        let pair = |meeting, one: &Filter, other: &Filter| Meaning::Meet(meeting, [one.clone(), other.clone()]);
        let meaning = match (event, filters.as_slice()) {
            ("enter", [filter]) => Meaning::Enter(filter.clone()),
            ("exit", [filter]) => Meaning::Exit(filter.clone()),
            ("collide", [one, other]) => pair(Meeting::Any, one, other),
            ("collide_before_half", [one, other]) => pair(Meeting::BeforeHalf, one, other),
            ("entered_then_collided", [one, other]) => pair(Meeting::AfterEntering, one, other),
            _ => {
                let (expected, got) = (if operands == 1 { "one filter" } else { "two filters" }, filters.len());
                return Err(Error::input(format!("expected {expected} in `{}`, got {got}", shown(&name)), None));
            }
        };
        Ok(Self { name, meaning })
    }

    /// The concept that a rule names. Rules find concepts by their names, letter by letter, so it has to be written without
    /// blanks.
    ///
    /// # Errors
    /// As [`Self::parse`], and another way to write the name.
    pub fn named(name: &str) -> Result<Self> {
        let concept = Self::parse(name)?;
        if concept.name != name {
            let message = format!("expected a name without blanks, got `{}`", shown(name));
            return Err(Error::input(message, Some(format!("write `{}`", concept.name))));
        }
        Ok(concept)
    }

    /// Its name, without white space.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether two names stand for one concept: `grey_cube` and `gray_cube`, `collide(red,cube)` and `collide(cube,red)`.
    #[must_use]
    pub(crate) fn means_same(&self, other: &Self) -> bool {
        self.entails(other) && other.entails(self)
    }

    /// Whether it never holds without another: `enter(blue_sphere)` without `blue`, `collide_before_half(red,cube)` without
    /// `collide(cube,any)`. What follows from three or more is not looked for.
    #[must_use]
    pub fn entails(&self, wider: &Self) -> bool {
        match (&self.meaning, &wider.meaning) {
            (Meaning::There(narrow) | Meaning::Enter(narrow) | Meaning::Exit(narrow), Meaning::There(wide))
            | (Meaning::Enter(narrow), Meaning::Enter(wide))
            | (Meaning::Exit(narrow), Meaning::Exit(wide)) => narrow.entails(wide),
            (Meaning::Meet(_, filters), Meaning::There(wide)) => filters.iter().any(|filter| filter.entails(wide)),
            // One of the two came in, whichever it was.
            (Meaning::Meet(Meeting::AfterEntering, filters), Meaning::Enter(wide)) => {
                filters.iter().all(|filter| filter.entails(wide))
            }
            (Meaning::Meet(meeting, [a, b]), Meaning::Meet(wider, [c, d])) => {
                (wider == meeting || *wider == Meeting::Any)
                    && ((a.entails(c) && b.entails(d)) || (a.entails(d) && b.entails(c)))
            }
            _ => false,
        }
    }

    /// Whether it never holds without one of two others: `entered_then_collided(red,cube)` without `enter(red)` or
    /// `enter(cube)`, `red` without `red_metal` or `red_rubber`.
    #[must_use]
    pub(crate) fn entails_either(&self, one: &Self, other: &Self) -> bool {
        match (&self.meaning, &one.meaning, &other.meaning) {
            (
                Meaning::There(narrow) | Meaning::Enter(narrow) | Meaning::Exit(narrow),
                Meaning::There(a),
                Meaning::There(b),
            )
            | (Meaning::Enter(narrow), Meaning::Enter(a), Meaning::Enter(b))
            | (Meaning::Exit(narrow), Meaning::Exit(a), Meaning::Exit(b)) => narrow.entails_either(a, b),
            (Meaning::Meet(_, filters), Meaning::There(a), Meaning::There(b)) => {
                filters.iter().any(|filter| filter.entails_either(a, b))
            }
            // One of the two came in, whichever it was.
            (Meaning::Meet(Meeting::AfterEntering, filters), Meaning::Enter(a), Meaning::Enter(b)) => {
                filters.iter().all(|filter| filter.entails_either(a, b))
            }
            _ => false,
        }
    }

    /// Refuses a list in which one concept has two names: rules could not know that they are one.
    ///
    /// # Errors
    /// The two names.
    pub fn check_distinct(concepts: &[Self]) -> Result<()> {
        for (number, concept) in concepts.iter().enumerate() {
            let same = concepts[..number].iter().find(|before| before.means_same(concept));
            if let Some(before) = same.filter(|before| before.name != concept.name) {
                let message =
                    format!("expected one name for each concept, got `{}` and `{}`", before.name, concept.name);
                return Err(Error::input(message, Some("write it the same way everywhere".to_owned())));
            }
        }
        Ok(())
    }

    /// Whether it is about what happens, which only videos can tell.
    #[must_use]
    pub fn is_event(&self) -> bool {
        !matches!(self.meaning, Meaning::There(_))
    }

    /// A size that it asks for, which only data with sizes can answer.
    #[must_use]
    pub fn size(&self) -> Option<ObjectSize> {
        match &self.meaning {
            Meaning::There(filter) | Meaning::Enter(filter) | Meaning::Exit(filter) => filter.size(),
            Meaning::Meet(_, filters) => filters.iter().find_map(Filter::size),
        }
    }

    /// Whether it holds in a scene with these objects; `None` for an event.
    #[must_use]
    pub fn in_scene(&self, looks: &[Look]) -> Option<bool> {
        match &self.meaning {
            Meaning::There(filter) => Some(looks.iter().any(|look| filter.matches(*look))),
            _ => None,
        }
    }

    /// Whether it holds in a video. An object is there whether the camera ever sees it or not.
    #[must_use]
    pub fn in_clip(&self, clip: &Clip) -> bool {
        let mut things = clip.things.iter();
        match &self.meaning {
            Meaning::There(filter) => things.any(|thing| filter.matches(thing.look)),
            Meaning::Enter(filter) => things.any(|thing| filter.matches(thing.look) && thing.entered().is_some()),
            Meaning::Exit(filter) => things.any(|thing| {
                filter.matches(thing.look) && thing.seen.is_some_and(|(_, last)| last.saturating_add(1) < clip.frames)
            }),
            Meaning::Meet(meeting, filters) => {
                clip.collisions.iter().any(|collision| meet(*meeting, filters, clip, collision))
            }
        }
    }
}

/// Whether one of a pair looks like the first filter and the other like the second.
fn are([one, other]: &[Filter; 2], [first, second]: [Look; 2]) -> bool {
    (one.matches(first) && other.matches(second)) || (one.matches(second) && other.matches(first))
}

/// Whether a collision of these looks is one that counts.
fn meet(meeting: Meeting, filters: &[Filter; 2], clip: &Clip, collision: &Collision) -> bool {
    let [Some(one), Some(other)] = collision.things.map(|thing| clip.things.get(thing)) else { return false };
    let is_in_time = match meeting {
        Meeting::Any => true,
        Meeting::BeforeHalf => 2 * u64::from(collision.frame) < u64::from(clip.frames),
        Meeting::AfterEntering => {
            [one, other].iter().any(|thing| thing.entered().is_some_and(|at| at < collision.frame))
        }
    };
    is_in_time && are(filters, [one.look, other.look])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_white_space_and_nothing_else() {
        for name in PRESET.iter().chain(&["enter(red)", "exit(shape=sphere)", "collide(color=red,cube)"]) {
            assert_eq!(Concept::parse(name).unwrap().name(), *name);
        }
        let spaced = Concept::parse(" collide_before_half( red_any , cyl ) ").unwrap();
        assert_eq!(spaced.name(), "collide_before_half(red_any,cyl)");
        assert!(spaced.is_event() && spaced.in_scene(&[]).is_none());
        assert!(!Concept::parse("any").unwrap().is_event());
        assert_eq!(Concept::parse("collide(cube,large_any)").unwrap().size(), Some(ObjectSize::Large));
        assert_eq!(Concept::parse("cube").unwrap().size(), None);
    }

    #[test]
    fn one_concept_has_one_name() {
        let same = |one: &str, two: &str| Concept::parse(one).unwrap().means_same(&Concept::parse(two).unwrap());
        for (one, two) in [
            ("grey_cube", "cube_gray"),
            ("metal", "metal_any"),
            ("collide(red,cube)", "collide(cube,red_any)"),
            ("exit(cyl)", "exit(shape=cylinder)"),
        ] {
            assert!(same(one, two) && same(two, one), "{one} {two}");
        }
        for (one, two) in [
            ("gray_cube", "gray"),
            ("enter(red)", "exit(red)"),
            ("red", "enter(red)"),
            ("collide(red,cube)", "collide(red,sphere)"),
            ("collide(red,cube)", "collide_before_half(red,cube)"),
            ("collide(red,red)", "collide(red,any)"),
        ] {
            assert!(!same(one, two) && !same(two, one), "{one} {two}");
        }
        let entails = |one: &str, two: &str| Concept::parse(one).unwrap().entails(&Concept::parse(two).unwrap());
        assert!(entails("enter(red_cube)", "red") && !entails("red", "enter(red)"));
        assert!(entails("entered_then_collided(red_cube,cube)", "enter(cube)"));
        assert!(
            !entails("entered_then_collided(red,cube)", "enter(cube)") && !entails("collide(cube,cube)", "enter(cube)")
        );
        let either = |one: &str, two: &str, three: &str| {
            let [one, two, three] = [one, two, three].map(|name| Concept::parse(name).unwrap());
            one.entails_either(&two, &three)
        };
        assert!(either("entered_then_collided(red,cube)", "enter(cube)", "enter(red)"));
        assert!(
            either("collide(red,cube)", "metal", "rubber") && either("exit(red)", "exit(red_metal)", "exit(rubber)")
        );
        assert!(
            !either("collide(red,cube)", "enter(cube)", "enter(red)")
                && !either("enter(red)", "exit(red)", "exit(cube)")
        );
        assert!(!either("entered_then_collided(red,cube)", "enter(cube)", "enter(blue)"));
        let parse = |names: [&str; 2]| names.map(|name| Concept::parse(name).unwrap());
        assert!(Concept::check_distinct(&parse(["red", "red"])).is_ok());
        let error = Concept::check_distinct(&parse(["red", "red_any"])).unwrap_err().to_string();
        assert!(error.contains("got `red` and `red_any`"), "{error}");
    }

    #[test]
    fn mistakes_are_named() {
        let message = |name: &str| Concept::parse(name).unwrap_err().to_string();
        assert!(message("colide(red,cube)").ends_with("got `colide`\nhint: did you mean `collide`?"));
        assert!(message("collide(red,cub)").contains("(in `collide(red,cub)`)\nhint: did you mean `cube`?"));
        assert!(message("collide(red)").ends_with("expected two filters in `collide(red)`, got 1"));
        assert!(message("enter(red,cube)").ends_with("expected one filter in `enter(red,cube)`, got 2"));
        for odd in ["collide(red,cube", "enter((red))", "enter(red)x"] {
            assert!(message(odd).contains("one pair of parentheses"), "{}", message(odd));
        }
        assert!(message("enter()").contains("got nothing"));
    }
}

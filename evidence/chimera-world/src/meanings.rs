//! What is wrong with rules by what their concepts mean: names that a world does not know, rules that no scene breaks or
//! keeps since one concept never comes without another, and rules that no scene keeps together. Scenes are drawn until
//! one is as wanted, so what cannot be is better found before the search.

use chimera_data::error::{Error, Result};
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::diagnostic::{Code, Diagnostic, Diagnostics};
use chimera_logic::lint::{Settled, settled};
use chimera_logic::rules::{Part, RuleSet};
use chimera_logic::sat::{Answer, Budget, Solving};
use chimera_logic::syntax::Op;

/// A concept that rules of a kind of world can name.
pub trait Meaning: Sync {
    /// What scenes are made of.
    type Object;

    /// Whether it holds among these objects wherever they are put; `None` where that decides it.
    fn among(&self, objects: &[Self::Object]) -> Option<bool>;

    /// Whether it never holds without another.
    fn entails(&self, wider: &Self) -> bool;
}

/// So many rules of a clash are pointed at.
const POINTED_AT: usize = 5;

/// Adds findings about rules that [`chimera_logic::lint::lint`] has looked at before. `named` finds concepts by their
/// names.
///
/// # Errors
/// None that can happen: two concepts make a gate.
pub fn lint_meanings<C: Meaning>(
    set: &RuleSet,
    named: impl Fn(&str) -> Result<C>,
    diagnostics: &mut Diagnostics,
) -> Result<()> {
    let concepts: Vec<Result<C>> = set.dag.vocabulary().names().map(named).collect();
    for Part { edge, span } in set.rules.iter().flat_map(|rule| set.parts(rule)) {
        if let Node::Leaf(concept) = set.dag.node(edge.node())
            && let Err(error) = &concepts[concept.index()]
        {
            let name = set.dag.vocabulary().name(concept);
            let (why, hint) = match error {
                Error::Input { message, hint } => (message.clone(), hint.clone()),
                other => (other.to_string(), None),
            };
            let finding = Diagnostic::new(Code::UnknownConcept, *span, format!("unknown concept `{name}`")).label(why);
            diagnostics.push(Diagnostic { hint, ..finding });
        }
    }
    if let Ok(concepts) = concepts.into_iter().collect::<Result<Vec<C>>>() {
        let mut dag = set.dag.clone();
        let meanings = meanings(&mut dag, &concepts)?;
        Lint { set, dag, meanings, diagnostics }.run();
    }
    Ok(())
}

/// What concepts mean, as far as that is one that never holds without another: what collides early collides.
pub(crate) fn meanings<C: Meaning>(dag: &mut Dag, concepts: &[C]) -> Result<Vec<Edge>> {
    let names: Vec<String> = dag.vocabulary().names().map(str::to_owned).collect();
    let leaves: Vec<Option<Edge>> =
        names.iter().map(|name| dag.resolve(name).map(|concept| dag.leaf(concept))).collect();
    let mut meanings = Vec::new();
    for (one, concept) in concepts.iter().enumerate() {
        for (other, wider) in concepts.iter().enumerate() {
            if let (Some(narrow), Some(wide)) = (leaves[one], leaves[other])
                && one != other
                && concept.entails(wider)
            {
                let gate = dag.gate(Op::Implies, vec![narrow, wide]);
                meanings.push(gate.map_err(|error| Error::input(error.to_string(), None))?);
            }
        }
    }
    Ok(meanings)
}

struct Lint<'a> {
    set: &'a RuleSet,
    /// The rules' own nodes, and those of `meanings`.
    dag: Dag,
    meanings: Vec<Edge>,
    diagnostics: &'a mut Diagnostics,
}

impl Lint<'_> {
    fn run(&mut self) {
        let mut is_settled = false;
        for (index, verdict) in settled(&self.dag, &self.meanings, &self.set.roots()).into_iter().enumerate() {
            let (name, span) = (&self.set.rules[index].name, self.set.span(&self.set.rules[index]));
            let (code, what, hint, reasons) = match verdict {
                // What holds or fails whatever concepts mean was found before.
                Settled::Always(reasons) if !reasons.is_empty() => {
                    (Code::Tautology, "always holds", "no scene can break it; remove it or say what was meant", reasons)
                }
                Settled::Never(reasons) if !reasons.is_empty() => {
                    (Code::Contradiction, "can never hold", "every scene breaks it; say what was meant", reasons)
                }
                Settled::Always(_) | Settled::Never(_) => {
                    is_settled = true;
                    continue;
                }
                Settled::Open | Settled::Undecided => continue,
            };
            is_settled = true;
            let message = format!("rule `{name}` {what}, by what its concepts mean: {}", self.texts(&reasons));
            self.diagnostics.extend(span.map(|span| Diagnostic::new(code, span, message).hint(hint)));
        }
        if !is_settled {
            self.together();
        }
    }

    /// Rules that cannot be kept together, each of which can alone.
    fn together(&mut self) {
        let rules = self.set.roots();
        let asked = [rules.as_slice(), &self.meanings].concat();
        let mut solving = Solving::new(&self.dag, &asked, &Budget::new());
        let Answer::Clash(core) = solving.together(&asked) else { return };
        let (core, _) = solving.shrink(core);
        let reasons: Vec<Edge> = core.iter().copied().filter(|edge| !rules.contains(edge)).collect();
        let clashing: Vec<_> = self.set.rules.iter().filter(|rule| core.contains(&rule.root)).collect();
        let names: Vec<String> = clashing.iter().map(|rule| format!("`{}`", rule.name)).collect();
        let [first, others @ ..] = clashing.as_slice() else { return };
        // Without a meaning among the reasons it was found before.
        let (Some(span), false) = (self.set.span(first), reasons.is_empty()) else { return };
        let message = format!(
            "{} cannot hold together, by what their concepts mean: {}",
            names.join(" and "),
            self.texts(&reasons)
        );
        let mut finding = Diagnostic::new(Code::Conflict, span, message)
            .label(format!("rule `{}`", first.name))
            .hint("every scene breaks at least one, so change or remove one");
        for rule in others.iter().take(POINTED_AT) {
            if let Some(span) = self.set.span(rule) {
                finding = finding.note(span, format!("rule `{}`", rule.name));
            }
        }
        self.diagnostics.push(finding);
    }

    fn texts(&self, edges: &[Edge]) -> String {
        edges.iter().map(|&edge| format!("`{}`", self.dag.text(edge))).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use chimera_logic::load::load_text;
    use chimera_logic::render::{Palette, render_all};
    use chimera_logic::vocabulary::Vocabulary;

    use super::*;
    use crate::kinds::solid_concept;
    use crate::photo::class::Class;
    use crate::presets;

    fn found(text: &str, moving: bool) -> String {
        found_by(text, |name| solid_concept(name, moving))
    }

    fn found_by<C: Meaning>(text: &str, named: impl Fn(&str) -> Result<C>) -> String {
        let mut loaded = load_text("my.rules", text, Vocabulary::open());
        lint_meanings(&loaded.rule_set, named, &mut loaded.diagnostics).unwrap();
        render_all(&loaded.diagnostics, &loaded.sources, Palette::Plain)
    }

    #[test]
    fn all_names_that_are_no_concepts_are_underlined() {
        let text = found("a: red_any => bleu_sphere\nb: bleu_sphere | !metl_any\nc: red & enter(cube)\n", false);
        for expected in [
            "error[E020]: unknown concept `bleu_sphere`\n --> my.rules:1:15\n",
            " --> my.rules:2:4\n",
            "unknown concept `metl_any`\n --> my.rules:2:18\n",
            "= hint: did you mean `blue`?",
            "unknown concept `enter(cube)`\n --> my.rules:3:10\n",
            "expected what can be seen in a still picture, got the event `enter(cube)`",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert_eq!(text.matches("error[").count(), 4, "{text}");
        let text = found("a: large_cube => red\n", true);
        assert!(
            text.contains("expected objects of one size, as all are in a clip, got the filter `large_cube`"),
            "{text}"
        );
    }

    #[test]
    fn what_meaning_settles_is_found_without_a_search() {
        let text = found("a: red_cube => red_any\nb: red_cube => cube & red\nc: cube => red\n", false);
        assert!(
            text.contains("E101]: rule `a` always holds, by what its concepts mean: `red_cube => red_any`"),
            "{text}"
        );
        assert!(text.contains("E101]: rule `b` always holds, by what its concepts mean: `red_cube => "), "{text}");
        assert_eq!(text.matches("error[").count(), 2, "{text}");
        let text = found("a: collide_before_half(red,cube) & !collide(cube,red)\n", true);
        assert!(text.contains("error[E100]: rule `a` can never hold, by what its concepts mean: `"), "{text}");
        let text = found("a: cyan => red_cube\nb: !red_any\nc: cyan\nd: metal => cube\n", false);
        let expected =
            "error[E102]: `a` and `b` and `c` cannot hold together, by what their concepts mean: `red_cube => red_any`";
        assert!(text.contains(expected), "{text}");
        // What is wrong whatever concepts mean is for the lint before.
        assert_eq!(found("a: red => red\nb: cube & !cube\nc: cyan\nd: !cyan\n", false), "");
        assert_eq!((found(presets::CLEVR, false), found(presets::CLEVRER, true)), (String::new(), String::new()));
    }

    #[test]
    fn parts_clothes_and_kinds_are_known() {
        let text = found_by(
            "a: Wheel => \"Land vehicle\"\nb: Hat & !Person\nc: \"Human face\" => Man\nd: Furniture => Bench\n",
            Class::named,
        );
        let told = |code: &str, rule: &str, why: &str| {
            let (what, code) =
                (if code == "E101" { "always holds" } else { "can never hold" }, format!("error[{code}]"));
            assert!(
                text.contains(&format!("{code}: rule `{rule}` {what}, by what its concepts mean: `{why}`")),
                "{text}"
            );
        };
        told("E101", "a", "Wheel => \"Land vehicle\"");
        told("E100", "b", "Hat => Person");
        told("E101", "d", "Furniture => Bench");
        assert_eq!(text.matches("error[").count(), 3, "{text}");
        let text = found_by("a: Bicycle => Dress\nb: !Person\nc: \"Bicycle wheel\"\n", Class::named);
        assert!(text.contains("error[E102]: `a` and `b` and `c` cannot hold together"), "{text}");
        assert!(text.contains("`Dress => Person`") && text.contains("`\"Bicycle wheel\" => Bicycle`"), "{text}");
        assert_eq!(found_by(presets::OPENIMAGES, Class::named), "");
    }
}

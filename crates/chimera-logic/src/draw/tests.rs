//! What must hold of every picture, whatever its rules: well-formed, complete, nothing on top of anything else.

use super::layout::{Layout, Rect};
use super::scene::Scene;
use super::*;
use crate::load::load_text;
use crate::syntax::MAX_DEPTH;
use crate::syntax::Op;
use crate::vocabulary::Vocabulary;

const DEGENERATE: &[&str] = &[
    "",
    "r: a",
    "r: !a",
    "r: a & a",
    "r: a <=> !a",
    "r1: a => b\nr2: a => b\nr3: !(a => b)",
    "r1: a\nr2: !a\nr3: a & (a | (a => a))",
    "r: x1 & x2 & x3 & x4 & x5 & x6 & x7 & x8 & x9 & x10 & x11 & x12 & !x13 & x14 & x15 & x16 & x17 & x18 & x19 & x20",
    "\"<r> & \\\"q\\\" \\u{1}\\n\": \"a <b> & 'c' \\\\ \\u{7}\" | \"红色的立方体\" | \"&amp;\" | \"</svg>\"",
    "r: a_very_long_concept_name_that_goes_on(shape=sphere,color=red)-in_front_of-another_one => b",
    "r1: p => q & !(s | t)\nr2: !p & (q <=> s <=> t)\nr3: u => v\nr4: !(s | t)\nr5: (p => q) & (q => !u)",
];

/// A DAG with named roots.
struct Case {
    dag: Dag,
    rules: Vec<(String, Edge)>,
}

impl Case {
    fn figure(&self) -> Figure<'_> {
        Figure::new(&self.dag, self.rules.iter().map(|(name, edge)| Root { name, edge: *edge }).collect())
    }

    fn roots(&self) -> Vec<Edge> {
        self.rules.iter().map(|rule| rule.1).collect()
    }
}

fn rules(text: &str) -> Case {
    let rule_set = load_text("t", text, Vocabulary::open()).rule_set;
    let rules = rule_set.rules.iter().map(|rule| (rule.name.clone(), rule.root)).collect();
    Case { dag: rule_set.dag, rules }
}

/// Random rules with much sharing.
fn random_rules(seed: u64, leaves: usize, gates: usize) -> Case {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut dag = Dag::new(Vocabulary::open());
    let mut pool: Vec<Edge> = Vec::new();
    for index in 0..leaves {
        let concept = dag.resolve(&format!("{}_{index}", random.choice(["red", "blue_sphere", "x"]).unwrap())).unwrap();
        pool.push(dag.leaf(concept));
    }
    let mut used = vec![false; leaves + gates];
    for _ in 0..gates {
        let op = *random.choice(&[Op::And, Op::Or, Op::Implies, Op::Iff]).unwrap();
        let arity = if op == Op::Implies { 2 } else { random.usize(2..5) };
        let recent = pool.len().saturating_sub(leaves.max(40));
        let operands: Vec<Edge> = (0..arity)
            .map(|_| {
                let from = if random.bool() { 0..leaves } else { recent..pool.len() };
                pool[random.usize(from)].negate_if(random.u8(0..4) == 0)
            })
            .collect();
        operands.iter().for_each(|edge| used[edge.node().index()] = true);
        pool.push(dag.gate(op, operands).unwrap());
    }
    let roots = pool.into_iter().filter(|edge| !used[edge.node().index()]);
    let name = |(index, root): (usize, Edge)| (format!("rule_{index}"), root.negate_if(random.u8(0..5) == 0));
    Case { rules: roots.enumerate().map(name).collect(), dag }
}

fn every_kind() -> Vec<Case> {
    let random = [(1, 3, 4), (2, 12, 30), (3, 90, 210), (4, 2, 40)];
    DEGENERATE.iter().map(|text| rules(text)).chain(random.map(|(seed, a, b)| random_rules(seed, a, b))).collect()
}

/// Panics unless tags are balanced, attributes quoted and characters allowed.
fn assert_well_formed(svg: &str) {
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'));
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        for entity in text.split('&').skip(1).chain(tag.split('&').skip(1)) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty());
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

fn attribute(svg: &str, before: &str) -> Vec<f64> {
    let start = svg.find(before).expect("present") + before.len();
    svg[start..].split(['"', ')']).next().unwrap().split(' ').map(|number| number.parse().unwrap()).collect()
}

#[test]
fn pictures_are_complete_and_well_formed() {
    for case in every_kind() {
        let figure = case.figure();
        let cone = case.dag.cone(&case.roots());
        let operands: usize = cone.iter().map(|&id| case.dag.operands(id).len()).sum();
        for direction in [Direction::Auto, Direction::Down, Direction::Right] {
            let options = Options { title: Some("a < b & \u{1}"), direction, ..Options::default() };
            let svg = to_svg(&figure, &options);
            assert_well_formed(&svg);
            assert_eq!(svg.matches("<g class=\"rule\"").count(), case.rules.len());
            assert_eq!(svg.matches("<path class=\"edge").count(), operands + case.rules.len());
            for id in &cone {
                assert_eq!(svg.matches(&format!(" data-node=\"{}\">", id.index())).count(), 1);
            }
            assert_eq!(svg.matches(" data-node=").count(), cone.len());
            assert_eq!(svg, to_svg(&figure, &options));
        }
    }
}

#[test]
fn nothing_lies_on_anything_else() {
    for case in every_kind() {
        let figure = case.figure();
        for direction in [Direction::Down, Direction::Right] {
            let options = Options { direction, ..Options::default() };
            let scene = Scene::new(&figure, &options);
            let layout = Layout::new(&scene, direction);
            for (index, a) in layout.boxes.iter().enumerate() {
                assert!(layout.boxes[..index].iter().all(|b| !overlap(a, b)), "{a:?}");
            }
            for turns in layout.routes.iter().flat_map(|route| route.turns.windows(2)) {
                let ((x0, y0), (x1, y1)) = (turns[0].to, turns[1].from);
                let line = Rect { x: x0 - 1.0, y: y0 - 1.0, width: x1 - x0 + 2.0, height: y1 - y0 + 2.0 };
                assert!(layout.boxes.iter().all(|area| !overlap(area, &line)), "a wire runs through a box");
            }
            let svg = to_svg(&figure, &options);
            let page = attribute(&svg, "viewBox=\"");
            let origin = attribute(&svg, "<g transform=\"translate(");
            let inside = |x: f64, y: f64| {
                let (x, y) = (x + origin[0], y + origin[1]);
                x >= 0.0 && y >= 0.0 && x <= page[2] && y <= page[3]
            };
            assert!(layout.boxes.iter().all(|area| inside(area.x, area.y)));
            assert!(layout.boxes.iter().all(|area| inside(area.x + area.width, area.y + area.height)));
            let turns = || layout.routes.iter().flat_map(|route| &route.turns);
            assert!(turns().all(|turn| inside(turn.from.0, turn.from.1) && inside(turn.to.0, turn.to.1)));
        }
    }
}

#[test]
fn signs_stand_where_they_should() {
    let case = rules("no_ghosts: a & b => !c");
    let svg = to_svg(&case.figure(), &Options::default());
    // One in the picture, one in the legend.
    assert_eq!(svg.matches("<circle class=\"not\"").count(), 2);
    assert!(["if", "then", "1", "2"].iter().all(|mark| svg.contains(&format!(">{mark}</text>"))));
    assert!(["rules", "level 2", "level 1", "concepts"].iter().all(|level| svg.contains(&format!(">{level}</text>"))));
    assert!(svg.contains("<title>no_ghosts: a &amp; b =&gt; !c</title>") && svg.contains("role=\"img\""));
    let plain = to_svg(&case.figure(), &Options { legend: false, ..Options::default() });
    assert!(!plain.contains("class=\"legend\""));
    let whole = load_text("t", "no_ghosts: a & b => !c", Vocabulary::open()).rule_set;
    assert_eq!(to_svg(&Figure::of_rules(&whole), &Options::default()), svg);
    assert_eq!(to_svg(&Figure::of_rule(&whole, &whole.rules[0]), &Options::default()), svg);
}

#[test]
fn names_are_shortened_escaped_and_kept_whole_in_the_tooltip() {
    let case = rules("r: \"<long & \\\"odd\\\" name\\n that goes on and on>\" => b");
    let options = Options { label_columns: 12, ..Options::default() };
    let svg = to_svg(&case.figure(), &options);
    assert!(svg.contains(">&lt;long &amp;… on&gt;</text>"));
    assert!(svg.contains("<title>&lt;long &amp; &quot;odd&quot; name␊ that goes on and on&gt;</title>"));
}

#[test]
fn values_colour_nodes_and_are_printed() {
    let case = rules("r1: !a\nr2: b & c & d");
    let values = [Some(0.125), None, Some(f64::NAN), Some(7.0)];
    let svg = to_svg(&case.figure(), &Options { values: &values, ..Options::default() });
    assert_eq!(svg.matches(">0.12</text>").count(), 1, "the concept");
    assert_eq!(svg.matches(">0.88</text>").count(), 1, "the rule that negates it");
    assert_eq!(svg.matches(">1.00</text>").count(), 1, "clamped");
    assert!(svg.contains(&color::of_value(0.125).to_string()) && svg.contains("probability that it holds"));
    assert!(!svg.contains("NaN") && !svg.contains(&color::RULE.to_string()));
}

#[test]
fn large_and_deep_graphs_are_drawn() {
    let large = random_rules(9, 400, 1600);
    let svg = to_svg(&large.figure(), &Options::default());
    assert_eq!(svg.matches("class=\"gate\"").count(), 1600.min(large.dag.gates().count()));

    // A ladder as deep as formulas may be: every rung refers to the one below and to the same concepts.
    let mut dag = Dag::new(Vocabulary::open());
    let [a, b] = ["a", "b"].map(|name| dag.resolve(name).map(|concept| dag.leaf(concept)).unwrap());
    let mut rung = a;
    for index in 0..MAX_DEPTH {
        rung = dag.gate(Op::Implies, vec![if index % 2 == 0 { a } else { b }, rung.negate_if(true)]).unwrap();
    }
    let case = Case { dag, rules: vec![("deep".to_owned(), rung)] };
    let svg = to_svg(&case.figure(), &Options::default());
    assert_eq!(svg.matches("class=\"gate\"").count(), MAX_DEPTH);
    assert!(svg.len() < 4_000_000);
}

#[test]
fn graphviz_text_is_complete_and_quoted() {
    for case in every_kind() {
        let figure = case.figure();
        let dot = to_dot(&figure, &Options { title: Some("\"t\" \\"), ..Options::default() });
        let cone = case.dag.cone(&case.roots());
        let edges: usize = cone.iter().map(|&id| case.dag.operands(id).len()).sum::<usize>() + case.rules.len();
        let negated =
            cone.iter().flat_map(|&id| case.dag.operands(id)).chain(&case.roots()).filter(|e| e.is_negated()).count();
        assert_eq!(dot.lines().filter(|line| line.contains(" -> ") && !line.contains("tooltip")).count(), edges);
        assert_eq!(dot.matches("arrowtail=odot").count(), negated);
        assert_eq!(dot.matches("tooltip=").count(), cone.len() + case.rules.len());
        for line in dot.lines() {
            let unescaped = line.replace("\\\\", "").replace("\\\"", "");
            assert_eq!(unescaped.matches('"').count() % 2, 0, "{line}");
        }
    }
    let dot = to_dot(&rules("r: \"&lt;\\\\n\" => !b").figure(), &Options::default());
    assert!(dot.contains("label=\"&amp;lt;\\\\n\"") && dot.contains("taillabel=\"then\""));
}

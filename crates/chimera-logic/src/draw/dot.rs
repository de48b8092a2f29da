//! The figure as Graphviz text. Levels are ranks, rules on top and concepts at the bottom; a negated edge is dashed,
//! purple and starts with an open dot; the tail of an edge says which operand it is.

use std::fmt::Write;

use super::scene::{Kind, Scene};
use super::shape::resting_fill;
use super::{Direction, Figure, Options, color, label};

/// Writes the figure in Graphviz' language, for `dot -Tsvg` and the like.
#[must_use]
pub fn to_dot(figure: &Figure<'_>, options: &Options<'_>) -> String {
    let scene = Scene::new(figure, options);
    let tinted = !scene.has_values();
    let mut dot = String::from("digraph rules {\n");
    let direction = if options.direction == Direction::Right { "LR" } else { "TB" };
    let mut line = |content: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(dot, "{content}");
    };
    line(format_args!("  graph [rankdir={direction}, ranksep=0.6, nodesep=0.25, fontname=\"Helvetica\"];"));
    line(format_args!("  node [fontname=\"Courier\", fontsize=11, style=filled, height=0.3, margin=\"0.12,0.05\"];"));
    line(format_args!("  edge [fontname=\"Helvetica\", fontsize=9, arrowhead=none, color=\"{}\"];", color::EDGE));
    if let Some(title) = options.title {
        line(format_args!("  label={}; labelloc=t;", quote(&label::printable(title))));
    }
    for layer in (0..scene.layers()).rev() {
        line(format_args!("  {{"));
        line(format_args!("    rank=same;"));
        for (index, item) in scene.items.iter().enumerate().filter(|(_, item)| item.layer == layer) {
            let shape = match item.kind {
                Kind::Rule => "shape=cds",
                Kind::Gate(_) => "shape=box, style=\"rounded,filled\"",
                Kind::Concept => "shape=box",
            };
            let text = match item.value {
                Some(value) => format!("{} {value:.2}", item.label),
                None => item.label.clone(),
            };
            let fill = item.value.map_or_else(|| resting_fill(item.kind, tinted), color::of_value);
            line(format_args!(
                "    {} [label={}, tooltip={}, {shape}, fillcolor=\"{fill}\", fontcolor=\"{}\"];",
                name(&scene, index),
                quote(&text),
                quote(&item.tooltip),
                color::text_on(fill)
            ));
        }
        line(format_args!("  }}"));
    }
    for wire in &scene.wires {
        let mut attributes = Vec::new();
        if let Some(text) = scene.port_text(wire) {
            attributes.push(format!("taillabel={}", quote(&text)));
        }
        if wire.negated {
            let color = color::NEGATED;
            attributes
                .push(format!("dir=both, arrowtail=odot, style=dashed, color=\"{color}\", fontcolor=\"{color}\""));
            attributes.push("label=\"not\"".to_owned());
        }
        line(format_args!("  {} -> {} [{}];", name(&scene, wire.from), name(&scene, wire.to), attributes.join(", ")));
    }
    dot.push_str("}\n");
    dot
}

fn name(scene: &Scene, item: usize) -> String {
    match scene.items[item].kind {
        Kind::Rule => format!("rule{item}"),
        Kind::Gate(_) | Kind::Concept => format!("node{}", scene.items[item].node.index()),
    }
}

/// A quoted string. Graphviz reads backslashes and HTML entities in labels.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '&' => quoted.push_str("&amp;"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

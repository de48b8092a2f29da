//! Drawings of rules: one rule or a whole set, with every shared sub-formula shown once. [`to_svg`] lays the DAG out
//! itself and gives a finished picture; [`to_dot`] gives Graphviz text for those who want another layout. Nodes may
//! carry a value in [0, 1], the probability that they hold, which colours them. The same input gives the same bytes.
//!
//! The way of a picture: `scene` (what is drawn) -> `layers` (rows, with bends for long edges) -> `order` (few
//! crossings) -> `place` (straight edges) -> `layout` (boxes and curves on a page) -> `svg`.

mod color;
mod dot;
mod label;
mod layers;
mod layout;
mod legend;
mod order;
mod place;
mod scene;
mod shape;
mod svg;
#[cfg(test)]
mod tests;

pub use dot::to_dot;
pub use label::escape_xml;
pub use svg::to_svg;

use crate::dag::{Dag, Edge};
use crate::rules::{Rule, RuleSet};

/// A named reference into the DAG: a rule.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a> {
    /// The name on the flag.
    pub name: &'a str,
    /// The node that must hold, with its polarity.
    pub edge: Edge,
}

/// What is to be drawn: some rules and everything below them.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// The DAG; only what the roots need is drawn.
    pub dag: &'a Dag,
    /// The rules, in order.
    pub roots: Vec<Root<'a>>,
}

impl<'a> Figure<'a> {
    /// Named references into a DAG.
    #[must_use]
    pub fn new(dag: &'a Dag, roots: Vec<Root<'a>>) -> Self {
        Self { dag, roots }
    }

    /// All rules of a set.
    #[must_use]
    pub fn of_rules(rule_set: &'a RuleSet) -> Self {
        let roots = rule_set.rules.iter().map(|rule| Root { name: &rule.name, edge: rule.root }).collect();
        Self::new(&rule_set.dag, roots)
    }

    /// One rule of a set.
    #[must_use]
    pub fn of_rule(rule_set: &'a RuleSet, rule: &'a Rule) -> Self {
        Self::new(&rule_set.dag, vec![Root { name: &rule.name, edge: rule.root }])
    }
}

/// Which way one reads from the rules to the concepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Down while a page can hold the widest level, else to the right: names then stand under each other.
    #[default]
    Auto,
    /// Levels are rows: rules on top, concepts at the bottom.
    Down,
    /// Levels are columns: rules at the left, concepts at the right.
    Right,
}

/// How a figure is drawn.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Words above the picture; none by default.
    pub title: Option<&'a str>,
    /// A value in [0, 1] a node, by [`NodeId::index`](crate::dag::NodeId::index): the probability that it holds. Nodes
    /// past the end, `None` and NaN stay neutral. A rule shows its root's value, or 1 minus it where the root is
    /// negated. Empty by default.
    pub values: &'a [Option<f64>],
    /// What a value means, for the legend. By default `probability that it holds`.
    pub value_name: &'a str,
    /// Which way to read; by default as fits a page.
    pub direction: Direction,
    /// The longest name in columns of text, at least 4; longer ones lose their middle and keep it in the tooltip. By
    /// default 30.
    pub label_columns: usize,
    /// Whether to explain the signs below the picture; true by default.
    pub legend: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            title: None,
            values: &[],
            value_name: "probability that it holds",
            direction: Direction::Auto,
            label_columns: 30,
            legend: true,
        }
    }
}

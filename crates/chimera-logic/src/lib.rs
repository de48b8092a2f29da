//! Rules as text, formulas, one shared DAG, and their exact truth.
//!
//! The way of a rule: [`load`](load::load) reads text (lexer, [`parser`]) into lines ([`syntax`]), resolves names against a
//! [`vocabulary`] and interns every formula into one [`dag`]; [`truth`] evaluates all of it over bit columns
//! ([`bits`]), and [`coverage`] counts which operand configurations the data hold. Findings are [`diagnostic`]s with places
//! ([`span`]) that [`render`] shows. [`printer`] writes text back, [`graph`] the paper's graph form, [`draw`] pictures.
//! [`prob`] and [`bdd`] give rule probabilities, approximate and exact, and the cheapest repair; [`lint`] finds rules that
//! make no sense, with the help of [`sat`].
//!
//! This crate opens no files, reads no clock and no environment, and prints nothing.

#![forbid(unsafe_code)]

pub mod attributes;
pub mod bdd;
pub mod bits;
pub mod coverage;
pub mod dag;
pub mod diagnostic;
pub mod draw;
pub mod graph;
mod lexer;
pub mod lint;
pub mod load;
pub mod parser;
pub mod printer;
pub mod prob;
pub mod render;
pub mod rules;
pub mod sat;
mod slots;
pub mod span;
mod steps;
pub mod syntax;
pub mod truth;
pub mod vocabulary;

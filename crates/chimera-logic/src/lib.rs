//! Rules as text, formulas, one shared DAG, and their exact truth.
//!
//! The way of a rule: [`load`](load::load) reads text (lexer, [`parser`]) into lines ([`syntax`]), resolves names against a
//! [`vocabulary`] and interns every formula into one [`dag`]; [`truth`] evaluates all of it over bit columns
//! ([`bits`]), and [`coverage`] counts which operand configurations the data hold. Findings are [`diagnostic`]s with places
//! ([`span`]) that [`render`] shows. [`printer`] writes text back, [`graph`] the paper's graph form.
//!
//! This crate opens no files, reads no clock and no environment, and prints nothing.

#![forbid(unsafe_code)]

pub mod attributes;
pub mod bits;
pub mod coverage;
pub mod dag;
pub mod diagnostic;
pub mod graph;
mod lexer;
pub mod load;
pub mod parser;
pub mod printer;
pub mod render;
pub mod rules;
pub mod span;
pub mod syntax;
pub mod truth;
pub mod vocabulary;

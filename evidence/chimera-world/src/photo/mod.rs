//! Pictures that stand for photographs: figures of things out of Open Images' hierarchy, with their parts and what they
//! wear, before a cluttered backdrop. Everything is drawn flat, from shapes that know how far away their border is.

mod backdrop;
mod canvas;
pub mod class;
pub mod figure;
pub mod figures;
mod layout;
pub mod scene;
mod shape;
mod sight;
pub mod thing;

//! The worlds of CLEVR and CLEVRER: plain solids on a table. How objects look, what the datasets' own files say about
//! scenes and videos, and the language in which concepts of them are named.

pub mod annotation;
pub mod clip;
pub mod concept;
pub mod filter;
pub mod look;
pub mod outline;
pub mod scenes;

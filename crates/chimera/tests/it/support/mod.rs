//! What several tests share: a small dataset of pictures, and formulas as people type them.

#[path = "../../../../chimera-leaf/tests/it/support/squares.rs"]
pub(crate) mod squares;
pub(crate) mod typed;

//! What Chimera reads and writes. Any source becomes a dataset folder ([`import`]), and everything else reads that folder ([`dataset`]): labels ([`table`]),
//! ready-made vectors ([`features`]), pictures and videos ([`media`]). [`metric`] measures scores.
//!
//! Below them is what every crate needs for files: [`mod@file`] writes results so that nothing is ever left half written, [`new_folder`] does so for folders,
//! [`chunks`] keeps large results on disk with their checksums, and [`error`] says what went wrong, whose fault it is and what to do. There are no tensors here.

pub mod chunks;
pub mod clevr;
pub mod dataset;
pub mod error;
pub mod features;
pub mod file;
pub mod import;
pub mod media;
pub mod metric;
pub mod new_folder;
pub mod parallel;
pub mod seed;
mod source;
pub mod split;
pub mod table;
pub mod toml_file;
pub mod vidor;

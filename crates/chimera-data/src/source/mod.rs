//! Sources before they are datasets: which files lie there, what they seem to be, and which importer they are for.

pub(crate) mod deflated;
pub(crate) mod idx;
pub(crate) mod listing;
pub(crate) mod media_look;
pub(crate) mod recognise;

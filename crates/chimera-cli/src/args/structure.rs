//! What can be typed after `chimera rules structure`.

use std::path::PathBuf;

use chimera_data::dataset::structure::PER_PARENT_PAIR_LIMIT;
use clap::{Args, ValueEnum};

/// Which way rules are read off a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StructureDirection {
    /// A kind implies what it is a kind of, a part its whole.
    Natural,
    /// Coarse implies fine, a whole its part; and compounds of siblings.
    Inverted,
    /// All of them.
    Both,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera rules structure ds/ -o structure.rules\n  \
    chimera rules structure ds/ --direction inverted --per-parent-pair-limit 2 -o inverted.rules\n  \
    chimera rules structure ds/ | grep compound\n\n\
    Reads hierarchy.json of the dataset. Rules that closed labels can never break, such as Car => Vehicle, and ties\n\
    that the hierarchy does not say itself are left out and listed with the reason, here and in comments of the file.\n\
    A file with other rules is never written over.")]
pub(crate) struct StructureArguments {
    /// Dataset folder with `hierarchy.json`.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Which way to read the hierarchy.
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) direction: StructureDirection,
    /// For how many pairs of children each parent gets `parent => a & b` and `parent => a | b`: the most common on train rows.
    #[arg(long, value_name = "N", default_value_t = PER_PARENT_PAIR_LIMIT)]
    pub(crate) per_parent_pair_limit: usize,
    /// Write to a new file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

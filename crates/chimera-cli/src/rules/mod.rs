//! `chimera rules ...`: one file a command.

mod check;
mod coverage;
mod format;
mod graph;
pub(crate) mod input;
mod probability;
mod show;
mod structure;
mod truth;

use crate::Outcome;
use crate::args::RulesCommand;
use crate::console::Console;

pub(crate) fn run(command: &RulesCommand, console: &mut Console) -> anyhow::Result<Outcome> {
    match command {
        RulesCommand::Check(arguments) => check::run(arguments, console),
        RulesCommand::Fmt(arguments) => format::run(arguments, console),
        RulesCommand::Show(arguments) => show::run(arguments, console),
        RulesCommand::Truth(arguments) => truth::run(arguments, console),
        RulesCommand::Coverage(arguments) => coverage::run(arguments, console),
        RulesCommand::Graph(arguments) => graph::run(arguments, console),
        RulesCommand::Structure(arguments) => structure::run(arguments, console),
    }
}

//! `chimera data ...`: one file a command.

mod audit;
mod check;
mod show;

use crate::Outcome;
use crate::args::DataCommand;
use crate::console::Console;

pub(crate) fn run(command: &DataCommand, console: &mut Console) -> anyhow::Result<Outcome> {
    match command {
        DataCommand::Show(arguments) => show::run(arguments, console),
        DataCommand::Check(arguments) => check::run(arguments, console),
    }
}

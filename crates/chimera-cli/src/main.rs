//! The program `chimera`: reads arguments, runs one command, and turns its outcome into an exit code.

mod add;
mod args;
mod cache;
mod compare;
mod console;
mod data;
#[cfg(feature = "evidence")]
mod demo;
mod devices;
mod ending;
mod eval;
#[cfg(feature = "evidence")]
mod experiment;
mod explain;
mod import;
mod mine;
mod review;
mod rules;
mod score;
mod selftest;
mod table;
mod train;
#[cfg(feature = "evidence")]
mod world;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Arguments, Command};
use crate::console::Console;

/// How a command that could run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Nothing to complain about: exit code 0.
    Done,
    /// It found what it looks for (errors in rules, a file that is not formatted): exit code 1.
    Findings,
    /// Some inputs could not be scored: exit code 3.
    Incomplete,
    /// A sample is flagged, and that is what somebody waits for: exit code 4.
    Flagged,
    /// It was asked to end before it was done, and left what it had: exit code 130, as shells expect.
    Interrupted,
}

/// Exit code of a command that could not run.
const COULD_NOT_RUN: u8 = 2;

/// Exit code of a command that was interrupted: 128 and the number of the signal of Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Whatever is made on no device in particular is made in this process: burn would take the first GPU, whether one is there or
/// not, to read a checkpoint.
#[cfg(feature = "cuda")]
#[allow(
    unsafe_code,
    reason = "the first thing that the program does: no other thread can read the environment meanwhile"
)]
fn start_on_the_processor() {
    unsafe {
        std::env::set_var("BURN_DEVICE", "flex");
    }
}

fn main() -> ExitCode {
    #[cfg(feature = "cuda")]
    start_on_the_processor();
    let arguments = Arguments::parse();
    let mut console = Console::new(arguments.quiet);
    if let Err(error) = console::clean_up_on_interrupt() {
        console.error(&error);
    }
    // Without a cache folder, kernels of GPUs are compiled in each run.
    if let Ok(cache) = train::cache_folder(None) {
        chimera_leaf::device::keep_kernels_in(&cache);
    }
    let outcome = dispatch(arguments.command, &mut console);
    console::wait_for_end();
    // Whoever reads us may have seen enough (`chimera ... | head`): that is no failure, and changes no outcome.
    let flushed = console::heard(console.finish());
    chimera_leaf::device::settle();
    match outcome.and_then(|outcome| flushed.map(|()| outcome)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(3),
        Ok(Outcome::Flagged) => ExitCode::from(4),
        Ok(Outcome::Interrupted) => ExitCode::from(INTERRUPTED),
        // Results were still on their way, and nothing was found that has a code of its own.
        Err(error) if console::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            console.error(&error);
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

/// Runs a command.
fn dispatch(command: Command, console: &mut Console) -> anyhow::Result<Outcome> {
    match command {
        Command::Rules(command) => rules::run(&command, console),
        Command::Import(command) => import::run(&command, console),
        #[cfg(feature = "evidence")]
        Command::World(command) => world::run(&command, console),
        Command::Data(command) => data::run(&command, console),
        Command::Mine(arguments) => mine::run(&arguments, console),
        Command::Train(arguments) => train::run(&arguments, console),
        Command::Add(arguments) => add::run(&arguments, console),
        Command::Score(arguments) => score::run(&arguments, console),
        Command::Eval(arguments) => eval::run(&arguments, console),
        Command::Compare(arguments) => compare::run(&arguments, console),
        Command::Explain(arguments) => explain::run(&arguments, console),
        Command::Review(arguments) => review::run(&arguments, console),
        #[cfg(feature = "evidence")]
        Command::Experiment(arguments) => experiment::run(&arguments, console),
        Command::Cache(command) => cache::run(&command, console),
        Command::Devices => devices::run(console),
        Command::Selftest { device } => selftest::run(device, console),
        #[cfg(feature = "evidence")]
        Command::Demo(arguments) => demo::run(&arguments, console),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Arguments::command(), "chimera", console.results());
            Ok(Outcome::Done)
        }
    }
}

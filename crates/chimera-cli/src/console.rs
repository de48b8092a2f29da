//! Everything that is printed passes here: results to standard output, words to standard error, both alive when a pipe closes.

#![expect(clippy::disallowed_methods, reason = "this is the console, and the terminal's conventions are its business")]

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use anyhow::{Context, bail};
use chimera_logic::render::Palette;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// The two streams of the program.
pub(crate) struct Console {
    quiet: bool,
    results: BufWriter<Stdout>,
}

impl Console {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, results: BufWriter::new(io::stdout()) }
    }

    /// Where results go.
    pub(crate) fn results(&mut self) -> &mut dyn Write {
        &mut self.results
    }

    /// Writes a result where `-o` says: a file that is whole or not there, or standard output for nothing, `-` and
    /// `/dev/stdout`. A file that the command reads is never written over.
    pub(crate) fn write_out(
        &mut self,
        out: Option<&Path>,
        inputs: &[&Path],
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        let Some(path) = out.filter(|path| !["-", "/dev/stdout"].map(Path::new).contains(path)) else {
            return write(&mut self.results).context("cannot write to standard output");
        };
        let real = |path: &Path| path.canonicalize().ok();
        if let Some(input) = inputs.iter().find(|input| real(path).is_some() && real(input) == real(path)) {
            bail!(
                "`{}` is what the command reads; it is left as it is\nhint: give another file to `-o`",
                input.display()
            );
        }
        Ok(chimera::file::write_atomic(path, write)?)
    }

    /// Writes a value as JSON and ends the line.
    pub(crate) fn write_json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        // As an error of the stream, so that a closed pipe can be told.
        serde_json::to_writer_pretty(&mut self.results, value).map_err(io::Error::from)?;
        Ok(writeln!(self.results)?)
    }

    /// Whether `-q` asked for results alone.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A sentence for the person at the terminal. A closed standard error is no reason to fail.
    pub(crate) fn say(&self, words: impl std::fmt::Display) {
        if !self.quiet {
            let _ = writeln!(io::stderr(), "{words}");
        }
    }

    /// A bar for long work: drawn on a terminal, nothing elsewhere and with `-q`. It goes when it is dropped.
    pub(crate) fn bar(&self, what: &'static str) -> Bar {
        let hidden = self.quiet || !io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(
            None,
            if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() },
        );
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {elapsed} (left {eta}) {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(what);
        Bar(bar)
    }

    /// Text that is shown on standard error even with `-q`: why a command could not run.
    pub(crate) fn complain(&self, words: impl std::fmt::Display) {
        let _ = writeln!(io::stderr(), "{words}");
    }

    /// An error with its causes.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        self.complain(format_args!("error: {error:#}"));
    }

    /// Writes out what is buffered; the last chance to notice a full disk behind standard output.
    pub(crate) fn finish(&mut self) -> anyhow::Result<()> {
        self.results.flush().context("cannot write to standard output")
    }
}

/// How far long work has come.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// So much is done. May be called from several threads, in any order.
    pub(crate) fn set(&self, done: usize, total: usize) {
        self.0.set_length(total as u64);
        if done as u64 > self.0.position() {
            self.0.set_position(done as u64);
        }
    }

    /// Words behind the bar.
    pub(crate) fn say(&self, words: String) {
        self.0.set_message(words);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Colours for a terminal that wants them.
pub(crate) fn palette(is_terminal: bool) -> Palette {
    #[expect(
        clippy::disallowed_methods,
        reason = "NO_COLOR is a convention of terminals, and this is the terminal's side"
    )]
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_terminal && !refused { Palette::Ansi } else { Palette::Plain }
}

pub(crate) fn results_palette() -> Palette {
    palette(io::stdout().is_terminal())
}

pub(crate) fn words_palette() -> Palette {
    palette(io::stderr().is_terminal())
}

/// Whether an error only says that the reader of our output has left.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(closed)
}

/// The error of the stream behind a CSV writer, not wrapped, so that a closed pipe can be told.
pub(crate) fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// On Ctrl-C, and when the program is asked to end (SIGTERM) or its terminal is gone (SIGHUP): remove unfinished files, then
/// go. Whoever said by `nohup` that the terminal may go keeps the program.
pub(crate) fn clean_up_on_interrupt() -> anyhow::Result<()> {
    #[expect(clippy::exit, reason = "an interrupt ends the program; 130 is what shells expect of it")]
    let handler = || {
        chimera::file::remove_unfinished();
        std::process::exit(130);
    };
    match ctrlc::try_set_handler(handler) {
        Err(ctrlc::Error::MultipleHandlers) if ignores_hangups() => Ok(()),
        // A shell ignores Ctrl-C for what it runs in the background; that leaves nothing to keep.
        Err(ctrlc::Error::MultipleHandlers) => ctrlc::set_handler(handler),
        set => set,
    }
    .context("cannot listen for Ctrl-C")
}

/// Whether the program was started to outlive its terminal. Only Linux tells; elsewhere it counts as so.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is signal 1, the lowest bit.
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

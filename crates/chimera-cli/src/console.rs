//! Everything that is printed passes here: results to standard output, words to standard error, both alive when a pipe closes.

#![expect(clippy::disallowed_methods, reason = "this is the console, and the terminal's conventions are its business")]

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

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
        let Some(path) = file_of(out) else {
            return write(&mut self.results).context("cannot write to standard output");
        };
        check_out(out, inputs.iter().map(|input| input.to_path_buf()), &[])?;
        Ok(chimera_data::file::write_atomic(path, write)?)
    }

    /// Writes a value as JSON and ends the line.
    pub(crate) fn write_json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        // As an error of the stream, so that a closed pipe can be told.
        serde_json::to_writer_pretty(&mut self.results, value).map_err(io::Error::from)?;
        Ok(writeln!(self.results)?)
    }

    /// Whether results appear on the terminal, where a bar would run into them.
    pub(crate) fn shows_results(&self) -> bool {
        io::stdout().is_terminal()
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

/// The file that `-o` names; `None` where nothing, `-` or `/dev/stdout` means standard output.
pub(crate) fn file_of(out: Option<&Path>) -> Option<&Path> {
    out.filter(|path| !["-", "/dev/stdout"].map(Path::new).contains(path))
}

/// The file that `-o` names, for a command that tells something else on standard output.
pub(crate) fn file_beside(out: Option<&Path>) -> anyhow::Result<Option<&Path>> {
    match (out, file_of(out)) {
        (Some(path), None) => bail!(
            "expected a file for `-o`, got `{}`\nhint: standard output has what is told; leave `-o` out, or give `--json` for programs",
            path.display()
        ),
        (_, file) => Ok(file),
    }
}

/// Makes sure before any work that a result can go where `-o` says: its folder is there, and it is neither a file that the
/// command reads nor anything inside a folder that it reads.
pub(crate) fn check_out(
    out: Option<&Path>,
    mut inputs: impl Iterator<Item = PathBuf>,
    folders: &[&Path],
) -> anyhow::Result<()> {
    let Some(path) = file_of(out) else { return Ok(()) };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |cause: io::Error| chimera_data::error::Error::Write { path: path.to_owned(), cause };
    let real_parent = parent.canonicalize().map_err(failed)?;
    let Ok(real) = path.canonicalize() else {
        // What is not there yet can only be in the wrong folder.
        return check_folders(path, &real_parent, folders);
    };
    if real.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()).into());
    }
    if let Some(input) = inputs.find(|input| input.canonicalize().is_ok_and(|input| input == real)) {
        bail!("`{}` is what the command reads; it is left as it is\nhint: give another file to `-o`", input.display());
    }
    check_folders(path, &real, folders)
}

fn check_folders(path: &Path, real: &Path, folders: &[&Path]) -> anyhow::Result<()> {
    let is_around = |folder: &&&Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    if let Some(folder) = folders.iter().find(is_around) {
        bail!(
            "`{}` lies in `{}`, which the command reads; that is left as it is\nhint: give a file elsewhere to `-o`",
            path.display(),
            folder.display()
        );
    }
    Ok(())
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

/// What was printed of something that is known by now. Where the reader has left, that is no failure and changes no outcome.
pub(crate) fn heard<E: Into<anyhow::Error>>(printed: Result<(), E>) -> anyhow::Result<()> {
    match printed.map_err(E::into) {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        printed => printed,
    }
}

/// The error of the stream behind a CSV writer, not wrapped, so that a closed pipe can be told.
pub(crate) fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Whether a command ends by itself when it is asked to.
static COOPERATES: AtomicBool = AtomicBool::new(false);

/// Whether it was asked to.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether an interrupt is ending the program.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Waits for the end where an interrupt is bringing it about: a command whose files are gone has nothing more to say.
pub(crate) fn wait_for_end() {
    while ENDS.load(Ordering::SeqCst) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// From now on the first interrupt only sets what is returned, for a command that looks at it, finishes what it writes and
/// ends; the next one ends the program at once, as ever.
pub(crate) fn stop_on_interrupt() -> &'static AtomicBool {
    COOPERATES.store(true, Ordering::SeqCst);
    &INTERRUPTED
}

/// On Ctrl-C, and when the program is asked to end (SIGTERM) or its terminal is gone (SIGHUP): remove unfinished files, then
/// go. Whoever said by `nohup` that the terminal may go keeps the program.
pub(crate) fn clean_up_on_interrupt() -> anyhow::Result<()> {
    #[expect(clippy::exit, reason = "an interrupt ends the program; 130 is what shells expect of it")]
    let handler = || {
        if COOPERATES.load(Ordering::SeqCst) && !INTERRUPTED.swap(true, Ordering::SeqCst) {
            return;
        }
        ENDS.store(true, Ordering::SeqCst);
        // Threads that are still at work may find what they work with gone; nobody wants to hear of that now.
        std::panic::set_hook(Box::new(|_| {}));
        // A progress bar leaves its line open.
        let line = if io::stderr().is_terminal() { "\n" } else { "" };
        let _ = writeln!(io::stderr(), "{line}interrupted; what was half written is gone");
        // Last of all: a thread that is still at work could begin something new. One that has just made a file is given the time
        // to say so.
        std::thread::sleep(std::time::Duration::from_millis(10));
        chimera_data::file::remove_unfinished();
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

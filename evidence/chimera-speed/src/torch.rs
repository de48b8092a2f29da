//! The same work in PyTorch: a script of ours, run by the user's Python, that answers line by line.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{Measurement, On};
use super::{Bench, Notes};

const SCRIPT: &str = include_str!("torch.py");

/// Where the script is put. Under its own name Python would take it for PyTorch itself.
const COPY: &str = "speed_torch.py";

/// Where its words go.
const LOG: &str = "speed_torch.log";

/// Seconds beyond its limit after which the script is stopped: it looks at the clock between measurements only.
const GRACE: u64 = 60;

/// A line of the script.
#[derive(Debug, Deserialize)]
struct Answer {
    what: String,
    #[serde(default)]
    case: String,
    #[serde(default)]
    by: String,
    #[serde(default)]
    precision: String,
    value: Option<f64>,
    #[serde(default)]
    unit: String,
    runs: Option<usize>,
    spread: Option<f64>,
    error: Option<String>,
}

impl Answer {
    fn on(self, on: On) -> Measurement {
        let Self { what, case, by, precision, value, unit, runs, spread, error } = self;
        let mut measured = Measurement::ours(&what, &case, on, (0.0, &unit));
        (measured.by, measured.precision, measured.value, measured.error) = (by, precision, value, error);
        (measured.runs, measured.spread) = (runs, spread);
        measured
    }
}

/// Finds out at once whether the Python has PyTorch, and which.
pub(super) fn check(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    let on = bench.places().last().copied().unwrap_or(On::Cpu);
    let answers = answers(bench, "machine", on, json!({}), 30)?;
    let Some(about) = answers.first().filter(|answer| answer.error.is_none()) else {
        let log = fs::read_to_string(bench.site.folder.join(LOG)).unwrap_or_default();
        let said = answers.first().and_then(|answer| answer.error.clone());
        let said = said.or_else(|| log.lines().last().map(str::to_owned)).unwrap_or_default();
        let message = format!("the Python of `--python` cannot run PyTorch: {said}");
        return Err(Error::input(message, Some("it needs `torch` and `torchvision`".to_owned())));
    };
    notes.book.note("torch", &about.case);
    if on == On::Gpu {
        notes.book.note("gpu", &about.by);
    }
    Ok(())
}

/// What PyTorch reaches; nothing without a Python. Work must be done within so many seconds; what is left then is told as such.
pub(super) fn ask(bench: &Bench<'_>, part: &str, on: On, sizes: Value, seconds: u64) -> Result<Vec<Measurement>> {
    if bench.python.is_none() {
        return Ok(Vec::new());
    }
    bench.site.say(&format!("asking PyTorch on the {}", on.name()));
    Ok(answers(bench, part, on, sizes, seconds)?.into_iter().map(|answer| answer.on(on)).collect())
}

fn answers(bench: &Bench<'_>, part: &str, on: On, mut sizes: Value, seconds: u64) -> Result<Vec<Answer>> {
    let Some(python) = bench.python else { return Ok(Vec::new()) };
    let (script, log) = (bench.site.folder.join(COPY), bench.site.folder.join(LOG));
    write_atomic(&script, |out| out.write_all(SCRIPT.as_bytes()))?;
    let seconds = bench.full_or_quick(seconds, 15.min(seconds));
    sizes["threads"] = bench.site.threads.get().into();
    sizes["seconds"] = seconds.into();
    sizes["budget"] = bench.full_or_quick(1.0, 0.1).into();
    sizes["quick"] = bench.quick.into();
    let words = [part, on.torch_name(), &sizes.to_string()].map(str::to_owned);
    let child = started(python, &script, &words, &log)?;
    Ok(heard(child, Duration::from_secs(seconds + GRACE), &log))
}

fn started(python: &Path, script: &Path, words: &[String], log: &Path) -> Result<Child> {
    let log_file = File::create(log).map_err(|cause| Error::write(log, cause))?;
    let mut command = Command::new(python);
    command.arg(script).args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log_file);
    command.spawn().map_err(|cause| {
        let words = chimera_data::error::system_words(&cause);
        let message = format!("cannot start `{}`: {words}", python.display());
        Error::input(message, Some("`--python` takes a Python that has PyTorch".to_owned()))
    })
}

/// All lines of a script, until it ends or is out of time; a last one says so if it failed.
fn heard(mut child: Child, limit: Duration, log: &Path) -> Vec<Answer> {
    let deadline = Instant::now() + limit;
    let (send, receive) = channel::<Answer>();
    let mut answers = Vec::new();
    let Some(out) = child.stdout.take() else { return answers };
    let reader = std::thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(std::result::Result::ok);
        for answer in lines.filter_map(|line| serde_json::from_str::<Answer>(&line).ok()) {
            if send.send(answer).is_err() {
                break;
            }
        }
    });
    let late = loop {
        match receive.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => answers.push(answer),
            Err(RecvTimeoutError::Disconnected) => break false,
            Err(RecvTimeoutError::Timeout) => break true,
        }
    };
    if late {
        let _ = child.kill();
    }
    let status = child.wait().ok();
    let succeeded = status.is_some_and(|status| status.success());
    if !late {
        let _ = reader.join();
    }
    if !succeeded {
        let log = fs::read_to_string(log).unwrap_or_default();
        let silent =
            || status.map_or_else(|| "it said nothing".to_owned(), |status| format!("it said nothing ({status})"));
        let last = log.lines().rfind(|line| !line.trim().is_empty()).map_or_else(silent, str::to_owned);
        let error = Some(if late { "it took too long".to_owned() } else { last });
        let what = "script".to_owned();
        let [case, by, precision, unit] = ["", "torch", "", ""].map(str::to_owned);
        answers.push(Answer { what, case, by, precision, value: None, unit, runs: None, spread: None, error });
    }
    answers
}

//! What is told when scoring ends: words for people, and with `--json` an object for programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chimera::baseline::FittedOn;
use chimera::score::pass::{Seconds, Tally};
use chimera_data::dataset::media::LeftOut;
use chimera_leaf::stream::Sources;
use serde::Serialize;

use super::output::Row;
use crate::Outcome;
use crate::args::FailOn;
use crate::console::Console;
use crate::table::{counted, grouped};

/// So many samples that are left out are named in words.
const LISTED: usize = 10;

/// A sample without scores.
#[derive(Debug, Serialize)]
struct Missing {
    id: String,
    path: Option<PathBuf>,
    reason: String,
}

/// What came of scoring.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    /// Samples that were scored.
    pub(crate) samples: usize,
    flagged: usize,
    /// Samples of which it is unknown whether they are flagged.
    unknown: usize,
    /// Why no sample can be judged by the false-alarm rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) no_promise: Option<String>,
    /// Samples that were asked for.
    pub(crate) of: usize,
    pub(crate) interrupted: bool,
    left_out: Vec<Missing>,
    /// Samples whose encoding an earlier run had kept.
    kept: usize,
    /// How samples are flagged.
    pub(crate) flag: &'static str,
    /// Of the one number of a sample.
    pub(crate) threshold: Option<f64>,
    /// Of each rule, where they count.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rule_thresholds: BTreeMap<String, Option<f64>>,
    pub(crate) method: &'static str,
    /// Rules that `neural` scores by independent events, since grafts cannot be trusted for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) by_indep_cal: Vec<String>,
    pub(crate) aggregation: &'static str,
    pub(crate) tau: f64,
    pub(crate) min_severity: Option<String>,
    /// Concepts that were taken as given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) set: Vec<String>,
    /// Other rules than the model's.
    pub(crate) rules: Option<PathBuf>,
    /// The samples that break rules that a method or an aggregation has seen.
    pub(crate) fitted_on: Option<FittedOn>,
    pub(crate) fpr: f64,
    /// Normal calibration rows that thresholds come from.
    pub(crate) normal_rows: usize,
    /// Samples that were read and have no score.
    untold: usize,
    pub(crate) out: Option<PathBuf>,
    pub(crate) seconds: Times,
    #[serde(skip)]
    left_out_count: usize,
    /// Whether all that are left out are remembered, or only as many as are named.
    #[serde(skip)]
    pub(crate) remembers_all: bool,
    /// What samples are flagged by, in words.
    #[serde(skip)]
    pub(crate) flagged_by: String,
}

/// Seconds by the clock.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Times {
    #[serde(flatten)]
    pub(crate) parts: Seconds,
    pub(crate) all: f64,
}

impl Summary {
    /// Before anything is scored.
    pub(crate) fn new(of: usize) -> Self {
        Self {
            samples: 0,
            flagged: 0,
            unknown: 0,
            no_promise: None,
            of,
            interrupted: false,
            left_out: Vec::new(),
            kept: 0,
            flag: "",
            threshold: None,
            rule_thresholds: BTreeMap::new(),
            method: "",
            by_indep_cal: Vec::new(),
            aggregation: "",
            tau: 0.0,
            min_severity: None,
            set: Vec::new(),
            rules: None,
            fitted_on: None,
            fpr: 0.0,
            normal_rows: 0,
            untold: 0,
            out: None,
            seconds: Times::default(),
            left_out_count: 0,
            remembers_all: false,
            flagged_by: String::new(),
        }
    }

    /// Notes a sample without scores.
    pub(crate) fn leave_out(&mut self, sources: Sources<'_>, sample: &LeftOut) {
        self.left_out_count += 1;
        if self.remembers_all || self.left_out.len() < LISTED {
            let LeftOut { row, path, reason } = sample;
            let (id, path, reason) = (sources.id(*row).to_owned(), path.clone(), reason.clone());
            self.left_out.push(Missing { id, path, reason });
        }
    }

    /// Counts a sample with scores.
    pub(crate) fn judge(&mut self, row: &Row<'_>) {
        self.flagged += usize::from(row.flagged == Some(true));
        self.unknown += usize::from(row.flagged.is_none());
        self.untold += usize::from(row.error.is_some());
    }

    /// Rows that were written.
    pub(crate) fn rows(&self) -> usize {
        self.samples + self.left_out_count
    }

    /// How the command ends. Inputs without a score come before flags, and so do flags that are unknown where somebody waits for them.
    pub(crate) fn outcome(&self, fail_on: Option<FailOn>) -> Outcome {
        let waits = fail_on == Some(FailOn::Flagged);
        if self.interrupted {
            Outcome::Interrupted
        } else if self.left_out_count + self.untold > 0 || waits && self.unknown > 0 {
            Outcome::Incomplete
        } else if waits && self.flagged > 0 {
            Outcome::Flagged
        } else {
            Outcome::Done
        }
    }

    /// Takes over what the pass has counted.
    pub(crate) fn count(&mut self, tally: &Tally) {
        (self.samples, self.kept) = (tally.scored, tally.kept);
        self.interrupted = tally.read < self.of;
        let Seconds { decode, encode, logic } = tally.seconds;
        self.seconds.parts.decode += decode;
        self.seconds.parts.encode += encode;
        self.seconds.parts.logic += logic;
    }

    /// Names inputs that could not be read. That there are some is said in any case: they are rows without a score.
    pub(crate) fn say_left_out(&self, console: &Console) {
        if self.left_out_count == 0 {
            return;
        }
        let (count, of) = (grouped(self.left_out_count as u64), counted(self.of, "input"));
        console.complain(format_args!("warning: {count} of {of} could not be read; the column `error` says why"));
        for Missing { id, path, reason } in self.left_out.iter().take(LISTED) {
            let name = path.as_deref().unwrap_or(Path::new(id));
            console.say(format_args!("  {}: {reason}", name.display()));
        }
        if self.left_out_count > LISTED {
            let more = grouped((self.left_out_count - LISTED) as u64);
            console.say(format_args!("  and {more} more; `--json` with `-o FILE` lists all"));
        }
    }

    /// Says that some samples that were read lack scores, and where flags that somebody waits for are unknown.
    pub(crate) fn say_untold(&self, fail_on: Option<FailOn>, console: &Console) {
        if self.untold > 0 {
            let untold = counted(self.untold, "sample");
            console
                .complain(format_args!("warning: {untold} without a score that counts; the column `error` says which"));
        }
        if fail_on == Some(FailOn::Flagged) && self.unknown > 0 {
            console.complain(format_args!(
                "warning: it is unknown whether {} flagged; `--fail-on flagged` cannot answer for {}",
                match self.unknown {
                    1 => "1 sample is".to_owned(),
                    many => format!("{} samples are", grouped(many as u64)),
                },
                if self.unknown == 1 { "it" } else { "them" }
            ));
        }
    }

    /// The closing words.
    pub(crate) fn say(&self, console: &Console) {
        let limit = &self.flagged_by;
        let kept = match self.kept {
            0 => String::new(),
            kept => format!(" ({} were encoded before)", grouped(kept as u64)),
        };
        let Times { parts: Seconds { decode, encode, logic }, all } = self.seconds;
        let flagged = grouped(self.flagged as u64);
        let unknown = match self.unknown {
            0 => String::new(),
            unknown => format!(" ({} unknown)", grouped(unknown as u64)),
        };
        console.say(format_args!(
            "{} scored, {flagged} flagged{limit}{unknown}, {} not read; {decode:.1} s to decode, {encode:.1} s to encode{kept}, \
             {logic:.1} s for the logic, {all:.1} s in all",
            counted(self.samples, "sample"),
            grouped(self.left_out_count as u64),
        ));
        if self.interrupted {
            // Not a word for `-q` to keep back: the result is not what was asked for.
            let holds = match (&self.out, self.rows()) {
                (None, _) => String::new(),
                (Some(path), 0) => format!("; `{}` is not written", path.display()),
                (Some(path), _) => format!("; `{}` holds those", path.display()),
            };
            let (samples, of) = (grouped(self.samples as u64), counted(self.of, "sample"));
            console.complain(format_args!("interrupted: {samples} of {of} scored{holds}"));
        }
    }
}

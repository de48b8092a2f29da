//! What is seen while a model is trained: bars on a terminal, a line an epoch everywhere.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use chimera::eval;
use chimera::gate::config::Negatives;
use chimera::gate::stage::GateEvent;
use chimera::score::method::Method;
use chimera::train;
use chimera_data::dataset::media::LeftOut;
use chimera_data::media::prepared::Progress;
use chimera_leaf::encode;
use chimera_leaf::stage::{Cached, StageEvent};
use chimera_leaf::train::{EpochRecord, TrainEvent};

use crate::console::{Bar, Console};
use crate::table::counted;

/// So many media that are left out are named.
const LISTED: usize = 10;

/// What is being shown.
pub(crate) struct Shown<'a> {
    console: &'a Console,
    bar: Mutex<Option<(&'static str, Bar)>>,
    /// Whether it was said that the cache cannot be written: once is enough for all that is taught.
    not_kept: AtomicBool,
}

impl<'a> Shown<'a> {
    pub(crate) fn new(console: &'a Console) -> Self {
        Self { console, bar: Mutex::new(None), not_kept: AtomicBool::new(false) }
    }

    pub(crate) fn show_taught(&self, event: &train::Event<'_>) {
        match event {
            train::Event::Leaf(event) => self.show(event),
            train::Event::Gates(event) => self.show_gates(event),
        }
    }

    pub(crate) fn show_measured(&self, event: eval::Event<'_>) {
        match event {
            eval::Event::Leaf(event) => self.show(&event),
            eval::Event::Gates(event) => self.show_gates(&event),
            eval::Event::Method { method, seed } => self.method(method, seed),
        }
    }

    /// Scenes of a world are made.
    #[cfg(feature = "evidence")]
    pub(crate) fn scenes(&self, done: usize, total: usize) {
        self.at("scenes", done, total, None);
    }

    pub(crate) fn show(&self, event: &StageEvent<'_>) {
        match *event {
            StageEvent::Preparing(Progress::Reading { done, total }) => self.at("reading media", done, total, None),
            StageEvent::Preparing(Progress::Preparing { done, total }) => self.at("decoding media", done, total, None),
            StageEvent::Preparing(Progress::Waiting) => {
                self.say(format_args!("another process prepares the same media; waiting for it"));
            }
            StageEvent::Prepared { left_out } => self.left_out(left_out),
            StageEvent::Training(TrainEvent::Resumed { epoch }) => {
                self.say(format_args!("going on after epoch {epoch}"));
            }
            StageEvent::Training(TrainEvent::OneByOne { why }) => {
                self.say(format_args!("the GPU does not repeat steps of training, which takes longer: {why}"));
            }
            StageEvent::Training(TrainEvent::Step { epoch: _, step, steps, loss }) => {
                self.at("training", step, steps, Some(format!("loss {loss:.4}")));
            }
            StageEvent::Training(TrainEvent::Epoch(record)) => self.epoch(record),
            StageEvent::Training(TrainEvent::Vectors(progress)) => self.encoding("frozen network", progress),
            StageEvent::Encoding(progress) => self.encoding("encoding", progress),
            StageEvent::SetAside { content, files } => self.set_aside(content, files),
        }
    }

    pub(crate) fn show_gates(&self, event: &GateEvent<'_>) {
        match *event {
            GateEvent::Level { negatives, level, levels, gates, taught, seconds } => {
                let (gates, on) = (counted(gates, "gate"), if negatives == Negatives::Graft { "grafts, " } else { "" });
                self.say(format_args!("{on}level {level} of {levels}: {gates}, {taught} taught ({seconds:.1} s)"));
            }
            GateEvent::Heads { heads, taught, seconds } => {
                self.say(format_args!("grafts, {}, {taught} taught ({seconds:.1} s)", counted(heads, "head")));
            }
            GateEvent::Steps { done, total } => self.at("teaching gates", done, total, None),
            GateEvent::SetAside { path, reason } => {
                self.say(format_args!(
                    "a damaged gate in the cache ({reason}) is taught again; kept as {}",
                    path.display()
                ));
            }
            GateEvent::Damaged { path, reason } => {
                self.say(format_args!("a gate of the model was damaged ({reason}); written anew: {}", path.display()));
            }
            GateEvent::NotKept(error) if !self.not_kept.swap(true, Ordering::Relaxed) => {
                self.say(format_args!("gates are not kept in the cache: {error}"));
            }
            GateEvent::NotKept(_) => {}
        }
    }

    /// A method is asked.
    pub(crate) fn method(&self, method: Method, seed: u64) {
        self.say(format_args!("{} at seed {seed}", method.name()));
    }

    fn encoding(&self, what: &'static str, progress: encode::Progress) {
        match progress {
            encode::Progress::Waiting => {
                self.say(format_args!("another process encodes the same samples; waiting for it"));
            }
            encode::Progress::Encoding { done, total } => self.at(what, done, total, None),
        }
    }

    /// So much of a part is done.
    fn at(&self, what: &'static str, done: usize, total: usize, message: Option<String>) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        if bar.as_ref().is_none_or(|(shown, _)| *shown != what) {
            *bar = None;
            *bar = Some((what, self.console.bar(what)));
        }
        if let Some((_, bar)) = &*bar {
            bar.set(done, total);
            message.into_iter().for_each(|message| bar.say(message));
        }
    }

    pub(crate) fn say(&self, words: impl std::fmt::Display) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.console.say(words);
    }

    fn epoch(&self, record: &EpochRecord) {
        let held_out = record.held_out.as_ref().map_or_else(String::new, |held_out| {
            let precision = held_out.macro_ap.map_or_else(String::new, |value| format!(", macro AP {value:.4}"));
            format!(", held out {:.4}{precision}", held_out.loss)
        });
        let (epoch, loss, seconds) = (record.epoch, record.loss, record.seconds);
        let rate = record.samples_per_second;
        self.say(format_args!("epoch {epoch}: loss {loss:.4}{held_out} ({seconds:.1} s, {rate:.0} samples/s)"));
    }

    fn set_aside(&self, content: Cached, files: &[PathBuf]) {
        let what = match content {
            Cached::Frames => "decoded frames",
            Cached::Vectors => "vectors of the frozen network",
            Cached::Encoded => "encoded samples",
            Cached::Replica => "models of other seeds",
        };
        let noun = if content == Cached::Replica { "damaged folder" } else { "damaged file" };
        let count = counted(files.len(), noun);
        self.say(format_args!("{count} of {what} in the cache, made anew; what was there is kept as"));
        for path in files.iter().take(LISTED) {
            self.say(format_args!("  {}", path.display()));
        }
        if files.len() > LISTED {
            self.say(format_args!("  and {} more beside them", files.len() - LISTED));
        }
    }

    fn left_out(&self, left_out: &[LeftOut]) {
        if left_out.is_empty() {
            return;
        }
        // With `-q`, too: a model of fewer samples than were given is not what was asked for.
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let count = counted(left_out.len(), "sample");
        self.console.complain(format_args!("warning: {count} left out, without a medium that can be decoded"));
        for LeftOut { path, reason, .. } in left_out.iter().take(LISTED) {
            let path = path.as_ref().map_or_else(String::new, |path| format!("{}: ", path.display()));
            self.say(format_args!("  {path}{reason}"));
        }
        if left_out.len() > LISTED {
            self.say(format_args!("  and {} more; `chimera data check` lists all", left_out.len() - LISTED));
        }
    }
}

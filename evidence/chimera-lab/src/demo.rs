//! The demo: a world that keeps four house rules, of which a person writes down one and the data tell the rest.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chimera::eval::truth::{RuleTruths, labels_of};
use chimera::explain::explainer::{Explainer, Wanted};
use chimera::explain::page::{Pictures, page};
use chimera::explain::told::Explanation;
use chimera::score::engine::{Engine, Scoring};
use chimera::score::flag::FlagParams;
use chimera::score::pass::{Event, Pass};
use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::stage::ENCODED;
use chimera_leaf::stream::{Sources, Stream};

/// What scenes of the demo's world keep, but for some of its test clips.
pub const WORLD_RULES: &str = "\
# What this world keeps. The detector is told the first of them; it finds the others by itself.

# What is yellow and comes into view stays there.
yellow_stays [family=simple]: enter(yellow) => !exit(yellow)

# Nothing purple without something blue or green.
purple_in_company [family=compound]: purple_any => blue_any | green_any

# Cyan and yellow are never seen together.
cyan_and_yellow_apart [family=simple]: cyan_any => !yellow_any

# Something blue comes into view only where there is something green.
blue_comes_to_green [family=simple]: enter(blue) => green_any
";

/// The rule that a person writes down.
pub const MY_RULES: &str = "\
# What is yellow and comes into view stays there.
yellow_stays [family=simple]: enter(yellow) => !exit(yellow)
";

/// The share of normal clips that may be flagged.
pub const RATE: f64 = 0.05;

/// Alarms that are explained: the first ones, in the order of the dataset.
pub(crate) const EXPLAINED: usize = 3;

/// How much there is of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Clips to learn from.
    pub train: usize,
    /// Clips to measure on, three in ten of which break a rule.
    pub test: usize,
    /// Passes over the clips.
    pub epochs: usize,
}

impl Sizes {
    /// A few minutes on two cores.
    pub const FULL: Self = Self { train: 4000, test: 400, epochs: 16 };
    /// A first look.
    pub const QUICK: Self = Self { train: 900, test: 90, epochs: 10 };
}

/// Alarms on the test clips, and what is true of these clips.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Clips that break a rule.
    pub odd: usize,
    /// Of these, flagged ones.
    pub caught: usize,
    /// Of these, clips that break the rule that is named first.
    pub named: usize,
    /// Clips that break no rule.
    pub normal: usize,
    /// Of these, flagged ones.
    pub false_alarms: usize,
    /// Clips whose labels do not tell whether they break a rule.
    pub unknown: usize,
    /// Of these, flagged ones.
    pub unknown_flagged: usize,
    /// Clips beside all these that could not be read, or of which it is unknown whether they are flagged.
    pub unjudged: usize,
}

impl Verdict {
    /// Counts a clip: whether it breaks a rule, where that is known, whether it is flagged, and whether it is known to break the rule
    /// that is named first.
    fn count(&mut self, is_broken: Option<bool>, is_flagged: bool, is_named: bool) {
        let (all, flagged) = match is_broken {
            Some(true) => (&mut self.odd, &mut self.caught),
            Some(false) => (&mut self.normal, &mut self.false_alarms),
            None => (&mut self.unknown, &mut self.unknown_flagged),
        };
        *all += 1;
        *flagged += usize::from(is_flagged);
        self.named += usize::from(is_flagged && is_broken == Some(true) && is_named);
    }
}

/// An alarm that is explained.
#[derive(Debug)]
pub struct Alarm {
    /// The rules that the clip's labels break.
    pub broken: Vec<String>,
    /// The rules of which the clip's labels do not tell whether they are broken.
    pub unknown: Vec<String>,
    /// The explanation.
    pub told: Explanation,
    /// The page about it.
    pub page: PathBuf,
}

/// Flags the test clips of a dataset as `chimera score --fpr 0.05` does, counts how often that is right, and explains the first alarms
/// on a page each, whether they are right or not.
///
/// # Errors
/// A model or clips that cannot be read, a folder that cannot be written.
pub fn judge(
    model: &Path,
    dataset: &Dataset,
    out: &Path,
    (cache, threads, device): (&Path, NonZeroUsize, DeviceChoice),
) -> Result<(Verdict, Vec<Alarm>)> {
    fs::create_dir_all(out).map_err(|cause| Error::write(out, cause))?;
    let device = device.open()?;
    let engine = Engine::open(model, &device, threads)?;
    let scoring = Scoring { method: engine.default_method(), ..Scoring::default() };
    let flagging = FlagParams { rate: Some(RATE), ..FlagParams::default() };
    let ready = engine.ready(scoring, None, threads)?;
    let (ready, thresholds) = ready.judged_by(&flagging, None, threads)?;
    if let Some(reason) = thresholds.no_promise() {
        return Err(Error::input(format!("cannot flag clips: {reason}"), None));
    }
    if thresholds.is_deaf() {
        return Err(Error::input("cannot flag clips: no score exceeds the threshold".to_owned(), None));
    }

    let (rule_set, test) = (&engine.gates.rule_set, dataset.test());
    let rows = test.numbers();
    let labels = labels_of(dataset, rows, &engine.model.manifest.bank.concepts);
    let truths = RuleTruths::of(rule_set, &labels, dataset, rows);
    let encoded = cache.join(ENCODED);
    let stream = Stream::open(&engine.model.bank, Sources::Rows { dataset, rows }, Some(&encoded), threads)?;
    let (mut verdict, mut alarms) = (Verdict::default(), Vec::new());
    Pass { ready: &ready, stream: &stream, threads, stop: &AtomicBool::new(false) }.run(&mut |event| {
        let (place, scores) = match event {
            Event::Scored(place, scores) => (place, scores),
            Event::LeftOut(_) => {
                verdict.unjudged += 1;
                return Ok(());
            }
            Event::Read(_) => return Ok(()),
        };
        let flags = thresholds.flags(scores);
        if flags.sample.is_none() {
            verdict.unjudged += 1;
            return Ok(());
        }
        let is_named =
            thresholds.ranking(scores, &flags).first().is_some_and(|&rule| truths.broken[rule][place] == Some(true));
        verdict.count(truths.any_broken(place), flags.is_flagged(), is_named);
        if flags.is_flagged() && alarms.len() < EXPLAINED {
            alarms.push(place);
        }
        Ok(())
    })?;

    let parts = Explainer::parts_of(model, &device, &engine, scoring.method, (Some(cache), threads))?;
    let explainer = Explainer::new(&engine, &parts, (scoring, &flagging), threads)?;
    let sources = Sources::Rows { dataset, rows };
    let explain = |place: usize| {
        let mut explained = explainer.explain(sources, place, &Wanted { rules: &[], top_k: 1, maps: true })?;
        explained.told.model = model.display().to_string();
        let path = out.join(format!("{}.html", sources.id(place)));
        let pictures = Pictures::of(sources, place, &explained.told)?;
        let text = page(&explained, rule_set, &pictures);
        write_atomic(&path, |file| file.write_all(text.as_bytes()))?;
        let rules_of = |wanted: Option<bool>| {
            let rules = rule_set.rules.iter().zip(&truths.broken).filter(|(_, broken)| broken[place] == wanted);
            rules.map(|(rule, _)| rule.name.clone()).collect()
        };
        let (broken, unknown) = (rules_of(Some(true)), rules_of(None));
        Ok(Alarm { broken, unknown, told: explained.told, page: path })
    };
    Ok((verdict, alarms.into_iter().map(explain).collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_of_which_nothing_is_known_is_no_false_alarm() {
        let mut verdict = Verdict::default();
        let clips = [
            (Some(true), true, true),
            (Some(true), true, false),
            (Some(true), false, true),
            (Some(false), true, false),
        ];
        clips.into_iter().for_each(|(broken, flagged, named)| verdict.count(broken, flagged, named));
        [(Some(false), false, false), (None, true, false), (None, false, false)]
            .into_iter()
            .for_each(|(broken, flagged, named)| verdict.count(broken, flagged, named));
        let expected = Verdict {
            odd: 3,
            caught: 2,
            named: 1,
            normal: 2,
            false_alarms: 1,
            unknown: 2,
            unknown_flagged: 1,
            unjudged: 0,
        };
        assert_eq!(verdict, expected);
    }
}

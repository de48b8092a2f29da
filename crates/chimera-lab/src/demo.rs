//! The demo: a world that keeps four house rules, of which a person writes down one and the data tell the rest.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chimera::data::dataset::Dataset;
use chimera::error::{Error, Result};
use chimera::eval::truth::{RuleTruths, labels_of};
use chimera::explain::explainer::{Explainer, Wanted};
use chimera::explain::page::{Pictures, page};
use chimera::explain::told::Explanation;
use chimera::file::write_atomic;
use chimera::leaf::device::DeviceChoice;
use chimera::leaf::stage::ENCODED;
use chimera::leaf::stream::{Sources, Stream};
use chimera::score::engine::{Engine, Scoring};
use chimera::score::flag::FlagParams;
use chimera::score::pass::{Event, Pass};

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
pub const EXPLAINED: usize = 3;

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
}

/// An alarm that is explained.
#[derive(Debug)]
pub struct Alarm {
    /// The rules that the clip's labels break.
    pub broken: Vec<String>,
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

    let (rule_set, test) = (&engine.gates.rule_set, dataset.test());
    let rows = test.numbers();
    let labels = labels_of(dataset, rows, &engine.model.manifest.bank.concepts);
    let truths = RuleTruths::of(rule_set, &labels, dataset, rows);
    let encoded = cache.join(ENCODED);
    let stream = Stream::open(&engine.model.bank, Sources::Rows { dataset, rows }, Some(&encoded), threads)?;
    let (mut verdict, mut alarms) = (Verdict::default(), Vec::new());
    Pass { ready: &ready, stream: &stream, threads, stop: &AtomicBool::new(false) }.run(&mut |event| {
        let Event::Scored(place, scores) = event else { return Ok(()) };
        let flags = thresholds.flags(scores);
        let is_broken = |rule: usize| truths.broken[rule][place] == Some(true);
        match truths.any_broken(place) {
            Some(true) => {
                verdict.odd += 1;
                verdict.caught += usize::from(flags.is_flagged());
                let named = thresholds.ranking(scores, &flags).first().is_some_and(|&rule| is_broken(rule));
                verdict.named += usize::from(flags.is_flagged() && named);
            }
            Some(false) => {
                verdict.normal += 1;
                verdict.false_alarms += usize::from(flags.is_flagged());
            }
            None => {}
        }
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
        let broken = rule_set.rules.iter().zip(&truths.broken).filter(|(_, broken)| broken[place] == Some(true));
        let broken = broken.map(|(rule, _)| rule.name.clone()).collect();
        Ok(Alarm { broken, told: explained.told, page: path })
    };
    Ok((verdict, alarms.into_iter().map(explain).collect::<Result<_>>()?))
}

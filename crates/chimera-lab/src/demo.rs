//! The demo: a world that keeps four house rules, of which a person writes down one and the data tell the rest.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera::data::dataset::Dataset;
use chimera::error::{Error, Result};
use chimera::eval::truth::{RuleTruths, labels_of};
use chimera::explain::explainer::{Explainer, Wanted};
use chimera::explain::page::{Pictures, page};
use chimera::explain::told::Explanation;
use chimera::file::write_atomic;
use chimera::leaf::device::DeviceChoice;
use chimera::leaf::stream::Sources;
use chimera::score::engine::Engine;

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

/// Clips that are told about.
pub const CLIPS: usize = 3;

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

/// What was said about a clip, and what is true of it.
#[derive(Debug)]
pub struct Verdict {
    /// The clip.
    pub id: String,
    /// The rule that its labels break.
    pub broken: String,
    /// What the model says.
    pub told: Explanation,
    /// The page about it.
    pub page: PathBuf,
}

impl Verdict {
    /// The rule that the model names first.
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        self.told.standings.first().map(|standing| standing.rule.as_str())
    }

    /// Whether that is the one that is broken.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.named() == Some(self.broken.as_str())
    }
}

/// The first test rows whose labels break exactly one of the model's rules, each another one as long as there are others; with the rule's
/// number. Scores have no say in it.
#[must_use]
pub fn odd_clips(dataset: &Dataset, engine: &Engine) -> Vec<(usize, usize)> {
    let (rule_set, test) = (&engine.gates.rule_set, dataset.test());
    let labels = labels_of(dataset, test.numbers(), &engine.model.manifest.bank.concepts);
    let truths = RuleTruths::of(rule_set, &labels, dataset, test.numbers());
    let breaks = |place: usize| -> Vec<usize> {
        (0..rule_set.rules.len()).filter(|&rule| truths.broken[rule][place] == Some(true)).collect()
    };
    let odd = test.numbers().iter().enumerate().filter_map(|(place, &row)| match breaks(place)[..] {
        [rule] => Some((row, rule)),
        _ => None,
    });
    let (mut chosen, mut others) = (Vec::new(), Vec::<(usize, usize)>::new());
    for (row, rule) in odd {
        let is_new = chosen.iter().all(|(_, of): &(usize, usize)| *of != rule);
        if is_new { chosen.push((row, rule)) } else { others.push((row, rule)) }
    }
    chosen.extend(others);
    chosen.truncate(CLIPS);
    chosen
}

/// Says what is wrong with clips, and writes a page about each.
///
/// # Errors
/// A model or clips that cannot be read, a folder that cannot be written.
pub fn explain(
    model: &Path,
    dataset: &Dataset,
    out: &Path,
    (cache, threads, device): (&Path, NonZeroUsize, DeviceChoice),
) -> Result<Vec<Verdict>> {
    fs::create_dir_all(out).map_err(|cause| Error::write(out, cause))?;
    let device = device.open()?;
    let engine = Engine::open(model, &device, threads)?;
    let method = engine.default_method();
    let parts = Explainer::parts_of(model, &device, &engine, method, (Some(cache), threads))?;
    let explainer = Explainer::new(&engine, &parts, (method, 0.05), threads)?;
    let rules: Vec<String> = engine.rules().map(str::to_owned).collect();
    let clips = odd_clips(dataset, &engine);
    let rows: Vec<usize> = clips.iter().map(|(row, _)| *row).collect();
    let sources = Sources::Rows { dataset, rows: &rows };
    let mut verdicts = Vec::new();
    for (place, &(_, rule)) in clips.iter().enumerate() {
        let mut explained = explainer.explain(sources, place, &Wanted { rules: &[], top_k: 1, maps: true })?;
        explained.told.model = model.display().to_string();
        let path = out.join(format!("{}.html", sources.id(place)));
        let pictures = Pictures::of(sources, place, &explained.told)?;
        let text = page(&explained, &engine.gates.rule_set, &pictures);
        write_atomic(&path, |file| file.write_all(text.as_bytes()))?;
        let (id, broken) = (sources.id(place).to_owned(), rules[rule].clone());
        verdicts.push(Verdict { id, broken, told: explained.told, page: path });
    }
    Ok(verdicts)
}

//! An explanation as it is told: what `--json` prints and pages show.

use serde::Serialize;

use super::cover::CELLS;
use super::evidence::Map;

/// Everything about one sample.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The sample.
    pub id: String,
    /// The model's folder, as it was named.
    pub model: String,
    /// Where probabilities come from.
    pub method: &'static str,
    /// How rules become one number.
    pub aggregation: &'static str,
    /// What thresholds are about.
    pub flag: &'static str,
    /// One number for the sample; `None` where no rule can be scored.
    pub anomaly: Option<f64>,
    /// The threshold of that number; `None` where samples are not judged by it, or normal samples are too few.
    pub threshold: Option<f64>,
    /// Whether the sample is flagged; `None` where that is unknown.
    pub flagged: Option<bool>,
    /// The reason why that is unknown; `None` where it is known.
    pub unknown: Option<String>,
    /// The share of normal samples that may be flagged, too.
    pub fpr: f64,
    /// Normal samples that thresholds come from.
    pub normal_samples: usize,
    /// Every rule, the worst first.
    pub standings: Vec<Standing>,
    /// What is told about some of them.
    pub rules: Vec<RuleTold>,
    /// Every concept of any rule, in the order of the vocabulary.
    pub concepts: Vec<ConceptTold>,
    /// Frames that are looked at; 0 where features are given.
    pub frames: usize,
}

/// How a rule fares.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// Its name.
    pub rule: String,
    /// How much it matters.
    pub severity: String,
    /// The probability that it holds; `None` where the method cannot tell.
    pub p: Option<f64>,
    /// How badly it is broken.
    pub score: Option<f64>,
    /// The threshold that the rule is judged by; `None` where it has none of its own.
    pub threshold: Option<f64>,
    /// At most this share of normal samples break it as badly: the sample is counted among them.
    pub normal_share: Option<f64>,
    /// Whether the sample is flagged for it; `None` where that is unknown.
    pub flagged: Option<bool>,
    /// Why `neural` is `indep-cal` for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_grafts: Option<String>,
}

/// Why a rule fares as it does.
#[derive(Clone, Debug, Serialize)]
pub struct RuleTold {
    /// Its name.
    pub rule: String,
    /// What it says.
    pub formula: String,
    /// Its parts, what would help most first; `None` where the rule is too large to count.
    pub parts: Option<Vec<PartTold>>,
    /// How it is broken, most likely; `None` where it cannot be told.
    pub breach: Option<BreachTold>,
    /// The cheapest change with which it holds; `None` where it holds by what is most probably seen.
    pub repair: Option<ChangeTold>,
    /// The cheapest change with which it is broken; `None` where it is broken by what is most probably seen.
    pub breaks: Option<ChangeTold>,
    /// Where what breaks it is seen; empty where that is missing, and where nobody asked.
    pub maps: Vec<MapTold>,
    /// When it is seen; `None` for pictures.
    pub when: Option<WhenTold>,
}

impl Standing {
    /// Returns true where the sample is known to be flagged for the rule.
    #[must_use]
    pub fn is_flagged(&self) -> bool {
        self.flagged == Some(true)
    }
}

impl RuleTold {
    /// The concepts that are seen where it is broken.
    pub fn seen(&self) -> impl Iterator<Item = &str> {
        let concepts = self.breach.iter().flat_map(|breach| &breach.concepts);
        concepts.filter(|of| of.shown).map(|of| of.concept.as_str())
    }
}

/// A part of a rule.
#[derive(Clone, Debug, Serialize)]
pub struct PartTold {
    /// What it says.
    pub formula: String,
    /// Whether it is a concept.
    pub is_concept: bool,
    /// The probability that it holds; `None` where the method cannot tell.
    pub p: Option<f64>,
    /// The value with which the rule is more probable; `None` where its value makes no difference.
    pub wanted: Option<bool>,
    /// The probability of the rule, were that so.
    pub then: f64,
    /// The gain.
    pub lift: f64,
}

impl PartTold {
    /// True where the gain can be seen with three digits.
    #[must_use]
    pub fn gains(&self) -> bool {
        self.lift >= 5e-4
    }
}

/// Values of concepts.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// The concept.
    pub concept: String,
    /// Whether it is shown.
    pub shown: bool,
    /// The probability that it is.
    pub p: f64,
}

/// How a rule is broken.
#[derive(Clone, Debug, Serialize)]
pub struct BreachTold {
    /// Values with which it is.
    pub concepts: Vec<Shown>,
    /// Their probability together.
    pub p: f64,
    /// Whether they are the likeliest of all values.
    pub is_likeliest: bool,
}

/// A change of what is most probably seen.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeTold {
    /// Concepts with the values that they would need.
    pub concepts: Vec<Shown>,
    /// The logarithm of the odds against it; `None` where something certain speaks against it.
    pub cost: Option<f64>,
    /// In words: "would hold if `b` were present".
    pub words: String,
}

/// Where something is seen.
#[derive(Clone, Debug, Serialize)]
pub struct MapTold {
    /// The concept; `None` for the rule itself.
    pub concept: Option<String>,
    /// The frame, from 0.
    pub frame: usize,
    /// Rows and columns of the grid.
    pub size: [usize; 2],
    /// How much, a number a cell: at most 1; below 0 what speaks against it.
    pub cells: Vec<f64>,
    /// The most that a cell loses, in logits: the mean over the large patches that cover it.
    pub most: f64,
    /// Where most is, in shares of width and height; `None` where next to nothing is lost.
    pub peak: Option<[f64; 2]>,
}

impl MapTold {
    pub(super) fn new(concept: Option<&str>, map: &Map) -> Self {
        Self {
            concept: concept.map(str::to_owned),
            frame: map.frame,
            size: [CELLS; 2],
            cells: map.cells.clone(),
            most: map.most,
            peak: map.peak(),
        }
    }
}

/// When a rule is seen to be broken.
#[derive(Clone, Debug, Serialize)]
pub struct WhenTold {
    /// How badly it is broken by what was seen up to each frame; `None` where that cannot be told.
    pub so_far: Vec<Option<f64>>,
    /// How badly it would be broken without each frame; `None` where that cannot be told.
    pub without: Vec<Option<f64>>,
}

/// What is seen of a concept.
#[derive(Clone, Debug, Serialize)]
pub struct ConceptTold {
    /// Its name.
    pub concept: String,
    /// The leaf bank's logit.
    pub logit: f32,
    /// Its probability by the leaf bank, calibrated.
    pub p_bank: f64,
    /// Its probability by the method.
    pub p: f64,
}

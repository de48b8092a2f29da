//! What a world gives: rows of labels with what each is for, what the encoder sees of them, and rules that no row
//! breaks from which anything is learned.

use chimera_data::split::Split;
use chimera_leaf::config::LeafConfig;
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::holds;
use chimera_logic::vocabulary::Vocabulary;

use super::digits::Digits;
use super::{boards, shift, synthetic};

/// A kind of data.
pub(crate) struct World {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) settings: &'static [Setting],
}

/// How data of a world are drawn.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// `None` where it takes digits and there are none.
    pub(crate) draw: fn(&Order<'_>) -> Option<Drawn>,
}

/// What is wanted.
pub(crate) struct Order<'a> {
    pub(crate) seed: u64,
    pub(crate) sizes: Sizes,
    pub(crate) digits: Option<&'a Digits>,
}

/// Every world.
pub(crate) const WORLDS: [World; 3] = [
    World {
        name: "boards",
        about: "One to four noisy digits on a board; a setting is how often a digit brings its partner along",
        settings: &[
            Setting { name: "together-0", draw: |order| boards::draw(order, 0.0) },
            Setting { name: "together-0.5", draw: |order| boards::draw(order, 0.5) },
            Setting { name: "together-0.9", draw: |order| boards::draw(order, 0.9) },
        ],
    },
    World {
        name: "synthetic",
        about: "Features with a known posterior; a setting is how much of a concept looks alike in every style",
        settings: &[
            Setting { name: "explained", draw: |order| Some(synthetic::draw(order, 0.0)) },
            Setting { name: "half", draw: |order| Some(synthetic::draw(order, 45.0)) },
            Setting { name: "hardly", draw: |order| Some(synthetic::draw(order, 80.0)) },
        ],
    },
    World {
        name: "shift",
        about: "Attributes of classes; rules are broken by classes that training never shows",
        settings: &[
            Setting { name: "classes", draw: |order| Some(shift::classes(order)) },
            Setting { name: "digits", draw: shift::digits },
        ],
    },
];

/// Rows of each split.
#[derive(Clone, Copy)]
pub(crate) struct Sizes(pub(crate) [(Split, usize); 4]);

impl Sizes {
    pub(crate) const FULL: Self = Self::new(4000, 1000, 1500, 3000);
    pub(crate) const QUICK: Self = Self::new(2000, 600, 800, 1500);

    const fn new(train: usize, calibration: usize, oracle: usize, test: usize) -> Self {
        let oracle = (Split::Oracle, oracle);
        Self([(Split::Train, train), (Split::Calibration, calibration), oracle, (Split::Test, test)])
    }

    /// The split of every row, in order.
    pub(crate) fn rows(self) -> impl Iterator<Item = Split> {
        self.0.into_iter().flat_map(|(split, rows)| std::iter::repeat_n(split, rows))
    }
}

/// Whether rows of a split break no rule: everything is learned and set from those, but for the oracle.
pub(crate) fn is_normal(split: Split) -> bool {
    matches!(split, Split::Train | Split::Calibration)
}

/// A dataset that is not on disk yet.
pub(crate) struct Drawn {
    pub(crate) rules: Rules,
    /// What each row is for and which concepts it shows.
    pub(crate) rows: Vec<(Split, Vec<bool>)>,
    pub(crate) content: Content,
    pub(crate) leaf: LeafConfig,
    /// Where it can be computed: the probability that a rule is broken, given all that can be seen, `[rule][test
    /// row]`.
    pub(crate) bayes: Option<Vec<Vec<f64>>>,
}

/// What the encoder sees, row after row.
pub(crate) enum Content {
    /// Vectors of so many numbers.
    Features(usize, Vec<f32>),
    /// Square grey pictures of so many pixels a side.
    Pictures(usize, Vec<u8>),
}

/// Rules over concepts.
pub(crate) struct Rules {
    pub(crate) concepts: Vec<String>,
    pub(crate) text: &'static str,
    set: RuleSet,
}

impl Rules {
    pub(crate) fn new(concepts: &[&str], text: &'static str) -> Self {
        let concepts: Vec<String> = concepts.iter().map(|&name| name.to_owned()).collect();
        let loaded = load_text("quality", text, Vocabulary::closed(concepts.clone(), "the world"));
        assert_eq!(loaded.diagnostics.errors(), 0, "{text}");
        Self { concepts, text, set: loaded.rule_set }
    }

    /// Which rules labels break.
    pub(crate) fn broken(&self, labels: &[bool]) -> Vec<bool> {
        let breaks = |root| !holds(&self.set.dag, root, &|concept| labels[concept.index()]);
        self.set.roots().into_iter().map(breaks).collect()
    }

    /// Whether labels break no rule.
    pub(crate) fn hold(&self, labels: &[bool]) -> bool {
        !self.broken(labels).contains(&true)
    }

    /// Draws labels until they will do: of rows that are learned from, none may break a rule.
    pub(crate) fn drawn(&self, split: Split, mut draw: impl FnMut() -> Option<Vec<bool>>) -> Vec<bool> {
        loop {
            if let Some(labels) = draw().filter(|labels| !is_normal(split) || self.hold(labels)) {
                return labels;
            }
        }
    }
}

/// A number from the standard normal distribution (Box and Muller).
pub(crate) fn normal(random: &mut fastrand::Rng) -> f32 {
    let (radius, turn) = (1.0 - random.f64(), random.f64());
    ((-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()) as f32
}

/// A vector in a random direction, about so long.
pub(crate) fn direction(random: &mut fastrand::Rng, width: usize, length: f32) -> Vec<f32> {
    let scale = length / (width as f32).sqrt();
    (0..width).map(|_| scale * normal(random)).collect()
}

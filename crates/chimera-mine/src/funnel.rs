//! What became of all candidates: which threshold removed how many.

use serde::Serialize;

use super::options::{MineOptions, Support};
use super::shape::Pattern;

/// What became of the candidates of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fate {
    /// All that the concepts allow.
    pub considered: u64,
    /// They apply to too few rows.
    pub rare: u64,
    /// Too many rows break them.
    pub broken: u64,
    /// Labels can never break them.
    pub meant: u64,
    /// A simpler rule says more.
    pub simpler: u64,
    /// Chance would do as well.
    pub chance: u64,
    /// There was no time to look at them.
    pub unsearched: u64,
    /// Better ones took all the room there is.
    pub crowded_out: u64,
    /// Rows that the search did not see do not bear them out.
    pub unconfirmed: u64,
    /// Searched and held-out rows together do not keep the thresholds.
    pub weak: u64,
    /// They passed all tests. With all the others, these are what was considered.
    pub passed: u64,
}

impl Fate {
    /// Tests that are made at once: of all that apply to enough rows, whatever becomes of them then. What labels can never break
    /// is known before any row is looked at, and no discovery.
    pub(super) fn tests(&self) -> u64 {
        self.considered - self.rare - self.meant
    }

    fn plus(self, other: Self) -> Self {
        Self {
            considered: self.considered + other.considered,
            rare: self.rare + other.rare,
            broken: self.broken + other.broken,
            meant: self.meant + other.meant,
            simpler: self.simpler + other.simpler,
            chance: self.chance + other.chance,
            unsearched: self.unsearched + other.unsearched,
            crowded_out: self.crowded_out + other.crowded_out,
            unconfirmed: self.unconfirmed + other.unconfirmed,
            weak: self.weak + other.weak,
            passed: self.passed + other.passed,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        *self = self.plus(other);
    }
}

/// What to do about rules that passed and that no family asks for.
const TAKE_PAIRS: &str = "rules over two concepts passed: add `implies` and `excludes` to `--families`";

/// What to do about rules that labels can never break.
const KEEP_DEFINITIONS: &str = "`--definitions keep` writes what can never be broken";

/// What removed candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// How many.
    pub count: u64,
    /// What is the matter with them, with the option that decides it.
    pub why: String,
    /// What would let more in.
    pub hint: &'static str,
    /// Whether nothing speaks against them: they can be had at once.
    pub at_hand: bool,
}

/// What became of all candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Funnel {
    /// `a => b` and `a => !b`, which chains, IFFs and `a => b & c` are made of.
    pub pairs: Fate,
    /// `a & b => c`.
    pub and: Fate,
    /// `a => b | c`.
    pub or: Fate,
    /// Pairs that passed all tests and that no family asks for: they are only what others are made of.
    pub unasked: u64,
    /// Rules that passed all tests, of all patterns that are asked for.
    pub passed: u64,
    /// Of these, rules that follow from chosen ones.
    pub implied: u64,
    /// Of these, rules that are about the same rows as a chosen one.
    pub variants: u64,
    /// Of these, rules beyond the number that was asked for.
    pub surplus: u64,
}

impl Funnel {
    /// All kinds together.
    #[must_use]
    pub fn all(&self) -> Fate {
        self.pairs.plus(self.and).plus(self.or)
    }

    /// What removed how many where no rule was chosen. They add up to all that were considered.
    #[must_use]
    pub fn removed(&self, options: &MineOptions) -> Vec<Removed> {
        let fate = self.all();
        let support = match options.support {
            Support::Share(share) => format!("{share} of the rows"),
            Support::Rows(rows) => format!("{rows} rows"),
        };
        let (pos, neg) = (options.confidence_pos, options.confidence_neg);
        let lines = [
            (
                fate.rare,
                format!("apply to less than {support} (`--support`)"),
                "a smaller `--support` lets in rules about fewer rows",
            ),
            (
                fate.broken,
                format!("are broken too often (`--confidence-pos` {pos}, `--confidence-neg` {neg})"),
                looser_confidence(options),
            ),
            (
                fate.simpler,
                "say less than a simpler rule".to_owned(),
                "ask for the simpler rules: add `implies` and `excludes` to `--families`",
            ),
            (
                fate.meant,
                "can never be broken, since labels are made so (`--definitions`)".to_owned(),
                KEEP_DEFINITIONS,
            ),
            (
                fate.chance,
                format!("may be chance, with all that were tested (`--fdr` {})", options.fdr),
                "more train rows tell more rules from chance; a larger `--fdr` lets in more of both",
            ),
            (
                fate.unsearched,
                "were not looked at, since there are too many".to_owned(),
                "a larger `--support` or fewer concepts leave time for all",
            ),
            (
                fate.crowded_out,
                format!("are worse than the best of their kind (`--max-candidates` {})", options.max_candidates),
                "a larger `--max-candidates` makes room for more",
            ),
            (
                fate.unconfirmed,
                format!("are not confirmed by held-out rows (`--holdout` {})", options.holdout),
                "more train rows confirm more rules; `--holdout 0` searches all rows, and confirms nothing",
            ),
            (
                fate.weak,
                "miss `--support` or the confidence on all train rows together".to_owned(),
                "a little less `--support` or confidence lets them in",
            ),
            (
                self.unasked,
                "passed, but make no rule of the families that are asked for (`--families`)".to_owned(),
                TAKE_PAIRS,
            ),
            (
                // Nothing was chosen that they could follow from otherwise.
                fate.passed - self.unasked,
                "passed, but follow from what concepts mean".to_owned(),
                KEEP_DEFINITIONS,
            ),
        ];
        let removed = lines.into_iter().map(|(count, why, hint)| {
            let at_hand = [TAKE_PAIRS, KEEP_DEFINITIONS].contains(&hint);
            Removed { count, why, hint, at_hand }
        });
        removed.filter(|removed| removed.count > 0).collect()
    }
}

/// Which confidence lets more in: rules that demand are asked for another than rules that forbid.
fn looser_confidence(options: &MineOptions) -> &'static str {
    let wants = |patterns: &[Pattern]| patterns.iter().any(|&pattern| options.wants(pattern));
    let demands = wants(&[Pattern::Iff, Pattern::Chain, Pattern::Both, Pattern::And, Pattern::Or, Pattern::Implies]);
    let forbids = wants(&[Pattern::Chain, Pattern::Both, Pattern::And, Pattern::Excludes]);
    match (demands, forbids) {
        (true, true) => {
            "a smaller `--confidence-pos` or a larger `--confidence-neg` lets in rules that more rows break"
        }
        (_, true) => "a larger `--confidence-neg` lets in rules that more rows break",
        (_, false) => "a smaller `--confidence-pos` lets in rules that more rows break",
    }
}

//! Boards: one to four digits on a noisy canvas, a concept a digit. Digits of a pair come together more often than by
//! chance, in all splits alike; rows that are learned from break no rule.

use chimera_data::split::Split;
use chimera_leaf::config::{LeafConfig, Schedule};

use super::digits::{Pool, SIDE};
use super::world::{Content, Drawn, Order, Rules, normal};

const CONCEPTS: [&str; 10] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"];

const RULES: &str = "\
simple: d0 => d1
simple_too: d2 => d3
exclusion: d4 => !d5
or_consequent: d6 => d7 | d8
and_antecedent: d1 & d3 => d9
chain: (d5 => d7) & (d7 => d8)
and_consequent: d9 => d1 & !d4
disjunction: d1 | d3 | d5 | d7 | d8 | d9
";

/// The second comes with the first, as often as the setting says.
const PARTNERS: [(usize, usize); 5] = [(0, 1), (2, 3), (7, 8), (9, 1), (5, 7)];

/// At most so many digits, each in a quarter of its own.
const PLACES: usize = 4;

const BOARD: usize = 44;
const QUARTER: usize = BOARD / 2;

/// Digits lose their margins: of 28 pixels, 20 are left.
const INK: usize = 20;
const MARGIN: usize = (SIDE - INK) / 2;

/// The noise's standard deviation, where paper is 0 and ink is 1.
const NOISE: f32 = 0.35;

/// Grey of paper, and how far ink is above it: noise has room on both sides.
const PAPER: f32 = 80.0;
const CONTRAST: f32 = 100.0;

/// Draws boards of a setting.
pub(crate) fn draw(order: &Order<'_>, together: f64) -> Option<Drawn> {
    let digits = order.digits?;
    let mut random = fastrand::Rng::with_seed(order.seed);
    let rules = Rules::new(&CONCEPTS, RULES);
    let rows: Vec<(Split, Vec<bool>)> =
        order.sizes.rows().map(|split| (split, rules.drawn(split, || labels(&mut random, together)))).collect();
    let boards = rows.iter().flat_map(|(split, labels)| board(&mut random, labels, digits.of(*split)));
    let content = Content::Pictures(BOARD, boards.collect());
    let (epochs, schedule) = (12, Schedule::Cosine);
    let leaf = LeafConfig { epochs, patience: epochs, schedule, seed: order.seed, ..LeafConfig::default() };
    Some(Drawn { rules, rows, content, leaf, bayes: None })
}

/// Some digits, with their partners; `None` where they do not fit on a board.
fn labels(random: &mut fastrand::Rng, together: f64) -> Option<Vec<bool>> {
    let mut labels = vec![false; CONCEPTS.len()];
    let count = random.usize(1..=PLACES);
    random.choose_multiple(0..CONCEPTS.len(), count).into_iter().for_each(|digit| labels[digit] = true);
    for (one, other) in PARTNERS {
        labels[other] |= labels[one] && random.f64() < together;
    }
    (labels.iter().filter(|shown| **shown).count() <= PLACES).then_some(labels)
}

/// A picture with these digits.
fn board(random: &mut fastrand::Rng, labels: &[bool], pool: &Pool) -> Vec<u8> {
    let mut ink = vec![0.0_f32; BOARD * BOARD];
    let mut places: Vec<usize> = (0..PLACES).collect();
    random.shuffle(&mut places);
    let shown = (0..labels.len()).filter(|&digit| labels[digit]);
    for (digit, place) in shown.zip(places) {
        let top = place / 2 * QUARTER + random.usize(..=QUARTER - INK);
        let left = place % 2 * QUARTER + random.usize(..=QUARTER - INK);
        let picture = pool.picture(digit, random.usize(..));
        for row in 0..INK {
            let from = &picture[(MARGIN + row) * SIDE + MARGIN..][..INK];
            let to = &mut ink[(top + row) * BOARD + left..][..INK];
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = f32::from(from) / 255.0);
        }
    }
    ink.into_iter().map(|ink| (PAPER + CONTRAST * (ink + NOISE * normal(random))) as u8).collect()
}

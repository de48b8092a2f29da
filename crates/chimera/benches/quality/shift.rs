//! Attributes of classes under a shift: every sample has the attributes of its class. Classes that training shows
//! break no rule; of those that it never shows, some break each rule.

use chimera_data::split::Split;
use chimera_leaf::config::LeafConfig;

use super::digits::SIDE;
use super::world::{Content, Drawn, Order, Rules, direction, is_normal, normal};

const ATTRIBUTES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

const CLASS_RULES: &str = "\
simple: a => b
exclusion: c => !d
or_consequent: e => f | g
and_antecedent: b & f => h
chain: (g => i) & (i => j)
iff: a => (e <=> i)
negated: !(d & h & j)
disjunction: b | c | e | j
";

const SEEN: usize = 40;
const UNSEEN: usize = 20;

/// Each rule is broken by at least so many of the unseen classes.
const BREAKING: usize = 3;
/// Each attribute is there in at least so many of the seen classes, and not there in as many.
const VARIED: usize = 5;

const PREVALENCE: f64 = 0.45;
const WIDTH: usize = 64;

/// An attribute adds a vector about 1 long, and a class one of its own, as long as all its attributes together.
const OWN: f32 = 2.0;
/// The noise's standard deviation in every number.
const NOISE: f32 = 0.4;

/// Draws features of made-up classes.
pub(crate) fn classes(order: &Order<'_>) -> Drawn {
    let mut random = fastrand::Rng::with_seed(order.seed);
    let rules = Rules::new(&ATTRIBUTES, CLASS_RULES);
    let classes = attributes(&rules, &mut random);
    let adds: Vec<Vec<f32>> = ATTRIBUTES.iter().map(|_| direction(&mut random, WIDTH, 1.0)).collect();
    let own: Vec<Vec<f32>> = classes.iter().map(|_| direction(&mut random, WIDTH, OWN)).collect();
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for split in order.sizes.rows() {
        let class =
            if is_normal(split) || random.bool() { random.usize(..SEEN) } else { SEEN + random.usize(..UNSEEN) };
        let of = |at: usize| {
            let attributes = adds.iter().zip(&classes[class]).filter(|(_, shown)| **shown);
            own[class][at] + attributes.map(|(adds, _)| adds[at]).sum::<f32>()
        };
        values.extend((0..WIDTH).map(|at| of(at) + NOISE * normal(&mut random)));
        rows.push((split, classes[class].clone()));
    }
    let leaf = LeafConfig { epochs: 12, seed: order.seed, ..LeafConfig::default() };
    Drawn { rules, rows, content: Content::Features(WIDTH, values), leaf, bayes: None }
}

/// Attributes of every class, the seen ones first; no two classes are the same.
fn attributes(rules: &Rules, random: &mut fastrand::Rng) -> Vec<Vec<bool>> {
    let mut several = |count: usize, hold: bool| {
        let mut classes: Vec<Vec<bool>> = Vec::new();
        while classes.len() < count {
            let class: Vec<bool> = ATTRIBUTES.iter().map(|_| random.f64() < PREVALENCE).collect();
            if rules.hold(&class) == hold && !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    };
    let times = |of: &[Vec<bool>], at: usize| of.iter().filter(|flags| flags[at]).count();
    let varied =
        |classes: &[Vec<bool>]| (0..ATTRIBUTES.len()).all(|at| (VARIED..=SEEN - VARIED).contains(&times(classes, at)));
    let break_all = |classes: &[Vec<bool>]| {
        let broken: Vec<Vec<bool>> = classes.iter().map(|class| rules.broken(class)).collect();
        (0..broken[0].len()).all(|rule| times(&broken, rule) >= BREAKING)
    };
    // A handful of draws is enough for either.
    let seen = std::iter::repeat_with(|| several(SEEN, true)).find(|classes| varied(classes)).expect("one day");
    let unseen = std::iter::repeat_with(|| several(UNSEEN, false)).find(|classes| break_all(classes)).expect("one day");
    [seen, unseen].concat()
}

const TRAITS: [&str; 6] = ["loop", "straight", "bar", "curve", "crossing", "ends"];

/// What each digit looks like: a closed loop, a long straight stroke, a horizontal bar, an open curve, strokes that
/// cross, free ends.
const DIGITS: [[u8; 6]; 10] = [
    [1, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 1],
    [0, 0, 1, 1, 0, 1],
    [0, 0, 0, 1, 0, 1],
    [0, 1, 1, 0, 1, 1],
    [0, 0, 1, 1, 0, 1],
    [1, 0, 0, 1, 0, 1],
    [0, 1, 1, 0, 0, 1],
    [1, 0, 0, 0, 1, 0],
    [1, 1, 0, 0, 0, 1],
];

/// Training never shows 3, 4 and 9. Each breaks some of the rules, and each rule is broken by one of them at least.
const SEEN_DIGITS: [usize; 7] = [0, 1, 2, 5, 6, 7, 8];

const DIGIT_RULES: &str = "\
simple: crossing => loop
exclusion: loop => !straight
or_consequent: curve => bar | loop
and_antecedent: loop & ends => curve
chain: (crossing => loop) & (loop => !straight)
iff: loop <=> !(straight | bar)
negated: !(straight & crossing)
disjunction: loop | straight | bar
";

/// Draws digits by what they look like.
pub(crate) fn digits(order: &Order<'_>) -> Option<Drawn> {
    let digits = order.digits?;
    let mut random = fastrand::Rng::with_seed(order.seed);
    let rules = Rules::new(&TRAITS, DIGIT_RULES);
    let (mut rows, mut pixels): (Vec<(Split, Vec<bool>)>, Vec<u8>) = (Vec::new(), Vec::new());
    // Pictures of a digit come one after the other, so that none comes twice in a split.
    let mut next: [usize; 10] = std::array::from_fn(|_| random.usize(..1 << 20));
    for split in order.sizes.rows() {
        let digit = if is_normal(split) {
            SEEN_DIGITS[random.usize(..SEEN_DIGITS.len())]
        } else {
            random.usize(..DIGITS.len())
        };
        pixels.extend(digits.of(split).picture(digit, next[digit]));
        next[digit] += 1;
        rows.push((split, DIGITS[digit].map(|shown| shown == 1).to_vec()));
    }
    let leaf = LeafConfig { epochs: 3, seed: order.seed, ..LeafConfig::default() };
    Some(Drawn { rules, rows, content: Content::Pictures(SIDE, pixels), leaf, bayes: None })
}

//! Feature vectors whose structure is known: each concept adds one part that is always the same and one that depends
//! on the sample's style. The angle between them says how much of a concept can be explained by its label alone.
//! Since everything is known, so is the best answer that anybody could give.

use chimera_data::split::Split;
use chimera_leaf::config::LeafConfig;

use super::world::{Content, Drawn, Order, Rules, direction, is_normal, normal};

const CONCEPTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

const RULES: &str = "\
simple: a => b
exclusion: c => !d
or_consequent: e => f | g
and_antecedent: b & f => h
chain: (c => g) & (g => e)
iff: h <=> (d | f)
xor: d => (a | e) & !(a & e)
disjunction: a | c | d | f
";

/// The second comes with the first in rows that are learned from.
const PARTNERS: [(usize, usize); 3] = [(0, 1), (2, 6), (4, 5)];
const TOGETHER: f64 = 0.7;

/// How often a sample shows a concept.
const PREVALENCE: f64 = 0.35;

const WIDTH: usize = 32;
const STYLES: usize = 4;

/// The noise's standard deviation in every number; what a concept adds is about 1 long.
const NOISE: f32 = 0.37;

/// What concepts add, `[style][concept]`.
struct Parts(Vec<Vec<Vec<f32>>>);

impl Parts {
    /// The same directions for every angle, so that settings differ in nothing else.
    fn draw(random: &mut fastrand::Rng, degrees: f32) -> Self {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let mut parts = vec![Vec::new(); STYLES];
        for _ in CONCEPTS {
            let always = direction(random, WIDTH, 1.0);
            let styles: Vec<Vec<f32>> = (0..STYLES).map(|_| direction(random, WIDTH, 1.0)).collect();
            // Over all styles their own parts are nothing; what is taken away makes them shorter.
            let mean = |at: usize| styles.iter().map(|style| style[at]).sum::<f32>() / STYLES as f32;
            let longer = (STYLES as f32 / (STYLES as f32 - 1.0)).sqrt();
            for (part, style) in parts.iter_mut().zip(&styles) {
                let own = |at: usize| longer * (style[at] - mean(at));
                part.push((0..WIDTH).map(|at| cos * always[at] + sin * own(at)).collect());
            }
        }
        Self(parts)
    }

    /// What a sample of a style would be without noise.
    fn centre(&self, labels: &[bool], style: usize) -> Vec<f32> {
        let mut centre = vec![0.0; WIDTH];
        for part in self.0[style].iter().zip(labels).filter(|(_, shown)| **shown).map(|(part, _)| part) {
            centre.iter_mut().zip(part).for_each(|(sum, number)| *sum += number);
        }
        centre
    }
}

/// Draws samples of a setting.
pub(crate) fn draw(order: &Order<'_>, degrees: f32) -> Drawn {
    let mut random = fastrand::Rng::with_seed(order.seed);
    let rules = Rules::new(&CONCEPTS, RULES);
    let parts = Parts::draw(&mut random, degrees);
    let rows: Vec<(Split, Vec<bool>)> = order
        .sizes
        .rows()
        .map(|split| (split, rules.drawn(split, || Some(labels(&mut random, is_normal(split))))))
        .collect();
    let mut values = Vec::with_capacity(rows.len() * WIDTH);
    for (_, labels) in &rows {
        let centre = parts.centre(labels, random.usize(..STYLES));
        values.extend(centre.into_iter().map(|number| number + NOISE * normal(&mut random)));
    }
    let seen = rows.iter().zip(values.chunks_exact(WIDTH)).filter(|((split, _), _)| *split == Split::Test);
    let bayes = posterior(&rules, &parts, seen.map(|(_, sample)| sample));
    let leaf = LeafConfig { epochs: 12, seed: order.seed, ..LeafConfig::default() };
    Drawn { rules, rows, content: Content::Features(WIDTH, values), leaf, bayes: Some(bayes) }
}

fn labels(random: &mut fastrand::Rng, partners: bool) -> Vec<bool> {
    let mut labels: Vec<bool> = CONCEPTS.iter().map(|_| random.f64() < PREVALENCE).collect();
    for (one, other) in PARTNERS.into_iter().filter(|_| partners) {
        labels[other] |= labels[one] && random.f64() < TOGETHER;
    }
    labels
}

/// The probability that each rule is broken, `[rule][sample]`, by all labels and styles that a test sample can have.
fn posterior<'a>(rules: &Rules, parts: &Parts, samples: impl Iterator<Item = &'a [f32]>) -> Vec<Vec<f64>> {
    struct World {
        broken: Vec<bool>,
        centres: Vec<Vec<f32>>,
        log_prior: f64,
    }
    let worlds: Vec<World> = (0..1_usize << CONCEPTS.len())
        .map(|number| {
            let labels: Vec<bool> = (0..CONCEPTS.len()).map(|concept| number >> concept & 1 == 1).collect();
            let log_prior = labels.iter().map(|&shown| if shown { PREVALENCE } else { 1.0 - PREVALENCE }.ln()).sum();
            let centres = (0..STYLES).map(|style| parts.centre(&labels, style)).collect();
            World { broken: rules.broken(&labels), centres, log_prior }
        })
        .collect();
    let mut posterior = vec![Vec::new(); worlds[0].broken.len()];
    for sample in samples {
        let likely = |world: &World, centre: &[f32]| {
            let distance: f32 = sample.iter().zip(centre).map(|(one, other)| (one - other) * (one - other)).sum();
            (world.log_prior - f64::from(distance / (2.0 * NOISE * NOISE))).exp()
        };
        let (mut all, mut broken) = (0.0, vec![0.0; posterior.len()]);
        for world in &worlds {
            let weight: f64 = world.centres.iter().map(|centre| likely(world, centre)).sum();
            all += weight;
            broken
                .iter_mut()
                .zip(&world.broken)
                .for_each(|(sum, &breaks)| *sum += f64::from(u8::from(breaks)) * weight);
        }
        assert!(all > 0.0, "a sample is near something");
        posterior.iter_mut().zip(broken).for_each(|(of_rule, broken)| of_rule.push(broken / all));
    }
    posterior
}

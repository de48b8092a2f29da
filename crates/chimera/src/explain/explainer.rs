//! From one sample to everything that can be told about it.

use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_leaf::calibrate::Method as Calibrated;
use chimera_leaf::device::Device;
use chimera_leaf::look::{Encoded, Look};
use chimera_leaf::stream::Sources;
use chimera_logic::dag::{Edge, Node, NodeId};
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::ConceptId;

use super::evidence::{self, Broken, Maps};
use super::mend::{Bearing, Literal, Mending};
use super::moments::{self, Moments};
use super::parts::Parts;
use super::told::{BreachTold, ChangeTold, ConceptTold, Explanation, MapTold, PartTold, RuleTold, Shown, Standing};
use crate::score::engine::{Engine, Scoring};
use crate::score::flag::{FlagParams, Flags, Thresholds};
use crate::score::method::Method;
use crate::score::ready::Ready;
use crate::score::samples::SampleScores;

/// Frames of a video in which rules and concepts are looked for.
const LOOKED_AT: usize = 2;

/// A model made ready to explain.
#[derive(Debug)]
pub struct Explainer<'a> {
    ready: Ready<'a>,
    parts: Ready<'a>,
    /// The part that each rule of `parts` is.
    nodes: &'a [NodeId],
    thresholds: Thresholds,
    scoring: Scoring,
    threads: NonZeroUsize,
}

/// What is wanted of an explanation.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// Rules by number; where there is none, those that the sample is flagged for, or the worst where it is not.
    pub rules: &'a [usize],
    /// How many of them at most.
    pub top_k: usize,
    /// Whether to look for where rules are seen.
    pub maps: bool,
}

/// One sample explained, with what the network saw of it.
#[derive(Debug)]
pub struct Explained<'a> {
    /// What is told.
    pub told: Explanation,
    /// The sample.
    pub look: Look<'a>,
    /// The rules that are told about, by number.
    pub rules: Vec<usize>,
    /// The probability of every part, by number of its node; `None` where there is none.
    pub parts: Vec<Option<f64>>,
    /// The probability of every concept of the vocabulary, by the method.
    pub concepts: Vec<f64>,
}

impl<'a> Explainer<'a> {
    /// Makes a model ready, with its parts opened beside it.
    ///
    /// # Errors
    /// A method that needs what the model does not have.
    pub fn new(
        engine: &'a Engine,
        parts: &'a Parts,
        (scoring, flagging): (Scoring, &FlagParams),
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let (ready, thresholds) = engine.ready(scoring, None, threads)?.judged_by(flagging, None, threads)?;
        let nodes = &parts.nodes;
        // Parts have neither severities nor thresholds: all that is asked of them is their probability.
        let parts = parts.engine.ready(Scoring { method: scoring.method, ..Scoring::default() }, None, threads)?;
        Ok(Self { ready, parts, nodes, thresholds, scoring, threads })
    }

    /// Opens the parts of a model.
    ///
    /// # Errors
    /// As [`Parts::open`].
    pub fn parts_of(
        folder: &Path,
        device: &Device,
        engine: &Engine,
        method: Method,
        place: (Option<&Path>, NonZeroUsize),
    ) -> Result<Parts> {
        Parts::open(folder, device, &engine.gates.rule_set, method, place)
    }

    /// The model, ready to score.
    #[must_use]
    pub fn ready(&self) -> &Ready<'a> {
        &self.ready
    }

    /// The thresholds that samples are flagged by.
    #[must_use]
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    fn rule_set(&self) -> &'a RuleSet {
        &self.ready.engine().gates.rule_set
    }

    /// Reads a sample and tells everything about it.
    ///
    /// # Errors
    /// A sample that cannot be read or scored.
    ///
    /// # Panics
    /// Where there is no such sample or rule.
    pub fn explain(&self, sources: Sources<'_>, sample: usize, wanted: &Wanted<'_>) -> Result<Explained<'a>> {
        let engine = self.ready.engine();
        let look = Look::read(&engine.model.bank, sources, sample, self.threads)?;
        let encoded = look.as_it_is()?;
        let scores = self.scores(&self.ready, &encoded)?;
        let of_parts = self.scores(&self.parts, &encoded)?;
        let mut parts = vec![None; self.rule_set().dag.len()];
        self.nodes.iter().zip(&of_parts.p).for_each(|(node, p)| parts[node.index()] = *p);
        let (bank, concepts, concepts_told) = self.concepts(encoded.logits(0), &parts);

        let flags = self.thresholds.flags(&scores);
        let standings = self.standings(&scores, &flags);
        let rules: Vec<usize> = if wanted.rules.is_empty() {
            // A sample that is not flagged has a worst rule all the same.
            let shown = flags.why.len().clamp(1, wanted.top_k.max(1));
            standings.iter().take(shown).map(|(rule, _)| *rule).collect()
        } else {
            wanted.rules.to_vec()
        };
        let when = if look.frame_count() > 1 { Some(Moments::of(&self.ready, &look, self.threads)?) } else { None };
        let mut of_rules: Vec<RuleTold> = rules
            .iter()
            .map(|&rule| self.rule(rule, &parts, if self.distrust_of(rule).is_some() { &bank } else { &concepts }))
            .collect();
        let broken: Vec<Broken> = of_rules.iter().map(|told| Broken { shown: self.shown(told) }).collect();
        let maps = if wanted.maps { self.maps(&look, &broken, when.as_ref())? } else { Vec::new() };
        for (place, told) in of_rules.iter_mut().enumerate() {
            told.when = when.as_ref().map(|when| when.told(rules[place]));
            told.maps = self.maps_told(&broken[place], &maps, place);
        }
        let told = Explanation {
            id: sources.id(sample).to_owned(),
            model: String::new(),
            method: self.scoring.method.name(),
            aggregation: self.scoring.aggregation.name(),
            flag: self.thresholds.flagging().name(),
            anomaly: scores.anomaly,
            threshold: self.thresholds.global(),
            flagged: flags.sample,
            unknown: flags.unknown.as_ref().map(|reason| reason.words(&engine.rules().collect::<Vec<_>>())),
            fpr: self.thresholds.rate(),
            normal_samples: self.thresholds.rows(),
            rules: of_rules,
            standings: standings.into_iter().map(|(_, standing)| standing).collect(),
            concepts: concepts_told,
            frames: look.frames().map_or(0, |frames| frames.shape.frames.get()),
        };
        Ok(Explained { told, look, rules, parts, concepts })
    }

    fn scores(&self, ready: &Ready<'_>, encoded: &Encoded) -> Result<SampleScores> {
        let scores = moments::scores(ready, encoded, self.threads)?.pop();
        scores.ok_or_else(|| Error::input("expected a sample, got none".to_owned(), None))
    }

    /// Why `neural` is `indep-cal` over the leaf bank's probabilities for a rule; `None` where it is not.
    fn distrust_of(&self, rule: usize) -> Option<String> {
        if self.scoring.method == Method::Neural {
            self.ready.engine().distrust_of(self.rule_set(), rule)
        } else {
            None
        }
    }

    /// Probabilities of all concepts by the leaf bank and by the method, and what is told of those that a rule has.
    fn concepts(&self, logits: &[f32], parts: &[Option<f64>]) -> (Vec<f64>, Vec<f64>, Vec<ConceptTold>) {
        let (dag, calibration) = (&self.rule_set().dag, &self.ready.engine().model.calibration);
        let bank = |concept: usize| calibration.probability(Calibrated::Platt, concept, logits[concept]);
        let bank: Vec<f64> = (0..logits.len()).map(bank).collect();
        let mut probabilities = bank.clone();
        let mut told = Vec::new();
        for &node in self.nodes {
            let Node::Leaf(concept) = dag.node(node) else { continue };
            let place = concept.index();
            let p_bank = bank[place];
            probabilities[place] = parts[node.index()].unwrap_or(p_bank);
            let name = dag.vocabulary().name(concept).to_owned();
            told.push((place, ConceptTold { concept: name, logit: logits[place], p_bank, p: probabilities[place] }));
        }
        told.sort_by_key(|(place, _)| *place);
        (bank, probabilities, told.into_iter().map(|(_, told)| told).collect())
    }

    /// Every rule by number, the worst first.
    fn standings(&self, scores: &SampleScores, flags: &Flags) -> Vec<(usize, Standing)> {
        let engine = self.ready.engine();
        let (limits, shares) = (self.thresholds.rules(), self.thresholds.normal_shares(scores));
        let severities: Vec<_> = engine.severities().collect();
        let names: Vec<&str> = engine.rules().collect();
        let standing = |rule: usize| Standing {
            rule: names[rule].to_owned(),
            severity: severities[rule].to_string(),
            p: scores.p[rule],
            score: scores.s[rule],
            threshold: limits[rule],
            normal_share: shares[rule],
            flagged: self.thresholds.flag_of(rule, scores, flags),
            without_grafts: self.distrust_of(rule),
        };
        self.thresholds.ranking(scores, flags).into_iter().map(|rule| (rule, standing(rule))).collect()
    }

    /// What a rule has to do with its parts and concepts, by the probabilities of concepts that it is scored by.
    fn rule(&self, rule: usize, parts: &[Option<f64>], concepts: &[f64]) -> RuleTold {
        let (rule_set, mending) = (self.rule_set(), Mending::new(self.rule_set(), rule, concepts));
        let vocabulary = rule_set.dag.vocabulary();
        let shown = |literal: &Literal| Shown {
            concept: vocabulary.name(literal.concept).to_owned(),
            shown: literal.shown,
            p: concepts[literal.concept.index()],
        };
        let mend = mending.mend();
        let change = |is_repair: bool| {
            let mend = mend.as_ref().filter(|mend| mend.is_likeliest == is_repair)?;
            Some(ChangeTold {
                concepts: mend.change.flips.iter().map(shown).collect(),
                cost: mend.change.cost,
                words: mend.words(|concept| vocabulary.name(concept)),
            })
        };
        let part = |bearing: Bearing| PartTold {
            formula: rule_set.dag.text(Edge::new(bearing.node, false)),
            is_concept: matches!(rule_set.dag.node(bearing.node), Node::Leaf(_)),
            // Of a concept, the probability that the rule is scored by.
            p: match rule_set.dag.node(bearing.node) {
                Node::Leaf(concept) => Some(concepts[concept.index()]),
                Node::Gate(..) => parts[bearing.node.index()],
            },
            wanted: bearing.wanted,
            then: bearing.then,
            lift: bearing.lift,
        };
        RuleTold {
            rule: rule_set.rules[rule].name.clone(),
            formula: rule_set.dag.text(rule_set.rules[rule].root),
            parts: mending.bearings().map(|(_, bearings)| bearings.into_iter().map(part).collect()),
            breach: mend.as_ref().map(|mend| BreachTold {
                concepts: mend.breach.iter().map(shown).collect(),
                p: mend.breach_probability,
                is_likeliest: mend.is_likeliest,
            }),
            repair: change(true),
            breaks: change(false),
            maps: Vec::new(),
            when: None,
        }
    }

    /// Maps of the picture, or of the frames that show most of what breaks the worst rule that anything seen breaks.
    fn maps(&self, look: &Look<'_>, rules: &[Broken], when: Option<&Moments>) -> Result<Vec<Maps>> {
        let Some(worst) = rules.iter().find(|broken| !broken.shown.is_empty()) else { return Ok(Vec::new()) };
        let frames = when.map_or_else(|| vec![0], |when| when.busiest(worst, LOOKED_AT));
        let calibration = &self.ready.engine().model.calibration;
        let of = |frame| evidence::maps(calibration, look, frame, rules).transpose();
        frames.into_iter().filter_map(of).collect()
    }

    /// The concepts that are seen where a rule is broken.
    fn shown(&self, told: &RuleTold) -> Vec<ConceptId> {
        let vocabulary = self.rule_set().dag.vocabulary();
        told.seen().filter_map(|concept| vocabulary.get(concept)).collect()
    }

    /// Maps of a rule, and of the concepts that are seen where it is broken; a concept that is alone there has the map of the rule. None where it
    /// is broken by what is missing: nothing can be pointed at.
    fn maps_told(&self, broken: &Broken, maps: &[Maps], place: usize) -> Vec<MapTold> {
        let names = self.rule_set().dag.vocabulary();
        let mut told = Vec::new();
        for maps in maps.iter().filter(|_| !broken.shown.is_empty()) {
            told.push(MapTold::new(None, &maps.rules[place]));
            let of = |concept: &ConceptId| MapTold::new(Some(names.name(*concept)), &maps.concepts[concept.index()]);
            if broken.shown.len() > 1 {
                told.extend(broken.shown.iter().map(of));
            }
        }
        told
    }
}

//! One model, one seed, one method at a time: what there is to ask, and asking.

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::TestRows;
use chimera_data::error::{Error, Result};
use chimera_data::metric::bootstrap::Draws;
use chimera_leaf::encode::EncodedRows;
use chimera_logic::rules::RuleSet;

use super::MethodOf;
use super::clock::Clock;
use super::collected::Collected;
use super::measure::measure;
use super::replica::Site;
use super::run::{Asked, Event};
use super::score::{Scored, on_one_line, score};
use super::truth::RuleTruths;
use crate::gate::stage::Place;
use crate::model::Model;
use crate::score::engine::Engine;
use crate::score::method::Method;
use crate::score::samples::RowsOf;

/// Who is asked at one seed: the model or its replica, with z of the test rows, and z of the training data where they are another
/// dataset.
pub(super) struct Subject {
    pub(super) engine: Engine,
    pub(super) tested: EncodedRows,
    pub(super) trained: Option<EncodedRows>,
}

/// What stays the same for all methods.
pub(super) struct Test<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) site: Site<'a>,
    /// The dataset that the model was trained on, where it is at hand.
    pub(super) training: Option<&'a Dataset>,
    pub(super) rows: TestRows,
    pub(super) truths: RuleTruths,
    pub(super) draws: Draws,
}

impl Test<'_> {
    /// Test rows that break a rule, that break none, and the others.
    pub(super) fn counts(&self) -> [usize; 3] {
        let mut counts = [0; 3];
        for row in 0..self.truths.rows() {
            counts[match self.truths.any_broken(row) {
                Some(true) => 0,
                Some(false) => 1,
                None => 2,
            }] += 1;
        }
        counts
    }

    /// Puts a replica with another seed in the model's place.
    pub(super) fn replica(&self, subject: &mut Subject, rule_set: &RuleSet, seed: u64) -> Result<()> {
        let asked = self.asked;
        let Some(training) = self.training else { return Ok(()) };
        if asked.refit_leaf {
            let (engine, encoded) = self.site.retrain(asked.model, rule_set, training, (seed, asked.weights))?;
            let is_own = subject.trained.is_none();
            let (tested, trained) = if is_own {
                (encoded, None)
            } else {
                (self.site.encode(asked.dataset, &engine.model.bank)?, Some(encoded))
            };
            *subject = Subject { engine, tested, trained };
        } else {
            let encoded = subject.trained.as_ref().unwrap_or(&subject.tested);
            subject.engine = self.site.reteach(asked.model, rule_set, (training, encoded), seed)?;
        }
        Ok(())
    }

    /// Asks one method at one seed.
    pub(super) fn ask(
        &self,
        subject: &mut Subject,
        at: usize,
        (number, seed): (usize, u64),
        collected: &mut Collected,
        clock: &mut Clock,
    ) {
        let (asked, method) = (self.asked, self.asked.methods[at]);
        if collected.methods[at].absent.is_some() {
            return;
        }
        if number > 0 && !asked.refit_leaf && !depends_on_seed(method) {
            collected.copy(method, seed);
            return;
        }
        let name = if number == 0 { method.name().to_owned() } else { format!("{} at seed {seed}", method.name()) };
        let scored = self.scored(subject, method, (number == 0, seed), &mut collected.methods[at]);
        // Scores that cannot be ranked are this method's fault alone.
        let measured = scored.and_then(|scored| {
            clock.stop(&name);
            Ok((measure((method, seed), &scored, &self.truths, &self.draws, asked.threads)?, scored))
        });
        match measured {
            Ok((measured, scored)) => {
                clock.stop_apart("ranking", ("resampling", measured.resampling));
                collected.take(measured, scored, number == 0);
            }
            Err(error) if number == 0 => collected.methods[at].absent = Some(on_one_line(&error)),
            Err(error) => {
                collected.say(format!("{name} is not there: {}", on_one_line(&error)));
            }
        }
    }

    fn scored(
        &self,
        subject: &mut Subject,
        method: Method,
        (is_own, seed): (bool, u64),
        about: &mut MethodOf,
    ) -> Result<Scored> {
        let asked = self.asked;
        // Said where it can be asked, and before it is taught.
        let begins = || (self.site.events)(Event::Method { method, seed });
        let is_taught = method.baseline().is_some();
        let mut other;
        let Subject { engine, tested, trained } = subject;
        let engine = match (&asked.rule_set, is_own) {
            // Gates of other rules are those of one method; replicas were taught these rules.
            (Some(rule_set), true) => {
                let opened = open(asked)?;
                other = opened.with_rules(asked.model, rule_set.clone(), method, Some(asked.cache))?;
                &mut other
            }
            _ => engine,
        };
        let training = self.training.map(|training| (training, trained.as_ref().unwrap_or(tested)));
        if is_taught {
            let Some(training) = training else {
                let message = "it is taught on the data that the model was trained on, which are not at hand";
                return Err(Error::input(message.to_owned(), None));
            };
            if engine.model.manifest.gates.is_some() {
                begins();
            }
            let place = Place {
                cache: asked.cache,
                gates: None,
                threads: asked.threads,
                retrain: false,
                device: &asked.device,
            };
            let taught = engine.teach(method, training, place, &|event| (self.site.events)(Event::Gates(event)))?;
            if let Some(taught) = taught.filter(|_| is_own) {
                (about.fitted_on, about.skipped) = (taught.fitted_on, taught.skipped);
            }
        }
        let samples = RowsOf { encoded: tested, numbers: self.rows.numbers() };
        let begins = || {
            if !is_taught {
                begins();
            }
        };
        score(engine, method, &samples, training, asked.threads, &begins)
    }
}

/// Opens the model; one without rules of its own can be asked about others.
pub(super) fn open(asked: &Asked<'_>) -> Result<Engine> {
    let model = Model::open(asked.model, &asked.device)?;
    match &asked.rule_set {
        Some(rule_set) if model.manifest.gates.is_none() => Engine::without_gates(model, rule_set.clone()),
        _ => Engine::of(model, asked.model, asked.threads),
    }
}

/// Whether a method is taught after the leaf bank.
fn depends_on_seed(method: Method) -> bool {
    !matches!(method, Method::Indep | Method::IndepCal | Method::Wmc)
}

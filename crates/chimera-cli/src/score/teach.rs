//! Methods that a model does not have are taught when they are asked for, from the data that the model was trained on.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::bail;
use chimera::baseline::{FittedOn, Teaching};
use chimera::gate::stage::Place;
use chimera::model;
use chimera::score::aggregate::Aggregation;
use chimera::score::engine::{Engine, Scoring};
use chimera_data::dataset::Dataset;
use chimera_data::error::Error;
use chimera_leaf::encode::EncodedRows;

use crate::console::Console;
use crate::table::counted;
use crate::train::events::Shown;
use crate::train::material;

/// So many rules that cannot be taught are named.
const LISTED: usize = 10;

/// The data that the model was trained on, encoded.
pub(crate) struct TrainingData {
    dataset: Dataset,
    encoded: EncodedRows,
    fitted_on: Option<FittedOn>,
}

impl TrainingData {
    /// Opens what `data` names, or, without it, the input where that is the dataset that the model was trained on. `None`
    /// where nothing asks for it.
    pub(crate) fn open(
        scoring: Scoring,
        engine: &Engine,
        (data, input): (Option<&Path>, Option<&Path>),
    ) -> anyhow::Result<Option<Dataset>> {
        let asks = match (scoring.method.baseline(), scoring.aggregation) {
            (Some(_), _) => format!("the method `{}`", scoring.method.name()),
            (None, Aggregation::LearnedSupervised) => format!("`--agg {}`", scoring.aggregation.name()),
            _ if data.is_some() => bail!(
                "`--data` is for what is not part of a model, and the method `{}` with `--agg {}` is\nhint: leave it out",
                scoring.method.name(),
                scoring.aggregation.name()
            ),
            _ => return Ok(None),
        };
        let open = |folder| Ok::<_, Error>(Dataset::open(folder)?.in_order_of(&engine.model.manifest.bank.concepts));
        if let Some(data) = data {
            return Ok(Some(open(data)?));
        }
        if let Some(input) = input {
            let dataset = open(input)?;
            if model::difference(&engine.model.manifest, &dataset)?.is_none() {
                return Ok(Some(dataset));
            }
        }
        bail!("{asks} is taught on the data that the model was trained on\nhint: name them with `--data DIR`")
    }

    /// Encodes the data, and teaches the method or finds it in the cache.
    pub(crate) fn teach(
        dataset: Dataset,
        engine: &mut Engine,
        scoring: Scoring,
        (cache, threads): (&Path, NonZeroUsize),
        console: &Console,
    ) -> anyhow::Result<Self> {
        let shown = Shown::new(console);
        let encoded = material::encode(&engine.model, &dataset, cache, threads, &shown)?;
        let device = engine.model.bank.device();
        let place = Place { cache, gates: None, threads, retrain: false, device: &device };
        let taught = engine.teach(scoring.method, (&dataset, &encoded), place, &|event| shown.show_gates(&event))?;
        drop(shown);
        if let Some(teaching) = &taught {
            say(scoring.method.name(), teaching, console);
        }
        Ok(Self { dataset, encoded, fitted_on: taught.and_then(|teaching| teaching.fitted_on) })
    }

    /// The samples that break rules that the method has seen.
    pub(crate) fn fitted_on(&self) -> Option<FittedOn> {
        self.fitted_on
    }

    /// Samples that break rules, for what may see them.
    pub(crate) fn violations(&self) -> (&Dataset, &EncodedRows) {
        (&self.dataset, &self.encoded)
    }
}

/// What is to be said of something that has seen violations.
pub(crate) fn seen(fitted_on: FittedOn) -> &'static str {
    match fitted_on {
        FittedOn::Oracle => "; it has seen violations, those of the split `oracle`, whose rows it does not score",
        FittedOn::CrossFitted => {
            "; it has seen violations, those of test rows (each row is scored by what was taught without it)"
        }
    }
}

fn say(method: &str, teaching: &Teaching, console: &Console) {
    let (trained, cached) = (teaching.counts.trained, teaching.counts.cached);
    let seen = teaching.fitted_on.map_or("", seen);
    console.say(format_args!("{method}: {} taught, {cached} from the cache{seen}", counted(trained, "gate")));
    for (name, reason) in teaching.skipped.iter().take(LISTED) {
        console.say(format_args!("  `{name}` cannot be scored: {reason}"));
    }
    if teaching.skipped.len() > LISTED {
        console.say(format_args!("  and {} more", teaching.skipped.len() - LISTED));
    }
}

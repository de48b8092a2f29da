//! From what was typed and what a file says to one configuration: the command line beats the file, the file the preset.

use std::fs;
use std::path::Path;

use anyhow::Context;
use chimera::gate::config::GateConfig;
use chimera_data::dataset::Dataset;
use chimera_data::toml_file;
use chimera_leaf::config::{LeafConfig, Weights};
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::encoder::EncoderConfig;
use serde_json::{Map, Value};

use crate::args::{Preset, TrainArguments, TrainChoices};

/// What was chosen.
pub(super) struct Settled {
    pub(super) leaf: LeafConfig,
    pub(super) gates: GateConfig,
    pub(super) device: DeviceChoice,
    /// The options that were typed or stand in the file.
    said: Vec<String>,
    preset: Option<Preset>,
}

impl Settled {
    /// The encoder for a dataset.
    pub(super) fn encoder_for(&self, dataset: &Dataset) -> anyhow::Result<EncoderConfig> {
        let by_preset = self.preset.filter(|_| !self.said.iter().any(|name| name == "encoder"));
        if let (Some(Preset::Paper), None, Some(_)) =
            (by_preset, &dataset.manifest().media_root, dataset.feature_width()?)
        {
            anyhow::bail!(
                "`--preset paper` chooses the encoder resnet18, which looks at pictures and videos, but `{}` has features \
                 alone\nhint: leave out `--preset`, or give `--encoder features` beside it",
                dataset.folder().display()
            );
        }
        Ok(self.leaf.encoder_for(dataset)?)
    }

    /// Refuses options that the encoder has no use for: whoever gives one expects it to matter.
    pub(super) fn check_use(&self, encoder: &EncoderConfig) -> anyhow::Result<()> {
        let (what, useless): (&str, &[&str]) = match *encoder {
            EncoderConfig::Frames { frames: 1, .. } => ("pictures", &["projection", "frames", "pooling"]),
            EncoderConfig::Frames { .. } => ("videos", &["projection"]),
            EncoderConfig::Given { projection: Some(_), .. } => ("given features", &["frames", "pooling", "size"]),
            EncoderConfig::Given { projection: None, .. } => {
                ("features that are z as they are", &["frames", "pooling", "size", "features"])
            }
        };
        match self.said.iter().find(|name| useless.contains(&name.as_str())) {
            Some(name) => anyhow::bail!("`--{name}` means nothing for {what}\nhint: leave it out"),
            None => Ok(()),
        }
    }
}

pub(super) fn settled(arguments: &TrainArguments) -> anyhow::Result<Settled> {
    let file = arguments.config.as_deref().map(read).transpose()?.unwrap_or_default();
    [&file, &arguments.choices].into_iter().try_for_each(check_numbers)?;
    let mut said = map(&file)?;
    said.extend(map(&arguments.choices)?);
    let preset: Option<Preset> = taken(&mut said, "preset")?;
    let device: Option<DeviceChoice> = taken(&mut said, "device")?;
    let (leaf, gates) = match preset {
        Some(Preset::Paper) => (LeafConfig::paper(), GateConfig::paper()),
        None => Default::default(),
    };
    let names: Vec<String> = said.keys().cloned().collect();
    // The seed is for both; every other name belongs to one of them.
    let mut gate_names = keys(&gates)?;
    let of_gates: Map<String, Value> = said
        .iter()
        .filter(|(name, _)| gate_names.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    gate_names.retain(|name| name != "seed");
    if let (None, Some(name)) = (&arguments.rules, names.iter().find(|name| gate_names.contains(name))) {
        anyhow::bail!("`--{name}` means nothing without `--rules`\nhint: say which rules to teach gates for");
    }
    said.retain(|name, _| !gate_names.contains(name));
    let of_chimeras = ["sampler", "chimeras"].into_iter().find(|name| of_gates.contains_key(*name));
    let (leaf, gates) = (with(leaf, said)?, with(gates, of_gates)?);
    leaf.check()?;
    gates.check()?;
    if let (false, Some(name)) = (gates.negatives.has_chimeras(), of_chimeras) {
        anyhow::bail!("`--{name}` is about chimeras, and these `--negatives` make none\nhint: leave one of them out");
    }
    Ok(Settled { leaf, gates, device: device.unwrap_or_default(), said: names, preset })
}

fn keys(config: &impl serde::Serialize) -> anyhow::Result<Vec<String>> {
    match serde_json::to_value(config)? {
        Value::Object(map) => Ok(map.into_iter().map(|(name, _)| name).collect()),
        _ => anyhow::bail!("a configuration has no names"),
    }
}

/// A configuration with what was said instead of its own.
fn with<T: serde::Serialize + serde::de::DeserializeOwned>(start: T, said: Map<String, Value>) -> anyhow::Result<T> {
    let Value::Object(mut all) = serde_json::to_value(start)? else { anyhow::bail!("a configuration has no names") };
    all.extend(said);
    serde_json::from_value(Value::Object(all)).context("cannot use the configuration")
}

/// Refuses what JSON has no number for: it would look like nothing said.
fn check_numbers(choices: &TrainChoices) -> anyhow::Result<()> {
    let cap = choices.pos_weight.map(f64::from);
    let numbers = [
        ("rate", choices.rate),
        ("weight-decay", choices.weight_decay),
        ("train-frac", choices.train_frac),
        ("gate-rate", choices.gate_rate),
        ("gate-weight-decay", choices.gate_weight_decay),
        ("pos-weight", cap),
    ];
    match numbers.into_iter().find_map(|(name, number)| Some((name, number.filter(|number| !number.is_finite())?))) {
        Some((name, number)) => anyhow::bail!("expected a number for `{name}`, got `{number}`"),
        None => Ok(()),
    }
}

/// What a file says. Its paths start where it lies.
fn read(path: &Path) -> anyhow::Result<TrainChoices> {
    let text = fs::read_to_string(path).map_err(|cause| {
        anyhow::anyhow!("cannot read `{}`: {}", path.display(), chimera_data::error::system_words(&cause))
    })?;
    let mut choices: TrainChoices = toml_file::parse(&text, path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    choices.weights = choices.weights.map(|weights| match weights {
        Weights::File(path) => Weights::File(folder.join(path)),
        Weights::Untrained => weights,
    });
    Ok(choices)
}

/// The choices that say something, by name.
fn map(choices: &TrainChoices) -> anyhow::Result<Map<String, Value>> {
    match serde_json::to_value(choices)? {
        Value::Object(map) => Ok(map.into_iter().filter(|(_, value)| !value.is_null()).collect()),
        _ => anyhow::bail!("choices have no names"),
    }
}

fn taken<T: serde::de::DeserializeOwned>(said: &mut Map<String, Value>, name: &str) -> anyhow::Result<Option<T>> {
    Ok(said.remove(name).map(serde_json::from_value).transpose()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Command};

    fn settle(words: &str) -> anyhow::Result<Settled> {
        let words = ["chimera", "train", "ds", "--out", "m"].into_iter().chain(words.split_whitespace());
        let Command::Train(arguments) = Arguments::parse_from(words).command else { anyhow::bail!("not train") };
        settled(&arguments)
    }

    #[test]
    fn typed_beats_file_beats_preset_beats_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("train.toml");
        fs::write(&path, "preset = 'paper'\nepochs = 7\npooling = 'order'\nweights = 'w.pth'\npos-weight = 3\n")
            .unwrap();
        let config = path.display();
        let leaf = settle(&format!("--config {config} --epochs 9")).unwrap().leaf;
        let expected = LeafConfig {
            epochs: 9,
            pooling: chimera_leaf::pool::Pooling::Order,
            weights: Some(Weights::File(folder.path().join("w.pth"))),
            pos_weight: Some(3.0),
            ..LeafConfig::paper()
        };
        assert_eq!(leaf, expected);
        assert_eq!(settle("").unwrap().leaf, LeafConfig::default());
        assert_eq!(settle("--weights none").unwrap().leaf.weights, Some(Weights::Untrained));
        fs::write(&path, "weights = 'none'\n").unwrap();
        assert_eq!(settle(&format!("--config {config}")).unwrap().leaf.weights, Some(Weights::Untrained));
        assert_eq!(settle("--weights ./none").unwrap().leaf.weights, Some(Weights::File("./none".into())));
        assert_eq!(settle("--pos-weight").unwrap().leaf.pos_weight, Some(10.0));
        assert!(settle("--augment").unwrap().leaf.augment && !settle("--augment=false").unwrap().leaf.augment);
        fs::write(&path, "epoch = 7\n").unwrap();
        let error = settle(&format!("--config {config}")).err().unwrap().to_string();
        assert!(
            error.contains("line 1: unknown field `epoch`") && error.ends_with("did you mean `epochs`?"),
            "{error}"
        );
        assert_eq!(settle("--rate nan").err().unwrap().to_string(), "expected a number for `rate`, got `NaN`");
        assert!(settle("--epochs 0").err().unwrap().to_string().contains("expected `epochs` from 1"));
    }
}

//! The stage as a whole: gates of every node, and what is trained on grafts beside them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use chimera_data::error::{Error, Result};
use chimera_data::file::is_unfinished;
use chimera_logic::rules::RuleSet;

use super::calibration_rows::is_calibration;
use super::config::GateConfig;
use super::effects::is_effects;
use super::leaf_file::is_leaf_file;
use super::lesson::Lesson;
pub use super::material::{GateEvent, Material, Place};
use super::stored::hash_of;
pub use super::trained::{GateStage, GatesByHash};
use super::{levels, train_grafts};

/// Runs the stage.
///
/// # Errors
/// No rows to learn from, z that is no number, or a model folder that cannot be written. What is wrong with single nodes is
/// in the report.
pub fn run(
    material: Material<'_>,
    rule_set: &RuleSet,
    config: &GateConfig,
    place: Place<'_>,
    events: &(dyn Fn(GateEvent<'_>) + Sync),
) -> Result<GateStage> {
    let config = &place.of_device(config);
    let lesson = Lesson::new(material, rule_set, config, place.threads)?;
    let began = Instant::now();
    let mut stage = levels::teach(&lesson, material, rule_set, config, place, events)?;
    if config.grafts {
        let grafts = train_grafts::run(material, rule_set, config, place, events)?;
        stage.report.grafts = Some(Box::new(grafts.report()));
        stage.grafts = Some(Box::new(grafts));
        stage.seconds = began.elapsed().as_secs_f64();
    }
    Ok(stage)
}

/// The files of a model's folder of gates that are ours: gates, features of leaves, normal samples, and what killed writes
/// left.
///
/// # Errors
/// A folder that cannot be read.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(Error::read(folder, cause)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|cause| Error::read(folder, cause))?.path();
        if hash_of(&path).is_some()
            || is_leaf_file(&path)
            || is_effects(&path)
            || is_calibration(&path)
            || is_unfinished(&path)
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

//! What rows that are not learned from say about a bank: their loss, and how well each concept is ranked.

use std::num::NonZeroUsize;

use chimera_data::error::{Error, Result};
use chimera_data::metric::MacroMean;
use chimera_data::metric::columns::{Positive, ScoreTable, rank_columns};
use serde::{Deserialize, Serialize};

use super::bank::LeafBank;
use super::vectors::View;

/// A look at held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Rows that were looked at.
    pub rows: usize,
    /// Mean cross-entropy over their known labels.
    pub loss: f64,
    /// Mean average precision over the concepts of which it is defined; `None` where it is defined of none.
    pub macro_ap: Option<f64>,
}

/// Rows that are looked at together.
const BATCH: usize = 64;

/// Looks at rows; `None` where there are none, or nothing is known of them.
pub(super) fn look(bank: &LeafBank, view: View<'_>, rows: &[usize], threads: NonZeroUsize) -> Result<Option<HeldOut>> {
    let table = view.samples.dataset().table();
    let labels = table.labels.select(rows);
    let mut logits = Vec::with_capacity(rows.len() * table.concepts.len());
    for rows in rows.chunks(BATCH) {
        let answer = view.answer(bank, rows, None)?;
        logits.extend(answer.logits.into_data().iter::<f32>());
    }
    if let Some(wrong) = logits.iter().position(|logit| !logit.is_finite()) {
        let (row, concept) = (rows[wrong / table.concepts.len()], wrong % table.concepts.len());
        let (id, name, logit) = (&table.ids[row], &table.concepts[concept], logits[wrong]);
        let message = format!("expected a finite logit of `{name}` for the held-out sample `{id}`, got {logit}");
        let hint = "look at the sample; a smaller `--rate` may help, or features without extreme numbers";
        return Err(Error::input(message, Some(hint.to_owned())));
    }
    let (mut sum, mut known) = (0.0, 0_u64);
    for (place, &logit) in logits.iter().enumerate() {
        if let Some(label) = labels.get(place / table.concepts.len(), place % table.concepts.len()) {
            sum += cross_entropy(f64::from(logit), label);
            known += 1;
        }
    }
    if known == 0 {
        return Ok(None);
    }
    let scores = ScoreTable::new(&logits, rows.len(), &table.concepts)?;
    let precisions =
        rank_columns(scores, &labels, Positive::Holds, threads, |_, ranking| Ok(ranking.metrics().average_precision))?;
    let macro_ap = MacroMean::of(precisions).mean;
    Ok(Some(HeldOut { rows: rows.len(), loss: sum / known as f64, macro_ap }))
}

/// max(x, 0) - x y + ln(1 + exp(-|x|))
fn cross_entropy(logit: f64, label: bool) -> f64 {
    logit.max(0.0) - if label { logit } else { 0.0 } + (-logit.abs()).exp().ln_1p()
}

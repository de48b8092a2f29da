//! Calibration of a dataset: fitted on the rows that are for it, measured on any.

use std::fs;
use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::metric::columns::ScoreTable;
use chimera_leaf::calibrate::{Calibration, Method, TemperatureOutcome};

#[test]
fn only_the_rows_that_may_be_fitted_on_are() {
    // Three quarters of the rows with a logit of 2 ln 3 hold, one quarter of those with the opposite: with a
    // temperature of 2 the probabilities are right. Test rows say the opposite and must have no say.
    let logit = |row: usize| if row % 8 < 4 { 2.0 * 3_f32.ln() } else { -2.0 * 3_f32.ln() };
    let holds = |row: usize| (row % 4 < 3) == (row % 8 < 4);
    let mut samples = "id,split,red\n".to_owned();
    for row in 0..2000 {
        let (calibration, test) = (u8::from(holds(row)), u8::from(!holds(row)));
        samples.push_str(&format!("c{row},calibration,{calibration}\nt{row},test,{test}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("samples.csv"), samples + "x,train,1\n").unwrap();
    fs::write(folder.path().join("dataset.toml"), "name = 'small'\nkind = 'labels'\n").unwrap();
    let dataset = Dataset::open(folder.path()).unwrap();
    let (labels, names) = (&dataset.table().labels, &dataset.table().concepts);

    let rows = dataset.fit_half();
    let logits: Vec<f32> = rows.numbers().iter().map(|row| logit(row / 2)).collect();
    let table = ScoreTable::new(&logits, rows.len(), names).unwrap();
    let threads = NonZeroUsize::MIN;
    let fitted = Calibration::fit(table, labels, &rows, threads).unwrap();
    assert_eq!(fitted.temperature().outcome, TemperatureOutcome::Optimum);
    // About a thousand of the rows: the share of three quarters is known to some 0.014, the temperature to some 0.15.
    assert!((fitted.temperature().value - 2.0).abs() < 0.6, "{:?}", fitted.temperature());
    let line = &fitted.platt()[0];
    assert_eq!(line.positives + line.negatives, rows.len() as u64);

    let test = dataset.test();
    let logits: Vec<f32> = test.numbers().iter().map(|row| logit(row / 2)).collect();
    let test_table = ScoreTable::new(&logits, test.len(), names).unwrap();
    let found = fitted.quality(test_table, &labels.select(test.numbers()), threads).unwrap();
    // Probabilities of 3/4 where 1/4 hold, and the other way round.
    let temperature = found.iter().find(|quality| quality.method == Method::Temperature).unwrap();
    assert!((temperature.reliability.error.unwrap() - 0.5).abs() < 0.1);

    let short = ScoreTable::new(&logits[..1], 1, names).unwrap();
    let error = Calibration::fit(short, labels, &rows, threads).unwrap_err().to_string();
    assert_eq!(error, format!("expected a score for each of {} labels, got 1", rows.len()));
    let error = Calibration::fit(table, &labels.select(&[0]), &rows, threads).unwrap_err().to_string();
    assert_eq!(error, "expected rows of a dataset of 1, got others");
}

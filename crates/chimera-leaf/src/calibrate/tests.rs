//! Calibration against closed forms, a value computed elsewhere, and the order that the methods must keep.

use chimera_logic::bits::BitTable;

use super::*;

const THREADS: NonZeroUsize = NonZeroUsize::MIN;

/// Concepts with cells of their own; a cell past the end of its column is unknown, and its logit is no number.
struct Data {
    names: Vec<String>,
    logits: Vec<f32>,
    labels: TruthTable,
}

impl Data {
    fn new(columns: &[Vec<(f32, bool)>]) -> Self {
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |row: usize, column: usize| columns[column].get(row).copied();
        let value = BitTable::from_fn(rows, columns.len(), |row, column| cell(row, column).is_some_and(|cell| cell.1));
        let known = BitTable::from_fn(rows, columns.len(), |row, column| cell(row, column).is_some());
        let cells = (0..rows).flat_map(|row| (0..columns.len()).map(move |column| (row, column)));
        let logits = cells.map(|(row, column)| cell(row, column).map_or(f32::NAN, |cell| cell.0)).collect();
        let names = (0..columns.len()).map(|column| format!("concept {column}")).collect();
        Self { names, logits, labels: TruthTable::partial(value, known) }
    }

    fn table(&self) -> ScoreTable<'_> {
        ScoreTable::new(&self.logits, self.labels.rows(), &self.names).unwrap()
    }

    fn fit(&self) -> Calibration {
        Calibration::fit_all(self.table(), &self.labels, THREADS).unwrap()
    }

    fn quality(&self, calibration: &Calibration) -> Vec<Quality> {
        calibration.quality(self.table(), &self.labels, THREADS).unwrap()
    }
}

/// Cells whose frequency of positives is exactly `sigmoid(u)` at each level u, with the logit `distort(u)`.
fn calibrated(times: usize, distort: impl Fn(f64) -> f64) -> Vec<(f32, bool)> {
    let mut cells = Vec::new();
    for positives in 1..16 {
        let level = f64::ln(f64::from(positives) / f64::from(16 - positives));
        for row in 0..16 * times as i32 {
            cells.push((distort(level) as f32, row % 16 < positives));
        }
    }
    cells
}

fn close(found: impl Into<f64>, expected: f64, tolerance: f64) {
    let found = found.into();
    assert!((found - expected).abs() <= tolerance, "{found}, expected {expected}");
}

#[test]
fn a_temperature_undoes_its_scaling() {
    // At every level the gradient vanishes exactly where the scale is undone.
    for scale in [0.1, 0.5, 1.0, 3.0, 12.0] {
        let temperature = Data::new(&[calibrated(3, |level| scale * level)]).fit().temperature();
        assert_eq!(temperature.outcome, TemperatureOutcome::Optimum);
        close(temperature.value, scale, 1e-6 * scale);
    }
}

#[test]
fn a_temperature_computed_elsewhere() {
    let logits = [3.0, -1.5, 0.5, 2.0, -2.5, 1.0, -0.5, 4.0, -3.0, 1.5];
    let labels = [true, false, false, true, false, true, true, false, false, true];
    let data = Data::new(&[logits.into_iter().zip(labels).collect()]);
    let calibration = data.fit();
    // numpy, 200 bisections for s of np.mean(l * (1 / (1 + np.exp(-s * l)) - y)): 1 / s, and at s and at 1
    // np.mean(np.logaddexp(0, -s * l) * y + np.logaddexp(0, s * l) * (1 - y))
    close(calibration.temperature().value, 2.3215504983403026, 1e-6);
    let quality = data.quality(&calibration);
    assert!((quality[1].bce.unwrap() - 0.5975014667396711).abs() < 1e-12);
    assert!((quality[0].bce.unwrap() - 0.6985384588244756).abs() < 1e-12);
    // Too few labels for a line: the temperature.
    let line = &calibration.platt()[0];
    assert_eq!((line.source, line.intercept, line.positives, line.negatives), (PlattSource::Temperature, 0.0, 5, 5));
    assert_eq!(quality[2].bce, quality[1].bce);
}

#[test]
fn a_line_computed_elsewhere() {
    // numpy, from s = 1 / np.float64(np.float32(T)), 100 Newton steps on the sum of losses plus
    // 0.005 * ((a - s)**2 + b**2) of L = [(n % 40) / 10 - 0.5 for 120 positives, (n % 30) / 10 - 2 for 120 negatives]
    let positives = (0..120).map(|n| ((f64::from(n % 40) / 10.0 - 0.5) as f32, true));
    let negatives = (0..120).map(|n| ((f64::from(n % 30) / 10.0 - 2.0) as f32, false));
    let calibration = Data::new(&[positives.chain(negatives).collect()]).fit();
    close(calibration.temperature().value, 0.5606729714041203, 1e-6);
    let line = &calibration.platt()[0];
    close(line.slope, 1.97653325, 1e-6);
    close(line.intercept, -0.68736252, 1e-6);
}

#[test]
fn a_line_undoes_shift_and_scale() {
    // u = (l - 1) / 2: the ridge moves it by about 0.01 in 50,000 labels.
    let calibration = Data::new(&[calibrated(200, |level| 2.0 * level + 1.0)]).fit();
    let line = &calibration.platt()[0];
    assert_eq!(line.source, PlattSource::Fitted);
    close(line.slope, 0.5, 1e-5);
    close(line.intercept, -0.5, 1e-5);
    close(calibration.probability(Method::Platt, 0, 1.0), 0.5, 1e-5);
}

#[test]
fn the_gradient_vanishes_at_the_optimum() {
    let mut random = fastrand::Rng::with_seed(41);
    let noisy = |random: &mut fastrand::Rng| {
        let (scale, shift) = (random.f64() * 4.0 + 0.3, random.f64() * 3.0 - 1.5);
        let cell = |random: &mut fastrand::Rng| {
            let level = random.f64() * 6.0 - 3.0;
            ((scale * level + shift) as f32, random.f64() < sigmoid(level))
        };
        (0..400).map(|_| cell(random)).collect::<Vec<_>>()
    };
    for _ in 0..20 {
        let data = Data::new(&[noisy(&mut random), noisy(&mut random)]);
        let calibration = data.fit();
        let cells = Cells::of_table(data.table(), &data.labels, THREADS).unwrap();
        let inverse = 1.0 / f64::from(calibration.temperature().value);
        let loss = |inverse: f64| cells.iter().map(|cells| cells.loss(inverse, 0.0)).sum::<f64>() / 800.0;
        assert_eq!(calibration.temperature().outcome, TemperatureOutcome::Optimum);
        assert!(((loss(inverse + 1e-5) - loss(inverse - 1e-5)) / 2e-5).abs() < 1e-6);
        for (concept, cells) in cells.iter().enumerate() {
            let (slope, intercept) = calibration.line(Method::Platt, concept);
            let loss = |by: f64, shift: f64| cells.loss(slope + by, intercept + shift) / 400.0;
            // The ridge keeps the plain loss from being exactly flat: 0.01 times the distance over 400 labels.
            let distance = (slope - inverse).abs().max(intercept.abs());
            let allowed = 1e-6 + 0.01 * distance / 400.0;
            assert!(((loss(1e-5, 0.0) - loss(-1e-5, 0.0)) / 2e-5).abs() < allowed);
            assert!(((loss(0.0, 1e-5) - loss(0.0, -1e-5)) / 2e-5).abs() < allowed);
        }
    }
}

#[test]
fn degenerate_labels_give_bounded_temperatures_that_say_so() {
    let temperature = |cells: Vec<(f32, bool)>| Data::new(&[cells]).fit().temperature();
    let expect = |cells: Vec<(f32, bool)>, value, outcome| {
        assert_eq!(temperature(cells), Temperature { value, outcome });
    };
    expect(vec![], 1.0, TemperatureOutcome::NoLabels);
    expect(vec![(3.0, true), (-2.0, true)], 1.0, TemperatureOutcome::OneClass);
    expect(vec![(3.0, false)], 1.0, TemperatureOutcome::OneClass);
    expect(vec![(3.0, true), (-2.0, false), (0.1, true)], LOWEST, TemperatureOutcome::Lowest);
    // So sure that no temperature makes a difference: none is chosen.
    expect(vec![(f32::MAX, true), (f32::MIN, false)], 1.0, TemperatureOutcome::Optimum);
    expect(vec![(3.0, false), (-2.0, true)], HIGHEST, TemperatureOutcome::Highest);
    expect(vec![(0.0, false), (0.0, true)], 1.0, TemperatureOutcome::Optimum);
    assert_eq!(Data::new(&[]).fit().temperature().outcome, TemperatureOutcome::NoLabels);
}

#[test]
fn separated_and_absurd_logits_have_finite_lines() {
    let column = |high: f32, low: f32| -> Vec<(f32, bool)> { [(high, true), (low, false)].repeat(60) };
    let columns = [(5.0, -5.0), (f32::MAX, f32::MIN), (1e-30, -1e-30), (1000.5, 1000.0), (0.0, 0.0), (-1.0, 1.0)];
    let columns = columns.map(|(high, low)| column(high, low));
    for concept in 0..columns.len() {
        let data = Data::new(&columns[concept..=concept]);
        let calibration = data.fit();
        let line = &calibration.platt()[0];
        assert!(line.slope.is_finite() && line.intercept.is_finite(), "concept {concept}");
        let bce: Vec<f64> = data.quality(&calibration).iter().map(|quality| quality.bce.unwrap()).collect();
        assert!(bce[2] <= bce[1] * (1.0 + 1e-9) && bce[1] <= bce[0] * (1.0 + 1e-9), "concept {concept}: {bce:?}");
    }
}

#[test]
fn each_method_is_at_least_as_good_as_the_simpler_one_where_it_was_fitted() {
    let mut random = fastrand::Rng::with_seed(43);
    for _ in 0..40 {
        let columns: Vec<Vec<(f32, bool)>> = (0..random.usize(1..5))
            .map(|_| {
                let (scale, shift, noise) = (random.f32() * 6.0 - 1.0, random.f32() * 8.0 - 4.0, random.f32());
                let rows = random.usize(..500);
                let cell = |random: &mut fastrand::Rng| {
                    let level = random.f32() * 6.0 - 3.0;
                    let label = if random.f32() < noise { random.bool() } else { level > 0.0 };
                    (scale * level + shift, label)
                };
                (0..rows).map(|_| cell(&mut random)).collect()
            })
            .collect();
        let data = Data::new(&columns);
        let found = data.quality(&data.fit());
        assert_eq!(found.iter().map(|quality| quality.method).collect::<Vec<_>>(), Method::ALL);
        for pair in found.windows(2) {
            let [simple, better] = [0, 1].map(|method: usize| pair[method].bce.unwrap_or(0.0));
            assert!(better <= simple * (1.0 + 1e-9) + 1e-9, "{better} after {simple}");
        }
    }
}

#[test]
fn lines_beat_the_temperature_on_logits_shifted_by_concept() {
    let data = Data::new(&[calibrated(20, |level| level + 2.0), calibrated(20, |level| level - 2.0)]);
    let calibration = data.fit();
    let [raw, temperature, platt] = data.quality(&calibration).try_into().unwrap();
    assert!(platt.bce.unwrap() < temperature.bce.unwrap() - 0.1);
    assert!(platt.reliability.error.unwrap() < 0.002 && platt.concept_error.mean.unwrap() < 0.002);
    assert!(temperature.concept_error.mean.unwrap() > 0.1 && raw.concept_error.mean.unwrap() > 0.1);
    assert_eq!((platt.labels, platt.concept_error.defined), (2 * 15 * 16 * 20, 2));
    // Other rows are measured in the same way: here they are off by what the first concept was shifted by.
    let other = Data::new(&[calibrated(1, |level| level), calibrated(1, |level| level)]);
    let found = other.quality(&calibration);
    assert!(found[2].bce.unwrap() > found[0].bce.unwrap() + 0.1);
    assert!(found[0].reliability.error.unwrap() < 1e-6);
}

#[test]
fn fifty_of_both_labels_make_a_line() {
    let column = |positives: usize, negatives: usize| {
        let cell = |label: bool, row: usize| ((row % 7) as f32 - if label { 2.0 } else { 4.0 }, label);
        (0..positives).map(|row| cell(true, row)).chain((0..negatives).map(|row| cell(false, row))).collect()
    };
    let data = Data::new(&[column(50, 50), column(49, 500), column(500, 49), column(0, 0)]);
    let calibration = data.fit();
    let sources: Vec<PlattSource> = calibration.platt().iter().map(|line| line.source).collect();
    assert_eq!(sources[0], PlattSource::Fitted);
    assert!(sources[1..].iter().all(|source| *source == PlattSource::Temperature));
    for concept in 1..4 {
        assert_eq!(calibration.line(Method::Platt, concept), calibration.line(Method::Temperature, concept));
    }
    let found = calibration.probabilities(Method::Platt, &[0.3, -1.0, 2.0, 0.0, 9.0, 9.0, -9.0, -9.0]).unwrap();
    let one_by_one = [(0, 0.3), (1, -1.0), (2, 2.0), (3, 0.0), (0, 9.0), (1, 9.0), (2, -9.0), (3, -9.0)];
    assert_eq!(found, one_by_one.map(|(concept, logit)| calibration.probability(Method::Platt, concept, logit)));
    let error = calibration.probabilities(Method::Raw, &[0.0; 5]).unwrap_err().to_string();
    assert_eq!(error, "expected rows of 4 logits, got 5 logits");
    assert_eq!(calibration.probability(Method::Raw, 0, 0.0), 0.5);
}

#[test]
fn threads_change_nothing() {
    let data = Data::new(&[calibrated(5, |level| level * 1.7 + 0.3), calibrated(9, |level| level * 0.6), vec![]]);
    let threads = NonZeroUsize::new(5).unwrap();
    let calibration = data.fit();
    assert_eq!(calibration, Calibration::fit_all(data.table(), &data.labels, threads).unwrap());
    let found = calibration.quality(data.table(), &data.labels, threads).unwrap();
    assert_eq!(found, data.quality(&calibration));
}

#[test]
fn logits_that_are_not_finite_are_refused() {
    let data = Data::new(&[vec![(0.0, true)], vec![(f32::INFINITY, false)]]);
    let error = Calibration::fit_all(data.table(), &data.labels, THREADS).unwrap_err();
    assert_eq!(error.to_string(), "expected finite logits of `concept 1`, got inf in row 0");
}

#[test]
fn what_is_written_is_read_again_to_the_bit_and_nothing_else_is_believed() {
    let data = Data::new(&[calibrated(5, |level| level * 1.7 + 0.3), vec![(0.3, true)]]);
    let calibration = data.fit();
    let text = serde_json::to_string(&calibration).unwrap();
    assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
    let line = r#"{"concept":"a","slope":1.5,"intercept":-0.5,"source":"fitted","positives":60,"negatives":70}"#;
    let whole = |temperature: &str, lines: &str| {
        format!(r#"{{"temperature":{{"value":{temperature},"outcome":"optimum"}},"platt":[{lines}]}}"#)
    };
    let read = serde_json::from_str::<Calibration>(&whole("2.0", line)).unwrap();
    assert_eq!(read.line(Method::Platt, 0), (1.5, -0.5));
    assert_eq!(read.line(Method::Temperature, 0), (0.5, 0.0));
    let wrong = [
        (whole("0.0", line), "expected a temperature from 0.05 to 20, got 0"),
        (whole("1e40", line), "number out of range"),
        (whole("null", line), "invalid type: null, expected f32"),
        (whole("1.0", &format!("{line},{line}")), "expected every concept once, got `a` again"),
        (whole("1.0", &line.replace("1.5", "1e39")), "number out of range"),
        (whole("1.0", &line.replace("slope", "tilt")), "unknown field `tilt`"),
        (whole("1.0", line).replace("\"platt\"", "\"plats\""), "unknown field `plats`"),
    ];
    for (text, message) in wrong {
        let error = serde_json::from_str::<Calibration>(&text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn a_calibration_knows_its_concepts() {
    let data = Data::new(&[vec![(0.0, true)], vec![(1.0, false)]]);
    let calibration = data.fit();
    assert!(calibration.check_concepts(&data.names).is_ok());
    let error = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        calibration.check_concepts(&names).unwrap_err().to_string()
    };
    assert_eq!(error(&["concept 0"]), "expected the 1 concepts of the leaf bank, got 2");
    let message = "expected the calibration of `red`, got that of `concept 1`\n\
        hint: it belongs to another leaf bank; calibrate again";
    assert_eq!(error(&["concept 0", "red"]), message);
}

//! What grows with what: seconds of teaching and of scoring against rules, samples and F, and the exponents that fit.

use chimera_data::error::Result;

use super::fit::power_law;
use super::lesson::{FEATURES, Lesson};
use super::plug::{PRECISIONS, Work, on_gpu};
use super::record::{Measurement, On};
use super::scoring::Scoring;
use super::timing::best_of;
use super::{Bench, Notes};

/// What an exponent is called in `speed.json`.
pub(super) const EXPONENT: &str = "exponent";

/// Which size grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Rules,
    Samples,
    Features,
}

impl Axis {
    const ALL: [Self; 3] = [Self::Rules, Self::Samples, Self::Features];

    fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Samples => "samples",
            Self::Features => "F",
        }
    }

    fn sizes(self, quick: bool) -> &'static [usize] {
        match (self, quick) {
            (Self::Rules, false) => &[8, 16, 32, 64, 128],
            (Self::Samples, false) => &[1024, 2048, 4096, 8192, 16384],
            (Self::Features, false) => &[64, 128, 256, 512],
            (Self::Rules, true) => &[2, 4, 8],
            (Self::Samples, true) => &[64, 128, 256],
            (Self::Features, true) => &[32, 64, 128],
        }
    }
}

/// All sizes of one measurement.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    rules: usize,
    samples: usize,
    features: usize,
}

impl Sizes {
    /// What stays while another size grows.
    fn new(quick: bool) -> Self {
        if quick {
            Self { rules: 4, samples: 128, features: 64 }
        } else {
            Self { rules: 32, samples: 4096, features: FEATURES }
        }
    }

    fn with(self, axis: Axis, size: usize) -> Self {
        match axis {
            Axis::Rules => Self { rules: size, ..self },
            Axis::Samples => Self { samples: size, ..self },
            Axis::Features => Self { features: size, ..self },
        }
    }
}

pub(super) fn measure(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    for on in bench.places() {
        for (what, seconds) in [("train", training as Seconds), ("score", scoring)] {
            for axis in Axis::ALL {
                notes.keep(along(bench, on, axis, (what, seconds))?)?;
            }
        }
    }
    Ok(())
}

/// Seconds of some work at some sizes; `None` where it does not run there.
type Seconds = fn(&Bench<'_>, On, Sizes) -> Result<Option<f64>>;

/// The points along one axis, and the exponent that fits them.
fn along(bench: &Bench<'_>, on: On, axis: Axis, (what, seconds): (&str, Seconds)) -> Result<Vec<Measurement>> {
    let (mut measured, mut points) = (Vec::new(), Vec::new());
    for &size in axis.sizes(bench.quick) {
        let Some(seconds) = seconds(bench, on, Sizes::new(bench.quick).with(axis, size))? else { continue };
        points.push((size as f64, seconds));
        measured.push(Measurement::ours(what, axis.name(), on, (seconds, "s")).at(size));
    }
    let law = power_law(&points);
    measured.extend(law.map(|law| Measurement::ours(what, axis.name(), on, (law.exponent, EXPONENT))));
    Ok(measured)
}

/// How often each point is measured; the best counts.
const TRIES: usize = 3;

fn training(bench: &Bench<'_>, on: On, sizes: Sizes) -> Result<Option<f64>> {
    let batch = chimera_gate::train::Recipe::default().batch;
    let lesson = Lesson::new(sizes.rules, sizes.features, sizes.samples, batch, bench.seed)?;
    match (on, &bench.gpu) {
        (On::Gpu, Some((choice, _))) => best_on_gpu(|| on_gpu(*choice, PRECISIONS[0], Work::Train(&lesson))),
        _ => best_of(TRIES, || Ok(lesson.teach(bench, None)?.1)).map(Some),
    }
}

fn scoring(bench: &Bench<'_>, on: On, sizes: Sizes) -> Result<Option<f64>> {
    let scoring = Scoring::new(sizes.rules, sizes.features, sizes.samples, bench.seed)?;
    match (on, &bench.gpu) {
        (On::Gpu, Some((choice, _))) => best_on_gpu(|| on_gpu(*choice, PRECISIONS[0], Work::Score(&scoring))),
        _ => best_of(TRIES, || Ok(scoring.run(bench, None)?.1)).map(Some),
    }
}

/// The best of several tries after one that is not counted.
fn best_on_gpu(work: impl Fn() -> Option<Result<f64>>) -> Result<Option<f64>> {
    let Some(ready) = work() else { return Ok(None) };
    ready?;
    best_of(TRIES, || work().unwrap_or(Ok(f64::INFINITY))).map(Some)
}

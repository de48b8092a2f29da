//! `speed.json`: every number that was measured, known by what it is about, so that parts and runs can be put together.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chimera_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::Part;
use super::timing::Timed;

/// Where something was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum On {
    /// The processor, on all threads.
    Cpu,
    /// The device.
    Gpu,
}

impl On {
    /// Its name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
        }
    }

    /// Its name in PyTorch.
    pub(super) fn torch_name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "cuda",
        }
    }

    /// The precision of our own products there. On a GPU burn multiplies 32-bit floats on tensor cores, in TF32.
    pub(super) fn precision(self) -> &'static str {
        match self {
            Self::Cpu => "fp32",
            Self::Gpu => "tf32",
        }
    }
}

/// One number, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measurement {
    /// What is done: `train`, `encode`, `copy`.
    pub(super) what: String,
    /// To what: the sizes, in words.
    pub(super) case: String,
    /// The size that grows, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<f64>,
    /// By whom: `chimera` or a way of PyTorch.
    pub(super) by: String,
    pub(super) on: On,
    pub(super) precision: String,
    pub(super) value: Option<f64>,
    pub(super) unit: String,
    /// Multiplications and additions for one of the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) flops: Option<f64>,
    /// Bytes that must come from or go to memory for one of the unit, if caches keep nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<f64>,
    /// The share of the plain product's rate on the same device in the same precision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of_product: Option<f64>,
    /// The share of the plain copy's rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of_copy: Option<f64>,
    /// Runs of which this is the median, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) runs: Option<usize>,
    /// The slowest of these runs over the fastest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) spread: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// Who measured, in tables.
pub(super) const OURS: &str = "chimera";

impl Measurement {
    /// A number of ours.
    pub(super) fn ours(what: &str, case: &str, on: On, (value, unit): (f64, &str)) -> Self {
        Self {
            what: what.to_owned(),
            case: case.to_owned(),
            at: None,
            by: OURS.to_owned(),
            on,
            precision: on.precision().to_owned(),
            value: Some(value),
            unit: unit.to_owned(),
            flops: None,
            bytes: None,
            of_product: None,
            of_copy: None,
            runs: None,
            spread: None,
            error: None,
        }
    }

    /// The same with what one of the unit costs.
    pub(super) fn costing(mut self, cost: Cost) -> Self {
        (self.flops, self.bytes) = (Some(cost.flops), Some(cost.bytes));
        self
    }

    /// The same with how steady it was.
    pub(super) fn timed(mut self, timed: Timed) -> Self {
        (self.runs, self.spread) = (Some(timed.runs), timed.spread);
        self
    }

    /// The same at a size.
    pub(super) fn at(mut self, size: usize) -> Self {
        self.at = Some(size as f64);
        self
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        let about = |of: &Self| (of.at, of.on);
        let words = |of: &'_ Self| [&of.what, &of.case, &of.by, &of.precision].map(Clone::clone);
        about(self) == about(other) && words(self) == words(other)
    }
}

/// What one of a unit costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    pub(super) flops: f64,
    pub(super) bytes: f64,
}

/// What was measured of a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Seconds of its last run.
    pub(super) seconds: f64,
    pub(super) measurements: Vec<Measurement>,
}

/// Everything in `speed.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Book {
    /// Whether a first look was enough.
    pub(super) quick: bool,
    /// Which machine this is.
    pub(super) machine: BTreeMap<String, String>,
    pub(super) parts: BTreeMap<String, Measured>,
}

impl Book {
    /// What earlier runs have left, or nothing.
    pub(super) fn open(path: &Path, quick: bool) -> Result<Self> {
        if !path.exists() {
            return Ok(Self { quick, ..Self::default() });
        }
        let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
        let refused = |message: String| {
            Error::input(message, Some("give another folder to `--out`, or remove this file".to_owned()))
        };
        let book: Self = serde_json::from_slice(&bytes)
            .map_err(|error| refused(format!("`{}` is no record of speed: {error}", path.display())))?;
        if book.quick != quick {
            let [has, asked] = [book.quick, quick].map(|quick| if quick { "a first look" } else { "full sizes" });
            return Err(refused(format!("`{}` holds numbers of {has}, and {asked} are asked for", path.display())));
        }
        Ok(book)
    }

    /// Says something of the machine.
    pub(super) fn note(&mut self, name: &str, words: &str) {
        self.machine.insert(name.to_owned(), words.to_owned());
    }

    /// Takes measurements of a part. Each replaces an earlier one about the same; one that failed does not replace a number.
    pub(super) fn merge(&mut self, part: Part, measured: Vec<Measurement>) {
        let own = &mut self.parts.entry(part.name().to_owned()).or_default().measurements;
        for new in measured {
            match own.iter_mut().find(|old| old.is_about_the_same(&new)) {
                Some(old) if new.value.is_some() || old.value.is_none() => *old = new,
                Some(_) => {}
                None => own.push(new),
            }
        }
    }

    pub(super) fn took(&mut self, part: Part, seconds: f64) {
        self.parts.entry(part.name().to_owned()).or_default().seconds = seconds;
    }

    /// The measurements of a part.
    pub(super) fn of(&self, part: Part) -> &[Measurement] {
        self.parts.get(part.name()).map_or(&[], |measured| &measured.measurements)
    }

    /// The best that was reached of a kind of ceiling.
    pub(super) fn ceiling(&self, what: &str, on: On, precision: Option<&str>) -> Option<f64> {
        let is_it = |of: &&Measurement| {
            of.what == what && of.on == on && precision.is_none_or(|precision| of.precision == precision)
        };
        self.of(Part::Ceilings).iter().filter(is_it).filter_map(|of| of.value).reduce(f64::max)
    }

    /// Fills in shares of the ceilings.
    pub(super) fn tell_shares(&mut self) {
        let ceilings = self.clone();
        for measured in self.parts.values_mut().flat_map(|part| &mut part.measurements) {
            let product = ceilings.ceiling("product", measured.on, Some(&measured.precision));
            let copy = ceilings.ceiling("copy", measured.on, None);
            let share = |cost: Option<f64>, ceiling: Option<f64>| Some(measured.value? * cost? / ceiling?);
            (measured.of_product, measured.of_copy) = (share(measured.flops, product), share(measured.bytes, copy));
        }
    }

    pub(super) fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|error| Error::input(format!("cannot write numbers: {error}"), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(case: &str, value: f64) -> Measurement {
        Measurement::ours("train", case, On::Cpu, (value, "images/s"))
    }

    #[test]
    fn parts_and_runs_are_put_together() {
        let mut book = Book::default();
        book.merge(Part::Leaf, vec![told("small", 1.0), told("large", 2.0)]);
        let failed = Measurement { value: None, error: Some("no time".to_owned()), ..told("small", 0.0) };
        book.merge(Part::Gates, vec![told("small", 5.0), failed.clone()]);
        // Another run: a new number replaces the old one, a failure does not, and what is not measured again stays.
        book.merge(Part::Leaf, vec![told("large", 3.0), failed, told("larger", 4.0)]);
        let values = |part| -> Vec<Option<f64>> { book.of(part).iter().map(|of| of.value).collect() };
        assert_eq!(values(Part::Leaf), [Some(1.0), Some(3.0), Some(4.0)]);
        assert_eq!(values(Part::Gates), [Some(5.0)]);
        // The size that grows, the device and the precision tell numbers apart.
        let mut other = told("small", 7.0);
        other.precision = "tf32".to_owned();
        book.merge(Part::Leaf, vec![told("small", 6.0).at(8), other]);
        assert_eq!(book.of(Part::Leaf).len(), 5);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("speed.json");
        assert_eq!(Book::open(&path, false).unwrap(), Book::default());
        fs::write(&path, book.to_json().unwrap()).unwrap();
        assert_eq!(Book::open(&path, false).unwrap(), book);
        let refused = Book::open(&path, true).unwrap_err().to_string();
        assert!(refused.contains("holds numbers of full sizes, and a first look are asked for"), "{refused}");
        fs::write(&path, "{").unwrap();
        assert!(Book::open(&path, true).is_err());
    }

    #[test]
    fn shares_are_of_the_same_device_and_precision() {
        let mut book = Book::default();
        let ceiling = |what: &str, value| Measurement::ours(what, "", On::Cpu, (value, "a second"));
        book.merge(Part::Ceilings, vec![ceiling("product", 50.0), ceiling("copy", 10.0)]);
        let better = Measurement { by: "torch".to_owned(), ..ceiling("product", 100.0) };
        book.merge(Part::Ceilings, vec![better]);
        let cost = Cost { flops: 5.0, bytes: 0.25 };
        let other = Measurement { precision: "tf32".to_owned(), ..told("small", 8.0).costing(cost) };
        book.merge(Part::Leaf, vec![told("small", 8.0).costing(cost), other]);
        book.tell_shares();
        let shares: Vec<_> = book.of(Part::Leaf).iter().map(|of| (of.of_product, of.of_copy)).collect();
        // 8 a second of 5 operations are 40 of 100; of a quarter of a byte, 2 of 10.
        assert_eq!(shares, [(Some(0.4), Some(0.2)), (None, Some(0.2))]);
    }
}

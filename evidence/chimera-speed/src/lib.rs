//! How fast it is, on the machine that is asked: each part measures ours and, given a Python that has PyTorch, theirs on the same
//! device, and writes what it has into `speed.json` and `speed.md` before the next one begins.

mod ceilings;
mod counts;
mod fit;
mod gates;
mod growth;
mod leaf;
mod lesson;
mod page;
mod plug;
mod record;
mod score;
mod scoring;
mod timing;
mod torch;
mod world;

use std::path::Path;
use std::time::{Duration, Instant};

use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_lab::experiment::Results;
use chimera_lab::site::Site;
use chimera_leaf::device::{Device, DeviceChoice, gpu_number};

use self::record::{Book, Measurement, On};

/// A part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What a plain product and a plain copy reach.
    Ceilings,
    /// Training and encoding of leaf banks.
    Leaf,
    /// Training of gates.
    Gates,
    /// Rules over many samples.
    Score,
    /// What grows with what.
    Growth,
    /// A world from making it to every method measured.
    World,
}

impl Part {
    /// Every part, in the order of the page. Ceilings come first: others are shares of them.
    pub const ALL: [Self; 6] = [Self::Ceilings, Self::Leaf, Self::Gates, Self::Score, Self::Growth, Self::World];

    /// Its name on the command line and in `speed.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ceilings => "ceilings",
            Self::Leaf => "leaf",
            Self::Gates => "gates",
            Self::Score => "score",
            Self::Growth => "growth",
            Self::World => "world",
        }
    }

    /// Whether its numbers are told as shares of ceilings.
    fn has_shares(self) -> bool {
        matches!(self, Self::Leaf | Self::Gates | Self::Score)
    }

    fn measure(self, bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
        match self {
            Self::Ceilings => ceilings::measure(bench, notes),
            Self::Leaf => leaf::measure(bench, notes),
            Self::Gates => gates::measure(bench, notes),
            Self::Score => score::measure(bench, notes),
            Self::Growth => growth::measure(bench, notes),
            Self::World => world::measure(bench, notes),
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// Measured beside the processor; `None` where nothing is.
    pub device: Option<DeviceChoice>,
    /// A Python that has PyTorch.
    pub python: Option<&'a Path>,
    /// Parts to measure; all where there is none.
    pub parts: &'a [Part],
    /// Whether the processor is left out: it was measured before, or will be.
    pub alone: bool,
    /// Whether a first look will do.
    pub quick: bool,
    /// The seed of data and weights.
    pub seed: u64,
}

impl Request<'_> {
    /// Parts in the order in which they are measured.
    fn ordered(&self) -> Vec<Part> {
        let is_wanted = |part: &Part| self.parts.is_empty() || self.parts.contains(part);
        let needs_ceilings = Part::ALL.iter().any(|part| part.has_shares() && is_wanted(part));
        let wanted = |part: &Part| is_wanted(part) || (*part == Part::Ceilings && needs_ceilings);
        Part::ALL.into_iter().filter(wanted).collect()
    }
}

/// What every part works with.
struct Bench<'a> {
    site: &'a Site<'a>,
    /// The processor as tensors see it.
    cpu: Device,
    /// What is measured beside the processor.
    gpu: Option<(DeviceChoice, Device)>,
    python: Option<&'a Path>,
    /// Whether the processor is left out.
    alone: bool,
    quick: bool,
    seed: u64,
}

impl<'a> Bench<'a> {
    fn new(site: &'a Site<'a>, request: &Request<'a>) -> Result<Self> {
        let opened = |device| Site { device, ..*site }.open();
        let cpu = opened(DeviceChoice::Cpu)?;
        let asked = request.device.map(&opened).transpose()?;
        // `auto` is the GPU that it found.
        let gpu = asked.and_then(|device| Some((DeviceChoice::Cuda(gpu_number(&device)?), device)));
        let &Request { python, alone, quick, seed, .. } = request;
        if alone && gpu.is_none() {
            let message = "without a GPU and without the processor there is nothing to measure".to_owned();
            return Err(Error::input(message, Some("leave out `--alone`, or give `--device cuda:0`".to_owned())));
        }
        Ok(Self { site, cpu, gpu, python, alone, quick, seed })
    }

    /// Where something is measured: the processor unless it is left out, and the device if there is one.
    fn places(&self) -> Vec<On> {
        match (&self.gpu, self.alone) {
            (Some(_), true) => vec![On::Gpu],
            (Some(_), false) => vec![On::Cpu, On::Gpu],
            (None, _) => vec![On::Cpu],
        }
    }

    /// One of two by how long a look is wanted.
    fn full_or_quick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// How long one number may be measured.
    fn budget(&self) -> Duration {
        Duration::from_millis(self.full_or_quick(2000, 150))
    }
}

/// What was measured so far, on disk after every entry.
struct Notes<'a> {
    folder: &'a Path,
    book: Book,
    part: Part,
}

impl Notes<'_> {
    /// Takes measurements of the part at hand and writes both files.
    fn keep(&mut self, measured: Vec<Measurement>) -> Result<()> {
        self.book.merge(self.part, measured);
        self.save()
    }

    fn save(&mut self) -> Result<()> {
        self.book.tell_shares();
        let json = self.book.to_json()?;
        write_atomic(&self.folder.join("speed.json"), |out| out.write_all(json.as_bytes()))?;
        let text = page::page(&self.book);
        write_atomic(&self.folder.join("speed.md"), |out| out.write_all(text.as_bytes()))
    }
}

/// Measures the parts that are asked for, and writes `speed.md` and `speed.json` into the site's folder.
///
/// # Errors
/// A device or a Python that is not there, a folder that cannot be written or that another process works in.
pub fn run(site: &Site<'_>, request: &Request<'_>) -> Result<Results> {
    let _claimed = site.claim()?;
    let bench = Bench::new(site, request)?;
    let book = Book::open(&site.folder.join("speed.json"), request.quick)?;
    let mut notes = Notes { folder: site.folder, book, part: Part::Ceilings };
    notes.book.note("processor", &ceilings::processor());
    notes.book.note("threads", &site.threads.to_string());
    if bench.python.is_some() {
        torch::check(&bench, &mut notes)?;
    }
    for part in request.ordered() {
        site.say(&format!("measuring `{}`", part.name()));
        let started = Instant::now();
        notes.part = part;
        part.measure(&bench, &mut notes)?;
        let seconds = started.elapsed().as_secs_f64();
        site.say(&format!("`{}` took {seconds:.0} seconds", part.name()));
        notes.book.took(part, seconds);
        notes.save()?;
    }
    Ok(Results { text: page::page(&notes.book), page: site.folder.join("speed.md") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_need_ceilings_of_the_same_run() {
        let ordered = |parts: &[Part]| Request { parts, ..Request::default() }.ordered();
        assert_eq!(ordered(&[]), Part::ALL);
        assert_eq!(ordered(&[Part::World, Part::Growth]), [Part::Growth, Part::World]);
        assert_eq!(ordered(&[Part::Score]), [Part::Ceilings, Part::Score]);
    }
}

//! The paper's experiments: each a few studies, and a page with our numbers beside the paper's.

mod ablation;
mod contradiction;
mod gains;
mod quality;
mod rules;
mod transfer;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera::eval::Evaluation;
use chimera::gate::config::GateConfig;
use chimera::report;
use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_mine::options::MineOptions;
use chimera_mine::{Mining, mine};

pub use self::gains::mean;
use crate::site::Site;
use crate::study::{Plan, Study};
use crate::world::{Scenes, World};

/// An experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// `A <=> !A` for each digit, sorted by p: SEM against chimeras.
    MnistContradiction,
    /// Sevens sorted by how much they look like a one as well.
    Mnist1and7,
    /// Rules over attributes of still scenes, where independence nearly holds.
    ClevrStatic,
    /// Rules over events of clips, where it does not.
    ClevrerEvents,
    /// Rules over classes of pictures.
    Openimages,
    /// `A <=> !A` for each class, sorted by p: independent events against chimeras.
    OpenimagesContradiction,
    /// Rules over relations in clips.
    Vidor,
    /// Without chimeras: SEM.
    AblationChimera,
    /// Without gates inside of rules: one gate a rule.
    AblationModular,
    /// Chimeras, chimeras and samples as they are, and these only where the rule holds.
    AblationSamePairs,
    /// A rule of gates that were taught for other rules, against one taught from scratch.
    Transfer,
    /// Every method on the four worlds, at three strengths of co-occurrence.
    Quality,
    /// All of the paper's, one after the other.
    Paper,
}

/// Seeds of gates where nothing is said.
const SEEDS: NonZeroUsize = match NonZeroUsize::new(3) {
    Some(three) => three,
    None => NonZeroUsize::MIN,
};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// A real archive instead of a world of our own; for experiments on one kind of data.
    pub root: Option<&'a Path>,
    /// Worlds to measure; all where there is none. For [`Experiment::Quality`].
    pub worlds: &'a [World],
    /// The seed of worlds and leaf banks.
    pub seed: u64,
    /// Seeds of gates on each leaf bank, three where nothing is said; for experiments that measure methods.
    pub seeds: Option<NonZeroUsize>,
    /// Whether a first look will do: a quarter of our own scenes, and of the epochs.
    pub quick: bool,
}

impl Request<'_> {
    /// Seeds of gates on each leaf bank.
    fn gate_seeds(&self) -> NonZeroUsize {
        self.seeds.unwrap_or(SEEDS)
    }

    /// A few letters that tell real archives and choices about them apart; `None` for worlds of our own.
    fn tag(&self) -> Result<Option<String>> {
        let Some(root) = self.root else { return Ok(None) };
        let root = root.canonicalize().map_err(|cause| Error::read(root, cause))?;
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        Ok(Some(format!("{}{}-{}", &hash[..6], if self.quick { "-quick" } else { "" }, self.seed)))
    }
}

/// What an experiment gave.
#[derive(Clone, Debug)]
pub struct Results {
    /// The page, as Markdown.
    pub text: String,
    /// Where it was written.
    pub page: PathBuf,
}

impl Experiment {
    /// Every experiment.
    pub const ALL: [Self; 13] = [
        Self::MnistContradiction,
        Self::Mnist1and7,
        Self::ClevrStatic,
        Self::ClevrerEvents,
        Self::Openimages,
        Self::OpenimagesContradiction,
        Self::Vidor,
        Self::AblationChimera,
        Self::AblationModular,
        Self::AblationSamePairs,
        Self::Transfer,
        Self::Quality,
        Self::Paper,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MnistContradiction => "mnist-contradiction",
            Self::Mnist1and7 => "mnist-1and7",
            Self::ClevrStatic => "clevr-static",
            Self::ClevrerEvents => "clevrer-events",
            Self::Openimages => "openimages",
            Self::OpenimagesContradiction => "openimages-contradiction",
            Self::Vidor => "vidor",
            Self::AblationChimera => "ablation-chimera",
            Self::AblationModular => "ablation-modular",
            Self::AblationSamePairs => "ablation-same-pairs",
            Self::Transfer => "transfer",
            Self::Quality => "quality",
            Self::Paper => "paper",
        }
    }

    /// What it is about, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::MnistContradiction => {
                "`A <=> !A` for each digit, sorted by p: SEM against chimeras (Fig. of the appendix)"
            }
            Self::Mnist1and7 => "sevens sorted by P(1 & 7)",
            Self::ClevrStatic => "rules over attributes of still scenes (Table 5)",
            Self::ClevrerEvents => "rules over events of clips (Tables 3 and 5)",
            Self::Openimages => "rules over classes of pictures (Table 3)",
            Self::OpenimagesContradiction => "`A <=> !A` for each class: independent events against chimeras",
            Self::Vidor => "rules over objects and relations in clips (Table 3)",
            Self::AblationChimera => "without chimeras: SEM",
            Self::AblationModular => "without gates inside of rules: one gate a rule (Mono-C)",
            Self::AblationSamePairs => "chimeras, both with samples as they are, and these strict",
            Self::Transfer => "a rule of gates taught for other rules, against one from scratch",
            Self::Quality => "every method on four worlds at three strengths of co-occurrence; takes long",
            Self::Paper => "all of the paper's, one after the other",
        }
    }

    /// The kind of archive that `root` can name; `None` where it takes none.
    #[must_use]
    pub fn archive(self) -> Option<&'static str> {
        match self {
            Self::MnistContradiction | Self::Mnist1and7 => Some("mnist"),
            Self::ClevrStatic => Some("clevr"),
            Self::ClevrerEvents => Some("clevrer"),
            Self::Openimages | Self::OpenimagesContradiction => Some("openimages"),
            Self::Vidor => Some("vidor"),
            _ => None,
        }
    }

    /// Whether it measures methods with several seeds of gates.
    fn measures(self) -> bool {
        !matches!(self, Self::MnistContradiction | Self::Mnist1and7 | Self::OpenimagesContradiction)
    }

    /// The name of the folder of its results: a first look or a part does not take the place of the whole.
    fn folder(self, request: &Request<'_>) -> String {
        let worlds: String = request.worlds.iter().map(|world| format!("-{}", world.name())).collect();
        format!("{}{worlds}{}", self.name(), if request.quick { "-quick" } else { "" })
    }

    /// The command that makes its page.
    fn made_by(self, request: &Request<'_>) -> String {
        let root = if request.root.is_some() { " --root .." } else { "" };
        let worlds: Vec<&str> = request.worlds.iter().map(|world| world.name()).collect();
        let worlds = if worlds.is_empty() { String::new() } else { format!(" --worlds {}", worlds.join(",")) };
        let seeds = if self.measures() { format!(" --seeds {}", request.gate_seeds()) } else { String::new() };
        let quick = if request.quick { " --quick" } else { "" };
        format!("`chimera experiment {}{root}{worlds} --seed {}{seeds}{quick}`", self.name(), request.seed)
    }

    /// Runs it and writes its page into the site's folder.
    ///
    /// # Errors
    /// An archive that cannot be read or is not for this experiment, a folder that cannot be written.
    pub fn run(self, site: &Site<'_>, request: &Request<'_>) -> Result<Results> {
        if request.root.is_some() && self.archive().is_none() {
            let message = format!("`{}` is about several kinds of data and takes no archive", self.name());
            return Err(Error::input(message, Some("leave out `--root`".to_owned())));
        }
        if !request.worlds.is_empty() && self != Self::Quality {
            let message = format!("`{}` has data of its own and takes no worlds", self.name());
            return Err(Error::input(message, Some("leave out `--worlds`, which is for `quality`".to_owned())));
        }
        if request.seeds.is_some() && !self.measures() {
            let message = format!("`{}` sorts samples by the model's own gates and takes no seeds", self.name());
            return Err(Error::input(message, Some("leave out `--seeds`".to_owned())));
        }
        if let Some(root) = request.root {
            fs::read_dir(root).map_err(|cause| Error::read(root, cause))?;
        }
        let _claimed = site.claim()?;
        self.carry_out(site, request)
    }

    /// Runs it in a folder that nobody else works in.
    fn carry_out(self, site: &Site<'_>, request: &Request<'_>) -> Result<Results> {
        let folder = site.folder.join("results").join(self.folder(request));
        for folder in [&folder, &site.folder.join("data"), &site.folder.join("worlds")] {
            fs::create_dir_all(folder).map_err(|cause| Error::write(folder, cause))?;
        }
        let lab = Lab { site, request, folder: &folder };
        let text = match self {
            Self::MnistContradiction => contradiction::digits(&lab)?,
            Self::Mnist1and7 => contradiction::one_and_seven(&lab)?,
            Self::ClevrStatic => rules::run(&lab, World::Clevr)?,
            Self::ClevrerEvents => rules::run(&lab, World::Clevrer)?,
            Self::Openimages => rules::run(&lab, World::Openimages)?,
            Self::OpenimagesContradiction => contradiction::classes(&lab)?,
            Self::Vidor => rules::run(&lab, World::Vidor)?,
            Self::AblationChimera => ablation::chimera(&lab)?,
            Self::AblationModular => ablation::modular(&lab)?,
            Self::AblationSamePairs => ablation::same_pairs(&lab)?,
            Self::Transfer => transfer::run(&lab)?,
            Self::Quality => quality::run(&lab)?,
            Self::Paper => paper(site, request)?,
        };
        let text = format!("{text}\n{}\n", self.made_by(request));
        let page = folder.join("results.md");
        write_atomic(&page, |out| out.write_all(text.as_bytes()))?;
        Ok(Results { text, page })
    }
}

/// All experiments of the paper.
fn paper(site: &Site<'_>, request: &Request<'_>) -> Result<String> {
    let own = Experiment::ALL.into_iter().filter(|own| !matches!(own, Experiment::Quality | Experiment::Paper));
    let mut text = String::from("# The paper's experiments\n");
    for experiment in own {
        site.say(&format!("experiment `{}`: {}", experiment.name(), experiment.about()));
        let request = Request { seeds: request.seeds.filter(|_| experiment.measures()), ..*request };
        let results = experiment.carry_out(site, &request)?;
        // One level below the page of all of them, and pictures lie beside its own page.
        let part = results.text.replace("\n## ", "\n### ").replacen("# ", "## ", 1);
        text += &format!("\n{}", part.replace("](", &format!("](../{}/", experiment.folder(&request))));
    }
    Ok(text)
}

/// What an experiment works with.
struct Lab<'a> {
    site: &'a Site<'a>,
    request: &'a Request<'a>,
    /// Where its results go.
    folder: &'a Path,
}

impl Lab<'_> {
    /// Data, rules and a model of a kind of data, all methods' gates but baselines'; the same for all experiments about it.
    fn study(&self, world: World, together: f64) -> Result<Study> {
        let name = match self.request.tag()? {
            Some(tag) => format!("{}-real-{tag}", world.name()),
            None => self.scenes(world, together).name_of(world),
        };
        let (dataset, rules, mined) = match self.request.root {
            Some(root) => self.archive(world, root, &name)?,
            None => (world.draw(self.site, self.scenes(world, together))?, world.rules().to_owned(), Vec::new()),
        };
        let mut leaf = world.leaf(self.request.seed);
        if self.request.quick {
            leaf.epochs /= 4;
        }
        leaf.patience = leaf.epochs;
        let nominal_only = self.request.root.is_some();
        let gates = GateConfig { seed: self.request.seed, nominal_only, ..GateConfig::default() };
        Study::teach(self.site, dataset, Plan { name: &name, rules: &rules, mined, leaf, gates })
    }

    /// Scenes of a world; clips are half as many, since each is eight pictures.
    fn scenes(&self, world: World, together: f64) -> Scenes {
        let less = if world.moves() { 2 } else { 1 } * if self.request.quick { 4 } else { 1 };
        Scenes { train: 5000 / less, test: 3000 / less, oracle: 1500 / less, together, seed: self.request.seed }
    }

    /// Real data. Rules over solids are those of the world; rules over classes and relations are mined from train rows.
    fn archive(
        &self,
        world: World,
        root: &Path,
        name: &str,
    ) -> Result<(Dataset, String, Vec<chimera_mine::record::MiningRecord>)> {
        let out = self.site.folder.join("data").join(name);
        let dataset = if out.exists() { Dataset::open(&out)? } else { world.import(root, &out)?.dataset };
        let options = match world {
            World::Clevr | World::Clevrer => return Ok((dataset, world.rules().to_owned(), Vec::new())),
            World::Openimages => MineOptions::openimages(),
            World::Vidor => MineOptions::default(),
        };
        self.site.say("mining rules from train rows");
        let command = format!("chimera experiment {} --root", world.name());
        let mining: Mining = mine(&dataset, &options, &command, self.site.threads, &|_, _| {})?;
        if mining.rules.is_empty() {
            let message = format!("no rule holds on the train rows of `{}`", root.display());
            return Err(Error::input(message, Some("`chimera mine` says which threshold removed how many".to_owned())));
        }
        let text = mining.to_text()?;
        Ok((dataset, text, vec![mining.record]))
    }

    /// Writes a report into the experiment's folder and gives its name; the same model, data and seeds give the same report.
    fn report(&self, evaluation: &Evaluation) -> Result<String> {
        let about = &evaluation.about;
        let name = format!("report-{}-{}", &about.model[..8], about.seeds.len());
        let folder = self.folder.join(&name);
        if !folder.exists() {
            report::write(evaluation, &folder)?;
        }
        Ok(name)
    }

    /// For how many rules `neural` is independent events, since grafts cannot be trusted there.
    fn fallbacks(evaluation: &Evaluation) -> String {
        let fallbacks: Vec<&String> = evaluation.rules.iter().filter_map(|rule| rule.fallback.as_ref()).collect();
        match fallbacks.first() {
            Some(why) => format!(
                "`neural` is `indep-cal` for {} of {} rules, where grafts cannot be trusted; for the first of them, since {why}.",
                fallbacks.len(),
                evaluation.rules.len()
            ),
            None => "`neural` trusts grafts for every rule.".to_owned(),
        }
    }

    /// Which data these are, for the reader.
    fn whose(&self, world: World) -> String {
        match self.request.root {
            Some(_) => format!("Real {} data; rules and splits are ours.", world.title()),
            None => format!(
                "Ours is a simulated world in {}'s format, not {} itself: compare the order of methods, not numbers.",
                world.title(),
                world.title()
            ),
        }
    }
}

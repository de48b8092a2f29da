//! Where data come from: a world of our own, or an archive of the real thing, which has the same files.

use std::path::Path;

use chimera_data::clevr::concept::Concept as Solid;
use chimera_data::dataset::Dataset;
use chimera_data::error::Result;
use chimera_data::import::{
    ClevrImport, ClevrerImport, ConceptChoice, ConceptOptions, Imported, OpenImagesImport, RuleConcepts, VidorImport,
    VidorVideos, import_clevr, import_clevrer, import_openimages, import_vidor,
};
use chimera_leaf::config::{LeafConfig, Schedule};
use chimera_leaf::pool::Pooling;
use chimera_world::clevr::write_clevr;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::openimages::write_openimages;
use chimera_world::order::{Order, picture_size};
use chimera_world::photo::class::Class;
use chimera_world::presets;
use chimera_world::vidor::concept::Concept as Relation;
use chimera_world::vidor::write_vidor;
use chimera_world::wish::HouseRules;

use crate::site::{Event, Site};

/// Frames of a clip that are kept, and that encoders see.
const KEPT: usize = 8;

/// The size of pictures.
const SIZE: [usize; 2] = [96, 64];

/// A kind of data, with rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// Still scenes of solids.
    Clevr,
    /// Clips of solids that come, go and collide.
    Clevrer,
    /// Pictures of things out of a hierarchy.
    Openimages,
    /// Clips of figures that do things with each other.
    Vidor,
}

/// How many scenes there are of what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenes {
    /// Scenes to learn from, none of which breaks a rule.
    pub train: usize,
    /// Scenes to measure on, of which three in ten break a rule.
    pub test: usize,
    /// Scenes with violations for the oracle.
    pub oracle: usize,
    /// How often an object brings its partner along.
    pub together: f64,
    /// The seed of everything.
    pub seed: u64,
}

impl Scenes {
    /// What scenes of a world are called: the same name for the same scenes.
    #[must_use]
    pub fn name_of(&self, world: World) -> String {
        let Self { train, together, seed, .. } = self;
        format!("{}-{train}-{}-{seed}", world.name(), (100.0 * together).round())
    }
}

impl World {
    /// Every world.
    pub const ALL: [Self; 4] = [Self::Clevr, Self::Clevrer, Self::Openimages, Self::Vidor];

    /// Its name, which is also that of its importer.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clevr => "clevr",
            Self::Clevrer => "clevrer",
            Self::Openimages => "openimages",
            Self::Vidor => "vidor",
        }
    }

    /// Its name as the paper writes it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Clevr => "CLEVR",
            Self::Clevrer => "CLEVRER",
            Self::Openimages => "OpenImages",
            Self::Vidor => "VidOR",
        }
    }

    /// The text of its rules.
    #[must_use]
    pub fn rules(self) -> &'static str {
        match self {
            Self::Clevr => presets::CLEVR,
            Self::Clevrer => presets::CLEVRER,
            Self::Openimages => presets::OPENIMAGES,
            Self::Vidor => presets::VIDOR,
        }
    }

    /// Whether its samples are videos.
    #[must_use]
    pub fn moves(self) -> bool {
        matches!(self, Self::Clevrer | Self::Vidor)
    }

    /// How a leaf bank is taught on it, as `docs/world.md` has it.
    #[must_use]
    pub fn leaf(self, seed: u64) -> LeafConfig {
        let epochs = if self == Self::Clevr { 16 } else { 20 };
        LeafConfig {
            epochs,
            patience: epochs,
            schedule: Schedule::Cosine,
            rate: 1.5e-3,
            batch: 16,
            pooling: if self.moves() { Pooling::Order } else { Pooling::Mean },
            seed,
            ..LeafConfig::default()
        }
    }

    /// A dataset of scenes of our own in the site's folder; one that is there already is taken as it is.
    ///
    /// # Errors
    /// A folder that cannot be written, or that holds something else.
    pub fn draw(self, site: &Site<'_>, scenes: Scenes) -> Result<Dataset> {
        let name = scenes.name_of(self);
        let (world, out) = (site.folder.join("worlds").join(&name), site.folder.join("data").join(&name));
        if !world.exists() {
            site.say(&format!(
                "making {} scenes of the world `{}`",
                scenes.train + scenes.test + scenes.oracle,
                self.name()
            ));
            self.write(&world, scenes, site)?;
        }
        if out.exists() { Dataset::open(&out) } else { Ok(self.import(&world, &out)?.dataset) }
    }

    fn write(self, folder: &Path, scenes: Scenes, site: &Site<'_>) -> Result<()> {
        let Scenes { train, test, oracle, together, seed } = scenes;
        let size = picture_size(SIZE[0], SIZE[1])?;
        let order = Order { size, train, test, oracle, violations: 0.3, together, seed, threads: site.threads };
        let tell = |done, total| (site.tell)(Event::Scenes { done, total });
        let rules = presets::rules(self.rules());
        let footage = || Footage::Frames(std::num::NonZeroUsize::new(KEPT).unwrap_or(std::num::NonZeroUsize::MIN));
        match self {
            Self::Clevr => write_clevr(folder, &order, &HouseRules::new(rules, false)?, &tell),
            Self::Clevrer => write_clevrer(folder, &order, &footage(), &HouseRules::new(rules, true)?, &tell),
            Self::Openimages => write_openimages(folder, &order, &HouseRules::over(rules, Class::named)?, &tell),
            Self::Vidor => write_vidor(folder, &order, &footage(), &HouseRules::over(rules, Relation::named)?, &tell),
        }
    }

    /// Imports files of this kind, with the concepts that its rules speak of. Of classes and relations the frequent ones are concepts, too.
    ///
    /// # Errors
    /// Files that are missing or damaged, and a folder that cannot be written.
    pub fn import(self, folder: &Path, out: &Path) -> Result<Imported> {
        let names: Vec<String> = presets::rules(self.rules()).dag.vocabulary().names().map(str::to_owned).collect();
        let own = folder.join("rules.rules");
        let rules = own.is_file().then(|| RuleConcepts { file: own, names: names.clone() });
        let concepts = || -> Result<ConceptOptions> {
            let named = |name: &String| Ok(ConceptChoice::Named(Solid::named(name)?.name().to_owned()));
            Ok(ConceptOptions { choices: names.iter().map(named).collect::<Result<_>>()?, ..ConceptOptions::default() })
        };
        let folder = folder.to_owned();
        match self {
            Self::Clevr => import_clevr(&ClevrImport { folder, concepts: concepts()?, ..ClevrImport::default() }, out),
            Self::Clevrer => {
                import_clevrer(&ClevrerImport { folder, concepts: concepts()?, ..ClevrerImport::default() }, out)
            }
            Self::Openimages => {
                let top = if rules.is_some() { Class::ALL.len() } else { OpenImagesImport::default().top };
                import_openimages(&OpenImagesImport { folder: Some(folder), top, ..OpenImagesImport::default() }, out)
            }
            Self::Vidor => import_vidor(&VidorImport { rules, ..VidorImport::new(folder, VidorVideos::Beside) }, out),
        }
    }
}

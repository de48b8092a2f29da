//! Scenes of the simulated worlds under their built-in rules, by way of files and importers, as users make them.

use std::path::Path;

use chimera::data::import::{
    ClevrImport, ClevrerImport, ConceptChoice, ConceptOptions, Imported, OpenImagesImport, RuleConcepts, VidorImport,
    VidorVideos, import_clevr, import_clevrer, import_openimages, import_vidor,
};
use chimera::data::split::Split;
use chimera::error::Result;
use chimera::leaf::config::{LeafConfig, Schedule};
use chimera::leaf::pool::Pooling;
use chimera::media::picture::Size;
use chimera_world::clevr::write_clevr;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::openimages::write_openimages;
use chimera_world::order::Order as WorldOrder;
use chimera_world::photo::class::Class;
use chimera_world::presets;
use chimera_world::vidor::concept::Concept;
use chimera_world::vidor::write_vidor;
use chimera_world::wish::HouseRules;

use super::world::{Content, Drawn, Order, Rules};

/// Frames of a clip that are kept.
const KEPT: usize = 8;

/// Of clips there are so many times fewer than of anything else: each is eight pictures.
const FEWER: usize = 2;

/// Still scenes of 96 x 64.
pub(crate) fn stills(order: &Order<'_>, together: f64) -> Drawn {
    drawn(order, (presets::CLEVR, false), (together, 1), 16, &|world, order, rules, concepts, out| {
        write_clevr(world, order, rules, &|_, _| {})?;
        import_clevr(&ClevrImport { folder: world.to_owned(), concepts, ..ClevrImport::default() }, out)
    })
}

/// Clips of 96 x 64.
pub(crate) fn clips(order: &Order<'_>, together: f64) -> Drawn {
    drawn(order, (presets::CLEVRER, true), (together, FEWER), 20, &|world, order, rules, concepts, out| {
        let kept = KEPT.try_into().expect("frames");
        write_clevrer(world, order, &Footage::Frames(kept), rules, &|_, _| {})?;
        import_clevrer(&ClevrerImport { folder: world.to_owned(), concepts, ..ClevrerImport::default() }, out)
    })
}

/// Pictures of 96 x 64 of things out of a hierarchy; every class is a concept.
pub(crate) fn photos(order: &Order<'_>, together: f64) -> Drawn {
    let house = HouseRules::over(presets::rules(presets::OPENIMAGES), Class::named).expect("built-in rules");
    let names: Vec<&str> = house.concepts().iter().map(|class| class.name()).collect();
    made(order, (presets::OPENIMAGES, &names), (together, 1), &leaf(order, 20, false), &|world, order, out| {
        write_openimages(world, order, &house, &|_, _| {})?;
        let (folder, top) = (Some(world.to_owned()), Class::ALL.len());
        import_openimages(&OpenImagesImport { folder, top, ..OpenImagesImport::default() }, out)
    })
}

/// Clips of 96 x 64 of moving figures; objects and frequent relations are concepts, and all that rules speak of.
pub(crate) fn stories(order: &Order<'_>, together: f64) -> Drawn {
    let house = HouseRules::over(presets::rules(presets::VIDOR), Concept::named).expect("built-in rules");
    let names: Vec<String> = house.concepts().iter().map(Concept::name).collect();
    let borrowed: Vec<&str> = names.iter().map(String::as_str).collect();
    made(order, (presets::VIDOR, &borrowed), (together, FEWER), &leaf(order, 20, true), &|world, order, out| {
        let kept = KEPT.try_into().expect("frames");
        write_vidor(world, order, &Footage::Frames(kept), &house, &|_, _| {})?;
        let rules = Some(RuleConcepts { file: world.join("rules.rules"), names: names.clone() });
        let source = VidorImport::new(world.to_owned(), VidorVideos::Beside);
        import_vidor(&VidorImport { rules, ..source }, out)
    })
}

/// How a world of solids is written and imported: where to, what, under which rules, with which concepts, as which dataset.
type Make<'a> = &'a dyn Fn(&Path, &WorldOrder, &HouseRules, ConceptOptions, &Path) -> Result<Imported>;

fn drawn(
    order: &Order<'_>,
    (text, moving): (&'static str, bool),
    sizes: (f64, usize),
    epochs: usize,
    make: Make<'_>,
) -> Drawn {
    let house = HouseRules::new(presets::rules(text), moving).expect("built-in rules");
    let names: Vec<&str> = house.concepts().iter().map(chimera::data::clevr::concept::Concept::name).collect();
    let choices = names.iter().map(|&name| ConceptChoice::Named(name.to_owned())).collect();
    let wanted = ConceptOptions { choices, ..ConceptOptions::default() };
    made(order, (text, &names), sizes, &leaf(order, epochs, moving), &|world, order, out| {
        make(world, order, &house, wanted.clone(), out)
    })
}

/// A world in files, imported; of its scenes there may be some times fewer than of anything else.
fn made(
    order: &Order<'_>,
    (text, concepts): (&'static str, &[&str]),
    (together, fewer): (f64, usize),
    leaf: &LeafConfig,
    make: &dyn Fn(&Path, &WorldOrder, &Path) -> Result<Imported>,
) -> Drawn {
    let rows = |split: Split| order.sizes.0.iter().filter(|(of, _)| *of == split).map(|(_, rows)| rows / fewer).sum();
    let world_order = WorldOrder {
        size: Size::new(96, 64).expect("a size"),
        // Calibration rows are taken from them.
        train: rows(Split::Train) + rows(Split::Calibration),
        test: rows(Split::Test),
        oracle: rows(Split::Oracle),
        violations: 0.3,
        together,
        seed: order.seed,
        threads: std::thread::available_parallelism().expect("a number of threads"),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (world, out) = (folder.path().join("world"), folder.path().join("dataset"));
    let imported = make(&world, &world_order, &out).expect("a world");
    let (rules, leaf) = (Rules::new(concepts, text), leaf.clone());
    let content = Content::Imported(Box::new(imported.dataset));
    Drawn { _folder: Some(folder), rules, rows: Vec::new(), content, leaf, bayes: None }
}

/// As docs/world.md teaches them.
fn leaf(order: &Order<'_>, epochs: usize, moving: bool) -> LeafConfig {
    LeafConfig {
        epochs,
        patience: epochs,
        schedule: Schedule::Cosine,
        rate: 1.5e-3,
        batch: 16,
        pooling: if moving { Pooling::Order } else { Pooling::Mean },
        seed: order.seed,
        ..LeafConfig::default()
    }
}

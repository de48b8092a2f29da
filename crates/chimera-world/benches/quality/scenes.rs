//! Scenes of the simulated worlds under their built-in rules, by way of files and importers, as users make them.

use std::path::Path;

use chimera::data::import::{
    ClevrImport, ClevrerImport, ConceptChoice, ConceptOptions, Imported, import_clevr, import_clevrer,
};
use chimera::data::split::Split;
use chimera::error::Result;
use chimera::leaf::config::{LeafConfig, Schedule};
use chimera::leaf::pool::Pooling;
use chimera::media::picture::Size;
use chimera_world::clevr::write_clevr;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::order::Order as WorldOrder;
use chimera_world::presets;
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

/// How a world is written and imported: where to, what, under which rules, with which concepts, as which dataset.
type Make<'a> = &'a dyn Fn(&Path, &WorldOrder, &HouseRules, ConceptOptions, &Path) -> Result<Imported>;

fn drawn(
    order: &Order<'_>,
    (text, moving): (&'static str, bool),
    (together, fewer): (f64, usize),
    epochs: usize,
    make: Make<'_>,
) -> Drawn {
    let house = HouseRules::new(presets::rules(text), moving).expect("built-in rules");
    let concepts: Vec<String> = house.concepts().iter().map(|concept| concept.name().to_owned()).collect();
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
    let choices = concepts.iter().cloned().map(ConceptChoice::Named).collect();
    let wanted = ConceptOptions { choices, ..ConceptOptions::default() };
    let imported = make(&world, &world_order, &house, wanted, &out).expect("a world");
    let names: Vec<&str> = concepts.iter().map(String::as_str).collect();
    // As docs/world.md teaches them.
    let leaf = LeafConfig {
        epochs,
        patience: epochs,
        schedule: Schedule::Cosine,
        rate: 2e-3,
        batch: 32,
        pooling: if moving { Pooling::Order } else { Pooling::Mean },
        seed: order.seed,
        ..LeafConfig::default()
    };
    let content = Content::Imported(Box::new(imported.dataset));
    Drawn { _folder: Some(folder), rules: Rules::new(&names, text), rows: Vec::new(), content, leaf, bayes: None }
}

//! A world of still pictures in CLEVR's own files: `images/<split>/CLEVR_<split>_000000.png` and
//! `scenes/CLEVR_<split>_scenes.json`.

use std::path::Path;

use chimera_data::clevr::scenes::{SceneFile, SceneInfo};
use chimera_data::error::Result;
use chimera_data::new_folder::NewFolder;

use crate::files::{write_json, write_picture, write_rules};
use crate::order::{Count, Order, draw_part};
use crate::render::picture;
use crate::still::{Still, Stills};
use crate::wish::HouseRules;

/// Writes a world into a new folder, as a whole or not at all. `tell` hears how many scenes of how many are done.
///
/// # Errors
/// Numbers out of range, rules that no scene keeps or breaks, or what the system said.
pub fn write_clevr(out: &Path, order: &Order, rules: &HouseRules, tell: &(dyn Fn(usize, usize) + Sync)) -> Result<()> {
    order.check()?;
    let folder = NewFolder::create(out)?;
    let (kind, count) = (Stills { together: order.together }, Count::new(order.total(), tell));
    for part in order.parts().into_iter().filter(|part| part.scenes > 0) {
        let keep = |number: usize, still: &Still| {
            let scene = still.described((part.name, number as u32), order.size);
            let name = format!("images/{}/{}", part.name, scene.image_filename);
            write_picture(&folder, Path::new(&name), &picture(&still.view, order.size)?)?;
            count.add();
            Ok(scene)
        };
        let scenes = draw_part((&kind, rules), order, part, keep)?;
        let info = SceneInfo {
            split: part.name.to_owned(),
            license: "made by Chimera; do with it what you like".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // No clock: the same order gives the same file.
            date: String::new(),
        };
        let name = format!("scenes/CLEVR_{}_scenes.json", part.name);
        write_json(&folder, Path::new(&name), &SceneFile { info, scenes })?;
    }
    write_rules(&folder, rules)?;
    folder.finish()
}

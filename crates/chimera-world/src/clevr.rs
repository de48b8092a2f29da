//! A world of still pictures in CLEVR's own files: `images/<split>/CLEVR_<split>_000000.png` and
//! `scenes/CLEVR_<split>_scenes.json`.

use std::io::{BufWriter, Write};
use std::path::Path;

use chimera::data::clevr::scenes::{SceneFile, SceneInfo};
use chimera::error::{Error, Result};
use chimera::media::png::encode_png;
use chimera::new_folder::NewFolder;

use crate::order::{Count, Order, draw_part, write_rules};
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
            let mut file = folder.create_file(Path::new(&name))?;
            let mut bytes = Vec::new();
            let painted = picture(&still.view, order.size)?;
            let written = encode_png(&painted, &mut bytes).and_then(|()| file.write_all(&bytes));
            written.map_err(|cause| Error::write(out, cause))?;
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
        let file = folder.create_file(Path::new(&format!("scenes/CLEVR_{}_scenes.json", part.name)))?;
        let mut writer = BufWriter::new(file);
        let written = serde_json::to_writer(&mut writer, &SceneFile { info, scenes }).map_err(std::io::Error::from);
        written.and_then(|()| writer.flush()).map_err(|cause| Error::write(out, cause))?;
    }
    write_rules(&folder, rules)?;
    folder.finish()
}

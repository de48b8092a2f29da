//! A world of moving figures in VidOR's own files: `annotation/{training,validation,oracle}/0000/0000000000.json` and
//! `video/0000/0000000000/` with the kept frames, or `0000000000.mp4`.

mod backdrop;
pub mod cast;
pub mod concept;
mod figure;
mod lens;
mod painting;
pub mod relation;
pub mod story;
pub mod walk;

use std::path::{Path, PathBuf};

use chimera_data::error::{Error, Result};
use chimera_data::media::frames::{frame_indices, shows_taken};
use chimera_data::new_folder::NewFolder;
use chimera_data::vidor::TAKEN;

use self::concept::Concept;
use self::story::{Stories, Story};
use self::walk::FRAMES;
use crate::clevrer::Footage;
use crate::files::{write_json, write_picture, write_rules};
use crate::mp4::{self, write_mp4};
use crate::order::{Count, Order, draw_part};
use crate::wish::HouseRules;

/// Clips in a folder.
const FOLDER: usize = 1000;

/// Writes a world into a new folder, as a whole or not at all. `tell` hears how many clips of how many are done.
///
/// # Errors
/// Numbers out of range, rules that no clip keeps or breaks, a program `ffmpeg` that fails, or what the system said.
pub fn write_vidor(
    out: &Path,
    order: &Order,
    footage: &Footage,
    rules: &HouseRules<Concept>,
    tell: &(dyn Fn(usize, usize) + Sync),
) -> Result<()> {
    order.check()?;
    let kept = kept(order, footage)?;
    let folder = NewFolder::create(out)?;
    let (kind, count) = (Stories::new(order.together)?, Count::new(order.total(), tell));
    let mut first = 0;
    for part in order.parts().into_iter().filter(|part| part.scenes > 0) {
        // VidOR's own words; an oracle is ours.
        let split = match part.name {
            "train" => "training",
            "test" => "validation",
            name => name,
        };
        let keep = |number: usize, story: &Story| {
            let number = first + number;
            let (group, name) = (format!("{:04}", number / FOLDER), format!("{number:010}"));
            let (place, ending) =
                (format!("{group}/{name}"), if matches!(footage, Footage::Mp4(_)) { ".mp4" } else { "" });
            let described = story.described(name, format!("{place}{ending}"), order.size);
            write_json(&folder, &PathBuf::from(format!("annotation/{split}/{place}.json")), &described)?;
            let mut pictures = story.pictures(order.size, &kept);
            match footage {
                Footage::Frames(_) => {
                    for (frame, picture) in kept.iter().zip(pictures) {
                        let path = PathBuf::from(format!("video/{place}/frame_{frame:05}.png"));
                        write_picture(&folder, &path, &picture?)?;
                    }
                }
                Footage::Mp4(program) => {
                    let path = PathBuf::from(format!("video/{place}.mp4"));
                    drop(folder.create_file(&path)?);
                    write_mp4(program, &folder.path().join(path), order.size, &mut pictures)?;
                }
            }
            count.add();
            Ok(())
        };
        draw_part((&kind, rules), order, part, keep)?;
        // The next split begins in a folder of its own.
        first += part.scenes.next_multiple_of(FOLDER);
    }
    write_rules(&folder, rules)?;
    folder.finish()
}

/// The frames that are kept. Labels are about certain frames: what is kept must show these when so many are taken of it.
fn kept(order: &Order, footage: &Footage) -> Result<Vec<u64>> {
    let all = FRAMES as u64;
    match footage {
        Footage::Mp4(program) => {
            mp4::check(program, order.size)?;
            Ok((0..all).collect())
        }
        Footage::Frames(wanted) => {
            if !shows_taken(all, wanted.get() as u64, TAKEN as usize) {
                let some = (1..all).filter(|kept| shows_taken(all, *kept, TAKEN as usize));
                let some: Vec<String> = some.map(|kept| kept.to_string()).collect();
                let message = format!("expected to keep {} or all {all} frames, got {wanted}", some.join(", "));
                let hint = "labels are about certain frames, which others would not show";
                return Err(Error::input(message, Some(hint.to_owned())));
            }
            frame_indices(all, wanted.get())
        }
    }
}

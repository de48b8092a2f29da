//! A world of clips in CLEVRER's own files: `annotation_<split>/annotation_00000-01000/annotation_00000.json` and, in the same
//! layout, `video_<split>/.../video_00000/` with the kept frames, or `video_00000.mp4`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera_data::error::{Error, Result};
use chimera_data::media::frames::frame_indices;

use chimera_data::new_folder::NewFolder;

use crate::clip::{Act, Clips};
use crate::files::{write_json, write_picture, write_rules};
use crate::motion::FRAMES;
use crate::mp4::{self, write_mp4};
use crate::order::{Count, Order, draw_part};
use crate::render::picture;
use crate::wish::HouseRules;

/// Clips in a folder.
const FOLDER: usize = 1000;

/// How clips are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Footage {
    /// So many of all frames, evenly, as PNG files in a folder a clip, numbered as in the clip.
    Frames(NonZeroUsize),
    /// All frames as an MP4 file, through this program `ffmpeg`.
    Mp4(PathBuf),
}

/// Writes a world into a new folder, as a whole or not at all. `tell` hears how many clips of how many are done.
///
/// # Errors
/// Numbers out of range, rules that no clip keeps or breaks, a program `ffmpeg` that fails, or what the system said.
pub fn write_clevrer(
    out: &Path,
    order: &Order,
    footage: &Footage,
    rules: &HouseRules,
    tell: &(dyn Fn(usize, usize) + Sync),
) -> Result<()> {
    order.check()?;
    let kept = match footage {
        Footage::Frames(kept) if kept.get() > FRAMES as usize => {
            let message = format!("expected at most {FRAMES} frames to keep, the frames of a clip, got {kept}");
            return Err(Error::input(message, None));
        }
        Footage::Frames(kept) => frame_indices(u64::from(FRAMES), kept.get())?,
        Footage::Mp4(program) => {
            mp4::check(program, order.size)?;
            (0..u64::from(FRAMES)).collect()
        }
    };
    let folder = NewFolder::create(out)?;
    let (kind, count) = (Clips { together: order.together }, Count::new(order.total(), tell));
    let mut first = 0;
    for part in order.parts().into_iter().filter(|part| part.scenes > 0) {
        let keep = |number: usize, act: &Act| {
            let number = first + number;
            let inside = |what: &str, ending: &str| {
                let start = number / FOLDER * FOLDER;
                let end = start + FOLDER;
                PathBuf::from(format!("{what}_{}/{what}_{start:05}-{end:05}/{what}_{number:05}{ending}", part.name))
            };
            write_json(&folder, &inside("annotation", ".json"), &act.described(number as u32))?;
            let painted = |frame: u64| picture(&act.view(frame as usize), order.size);
            match footage {
                Footage::Frames(_) => {
                    for &frame in &kept {
                        let path = inside("video", &format!("/frame_{frame:05}.png"));
                        write_picture(&folder, &path, &painted(frame)?)?;
                    }
                }
                Footage::Mp4(program) => {
                    let path = inside("video", ".mp4");
                    drop(folder.create_file(&path)?);
                    write_mp4(
                        program,
                        &folder.path().join(path),
                        order.size,
                        kept.iter().map(|&frame| painted(frame)),
                    )?;
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

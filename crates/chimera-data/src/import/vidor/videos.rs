//! Where the videos of annotations are: at their `video_path`, else anywhere below the root under their `video_id`, as files or as
//! folders of frames.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::outline::Clip;
use crate::dataset::manifest::is_inside;
use crate::error::Result;
use crate::import::Note;
use crate::media::frame_folder::FrameFolder;
use crate::source::listing::{video_name, videos_below};
use crate::source::media_look::{Claim, claim_of};

/// All videos below a root.
pub(super) struct Videos {
    pub(super) root: PathBuf,
    /// By name without ending: paths under the root, those of files before folders.
    places: BTreeMap<String, Vec<String>>,
}

impl Videos {
    pub(super) fn below(root: &Path) -> Result<Self> {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for place in videos_below(root)? {
            places.entry(video_name(&place).to_owned()).or_default().push(place);
        }
        places.values_mut().for_each(|places| places.sort_by_key(|place| claim_of(Path::new(place)) != Claim::Video));
        Ok(Self { root: root.to_owned(), places })
    }

    /// Where the video of a clip is, or where it should be, and others that may be meant: of the same name, and in the same folder
    /// where a path says which it is. A path that leads out of the root, as those of other machines do, says nothing.
    pub(super) fn place_of(&self, clip: &Clip) -> (String, Vec<String>) {
        let path = clip.path.as_ref().filter(|path| !path.is_empty() && is_inside(Path::new(path)));
        if let Some(path) = path.filter(|path| self.root.join(path).exists()) {
            let (file, named) = (Path::new(path), self.places.get(video_name(path)));
            let beside = |other: &&String| Path::new(other) != file && Path::new(other).parent() == file.parent();
            return (path.clone(), named.into_iter().flatten().filter(beside).cloned().collect());
        }
        match self.places.get(&clip.video).map(Vec::as_slice) {
            Some([first, others @ ..]) => (first.clone(), others.to_vec()),
            _ => (path.cloned().unwrap_or_else(|| format!("{}.mp4", clip.video)), Vec::new()),
        }
    }

    /// How many frames lie in a video that is a folder, unless they are known to show what labels at `taken` frames are about.
    pub(super) fn doubtful(&self, place: &str, clip: &Clip, taken: usize) -> Option<u64> {
        let path = self.root.join(place);
        let folder = path.is_dir().then(|| FrameFolder::open(&path).ok())??;
        (!folder.shows_taken(clip.frames, taken)).then(|| folder.count())
    }

    /// Videos that no annotation is about: neither its place nor its name is known.
    pub(super) fn without_annotation(&self, places: &BTreeSet<&str>, names: &BTreeSet<&str>) -> Note {
        let mut strays =
            Note::about("video without an annotation was left out", "videos without an annotation were left out");
        for (name, found) in &self.places {
            if !names.contains(name.as_str()) && !found.iter().any(|place| places.contains(place.as_str())) {
                found.iter().take(1).for_each(|place| strays.add(|| place.clone()));
            }
        }
        strays
    }
}

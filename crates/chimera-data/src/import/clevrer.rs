//! Import of CLEVRER: `annotation_<split>/annotation_AAAAA-BBBBB/annotation_NNNNN.json` with the videos, or folders of their
//! frames, in `video_<split>/video_AAAAA-BBBBB/`.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::clevrer_files::{AnnotationFile, Videos, annotation_files};
use super::media_list::LOOKERS;
use super::note::{Note, met, refuse_first};
use super::samples::{annotations_as_source, check_split, in_name};
use super::solids::concepts::ConceptOptions;
use super::solids::{Content, Found, Import, Sample};
use super::{ImportOptions, Imported};
use crate::clevr::clip::Clip;
use crate::clevr::outline::Outline;
use crate::dataset::draft::DatasetWriter;
use crate::dataset::manifest::Kind;
use crate::error::{Result, lower_first, system_words};
use crate::file::open_regular;
use crate::media::frame_folder::FrameFolder;
use crate::parallel::in_parallel;

/// Frames of every video of the original dataset.
const FRAMES: u32 = 128;

/// Frames that training takes of a video unless told otherwise: so many that were numbered anew may well be those.
const TAKEN: usize = 8;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct ClevrerImport {
    /// The folder with `annotation_train/`, `video_train/` and so on.
    pub folder: PathBuf,
    /// Which concepts to label.
    pub concepts: ConceptOptions,
    /// Refuse if any annotation cannot be used, comes twice, has no video that can be used or several, or a folder of frames of
    /// which some may be missing.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

/// What one annotation says, and a hash of its file.
struct Described {
    outcome: std::result::Result<(String, Clip), String>,
    hash: blake3::Hash,
}

/// Imports CLEVRER into the folder `out`. Samples are named as their videos are; the split is in the folders' names, and where all
/// are for training, they are dealt.
///
/// # Errors
/// What is wrong with the folder, the concepts or the videos; what is wrong with an annotation only where that is all there is.
pub fn import_clevrer(import: &ClevrerImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    import.concepts.check(Kind::Video)?;
    let files = annotation_files(&import.folder)?;
    files.iter().try_for_each(|file| check_split(&file.split, &in_name(&file.folder), &import.options))?;
    let videos = Videos::of(&import.folder, &files)?;
    let described = in_parallel(LOOKERS, files.len(), |number| Ok(describe(&files[number].path)))?;
    let mut oddities = Oddities::new(&import.folder);
    let hashes: Vec<blake3::Hash> = described.iter().map(|described| described.hash).collect();
    let found = files.iter().zip(described);
    let found: Vec<Found> =
        found.map(|(file, described)| sample(file, described.outcome, &videos, &mut oddities)).collect();
    let strays = videos.without_annotation(&files, &found);
    let notes = met(oddities.finish(import.strict)?.into_iter().chain([strays])).collect();
    let import = Import {
        importer: "clevrer",
        kind: Kind::Video,
        folder: &import.folder,
        media_root: &import.folder,
        concepts: &import.concepts,
        strict: import.strict,
        options: &import.options,
        sources: vec![annotations_as_source(&hashes)],
    };
    import.finish(writer, found, out, notes)
}

/// Reads one annotation: its video and what happens there.
fn describe(path: &Path) -> Described {
    let mut bytes = Vec::new();
    match open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(cause) => return Described { outcome: Err(system_words(&cause)), hash: blake3::hash(b"") },
    }
    let outcome = serde_json::from_slice(&bytes).map_err(|error| lower_first(&error.to_string()));
    let outcome = outcome.and_then(|outline: Outline| {
        let clip = Clip::of_outline(&outline).map_err(|error| error.to_string())?;
        Ok((outline.video_filename, clip))
    });
    Described { outcome, hash: blake3::hash(&bytes) }
}

fn sample(
    file: &AnnotationFile,
    outcome: std::result::Result<(String, Clip), String>,
    videos: &Videos,
    oddities: &mut Oddities<'_>,
) -> Found {
    let place = file.place();
    let (video, clip) = outcome.map_err(|reason| (place.clone(), reason))?;
    let stem = Path::new(&video).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if stem.is_empty() || Path::new(&video).components().count() != 1 {
        let reason = format!("expected a file's name without folders in `video_filename`, got `{video}`");
        return Err((place, reason));
    }
    let (media, others) = videos.place_of(file, &video, &stem);
    oddities.look(&stem, &clip, &media, &others);
    let (identity, split) = (stem.clone(), file.split.clone());
    Ok(Sample { id: stem, identity, media, split, place, content: Content::Clip(clip) })
}

/// Notes on what is unusual but has labels.
struct Oddities<'a> {
    /// Where media are.
    root: &'a Path,
    length: Note,
    gaps: Note,
    several: Note,
}

impl<'a> Oddities<'a> {
    fn new(root: &'a Path) -> Self {
        let length = format!("another number of frames than CLEVRER's {FRAMES}: halves are those of");
        let gaps = "of frames that are neither all of the video nor, by the numbers in their names, evenly spread over it: some may \
                    be missing";
        Self {
            root,
            length: Note::about(format!("video has {length} its own"), format!("videos have {length} their own")),
            gaps: Note::about(format!("folder {gaps}"), format!("folders {gaps}")),
            several: Note::about(
                "annotation has several videos of its name: the first is taken",
                "annotations have several videos of their name each: the first is taken",
            ),
        }
    }

    fn look(&mut self, stem: &str, clip: &Clip, media: &str, others: &[String]) {
        if clip.frames != FRAMES {
            self.length.add(|| format!("{stem}: {} frames", clip.frames));
        }
        if !others.is_empty() {
            self.several.add(|| format!("{stem}: {media}, not {}", others.join(", ")));
        }
        let (path, all) = (self.root.join(media), u64::from(clip.frames));
        let folder = path.is_dir().then(|| FrameFolder::open(&path).ok()).flatten();
        let is_whole = |folder: &FrameFolder| folder.is_spread_over(all) || folder.shows_taken(all, TAKEN);
        if let Some(folder) = folder.filter(|folder| !is_whole(folder)) {
            self.gaps.add(|| format!("{media}: {} of {all} frames", folder.count()));
        }
    }

    /// What was met; refused where that is asked for, but for lengths.
    fn finish(self, strict: bool) -> Result<[Note; 3]> {
        if strict {
            let spread = "expected folders of all frames of a video, or of some that are spread evenly over it, each named by its \
                          number there (`frame_00008.png`),";
            let refusals =
                [(&self.gaps, spread.to_owned()), (&self.several, "expected one video of each annotation".to_owned())];
            refuse_first(refusals, self.root, "mend or remove what is listed, or leave out `--strict`")?;
        }
        Ok([self.length, self.gaps, self.several])
    }
}

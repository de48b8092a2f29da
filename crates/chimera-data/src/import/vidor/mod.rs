//! Import of VidOR and VidVRD, which share a format: an annotation a video with the tracks of its objects, frame by frame, and
//! relations between them. Labels are about the frames that an encoder is shown, and about no others.

mod named;
mod outline;
pub(super) mod source;
mod videos;
pub(super) mod vocabulary;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::outline::{Clip, Words};
use self::source::{AnnotationFile, Annotations};
use self::videos::Videos;
use self::vocabulary::VidorConcepts;
use super::media_list::LOOKERS;
use super::note::{Note, met, refuse_first};
use super::samples::{Found, Sample, SampleImport, annotations_as_source, check_split, in_name};
use super::{ImportOptions, Imported, RuleConcepts};
use crate::dataset::draft::DatasetWriter;
use crate::dataset::manifest::Kind;
use crate::error::{Error, Result};
use crate::media::frames::FRAMES_TAKEN;
use crate::parallel::in_parallel;
use crate::source::listing::entries;
use crate::vidor::TAKEN;

/// What to import.
#[derive(Clone, Debug)]
pub struct VidorImport {
    /// A folder, or a zip archive of one, with `annotations/{train,val}/**/*.json` or `{train,test}/*.json`.
    pub source: PathBuf,
    /// Where the videos are.
    pub videos: VidorVideos,
    /// Frames of each video that labels speak of and encoders are shown (T).
    pub frames: u32,
    /// Which objects and relations become concepts.
    pub concepts: VidorConcepts,
    /// Concepts that rules name, which are labelled however rare they are.
    pub rules: Option<RuleConcepts>,
    /// Refuse if any annotation cannot be used or comes twice, if any video has fewer frames than are taken of it, is a folder of
    /// frames that may show other moments than its annotation says, is one of several of its id, or cannot be used.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

impl VidorImport {
    /// An import as the paper has it.
    #[must_use]
    pub fn new(source: PathBuf, videos: VidorVideos) -> Self {
        let (concepts, options) = (VidorConcepts::default(), ImportOptions::default());
        Self { source, videos, frames: TAKEN, concepts, rules: None, strict: false, options }
    }
}

/// Where videos are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VidorVideos {
    /// In `videos/` or `video/` of the folder, or beside the archive: the first of both that has something.
    Beside,
    /// In another folder.
    Below(PathBuf),
    /// Nowhere: labels alone are imported.
    LabelsOnly,
}

/// One annotation, and a hash of its file.
struct Described {
    found: Found<Footage>,
    hash: blake3::Hash,
}

/// What an annotation says, and what is known of its video.
struct Footage {
    clip: Clip,
    /// How many frames are in its folder, where they may be of other moments than labels.
    doubtful: Option<u64>,
    /// Others of the same id, of which none is taken.
    others: Vec<String>,
}

/// Imports VidOR or VidVRD into the folder `out`. Samples are named by their `video_id`; the split is in the folders' names, and
/// where all are for training, they are dealt.
///
/// # Errors
/// What is wrong with the folder, the archive or the videos; what is wrong with an annotation only where that is all there is.
pub fn import_vidor(import: &VidorImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let frames = import.frames as usize;
    if !FRAMES_TAKEN.contains(&frames) {
        let (low, high) = (FRAMES_TAKEN.start(), FRAMES_TAKEN.end());
        return Err(Error::input(format!("expected a number of frames from {low} to {high}, got `{frames}`"), None));
    }
    if (import.concepts.top_objects, import.concepts.top_relations) == (0, 0) && import.rules.is_none() {
        let message = "expected a concept at least, got `--top-objects 0` and `--top-relations 0`".to_owned();
        let hint = "give one of them a larger number, or name concepts by a rule file with `--rules`";
        return Err(Error::input(message, Some(hint.to_owned())));
    }
    let annotations = Annotations::open(&import.source)?;
    let files = &annotations.files;
    files.iter().try_for_each(|file| check_split(&file.split, &in_name(Path::new(&file.place)), &import.options))?;
    let videos = video_root(import)?.map(|root| Videos::below(&root)).transpose()?;
    let describe = |number: usize| Ok(describe(&annotations, &files[number], frames, videos.as_ref()));
    let described = in_parallel(LOOKERS, files.len(), describe)?;
    let hashes: Vec<blake3::Hash> = described.iter().map(|described| described.hash).collect();
    let found: Vec<Found<Footage>> = described.into_iter().map(|described| described.found).collect();
    let mut notes = oddities(&found, import)?;
    notes.extend(met(videos.as_ref().map(|videos| strays(videos, files, &found))));
    let mut chosen = vec![("frames", frames.to_string())];
    chosen.extend(import.concepts.chosen());
    chosen.extend(import.rules.as_ref().map(RuleConcepts::chosen));
    chosen.extend(videos.is_none().then(|| ("labels-only", "true".to_owned())));
    let samples = SampleImport {
        importer: "vidor",
        kind: if videos.is_some() { Kind::Video } else { Kind::Labels },
        source: &import.source,
        media_root: videos.as_ref().map(|videos| videos.root.as_path()),
        missing_hint: "say where the videos are with `--videos DIR`, or import the labels alone with `--labels-only`",
        frames: Some(import.frames),
        strict: import.strict,
        options: &import.options,
        chosen,
        sources: vec![annotations_as_source(&hashes)],
    };
    let words = Words::of(found.iter().flatten().map(|sample| &sample.content.clip));
    samples.finish(writer, found, out, notes, |all, learned, notes| {
        let labelled = import.concepts.label(&clips(all), &clips(learned), notes);
        if labelled.concepts.is_empty() && import.rules.is_none() {
            return Err(import.concepts.nothing(&clips(learned)));
        }
        match &import.rules {
            Some(rules) => named::with(labelled, rules, &clips(all), &words, notes),
            None => Ok(labelled),
        }
    })
}

fn clips<'a>(footage: &[&'a Footage]) -> Vec<&'a Clip> {
    footage.iter().map(|footage| &footage.clip).collect()
}

/// The folder of the videos; `None` where labels alone are wanted.
fn video_root(import: &VidorImport) -> Result<Option<PathBuf>> {
    let beside = match &import.videos {
        VidorVideos::LabelsOnly => return Ok(None),
        VidorVideos::Below(folder) => return Ok(Some(folder.clone())),
        VidorVideos::Beside if import.source.is_dir() => import.source.as_path(),
        VidorVideos::Beside => import.source.parent().unwrap_or(Path::new("")),
    };
    let folders = ["videos", "video"].map(|name| beside.join(name));
    let there: Vec<&PathBuf> = folders.iter().filter(|folder| folder.is_dir()).collect();
    let is_filled = |folder: &&&PathBuf| entries(folder).is_ok_and(|entries| !entries.is_empty());
    let Some(&folder) = there.iter().find(is_filled).or(there.first()) else {
        let message = format!(
            "expected the videos of `{}` in `{}` or `{}`, got no such folder",
            import.source.display(),
            folders[0].display(),
            folders[1].display()
        );
        let hint = "say where they are with `--videos DIR`, or import the labels alone with `--labels-only`";
        return Err(Error::input(message, Some(hint.to_owned())));
    };
    Ok(Some(folder.clone()))
}

/// Reads one annotation and looks for its video.
fn describe(annotations: &Annotations, file: &AnnotationFile, frames: usize, videos: Option<&Videos>) -> Described {
    let (outcome, hash) = match annotations.read(file) {
        Ok(bytes) => (Clip::read(&bytes, frames), blake3::hash(&bytes)),
        Err(reason) => (Err(reason), blake3::hash(b"")),
    };
    let (place, split) = (file.place.clone(), file.split.clone());
    let found = outcome.map_err(|reason| (place.clone(), reason)).map(|clip| {
        let (media, others) = videos.map(|videos| videos.place_of(&clip)).unwrap_or_default();
        let doubtful = videos.and_then(|videos| videos.doubtful(&media, &clip, frames));
        let id = clip.video.clone();
        Sample { identity: id.clone(), id, media, split, place, content: Footage { clip, doubtful, others } }
    });
    Described { found, hash }
}

/// Notes on what is unusual but has labels. `--strict` refuses clips of which frames are repeated, folders that may show other
/// moments than the labels speak of, and videos that may be another's.
fn oddities(found: &[Found<Footage>], import: &VidorImport) -> Result<Vec<Note>> {
    let frames = u64::from(import.frames);
    let beyond = "`trajectories` shorter than `frame_count`: frames beyond hold no objects";
    let mut cut = Note::about(format!("annotation has {beyond}"), format!("annotations have {beyond}"));
    let fewer = format!("fewer frames than the {frames} that are taken: some are repeated");
    let mut short = Note::about(format!("video has {fewer}"), format!("videos have {fewer}"));
    let unfit = format!(
        "of frames whose number or names do not fit `frame_count`: the {frames} frames taken may be of other moments than the labels"
    );
    let mut other = Note::about(format!("folder {unfit}"), format!("folders {unfit}"));
    let mut several = Note::about(
        "`video_id` is that of several videos: the one at `video_path`, else the first, is taken",
        "`video_id`s are those of several videos each: the one at `video_path`, else the first, is taken",
    );
    for sample in found.iter().flatten() {
        let Footage { clip, doubtful, others } = &sample.content;
        if !others.is_empty() {
            several.add(|| format!("{}: {}, not {}", clip.video, sample.media, others.join(", ")));
        }
        if clip.tracked < clip.frames {
            cut.add(|| format!("{}: {} of {} frames", sample.place, clip.tracked, clip.frames));
        }
        if clip.frames < frames {
            short.add(|| format!("{}: {} frames", sample.place, clip.frames));
        }
        if let Some(there) = doubtful {
            let place = &sample.place;
            other.add(|| format!("{}: {there} frames, `frame_count` {} in {place}", sample.media, clip.frames));
        }
    }
    let refusals = [
        (&short, format!("expected at least {frames} frames of each video")),
        (
            &other,
            format!(
                "expected folders of all `frame_count` frames, or of an even selection that contains the {frames} frames that \
                 labels are about, each named by its number in the video (`frame_00004.png`),"
            ),
        ),
        (&several, "expected one video of each `video_id`".to_owned()),
    ];
    if import.strict {
        let hint = "mend or remove what is listed, take another number of `--frames`, or leave out `--strict`";
        refuse_first(refusals, &import.source, hint)?;
    }
    Ok(met([cut, short, other, several]).collect())
}

/// Videos that no annotation is about, usable or not.
fn strays(videos: &Videos, files: &[AnnotationFile], found: &[Found<Footage>]) -> Note {
    let samples = || found.iter().flatten();
    let names = files.iter().map(AnnotationFile::stem).chain(samples().map(|sample| sample.id.as_str()));
    videos.without_annotation(&samples().map(|sample| sample.media.as_str()).collect(), &names.collect::<BTreeSet<_>>())
}

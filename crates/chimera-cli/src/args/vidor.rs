//! What can be typed after `chimera import vidor`.

use std::path::PathBuf;

use clap::Args;

use super::ImportInto;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera import vidor ~/vidor --out ds/\n  \
    chimera import vidor ~/vidor --videos /mnt/videos --frames 16 --out ds/\n  \
    chimera import vidor VidVRD-dataset.zip --labels-only --out ds/\n  \
    chimera import vidor ~/vidor --top-objects 80 --top-relations 500 --min-rel-support 10 --out ds/\n\n\
    Concepts, of the frames that are taken of a video and no others:\n  \
    obj:adult                        the trajectory of an adult is there in one of them\n  \
    rel:adult-in_front_of-baby       such a relation covers one of them, from begin_fid to before\n                                   \
    end_fid; then obj:adult and obj:baby hold, too\n\
    Rules name them as they are: rel:adult-in_front_of-baby => rel:baby-behind-adult\n\n\
    Annotations are in SOURCE/annotations/{train,val}/ (training and validation will do) or SOURCE/{train,test}/,\n\
    JSON files in any folders inside. A video is found by its video_path, else by its video_id with any\n\
    ending, or as a folder of frames of that name, below SOURCE/videos/ or SOURCE/video/. val is test; where\n\
    there is train alone, it is dealt.")]
pub(crate) struct ImportVidorArguments {
    /// Folder of VidOR or VidVRD, or a zip archive of one, which is read as it is.
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// Folder where the videos are; by default `videos` or `video`, whichever has something, in the folder or beside the archive.
    #[arg(long, value_name = "DIR", conflicts_with = "labels_only")]
    pub(crate) videos: Option<PathBuf>,
    /// Import labels without videos.
    #[arg(long)]
    pub(crate) labels_only: bool,
    /// Frames to take of each video: labels speak of these, and `train` shows these to the encoder.
    #[arg(long, value_name = "T", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: u32,
    /// How many categories become concepts: those that are there in most train videos.
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub(crate) top_objects: usize,
    /// How many relations become concepts: those that hold in most train videos.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) top_relations: usize,
    /// Train videos in which a relation must hold at least to become a concept.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) min_rel_support: usize,
    /// Rule file whose concepts are labelled, too, however rare they are; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Refuse if any annotation cannot be used or comes twice, or any video is missing, too short, a folder of frames that may
    /// show other moments than its annotation is about, or one of several of its id.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

//! The file of a video in VidOR, with every key in its own place: what is written is what VidOR writes. VidVRD's files lack
//! some of them.

use serde::{Deserialize, Serialize};

/// One video and everything that is said of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Annotation {
    /// The version of the format.
    pub version: String,
    /// The video's name.
    pub video_id: String,
    /// A hash of the video's file; empty where there is none.
    pub video_hash: String,
    /// Where the video is, below the folder of all videos.
    pub video_path: String,
    /// Its frames.
    pub frame_count: u64,
    /// Frames a second.
    pub fps: f64,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Everybody who is tracked.
    #[serde(rename = "subject/objects")]
    pub tracks: Vec<Track>,
    /// For each frame, who is there and where.
    pub trajectories: Vec<Vec<TrackBox>>,
    /// What holds between whom, and when.
    pub relation_instances: Vec<RelationInstance>,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Track {
    /// Its number in the video.
    pub tid: u64,
    /// What it is.
    pub category: String,
}

/// An object in a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackBox {
    /// Its number in the video.
    pub tid: u64,
    /// Where it is.
    pub bbox: BoundingBox,
    /// 1 where a program placed the box, 0 where a person did.
    pub generated: u8,
    /// The program's name.
    pub tracker: String,
}

/// The first and the last column and row of pixels that show something of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundingBox {
    /// The first column.
    pub xmin: u32,
    /// The first row.
    pub ymin: u32,
    /// The last column.
    pub xmax: u32,
    /// The last row.
    pub ymax: u32,
}

/// A relation that holds for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelationInstance {
    /// Who does it.
    pub subject_tid: u64,
    /// What.
    pub predicate: String,
    /// To whom.
    pub object_tid: u64,
    /// The first frame in which it holds.
    pub begin_fid: u64,
    /// The frame after the last one in which it holds.
    pub end_fid: u64,
}

//! What one annotation says at the frames that are looked at. Of a file only what labels need is kept: boxes are passed over
//! while it is read, so that a file of megabytes leaves some kilobytes.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::dataset::draft::is_plain_name;
use crate::error::lower_first;
use crate::error::shown;
use crate::media::frames::frame_indices;
use crate::vidor::shown::{Instance, Shown};

/// The part of a file that is read.
#[derive(Deserialize)]
struct Outline {
    video_id: String,
    #[serde(default)]
    video_path: Option<String>,
    frame_count: u64,
    #[serde(rename = "subject/objects")]
    tracks: Vec<Track>,
    trajectories: Vec<Vec<TrackBox>>,
    relation_instances: Vec<Relation>,
}

#[derive(Deserialize)]
struct Track {
    tid: u64,
    category: String,
}

/// A track in one frame, without its box.
#[derive(Deserialize)]
struct TrackBox {
    tid: u64,
}

#[derive(Deserialize)]
struct Relation {
    subject_tid: u64,
    predicate: String,
    object_tid: u64,
    begin_fid: u64,
    end_fid: u64,
}

/// Who does what to whom, by categories.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Triple {
    pub(super) subject: String,
    pub(super) predicate: String,
    pub(super) object: String,
}

/// A video at the frames that are looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clip {
    /// Its `video_id`.
    pub(super) video: String,
    /// Its `video_path`, where it has one.
    pub(super) path: Option<String>,
    /// Its frames.
    pub(super) frames: u64,
    /// Frames that `trajectories` speak of: the first ones.
    pub(super) tracked: u64,
    /// Categories of tracks that are there in a sampled frame, and of both sides of `relations`.
    pub(super) objects: BTreeSet<String>,
    /// Relations that hold in a sampled frame.
    pub(super) relations: BTreeSet<Triple>,
    /// Categories of all tracks, and predicates of all relations, whenever they are there.
    pub(super) words: Words,
}

/// What there are words for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) categories: BTreeSet<String>,
    pub(super) predicates: BTreeSet<String>,
}

impl Clip {
    /// Reads an annotation at `wanted` frames, which are those that an encoder is shown.
    ///
    /// # Errors
    /// In words, what keeps its labels from being certain.
    pub(super) fn read(bytes: &[u8], wanted: usize) -> Result<Self, String> {
        let outline: Outline = serde_json::from_slice(bytes).map_err(|error| lower_first(&error.to_string()))?;
        let (frames, tracked) = (outline.frame_count, outline.trajectories.len() as u64);
        if tracked > frames {
            return Err(format!(
                "expected at most {frames} frames in `trajectories`, as `frame_count` says, got {tracked}"
            ));
        }
        let sampled = frame_indices(frames, wanted).map_err(|_| "expected frames, got `frame_count` 0".to_owned())?;
        let video = outline.video_id;
        if !is_plain_name(&video) || video.contains(['/', '\\']) {
            return Err(format!("expected a name without folders in `video_id`, got `{}`", shown(&video)));
        }
        let categories = categories(outline.tracks)?;
        let mut words = Words { categories: categories.values().cloned().collect(), ..Words::default() };
        let category = |tid: u64| categories.get(&tid).ok_or(tid);
        for (frame, boxes) in outline.trajectories.iter().enumerate() {
            if let Some(TrackBox { tid }) = boxes.iter().find(|there| !categories.contains_key(&there.tid)) {
                let known = "expected tracks of `subject/objects` in `trajectories`";
                return Err(format!("{known}, got tid {tid} at frame {frame}"));
            }
        }
        let boxes = |frame: u64| usize::try_from(frame).ok().and_then(|frame| outline.trajectories.get(frame));
        let there = |frame: u64| boxes(frame).into_iter().flatten().filter_map(|there| categories.get(&there.tid));
        let mut instances = Vec::with_capacity(outline.relation_instances.len());
        for (number, relation) in outline.relation_instances.into_iter().enumerate() {
            let wrong = |what: String| format!("{what} in number {number} of `relation_instances`");
            let Relation { subject_tid, predicate, object_tid, begin_fid, end_fid } = relation;
            let sides = category(subject_tid).and_then(|subject| Ok((subject, category(object_tid)?)));
            let (subject, object) =
                sides.map_err(|tid| wrong(format!("expected tracks of `subject/objects`, got tid {tid}")))?;
            if begin_fid >= end_fid || end_fid > frames {
                let expected = format!("expected `begin_fid` before `end_fid`, and that at most {frames}");
                return Err(wrong(format!("{expected}, got {begin_fid} and {end_fid}")));
            }
            if !is_plain_name(&predicate) {
                return Err(wrong(format!("expected a name for a `predicate`, got `{}`", shown(&predicate))));
            }
            words.predicates.insert(predicate.clone());
            instances.push(Instance { subject, predicate, object, frames: begin_fid..end_fid });
        }
        let seen = Shown::at(&sampled, there, instances);
        let triple = |(subject, predicate, object): (&String, String, &String)| Triple {
            subject: subject.clone(),
            predicate,
            object: object.clone(),
        };
        Ok(Self {
            video,
            path: outline.video_path,
            frames,
            tracked,
            objects: seen.objects.into_iter().cloned().collect(),
            relations: seen.relations.into_iter().map(triple).collect(),
            words,
        })
    }
}

/// The category of each track.
fn categories(tracks: Vec<Track>) -> Result<BTreeMap<u64, String>, String> {
    let mut categories: BTreeMap<u64, String> = BTreeMap::new();
    for Track { tid, category } in tracks {
        if !is_plain_name(&category) {
            let got = shown(&category);
            return Err(format!("expected a name for the `category` of tid {tid} in `subject/objects`, got `{got}`"));
        }
        match categories.get(&tid) {
            Some(before) if *before != category => {
                let (before, category) = (shown(before), shown(&category));
                return Err(format!(
                    "expected one category for tid {tid} in `subject/objects`, got `{before}` and `{category}`"
                ));
            }
            _ => drop(categories.insert(tid, category)),
        }
    }
    Ok(categories)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A video of 16 frames, of which 1, 3, 5 ... 15 are looked at, with a dog in frames `there` and a ball nowhere.
    fn annotation(there: std::ops::Range<usize>, relation: (u64, u64)) -> Value {
        let frame = |number: usize| if there.contains(&number) { json!([{"tid": 4, "bbox": {}}]) } else { json!([]) };
        json!({"video_id": "v", "frame_count": 16, "fps": 30.0,
            "subject/objects": [{"tid": 4, "category": "dog"}, {"tid": 7, "category": "ball"}],
            "trajectories": (0..16).map(frame).collect::<Vec<_>>(),
            "relation_instances": [{"subject_tid": 4, "object_tid": 7, "predicate": "chase",
                                    "begin_fid": relation.0, "end_fid": relation.1}]})
    }

    fn read(annotation: &Value) -> Result<Clip, String> {
        Clip::read(annotation.to_string().as_bytes(), 8)
    }

    /// Categories and whether the dog chases the ball.
    fn seen(annotation: &Value) -> (String, bool) {
        let clip = read(annotation).unwrap();
        (clip.objects.into_iter().collect::<Vec<_>>().join(" "), !clip.relations.is_empty())
    }

    #[test]
    fn a_track_is_there_in_the_frames_that_are_looked_at() {
        // Frame 4 is none of them; 3 and 5 are. The relation [0, 1) covers none.
        for (there, expected) in [(4..5, ""), (4..6, "dog"), (3..4, "dog"), (0..1, ""), (15..16, "dog"), (16..16, "")] {
            assert_eq!(seen(&annotation(there.clone(), (0, 1))), (expected.to_owned(), false), "{there:?}");
        }
    }

    #[test]
    fn a_relation_holds_from_its_begin_to_before_its_end() {
        // Frames 1 and 3 are looked at, 2 is not.
        for (range, holds) in [((1, 2), true), ((2, 3), false), ((2, 4), true), ((3, 4), true), ((0, 1), false)] {
            let expected = if holds { "ball dog" } else { "" };
            assert_eq!(seen(&annotation(0..0, range)), (expected.to_owned(), holds), "{range:?}");
        }
        assert_eq!(seen(&annotation(0..0, (15, 16))), ("ball dog".to_owned(), true));
    }

    #[test]
    fn frames_beyond_the_end_of_trajectories_hold_no_objects() {
        let mut short = annotation(0..16, (0, 1));
        short["trajectories"].as_array_mut().unwrap().truncate(1);
        assert_eq!(seen(&short), (String::new(), false));
        short["relation_instances"][0]["end_fid"] = json!(16);
        assert_eq!(seen(&short), ("ball dog".to_owned(), true));
        assert_eq!(read(&short).unwrap().tracked, 1);
    }

    #[test]
    fn one_frame_stands_for_all_where_there_is_no_more() {
        let one = json!({"video_id": "v", "frame_count": 1, "subject/objects": [{"tid": 0, "category": "cat"}],
            "trajectories": [[{"tid": 0}]], "relation_instances": []});
        assert_eq!(seen(&one), ("cat".to_owned(), false));
    }

    #[test]
    fn what_makes_labels_uncertain_is_named() {
        type Change = fn(&mut Value);
        let cases: [(&str, Change); 16] = [
            ("got tid 9 in number 0 of `relation_instances`", |all| {
                all["relation_instances"][0]["object_tid"] = json!(9);
            }),
            ("got tid 8 in number 0 of `relation_instances`", |all| {
                all["relation_instances"][0]["subject_tid"] = json!(8);
            }),
            ("and that at most 16, got 3 and 3 in number 0", |all| {
                all["relation_instances"][0]["begin_fid"] = json!(3);
            }),
            ("and that at most 16, got 1 and 17 in number 0", |all| {
                all["relation_instances"][0]["end_fid"] = json!(17);
            }),
            ("invalid value: integer `-1`", |all| all["relation_instances"][0]["begin_fid"] = json!(-1)),
            ("got tid 5 at frame 6", |all| all["trajectories"][6] = json!([{"tid": 4}, {"tid": 5}])),
            ("got `dog` and `cat`", |all| all["subject/objects"][1] = json!({"tid": 4, "category": "cat"})),
            ("`category` of tid 4 in `subject/objects`, got ` dog`", |all| {
                all["subject/objects"][0]["category"] = json!(" dog");
            }),
            ("`predicate`, got `` in number 0", |all| all["relation_instances"][0]["predicate"] = json!("")),
            ("expected frames, got `frame_count` 0", |all| {
                (all["frame_count"], all["trajectories"]) = (json!(0), json!([]));
            }),
            ("expected at most 15 frames in `trajectories`, as `frame_count` says, got 16", |all| {
                all["frame_count"] = json!(15);
            }),
            ("in `video_id`, got `../v`", |all| all["video_id"] = json!("../v")),
            ("in `video_id`, got ``", |all| all["video_id"] = json!("")),
            ("missing field `trajectories`", |all| drop(all.as_object_mut().unwrap().remove("trajectories"))),
            ("missing field `subject/objects`", |all| drop(all.as_object_mut().unwrap().remove("subject/objects"))),
            ("missing field `tid`", |all| all["trajectories"][0] = json!([{"bbox": {}}])),
        ];
        let good = annotation(0..16, (1, 3));
        assert!(read(&good).is_ok());
        for (expected, spoil) in cases {
            let mut bad = good.clone();
            spoil(&mut bad);
            let message = read(&bad).unwrap_err();
            assert!(message.contains(expected), "{message} should say {expected}");
        }
        let text = good.to_string();
        assert!(Clip::read(&text.as_bytes()[..text.len() - 2], 8).unwrap_err().starts_with("EOF while parsing"));
        // The same track twice says nothing new.
        let mut again = good;
        again["subject/objects"][1] = json!({"tid": 4, "category": "dog"});
        again["relation_instances"][0]["object_tid"] = json!(4);
        assert_eq!(seen(&again), ("dog".to_owned(), true));
    }
}

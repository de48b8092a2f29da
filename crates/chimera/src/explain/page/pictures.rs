//! The sample itself: its picture or frames, and over them where rules and concepts are seen.

use std::fmt::Write;
use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::jpeg::encode;
use chimera_data::media::picture::{Picture, Size};
use chimera_leaf::stream::Sources;

use crate::explain::told::{Explanation, MapTold, RuleTold};
use crate::report::html::{base64, escape};

/// Pixels of the longer side of a picture, and of a frame of a video.
const SIDES: [NonZeroUsize; 2] = [NonZeroUsize::new(512).unwrap(), NonZeroUsize::new(256).unwrap()];

/// Frames of a video that are shown, beside those that are looked at closely.
const MOST_FRAMES: usize = 16;

/// JPEG's quality.
const QUALITY: u8 = 82;

/// Cells that say less than this share of the most are left clear.
const FAINT: f64 = 0.08;

/// The frames that a page shows, as JPEG.
#[derive(Clone, Debug, Default)]
pub struct Pictures {
    /// The frame, and its picture.
    frames: Vec<(usize, Vec<u8>)>,
    /// Width and height.
    size: Option<Size>,
}

impl Pictures {
    /// Reads a sample once more, larger than the network sees it and as it is: all frames that are shown or looked at.
    ///
    /// # Errors
    /// A medium that cannot be read.
    pub fn of(sources: Sources<'_>, sample: usize, told: &Explanation) -> Result<Self> {
        let (Some(path), true) = (sources.path(sample), told.frames > 0) else { return Ok(Self::default()) };
        let reader = sources.media_reader()?;
        // A thumbnail of a video is four frames, in the shape of one.
        let whole = reader.thumbnail(&path, SIDES[usize::from(told.frames > 1)])?;
        if told.frames == 1 {
            return Ok(Self { size: Some(whole.size()), frames: vec![(0, encode(&whole, QUALITY)?)] });
        }
        let size = whole.size();
        let shape = FrameShape::new(told.frames, size.height(), size.width())?;
        let mut bytes = vec![0; shape.bytes()];
        reader.read(&path, shape, &mut bytes)?;
        let step = told.frames.div_ceil(MOST_FRAMES);
        let looked_at = |frame: usize| told.rules.iter().flat_map(|rule| &rule.maps).any(|map| map.frame == frame);
        let wanted = (0..told.frames).filter(|&frame| frame % step == 0 || looked_at(frame));
        let encoded = wanted.map(|frame| {
            let pixels = bytes[frame * shape.frame_bytes()..][..shape.frame_bytes()].to_vec();
            Ok((frame, encode(&Picture::new(size, pixels)?, QUALITY)?))
        });
        Ok(Self { frames: encoded.collect::<Result<_>>()?, size: Some(size) })
    }

    /// The pictures as style: each is in the page once.
    pub(super) fn style(&self) -> String {
        let mut style = String::new();
        for (frame, picture) in &self.frames {
            let _ =
                writeln!(style, ".f{frame}>div{{background-image:url(data:image/jpeg;base64,{})}}", base64(picture));
        }
        if let Some(size) = self.size {
            let _ = writeln!(style, ".shot>div{{aspect-ratio:{}/{}}}", size.width(), size.height());
        }
        style
    }

    /// A video frame by frame; nothing for a picture, which is shown beside its evidence.
    pub(super) fn strip(&self, told: &Explanation) -> String {
        if told.frames < 2 || self.frames.is_empty() {
            return String::new();
        }
        let busy = |frame: usize| told.rules.iter().flat_map(|rule| &rule.maps).any(|map| map.frame == frame);
        let shots = self.frames.iter().map(|&(frame, _)| {
            let class = if busy(frame) { " busy" } else { "" };
            shot(&format!("f{frame}{class}"), "", &format!("frame {} of {}", frame + 1, told.frames))
        });
        format!("<div class=\"frames\">{}</div>\n", shots.collect::<String>())
    }

    /// Where a rule and its concepts are seen.
    pub(super) fn maps(&self, told: &Explanation, rule: &RuleTold) -> String {
        if self.frames.is_empty() {
            return String::new();
        }
        let in_frame = |frame: usize| if told.frames > 1 { format!(", frame {}", frame + 1) } else { String::new() };
        if rule.maps.iter().all(|map| map.peak.is_none()) {
            let plain = if told.frames == 1 { shot("f0", "", "as it is") } else { String::new() };
            let words = match (&rule.breach, rule.seen().next()) {
                (Some(_), None) => {
                    "Nothing in the picture speaks for the violation by being there: what breaks the rule is missing."
                }
                _ if rule.maps.is_empty() => "",
                _ => "No part of the picture that was covered takes away what breaks the rule.",
            };
            let words = if words.is_empty() { String::new() } else { format!("<p class=\"faint\">{words}</p>\n") };
            return format!("<div class=\"shots one\">{plain}</div>\n{words}");
        }
        let is_flagged = told.standings.iter().any(|standing| standing.rule == rule.rule && standing.is_flagged());
        let lead = if is_flagged { "what breaks it" } else { "what comes nearest to breaking it" };
        let mut shots = if told.frames == 1 { shot("f0", "", "as it is") } else { String::new() };
        for map in rule.maps.iter().filter(|map| map.peak.is_some()) {
            let name = |concept: &str| format!("<span class=\"name\">{}</span>", escape(concept));
            let of = match &map.concept {
                Some(concept) => format!("evidence for {}", name(concept)),
                None => {
                    let seen: Vec<String> = rule.seen().map(name).collect();
                    format!("<b>{lead}</b>: {}", seen.join(" and "))
                }
            };
            let words = format!("{of}{}: up to {:+.1} logits", in_frame(map.frame), map.most);
            shots += &shot(&format!("f{}", map.frame), &heat(map), &words);
        }
        format!("<div class=\"shots\">{shots}</div>\n")
    }
}

fn shot(class: &str, inside: &str, words: &str) -> String {
    format!("<figure class=\"shot {class}\"><div role=\"img\">{inside}</div><figcaption>{words}</figcaption></figure>")
}

/// A map as warm cells, blurred into each other, with a ring where most is.
fn heat(map: &MapTold) -> String {
    let [rows, columns] = map.size;
    let mut cells = String::new();
    for (at, value) in map.cells.iter().enumerate().filter(|(_, value)| **value > FAINT) {
        let (column, row) = (at % columns, at / columns);
        let _ = write!(cells, "<rect x=\"{column}\" y=\"{row}\" width=\"1\" height=\"1\" opacity=\"{value:.2}\"/>");
    }
    let ring = map.peak.map_or_else(String::new, |[across, down]| {
        format!("<i style=\"left:{:.1}%;top:{:.1}%\"></i>", 100.0 * across, 100.0 * down)
    });
    format!(
        "<svg viewBox=\"0 0 {columns} {rows}\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><g fill=\"#ff2d16\" opacity=\".62\" \
         style=\"filter:blur(.4px)\">{cells}</g></svg>{ring}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::page::tests::{explanation, rule};

    #[test]
    fn what_is_missing_is_not_pointed_at() {
        let pictures = Pictures { frames: vec![(0, vec![1])], size: None };
        let told = explanation();
        let map = |peak| MapTold { concept: None, frame: 0, size: [1, 1], cells: vec![1.0], most: 0.5, peak };
        let page = |rule: &RuleTold| pictures.maps(&told, rule);
        let missing = rule("r", &[("a", false), ("b", false)]);
        let words = page(&missing);
        assert!(words.contains("what breaks the rule is missing") && !words.contains("<svg"), "{words}");
        let mut seen = rule("r", &[("a", true), ("b", false)]);
        assert!(!page(&seen).contains("<p"), "maps that nobody asked for");
        seen.maps = vec![map(None)];
        let words = page(&seen);
        assert!(words.contains("No part of the picture that was covered") && !words.contains("missing"), "{words}");
        seen.maps = vec![map(Some([0.5, 0.5]))];
        let words = page(&seen);
        assert!(words.contains("<b>what comes nearest to breaking it</b>: <span class=\"name\">a</span>"), "{words}");
        assert!(words.contains(": up to +0.5 logits"), "{words}");
    }
}

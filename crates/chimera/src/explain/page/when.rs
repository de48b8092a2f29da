//! When a rule is seen to be broken: its score by what was seen so far, and what each frame adds.

use std::fmt::Write;

use crate::explain::told::{RuleTold, Standing};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;
/// Room for the words of the axes.
const LEFT: f64 = 40.0;
const BOTTOM: f64 = 24.0;

/// Frames of which a score can be told.
fn told(scores: &[Option<f64>]) -> impl Iterator<Item = (usize, f64)> {
    scores.iter().enumerate().filter_map(|(frame, score)| Some((frame, (*score)?)))
}

/// The chart of a video's rule; nothing for a picture.
pub(super) fn chart(rule: &RuleTold, standing: Option<&Standing>) -> String {
    let Some(when) = &rule.when else { return String::new() };
    let count = when.so_far.len();
    let x = |frame: usize| LEFT + (WIDTH - LEFT - 12.0) * (frame as f64 + 0.5) / count as f64;
    let y = |score: f64| 8.0 + (HEIGHT - 8.0 - BOTTOM) * (1.0 - score.clamp(0.0, 1.0));
    let mut svg = String::new();
    for tick in [0.0, 0.5, 1.0] {
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
            LEFT - 6.0,
            y(tick) + 4.0,
            y = y(tick)
        );
    }
    let now = standing.and_then(|standing| standing.score).unwrap_or_default();
    let wide = ((WIDTH - LEFT) / count as f64 * 0.5).min(18.0);
    for (frame, without) in told(&when.without) {
        // Downwards from the score as it is: how much of it goes with the frame.
        let (top, bottom) = (y(now), y(now.min(without)));
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"var(--other)\"><title>frame {}: without it {without:.3}</title></rect>",
            x(frame) - wide / 2.0,
            (bottom - top).max(0.0),
            frame + 1
        );
    }
    let limit = standing.and_then(|standing| standing.threshold);
    if let Some(limit) = limit {
        let _ = write!(
            svg,
            "<line class=\"chance\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
            y = y(limit)
        );
    }
    let color = if standing.is_some_and(Standing::is_flagged) { "var(--violating)" } else { "var(--main)" };
    let points: Vec<String> =
        told(&when.so_far).map(|(frame, score)| format!("{:.1},{:.1}", x(frame), y(score))).collect();
    let _ =
        write!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>", points.join(" "));
    for (frame, score) in told(&when.so_far) {
        let _ = write!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"><title>up to frame {}: {score:.3}</title></circle>",
            x(frame),
            y(score),
            frame + 1
        );
    }
    let step = count.div_ceil(16);
    for frame in (0..count).step_by(step) {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(frame),
            HEIGHT - 6.0,
            frame + 1
        );
    }
    let dashes = if limit.is_some() { "<span>- - - threshold of the rule</span>" } else { "" };
    format!(
        "<h3>When</h3><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"score by frame\">{svg}</svg>\n<div \
         class=\"key\"><span><i style=\"background:{color}\"></i>score, had the video stopped there</span><span><i \
         style=\"background:var(--other)\"></i>what goes without that frame</span>{dashes}</div>\n"
    )
}

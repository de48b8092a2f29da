//! Drawings in SVG of our own. Colours are variables of the page's style, so that they follow its light or dark look.

use std::fmt::Write;

use chimera_data::metric::bootstrap::Interval;
use chimera_data::metric::reliability::Reliability;

use super::html::escape;

/// A coordinate with one decimal.
fn at(value: f64) -> String {
    format!("{}", (value * 10.0).round() / 10.0 + 0.0)
}

/// Opens a drawing of so many units; it shrinks with its place and says what it is.
fn open(width: f64, height: f64, about: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\">",
        escape(about),
        at(width),
        at(height),
        at(width),
        at(height)
    )
}

/// The least that an axis of AUROC shows: chance, or less where something is below it.
pub(super) fn least_of(values: impl IntoIterator<Item = f64>) -> f64 {
    let least = values.into_iter().fold(0.5, f64::min);
    (least * 10.0).floor() / 10.0
}

/// Marks on one line of a table: intervals with a dot, and ticks.
pub(super) struct Marks<'a> {
    /// The least of the axis; the most is 1.
    pub(super) least: f64,
    /// The interval and its middle.
    pub(super) main: (Option<f64>, Option<Interval>),
    /// Another value, as a tick.
    pub(super) reference: Option<f64>,
    /// In words.
    pub(super) about: &'a str,
}

const LINE_WIDTH: f64 = 190.0;

/// An interval as a line of a table, on an axis from `least` to 1.
pub(super) fn interval_line(marks: &Marks<'_>) -> String {
    let Marks { least, main, reference, about } = marks;
    let x = |value: f64| 6.0 + (LINE_WIDTH - 12.0) * ((value - least) / (1.0 - least)).clamp(0.0, 1.0);
    let mut svg = open(LINE_WIDTH, 20.0, about);
    let _ = write!(svg, "<line class=\"axis\" x1=\"6\" x2=\"{}\" y1=\"10\" y2=\"10\"/>", at(LINE_WIDTH - 6.0));
    for tick in [*least, 0.5, 1.0].into_iter().filter(|tick| *tick >= *least) {
        let x = at(x(tick));
        let class = if tick == 0.5 { "chance" } else { "axis" };
        let _ = write!(svg, "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"3\" y2=\"17\"/>");
    }
    if let Some(reference) = reference {
        let x = at(x(*reference));
        let _ = write!(
            svg,
            "<line x1=\"{x}\" x2=\"{x}\" y1=\"3\" y2=\"17\" stroke=\"var(--reference)\" stroke-width=\"2.5\"/>"
        );
    }
    if let (_, Some(interval)) = main {
        let (low, high) = (at(x(interval.low)), at(x(interval.high)));
        let _ = write!(
            svg,
            "<line x1=\"{low}\" x2=\"{high}\" y1=\"10\" y2=\"10\" stroke=\"var(--main)\" stroke-width=\"3\" stroke-linecap=\"round\"/>"
        );
    }
    if let (Some(value), _) = main {
        let _ = write!(svg, "<circle cx=\"{}\" cy=\"10\" r=\"4.2\" fill=\"var(--main)\"/>", at(x(*value)));
    }
    svg + "</svg>"
}

/// A bar of a share, for a table.
pub(super) fn share_bar(value: Option<f64>, least: f64, about: &str) -> String {
    let mut svg = open(110.0, 14.0, about);
    svg.push_str("<rect x=\"0\" y=\"3\" width=\"110\" height=\"8\" rx=\"4\" fill=\"var(--soft)\"/>");
    if let Some(value) = value {
        let width = at(110.0 * ((value - least) / (1.0 - least)).clamp(0.0, 1.0));
        let _ = write!(svg, "<rect x=\"0\" y=\"3\" width=\"{width}\" height=\"8\" rx=\"4\" fill=\"var(--main)\"/>");
    }
    svg + "</svg>"
}

/// A bar with an interval.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) value: Option<f64>,
    pub(super) interval: Option<Interval>,
    /// A colour of the style.
    pub(super) colour: &'static str,
}

/// Bars below each other, each with its name and its number, on an axis of AUROC.
pub(super) fn bars(bars: &[Bar], least: f64, about: &str) -> String {
    let longest = bars.iter().map(|bar| bar.name.chars().count()).max().unwrap_or(0) as f64;
    let (left, width, step) = ((longest * 6.6 + 10.0).max(60.0), 430.0, 21.0);
    let right = width - 46.0;
    let height = bars.len() as f64 * step + 24.0;
    let x = |value: f64| left + (right - left) * ((value - least) / (1.0 - least)).clamp(0.0, 1.0);
    let mut svg = open(width, height, about);
    let ticks = ((1.0 - least) * 10.0).round() as usize;
    for tick in 0..=ticks {
        let value = least + tick as f64 / 10.0;
        let (x, bottom) = (at(x(value)), height - 20.0);
        let class = if (value - 0.5).abs() < 1e-9 { "chance" } else { "axis" };
        let _ = write!(svg, "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{}\"/>", at(bottom));
        let _ = write!(
            svg,
            "<text class=\"faint\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{value:.1}</text>",
            at(height - 6.0)
        );
    }
    for (number, bar) in bars.iter().enumerate() {
        let top = number as f64 * step + 2.0;
        let (middle, baseline) = (at(top + 8.5), at(top + 12.5));
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{baseline}\" text-anchor=\"end\">{}</text>",
            at(left - 7.0),
            escape(&bar.name)
        );
        let shown = bar.value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
        let _ = write!(svg, "<text x=\"{}\" y=\"{baseline}\">{shown}</text>", at(right + 10.0));
        let Some(value) = bar.value else { continue };
        let (from, to) = (x(least), x(value));
        let _ = write!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" rx=\"2.5\" fill=\"var(--{})\"/>",
            at(from),
            at(top + 1.5),
            at((to - from).max(0.5)),
            bar.colour
        );
        if let Some(Interval { low, high }) = bar.interval {
            let (low, high) = (at(x(low)), at(x(high)));
            let _ = write!(
                svg,
                "<path d=\"M{low} {middle}H{high}M{low} {a}V{b}M{high} {a}V{b}\" stroke=\"var(--ink)\" stroke-width=\"1.3\" fill=\"none\"/>",
                a = at(top + 5.0),
                b = at(top + 12.0)
            );
        }
    }
    svg + "</svg>"
}

/// Scores of normal samples above the line, of violating ones below it, each by its own share.
pub(super) fn histogram(normal: &[u32], violating: &[u32], about: &str) -> String {
    let (width, half) = (250.0, 46.0);
    let mut svg = open(width, 2.0 * half + 18.0, about);
    let step = (width - 12.0) / normal.len() as f64;
    for (counts, colour, up) in [(normal, "normal", true), (violating, "violating", false)] {
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        for (bar, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            // Square roots: a few samples at the wrong end must be seen beside thousands at the right one.
            let tall = ((half - 3.0) * (f64::from(count) / f64::from(most)).sqrt()).max(1.0);
            let top = if up { half - tall } else { half };
            let _ = write!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"var(--{colour})\"/>",
                at(6.0 + step * bar as f64),
                at(top),
                at(step - 1.0),
                at(tall)
            );
        }
    }
    let _ = write!(svg, "<line class=\"axis\" x1=\"6\" x2=\"{}\" y1=\"{half}\" y2=\"{half}\"/>", at(width - 6.0));
    for (x, anchor, text) in [(6.0, "start", "0"), (width / 2.0, "middle", "score"), (width - 6.0, "end", "1")] {
        let y = 2.0 * half + 13.0;
        let _ =
            write!(svg, "<text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text>", at(x), at(y));
    }
    svg + "</svg>"
}

/// A curve in a square.
pub(super) struct Curve<'a> {
    pub(super) points: &'a [(f64, f64)],
    pub(super) colour: &'static str,
    /// Whether it is drawn with dashes.
    pub(super) dashed: bool,
    /// Whether its points are marked.
    pub(super) dots: bool,
}

/// Curves over the unit square, with the diagonal.
pub(super) fn square(curves: &[Curve<'_>], (across, up): (&str, &str), about: &str) -> String {
    let (left, side) = (40.0, 200.0);
    let (x, y) = (|value: f64| left + side * value, |value: f64| 6.0 + side * (1.0 - value));
    let mut svg = open(left + side + 12.0, side + 40.0, about);
    for tick in [0.0, 0.5, 1.0] {
        let (h, v) = (at(x(tick)), at(y(tick)));
        let _ = write!(
            svg,
            "<path class=\"axis\" d=\"M{h} {}V{}M{} {v}H{}\"/>",
            at(y(0.0)),
            at(y(1.0)),
            at(x(0.0)),
            at(x(1.0))
        );
        let _ = write!(
            svg,
            "<text class=\"faint\" x=\"{h}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
            at(side + 20.0)
        );
        let _ = write!(
            svg,
            "<text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{tick}</text>",
            at(left - 5.0),
            at(y(tick) + 4.0)
        );
    }
    let _ = write!(
        svg,
        "<line class=\"chance\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
        at(x(0.0)),
        at(y(0.0)),
        at(x(1.0)),
        at(y(1.0))
    );
    for curve in curves {
        let points: Vec<String> = curve.points.iter().map(|&(a, b)| format!("{},{}", at(x(a)), at(y(b)))).collect();
        let dashes = if curve.dashed { " stroke-dasharray=\"5 3\"" } else { "" };
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"var(--{})\" stroke-width=\"1.8\"{dashes}/>",
            points.join(" "),
            curve.colour
        );
        for &(a, b) in curve.points.iter().filter(|_| curve.dots) {
            let _ = write!(
                svg,
                "<circle cx=\"{}\" cy=\"{}\" r=\"2.6\" fill=\"var(--{})\"/>",
                at(x(a)),
                at(y(b)),
                curve.colour
            );
        }
    }
    let middle = at(x(0.5));
    let _ = write!(
        svg,
        "<text class=\"faint\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        at(side + 34.0),
        escape(across)
    );
    let half = at(y(0.5));
    let _ = write!(
        svg,
        "<text class=\"faint\" x=\"9\" y=\"{half}\" text-anchor=\"middle\" transform=\"rotate(-90 9 {half})\">{}</text>",
        escape(up)
    );
    svg + "</svg>"
}

/// The points of a reliability plot: mean probability and frequency of bins that are not empty.
pub(super) fn reliability_points(reliability: &Reliability) -> Vec<(f64, f64)> {
    reliability.bins.iter().filter_map(|bin| Some((bin.mean_probability?, bin.frequency?))).collect()
}

/// A drawing as a file of its own: with the colours that a page would bring.
pub(super) fn standalone(svg: &str) -> String {
    let style = "<style>svg{--paper:#fff;--ink:#1c2430;--faint:#657081;--line:#dfe3e8;--soft:#f1f3f5;--main:#1f5fae;--reference:#8a93a1;\
        --other:#a9b7c9;--ceiling:#b08a3c;--normal:#1f8a54;--violating:#cc3344;background:#fff;font-family:sans-serif}\
        text{fill:#1c2430;font-size:11px}.faint{fill:#657081}.axis{stroke:#dfe3e8}.chance{stroke:#657081;stroke-dasharray:3 3}</style>";
    match svg.split_once('>') {
        Some((open, rest)) => format!("{open}>{style}{rest}\n"),
        None => svg.to_owned(),
    }
}

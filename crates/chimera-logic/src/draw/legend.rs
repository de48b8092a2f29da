//! The explanation below a picture: only the signs that occur in it, in lines that fit its width.

use super::layout::{BUBBLE, Rect};
use super::scene::{Kind, Scene, operator_text};
use super::shape::{self, Svg, number};
use super::{Options, color, label};
use crate::syntax::Op;

/// One letter of the legend's text, on average.
const LETTER: f64 = 5.5;
const LINE: f64 = 26.0;
const BAR: f64 = 132.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    Kind(Kind),
    Negation,
    OperandOrder,
    Scale,
}

struct Entry {
    sign: Sign,
    text: String,
    /// Upper left corner within the legend.
    x: f64,
    y: f64,
}

/// The signs of a picture with their places.
pub(super) struct Legend {
    entries: Vec<Entry>,
    width: f64,
    tinted: bool,
}

impl Legend {
    /// Lays the legend out in lines of at most `room`, where a single entry allows it.
    pub(super) fn new(scene: &Scene, options: &Options<'_>, room: f64) -> Self {
        let mut legend = Self { entries: Vec::new(), width: 0.0, tinted: !scene.has_values() };
        if !options.legend || scene.items.is_empty() {
            return legend;
        }
        let (mut x, mut y) = (0.0, 0.0);
        for (sign, text) in signs(scene, options) {
            let width = sign.width() + 8.0 + text.chars().count() as f64 * LETTER;
            if x > 0.0 && x + width > room {
                (x, y) = (0.0, y + LINE);
            }
            legend.width = legend.width.max(x + width);
            legend.entries.push(Entry { sign, text, x, y });
            x += width + 14.0;
        }
        legend
    }

    pub(super) fn width(&self) -> f64 {
        self.width
    }

    pub(super) fn height(&self) -> f64 {
        self.entries.last().map_or(0.0, |entry| entry.y + LINE - 6.0)
    }

    pub(super) fn draw(&self, svg: &mut Svg, left: f64, top: f64) {
        if self.entries.is_empty() {
            return;
        }
        svg.line(format_args!(r#"<g class="legend" transform="translate({} {})">"#, number(left), number(top)));
        for Entry { sign, text, x, y } in &self.entries {
            sign.draw(svg, *x, *y, self.tinted);
            svg.line(format_args!(
                r#"<text x="{}" y="{}" font-size="11" fill="{}">{}</text>"#,
                number(x + sign.width() + 7.0),
                number(y + 14.0),
                color::FAINT_INK,
                label::escape_xml(text)
            ));
        }
        svg.text.push_str("</g>\n");
    }
}

/// What the picture holds, with words for it.
fn signs(scene: &Scene, options: &Options<'_>) -> Vec<(Sign, String)> {
    let has = |kind: Kind| scene.items.iter().any(|item| item.kind == kind);
    let mut signs = vec![(Sign::Kind(Kind::Rule), "rule".to_owned())];
    for op in [Op::And, Op::Or, Op::Implies, Op::Iff] {
        if has(Kind::Gate(op)) {
            signs.push((Sign::Kind(Kind::Gate(op)), meaning(op).to_owned()));
        }
    }
    if has(Kind::Concept) {
        signs.push((Sign::Kind(Kind::Concept), "concept".to_owned()));
    }
    if scene.wires.iter().any(|wire| wire.negated) {
        signs.push((Sign::Negation, "not".to_owned()));
    }
    if [Op::And, Op::Or, Op::Iff].into_iter().any(|op| has(Kind::Gate(op))) {
        signs.push((Sign::OperandOrder, "operand order".to_owned()));
    }
    if scene.has_values() {
        signs.push((Sign::Scale, label::printable(options.value_name)));
    }
    signs
}

/// What an operator asks of its operands.
fn meaning(op: Op) -> &'static str {
    match op {
        Op::And => "all hold",
        Op::Or => "any holds",
        Op::Implies => "if … then …",
        Op::Iff => "all equal",
    }
}

impl Sign {
    fn width(self) -> f64 {
        match self {
            Self::Kind(Kind::Gate(_)) => 38.0,
            Self::Kind(_) | Self::OperandOrder => 24.0,
            Self::Negation => 36.0,
            Self::Scale => BAR + 26.0,
        }
    }

    fn draw(self, svg: &mut Svg, x: f64, y: f64, tinted: bool) {
        match self {
            Self::Kind(kind) => {
                let (y, height) = if matches!(kind, Kind::Gate(_)) { (y, 20.0) } else { (y + 3.0, 14.0) };
                let area = Rect { x, y, width: self.width(), height };
                shape::draw_shape(svg, kind, &area, true, shape::resting_fill(kind, tinted));
                if let Kind::Gate(op) = kind {
                    let (x, y) = (x + self.width() / 2.0, y + 14.0);
                    let style = format!(r#" font-family="{}" font-size="11" font-weight="700""#, shape::NAME_FONT);
                    shape::write_text(svg, operator_text(op), x, y, "middle", color::INK, &style);
                }
            }
            Self::Negation => {
                svg.line(format_args!(
                    r#"<path d="M{} {y}h{}" stroke="{}" stroke-width="1.3" stroke-dasharray="5 3"/>"#,
                    number(x + 2.0 * BUBBLE),
                    number(self.width() - 2.0 * BUBBLE),
                    color::NEGATED,
                    y = number(y + 10.0)
                ));
                shape::draw_bubble(svg, x + BUBBLE, y + 10.0);
            }
            Self::OperandOrder => svg.line(format_args!(
                r#"<text x="{}" y="{}" font-size="9" fill="{}">1 2 3</text>"#,
                number(x),
                number(y + 13.5),
                color::FAINT_INK
            )),
            Self::Scale => draw_scale(svg, x, y),
        }
    }
}

fn draw_scale(svg: &mut Svg, x: f64, y: f64) {
    let steps = 22;
    let step = BAR / f64::from(steps);
    svg.line(format_args!(
        r#"<text x="{}" y="{}" font-size="11" fill="{}">0</text>"#,
        number(x),
        number(y + 14.0),
        color::FAINT_INK
    ));
    for index in 0..steps {
        let fill = color::of_value((f64::from(index) + 0.5) / f64::from(steps));
        svg.line(format_args!(
            r#"<rect x="{}" y="{}" width="{}" height="12" fill="{fill}"/>"#,
            number(x + 11.0 + f64::from(index) * step),
            number(y + 4.0),
            // A hair wider than its step, lest the paper shines through the seams.
            number(step + 0.4)
        ));
    }
    svg.line(format_args!(
        r#"<text x="{}" y="{}" font-size="11" fill="{}">1</text>"#,
        number(x + BAR + 16.0),
        number(y + 14.0),
        color::FAINT_INK
    ));
}

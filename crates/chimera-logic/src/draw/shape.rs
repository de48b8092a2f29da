//! The shapes of a picture: flags for rules, pills for operators, boxes for concepts, curves for operands, and the open
//! circle of a negation.

use std::fmt::Write;

use super::Direction;
use super::color::{self, Color};
use super::label::escape_xml;
use super::layout::{BUBBLE, FLAG_TIP, Layout, Rect, Route};
use super::scene::{Item, Kind, Scene};

/// The font of names: their width is known without it.
pub(super) const NAME_FONT: &str = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// SVG text in the making.
#[derive(Default)]
pub(super) struct Svg {
    pub(super) text: String,
}

impl Svg {
    /// Writes one line.
    pub(super) fn line(&mut self, content: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{content}");
    }
}

/// A coordinate with one decimal at most.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // Adding zero turns -0 into 0.
    format!("{}", rounded + 0.0)
}

/// A wire: straight through the bands, curved in the gaps.
pub(super) fn draw_wire(svg: &mut Svg, scene: &Scene, layout: &Layout, route: &Route) {
    let wire = scene.wires[route.wire];
    let mut path = String::new();
    for (index, turn) in route.turns.iter().enumerate() {
        let ((x0, y0), (x1, y1)) = (turn.from, turn.to);
        let verb = if index == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{verb}{} {}", number(x0), number(y0));
        let ((cx0, cy0), (cx1, cy1)) = match layout.direction {
            Direction::Right => (((x0 + x1) / 2.0, y0), ((x0 + x1) / 2.0, y1)),
            _ => ((x0, (y0 + y1) / 2.0), (x1, (y0 + y1) / 2.0)),
        };
        let across = if layout.direction == Direction::Right { y1 - y0 } else { x1 - x0 };
        if across.abs() < 0.05 {
            let _ = write!(path, "L{} {}", number(x1), number(y1));
        } else {
            let controls = [cx0, cy0, cx1, cy1, x1, y1].map(number).join(" ");
            let _ = write!(path, "C{controls}");
        }
    }
    let (class, style) = match wire.negated {
        true => ("edge negated", format!(r#" stroke="{}" stroke-dasharray="5 3""#, color::NEGATED)),
        false => ("edge", String::new()),
    };
    svg.line(format_args!(r#"<path class="{class}" d="{path}"{style}/>"#));
}

/// What stands at a wire's upper end: the operand's mark inside the box, the circle of a negation outside.
pub(super) fn draw_port(svg: &mut Svg, scene: &Scene, layout: &Layout, route: &Route) {
    let wire = scene.wires[route.wire];
    let Some(&(x, y)) = route.turns.first().map(|turn| &turn.from) else { return };
    let right = layout.direction == Direction::Right;
    if let Some(text) = scene.port_text(&wire) {
        let item = &scene.items[wire.from];
        let ink = item.value.map_or(color::FAINT_INK, |value| color::text_on(color::of_value(value)));
        let (x, y, anchor) = if right { (x - 5.0, y + 3.0, "end") } else { (x, y - 4.5, "middle") };
        svg.line(format_args!(
            r#"<text x="{}" y="{}" font-size="9" text-anchor="{anchor}" fill="{ink}">{text}</text>"#,
            number(x),
            number(y)
        ));
    }
    if wire.negated {
        let (x, y) = if right { (x + BUBBLE, y) } else { (x, y + BUBBLE) };
        draw_bubble(svg, x, y);
    }
}

/// The open circle of a negation.
pub(super) fn draw_bubble(svg: &mut Svg, x: f64, y: f64) {
    svg.line(format_args!(
        r#"<circle class="not" cx="{}" cy="{}" r="{BUBBLE}" fill="{}" stroke="{}" stroke-width="1.6"/>"#,
        number(x),
        number(y),
        color::PAPER,
        color::NEGATED
    ));
}

/// An item's shape with its words. `tinted` says whether kinds have colours of their own: they have when no value does.
pub(super) fn draw_item(svg: &mut Svg, item: &Item, area: &Rect, direction: Direction, tinted: bool) {
    let right = direction == Direction::Right;
    let fill = item.value.map_or_else(|| resting_fill(item.kind, tinted), color::of_value);
    let ink = color::text_on(fill);
    let (class, data) = match item.kind {
        Kind::Rule => ("rule", String::new()),
        Kind::Gate(_) => ("gate", format!(r#" data-node="{}""#, item.node.index())),
        Kind::Concept => ("concept", format!(r#" data-node="{}""#, item.node.index())),
    };
    svg.line(format_args!(r#"<g class="{class}"{data}><title>{}</title>"#, escape_xml(&item.tooltip)));
    draw_shape(svg, item.kind, area, right, fill);
    let (middle_x, middle_y) = area.middle();
    let value = item.value.map(|value| format!("{value:.2}"));
    match item.kind {
        Kind::Gate(_) => {
            // Right of the name or below it are the marks of the operands.
            let x = if right { area.x + 19.0 } else { middle_x };
            let y = if right { middle_y + 4.0 } else { area.y + 15.0 };
            let lift = if right && value.is_some() { 6.0 } else { 0.0 };
            write_text(svg, &item.label, x, y - lift, "middle", ink, r#" font-size="11.5" font-weight="700""#);
            if let Some(value) = value {
                let y = if right { y + 7.0 } else { y + 13.0 };
                write_text(svg, &value, x, y, "middle", ink, r#" font-size="10""#);
            }
        }
        Kind::Rule | Kind::Concept => {
            let body_height = if item.kind == Kind::Rule && !right { area.height - FLAG_TIP } else { area.height };
            let body_width = if item.kind == Kind::Rule && right { area.width - FLAG_TIP } else { area.width };
            let y = area.y + body_height / 2.0 + 4.0;
            write_text(svg, &item.label, area.x + 9.0, y, "start", ink, "");
            if let Some(value) = value {
                write_text(
                    svg,
                    &value,
                    area.x + body_width - 7.0,
                    y,
                    "end",
                    ink,
                    r#" font-size="10.5" font-weight="700""#,
                );
            }
        }
    }
    svg.text.push_str("</g>\n");
}

/// The fill of a node without a value. Beside coloured values it is paper, which is no value.
pub(super) fn resting_fill(kind: Kind, tinted: bool) -> Color {
    match kind {
        _ if !tinted => color::PAPER,
        Kind::Rule => color::RULE,
        Kind::Gate(op) => color::of_operator(op),
        Kind::Concept => color::CONCEPT,
    }
}

/// A box, a pill, or a flag that points to its root.
pub(super) fn draw_shape(svg: &mut Svg, kind: Kind, area: &Rect, right: bool, fill: Color) {
    let style = format!(r#"fill="{fill}" stroke="{}" stroke-width="1.2""#, color::OUTLINE);
    let Rect { x, y, width, height } = *area;
    if kind == Kind::Rule {
        let (end_x, end_y) = (x + width, y + height);
        let corners = if right {
            let (body, middle) = (end_x - FLAG_TIP, y + height / 2.0);
            [(x, y), (body, y), (end_x, middle), (body, end_y), (x, end_y)].to_vec()
        } else {
            let (body, middle) = (end_y - FLAG_TIP, x + width / 2.0);
            [(x, y), (end_x, y), (end_x, body), (middle + 8.0, body), (middle, end_y), (middle - 8.0, body), (x, body)]
                .to_vec()
        };
        let points: Vec<_> = corners.into_iter().map(|(x, y)| format!("{},{}", number(x), number(y))).collect();
        let points = points.join(" ");
        svg.line(format_args!(r#"<polygon points="{points}" {style} stroke-linejoin="round"/>"#));
        return;
    }
    let radius = if kind == Kind::Concept { 4 } else { 12 };
    let (x, y, width, height) = (number(x), number(y), number(width), number(height));
    svg.line(format_args!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" {style}/>"#));
}

/// Text in a box; the font is the one around it.
pub(super) fn write_text(svg: &mut Svg, text: &str, x: f64, y: f64, anchor: &str, ink: Color, style: &str) {
    let (x, y, text) = (number(x), number(y), escape_xml(text));
    svg.line(format_args!(r#"<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{ink}"{style}>{text}</text>"#));
}

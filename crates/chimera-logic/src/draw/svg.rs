//! The picture as SVG text: self-contained, no style sheet and no ids, so that many of them can stand in one HTML page.
//! Groups carry `class` and `data-node` for those who want to bring it to life.

use super::label::{self, escape_xml};
use super::layout::{Layout, Rect};
use super::legend::Legend;
use super::scene::Scene;
use super::shape::{NAME_FONT, Svg, draw_item, draw_port, draw_wire, number};
use super::{Direction, Figure, Options, color};

const TEXT_FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif";

const MARGIN: f64 = 20.0;
/// Left of the rows, for their names.
const ROW_NAMES: f64 = 62.0;
/// Above the columns, for their names.
const COLUMN_NAMES: f64 = 28.0;
/// The narrowest line of a legend.
const LEGEND_WIDTH: f64 = 420.0;
/// One column of the title, generously.
const TITLE_COLUMN: f64 = 8.6;

/// Draws the figure as SVG. With no rule at all the picture says so.
#[must_use]
pub fn to_svg(figure: &Figure<'_>, options: &Options<'_>) -> String {
    let scene = Scene::new(figure, options);
    let layout = Layout::new(&scene, options.direction);
    let page = Page::new(&scene, &layout, options);
    let mut svg = Svg::default();
    page.open(&mut svg);
    page.draw_bands(&mut svg);
    let (left, top) = page.origin;
    svg.line(format_args!(r#"<g transform="translate({} {})">"#, number(left), number(top)));
    svg.line(format_args!(r#"<g fill="none" stroke="{}" stroke-width="1.3">"#, color::EDGE));
    // Negated wires last: their colour must not hide below a plain one.
    for negated in [false, true] {
        let routes = layout.routes.iter().filter(|route| scene.wires[route.wire].negated == negated);
        routes.for_each(|route| draw_wire(&mut svg, &scene, &layout, route));
    }
    svg.text.push_str("</g>\n");
    // Blanks count in names.
    svg.line(format_args!(r#"<g font-family="{NAME_FONT}" xml:space="preserve">"#));
    let tinted = !scene.has_values();
    for (item, area) in scene.items.iter().zip(&layout.boxes) {
        draw_item(&mut svg, item, area, layout.direction, tinted);
    }
    svg.text.push_str("</g>\n");
    layout.routes.iter().for_each(|route| draw_port(&mut svg, &scene, &layout, route));
    svg.text.push_str("</g>\n");
    page.legend.draw(&mut svg, MARGIN, page.legend_top);
    svg.text.push_str("</svg>\n");
    svg.text
}

/// Where everything goes on the page.
struct Page<'a> {
    scene: &'a Scene,
    layout: &'a Layout,
    title: Option<String>,
    /// Upper left corner of the drawing itself.
    origin: (f64, f64),
    legend: Legend,
    legend_top: f64,
    width: f64,
    height: f64,
}

impl<'a> Page<'a> {
    fn new(scene: &'a Scene, layout: &'a Layout, options: &Options<'_>) -> Self {
        let title = options.title.map(label::printable);
        let top = MARGIN + if title.is_some() { 32.0 } else { 0.0 };
        let (names_left, names_above) = match layout.direction {
            Direction::Right => (0.0, COLUMN_NAMES),
            Direction::Down | Direction::Auto => (ROW_NAMES, 6.0),
        };
        let drawing = names_left + layout.width;
        let title_width = title.as_ref().map_or(0.0, |title| label::columns(title) as f64 * TITLE_COLUMN);
        let wider = f64::max(drawing, title_width);
        let legend = Legend::new(scene, options, f64::max(wider, LEGEND_WIDTH));
        let inner = f64::max(wider, legend.width()).max(80.0);
        let origin = (MARGIN + names_left + (inner - drawing) / 2.0, top + names_above);
        let bottom = origin.1 + layout.height.max(20.0);
        let legend_top = bottom + 26.0;
        let end = if legend.height() > 0.0 { legend_top + legend.height() } else { bottom };
        Self { scene, layout, title, origin, legend, legend_top, width: inner + 2.0 * MARGIN, height: end + MARGIN }
    }

    fn open(&self, svg: &mut Svg) {
        let (width, height) = (number(self.width.ceil()), number(self.height.ceil()));
        let summary = self.scene.summary();
        let name = self.title.as_ref().map_or_else(|| summary.clone(), |title| format!("{title}: {summary}"));
        svg.line(format_args!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{}""#,
            escape_xml(&name)
        ));
        svg.line(format_args!(r#"width="{width}" height="{height}" viewBox="0 0 {width} {height}""#));
        svg.line(format_args!(r#"style="max-width:100%;height:auto" font-family="{TEXT_FONT}""#));
        svg.line(format_args!(r#"font-size="12" fill="{}">"#, color::INK));
        svg.line(format_args!("<title>{}</title>", escape_xml(&name)));
        svg.line(format_args!(r#"<rect width="{width}" height="{height}" fill="{}"/>"#, color::PAPER));
        if let Some(title) = &self.title {
            let (x, y) = (number(MARGIN), number(MARGIN + 14.0));
            let title = escape_xml(title);
            svg.line(format_args!(r#"<text x="{x}" y="{y}" font-size="16" font-weight="600">{title}</text>"#));
        }
        if self.scene.items.is_empty() {
            let (x, y) = (number(MARGIN), number(self.origin.1 + 14.0));
            svg.line(format_args!(r#"<text x="{x}" y="{y}" fill="{}">no rules</text>"#, color::FAINT_INK));
        }
    }

    /// The layers as pale bands with their names.
    fn draw_bands(&self, svg: &mut Svg) {
        let (left, top) = self.origin;
        let layers = self.layout.bands.len();
        for (layer, &(from, to)) in self.layout.bands.iter().enumerate() {
            let name = match layer {
                0 => "concepts".to_owned(),
                _ if layer + 1 == layers => "rules".to_owned(),
                _ => format!("level {layer}"),
            };
            let (area, x, y, anchor) = match self.layout.direction {
                Direction::Right => {
                    let area = Rect {
                        x: left + from - 6.0,
                        y: top - COLUMN_NAMES + 2.0,
                        width: to - from + 12.0,
                        height: self.layout.height + COLUMN_NAMES + 6.0,
                    };
                    (area, left + (from + to) / 2.0, top - 13.0, "middle")
                }
                _ => {
                    let area = Rect {
                        x: MARGIN - 8.0,
                        y: top + from - 7.0,
                        width: self.width - 2.0 * MARGIN + 16.0,
                        height: to - from + 14.0,
                    };
                    (area, MARGIN, top + (from + to) / 2.0 + 3.5, "start")
                }
            };
            svg.line(format_args!(
                r#"<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill="{}"/>"#,
                number(area.x),
                number(area.y),
                number(area.width),
                number(area.height),
                color::BAND
            ));
            svg.line(format_args!(
                r#"<text x="{}" y="{}" font-size="10.5" text-anchor="{anchor}" fill="{}">{name}</text>"#,
                number(x),
                number(y),
                color::FAINT_INK
            ));
        }
    }
}

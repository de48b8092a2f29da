//! Colours: a diverging scale for values that people with any colour vision can read (orange = does not hold, blue =
//! holds, pale between), and text that stands out on it.

use std::fmt;

use crate::syntax::Op;

/// A colour on the screen; displays as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Color(u8, u8, u8);

pub(super) const PAPER: Color = Color(0xff, 0xff, 0xff);
const BLACK: Color = Color(0, 0, 0);
pub(super) const BAND: Color = Color(0xf6, 0xf8, 0xfa);
pub(super) const INK: Color = Color(0x1f, 0x29, 0x37);
pub(super) const FAINT_INK: Color = Color(0x6b, 0x76, 0x85);
pub(super) const CONCEPT: Color = Color(0xee, 0xf2, 0xf6);
pub(super) const RULE: Color = Color(0x2b, 0x37, 0x4a);
pub(super) const OUTLINE: Color = Color(0x4b, 0x58, 0x6a);
pub(super) const EDGE: Color = Color(0x74, 0x80, 0x90);
/// Purple, which is far from both ends of the scale.
pub(super) const NEGATED: Color = Color(0xaa, 0x33, 0x77);

const SCALE: [Color; 5] = [
    Color(0xc4, 0x59, 0x0c),
    Color(0xf4, 0xb3, 0x7c),
    Color(0xf5, 0xf5, 0xf3),
    Color(0x97, 0xbf, 0xe2),
    Color(0x25, 0x66, 0xa8),
];

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// The pale tint of an operator without a value.
pub(super) fn of_operator(op: Op) -> Color {
    match op {
        Op::And => Color(0xd6, 0xe8, 0xf7),
        Op::Or => Color(0xfb, 0xf0, 0xc9),
        Op::Implies => Color(0xe6, 0xe1, 0xf5),
        Op::Iff => Color(0xd3, 0xee, 0xe3),
    }
}

/// The colour of a value in [0, 1].
pub(super) fn of_value(value: f64) -> Color {
    let at = value.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (at as usize).min(SCALE.len() - 2);
    let (from, to, share) = (SCALE[below], SCALE[below + 1], at - below as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
    Color(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// Black or white, whichever stands out more on `background`. A softer black would not do in the middle of the scale's
/// arms.
pub(super) fn text_on(background: Color) -> Color {
    if contrast(background, BLACK) >= contrast(background, PAPER) { BLACK } else { PAPER }
}

/// The contrast of two colours as the web's accessibility rules measure it: 1 (none) to 21.
fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

fn luminance(color: Color) -> f64 {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color.0) + 0.7152 * linear(color.1) + 0.0722 * linear(color.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_be_read_on_every_value() {
        for step in 0..=100 {
            let fill = of_value(f64::from(step) / 100.0);
            assert!(contrast(fill, text_on(fill)) >= 4.5, "{step} {fill}");
        }
        assert!(contrast(RULE, text_on(RULE)) >= 7.0);
        assert!(contrast(NEGATED, PAPER) >= 4.5 && contrast(FAINT_INK, BAND) >= 4.0);
    }

    #[test]
    fn the_scale_runs_from_end_to_end() {
        assert_eq!([of_value(-1.0), of_value(0.5), of_value(7.0)], [SCALE[0], SCALE[2], SCALE[4]]);
        // Darker towards both ends, so that the scale also survives a grey printer as "sure" against "unsure".
        for step in 0..50 {
            let (low, high) = (f64::from(step) / 100.0, f64::from(step + 1) / 100.0);
            assert!(luminance(of_value(low)) <= luminance(of_value(high)));
            assert!(luminance(of_value(1.0 - low)) <= luminance(of_value(1.0 - high)));
        }
    }
}

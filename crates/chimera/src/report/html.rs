//! Words and numbers on a page.

pub(crate) use chimera_logic::draw::escape_xml as escape;

use chimera_data::metric::bootstrap::Interval;

/// A share with three decimals; a dash where it is undefined.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// A difference with its sign.
pub(crate) fn signed(value: f64) -> String {
    // No `-0.000`.
    let rounded = (value * 1000.0).round() / 1000.0 + 0.0;
    format!("{rounded:+.3}").replace('-', "−")
}

/// An interval with its ends.
pub(crate) fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |Interval { low, high }| format!("{low:.3} – {high:.3}"))
}

/// An interval of differences.
pub(crate) fn signed_interval(interval: Option<Interval>) -> String {
    interval.map_or_else(String::new, |Interval { low, high }| format!("{} to {}", signed(low), signed(high)))
}

/// A probability of a test.
pub(crate) fn chance(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// A number with thousands separated.
pub(crate) fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 rule`, `2 rules`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

/// A table that scrolls by itself on a narrow screen. Cells are HTML and may bring their own attributes; a row has a class, or none.
pub(crate) fn table(head: &[&str], rows: &[(&str, Vec<String>)]) -> String {
    let mut text = String::from("<div class=\"scroll\"><table><thead><tr>");
    for cell in head {
        text.push_str(&if cell.starts_with("<th") { (*cell).to_owned() } else { format!("<th>{cell}</th>") });
    }
    text.push_str("</tr></thead><tbody>\n");
    for (class, cells) in rows {
        text.push_str(&if class.is_empty() { "<tr>".to_owned() } else { format!("<tr class=\"{class}\">") });
        for cell in cells {
            text.push_str(&if cell.starts_with("<td") { cell.clone() } else { format!("<td>{cell}</td>") });
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody></table></div>\n");
    text
}

/// The name of a rule, method or concept.
pub(crate) fn name(text: &str) -> String {
    format!("<span class=\"name\">{}</span>", escape(text))
}

/// Bytes in base 64 (RFC 4648), for data URIs.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_there = digit <= three.len();
            let place = (word >> (18 - 6 * digit)) as usize & 63;
            text.push(if is_there { char::from(DIGITS[place]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([number(None), number(Some(0.87654))], ["–", "0.877"]);
        assert_eq!([signed(0.0123), signed(-0.02), signed(-0.0001)], ["+0.012", "−0.020", "+0.000"]);
        assert_eq!([grouped(7_u64), grouped(1_234_567_u64), counted(1, "rule")], ["7", "1,234,567", "1 rule"]);
        assert_eq!([chance(Some(0.0001)), chance(Some(0.25)), chance(None)], ["< 0.001", "0.250", "–"]);
    }

    #[test]
    fn base64_of_the_rfc() {
        // RFC 4648, section 10.
        let expected =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (text, encoded) in expected {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xff, 0xfe]), "//4=");
    }
}

//! Plain text tables: columns as wide as their widest cell, numbers to the right.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// A table under construction.
pub(crate) struct Table {
    columns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading for each column.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let heading = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Self { columns: columns.iter().map(|&(_, align)| align).collect(), rows: vec![heading] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "one cell a column");
        self.rows.push(cells);
    }

    pub(crate) fn write(&self, out: &mut dyn Write, indent: usize) -> io::Result<()> {
        let width = |column: usize| self.rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
        let widths: Vec<_> = (0..self.columns.len()).map(width).collect();
        for row in &self.rows {
            let mut line = " ".repeat(indent);
            for ((cell, &align), &width) in row.iter().zip(&self.columns).zip(&widths) {
                let padding = " ".repeat(width - cell.width());
                match align {
                    Align::Left => line.extend([cell.as_str(), &padding]),
                    Align::Right => line.extend([padding.as_str(), cell]),
                }
                line.push_str("  ");
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A number with thousands separated, as in `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let lead = digits.len() % 3;
    let mut text = digits[..lead].to_owned();
    for chunk in digits.as_bytes()[lead..].chunks(3) {
        if !text.is_empty() {
            text.push(',');
        }
        text.extend(chunk.iter().map(|&byte| char::from(byte)));
    }
    text
}

/// `1 rule`, `2 rules`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number as u64), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let texts = [0, 7, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "7", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn columns_align() {
        let mut table = Table::new(&[("rule", Align::Left), ("rows", Align::Right)]);
        table.row(vec!["日本".to_owned(), "5".to_owned()]);
        let mut text = Vec::new();
        table.write(&mut text, 2).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "  rule  rows\n  日本     5\n");
    }
}

//! Tables of results as Markdown.

/// A table: a header, then rows; all but the first column are numbers.
pub struct Table {
    columns: usize,
    text: String,
}

impl Table {
    /// A table with a header and no row.
    #[must_use]
    pub fn new(header: &[&str]) -> Self {
        let line = format!("| {} |\n|---|{}\n", header.join(" | "), "--:|".repeat(header.len().saturating_sub(1)));
        Self { columns: header.len(), text: line }
    }

    /// Adds a row; cells that are missing are empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.columns, String::new());
        self.text +=
            &format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "));
    }

    /// The Markdown.
    #[must_use]
    pub fn text(self) -> String {
        self.text
    }
}

/// Three decimals, or a dash.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// A difference with its interval.
pub fn difference(value: f64, interval: Option<chimera_data::metric::bootstrap::Interval>) -> String {
    let ends = interval.map_or_else(String::new, |ends| format!(" [{:+.3}, {:+.3}]", ends.low, ends.high));
    format!("{value:+.3}{ends}")
}

/// A number of things.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

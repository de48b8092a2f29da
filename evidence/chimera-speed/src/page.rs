//! `speed.md`: tables of what `speed.json` holds.

use super::Part;
use super::growth::EXPONENT;
use super::record::{Book, Measurement, OURS, On};
use super::world::{ALL, QUALITY, RULES};
use chimera_lab::markdown::Table;

/// The page, with the parts that were measured.
pub(super) fn page(book: &Book) -> String {
    let mut text = String::from("# Speed\n\n");
    for (name, words) in &book.machine {
        text += &format!("- {name}: {words}\n");
    }
    if !book.machine.contains_key("torch") {
        text += "- no columns of PyTorch: no Python that has it was given (`--python PATH`)\n";
    }
    if book.quick {
        text += "- a first look (`--quick`): sizes are small and times short, so these numbers say little\n";
    }
    for part in Part::ALL.into_iter().filter(|part| !book.of(*part).is_empty()) {
        text += &match part {
            Part::Ceilings => ceilings(book),
            Part::Leaf => rates(
                book,
                part,
                "Leaf banks, images a second",
                "From frames as bytes to a step of Adam (`train`) or to z (`encode`).",
            ),
            Part::Gates => rates(
                book,
                part,
                "Gates, gate-samples a second",
                "Implications of two concepts over one z, taught on chimeras that are drawn on the way.",
            ),
            Part::Score => {
                rates(book, part, "Scoring, samples x rules a second", "Rules `A => (B & C)`, two gates each.")
            }
            Part::Growth => growth(book),
            Part::World => world(book),
        };
    }
    text + &doubts(book) + &failures(book)
}

/// A number with three digits that count, and a letter for thousands.
fn short(value: f64) -> String {
    let (value, letter) = match value.abs() {
        size if size >= 1e12 => (value / 1e12, " T"),
        size if size >= 1e9 => (value / 1e9, " G"),
        size if size >= 1e6 => (value / 1e6, " M"),
        size if size >= 1e3 => (value / 1e3, " k"),
        _ => (value, ""),
    };
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}{letter}")
}

fn ceilings(book: &Book) -> String {
    let mut table = Table::new(&["what", "where", "precision", "sizes", "by", "reached"]);
    for of in book.of(Part::Ceilings) {
        let Some(value) = of.value else { continue };
        let reached = format!("{}{}", short(value), of.unit);
        let (what, on) = (of.what.clone(), of.on.name().to_owned());
        table.row(vec![what, on, of.precision.clone(), of.case.clone(), of.by.clone(), reached]);
    }
    format!(
        "\n## Ceilings\n\nA plain matrix product, and a plain copy (bytes read and written). Shares below are of the best of \
         these in the same precision.\n\n{}",
        table.text()
    )
}

/// Rows are cases, where they were measured and how precisely; columns are who did it.
fn rates(book: &Book, part: Part, title: &str, about: &str) -> String {
    let measured: Vec<&Measurement> = book.of(part).iter().filter(|of| of.what != "script").collect();
    let mut ways: Vec<&str> = vec![OURS];
    let mut rows: Vec<(&str, &str, On, &str)> = Vec::new();
    for of in &measured {
        let row = (of.what.as_str(), of.case.as_str(), of.on, of.precision.as_str());
        if !rows.contains(&row) {
            rows.push(row);
        }
        if !ways.contains(&of.by.as_str()) {
            ways.push(&of.by);
        }
    }
    rows.sort_by_key(|(what, _, on, _)| (*on, measured.iter().position(|of| of.what == *what)));
    let mut header = vec!["what", "where", "precision"];
    header.extend(&ways);
    header.extend(["`chimera` over the best of PyTorch", "of a plain product", "of a plain copy"]);
    let mut table = Table::new(&header);
    for (what, case, on, precision) in rows {
        let of = |way: &str| {
            let is_it = |of: &&&Measurement| {
                (of.what.as_str(), of.case.as_str(), of.on, of.precision.as_str(), of.by.as_str())
                    == (what, case, on, precision, way)
            };
            measured.iter().find(is_it).copied()
        };
        let value = |way: &str| of(way).and_then(|of| of.value);
        let mut cells = vec![format!("{what}, {case}"), on.name().to_owned(), precision.to_owned()];
        cells.extend(ways.iter().map(|way| match of(way) {
            Some(of) => of.value.map_or_else(|| "-".to_owned(), short),
            None => String::new(),
        }));
        let theirs = ways[1..].iter().filter_map(|way| value(way)).reduce(f64::max);
        let is_doubtful = ways.iter().filter_map(|way| of(way)).any(|of| doubt(book, part, of).is_some());
        let mark = if is_doubtful { " ?" } else { "" };
        let ratio = value(OURS).zip(theirs).map(|(ours, theirs)| format!("{:.2}{mark}", ours / theirs));
        cells.push(ratio.unwrap_or_default());
        let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.1} %", 100.0 * share));
        cells.push(share(of(OURS).and_then(|of| of.of_product)));
        cells.push(share(of(OURS).and_then(|of| of.of_copy)));
        table.row(cells);
    }
    format!(
        "\n## {title}\n\n{about} Shares are those of `chimera`; of a copy, as if caches kept nothing.\n\n{}",
        table.text()
    )
}

fn growth(book: &Book) -> String {
    let measured = book.of(Part::Growth);
    let mut table = Table::new(&["what", "where", "against", "points", "exponent"]);
    for fitted in measured.iter().filter(|of| of.unit == EXPONENT) {
        let points = measured.iter().filter(|of| {
            of.at.is_some()
                && (&of.what, &of.case, of.on, &of.by) == (&fitted.what, &fitted.case, fitted.on, &fitted.by)
        });
        let told: Vec<String> =
            points.filter_map(|of| Some(format!("{}: {} ms", of.at?, short(1e3 * of.value?)))).collect();
        table.row(vec![
            fitted.what.clone(),
            fitted.on.name().to_owned(),
            fitted.case.clone(),
            told.join(", "),
            fitted.value.map_or_else(String::new, |exponent| format!("{exponent:.2}")),
        ]);
    }
    format!(
        "\n## What grows with what\n\nMilliseconds of teaching gates and of scoring, and the exponent of the power law that fits \
         them. Fewer gates than cores leave cores idle.\n\n{}",
        table.text()
    )
}

fn world(book: &Book) -> String {
    let measured = book.of(Part::World);
    let mut stages: Vec<&str> = Vec::new();
    for of in measured.iter().filter(|of| ![ALL, QUALITY, RULES].contains(&of.what.as_str())) {
        if !stages.contains(&of.what.as_str()) {
            stages.push(&of.what);
        }
    }
    stages.extend([ALL, QUALITY]);
    let case = measured.first().map_or("", |of| &of.case);
    let rules = measured.iter().find(|of| of.what == RULES).and_then(|of| of.value);
    let rules = rules.map_or_else(String::new, |rules| format!(", {rules} rules"));
    let places: Vec<On> = [On::Cpu, On::Gpu].into_iter().filter(|on| measured.iter().any(|of| of.on == *on)).collect();
    let header: Vec<&str> = std::iter::once("stage").chain(places.iter().map(|on| on.name())).collect();
    let mut table = Table::new(&header);
    for stage in stages {
        let told = |on: &On| {
            let of = measured.iter().find(|of| of.what == stage && of.on == *on);
            let value = of.and_then(|of| of.value);
            match value {
                Some(value) if stage == QUALITY => format!("{value:.3}"),
                Some(value) => format!("{value:.1} s"),
                None => String::new(),
            }
        };
        table.row(std::iter::once(stage.to_owned()).chain(places.iter().map(told)).collect());
    }
    format!(
        "\n## From end to end\n\nA CLEVRER world: {case}{rules}, every method measured. World, import and mining are on the CPU, once; \
         `{ALL}` is all that depends on the device: decoding, learning, measuring.\n\n{}",
        table.text()
    )
}

/// Runs this far apart make a number doubtful.
const UNSTEADY: f64 = 1.5;

/// Compiled work below this share of the same work as it is: it may have been timed in another state than it stays in.
const SLOW_COMPILED: f64 = 0.7;

/// Why a number should be looked at before it is told to anybody; `None` where nothing speaks against it.
fn doubt(book: &Book, part: Part, of: &Measurement) -> Option<String> {
    let value = of.value?;
    let about = |other: &Measurement| (other.what.clone(), other.case.clone(), other.on, other.precision.clone());
    let plain = book.of(part).iter().filter(|other| about(other) == about(of) && other.by != OURS);
    let plain = plain.filter(|other| !other.by.contains("compile")).filter_map(|other| other.value);
    let plain = plain.reduce(f64::max).filter(|_| of.by.contains("compile"));
    match (of.runs, of.spread, plain) {
        (Some(1), ..) => Some("single steps, each longer than all runs should take".to_owned()),
        (_, Some(spread), _) if spread > UNSTEADY => {
            Some(format!("the slowest run took {spread:.1} times the fastest"))
        }
        (.., Some(plain)) if value < SLOW_COMPILED * plain => {
            Some(format!("{:.2} times PyTorch without compiling", value / plain))
        }
        _ => None,
    }
}

/// Numbers that should be looked at before they are told to anybody.
fn doubts(book: &Book) -> String {
    let mut text = String::new();
    for (part, of) in Part::ALL.iter().flat_map(|part| book.of(*part).iter().map(move |of| (part, of))) {
        let Some(why) = doubt(book, *part, of) else { continue };
        let Measurement { what, case, by, on, precision, .. } = of;
        text += &format!("- {}: {what}, {case}, {by}, {}, {precision}: {why}\n", part.name(), on.name());
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "\n## Doubtful\n\nTo be measured again on a quiet machine; ratios that rest on one of these have a `?`:\n\n{text}"
        ),
    }
}

/// What could not be measured, and why.
fn failures(book: &Book) -> String {
    let mut text = String::new();
    for (part, of) in Part::ALL.iter().flat_map(|part| book.of(*part).iter().map(move |of| (part, of))) {
        let Some(error) = &of.error else { continue };
        let first: String = error.lines().next().unwrap_or_default().chars().take(200).collect();
        let about = [of.what.as_str(), &of.case, &of.by, of.on.name(), &of.precision];
        let about: Vec<&str> = about.into_iter().filter(|word| !word.is_empty()).collect();
        text += &format!("- {}: {}: {first}\n", part.name(), about.join(", "));
    }
    if text.is_empty() { text } else { format!("\n## Not measured\n\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Cost;

    #[test]
    fn numbers_have_three_digits() {
        let told = [0.0, 0.1234, 12.34, 123.4, 1234.0, 56_789.0, 1.5e6, 67e12].map(short);
        assert_eq!(told, ["0.00", "0.12", "12.3", "123", "1.23 k", "56.8 k", "1.50 M", "67.0 T"]);
    }

    #[test]
    fn ours_and_theirs_stand_in_one_row() {
        let mut book = Book::default();
        let told = |by: &str, value| Measurement {
            by: by.to_owned(),
            ..Measurement::ours("train", "small", On::Cpu, (value, "images/s")).costing(Cost { flops: 2.0, bytes: 1.0 })
        };
        let failed =
            Measurement { value: None, error: Some("out of memory\nat".to_owned()), ..told("torch.compile", 0.0) };
        book.merge(Part::Ceilings, vec![Measurement::ours("product", "", On::Cpu, (1000.0, "FLOP/s"))]);
        book.merge(Part::Leaf, vec![told(OURS, 300.0), told("torch eager", 200.0), failed]);
        book.tell_shares();
        let page = page(&book);
        assert!(page.contains("| train, small | CPU | fp32 | 300 | 200 | - | 1.50 | 60.0 % |  |"), "{page}");
        assert!(page.contains("- leaf: train, small, torch.compile, CPU, fp32: out of memory\n"), "{page}");
        assert!(page.contains("no columns of PyTorch"), "{page}");
        assert!(!page.contains("## Doubtful"), "{page}");
    }

    #[test]
    fn unsteady_numbers_are_named() {
        let told = |by: &str, value, runs, spread| Measurement {
            by: by.to_owned(),
            runs: Some(runs),
            spread,
            ..Measurement::ours("train", by, On::Cpu, (value, "images/s"))
        };
        let compiled =
            |value| Measurement { case: "torch eager".to_owned(), ..told("torch.compile", value, 5, Some(1.1)) };
        let doubted = |measured: Vec<Measurement>| {
            let mut book = Book::default();
            book.merge(Part::Leaf, measured);
            doubts(&book).lines().filter(|line| line.starts_with("- ")).count()
        };
        let eager = || told("torch eager", 100.0, 5, Some(1.2));
        assert_eq!(doubted(vec![told(OURS, 1.0, 5, Some(1.4)), eager(), compiled(71.0)]), 0);
        // One step alone, runs that differ, compiled work that is slower than plain.
        assert_eq!(doubted(vec![told(OURS, 1.0, 1, None)]), 1);
        assert_eq!(doubted(vec![told(OURS, 1.0, 5, Some(1.6))]), 1);
        assert_eq!(doubted(vec![eager(), compiled(69.0)]), 1);
        // A ratio to a number that is in doubt says so.
        let mut book = Book::default();
        let theirs = Measurement { case: OURS.to_owned(), ..told("torch eager", 10.0, 1, None) };
        book.merge(Part::Leaf, vec![told(OURS, 50.0, 5, Some(1.1)), theirs]);
        assert!(page(&book).contains("| 50.0 | 10.0 | 5.00 ? |"), "{}", page(&book));
    }
}

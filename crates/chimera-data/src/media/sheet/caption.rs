//! Words cut to the width of a thumbnail, and titles broken to that of a sheet.

/// What stands for text that was left out.
const CUT: &str = "..";

/// One line of at most `columns` characters. The middle goes first: ids mostly differ at their ends.
pub(super) fn cut(text: &str, columns: usize) -> String {
    let count = text.chars().count();
    if count <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(CUT.len());
    let head = kept / 2;
    let tail = text.chars().skip(count - (kept - head));
    text.chars().take(head).chain(CUT.chars()).chain(tail).take(columns).collect()
}

/// A text in lines of at most `columns` characters, broken between words; a word that is longer is cut.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace().map(|word| cut(word, columns)) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Labels packed into at most `lines` lines of `columns` characters; the last says how many did not fit.
pub(super) fn pack<S: AsRef<str>>(labels: &[S], columns: usize, lines: usize) -> Vec<String> {
    let mut packed: Vec<String> = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        let left = labels.len() - at;
        let label = cut(label.as_ref(), columns);
        let last = packed.len() == lines;
        // On the last line there must stay room to say how many more there are.
        let reserved = if last && left > 1 { more(left - 1).len() + 1 } else { 0 };
        let room = packed.len() < lines;
        match packed.last_mut() {
            Some(line) if line.chars().count() + 2 + label.chars().count() + reserved <= columns => {
                line.push_str(", ");
                line.push_str(&label);
            }
            _ if room => packed.push(label),
            Some(line) => {
                let note = more(left);
                *line = format!("{} {note}", cut(line, columns.saturating_sub(note.len() + 1)));
                break;
            }
            None => break,
        }
    }
    packed
}

fn more(count: usize) -> String {
    format!("+{count}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_lose_their_middle() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("CLEVR_train_000005", 12), "CLEVR..00005");
        assert_eq!(cut("äöüäöü", 5), "ä..öü");
        assert_eq!(cut("abcdef", 1), ".");
    }

    #[test]
    fn titles_go_on_in_the_next_line() {
        assert_eq!(wrapped("a => b", 10), ["a => b"]);
        assert_eq!(wrapped("large => metal | rubber", 14), ["large => metal", "| rubber"]);
        assert_eq!(wrapped("collide(red,cube) => red", 8), ["col..be)", "=> red"]);
        assert!(wrapped("", 8).is_empty());
    }

    #[test]
    fn labels_fill_lines_and_the_rest_is_counted() {
        assert_eq!(pack(&["cat", "dog", "horse"], 10, 3), ["cat, dog", "horse"]);
        assert_eq!(pack(&["cat", "dog", "horse", "bird"], 10, 1), ["cat +3"]);
        assert_eq!(pack(&["cat", "dog"], 10, 1), ["cat, dog"]);
        assert_eq!(pack(&["cat", "dog", "horse", "bird", "crocodile"], 12, 2), ["cat, dog", "horse +2"]);
        assert_eq!(pack(&["a very long label"], 8, 2), ["a v..bel"]);
        assert!(pack::<&str>(&[], 8, 2).is_empty() && pack(&["cat"], 8, 0).is_empty());
    }

    #[test]
    fn no_line_is_too_long() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let labels: Vec<String> = (0..rng.usize(..30)).map(|_| "x".repeat(rng.usize(1..20))).collect();
            let (columns, lines) = (rng.usize(8..30), rng.usize(..4));
            let packed = pack(&labels, columns, lines);
            assert!(packed.len() <= lines && packed.iter().all(|line| line.len() <= columns), "{packed:?}");
        }
    }
}

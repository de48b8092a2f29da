//! A mined rule file: what it comes from, the rules by pattern, what was left out, which rows were seen, and a line that tells
//! whether anybody has changed it since.

use std::fmt::Write;

use chimera_data::dataset::promises::Promise;
use chimera_data::error::Result;
use chimera_logic::load::{File, parse_file};
use chimera_logic::printer::{format_file, quote_name};

use super::outcome::{Meant, MinedRule, Mining};
use super::shape::Pattern;

/// How the last line starts, which ends with a hash of all lines above it.
const WRITTEN: &str = "# as `chimera mine` wrote it: ";

/// Rules that labels can never break are listed in the file up to this number.
const LISTED: usize = 20;

impl Mining {
    /// The file in the canonical spelling.
    ///
    /// # Errors
    /// None that a mining can have.
    pub fn to_text(&self) -> Result<String> {
        let [searched, held_out] = self.rows;
        let mut text =
            format!("# Rules mined from the {} train rows of `{}`", searched + held_out, self.record.dataset);
        if held_out > 0 {
            let _ = write!(text, ": found on {searched}, confirmed on {held_out}");
        }
        let [head, tail] = self.record.head_and_tail()?;
        let _ = write!(text, "\n\n{head}");
        if self.rules.is_empty() {
            let _ = writeln!(text, "\n# no rule passes; what excluded how many candidates:");
            for removed in self.funnel.removed(&self.record.options) {
                let _ = writeln!(text, "# {:>12} {}", removed.count, removed.why);
            }
        }
        for pattern in Pattern::ALL {
            let rules: Vec<&MinedRule> = self.rules.iter().filter(|rule| rule.pattern == pattern).collect();
            if !rules.is_empty() {
                let _ = writeln!(text, "\n# {}", pattern.heading());
            }
            rules.iter().for_each(|rule| text.push_str(&line(rule)));
        }
        for promise in [Promise::Closed, Promise::Meant] {
            let meant: Vec<&Meant> = self.meant.iter().filter(|meant| meant.promise == promise).collect();
            if !meant.is_empty() {
                let _ = writeln!(text, "\n# left out: labels can never break these, since {}", promise.reason());
            }
            meant.iter().take(LISTED).for_each(|meant| _ = writeln!(text, "# {}", meant.formula));
            if meant.len() > LISTED {
                let _ = writeln!(text, "# and {} more", meant.len() - LISTED);
            }
        }
        let _ = writeln!(text, "\n{tail}");
        let file = File { name: String::new(), bytes: text.clone().into_bytes() };
        // Only a file with errors has no canonical spelling.
        Ok(with_last_line(&format!("{}\n", format_file(&parse_file(file).lines).unwrap_or(text).trim_end())))
    }
}

fn with_last_line(text: &str) -> String {
    format!("{text}{WRITTEN}{}\n", blake3::hash(text.as_bytes()))
}

/// Whether a text is a mined file that nobody has changed, so that nothing is lost with it.
#[must_use]
pub fn is_as_written(text: &str) -> bool {
    text.rfind(WRITTEN).is_some_and(|end| with_last_line(&text[..end]) == text)
}

fn line(rule: &MinedRule) -> String {
    let given = rule.attributes().given();
    let attributes: Vec<String> = given.iter().map(|(name, text)| format!("{name}={text}")).collect();
    format!("{} [{}]: {}\n", quote_name(&rule.name), attributes.join(" "), rule.formula)
}

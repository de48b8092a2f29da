//! A mined rule file: what it comes from, the rules by pattern, what was left out, and which rows were seen.

use std::fmt::Write;

use chimera_logic::load::{File, parse_file};
use chimera_logic::printer::{format_file, quote_name};

use super::mining::{Meant, MinedRule, Mining};
use super::shape::Pattern;
use crate::data::promises::Promise;
use crate::error::Result;

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
        let _ = write!(text, "\n\n{}", self.record.head()?);
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
        let _ = write!(text, "\n{}", self.record.tail()?);
        let file = File { name: String::new(), bytes: text.clone().into_bytes() };
        // Only a file with errors has no canonical spelling.
        Ok(format_file(&parse_file(file).lines).unwrap_or(text))
    }
}

fn line(rule: &MinedRule) -> String {
    let given = rule.attributes().given();
    let attributes: Vec<String> = given.iter().map(|(name, text)| format!("{name}={text}")).collect();
    format!("{} [{}]: {}\n", quote_name(&rule.name), attributes.join(" "), rule.formula)
}

//! What `mine` tells the person at the terminal beside its rules: what had no chance, and why there is no rule.

use chimera_data::dataset::promises::Promise;
use chimera_mine::options::MineOptions;
use chimera_mine::{Meant, Mining};

use crate::console::Console;
use crate::table::{counted, grouped};

/// So many of a kind are listed in words; the file or `--json` has all.
const LISTED: usize = 3;

/// Concepts and candidates that had no chance.
pub(super) fn say_left_out(mining: &Mining, console: &Console) {
    for constant in mining.constant.iter().take(LISTED) {
        console.say(format_args!(
            "no rule is about `{}`: it {} on the {} searched rows",
            constant.concept,
            constant.what,
            grouped(mining.rows[0] as u64)
        ));
    }
    if mining.constant.len() > LISTED {
        console.say(format_args!(
            "no rule is about {} more, which never vary there",
            counted(mining.constant.len() - LISTED, "concept")
        ));
    }
    for promise in [Promise::Closed, Promise::Meant] {
        let meant: Vec<&Meant> = mining.meant.iter().filter(|meant| meant.promise == promise).collect();
        let listed: Vec<String> = meant.iter().take(LISTED).map(|meant| format!("`{}`", meant.formula)).collect();
        let more = if meant.len() > LISTED { format!(" and {} more", meant.len() - LISTED) } else { String::new() };
        if !listed.is_empty() {
            let reason = promise.reason();
            console.say(format_args!("left out, since {reason} (`--definitions keep`): {}{more}", listed.join(", ")));
        }
    }
    if mining.gave_up {
        console.say("there may be more rules: the choice ended, since too many candidates follow from chosen ones");
    }
    let fate = mining.funnel.all();
    if fate.unsearched > 0 {
        console.say(format_args!(
            "there may be more rules over three concepts: {} of {} were not looked at, those whose concepts go together least often; \
             a larger `--support` or fewer concepts leave time for all",
            grouped(fate.unsearched),
            counted((mining.funnel.and.considered + mining.funnel.or.considered) as usize, "candidate")
        ));
    }
    if fate.crowded_out > 0 {
        console.say(format_args!(
            "{} were dropped for better ones while searching; `--max-candidates` makes room for more",
            counted(fate.crowded_out as usize, "candidate")
        ));
    }
}

/// Why there is no rule, and what would let some in.
pub(super) fn nothing(mining: &Mining, options: &MineOptions) -> String {
    let funnel = &mining.funnel;
    let mut text = format!(
        "no rule passes: of {} on {} train rows",
        counted(funnel.all().considered as usize, "candidate"),
        grouped(mining.rows.iter().sum::<usize>() as u64)
    );
    let removed = funnel.removed(options);
    for line in &removed {
        text.push_str(&format!("\n  {:>12} {}", grouped(line.count), line.why));
    }
    let mut hints: Vec<&str> = removed.iter().max_by_key(|line| line.count).map(|line| line.hint).into_iter().collect();
    for line in removed.iter().filter(|line| line.at_hand) {
        if !hints.contains(&line.hint) {
            hints.push(line.hint);
        }
    }
    hints.iter().for_each(|hint| text.push_str(&format!("\nhint: {hint}")));
    text
}

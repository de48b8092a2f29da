//! `chimera world ...`: simulated data in the formats of real datasets.

use chimera::media::picture::Size;
use chimera_logic::rules::RuleSet;
use chimera_world::clevr::write_clevr;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::order::Order;
use chimera_world::presets;
use chimera_world::wish::HouseRules;

use crate::Outcome;
use crate::args::{WorldCommand, WorldOrder};
use crate::console::Console;
use crate::rules::input::load_linted;
use crate::table::{counted, grouped};

pub(crate) fn run(command: &WorldCommand, console: &mut Console) -> anyhow::Result<Outcome> {
    let (typed, importer) = match command {
        WorldCommand::Clevr(arguments) => (&arguments.order, "clevr"),
        WorldCommand::Clevrer(arguments) => (&arguments.order, "clevrer"),
    };
    let moving = matches!(command, WorldCommand::Clevrer(_));
    let rules = rules(typed, if moving { presets::CLEVRER } else { presets::CLEVR }, console)?;
    let rules = HouseRules::new(rules, moving)?;
    let order = order(typed)?;
    let bar = console.bar("scenes");
    let tell = |done, total| bar.set(done, total);
    match command {
        WorldCommand::Clevr(_) => write_clevr(&typed.out, &order, &rules, &tell)?,
        WorldCommand::Clevrer(arguments) => {
            let footage =
                if arguments.mp4 { Footage::Mp4("ffmpeg".into()) } else { Footage::Frames(arguments.keep_frames) };
            write_clevrer(&typed.out, &order, &footage, &rules, &tell)?;
        }
    }
    drop(bar);
    tell_end(typed, &order, &rules, importer, console);
    Ok(Outcome::Done)
}

fn rules(typed: &WorldOrder, preset: &str, console: &Console) -> anyhow::Result<RuleSet> {
    match &typed.rules {
        Some(path) => load_linted(path, console),
        None if typed.no_rules => Ok(RuleSet::default()),
        None => Ok(presets::rules(preset)),
    }
}

fn order(typed: &WorldOrder) -> anyhow::Result<Order> {
    let [width, height] = typed.size;
    Ok(Order {
        size: Size::new(width as usize, height as usize)?,
        train: typed.train,
        test: typed.test,
        oracle: typed.oracle,
        // Without rules there is nothing to break.
        violations: if typed.no_rules { 0.0 } else { typed.violations },
        together: typed.together,
        seed: typed.seed,
        threads: typed.threads.get(),
    })
}

fn tell_end(typed: &WorldOrder, order: &Order, rules: &HouseRules, importer: &str, console: &Console) {
    let out = typed.out.display();
    let counts: Vec<String> =
        counts_of(order).iter().map(|(name, scenes)| format!("{name} {}", grouped(*scenes as u64))).collect();
    let broken: Vec<String> = counts_of(order)
        .into_iter()
        .skip(1)
        .filter(|(_, scenes)| order.broken_of(*scenes) > 0)
        .map(|(name, scenes)| format!("{} of {name}", grouped(order.broken_of(scenes) as u64)))
        .collect();
    let about = match (rules.len(), broken.is_empty()) {
        (0, _) => "no rules".to_owned(),
        (rules, true) => format!("{}, which none breaks", counted(rules, "rule")),
        (rules, false) => format!("{}, which {} break", counted(rules, "rule"), broken.join(" and ")),
    };
    console.say(format_args!("`{out}`: {}; {about}", counts.join(", ")));
    let with_rules =
        if rules.is_empty() { String::new() } else { format!(" --rules {}", typed.out.join("rules.rules").display()) };
    console.say(format_args!("next: chimera import {importer} {out}{with_rules} --out ds/"));
}

fn counts_of(order: &Order) -> [(&'static str, usize); 3] {
    [("train", order.train), ("test", order.test), ("oracle", order.oracle)]
}

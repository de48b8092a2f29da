//! `chimera world ...`: simulated data in the formats of real datasets.

use chimera_data::error::Result;
use chimera_logic::rules::RuleSet;
use chimera_world::clevr::write_clevr;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::draw::not_in_turn;
use chimera_world::kinds::solid_concept;
use chimera_world::meanings::Meaning;
use chimera_world::meanings::lint_meanings;
use chimera_world::openimages::write_openimages;
use chimera_world::order::{Order, picture_size};
use chimera_world::photo::class::Class;
use chimera_world::presets;
use chimera_world::vidor::concept::Concept;
use chimera_world::vidor::write_vidor;
use chimera_world::wish::HouseRules;

use crate::Outcome;
use crate::args::{FootageArguments, WorldCommand, WorldOrder};
use crate::console::Console;
use crate::rules::input::load_linted;
use crate::table::{counted, grouped};

pub(crate) fn run(command: &WorldCommand, console: &mut Console) -> anyhow::Result<Outcome> {
    match command {
        WorldCommand::Clevr(arguments) => {
            let typed = &arguments.order;
            let rules = rules(typed, presets::CLEVR, |name| solid_concept(name, false), console)?;
            let rules = HouseRules::new(rules, false)?;
            make(typed, "clevr", &rules, console, |order, tell| write_clevr(&typed.out, order, &rules, tell))?;
        }
        WorldCommand::Clevrer(arguments) => {
            let (typed, footage) = (&arguments.order, arguments.footage.kept());
            let rules = rules(typed, presets::CLEVRER, |name| solid_concept(name, true), console)?;
            let rules = HouseRules::new(rules, true)?;
            make(typed, "clevrer", &rules, console, |order, tell| {
                write_clevrer(&typed.out, order, &footage, &rules, tell)
            })?;
        }
        WorldCommand::Openimages(arguments) => {
            let typed = &arguments.order;
            let rules = HouseRules::over(rules(typed, presets::OPENIMAGES, Class::named, console)?, Class::named)?;
            make(typed, "openimages", &rules, console, |order, tell| {
                write_openimages(&typed.out, order, &rules, tell)
            })?;
        }
        WorldCommand::Vidor(arguments) => {
            let (typed, footage) = (&arguments.order, arguments.footage.kept());
            let rules = HouseRules::over(rules(typed, presets::VIDOR, Concept::named, console)?, Concept::named)?;
            make(typed, "vidor", &rules, console, |order, tell| {
                write_vidor(&typed.out, order, &footage, &rules, tell)
            })?;
        }
    }
    Ok(Outcome::Done)
}

/// Who hears how many scenes of how many are done.
type Tell<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Writes a world and says what to do with it.
fn make<C: Meaning>(
    typed: &WorldOrder,
    importer: &str,
    rules: &HouseRules<C>,
    console: &mut Console,
    write: impl FnOnce(&Order, Tell<'_>) -> Result<()>,
) -> anyhow::Result<()> {
    let order = order(typed)?;
    tell_unbroken(&order, rules, console);
    let bar = console.bar("scenes");
    write(&order, &|done, total| bar.set(done, total))?;
    drop(bar);
    tell_end(typed, &order, rules, importer, console);
    Ok(())
}

impl FootageArguments {
    fn kept(&self) -> Footage {
        if self.mp4 { Footage::Mp4("ffmpeg".into()) } else { Footage::Frames(self.keep_frames) }
    }
}

/// The rules that were typed, whose concepts `named` finds, or the built-in ones.
fn rules<C: Meaning>(
    typed: &WorldOrder,
    preset: &str,
    named: impl Fn(&str) -> Result<C>,
    console: &Console,
) -> anyhow::Result<RuleSet> {
    match &typed.rules {
        Some(path) => load_linted(path, |rules, findings| lint_meanings(rules, named, findings), console),
        None if typed.no_rules => Ok(RuleSet::default()),
        None => Ok(presets::rules(preset)),
    }
}

fn order(typed: &WorldOrder) -> anyhow::Result<Order> {
    let [width, height] = typed.size;
    Ok(Order {
        size: picture_size(width as usize, height as usize)?,
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

/// Says before the work which rules a split will not be able to test.
fn tell_unbroken<C: Meaning>(order: &Order, rules: &HouseRules<C>, console: &Console) {
    for (split, scenes) in counts_of(order).into_iter().skip(1).filter(|(_, scenes)| *scenes > 0) {
        let (broken, all) = (order.broken_of(scenes), rules.len());
        let left = not_in_turn(broken, rules);
        if order.violations > 0.0 && !left.is_empty() {
            let breaks = if broken == 1 { "breaks a rule" } else { "break a rule, each a different one" };
            let few = counted(broken, "scene");
            console.say(format_args!(
                "warning: {few} of {split} {breaks}, so {} of {all} rules may stay unbroken there: {}\n\
                 hint: give more scenes with `--{split}`, or a larger share of `--violations`",
                left.len(),
                left.join(", ")
            ));
        }
    }
}

fn tell_end<C: Meaning>(typed: &WorldOrder, order: &Order, rules: &HouseRules<C>, importer: &str, console: &Console) {
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
    let options = match importer {
        // Every class that a train picture shows is a concept then, so that rare kinds count for what they are kinds of.
        "openimages" => format!(" --top {}", Class::ALL.len()),
        _ => String::new(),
    };
    // What rules name is a concept also where no train picture shows it.
    let of_rules = match rules.is_empty() {
        true => String::new(),
        false => format!(" --rules {}", typed.out.join("rules.rules").display()),
    };
    console.say(format_args!("next: chimera import {importer} {out}{options}{of_rules} --out ds/"));
}

fn counts_of(order: &Order) -> [(&'static str, usize); 3] {
    [("train", order.train), ("test", order.test), ("oracle", order.oracle)]
}

//! `chimera eval`: every method side by side on test rows, into a report.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use chimera::eval::summary::{Ceiling, GroupSummary, Summary};
use chimera::eval::{self, Asked, Evaluation};
use chimera::model::Model;
use chimera::report;
use chimera::score::aggregate::Aggregation;
use chimera::score::method::Method;
use chimera_data::dataset::Dataset;
use chimera_leaf::device::DeviceChoice;
use chimera_logic::vocabulary::Vocabulary;

use crate::args::EvalArguments;
use crate::console::Console;
use crate::rules::input::{Traced, load_some};
use crate::table::{Align, Table, counted, grouped};
use crate::train::cache_folder;
use crate::train::events::Shown;
use crate::{Outcome, devices};

pub(crate) fn run(arguments: &EvalArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    report::check_place(&arguments.out)?;
    let inside = |folder: &Path| {
        let parent = arguments.out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let real = (parent.canonicalize(), folder.canonicalize());
        matches!(real, (Ok(parent), Ok(folder)) if parent.starts_with(&folder))
    };
    if let Some(folder) = [&arguments.model, &arguments.dataset].into_iter().find(|folder| inside(folder)) {
        bail!(
            "`{}` lies in `{}`, which the command reads; that is left as it is\nhint: give a folder elsewhere to `-o`",
            arguments.out.display(),
            folder.display()
        );
    }
    let device = devices::open(arguments.device, console)?;
    let other = arguments.rules.as_deref().map(|path| other_rules(path, &arguments.model, console)).transpose()?;
    let (rule_set, mined) = other.map(|Traced { rule_set, mined }| (rule_set, mined)).unzip();
    let dataset = Dataset::open(&arguments.dataset)?;
    let training = arguments.data.as_deref().map(Dataset::open).transpose()?;
    let cache = cache_folder(arguments.cache.as_deref())?;
    let shown = Shown::new(console);
    let asked = Asked {
        model: &arguments.model,
        dataset: &dataset,
        training: training.as_ref(),
        rule_set,
        methods: methods(&arguments.methods),
        seeds: arguments.seeds,
        refit_leaf: arguments.refit_leaf,
        weights: arguments.weights.as_deref(),
        mined: mined.as_deref().unwrap_or_default(),
        cache: &cache,
        device,
        threads: arguments.threads.get(),
    };
    let evaluation = eval::run(&asked, &|event| shown.show_measured(event))?;
    drop(shown);
    report::write(&evaluation, &arguments.out)?;
    let summary = Summary::of(&evaluation);
    if arguments.json {
        console.write_json(&summary)?;
    } else {
        write_text(&evaluation, &summary, console.results())?;
    }
    for (method, reason) in &summary.absent {
        console.complain(format_args!("`{method}` is not there: {reason}"));
    }
    // They say what numbers are over, and what is not there.
    evaluation.words.iter().for_each(|words| console.complain(words));
    console.say(format_args!("report in `{}`", arguments.out.join("report.html").display()));
    Ok(Outcome::Done)
}

/// The methods that were asked for, once each, in the order of tables; all where none were named.
fn methods(named: &[Method]) -> Vec<Method> {
    let all = Method::ALL.iter().map(|(_, method)| *method);
    all.filter(|method| named.is_empty() || named.contains(method)).collect()
}

fn other_rules(path: &Path, model: &Path, console: &Console) -> anyhow::Result<Traced> {
    let concepts = Model::open(model, &DeviceChoice::Cpu.open()?)?.manifest.bank.concepts;
    load_some(path, Vocabulary::closed(concepts, "the concepts of the model"), console)
}

fn write_text(evaluation: &Evaluation, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
    let about = &evaluation.about;
    let [broken, normal, open] = about.broken.map(|count| grouped(count as u64));
    writeln!(
        out,
        "{} on {} of {}: {broken} break a rule, {normal} break none, {open} cannot be told",
        counted(evaluation.rules.len(), "rule"),
        counted(about.rows, "test row"),
        about.dataset
    )?;
    let is_compared = summary.methods.values().any(|found| found.against_indep_cal.is_some());
    let mut columns = vec![
        ("method", Align::Left),
        ("auroc", Align::Right),
        ("95 %", Align::Left),
        ("ap", Align::Right),
        ("fpr95", Align::Right),
    ];
    if is_compared {
        columns.extend([("against indep-cal", Align::Left), ("won/tied/lost", Align::Right)]);
    }
    columns.extend([("samples", Align::Right), ("rules told", Align::Right)]);
    let mut table = Table::new(&columns);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    for of in evaluation.present() {
        let Some(found) = summary.method(of.method) else { continue };
        let means = summary.means(found);
        let spread = means.auroc.std.map_or_else(String::new, |std| format!(" ± {std:.3}"));
        let against = found.against_indep_cal.as_ref();
        let ends = |found: Option<chimera_data::metric::bootstrap::Interval>| {
            found.map_or_else(String::new, |found| format!(" [{:+.3}, {:+.3}]", found.low, found.high))
        };
        let samples = found.consistency_anomaly.get(Aggregation::default().name());
        let mark = if of.fitted_on.is_some() { " *" } else { "" };
        let mut cells = vec![
            format!("{}{mark}", of.method.name()),
            format!("{}{spread}", shown(means.auroc.mean)),
            interval(means),
            shown(means.ap.mean),
            shown(means.fpr95.mean),
        ];
        if is_compared {
            cells.extend([
                against.map_or_else(String::new, |a| {
                    // It may be over other rules than the columns beside it.
                    let (difference, rules) = a.shown();
                    let over =
                        if rules == means.rules { String::new() } else { format!(" of {}", counted(rules, "rule")) };
                    format!("{difference:+.3}{}{over}", ends(a.interval))
                }),
                against.map_or_else(String::new, |a| format!("{}/{}/{}", a.tally.wins, a.tally.ties, a.tally.losses)),
            ]);
        }
        cells.extend([
            shown(samples.and_then(|samples| samples.auroc.mean)),
            match found.all.undefined {
                0 => found.all.rules.to_string(),
                undefined => format!("{} of {}", found.all.rules, found.all.rules + undefined),
            },
        ]);
        table.row(cells);
    }
    table.write(out, 2)?;
    if let Some(over) = summary.means_over() {
        writeln!(out, "{over}")?;
    }
    for of in evaluation.present() {
        if let Some(fitted_on) = of.fitted_on {
            let how = about.seen_violations(fitted_on);
            let bound = match summary.ceiling(of.method) {
                Some(Ceiling::Holds) => "; it is an upper bound here".to_owned(),
                Some(Ceiling::Exceeded { by, mean }) => format!("; it is no upper bound here: `{by}` has {mean:.3}"),
                None => String::new(),
            };
            writeln!(out, "* `{}` was trained on violations ({how}){bound}", of.method.name())?;
        }
    }
    Ok(())
}

/// The interval of a mean; where it is over fewer rules than the mean, with the mean over these.
fn interval(group: &GroupSummary) -> String {
    let around = match group.interval_mean.filter(|_| group.interval_rules < group.rules) {
        Some(mean) => format!(" around {mean:.3} of {}", counted(group.interval_rules, "rule")),
        None => String::new(),
    };
    group.interval.map_or_else(String::new, |found| format!("{:.3} to {:.3}{around}", found.low, found.high))
}

//! How well every method tells which samples break which rule, on data whose train rows break none: three worlds,
//! each in some settings, each with several seeds. A seed draws data, leaf bank and gates anew.
//!
//!     cargo bench -p chimera-detect --bench quality
//!     cargo bench -p chimera-detect --bench quality -- --worlds boards,shift --seeds 3 --out quality.md
//!     cargo bench -p chimera-detect --bench quality -- --quick --methods indep-cal,chimera --csv quality.csv
//!
//! Scores are 1 - p; with `--gated` they are what `score` writes for a rule: an implication is weighed by its antecedent.
//!
//! Worlds of digits take MNIST's idx files in the folder `mnist` of `CHIMERA_DATA`; without it they are skipped.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints its result or stops"
)]

mod boards;
mod compare;
mod digits;
mod run;
mod shift;
mod synthetic;
mod table;
mod world;

use std::path::{Path, PathBuf};
use std::time::Instant;

use chimera::score::method::Method;

use self::compare::Measured;
use self::digits::Digits;
use self::world::{Order, Sizes, WORLDS, World};

/// What was typed.
struct Arguments {
    worlds: Vec<String>,
    methods: Vec<(&'static str, Method)>,
    seeds: u64,
    /// Whether scores are what users see (an implication weighed by its antecedent) and not 1 - p.
    gated: bool,
    sizes: Sizes,
    out: Option<PathBuf>,
    csv: Option<PathBuf>,
}

impl Arguments {
    fn read() -> Self {
        #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
        let mut words = std::env::args().skip(1);
        let all = Method::ALL.to_vec();
        let worlds = WORLDS.iter().map(|world| world.name.to_owned()).collect();
        let mut arguments =
            Self { worlds, methods: all, seeds: 5, gated: false, sizes: Sizes::FULL, out: None, csv: None };
        let mut seeds = None;
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("`{word}` takes a value"));
            match word.as_str() {
                "--worlds" => arguments.worlds = listed(&value(), &WORLDS.map(|world| world.name)),
                "--methods" => {
                    let names = listed(&value(), &Method::ALL.map(|(name, _)| name));
                    arguments.methods.retain(|(name, _)| names.iter().any(|wanted| wanted == name));
                }
                "--seeds" => seeds = Some(value().parse().expect("a number of seeds")),
                "--out" => arguments.out = Some(value().into()),
                "--csv" => arguments.csv = Some(value().into()),
                "--gated" => arguments.gated = true,
                "--quick" => (arguments.seeds, arguments.sizes) = (1, Sizes::QUICK),
                // Cargo says that this is a benchmark.
                "--bench" => {}
                _ => {
                    panic!(
                        "unknown option `{word}`; there are --worlds, --methods, --seeds, --out, --csv, --gated and --quick"
                    )
                }
            }
        }
        arguments.seeds = seeds.unwrap_or(arguments.seeds);
        arguments
    }
}

/// Names separated by commas, each one of those that there are.
fn listed(value: &str, known: &[&str]) -> Vec<String> {
    let names: Vec<String> = value.split(',').map(str::to_owned).collect();
    for name in &names {
        assert!(known.contains(&name.as_str()), "unknown name `{name}`; there are {}", known.join(", "));
    }
    names
}

fn main() {
    let began = Instant::now();
    let arguments = Arguments::read();
    #[allow(clippy::disallowed_methods, reason = "real data is where the user says")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("mnist"));
    let digits = folder.filter(|folder| folder.is_dir()).map(|folder| Digits::read(&folder));
    let (mut measured, mut report) = (Vec::new(), String::from("# Quality\n"));
    for world in WORLDS.iter().filter(|world| arguments.worlds.iter().any(|name| name == world.name)) {
        measured.extend(measure(world, &arguments, digits.as_ref()));
        let told = table::of_world(world, &measured);
        println!("{told}");
        report += &format!("\n{told}");
    }
    let seconds = format!("\n{:.0} s in all.\n", began.elapsed().as_secs_f64());
    println!("{seconds}");
    let write = |path: &Option<PathBuf>, text: String| {
        path.iter().for_each(|path| std::fs::write(path, &text).expect("a file that can be written"));
    };
    write(&arguments.out, report + &seconds);
    write(&arguments.csv, table::csv(&measured));
}

/// All settings and seeds of a world.
fn measure(world: &World, arguments: &Arguments, digits: Option<&Digits>) -> Vec<Measured> {
    let threads = std::thread::available_parallelism().expect("a number of threads");
    let mut measured = Vec::new();
    for setting in world.settings {
        for seed in 1..=arguments.seeds {
            let (name, began) = (format!("{} {} seed {seed}", world.name, setting.name), Instant::now());
            let Some(drawn) = (setting.draw)(&Order { seed, sizes: arguments.sizes, digits }) else {
                eprintln!("{name}: skipped, CHIMERA_DATA does not name a folder with `mnist`");
                break;
            };
            let drawing = began.elapsed().as_secs_f64();
            let mut scored = run::run(drawn, (seed, arguments.gated), &arguments.methods, threads);
            scored.seconds.insert(0, ("drawing".to_owned(), drawing));
            let began = Instant::now();
            let mut dataset = compare::measure((world.name, setting.name, seed), scored);
            dataset.seconds.push(("resampling".to_owned(), began.elapsed().as_secs_f64()));
            tell(&name, &dataset);
            measured.push(dataset);
        }
    }
    measured
}

/// A line about a dataset, and one about what took how long.
fn tell(name: &str, dataset: &Measured) {
    let aurocs = dataset.methods.iter().map(|method| {
        let mean = compare::mean(&[dataset], &method.name);
        format!("{} {}", method.name, mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")))
    });
    eprintln!("{name}: {}", aurocs.collect::<Vec<_>>().join(", "));
    let seconds = dataset.seconds.iter().map(|(what, seconds)| format!("{what} {seconds:.1}"));
    eprintln!("  seconds: {}", seconds.collect::<Vec<_>>().join(", "));
}

//! `chimera devices`: what can be computed on.

use chimera_leaf::device::{Device, DeviceChoice, Gpus, gpu_number, gpus};

use crate::Outcome;
use crate::console::Console;
use crate::table::{Align, Table};

pub(crate) fn run(console: &mut Console) -> anyhow::Result<Outcome> {
    let Gpus { there, missing } = gpus();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let auto = |is: bool| if is { "auto" } else { "" }.to_owned();
    let mut table = Table::new(&[("device", Align::Left), ("what", Align::Left), ("", Align::Left)]);
    for (number, (choice, words)) in there.iter().enumerate() {
        table.row(vec![choice.to_string(), words.clone(), auto(number == 0)]);
    }
    let cores = format!("the processor, {threads} {}", if threads == 1 { "thread" } else { "threads" });
    table.row(vec!["cpu".to_owned(), cores, auto(there.is_empty())]);
    table.write(console.results(), 0)?;
    if let Some((why, help)) = missing {
        console.say(format!("no {}GPU: {why}", if there.is_empty() { "" } else { "other " }));
        help.iter().for_each(|help| console.say(format!("hint: {help}")));
    }
    Ok(Outcome::Done)
}

/// Opens a device, and says which where it may not be the one that is expected: a GPU that `auto` chose, or the processor in a
/// program that was built for GPUs.
pub(crate) fn open(choice: DeviceChoice, console: &Console) -> anyhow::Result<Device> {
    let device = choice.open()?;
    if cfg!(feature = "cuda") && choice == DeviceChoice::Auto && gpu_number(&device).is_none() {
        let why = gpus().missing.map(|(why, _)| format!(": {why}")).unwrap_or_default();
        console.say(format_args!("computing on the processor{why}"));
    }
    if let Some(number) = gpu_number(&device) {
        let found = gpus().there.into_iter().find(|(choice, _)| *choice == DeviceChoice::Cuda(number));
        let words = found.map(|(_, words)| format!(": {words}")).unwrap_or_default();
        console.say(format_args!("computing on `{}`{words}", DeviceChoice::Cuda(number)));
    }
    Ok(device)
}

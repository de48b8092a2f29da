//! `chimera selftest`: a GPU held against the processor.

use chimera_leaf::device::DeviceChoice;
use chimera_leaf::selftest::{self, Compared};

use crate::Outcome;
use crate::console::{self, Console};
use crate::table::{Align, Table};

pub(crate) fn run(device: DeviceChoice, console: &mut Console) -> anyhow::Result<Outcome> {
    let compared = selftest::run(device, &|words| console.say(words))?;
    let mut table = Table::new(&[
        ("compared", Align::Left),
        ("cpu", Align::Right),
        ("gpu", Align::Right),
        ("apart", Align::Right),
        ("may be", Align::Right),
        ("", Align::Left),
    ]);
    let number = |value: Option<f64>| value.map(|value| format!("{value:.4}")).unwrap_or_default();
    for one in &compared {
        let Compared { what, cpu, gpu, apart, allowed } = one;
        let verdict = if one.agrees() { "ok" } else { "TOO FAR" };
        table.row(vec![
            what.clone(),
            number(*cpu),
            number(*gpu),
            format!("{apart:.1e}"),
            format!("{allowed:.1e}"),
            verdict.to_owned(),
        ]);
    }
    console::heard(table.write(console.results(), 0))?;
    let far = compared.iter().filter(|one| !one.agrees()).count();
    if far > 0 {
        console.complain(format!("{far} of {} comparisons are further apart than they may be", compared.len()));
        return Ok(Outcome::Findings);
    }
    console.say(format!("all {} comparisons agree", compared.len()));
    Ok(Outcome::Done)
}

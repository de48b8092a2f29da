//! The files of an audit: `audit.csv` for programs and `audit.html` for people. The folder is whole or not there, and never written
//! over.

use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::new_folder::NewFolder;

use super::page::{Pictures, page};
use super::{Audit, Suspect};

/// The columns of `audit.csv`.
const COLUMNS: [&str; 9] = ["id", "split", "rule", "verdict", "concept", "label", "opinion", "confidence", "repair"];

/// Writes `audit.csv` and `audit.html`.
///
/// # Errors
/// A folder that is not empty or cannot be written.
pub fn write(audit: &Audit, dataset: &Dataset, folder: &Path, threads: NonZeroUsize) -> Result<()> {
    let new = NewFolder::create(folder)?;
    let put = |name: &str, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut file = BufWriter::new(new.create_file(Path::new(name))?);
        write(&mut file).and_then(|()| file.flush()).map_err(|cause| Error::write(&folder.join(name), cause))
    };
    put("audit.csv", &|out| table(&audit.suspects, out))?;
    let page = page(audit, &Pictures::of(audit, dataset, threads));
    put("audit.html", &|out| out.write_all(page.as_bytes()))?;
    new.finish()
}

/// A line a row, broken rule and concept of the rule; full precision, empty where nothing is known or changed.
fn table(suspects: &[Suspect], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    let bit = |value: Option<bool>| value.map_or_else(String::new, |value| u8::from(value).to_string());
    for suspect in suspects {
        for concept in &suspect.concepts {
            csv.write_record([
                suspect.id.as_str(),
                suspect.split.as_str(),
                &suspect.rule,
                suspect.verdict.name(),
                &concept.concept,
                &bit(concept.label),
                &concept.opinion.map_or_else(String::new, |opinion| opinion.to_string()),
                &suspect.confidence.to_string(),
                &bit(concept.repair),
            ])?;
        }
    }
    csv.flush()
}

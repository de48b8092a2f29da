//! Planted label errors are found, real violations are left alone, and opinions that say nothing find nothing.

use std::collections::BTreeSet;
use std::path::Path;

use chimera_data::import::{TableImport, import_table};
use chimera_logic::load::load_text;

use super::*;

const RULES: &str = "watched: a => b\nsafe: c => !d\neither: e | f\n";
const CONCEPTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const WIDTH: usize = 12;
const ROWS: usize = 3000;

/// Features that show true labels with some noise, labels of which two in a hundred are wrong, and rows that really break a rule.
struct Planted {
    dataset: Dataset,
    rule_set: RuleSet,
    z: Vec<f32>,
    /// Rows by id, with the columns whose labels are wrong.
    wrong: BTreeSet<(String, usize)>,
    /// Rows that break a rule in truth, too.
    real: BTreeSet<(String, String)>,
}

fn broken(labels: &[bool; 6]) -> Vec<&'static str> {
    let [a, b, c, d, e, f] = *labels;
    let of = [("watched", a && !b), ("safe", c && d), ("either", !e && !f)];
    of.into_iter().filter(|(_, broken)| *broken).map(|(rule, _)| rule).collect()
}

/// About as many rows really break a rule as `real` says.
fn planted(folder: &Path, real: f64) -> Planted {
    let mut random = fastrand::Rng::with_seed(11);
    let mut table = String::from("id,split,a,b,c,d,e,f\n");
    let (mut z, mut wrong, mut really) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for row in 0..ROWS {
        let violates = random.f64() < real;
        let truth: [bool; 6] = loop {
            let drawn = std::array::from_fn(|at| random.f64() < [0.4, 0.6, 0.3, 0.3, 0.5, 0.6][at]);
            if broken(&drawn).is_empty() != violates {
                break drawn;
            }
        };
        let id = format!("s{row:04}");
        really.extend(broken(&truth).into_iter().map(|rule| (id.clone(), rule.to_owned())));
        // The sum of twelve uniform numbers is nearly normal: deviation 0.4 around the label.
        let mut normal = || (0..12).map(|_| random.f32()).sum::<f32>() - 6.0;
        z.extend((0..WIDTH).map(|at| f32::from(u8::from(truth[at / 2])) + 0.4 * normal()));
        let labels: [bool; 6] = std::array::from_fn(|at| {
            let flipped = random.f64() < 0.02;
            if flipped {
                wrong.insert((id.clone(), at));
            }
            truth[at] != flipped
        });
        let split = ["train", "train", "train", "train", "calibration", "test"][row % 6];
        let cells: Vec<&str> = labels.iter().map(|label| if *label { "1" } else { "0" }).collect();
        table += &format!("{id},{split},{}\n", cells.join(","));
    }
    std::fs::write(folder.join("t.csv"), table).unwrap();
    let import = TableImport { table: folder.join("t.csv"), ..TableImport::default() };
    let dataset = import_table(&import, &folder.join("ds")).unwrap().dataset;
    let rule_set = load_text("test", RULES, dataset.table().vocabulary()).rule_set;
    Planted { dataset, rule_set, z, wrong, real: really }
}

impl Planted {
    /// Audits with every row's opinion taken from the row that `from` names.
    fn audited(&self, from: &dyn Fn(usize) -> usize) -> Vec<Suspect> {
        let ids = &self.dataset.table().ids;
        let z = |row: usize| &self.z[ids[row][1..].parse::<usize>().unwrap() * WIDTH..][..WIDTH];
        let splits = self.dataset.splits();
        let of = |split: Split| (0..ROWS).filter(|&row| splits[row] == split).collect::<Vec<usize>>();
        let (train, others) = (self.dataset.train().unwrap(), of(Split::Calibration));
        let columns: Vec<usize> = (0..6).collect();
        let opinions =
            Opinions::of(&self.dataset, &columns, (&train, &others), &z, NonZeroUsize::MIN, &|_, _| {}).unwrap();
        let rows = [of(Split::Train), others].concat();
        let labels = labels_of(&self.dataset, &rows, &CONCEPTS.map(str::to_owned));
        let truths = RuleTruths::of(&self.rule_set, &labels, &self.dataset, &rows);
        let (rules, suspects) =
            judged(&self.dataset, &self.rule_set, &rows, &truths, &|row, column| opinions.get(from(row), column));
        let counted: usize = rules.iter().map(|rule| rule.label_errors + rule.unsure + rule.real_violations).sum();
        assert_eq!(counted, suspects.len());
        suspects
    }

    /// Of label errors that are named, the share that are errors, each concept of the repair being wrong; and of rows that break
    /// a rule by errors alone, the share that are named so.
    fn quality(&self, suspects: &[Suspect]) -> [f64; 2] {
        let is_wrong = |suspect: &Suspect| {
            let mut flipped = suspect.concepts.iter().filter(|concept| concept.repair.is_some());
            let column = |concept: &ConceptOpinion| CONCEPTS.iter().position(|name| *name == concept.concept).unwrap();
            flipped.all(|concept| self.wrong.contains(&(suspect.id.clone(), column(concept))))
        };
        let is_real = |suspect: &Suspect| self.real.contains(&(suspect.id.clone(), suspect.rule.clone()));
        let named = || suspects.iter().filter(|suspect| suspect.verdict == Verdict::LabelError);
        let found = named().filter(|suspect| is_wrong(suspect)).count() as f64;
        let planted = suspects.iter().filter(|suspect| !is_real(suspect)).count();
        [found / named().count().max(1) as f64, found / planted as f64]
    }
}

#[test]
fn planted_errors_are_found_and_shuffled_opinions_find_none() {
    let folder = tempfile::tempdir().unwrap();
    let planted = planted(folder.path(), 0.0);
    assert!((300..420).contains(&planted.wrong.len()), "{}", planted.wrong.len());
    let suspects = planted.audited(&|row| row);
    assert!(suspects.len() > 60, "{}", suspects.len());
    let [precision, recall] = planted.quality(&suspects);
    assert!(precision >= 0.95 && recall >= 0.75, "precision {precision}, recall {recall}");
    assert!(
        suspects.iter().any(|suspect| suspect.split == Split::Calibration && suspect.verdict == Verdict::LabelError)
    );
    // The order of lists: by verdict, then the surest first.
    assert!(suspects.is_sorted_by_key(|suspect| (suspect.verdict, Reverse(suspect.confidence.to_bits()))));
    // The same with the opinion on some other row of the same split.
    let splits = planted.dataset.splits();
    let other = |row: usize| {
        let same: Vec<usize> = (0..ROWS).filter(|&other| splits[other] == splits[row]).collect();
        let at = same.iter().position(|other| *other == row).unwrap();
        same[(at + 501) % same.len()]
    };
    let [precision, recall] = planted.quality(&planted.audited(&other));
    // One of the two labels of a broken rule is wrong, so a guess is right half of the time.
    assert!(precision < 0.7 && recall < 0.7, "shuffled: precision {precision}, recall {recall}");
}

#[test]
fn real_violations_are_not_taken_for_errors() {
    let folder = tempfile::tempdir().unwrap();
    let planted = planted(folder.path(), 0.03);
    let suspects = planted.audited(&|row| row);
    let real: Vec<&Suspect> =
        suspects.iter().filter(|suspect| planted.real.contains(&(suspect.id.clone(), suspect.rule.clone()))).collect();
    let share =
        |verdict: Verdict| real.iter().filter(|suspect| suspect.verdict == verdict).count() as f64 / real.len() as f64;
    assert!(
        real.len() > 40 && share(Verdict::RealViolation) >= 0.6,
        "{}: {}",
        real.len(),
        share(Verdict::RealViolation)
    );
    assert!(share(Verdict::LabelError) <= 0.1, "{}", share(Verdict::LabelError));
    let [precision, recall] = planted.quality(&suspects);
    assert!(precision >= 0.9 && recall >= 0.7, "precision {precision}, recall {recall}");
}

#[test]
fn an_opinion_on_a_row_does_not_know_its_label() {
    let folder = tempfile::tempdir().unwrap();
    let planted = planted(folder.path(), 0.0);
    let ids = &planted.dataset.table().ids;
    let z = |row: usize| &planted.z[ids[row][1..].parse::<usize>().unwrap() * WIDTH..][..WIDTH];
    let opinions = |dataset: &Dataset| {
        let train = dataset.train().unwrap();
        let found = Opinions::of(dataset, &[0, 1], (&train, &[]), &z, NonZeroUsize::MIN, &|_, _| {}).unwrap();
        (0..ROWS).filter_map(|row| found.get(row, 1)).collect::<Vec<f64>>()
    };
    let before = opinions(&planted.dataset);
    // The label of `b` of one train row turned over: the row's own opinion moves no more than by the common line.
    let text = std::fs::read_to_string(folder.path().join("t.csv")).unwrap();
    let line = text.lines().find(|line| line.starts_with("s0000,train")).unwrap();
    let mut cells: Vec<&str> = line.split(',').collect();
    cells[3] = if cells[3] == "1" { "0" } else { "1" };
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("t.csv"), text.replace(line, &cells.join(","))).unwrap();
    let import = TableImport { table: other.path().join("t.csv"), ..TableImport::default() };
    let changed = import_table(&import, &other.path().join("ds")).unwrap().dataset;
    let after = opinions(&changed);
    let own = planted.dataset.train().unwrap().numbers().iter().position(|&row| ids[row] == *"s0000").unwrap();
    let logit = |p: f64| (p / (1.0 - p)).ln();
    assert!((logit(before[own]) - logit(after[own])).abs() < 0.05, "{} {}", before[own], after[own]);
    assert_ne!(before, after, "others have learned from it");
}

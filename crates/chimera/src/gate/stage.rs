//! Teaching what is missing, level by level: all gates of a level side by side, one a thread; what the cache has is not
//! taught again, and a gate is on disk as soon as it is done.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use chimera_gate::audit::Audit;
use chimera_gate::cone::{Cone, Features, LeafFeature, MOST_SPOTS, Moments};
use chimera_gate::draw::{Depth, Drawing};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::ground::Ground;
use chimera_gate::train::{Negatives, Problem, Recipe, Taught};
use chimera_logic::bits::TruthTable;
use chimera_logic::coverage::{GateCoverage, coverage};
use chimera_logic::dag::{Edge, Node, NodeId};
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::{Program, hard_op};

use super::cache::{Found, GateCache};
use super::config::{GateConfig, LeafFeatures};
use super::key::{Common, Key};
use super::plan::{Plan, Planned};
use super::report::{AuditedOn, Configuration, GateReport, GatesReport, Origin, RuleReport};
use super::rules::is_features;
use super::stored::{History, StoredGate, file_name, hash_of};
use crate::data::dataset::Dataset;
use crate::data::rows::FitRows;
use crate::error::{Error, Result};
use crate::file::{is_unfinished, write_atomic};
use crate::leaf::bank::LeafBank;
use crate::leaf::encode::EncodedRows;
use crate::parallel::in_parallel;
use crate::score::nominal::{Nominal, is_nominal};

/// Fewer held-out rows than this tell too little: gates are audited on the rows they were taught on then.
const FEW_ROWS: usize = 40;

/// Wider gates report only configurations that occur.
const LISTED_ARITY: usize = 4;

/// So many configurations of a gate are reported for the rows that hold them.
const MOST_CONFIGURATIONS: usize = 1024;

/// What gates are taught on.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// Labels, groups and ids.
    pub dataset: &'a Dataset,
    /// The train rows that are learned from.
    pub rows: &'a FitRows,
    /// Encoder and heads.
    pub bank: &'a LeafBank,
    /// z of every row.
    pub encoded: &'a EncodedRows,
}

/// Where gates are looked for and go to.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The cache, for any number of datasets and models.
    pub cache: &'a Path,
    /// The folder of a model's gates.
    pub gates: &'a Path,
    /// Gates taught at a time.
    pub threads: NonZeroUsize,
    /// Whether gates are taught even if they are there.
    pub retrain: bool,
}

/// What is going on, for whoever shows it.
#[derive(Debug)]
pub enum GateEvent<'a> {
    /// A level is done.
    Level {
        /// Counted from 1.
        level: usize,
        /// How many there are.
        levels: usize,
        /// Gates of it.
        gates: usize,
        /// Those that were taught now.
        taught: usize,
        /// How long it took.
        seconds: f64,
    },
    /// So many steps of the level are done.
    Steps {
        /// Steps done.
        done: usize,
        /// Steps of all its gates that are taught.
        total: usize,
    },
    /// A file was damaged. Its gate is taught again.
    SetAside {
        /// Where it lies now.
        path: &'a Path,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// A gate of the model was damaged. It is written anew.
    Damaged {
        /// Its file.
        path: &'a Path,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// The cache cannot be written. Said once; the model gets its gates all the same.
    NotKept(&'a Error),
}

/// What the stage gives. The gates themselves lie in the model's folder.
#[derive(Debug)]
pub struct GateStage {
    /// What became of each gate and each rule.
    pub report: GatesReport,
    /// What each leaf gives its gates, by concept, where that is not z itself.
    pub leaf_features: BTreeMap<String, LeafFeature>,
    /// Normal samples that thresholds come from.
    pub nominal: Nominal,
    /// Seconds of all of it.
    pub seconds: f64,
}

/// z of some rows of a dataset.
struct Slices<'a>(Vec<&'a [f32]>);

impl Features for Slices<'_> {
    fn of(&self, row: usize) -> &[f32] {
        self.0[row]
    }
}

impl<'a> Slices<'a> {
    fn of_rows(encoded: &'a EncodedRows, rows: &[usize]) -> Self {
        Self(rows.iter().map(|&row| encoded.z(row).unwrap_or_default()).collect())
    }
}

/// Runs the stage.
///
/// # Errors
/// No rows to learn from, z that is no number, or a model folder that cannot be written. What is wrong with single nodes is
/// in the report.
pub fn run(
    material: Material<'_>,
    rule_set: &RuleSet,
    config: &GateConfig,
    place: Place<'_>,
    events: &(dyn Fn(GateEvent<'_>) + Sync),
) -> Result<GateStage> {
    let began = Instant::now();
    config.check()?;
    let Material { dataset, bank, encoded, .. } = material;
    if material.rows.is_empty() {
        let message = format!("expected train rows with media in `{}`, got none", dataset.folder().display());
        return Err(Error::input(message, Some("`chimera data check` says what is wrong with them".to_owned())));
    }
    let dag = &rule_set.dag;
    let roots = rule_set.roots();
    let truth_of_roots = Program::compile(dag, &roots).evaluate(&dataset.table().labels);
    let breaks = |row: usize| (0..roots.len()).any(|rule| truth_of_roots.get(row, rule) == Some(false));
    let train = material.rows.numbers();
    let broken_rows = train.iter().filter(|&&row| breaks(row)).count();
    let rows = if config.nominal_only { material.rows.filtered(|row| !breaks(row)) } else { material.rows.clone() };
    if rows.is_empty() {
        let message = "expected train rows that break no rule, got none".to_owned();
        return Err(Error::input(message, Some("leave out `--nominal-only`, or see `chimera rules check`".to_owned())));
    }
    let z = Slices::of_rows(encoded, rows.numbers());
    let rows_print = print_of(dataset, &rows, &z)?;
    let width = bank.config().encoder.features();
    let leaves = leaf_features(config.leaf_features, bank, &z, width);
    let leaf = |node: NodeId| match dag.node(node) {
        Node::Leaf(concept) => leaves.get(dag.vocabulary().name(concept)).cloned().unwrap_or_default(),
        Node::Gate(..) => LeafFeature::Shared,
    };
    let recipe = config.recipe();
    let encoder = bank.encoder_fingerprint()?.hash;
    let common = Common { encoder: &encoder, recipe: &recipe, seed: config.seed, rows: &rows_print };
    let kept = kept(config, rule_set, &rows, &truth_of_roots);
    // Rules of one formula leave out the same rows.
    let first_of = |root: &Edge| roots.iter().position(|other| other == root);
    let filters: Vec<Option<usize>> =
        kept.iter().zip(&roots).map(|(kept, root)| kept.as_ref().and_then(|_| first_of(root))).collect();
    let shape = |arity| Shape { arity, features: width, hidden: config.hidden };
    let leaf_key = |node: NodeId| match dag.node(node) {
        Node::Leaf(concept) => {
            let labels = dataset.label_fingerprint(concept.index(), &rows).to_string();
            Key::leaf(dag.vocabulary().name(concept), &labels, &encoder, &leaf(node))
        }
        Node::Gate(..) => Key::of(String::new()),
    };
    let plan = Plan::new(rule_set, &filters, &common, &shape, &leaf_key)?;

    let labels = dataset.table().labels.select(rows.numbers());
    let ground = Ground::new(dag, &roots, &labels, (&z, width), groups(dataset, rows.numbers()), leaf);
    let fit = encoded.present(&dataset.fit_half());
    let (audited, audited_on) =
        if fit.len() >= FEW_ROWS { (fit.numbers(), AuditedOn::FitHalf) } else { (rows.numbers(), AuditedOn::Train) };
    let audited_z = Slices::of_rows(encoded, audited);
    let audited_labels = dataset.table().labels.select(audited);
    let audit_ground = Ground::new(dag, &roots, &audited_labels, (&audited_z, width), groups(dataset, audited), leaf);
    let covered: BTreeMap<NodeId, GateCoverage> =
        coverage(dag, &roots, &labels).into_iter().map(|gate| (gate.node, gate)).collect();

    let school = School {
        rule_set,
        plan: &plan,
        recipe: &recipe,
        ground: &ground,
        audit_ground: &audit_ground,
        kept: &kept,
        covered: &covered,
        cache: GateCache::new(place.cache),
        place,
        events,
        not_kept: AtomicBool::new(false),
    };
    let gates = school.levels()?;
    let rules = rule_set
        .rules
        .iter()
        .enumerate()
        .map(|(number, rule)| {
            let of_root = |wanted| train.iter().filter(|&&row| truth_of_roots.get(row, number) == wanted).count();
            let root = plan.roots[number].map(|place| &gates[place]);
            RuleReport {
                name: rule.name.clone(),
                root: root.map(|gate| gate.key.clone()),
                broken: of_root(Some(false)) as u64,
                unknown: of_root(None) as u64,
                skipped: root.and_then(|gate| match &gate.origin {
                    Origin::Skipped { reason } => Some(reason.clone()),
                    _ => None,
                }),
            }
        })
        .collect();
    let used = dag.cone(&roots).into_iter().filter_map(|node| match dag.node(node) {
        Node::Leaf(concept) => Some((dag.vocabulary().name(concept).to_owned(), leaf(node))),
        Node::Gate(..) => None,
    });
    let report = GatesReport {
        config: config.clone(),
        train_rows: train.len(),
        rows: rows.len(),
        broken_rows,
        audited_on,
        rules,
        gates,
    };
    let leaf_features = used.filter(|(_, feature)| *feature != LeafFeature::Shared).collect();
    let nominal = Nominal::of(dataset, encoded, rule_set)?;
    Ok(GateStage { report, leaf_features, nominal, seconds: began.elapsed().as_secs_f64() })
}

/// The fingerprint of rows: who they are, what ties them together, and their z.
fn print_of(dataset: &Dataset, rows: &FitRows, z: &Slices<'_>) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for (z, &row) in z.0.iter().zip(rows.numbers()) {
        if !z.iter().all(|number| number.is_finite()) {
            let message = format!("expected numbers in z of `{}`, got one that is none", &dataset.table().ids[row]);
            return Err(Error::input(message, Some("the encoder gives it; train it again".to_owned())));
        }
        hasher.update(bytemuck::cast_slice(z));
    }
    Ok(format!("{} {} z {}", rows.len(), dataset.row_fingerprint(rows), hasher.finalize()))
}

/// What each concept's leaf gives its gates.
fn leaf_features(choice: LeafFeatures, bank: &LeafBank, z: &Slices<'_>, width: usize) -> BTreeMap<String, LeafFeature> {
    let mut moments = Moments::new(width);
    if choice != LeafFeatures::Shared {
        z.0.iter().for_each(|z| moments.add(z));
    }
    let concepts = &bank.config().concepts;
    let features: Vec<LeafFeature> = match (choice, moments.standard()) {
        (LeafFeatures::Standard, standard) => vec![standard; concepts.len()],
        (LeafFeatures::Concept, LeafFeature::Affine { shift, scale }) => bank
            .head_weights()
            .iter()
            .map(|weights| {
                // What one deviation of a number adds to the concept's logit; all together of size one a number.
                let says: Vec<f32> =
                    weights.iter().zip(scale.iter()).map(|(w, s)| if *s > 0.0 { w / s } else { 0.0 }).collect();
                let size = (says.iter().map(|number| number * number).sum::<f32>() / width as f32).sqrt().max(1e-12);
                let scale = says.iter().zip(scale.iter()).map(|(says, scale)| says / size * scale).collect();
                LeafFeature::Affine { shift: shift.clone(), scale }
            })
            .collect(),
        _ => vec![LeafFeature::Shared; concepts.len()],
    };
    concepts.iter().cloned().zip(features).collect()
}

/// A number for each group; rows that stand alone have one each. `None` without groups.
fn groups(dataset: &Dataset, rows: &[usize]) -> Option<Arc<[u32]>> {
    let groups = dataset.table().groups.as_ref()?;
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next
    };
    Some(
        rows.iter()
            .map(|&row| match groups[row].as_str() {
                "" => fresh(),
                group => *numbers.entry(group).or_insert_with(&mut fresh),
            })
            .collect(),
    )
}

/// For each rule the samples that may be taken as they are, by their place among `rows`; `None` where all may.
fn kept(config: &GateConfig, rule_set: &RuleSet, rows: &FitRows, truth: &TruthTable) -> Vec<Option<Vec<u32>>> {
    if !config.strict || config.negatives == Negatives::Chimera {
        return vec![None; rule_set.rules.len()];
    }
    let of_rule = |rule: usize| {
        let holds = |place: &u32| truth.get(rows.numbers()[*place as usize], rule) == Some(true);
        let kept: Vec<u32> = (0..rows.len() as u32).filter(holds).collect();
        (kept.len() < rows.len()).then_some(kept)
    };
    (0..rule_set.rules.len()).map(of_rule).collect()
}

/// Everything that teaching a gate needs.
struct School<'a> {
    rule_set: &'a RuleSet,
    plan: &'a Plan,
    recipe: &'a Recipe,
    ground: &'a Ground<'a, Slices<'a>>,
    audit_ground: &'a Ground<'a, Slices<'a>>,
    kept: &'a [Option<Vec<u32>>],
    covered: &'a BTreeMap<NodeId, GateCoverage>,
    cache: GateCache,
    place: Place<'a>,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
    not_kept: AtomicBool,
}

/// What is known of a gate that has been dealt with: its weights while they are read, or why it has none.
type Done = std::result::Result<Option<Arc<Gate>>, String>;

/// A gate and the content of its file.
type WithBytes = (StoredGate, Vec<u8>);

impl School<'_> {
    fn levels(&self) -> Result<Vec<GateReport>> {
        let levels = self.plan.levels();
        let mut done: Vec<Done> = vec![Ok(None); self.plan.gates.len()];
        let mut reports: Vec<Option<GateReport>> = vec![None; self.plan.gates.len()];
        for (number, places) in levels.iter().enumerate() {
            let (level, began) = (number + 1, Instant::now());
            let per_gate = self.recipe.epochs * self.ground.population.rows.div_ceil(self.recipe.batch);
            let (steps, total) = (AtomicUsize::new(0), AtomicUsize::new(places.len() * per_gate));
            let tick = || {
                let (done, total) = (steps.fetch_add(1, Ordering::Relaxed) + 1, total.load(Ordering::Relaxed));
                (self.events)(GateEvent::Steps { done: done.min(total), total });
            };
            let untaught = || {
                total.fetch_sub(per_gate, Ordering::Relaxed);
            };
            let results = in_parallel(self.place.threads, places.len(), |at| {
                self.gate(&self.plan.gates[places[at]], &done, &tick, &untaught)
            })?;
            let mut taught = 0;
            for (&place, (result, report)) in places.iter().zip(results) {
                taught += usize::from(matches!(report.origin, Origin::Trained | Origin::Replaced));
                done[place] = result;
                reports[place] = Some(report);
            }
            let (levels, gates, seconds) = (levels.len(), places.len(), began.elapsed().as_secs_f64());
            (self.events)(GateEvent::Level { level, levels, gates, taught, seconds });
            for (gate, done) in self.plan.gates.iter().zip(&mut done) {
                if gate.read_until <= level as u32 {
                    done.iter_mut().for_each(|gate| *gate = None);
                }
            }
        }
        Ok(reports.into_iter().flatten().collect())
    }

    /// One gate: from the model, from the cache, or taught.
    fn gate(
        &self,
        planned: &Planned,
        done: &[Done],
        tick: &(dyn Fn() + Sync),
        untaught: &(dyn Fn() + Sync),
    ) -> Result<(Done, GateReport)> {
        let dag = &self.rule_set.dag;
        let child = |node: NodeId| self.plan.place(node, planned.filter).map(|place| &done[place]);
        let below = |node: NodeId| child(node)?.as_ref().ok()?.clone();
        let Some(cone) = self.ground.cone(planned.node, &below) else {
            untaught();
            let reason = format!("it unfolds to more than {MOST_SPOTS} concepts");
            return Ok(self.skipped(planned, format!("node {}", planned.node.index()), None, reason));
        };
        let formula = dag.text(Edge::new(planned.node, false));
        let drawing = self.ground.drawing(&cone, self.recipe.chimeras);
        for operand in &cone.operands {
            if let Some(Err(_)) = child(operand.node()) {
                untaught();
                let needed = dag.text(Edge::new(operand.node(), false));
                let reason = format!("it needs the gate of `{needed}`, which was not taught");
                return Ok(self.skipped(planned, formula, Some(&drawing), reason));
            }
        }
        let (found, origin) = self.find(&planned.key, cone_shape(&cone, self.ground.width, self.recipe))?;
        let (stored, bytes) = match found {
            Some(found) => {
                untaught();
                found
            }
            None => {
                let kept = planned.filter.and_then(|rule| self.kept[rule].as_deref());
                let task = self.ground.task(&cone, self.recipe, kept, planned.key.seed("teach"));
                match task.teach(tick) {
                    Ok(taught) => {
                        let stored = stored(&planned.key, &formula, taught);
                        let bytes = stored.to_bytes()?;
                        self.keep(&planned.key, &bytes);
                        (stored, bytes)
                    }
                    Err(problem) => {
                        untaught();
                        let mut reason = problem.to_string();
                        if self.recipe.chimeras == Depth::Node && matches!(problem, Problem::OneTruth(_)) {
                            reason += "; `--chimeras deep` draws a sample for every leaf";
                        }
                        return Ok(self.skipped(planned, formula, Some(&drawing), reason));
                    }
                }
            }
        };
        write_atomic(&self.place.gates.join(file_name(&planned.key)), |out| out.write_all(&bytes))?;
        let audit = self.audit(&cone, &stored.gate, planned);
        let mut report = self.report(planned, formula, Some(&drawing), &stored.history);
        (report.origin, report.audit) = (origin, audit);
        Ok((Ok(Some(Arc::new(stored.gate))), report))
    }

    /// Looks into the model and into the cache.
    fn find(&self, key: &Key, shape: Shape) -> Result<(Option<WithBytes>, Origin)> {
        if self.place.retrain {
            return Ok((None, Origin::Trained));
        }
        let path = self.place.gates.join(file_name(key));
        if let Ok(bytes) = std::fs::read(&path) {
            match StoredGate::of_key(&bytes, key, shape) {
                Ok(stored) => return Ok((Some((stored, bytes)), Origin::Cached)),
                Err(reason) => (self.events)(GateEvent::Damaged { path: &path, reason: &reason }),
            }
        }
        match self.cache.get(key, shape) {
            Ok(Found::Gate(stored)) => {
                let bytes = stored.to_bytes()?;
                Ok((Some((*stored, bytes)), Origin::Cached))
            }
            Ok(Found::Nothing) => Ok((None, Origin::Trained)),
            Ok(Found::Damaged { path, reason }) => {
                (self.events)(GateEvent::SetAside { path: &path, reason: &reason });
                Ok((None, Origin::Replaced))
            }
            Err(error) => {
                self.complain(&error);
                Ok((None, Origin::Trained))
            }
        }
    }

    fn keep(&self, key: &Key, bytes: &[u8]) {
        if let Err(error) = self.cache.put(key, bytes) {
            self.complain(&error);
        }
    }

    fn complain(&self, error: &Error) {
        if !self.not_kept.swap(true, Ordering::Relaxed) {
            (self.events)(GateEvent::NotKept(error));
        }
    }

    fn audit(&self, cone: &Cone, gate: &Gate, planned: &Planned) -> Audit {
        let drawing = self.audit_ground.drawing(cone, self.recipe.chimeras);
        let (features, population) = (self.audit_ground.features, &self.audit_ground.population);
        Audit::ask(cone, gate, features, &drawing, population, planned.key.seed("audit"))
    }

    fn skipped(
        &self,
        planned: &Planned,
        formula: String,
        drawing: Option<&Drawing>,
        reason: String,
    ) -> (Done, GateReport) {
        let mut report = self.report(planned, formula, drawing, &History::default());
        report.origin = Origin::Skipped { reason: reason.clone() };
        (Err(reason), report)
    }

    fn report(&self, planned: &Planned, formula: String, drawing: Option<&Drawing>, history: &History) -> GateReport {
        let name = |rule: &usize| self.rule_set.rules[*rule].name.clone();
        GateReport {
            formula,
            node: planned.node.index(),
            key: planned.key.hash.clone(),
            level: planned.level,
            rules: planned.rules.iter().map(name).collect(),
            filter: planned.filter.as_ref().map(name),
            origin: Origin::Trained,
            losses: history.losses.clone(),
            configurations: self.configurations(planned.node, drawing, history),
            failed: history.failed,
            unknown: history.unknown,
            audit: Audit::default(),
        }
    }

    fn configurations(&self, node: NodeId, drawing: Option<&Drawing>, history: &History) -> Vec<Configuration> {
        let Some(covered) = self.covered.get(&node) else { return Vec::new() };
        let can = drawing.map(Drawing::operands_can).unwrap_or_default();
        let chimeras = self.recipe.negatives != Negatives::Same;
        let shown: BTreeMap<&str, u64> =
            history.shown.iter().map(|(values, count)| (values.as_str(), *count)).collect();
        let mut all: BTreeMap<String, (Vec<bool>, u64)> = BTreeMap::new();
        let mut held = covered.configurations();
        // Of those that data hold, the most frequent: a wide gate can have one for each row.
        held.sort_by_key(|configuration| std::cmp::Reverse(configuration.rows));
        for configuration in held.into_iter().take(MOST_CONFIGURATIONS) {
            if configuration.rows > 0 || covered.operands.len() <= LISTED_ARITY {
                all.insert(digits(&configuration.values), (configuration.values, configuration.rows));
            }
        }
        for values in shown.keys() {
            let bits = || values.bytes().map(|digit| digit == b'1').collect();
            all.entry((*values).to_owned()).or_insert_with(|| (bits(), 0));
        }
        all.into_iter()
            .map(|(operands, (values, rows))| Configuration {
                truth: hard_op(covered.op, &values),
                rows,
                shown: shown.get(operands.as_str()).copied().unwrap_or(0),
                // What was tried and never shown cannot be supplied by samples that differ, whatever single labels say.
                can_be_supplied: chimeras
                    && can.len() == values.len()
                    && values.iter().zip(&can).all(|(value, can)| can[usize::from(*value)])
                    && (history.failed == 0 || shown.contains_key(operands.as_str())),
                operands,
            })
            .collect()
    }
}

fn cone_shape(cone: &Cone, features: usize, recipe: &Recipe) -> Shape {
    Shape { arity: cone.operands.len(), features, hidden: recipe.hidden }
}

fn digits(values: &[bool]) -> String {
    values.iter().map(|value| if *value { '1' } else { '0' }).collect()
}

fn stored(key: &Key, formula: &str, taught: Taught) -> StoredGate {
    let Taught { gate, losses, shown, failed, unknown } = taught;
    let shown = shown.0.iter().map(|(values, count)| (digits(values), *count)).collect();
    StoredGate {
        key: key.clone(),
        gate,
        history: History { formula: formula.to_owned(), losses, shown, failed, unknown },
    }
}

/// The files of a model's folder of gates that are ours: gates, features of leaves, normal samples, and what killed writes
/// left.
///
/// # Errors
/// A folder that cannot be read.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(Error::read(folder, cause)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|cause| Error::read(folder, cause))?.path();
        if hash_of(&path).is_some() || is_features(&path) || is_nominal(&path) || is_unfinished(&path) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

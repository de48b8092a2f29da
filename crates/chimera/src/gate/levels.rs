//! Teaching what is missing, level by level: all gates of a level side by side, one a thread; what the cache has is not
//! taught again, and a gate is on disk as soon as it is done.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use chimera_data::error::Result;
use chimera_data::parallel::in_parallel;
use chimera_gate::audit::Audit;
use chimera_gate::cone::{Cone, LeafFeature, MOST_SPOTS};
use chimera_gate::draw::{Depth, Drawing};
use chimera_gate::gate::Gate;
use chimera_gate::ground::Ground;
use chimera_gate::train::{Problem, Recipe};
use chimera_logic::coverage::{GateCoverage, coverage};
use chimera_logic::dag::{Edge, NodeId};
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::hard_op;

use super::calibration_rows::CalibrationRows;
use super::config::GateConfig;
use super::effects::{self, ExplainedReport};
use super::lesson::{Lesson, groups};
use super::material::{GateEvent, Material, Place};
use super::plan::{Plan, Planned};
use super::report::{AuditedOn, Configuration, GateReport, GatesReport, Origin, RuleReport};
use super::shelf::{Answer, Got, Shelf, Ticks, Wanted, digits};
use super::slices::Slices;
use super::stored::History;
use super::teacher::{StepProgress, steps};
use super::trained::{GateStage, GatesByHash};

/// Fewer held-out rows than this tell too little: gates are audited on the rows they were taught on then.
const FEW_ROWS: usize = 40;

/// Wider gates report only configurations that occur.
const LISTED_ARITY: usize = 4;

/// So many configurations of a gate are reported for the rows that hold them.
const MOST_CONFIGURATIONS: usize = 1024;

/// Teaches all gates of a lesson.
pub(super) fn teach(
    lesson: &Lesson<'_>,
    material: Material<'_>,
    rule_set: &RuleSet,
    config: &GateConfig,
    place: Place<'_>,
    events: &(dyn Fn(GateEvent<'_>) + Sync),
) -> Result<GateStage> {
    let began = Instant::now();
    let Material { dataset, encoded, .. } = material;
    let (dag, roots) = (&rule_set.dag, rule_set.roots());
    let recipe = config.recipe();
    let strict = config.strict && config.negatives.has_samples();
    let kept: Vec<Option<Vec<u32>>> =
        (0..roots.len()).map(|rule| if strict { lesson.kept(rule) } else { None }).collect();
    // Rules of one formula leave out the same rows.
    let first_of = |root: &Edge| roots.iter().position(|other| other == root);
    let filters: Vec<Option<usize>> =
        kept.iter().zip(&roots).map(|(kept, root)| kept.as_ref().and_then(|_| first_of(root))).collect();
    let plan = lesson.naming.plan(rule_set, &filters, &recipe, config.seed)?;

    let ground = lesson.ground(rule_set);
    let fit = encoded.present(&dataset.fit_half());
    let (audited, audited_on) = if fit.len() >= FEW_ROWS {
        (fit.numbers(), AuditedOn::FitHalf)
    } else {
        (lesson.rows.numbers(), AuditedOn::Train)
    };
    let audited_z = Slices::of_rows(encoded, audited);
    let table = &dataset.table().labels;
    let leaf = |node| lesson.leaf(dag, node);
    let audited_groups = groups(dataset, audited);
    let audit_ground =
        Ground::new(dag, &roots, &table.select(audited), (&audited_z, lesson.width), audited_groups, leaf);
    let covered: BTreeMap<NodeId, GateCoverage> =
        coverage(dag, &roots, &table.select(lesson.rows.numbers())).into_iter().map(|gate| (gate.node, gate)).collect();

    let school = School {
        rule_set,
        plan: &plan,
        recipe: &recipe,
        ground: &ground,
        audit_ground: place.gates.is_some().then_some(&audit_ground),
        kept: &kept,
        covered: &covered,
        shelf: Shelf::new(place, events),
        threads: place.threads,
        events,
    };
    let train = material.rows.numbers();
    let (gates, in_memory) = school.levels()?;
    let rules = rule_set
        .rules
        .iter()
        .enumerate()
        .map(|(number, rule)| {
            let of_root = |wanted| train.iter().filter(|&&row| lesson.truth.get(row, number) == wanted).count();
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
    let explained = lesson.effects.as_ref().map(|effects| -> Result<ExplainedReport> {
        let explained = effects::explained(effects, &audited_z, &table.select(audited), place.threads)?;
        Ok(ExplainedReport::new(&explained, &dataset.table().concepts))
    });
    let explained = explained.transpose()?;
    let report = GatesReport {
        explained,
        grafts: None,
        config: config.clone(),
        train_rows: train.len(),
        rows: lesson.rows.len(),
        broken_rows: lesson.broken_rows,
        audited_on,
        rules,
        gates,
    };
    let seconds = began.elapsed().as_secs_f64();
    let calibration_rows = CalibrationRows::of(dataset, encoded)?;
    let (lineage, effects) = (lesson.lineage.clone(), lesson.effects.clone());
    let leaf_features =
        lesson.leaves.clone().into_iter().filter(|(_, feature)| *feature != LeafFeature::Shared).collect();
    let mined = Vec::new();
    let stage = GateStage {
        report,
        leaf_features,
        effects,
        lineage,
        calibration_rows,
        grafts: None,
        mined,
        in_memory,
        plan,
        seconds,
    };
    Ok(stage)
}

/// Everything that teaching a gate needs.
struct School<'a> {
    rule_set: &'a RuleSet,
    plan: &'a Plan,
    recipe: &'a Recipe,
    ground: &'a Ground<'a, Slices<'a>>,
    /// Gates of a model are audited.
    audit_ground: Option<&'a Ground<'a, Slices<'a>>>,
    kept: &'a [Option<Vec<u32>>],
    covered: &'a BTreeMap<NodeId, GateCoverage>,
    shelf: Shelf<'a>,
    threads: NonZeroUsize,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
}

/// What is known of a gate that has been dealt with: its weights while they are read, or why it has none.
type Done = std::result::Result<Option<Arc<Gate>>, String>;

/// A gate that can be taught.
struct Prepared {
    cone: Cone,
    formula: String,
    drawing: Drawing,
}

/// Why a gate cannot be taught, with what is known of it.
struct Unfit {
    formula: String,
    drawing: Option<Drawing>,
    reason: String,
}

impl School<'_> {
    /// Reports of all gates, and the gates themselves where they go into no folder.
    fn levels(&self) -> Result<(Vec<GateReport>, GatesByHash)> {
        let mut in_memory = BTreeMap::new();
        let levels = self.plan.levels();
        let mut done: Vec<Done> = vec![Ok(None); self.plan.gates.len()];
        let mut reports: Vec<Option<GateReport>> = vec![None; self.plan.gates.len()];
        for (number, places) in levels.iter().enumerate() {
            let (level, began) = (number + 1, Instant::now());
            let results = self.level(places, &done)?;
            let mut taught = 0;
            for (&place, (result, report)) in places.iter().zip(results) {
                taught += usize::from(matches!(report.origin, Origin::Trained | Origin::Replaced));
                if let (None, Ok(Some(gate))) = (self.audit_ground, &result) {
                    in_memory.insert(report.key.clone(), gate.clone());
                }
                done[place] = result;
                reports[place] = Some(report);
            }
            let (levels, gates, seconds) = (levels.len(), places.len(), began.elapsed().as_secs_f64());
            let negatives = self.recipe.negatives;
            (self.events)(GateEvent::Level { negatives, level, levels, gates, taught, seconds });
            for (gate, done) in self.plan.gates.iter().zip(&mut done) {
                if gate.read_until <= level as u32 {
                    done.iter_mut().for_each(|gate| *gate = None);
                }
            }
        }
        Ok((reports.into_iter().flatten().collect(), in_memory))
    }

    /// The gates of a level: from the model, from the cache, or taught.
    fn level(&self, places: &[usize], done: &[Done]) -> Result<Vec<(Done, GateReport)>> {
        let planned = |at: usize| &self.plan.gates[places[at]];
        let prepared = in_parallel(self.threads, places.len(), |at| Ok(self.prepared(planned(at), done)))?;
        let taught: Vec<usize> = (0..places.len()).filter(|&at| prepared[at].is_ok()).collect();
        let wanted = in_parallel(self.threads, taught.len(), |number| {
            let planned = planned(taught[number]);
            let kept = planned.filter.and_then(|rule| self.kept[rule].as_deref());
            Ok(prepared[taught[number]].as_ref().ok().map(|prepared| {
                let task = self.ground.task(&prepared.cone, self.recipe, kept, planned.key.seed("teach"));
                Wanted { key: planned.key.clone(), formula: prepared.formula.clone(), task }
            }))
        })?;
        let wanted: Vec<Wanted<'_, _>> = wanted.into_iter().flatten().collect();
        let progress = StepProgress::new(places.len(), steps(self.recipe, self.ground.population.rows), self.events);
        (0..places.len() - taught.len()).for_each(|_| progress.untaught());
        let ticks = Ticks { steps: &|by| progress.done(by), untaught: &|| progress.untaught() };
        let answers = self.shelf.get(&wanted, &ticks)?;
        drop(wanted);
        let mut answer_of: Vec<Option<Answer>> = prepared.iter().map(|_| None).collect();
        for (at, answer) in taught.into_iter().zip(answers) {
            answer_of[at] = Some(answer);
        }
        in_parallel(self.threads, places.len(), |at| {
            let planned = planned(at);
            Ok(match (&prepared[at], &answer_of[at]) {
                (Ok(Prepared { cone, formula, drawing }), Some(Ok(Got { gate, history, origin }))) => {
                    let mut report = self.report(planned, formula.clone(), Some(drawing), history);
                    (report.origin, report.audit) = (origin.clone(), self.audit(cone, gate, planned));
                    (Ok(Some(gate.clone())), report)
                }
                (Ok(Prepared { formula, drawing, .. }), answer) => {
                    let problem = answer.as_ref().and_then(|answer| answer.as_ref().err());
                    let mut reason = problem.map(Problem::to_string).unwrap_or_default();
                    if self.recipe.chimeras == Depth::Node && matches!(problem, Some(Problem::OneTruth(_))) {
                        reason += "; `--chimeras deep` draws a sample for every leaf";
                    }
                    self.skipped(planned, formula.clone(), Some(drawing), reason)
                }
                (Err(Unfit { formula, drawing, reason }), _) => {
                    self.skipped(planned, formula.clone(), drawing.as_ref(), reason.clone())
                }
            })
        })
    }

    /// A gate with all that lies below it, unless something there is missing.
    fn prepared(&self, planned: &Planned, done: &[Done]) -> std::result::Result<Prepared, Unfit> {
        let dag = &self.rule_set.dag;
        let child = |node: NodeId| self.plan.place(node, planned.filter).map(|place| &done[place]);
        let below = |node: NodeId| child(node)?.as_ref().ok()?.clone();
        let Some(cone) = self.ground.cone(planned.node, &below) else {
            let reason = format!("it unfolds to more than {MOST_SPOTS} concepts");
            return Err(Unfit { formula: format!("node {}", planned.node.index()), drawing: None, reason });
        };
        let formula = dag.text(Edge::new(planned.node, false));
        let drawing = self.ground.drawing(&cone, self.recipe.chimeras);
        for operand in &cone.operands {
            if let Some(Err(_)) = child(operand.node()) {
                let needed = dag.text(Edge::new(operand.node(), false));
                let reason = format!("it needs the gate of `{needed}`, which was not taught");
                return Err(Unfit { formula, drawing: Some(drawing), reason });
            }
        }
        Ok(Prepared { cone, formula, drawing })
    }

    fn audit(&self, cone: &Cone, gate: &Gate, planned: &Planned) -> Audit {
        let Some(ground) = self.audit_ground else { return Audit::default() };
        let drawing = ground.drawing(cone, self.recipe.chimeras);
        Audit::ask(cone, gate, ground.features, &drawing, &ground.population, planned.key.seed("audit"))
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
        let (chimeras, grafts) = (self.recipe.negatives.has_chimeras(), self.recipe.negatives.has_grafts());
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
                can_be_supplied: grafts
                    || chimeras
                        && can.len() == values.len()
                        && values.iter().zip(&can).all(|(value, can)| can[usize::from(*value)])
                        && (history.failed == 0 || shown.contains_key(operands.as_str())),
                operands,
            })
            .collect()
    }
}

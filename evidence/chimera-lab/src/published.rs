//! What the paper reports, to stand beside ours.

use crate::world::World;

/// A row of the paper's Table 3: mean AUROC of rules.
pub(crate) struct Row {
    pub(crate) world: World,
    /// What the paper calls the rules.
    pub(crate) rules: &'static str,
    pub(crate) count: usize,
    pub(crate) indep: f64,
    pub(crate) sem: f64,
    pub(crate) mono_n: f64,
    pub(crate) mono_c: f64,
    /// The paper's own evaluator, which is our `chimera`.
    pub(crate) chimera: f64,
    /// Rules on which it is above independent events.
    pub(crate) wins: &'static str,
}

/// Table 3 ("Rule-level anomaly AUROC").
#[rustfmt::skip]
pub(crate) const RULES: [Row; 9] = [
    Row { world: World::Clevrer, rules: "simple", count: 16, indep: 0.777, sem: 0.500, mono_n: 0.500, mono_c: 0.832, chimera: 0.826, wins: "13/16" },
    Row { world: World::Clevrer, rules: "chain and compound", count: 10, indep: 0.707, sem: 0.500, mono_n: 0.500, mono_c: 0.827, chimera: 0.844, wins: "10/10" },
    Row { world: World::Clevrer, rules: "all", count: 26, indep: 0.750, sem: 0.500, mono_n: 0.500, mono_c: 0.829, chimera: 0.833, wins: "23/26" },
    Row { world: World::Openimages, rules: "simple", count: 11, indep: 0.821, sem: 0.500, mono_n: 0.500, mono_c: 0.906, chimera: 0.910, wins: "10/11" },
    Row { world: World::Openimages, rules: "compound", count: 5, indep: 0.820, sem: 0.500, mono_n: 0.500, mono_c: 0.880, chimera: 0.874, wins: "4/5" },
    Row { world: World::Openimages, rules: "all", count: 16, indep: 0.821, sem: 0.500, mono_n: 0.500, mono_c: 0.893, chimera: 0.899, wins: "14/16" },
    Row { world: World::Vidor, rules: "simple", count: 25, indep: 0.476, sem: 0.500, mono_n: 0.500, mono_c: 0.702, chimera: 0.722, wins: "23/25" },
    Row { world: World::Vidor, rules: "compound", count: 10, indep: 0.527, sem: 0.500, mono_n: 0.500, mono_c: 0.715, chimera: 0.731, wins: "10/10" },
    Row { world: World::Vidor, rules: "all", count: 35, indep: 0.490, sem: 0.500, mono_n: 0.500, mono_c: 0.708, chimera: 0.724, wins: "33/35" },
];

/// Table 2 ("Leaf-bank performance"): mean AUROC and average precision of concepts.
pub(crate) const LEAVES: [(World, f64, f64); 3] =
    [(World::Clevrer, 0.921, 0.682), (World::Openimages, 0.948, 0.596), (World::Vidor, 0.679, 0.057)];

/// Table 5: independent events on static CLEVR, where the paper reports nothing else.
pub(crate) const STATIC_CLEVR_INDEP: f64 = 0.9995;

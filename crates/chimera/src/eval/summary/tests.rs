//! Numbers of a summary, and what the page says of them, by hand.

use chimera_data::metric::leaf_table::LeafTable;

use super::*;
use crate::eval::REFERENCE;
use crate::eval::gallery::Gallery;
use crate::eval::resampled::Resampled;
use crate::eval::{Cell, Cells};
use crate::report;

#[test]
fn spread_over_seeds_by_hand() {
    // Mean 0.8; squares 0.01 + 0 + 0.01 over 2 is 0.01.
    let spread = Spread::of(&[Some(0.7), Some(0.8), Some(0.9), None]);
    assert!((spread.mean.unwrap() - 0.8).abs() < 1e-12 && (spread.std.unwrap() - 0.1).abs() < 1e-12);
    assert_eq!(Spread::of(&[Some(0.5)]), Spread { mean: Some(0.5), std: None });
    assert_eq!(Spread::of(&[None]), Spread::default());
}

/// Rules that methods tell: by which method, which rule, how well, and whether there is an interval.
fn evaluation(told: &[(Method, usize, f64, bool)], rules: usize) -> Evaluation {
    let rule = |number: usize| RuleOf {
        name: format!("r{number}"),
        family: "other".to_owned(),
        formula: "a".to_owned(),
        positives: 20,
        negatives: 20,
        unknown: 0,
        out_of_vocabulary: 0,
        truth: String::new(),
        fallback: None,
        fallback_seeds: Vec::new(),
    };
    let (mut cells, mut resampled, mut methods) = (Cells::new(), Resampled::default(), Vec::<MethodOf>::new());
    for &(method, rule, auroc, tells) in told {
        if methods.iter().all(|of| of.method != method) {
            methods.push(MethodOf { method, fitted_on: None, absent: None, skipped: Vec::new() });
        }
        let metrics = RankMetrics {
            auroc: Some(auroc),
            average_precision: Some(auroc),
            fpr_at_95_tpr: Some(1.0 - auroc),
            positives: 20,
            negatives: 20,
        };
        let interval = tells.then_some(Interval { low: auroc, high: auroc });
        for score in [ScoreKind::Raw, ScoreKind::Gated] {
            let of_seeds = [1, 2].map(|seed| Cell { seed, metrics, interval, unscored: 0 });
            cells.insert((method, score, rule), of_seeds.to_vec());
        }
        resampled.add(method, rule, vec![auroc as f32; 4]);
    }
    let about = About {
        chimera: String::new(),
        model: String::new(),
        encoder: String::new(),
        trained_on: "d".to_owned(),
        train_rows: 10,
        dataset: "d".to_owned(),
        rows: 40,
        own_rows: true,
        left_out: 0,
        broken: [20, 20, 0],
        test_rows: String::new(),
        other_rules: false,
        seeds: vec![1, 2],
        refit_leaf: false,
        main: Method::Neural,
        resamples: 4,
        by_group: false,
    };
    Evaluation {
        about,
        rules: (0..rules).map(rule).collect(),
        methods,
        cells,
        resampled,
        anomalies: Vec::new(),
        supervised_on: None,
        leaves: LeafTable { rows: Vec::new() },
        quality: Vec::new(),
        reliability: Vec::new(),
        plots: Vec::new(),
        coverage: Vec::new(),
        gallery: Gallery::default(),
        words: Vec::new(),
        manifest: serde_json::Value::Null,
        seconds: Vec::new(),
    }
}

const ONE_IS_SKIPPED: [(Method, usize, f64, bool); 5] = [
    (REFERENCE, 0, 0.75, true),
    (REFERENCE, 1, 0.5, false),
    (REFERENCE, 2, 0.25, true),
    (Method::Neural, 0, 1.0, true),
    (Method::Neural, 1, 0.75, false),
];

fn near(one: Option<f64>, other: f64) -> bool {
    one.is_some_and(|one| (one - other).abs() < 1e-9)
}

#[test]
fn methods_are_compared_on_the_same_rules() {
    let evaluation = evaluation(&ONE_IS_SKIPPED, 3);
    let summary = Summary::of(&evaluation);
    let [neural, reference] = [Method::Neural, REFERENCE].map(|method| summary.method(method).unwrap());
    // Each by itself: neural without the third rule, on which the reference is bad.
    assert!(near(neural.all.auroc.mean, 0.875) && near(reference.all.auroc.mean, 0.5));
    assert_eq!((neural.all.rules, neural.all.undefined, reference.all.rules), (2, 1, 3));
    let against = neural.against_indep_cal.as_ref().unwrap();
    assert_eq!((against.rules, against.reference, against.difference), (2, 0.625, 0.25));
    // Tables have means over the two rules that both tell.
    assert_eq!((&summary.common[..], summary.common_rules), (&[0, 1][..], 2));
    assert!(near(neural.common.auroc.mean, 0.875) && near(reference.common.auroc.mean, 0.625));
    assert_eq!(summary.means(neural), &neural.common);
    assert_eq!(summary.means_over().as_deref(), Some("means are over the 2 of 3 rules that all methods tell"));
    // The first rule alone has intervals by both, so the drawing with whiskers is of it.
    assert_eq!((neural.common.interval, neural.common.interval_rules), (Some(Interval { low: 1.0, high: 1.0 }), 1));
    let page = report::page(&evaluation, &summary);
    let expected = "That is <b>better than</b> independent events over the same concepts and rules: 62.5&nbsp;%, a difference of +25.0";
    assert!(page.contains(expected), "{page}");
    assert!(page.contains("mean over the 1 of 3 rules that all methods tell with an interval"));
    // Where independent events do not tell all of its rules, its own mean is another one there.
    let other =
        self::evaluation(&[&ONE_IS_SKIPPED[..2], &ONE_IS_SKIPPED[3..], &[(Method::Neural, 2, 0.5, true)]].concat(), 3);
    let page = report::page(&other, &Summary::of(&other));
    assert!(
        page.contains("<b>75.0&nbsp;%</b>")
            && page.contains("On the 2 rules that both tell it is 87.5&nbsp;%, <b>better")
    );
}

/// A mean over easier rules looks better than a better method: without rules in common nothing is put side by side.
#[test]
fn means_over_other_rules_are_marked() {
    let summary_of = |told: &[(Method, usize, f64, bool)]| {
        let evaluation = evaluation(told, 3);
        let summary = Summary::of(&evaluation);
        (summary.means_over(), summary.common_rules, report::page(&evaluation, &summary))
    };
    let (over, common, page) = summary_of(&[(REFERENCE, 0, 0.75, true), (Method::Neural, 1, 1.0, true)]);
    assert_eq!(common, 0);
    assert!(over.unwrap().contains("cannot be compared") && page.contains("cannot be compared"));
    let (over, _, page) = summary_of(&[(REFERENCE, 0, 0.75, true), (Method::Neural, 0, 1.0, true)]);
    assert!(over.is_none() && !page.contains("cannot be compared"));
    let (over, _, page) = summary_of(&ONE_IS_SKIPPED);
    assert!(over.is_some() && page.contains("Means over the 2 of 3 rules that all methods tell"), "{page}");
}

#[test]
fn an_upper_bound_is_one_only_where_nothing_exceeds_it() {
    let ceiling = |oracle: f64| {
        let told = [(REFERENCE, 0, 0.75, true), (Method::Neural, 0, 0.9, true), (Method::Oracle, 0, oracle, true)];
        let mut evaluation = evaluation(&told, 1);
        evaluation.methods[2].fitted_on = Some(FittedOn::CrossFitted);
        let summary = Summary::of(&evaluation);
        (summary.ceiling(Method::Oracle), report::page(&evaluation, &summary))
    };
    let (found, page) = ceiling(0.8);
    assert_eq!(found, Some(Ceiling::Exceeded { by: "neural", mean: 0.9 }));
    assert!(page.contains("no upper bound here, neural has 0.900"), "{page}");
    let (found, page) = ceiling(0.95);
    assert_eq!(found, Some(Ceiling::Holds));
    assert!(page.contains("; an upper bound here") && !page.contains("no upper bound"));
}

#[test]
fn an_interval_goes_with_the_mean_over_its_own_rules() {
    let evaluation = evaluation(&ONE_IS_SKIPPED, 3);
    let summary = Summary::of(&evaluation);
    let all = &summary.method(Method::Neural).unwrap().all;
    // The interval is off the mean over both rules, and around that over the one which tells.
    assert_eq!((all.interval, all.interval_rules), (Some(Interval { low: 1.0, high: 1.0 }), 1));
    assert!(near(all.interval_mean, 1.0) && near(all.auroc.mean, 0.875));
    let page = report::page(&evaluation, &summary);
    assert!(page.contains("100.0 to 100.0&nbsp;%, around 100.0&nbsp;% over the 1 of which enough rows tell"), "{page}");
    assert!(page.contains("around 1.000 over 1 rule<"), "{page}");
}

#[test]
fn without_independent_events_nothing_is_against_them() {
    let alone = evaluation(&ONE_IS_SKIPPED[3..], 2);
    let page = report::page(&alone, &Summary::of(&alone));
    assert!(!page.contains("against indep-cal") && !page.contains("signed-rank") && page.contains("95 %"));
    let both = evaluation(&ONE_IS_SKIPPED, 3);
    assert_eq!(report::page(&both, &Summary::of(&both)).matches("against indep-cal").count(), 2);
}

#[test]
fn a_fallback_is_said_with_the_seeds_at_which_it_is_one() {
    let mut evaluation = evaluation(&ONE_IS_SKIPPED, 3);
    let page = |evaluation: &Evaluation| report::page(evaluation, &Summary::of(evaluation));
    assert!(!page(&evaluation).contains("= indep-cal"));
    evaluation.rules[0].fallback_seeds = vec![2];
    evaluation.rules[1].fallback_seeds = vec![1, 2];
    let text = page(&evaluation);
    assert!(text.contains("= indep-cal at 1 of 2 seeds<") && text.contains("= indep-cal<"), "{text}");
    assert!(text.contains("<code>indep-cal</code> for 1 rule; at some seeds alone for 1 rule:"), "{text}");
    evaluation.about.main = REFERENCE;
    assert!(!page(&evaluation).contains("= indep-cal"));
}

#[test]
fn a_page_says_whose_rules_they_are() {
    let mut evaluation = evaluation(&ONE_IS_SKIPPED, 3);
    let page = |evaluation: &Evaluation| report::page(evaluation, &Summary::of(evaluation));
    assert!(page(&evaluation).contains("A model with 3 rules over 0 concepts"));
    evaluation.about.other_rules = true;
    let text = page(&evaluation);
    assert!(
        text.contains("A model of 0 concepts, trained on")
            && text.contains("is asked about 3 rules that were given beside it, on 40")
    );
}

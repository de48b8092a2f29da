//! Numbers of a summary, by hand.

use super::*;

#[test]
fn resamples_of_a_mean_are_of_the_same_rules_by_hand() {
    let mut means = MeanResamples::default();
    assert_eq!((means.interval(), means.rules()), (None, 0));
    means.add(vec![0.5; 4], 0.5);
    // Without its value in the third place, that resample would be 0.5, the mean over the other rule alone.
    means.add(vec![1.0, 1.0, f32::NAN, 1.0], 0.75);
    assert_eq!((means.interval(), means.rules()), (Some(Interval { low: 0.625, high: 0.75 }), 2));
}

#[test]
fn spread_over_seeds_by_hand() {
    // Mean 0.8; squares 0.01 + 0 + 0.01 over 2 is 0.01.
    let spread = Spread::of(&[Some(0.7), Some(0.8), Some(0.9), None]);
    assert!((spread.mean.unwrap() - 0.8).abs() < 1e-12 && (spread.std.unwrap() - 0.1).abs() < 1e-12);
    assert_eq!(Spread::of(&[Some(0.5)]), Spread { mean: Some(0.5), std: None });
    assert_eq!(Spread::of(&[None]), Spread::default());
}

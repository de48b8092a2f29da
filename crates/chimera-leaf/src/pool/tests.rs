//! Whether the poolings can learn what came first, on frames in which two patterns occur once each.

use super::*;
use crate::loss::{Targets, cross_entropy};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, TensorData};

const FRAMES: usize = 8;
const WIDTH: usize = 16;

#[derive(Module, Debug)]
struct Classifier {
    pool: Pool,
    hidden: Linear,
    head: Linear,
}

impl Classifier {
    fn new(pooling: Pooling, device: &Device) -> Self {
        let mut initial = Initial::new(Some(5), "test", device);
        Self {
            pool: Pool::new(pooling, &mut initial, WIDTH, 0),
            hidden: Linear::new(&mut initial, WIDTH, 32),
            head: Linear::new(&mut initial, 32, 1),
        }
    }

    fn forward(&self, frames: Tensor<2>) -> Tensor<2> {
        self.head.forward(relu(self.hidden.forward(self.pool.forward(frames, FRAMES))))
    }
}

/// Noise, and in it each pattern in one frame; the label is whether the first comes first.
fn samples(random: &mut fastrand::Rng, count: usize, device: &Device) -> (Tensor<2>, Vec<Option<bool>>) {
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let first = random.usize(..FRAMES);
        let second = (first + random.usize(1..FRAMES)) % FRAMES;
        for frame in 0..FRAMES {
            // Patterns are alternating halves of the numbers.
            let shown = |place: usize| if place.is_multiple_of(2) { frame == first } else { frame == second };
            values.extend((0..WIDTH).map(|place| random.f32() + if shown(place) { 1.0 } else { 0.0 }));
        }
        labels.push(Some(first < second));
    }
    (Tensor::from_data(TensorData::new(values, [count * FRAMES, WIDTH]), device), labels)
}

/// The share of pairs of a positive and a negative that are in the right order; no two scores are alike here.
fn auroc(scores: &[f32], labels: &[Option<bool>]) -> f64 {
    let of =
        |wanted| scores.iter().zip(labels).filter(move |(_, label)| **label == Some(wanted)).map(|(score, _)| *score);
    let pairs: Vec<bool> = of(true).flat_map(|high| of(false).map(move |low| high > low)).collect();
    pairs.iter().filter(|right| **right).count() as f64 / pairs.len() as f64
}

fn trained_auroc(pooling: Pooling) -> f64 {
    let device = Device::flex().autodiff();
    let mut random = fastrand::Rng::with_seed(3);
    let mut classifier = Classifier::new(pooling, &device);
    let mut adam = AdamConfig::new().init();
    for _ in 0..150 {
        let (frames, labels) = samples(&mut random, 64, &device);
        let targets = Targets::new(&labels, 1, &device).unwrap();
        let loss = cross_entropy(classifier.forward(frames), &targets, None);
        let gradients = GradientsParams::from_grads(loss.backward(), &classifier);
        classifier = adam.step(3e-3, classifier, gradients);
    }
    let (frames, labels) = samples(&mut random, 600, &Device::flex());
    let scores: Vec<f32> = classifier.valid().forward(frames).into_data().iter::<f32>().collect();
    auroc(&scores, &labels)
}

#[test]
fn order_is_learnt_by_the_pooling_that_sees_it() {
    let mean = trained_auroc(Pooling::Mean);
    let order = trained_auroc(Pooling::Order);
    eprintln!("AUROC of order: mean {mean:.3}, order {order:.3}");
    // Four standard errors of an AUROC of 300 against 300: 4 * sqrt(601 / (12 * 300 * 300)) = 0.094.
    assert!((mean - 0.5).abs() < 0.094, "mean {mean}");
    assert!(order > 0.95, "order {order}");
}

#[test]
fn any_number_of_frames_is_pooled() {
    let device = Device::flex();
    let values: Vec<f32> = (0..24).map(|value| value as f32).collect();
    let frames = Tensor::<2>::from_data(TensorData::new(values, [12, 2]), &device);
    let pool = |pooling| Pool::new(pooling, &mut Initial::new(Some(1), "test", &device), 2, 0);
    let mean: Vec<f32> = pool(Pooling::Mean).forward(frames.clone(), 3).into_data().iter::<f32>().collect();
    // Means of 0 2 4, 1 3 5, 6 8 10 and so on.
    assert_eq!(mean, [2.0, 3.0, 8.0, 9.0, 14.0, 15.0, 20.0, 21.0]);
    assert_eq!(pool(Pooling::Mean).forward(frames.clone(), 1).into_data(), frames.clone().into_data());
    for count in [1, 2, 12] {
        let pooled = pool(Pooling::Order).forward(frames.clone(), count);
        assert_eq!(pooled.dims(), [12 / count, 2]);
        assert!(pooled.into_data().iter::<f32>().all(|value| value >= 0.0));
    }
    // Of two samples of six frames: the mean of the first number, the largest of the second, which a detector saw.
    let with_detector = Pool::new(Pooling::Order, &mut Initial::new(Some(1), "test", &device), 2, 1);
    let overall = with_detector.order.unwrap().overall(frames.reshape([2, 6, 2]));
    assert_eq!(overall.into_data().iter::<f32>().collect::<Vec<_>>(), [5.0, 11.0, 17.0, 23.0]);
}

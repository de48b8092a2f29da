//! Batch normalisation with the way around and the activation that follow it.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Cube};

use super::Normalising;
use super::launch::{Array, Kernel, Numbers, Source, THREADS, array, blocks, contiguous, floats, launch};

/// Blocks that share the places of a channel.
const SHARES: usize = 512;

/// What was normalised, and what came of it.
pub(super) struct Normalised {
    pub result: Array,
    pub(crate) running_mean: Array,
    pub(crate) running_variance: Array,
    /// Mean, then one over the deviation.
    found: Array,
    input: Array,
}

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    input: Array,
    weight: Array,
    found: Array,
    /// The results where an activation cut them.
    cut: Option<Array>,
    how: Normalising,
}

/// Places and channels, and how blocks share them.
struct Sizes {
    places: usize,
    channels: usize,
    share: usize,
    parts: usize,
    lanes: usize,
}

impl Sizes {
    fn of(input: &Array) -> Self {
        let shape = input.meta.shape();
        let channels = shape[3];
        assert!(channels.is_multiple_of(4), "expected channels in fours, got {channels}");
        let places = shape[0] * shape[1] * shape[2];
        let lanes = match channels {
            0..=16 => 4,
            17..=32 => 8,
            _ => 16,
        };
        // At least eight places a thread: with fewer, the parts would cost as much as the places.
        let share = places.div_ceil(SHARES).max(8 * THREADS as usize / lanes);
        Self { places, channels, share, parts: places.div_ceil(share).max(1), lanes }
    }

    fn numbers(&self, how: Normalising, has_around: bool) -> Numbers {
        Numbers::of([
            self.places,
            self.channels,
            self.share,
            self.parts,
            how.activation.number(),
            usize::from(has_around),
        ])
        .floats([how.epsilon, how.momentum])
    }

    fn kernel(&self, entry: &'static str) -> Kernel {
        Kernel { source: Source::Normalise, entry, defines: vec![("LANES", self.lanes)], threads: THREADS }
    }

    fn by_share(&self) -> [usize; 3] {
        [self.parts, self.channels.div_ceil(self.lanes * 4), 1]
    }

    fn by_channel(&self) -> [usize; 3] {
        [self.channels.div_ceil(32), 1, 1]
    }

    fn by_four(&self) -> [usize; 3] {
        blocks(self.places * self.channels / 4)
    }
}

pub(super) fn forward(
    input: Array,
    weight: Array,
    bias: Array,
    around: Array,
    running: [Array; 2],
    how: Normalising,
) -> Normalised {
    let [input, weight, bias] = [input, weight, bias].map(contiguous);
    let [mean, variance] = running.map(contiguous);
    let around = if how.has_around { contiguous(around) } else { input.clone() };
    let client = &input.client;
    let sizes = Sizes::of(&input);
    let parts = floats(client, 2 * sizes.parts * sizes.channels);
    let numbers = || sizes.numbers(how, how.has_around);
    launch(client, sizes.kernel("statistics"), sizes.by_share(), &[&input.handle], &[&parts], numbers());
    let found = floats(client, 2 * sizes.channels);
    // A recording finds them where it left them the last time. The step before it, for which the queue is made ready already,
    // is no first one: nobody else holds them any more.
    let [new_mean, new_variance] = [&mean, &variance].map(|running| match client.is_capturing() {
        true => running.handle.clone(),
        false => floats(client, sizes.channels),
    });
    launch(
        client,
        sizes.kernel("finish_statistics"),
        sizes.by_channel(),
        &[&input.handle, &parts, &mean.handle, &variance.handle],
        &[&found, &new_mean, &new_variance],
        numbers(),
    );
    let result = floats(client, sizes.places * sizes.channels);
    launch(
        client,
        sizes.kernel("normalise"),
        sizes.by_four(),
        &[&input.handle, &found, &weight.handle, &bias.handle, &around.handle],
        &[&result],
        numbers(),
    );
    Normalised {
        result: array(&input, result, input.meta.shape().clone()),
        running_mean: array(&input, new_mean, [sizes.channels]),
        running_variance: array(&input, new_variance, [sizes.channels]),
        found: array(&input, found, [2, sizes.channels]),
        input,
    }
}

#[derive(Debug)]
struct Normalise;

/// Result, running mean and running variance.
type Three<C> = (FloatTensor<Autodiff<Cube, C>>, FloatTensor<Autodiff<Cube, C>>, FloatTensor<Autodiff<Cube, C>>);

pub(super) fn tracked<C: CheckpointStrategy>(
    input: FloatTensor<Autodiff<Cube, C>>,
    weight: FloatTensor<Autodiff<Cube, C>>,
    bias: FloatTensor<Autodiff<Cube, C>>,
    around: FloatTensor<Autodiff<Cube, C>>,
    running: [FloatTensor<Autodiff<Cube, C>>; 2],
    how: Normalising,
) -> Three<C> {
    let nodes = [input.node(), weight.node(), bias.node(), around.node()];
    let [input, weight, bias, around] =
        [input, weight, bias, around].map(FloatTensor::<Autodiff<Cube, C>>::into_primitive);
    let running = running.map(FloatTensor::<Autodiff<Cube, C>>::into_primitive);
    let weight = contiguous(weight);
    let normalised = forward(input, weight.clone(), bias, around, running, how);
    let Normalised { result, running_mean, running_variance, found, input } = normalised;
    let result = match Normalise.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let cut = how.activation.cuts().then(|| result.clone());
            prepared.finish(Kept { input, weight, found, cut, how }, result)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(result),
    };
    (
        result,
        FloatTensor::<Autodiff<Cube, C>>::new(running_mean),
        FloatTensor::<Autodiff<Cube, C>>::new(running_variance),
    )
}

impl Backward<Cube, 4> for Normalise {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 4>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Cube>(&ops.node));
        let Kept { input, weight, found, cut, how } = ops.state;
        let [of_input, of_weight, of_bias, of_around] = ops.parents;
        let of_around = of_around.filter(|_| how.has_around);
        let client = &gradient.client;
        let sizes = Sizes::of(&input);
        let result = cut.as_ref().unwrap_or(&gradient);
        let parts = floats(client, 2 * sizes.parts * sizes.channels);
        let [weight_sums, bias_sums] = [0, 1].map(|_| floats(client, sizes.channels));
        let around = if of_around.is_some() && cut.is_some() {
            floats(client, sizes.places * sizes.channels)
        } else {
            gradient.handle.clone()
        };
        let numbers = || sizes.numbers(how, of_around.is_some() && cut.is_some());
        launch(
            client,
            sizes.kernel("gradient_sums"),
            sizes.by_share(),
            &[&gradient.handle, &result.handle, &input.handle, &found.handle],
            &[&parts],
            numbers(),
        );
        launch(
            client,
            sizes.kernel("finish_gradient_sums"),
            sizes.by_channel(),
            &[&parts],
            &[&weight_sums, &bias_sums],
            numbers(),
        );
        if of_input.is_some() || of_around.is_some() {
            let found_input = floats(client, sizes.places * sizes.channels);
            launch(
                client,
                sizes.kernel("normalise_gradient"),
                sizes.by_four(),
                &[
                    &gradient.handle,
                    &result.handle,
                    &input.handle,
                    &found.handle,
                    &weight.handle,
                    &weight_sums,
                    &bias_sums,
                ],
                &[&found_input, &around],
                numbers(),
            );
            if let Some(node) = of_input {
                gradients.register::<Cube>(node.id, array(&gradient, found_input, input.meta.shape().clone()));
            }
            if let Some(node) = of_around {
                gradients.register::<Cube>(node.id, array(&gradient, around, input.meta.shape().clone()));
            }
        }
        if let Some(node) = of_weight {
            gradients.register::<Cube>(node.id, array(&gradient, weight_sums, [sizes.channels]));
        }
        if let Some(node) = of_bias {
            gradients.register::<Cube>(node.id, array(&gradient, bias_sums, [sizes.channels]));
        }
    }
}

//! Vectors of frames over time: means, the largest, and what was there before.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Cube};

use super::OverTime;
use super::launch::{Array, Kernel, Numbers, Source, array, blocks, contiguous, floats, launch};

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    frames: Array,
    result: Array,
    how: OverTime,
}

/// Samples and numbers of frames' vectors.
fn sizes(frames: &Array, count: usize) -> [usize; 2] {
    [frames.meta.shape()[0] / count.max(1), frames.meta.shape()[1]]
}

fn numbers([samples, width]: [usize; 2], how: OverTime) -> Numbers {
    let OverTime { count, averaged, has_along, cuts } = how;
    Numbers::of([samples, count, width, averaged, usize::from(has_along), usize::from(cuts)])
}

fn pooled(frames: Array, along: Array, how: OverTime) -> Kept {
    let frames = contiguous(frames);
    let [samples, width] = sizes(&frames, how.count);
    let along = if how.has_along { contiguous(along) } else { frames.clone() };
    let result = floats(&frames.client, samples * width);
    launch(
        &frames.client,
        Kernel::plain(Source::Time, "over_time"),
        blocks(samples * width),
        &[&frames.handle, &along.handle],
        &[&result],
        numbers([samples, width], how),
    );
    let result = array(&frames, result, [samples, width]);
    Kept { frames, result, how }
}

pub(super) fn over_time(frames: Array, along: Array, how: OverTime) -> Array {
    pooled(frames, along, how).result
}

#[derive(Debug)]
struct Pool;

pub(super) fn over_time_tracked<C: CheckpointStrategy>(
    frames: FloatTensor<Autodiff<Cube, C>>,
    along: FloatTensor<Autodiff<Cube, C>>,
    how: OverTime,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [frames.node(), along.node()];
    let kept = pooled(frames.into_primitive(), along.into_primitive(), how);
    let result = kept.result.clone();
    match Pool.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish(kept, result),
        OpsKind::UnTracked(prepared) => prepared.finish(result),
    }
}

impl Backward<Cube, 2> for Pool {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Cube>(&ops.node));
        let Kept { frames, result, how } = ops.state;
        let [samples, width] = sizes(&frames, how.count);
        let of_frames = floats(&gradient.client, samples * how.count * width);
        let of_along = floats(&gradient.client, if how.has_along { samples * width } else { 1 });
        launch(
            &gradient.client,
            Kernel::plain(Source::Time, "over_time_gradient"),
            blocks(samples * width),
            &[&gradient.handle, &frames.handle, &result.handle],
            &[&of_frames, &of_along],
            numbers([samples, width], how),
        );
        let [to_frames, to_along] = ops.parents;
        if let Some(node) = to_frames {
            gradients.register::<Cube>(node.id, array(&gradient, of_frames, [samples * how.count, width]));
        }
        if let (Some(node), true) = (to_along, how.has_along) {
            gradients.register::<Cube>(node.id, array(&gradient, of_along, [samples, width]));
        }
    }
}

pub(super) fn with_earlier(now: Array, count: usize) -> Array {
    let now = contiguous(now);
    let [samples, width] = sizes(&now, count);
    let both = floats(&now.client, 2 * samples * count * width);
    launch(
        &now.client,
        Kernel::plain(Source::Time, "with_earlier"),
        blocks(samples * width),
        &[&now.handle],
        &[&both],
        numbers([samples, width], OverTime { count, ..OverTime::default() }),
    );
    array(&now, both, [samples * count, 2 * width])
}

#[derive(Debug)]
struct WithEarlier;

pub(super) fn with_earlier_tracked<C: CheckpointStrategy>(
    now: FloatTensor<Autodiff<Cube, C>>,
    count: usize,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [now.node()];
    let both = with_earlier(now.into_primitive(), count);
    match WithEarlier.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish((both.clone(), count), both),
        OpsKind::UnTracked(prepared) => prepared.finish(both),
    }
}

impl Backward<Cube, 1> for WithEarlier {
    type State = (Array, usize);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Cube>(&ops.node));
        let (both, count) = ops.state;
        let [Some(node)] = ops.parents else { return };
        let [samples, width] = [both.meta.shape()[0] / count.max(1), both.meta.shape()[1] / 2];
        let of_now = floats(&gradient.client, samples * count * width);
        launch(
            &gradient.client,
            Kernel::plain(Source::Time, "with_earlier_gradient"),
            blocks(samples * width),
            &[&gradient.handle, &both.handle],
            &[&of_now],
            numbers([samples, width], OverTime { count, ..OverTime::default() }),
        );
        gradients.register::<Cube>(node.id, array(&gradient, of_now, [samples * count, width]));
    }
}

//! Poolings over maps with channels last, and frames on their way in.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, Cube, DType, Shape};
use burn::cubecl::server::Handle;

use super::launch::{Array, Kernel, Numbers, Source, array, blocks, contiguous, floats, launch};
use super::{Largest, output_size};

/// What the backward pass of the largest of windows needs.
#[derive(Debug, Clone)]
pub(super) struct Winners {
    winners: Handle,
    shape: [usize; 4],
    how: Largest,
}

impl Winners {
    fn size(&self) -> [usize; 2] {
        let Largest { kernel, stride, padding } = self.how;
        [self.shape[1], self.shape[2]].map(|size| output_size(size, kernel, stride, padding))
    }

    /// Channels that a thread takes.
    fn wide(&self) -> usize {
        if self.shape[3].is_multiple_of(4) { 4 } else { 1 }
    }

    fn kernel(&self, entry: &'static str) -> Kernel {
        Kernel { defines: vec![("WIDE", self.wide())], ..Kernel::plain(Source::Pool, entry) }
    }

    fn numbers(&self) -> Numbers {
        let ([samples, height, width, channels], [out_height, out_width]) = (self.shape, self.size());
        let Largest { kernel, stride, padding } = self.how;
        Numbers::of([samples, height, width, out_height, out_width, channels, kernel, stride, padding])
    }
}

fn largest_of_windows(maps: Array, how: Largest) -> (Array, Winners) {
    let maps = contiguous(maps);
    let shape = [0, 1, 2, 3].map(|axis| maps.meta.shape()[axis]);
    let mut winners = Winners { winners: maps.handle.clone(), shape, how };
    let [height, width] = winners.size();
    let count = shape[0] * height * width * shape[3];
    winners.winners = maps.client.empty(count.max(1));
    let result = floats(&maps.client, count);
    launch(
        &maps.client,
        winners.kernel("largest"),
        blocks(count / winners.wide()),
        &[&maps.handle],
        &[&result, &winners.winners],
        winners.numbers(),
    );
    (array(&maps, result, [shape[0], height, width, shape[3]]), winners)
}

pub(super) fn largest(maps: Array, how: Largest) -> Array {
    largest_of_windows(maps, how).0
}

#[derive(Debug)]
struct LargestOfWindows;

pub(super) fn largest_tracked<C: CheckpointStrategy>(
    maps: FloatTensor<Autodiff<Cube, C>>,
    how: Largest,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [maps.node()];
    let (result, winners) = largest_of_windows(maps.into_primitive(), how);
    match LargestOfWindows.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish(winners, result),
        OpsKind::UnTracked(prepared) => prepared.finish(result),
    }
}

impl Backward<Cube, 1> for LargestOfWindows {
    type State = Winners;

    fn backward(self, ops: Ops<Winners, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Cube>(&ops.node));
        let winners = ops.state;
        let [Some(node)] = ops.parents else { return };
        let count: usize = winners.shape.iter().product();
        let found = floats(&gradient.client, count);
        launch(
            &gradient.client,
            winners.kernel("largest_gradient"),
            blocks(count / winners.wide()),
            &[&gradient.handle, &winners.winners],
            &[&found],
            winners.numbers(),
        );
        gradients.register::<Cube>(node.id, array(&gradient, found, winners.shape));
    }
}

/// What the backward pass of a summary needs.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    winners: Handle,
    /// Samples, height, width, channels, detectors, grid.
    sizes: [usize; 6],
}

fn summarise(maps: Array, detected: Array, grid: usize) -> (Array, Seen) {
    let [maps, detected] = [maps, detected].map(contiguous);
    let [samples, height, width, channels] = [0, 1, 2, 3].map(|axis| maps.meta.shape()[axis]);
    let detectors = detected.meta.shape()[3];
    let numbers = grid * grid * channels + detectors;
    let (result, winners) = (floats(&maps.client, samples * numbers), floats(&maps.client, samples * detectors));
    let sizes = [samples, height, width, channels, detectors, grid];
    launch(
        &maps.client,
        Kernel::plain(Source::Pool, "summary"),
        blocks(samples * numbers),
        &[&maps.handle, &detected.handle],
        &[&result, &winners],
        Numbers::of(sizes),
    );
    (array(&maps, result, [samples, numbers]), Seen { winners, sizes })
}

pub(super) fn summary(maps: Array, detected: Array, grid: usize) -> Array {
    summarise(maps, detected, grid).0
}

#[derive(Debug)]
struct Summarise;

pub(super) fn summary_tracked<C: CheckpointStrategy>(
    maps: FloatTensor<Autodiff<Cube, C>>,
    detected: FloatTensor<Autodiff<Cube, C>>,
    grid: usize,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [maps.node(), detected.node()];
    let (result, seen) = summarise(maps.into_primitive(), detected.into_primitive(), grid);
    match Summarise.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish(seen, result),
        OpsKind::UnTracked(prepared) => prepared.finish(result),
    }
}

impl Backward<Cube, 2> for Summarise {
    type State = Seen;

    fn backward(self, ops: Ops<Seen, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Cube>(&ops.node));
        let Seen { winners, sizes } = ops.state;
        let [samples, height, width, channels, detectors, _] = sizes;
        let places = samples * height * width;
        let [of_maps, of_detected] = [channels, detectors].map(|count| floats(&gradient.client, places * count));
        launch(
            &gradient.client,
            Kernel::plain(Source::Pool, "summary_gradient"),
            blocks(places * (channels + detectors)),
            &[&gradient.handle, &winners],
            &[&of_maps, &of_detected],
            Numbers::of(sizes),
        );
        let found = [(of_maps, channels), (of_detected, detectors)];
        for (parent, (found, count)) in ops.parents.into_iter().zip(found) {
            if let Some(node) = parent {
                gradients.register::<Cube>(node.id, array(&gradient, found, [samples, height, width, count]));
            }
        }
    }
}

/// Bytes of count x height x width x 3 as a view `[count, 3, height, width]` of numbers that lie channels last, in fours.
pub(super) fn frames(bytes: &IntTensor<Cube>, size: [usize; 3], factor: [f32; 3], summand: [f32; 3]) -> Array {
    let [count, height, width] = size;
    let pixels = count * height * width;
    let numbers = floats(&bytes.client, 4 * pixels);
    launch(
        &bytes.client,
        Kernel::plain(Source::Arrange, "frames"),
        blocks(pixels),
        &[&bytes.handle],
        &[&numbers],
        Numbers::of([pixels]).floats(factor).floats(summand),
    );
    let shape = Shape::from([count, height, width, 4]);
    let mut padded = Array::new_contiguous(bytes.client.clone(), bytes.device.clone(), shape, numbers, DType::F32);
    padded.meta.shape = Shape::from([count, height, width, 3]);
    Cube::float_permute(padded, &[0, 3, 1, 2])
}

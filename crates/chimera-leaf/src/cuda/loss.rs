//! Binary cross-entropy over known labels with its gradient, in one launch each way.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Cube};

use super::launch::{Array, Kernel, Numbers, Source, array, blocks, contiguous, floats, launch};

/// Threads of the one block that adds up a loss.
const THREADS: u32 = 1024;

/// The loss, and the gradient to the logits where its own is one.
fn entropy([logits, labels, known, weights]: [Array; 4], has_weights: bool) -> [Array; 2] {
    let [logits, labels, known, weights] = [logits, labels, known, weights].map(contiguous);
    let [rows, concepts] = [0, 1].map(|axis| logits.meta.shape()[axis]);
    let (loss, gradient) = (floats(&logits.client, 1), floats(&logits.client, rows * concepts));
    launch(
        &logits.client,
        Kernel { threads: THREADS, ..Kernel::plain(Source::Loss, "cross_entropy") },
        [1, 1, 1],
        &[&logits.handle, &labels.handle, &known.handle, &weights.handle],
        &[&loss, &gradient],
        Numbers::of([rows * concepts, concepts, usize::from(has_weights)]),
    );
    [array(&logits, loss, [1]), array(&logits, gradient, [rows, concepts])]
}

pub(super) fn cross_entropy(operands: [Array; 4], has_weights: bool) -> Array {
    let [loss, _] = entropy(operands, has_weights);
    loss
}

#[derive(Debug)]
struct CrossEntropy;

pub(super) fn cross_entropy_tracked<C: CheckpointStrategy>(
    operands: [FloatTensor<Autodiff<Cube, C>>; 4],
    has_weights: bool,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [operands[0].node()];
    let operands = operands.map(FloatTensor::<Autodiff<Cube, C>>::into_primitive);
    let [loss, gradient] = entropy(operands, has_weights);
    match CrossEntropy.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish(gradient, loss),
        OpsKind::UnTracked(prepared) => prepared.finish(loss),
    }
}

impl Backward<Cube, 1> for CrossEntropy {
    type State = Array;

    fn backward(self, ops: Ops<Array, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upper = contiguous(gradients.consume::<Cube>(&ops.node));
        let gradient = ops.state;
        let [Some(node)] = ops.parents else { return };
        let shape = gradient.meta.shape().clone();
        let count = shape.iter().product();
        let found = floats(&upper.client, count);
        launch(
            &upper.client,
            Kernel::plain(Source::Loss, "cross_entropy_gradient"),
            blocks(count),
            &[&upper.handle, &gradient.handle],
            &[&found],
            Numbers::of([count, 0, 0]),
        );
        gradients.register::<Cube>(node.id, array(&gradient, found, shape));
    }
}

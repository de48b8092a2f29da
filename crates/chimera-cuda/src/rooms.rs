//! Where numbers of a gate lie while it is trained.

/// Where activations of a gate lie: its input, results of both layers, gradients of these, and z of its grafts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rooms {
    pub(crate) input: usize,
    pub(crate) hidden: usize,
    pub(crate) feature: usize,
    pub(crate) feature_gradient: usize,
    pub(crate) hidden_gradient: usize,
    pub(crate) grafted: usize,
}

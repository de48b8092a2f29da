//! Numbers that follow the batches while a network learns, such as running means: part of a module, but no gradient moves
//! them.
//!
//! Burn's own keep an average over threads, at the price of a division a step. Networks here learn in one thread.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::module::{Content, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Device, Tensor};

/// A vector that the forward pass changes. A clone has one of its own.
#[derive(Debug)]
pub(super) struct Running {
    id: ParamId,
    value: Mutex<Tensor<1>>,
}

impl Clone for Running {
    fn clone(&self) -> Self {
        self.copy(self.value())
    }
}

impl Running {
    pub(super) fn new(value: Tensor<1>) -> Self {
        Self { id: ParamId::new(), value: Mutex::new(value) }
    }

    pub(super) fn value(&self) -> Tensor<1> {
        self.lock().clone()
    }

    pub(super) fn update(&self, value: Tensor<1>) {
        *self.lock() = value;
    }

    fn lock(&self) -> MutexGuard<'_, Tensor<1>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another one of the same name.
    fn copy(&self, value: Tensor<1>) -> Self {
        Self { id: self.id, value: Mutex::new(value) }
    }
}

impl Module for Running {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_float(&Param::initialized(self.id, self.value()));
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let (_, value, _) = mapper.map_float(Param::initialized(self.id, self.value())).consume();
        // Whatever happened to it, no gradient is recorded for it.
        self.update(value.set_require_grad(false));
        self
    }

    fn to_device(self, device: &Device) -> Self {
        self.update(self.value().to_device(device));
        self
    }

    fn fork(self, device: &Device) -> Self {
        self.to_device(device)
    }

    fn collect_devices(&self, mut devices: Vec<Device>) -> Vec<Device> {
        let device = self.value().device();
        if !devices.contains(&device) {
            devices.push(device);
        }
        devices
    }

    fn materialize(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        self.copy(self.value().without_autodiff())
    }

    fn train(self) -> Self {
        self.copy(Tensor::from_inner(self.value()))
    }
}

impl fmt::Display for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Running(id={})", self.id)
    }
}

impl ModuleDisplayDefault for Running {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&"Running".to_owned()).optional()
    }
}

impl ModuleDisplay for Running {}

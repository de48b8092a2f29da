//! The parameters of a network by name: taken out, put in, and as the bytes of a canonical safetensors file.

use std::collections::BTreeMap;
use std::path::Path;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use chimera_data::error::{Error, Result, lower_first};

/// Numbers of some shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// Gives the numbers of a parameter of this name and shape.
type Supply<'a> = dyn FnMut(&str, &[usize]) -> Result<Vec<f32>> + 'a;

/// Parameters and running statistics by the paths of their fields, variants of enums left out.
pub(super) fn taken(module: &impl Module) -> BTreeMap<String, Array> {
    let mut taker = Taker::default();
    // Without gradients: values are read, nothing else.
    module.valid().visit(&mut taker);
    taker.found
}

/// The module with all its parameters given by `value`, which is told name and shape.
pub(super) fn replaced<M: Module>(module: M, value: &mut Supply<'_>) -> Result<M> {
    let mut replacer = Replacer { path: Place::default(), value, failure: None };
    let module = module.map(&mut replacer);
    replacer.failure.map_or(Ok(module), Err)
}

/// Where a traversal is.
#[derive(Default)]
struct Place(Vec<String>);

impl Place {
    fn enter(&mut self, name: &str, container: &str) {
        if !is_variant(container) {
            self.0.push(name.to_owned());
        }
    }

    fn exit(&mut self, container: &str) {
        if !is_variant(container) {
            self.0.pop();
        }
    }

    fn name(&self) -> String {
        self.0.join(".")
    }
}

fn is_variant(container: &str) -> bool {
    container.starts_with("Enum:")
}

#[derive(Default)]
struct Taker {
    path: Place,
    found: BTreeMap<String, Array>,
}

impl ModuleVisitor for Taker {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        let values = tensor.into_data().iter::<f32>().collect();
        self.found.insert(self.path.name(), Array { shape, values });
    }
}

struct Replacer<'a, 'b> {
    path: Place,
    value: &'a mut Supply<'b>,
    failure: Option<Error>,
}

impl ModuleMapper for Replacer<'_, '_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        self.path.enter(name, container);
    }

    fn exit_module(&mut self, _: &str, container: &str) {
        self.path.exit(container);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if self.failure.is_some() {
            return param;
        }
        let shape = param.dims();
        match (self.value)(&self.path.name(), &shape) {
            Ok(values) => param.map(|old| {
                let new = Tensor::from_data(TensorData::new(values, shape), &old.device());
                new.set_require_grad(old.is_require_grad())
            }),
            Err(error) => {
                self.failure = Some(error);
                param
            }
        }
    }
}

/// The same arrays give the same bytes: names are sorted, numbers are 32-bit floats, lowest byte first.
pub(super) fn to_bytes(arrays: &BTreeMap<String, Array>) -> Result<Vec<u8>> {
    let numbers: Vec<Vec<u8>> =
        arrays.values().map(|array| array.values.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
    let views = arrays.iter().zip(&numbers).map(|((name, array), bytes)| {
        let view = TensorView::new(Dtype::F32, array.shape.clone(), bytes);
        view.map(|view| (name, view))
    });
    let bytes = views.collect::<std::result::Result<Vec<_>, _>>().and_then(|views| safetensors::serialize(views, None));
    bytes.map_err(|error| Error::input(format!("cannot store the weights: {error}"), None))
}

/// What [`to_bytes`] made. `file` is for messages.
pub(super) fn from_bytes(file: &Path, bytes: &[u8]) -> Result<BTreeMap<String, Array>> {
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| {
        damaged(file, &format!("it is no whole safetensors file ({})", lower_first(&error.to_string())))
    })?;
    let mut arrays = BTreeMap::new();
    for (name, view) in tensors.iter() {
        if view.dtype() != Dtype::F32 {
            return Err(damaged(file, &format!("expected 32-bit floats for `{name}`, got {:?}", view.dtype())));
        }
        let (numbers, _) = view.data().as_chunks();
        let values: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        check_numbers(file, name, &values)?;
        arrays.insert(name.to_owned(), Array { shape: view.shape().to_vec(), values });
    }
    Ok(arrays)
}

/// The module with exactly these arrays as its parameters.
pub(super) fn filled<M: Module>(module: M, file: &Path, mut arrays: BTreeMap<String, Array>) -> Result<M> {
    let module = replaced(module, &mut |name, shape| {
        let array = arrays
            .remove(name)
            .ok_or_else(|| damaged(file, &format!("expected a tensor `{name}` of shape {shape:?}, got none")))?;
        if array.shape != shape {
            let what = format!("expected shape {shape:?} for `{name}`, got {:?}", array.shape);
            return Err(damaged(file, &what));
        }
        Ok(array.values)
    })?;
    match arrays.first_key_value() {
        Some((name, _)) => Err(damaged(file, &format!("the tensor `{name}` has no place in this network"))),
        None => Ok(module),
    }
}

/// Weights that a network can be run with: finite, and no variance below zero.
pub(super) fn check_numbers(file: &Path, name: &str, values: &[f32]) -> Result<()> {
    let is_variance = name.ends_with("running_var");
    match values.iter().position(|value| !value.is_finite() || (is_variance && *value < 0.0)) {
        Some(place) => {
            let expected = if is_variance { "variances of at least 0" } else { "finite numbers" };
            let what = format!("expected {expected} in `{name}`, got `{}` at place {place}", values[place]);
            Err(damaged(file, &what))
        }
        None => Ok(()),
    }
}

pub(super) fn damaged(file: &Path, what: &str) -> Error {
    Error::input(format!("cannot use the weights in `{}`: {what}", file.display()), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::Initial;
    use crate::layer::Linear;
    use burn::tensor::Device;

    fn linear(seed: u64) -> Linear {
        Linear::new(&mut Initial::new(Some(seed), "test", &Device::flex()), 3, 2)
    }

    #[test]
    fn parameters_go_out_and_in_by_name() {
        let arrays = taken(&linear(1));
        assert_eq!(arrays.keys().collect::<Vec<_>>(), ["bias", "weight"]);
        assert_eq!(arrays["weight"].shape, [2, 3]);
        let bytes = to_bytes(&arrays).unwrap();
        assert_eq!(bytes, to_bytes(&taken(&linear(1))).unwrap());
        assert_ne!(bytes, to_bytes(&taken(&linear(2))).unwrap());
        let read = from_bytes(Path::new("w"), &bytes).unwrap();
        assert_eq!(read, arrays);
        let filled = filled(linear(2), Path::new("w"), read).unwrap();
        assert_eq!(taken(&filled), arrays);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let arrays = taken(&linear(1));
        let message = |change: &dyn Fn(&mut BTreeMap<String, Array>)| {
            let mut changed = arrays.clone();
            change(&mut changed);
            let bytes = to_bytes(&changed).unwrap();
            let read = from_bytes(Path::new("w"), &bytes).and_then(|read| filled(linear(2), Path::new("w"), read));
            read.unwrap_err().to_string()
        };
        let start = "cannot use the weights in `w`: ";
        let missing = message(&|arrays| drop(arrays.remove("bias")));
        assert_eq!(missing, format!("{start}expected a tensor `bias` of shape [2], got none"));
        let shape = message(&|arrays| arrays.get_mut("weight").unwrap().shape = vec![3, 2]);
        assert_eq!(shape, format!("{start}expected shape [2, 3] for `weight`, got [3, 2]"));
        let more = message(&|arrays| drop(arrays.insert("extra".to_owned(), arrays["bias"].clone())));
        assert_eq!(more, format!("{start}the tensor `extra` has no place in this network"));
        let number = message(&|arrays| arrays.get_mut("bias").unwrap().values[1] = f32::NAN);
        assert_eq!(number, format!("{start}expected finite numbers in `bias`, got `NaN` at place 1"));
        let bytes = to_bytes(&arrays).unwrap();
        for length in [0, 1, 8, 20, bytes.len() - 1] {
            let error = from_bytes(Path::new("w"), &bytes[..length]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{start}it is no whole safetensors file (")), "{error}");
        }
    }
}

//! What calls in a pickle come to: storages, tensors and dictionaries, or objects that nobody looks into.

use super::{Id, Machine, Step, Storage, Tensor, Value};

/// No tensor has more.
const MOST_DIMENSIONS: usize = 8;

impl Machine<'_> {
    /// `("storage", class, key, place, count)`, the only thing that torch keeps outside of the pickle.
    pub(super) fn storage(&mut self) -> Step {
        let id = self.pop()?;
        let Value::Tuple(items) = &self.values[id] else { return Err("a storage is no tuple".to_owned()) };
        let fields: Vec<&Value> = items.iter().map(|id| &self.values[*id]).collect();
        let storage = match fields.as_slice() {
            [Value::Text(_), Value::Global(class), Value::Text(key), _, Value::Int(count), rest @ ..]
                if rest.iter().all(|value| matches!(value, Value::Other(name) if **name == *"None")) =>
            {
                let count = usize::try_from(*count).map_err(|_| "a storage has a negative length")?;
                Value::Storage(Storage { class: class.clone(), key: key.clone(), count })
            }
            _ => Value::Other("storage".into()),
        };
        self.push(storage)
    }

    pub(super) fn call(&mut self) -> Step {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Value::Tuple(arguments) = &self.values[arguments] else { return Err("arguments are no tuple".to_owned()) };
        let name = self.class_name(function);
        let result = match (&*name, arguments.as_slice()) {
            ("torch._utils._rebuild_tensor_v2", [storage, offset, shape, strides, ..]) => {
                self.tensor([*storage, *offset, *shape, *strides]).map_or(Value::Other(name.clone()), Value::Tensor)
            }
            ("torch._utils._rebuild_parameter", &[data, ..]) => {
                self.stack.push(data);
                return Ok(());
            }
            ("collections.OrderedDict", []) => Value::Dict(Vec::new()),
            ("collections.OrderedDict", &[pairs]) => Value::Dict(self.pairs(pairs)),
            _ => Value::Other(name),
        };
        self.push(result)
    }

    fn tensor(&self, [storage, offset, shape, strides]: [Id; 4]) -> Option<Tensor> {
        let Value::Storage(storage) = &self.values[storage] else { return None };
        let (shape, strides) = (self.sizes(shape)?, self.sizes(strides)?);
        (shape.len() == strides.len()).then_some(())?;
        Some(Tensor { storage: storage.clone(), offset: self.size(offset)?, shape, strides })
    }

    fn size(&self, id: Id) -> Option<usize> {
        let Value::Int(size) = &self.values[id] else { return None };
        usize::try_from(*size).ok()
    }

    fn sizes(&self, id: Id) -> Option<Vec<usize>> {
        let Value::Tuple(items) = &self.values[id] else { return None };
        (items.len() <= MOST_DIMENSIONS).then(|| items.iter().map(|item| self.size(*item)).collect())?
    }

    /// A list of pairs, as old versions of Python store an ordered dictionary. The list is used up.
    fn pairs(&mut self, id: Id) -> Vec<(Id, Id)> {
        let Value::List(items) = &mut self.values[id] else { return Vec::new() };
        let items = std::mem::take(items);
        let pair = |id: &Id| match &self.values[*id] {
            Value::List(pair) | Value::Tuple(pair) => {
                pair.as_slice().try_into().ok().map(|[key, value]: [Id; 2]| (key, value))
            }
            _ => None,
        };
        items.iter().filter_map(pair).collect()
    }
}

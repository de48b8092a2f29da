//! Reads the part of Python's pickle format that state dicts of torch are written in. Nothing is executed: a call is
//! either one of the few that build tensors and dictionaries, or an object that nobody looks into.
//!
//! Values lie in one list and name each other by number, so a value that is shared, or changed after it was noted, is
//! still one value. How many values and operations there may be is bounded, and so is the memory that any input takes.

mod calls;

use std::collections::BTreeMap;
use std::rc::Rc;

const EMPTY: &str = "it takes more than it holds";

/// No state dict has more values: 30,000 tensors are made of so many.
const MOST_VALUES: usize = 1 << 20;

/// Nor takes more operations, each of which notes, stacks or recalls at most one thing.
const MOST_OPERATIONS: usize = 1 << 23;

/// Names made of two texts are short, or many of them could be made of one long text.
const LONGEST_NAME: usize = 1000;

/// The number of a value.
pub(super) type Id = usize;

/// What a pickle can hold, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    /// An integer of more than eight bytes, lowest first.
    Long(Vec<u8>),
    Text(Rc<str>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A class or function: `module.name`.
    Global(Rc<str>),
    Storage(Storage),
    Tensor(Tensor),
    /// Anything else, by the name of its class where it has one.
    Other(Rc<str>),
}

/// Numbers on disk.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Storage {
    /// `torch.FloatStorage` and the like.
    pub(super) class: Rc<str>,
    pub(super) key: Rc<str>,
    pub(super) count: usize,
}

/// A view of a storage.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) storage: Storage,
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

/// A pickle that was read to its end.
#[derive(Debug)]
pub(super) struct Pickle {
    pub(super) values: Vec<Value>,
    pub(super) root: Id,
    /// Bytes it took.
    pub(super) length: usize,
}

/// Reads the pickle at the start of `bytes`. The error says what is wrong.
pub(super) fn read(bytes: &[u8]) -> Result<Pickle, String> {
    let mut machine =
        Machine { bytes, at: 0, values: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: BTreeMap::new() };
    for _ in 0..MOST_OPERATIONS {
        let place = machine.at;
        let operation = machine.byte()?;
        if operation == b'.' {
            let root = machine.pop()?;
            return Ok(Pickle { values: machine.values, root, length: machine.at });
        }
        machine
            .step(operation)
            .map_err(|problem| format!("{problem} (pickle operation 0x{operation:02x} at byte {place})"))?;
    }
    Err(format!("it takes more than {MOST_OPERATIONS} operations to read"))
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    values: Vec<Value>,
    stack: Vec<Id>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: BTreeMap<usize, Id>,
}

type Step = Result<(), String>;

impl Machine<'_> {
    fn step(&mut self, operation: u8) -> Step {
        match operation {
            // Protocol and frame lengths.
            0x80 => self.take(1).map(drop),
            0x95 => self.take(8).map(drop),
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'0' => self.pop().map(drop),
            b'1' => self.since_mark().map(drop),
            b'2' => {
                let top = *self.stack.last().ok_or(EMPTY)?;
                self.stack.push(top);
                Ok(())
            }
            b'q' => self.unsigned(1).and_then(|key| self.note(key)),
            b'r' => self.unsigned(4).and_then(|key| self.note(key)),
            0x94 => self.note(self.memo.len()),
            b'h' => self.unsigned(1).and_then(|key| self.recall(key)),
            b'j' => self.unsigned(4).and_then(|key| self.recall(key)),
            b'N' => self.push(Value::Other("None".into())),
            0x88 | 0x89 => self.push(Value::Other("bool".into())),
            b'G' => self.take(8).map(drop).and_then(|()| self.push(Value::Other("float".into()))),
            b'K' => self.integer(1, false),
            b'M' => self.integer(2, false),
            b'J' => self.integer(4, true),
            0x8a => self.unsigned(1).and_then(|length| self.integer(length, true)),
            b'X' => self.unsigned(4).and_then(|length| self.text(length)),
            0x8c => self.unsigned(1).and_then(|length| self.text(length)),
            0x8d => self.unsigned(8).and_then(|length| self.text(length)),
            b'T' => self.unsigned(4).and_then(|length| self.text(length)),
            b'U' => self.unsigned(1).and_then(|length| self.text(length)),
            b'B' => self.unsigned(4).and_then(|length| self.blob(length)),
            b'C' => self.unsigned(1).and_then(|length| self.blob(length)),
            b']' | 0x8f => self.push(Value::List(Vec::new())),
            b')' => self.push(Value::Tuple(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b't' => self.since_mark().and_then(|items| self.push(Value::Tuple(items))),
            b'l' => self.since_mark().and_then(|items| self.push(Value::List(items))),
            0x85..=0x87 => self.small_tuple(usize::from(operation - 0x84)),
            b'a' => self.pop().and_then(|item| self.append(vec![item])),
            b'e' | 0x90 => self.since_mark().and_then(|items| self.append(items)),
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(&[key, value])
            }
            b'u' => self.since_mark().and_then(|items| self.set_items(&items)),
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Value::Global(format!("{module}.{name}").into()))
            }
            0x93 => self.stack_global(),
            b'Q' => self.storage(),
            b'R' => self.call(),
            0x81 => {
                let (_, class) = (self.pop()?, self.pop()?);
                self.push(Value::Other(self.class_name(class)))
            }
            // The state of an object: attributes of a dictionary, or of what nobody looks into.
            b'b' => self.pop().map(drop),
            _ => Err("this is no state dict of torch".to_owned()),
        }
    }

    fn push(&mut self, value: Value) -> Step {
        if self.values.len() >= MOST_VALUES {
            return Err(format!("it holds more than {MOST_VALUES} values"));
        }
        self.stack.push(self.values.len());
        self.values.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<Id, String> {
        // What lies under a mark is taken together with it only.
        if self.marks.last().is_some_and(|mark| self.stack.len() <= *mark) {
            return Err(EMPTY.to_owned());
        }
        self.stack.pop().ok_or_else(|| EMPTY.to_owned())
    }

    fn since_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().ok_or(EMPTY)?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn take(&mut self, count: usize) -> Result<&[u8], String> {
        let taken = self.bytes[self.at..].get(..count).ok_or("the pickle is cut off")?;
        self.at += count;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn unsigned(&mut self, size: usize) -> Result<usize, String> {
        let number = self.take(size)?.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        usize::try_from(number).map_err(|_| "a length is beyond this machine".to_owned())
    }

    fn integer(&mut self, size: usize, signed: bool) -> Step {
        let bytes = self.take(size)?;
        if size > 8 {
            let bytes = bytes.to_vec();
            return self.push(Value::Long(bytes));
        }
        let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut whole = [if negative { 0xff } else { 0 }; 8];
        whole[..size].copy_from_slice(bytes);
        self.push(Value::Int(i64::from_le_bytes(whole)))
    }

    fn text(&mut self, length: usize) -> Step {
        let text = String::from_utf8_lossy(self.take(length)?).into();
        self.push(Value::Text(text))
    }

    fn blob(&mut self, length: usize) -> Step {
        self.take(length)?;
        self.push(Value::Other("bytes".into()))
    }

    fn line(&mut self) -> Result<String, String> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n').ok_or("the pickle is cut off")?;
        self.at += length + 1;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn note(&mut self, key: usize) -> Step {
        let top = *self.stack.last().ok_or(EMPTY)?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, key: usize) -> Step {
        let id = *self.memo.get(&key).ok_or("it recalls what it never noted")?;
        self.stack.push(id);
        Ok(())
    }

    fn small_tuple(&mut self, length: usize) -> Step {
        let mut items = (0..length).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        self.push(Value::Tuple(items))
    }

    fn append(&mut self, items: Vec<Id>) -> Step {
        let list = *self.stack.last().ok_or(EMPTY)?;
        if let Value::List(list) = &mut self.values[list] {
            list.extend(items);
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Id]) -> Step {
        let dict = *self.stack.last().ok_or(EMPTY)?;
        if let Value::Dict(dict) = &mut self.values[dict] {
            dict.extend(items.as_chunks().0.iter().map(|[key, value]| (*key, *value)));
        }
        Ok(())
    }

    fn stack_global(&mut self) -> Step {
        let (name, module) = (self.pop()?, self.pop()?);
        match (&self.values[module], &self.values[name]) {
            (Value::Text(module), Value::Text(name)) if module.len() + name.len() <= LONGEST_NAME => {
                self.push(Value::Global(format!("{module}.{name}").into()))
            }
            _ => Err("a name is no short text".to_owned()),
        }
    }

    fn class_name(&self, class: Id) -> Rc<str> {
        match &self.values[class] {
            Value::Global(name) | Value::Other(name) => name.clone(),
            _ => "object".into(),
        }
    }
}

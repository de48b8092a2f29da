//! Labels of one Arrow array as words of bits, whatever type the column has.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowNativeTypeOp, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::DataType;
use chimera_logic::bits::words_for;

use crate::table::cell::{CellRule, NotALabel};

/// What a concept's column may be, for messages.
pub(super) const LABEL_TYPES: &str = "booleans, integers, floats or strings";

/// Whether [`labels_of`] reads arrays of this type.
pub(super) fn is_label_type(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Boolean | DataType::Utf8 | DataType::Null)
        || data_type.is_integer()
        || data_type.is_floating()
}

/// Labels of consecutive rows, 64 a word, the first in the lowest bit.
pub(super) struct LabelWords {
    pub(super) value: Vec<u64>,
    /// `None` where all are known.
    pub(super) known: Option<Vec<u64>>,
}

/// The labels in an array; `bad` hears of every value that is none. `None` if the array's type holds no labels.
pub(super) fn labels_of(
    array: &dyn Array,
    rule: CellRule,
    mut bad: impl FnMut(usize, &dyn Display),
) -> Option<LabelWords> {
    let bad = &mut bad;
    match array.data_type() {
        DataType::Boolean => array.as_boolean_opt().map(from_booleans),
        DataType::Utf8 => array.as_string_opt().map(|array| from_strings(array, rule, bad)),
        DataType::Null => {
            let zeros = vec![0; words_for(array.len())];
            Some(LabelWords { value: zeros.clone(), known: Some(zeros) })
        }
        DataType::Int8 => from_numbers::<Int8Type>(array, rule, bad),
        DataType::Int16 => from_numbers::<Int16Type>(array, rule, bad),
        DataType::Int32 => from_numbers::<Int32Type>(array, rule, bad),
        DataType::Int64 => from_numbers::<Int64Type>(array, rule, bad),
        DataType::UInt8 => from_numbers::<UInt8Type>(array, rule, bad),
        DataType::UInt16 => from_numbers::<UInt16Type>(array, rule, bad),
        DataType::UInt32 => from_numbers::<UInt32Type>(array, rule, bad),
        DataType::UInt64 => from_numbers::<UInt64Type>(array, rule, bad),
        DataType::Float16 => from_numbers::<Float16Type>(array, rule, bad),
        DataType::Float32 => from_numbers::<Float32Type>(array, rule, bad),
        DataType::Float64 => from_numbers::<Float64Type>(array, rule, bad),
        _ => None,
    }
}

/// Packed bits are copied by words, wherever in a byte they start.
fn from_booleans(array: &BooleanArray) -> LabelWords {
    let value = array.values().bit_chunks().iter_padded().take(words_for(array.len())).collect();
    LabelWords { value, known: known_words(array) }
}

fn known_words(array: &dyn Array) -> Option<Vec<u64>> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    Some(nulls.inner().bit_chunks().iter_padded().take(words_for(array.len())).collect())
}

fn from_numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    rule: CellRule,
    bad: &mut dyn FnMut(usize, &dyn Display),
) -> Option<LabelWords> {
    let array: &PrimitiveArray<T> = array.as_primitive_opt()?;
    let mut known = known_words(array);
    if rule == CellRule::Signed {
        known.get_or_insert_with(|| vec![u64::MAX; words_for(array.len())]);
    }
    let mut value = Vec::with_capacity(words_for(array.len()));
    for (index, numbers) in array.values().chunks(64).enumerate() {
        let (mut ones, mut zeros, mut others) = (0, 0, 0);
        for (bit, &number) in numbers.iter().enumerate() {
            let (one, zero) = (number == T::Native::ONE, number == T::Native::ZERO);
            ones |= u64::from(one) << bit;
            zeros |= u64::from(zero) << bit;
            others |= u64::from(!one && !zero) << bit;
        }
        if let (CellRule::Signed, Some(known)) = (rule, &mut known) {
            known[index] &= !zeros;
            for (bit, &number) in numbers.iter().enumerate() {
                // Nothing unsigned is below zero, so the largest unsigned number is not taken for -1.
                let minus_one = number.is_lt(T::Native::ZERO) && number.add_wrapping(T::Native::ONE).is_zero();
                others &= !(u64::from(minus_one) << bit);
            }
        }
        value.push(ones);
        // Under a null there may be any number.
        others &= known.as_ref().map_or(u64::MAX, |known| known[index]);
        while others != 0 {
            let bit = others.trailing_zeros() as usize;
            bad(index * 64 + bit, &format_args!("{:?}", numbers[bit]));
            others &= others - 1;
        }
    }
    Some(LabelWords { value, known })
}

fn from_strings(array: &StringArray, rule: CellRule, bad: &mut dyn FnMut(usize, &dyn Display)) -> LabelWords {
    let words = words_for(array.len());
    let (mut value, mut known) = (vec![0; words], vec![0; words]);
    for (row, text) in array.iter().enumerate() {
        match text.map_or(Ok(None), |text| rule.parse(text)) {
            Ok(Some(label)) => {
                value[row / 64] |= u64::from(label) << (row % 64);
                known[row / 64] |= 1 << (row % 64);
            }
            Ok(None) => {}
            Err(NotALabel) => bad(row, &text.unwrap_or_default().trim()),
        }
    }
    let unknown = known.iter().map(|word: &u64| u64::from(word.count_ones())).sum::<u64>() < array.len() as u64;
    LabelWords { value, known: unknown.then_some(known) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Date32Array, Float64Array, Int32Array, NullArray};

    use super::*;

    fn read(array: &dyn Array) -> (Vec<Option<bool>>, Vec<String>) {
        let mut bad = Vec::new();
        let words = labels_of(array, CellRule::ZeroOne, |row, text| bad.push(format!("{row}: {text}"))).unwrap();
        let bit = |words: &[u64], row: usize| words[row / 64] >> (row % 64) & 1 == 1;
        let label = |row| words.known.as_ref().is_none_or(|known| bit(known, row)).then(|| bit(&words.value, row));
        ((0..array.len()).map(label).collect(), bad)
    }

    #[test]
    fn slices_of_packed_bits_are_read_from_any_offset() {
        let mut random = fastrand::Rng::with_seed(4);
        let whole: Vec<Option<bool>> =
            (0..300).map(|_| random.choice([Some(true), Some(false), None]).unwrap()).collect();
        let array = BooleanArray::from(whole.clone());
        for _ in 0..500 {
            let offset = random.usize(0..=300);
            let length = random.usize(0..=300 - offset);
            let (labels, bad) = read(&array.slice(offset, length));
            assert_eq!(labels, whole[offset..offset + length]);
            assert!(bad.is_empty());
        }
    }

    #[test]
    fn all_shapes_of_labels_say_the_same() {
        let expected = vec![Some(false), Some(true), None, Some(true)];
        let shapes: [Arc<dyn Array>; 4] = [
            Arc::new(BooleanArray::from(expected.clone())),
            Arc::new(Int32Array::from(vec![Some(0), Some(1), None, Some(1)])),
            Arc::new(Float64Array::from(vec![Some(-0.0), Some(1.0), None, Some(1.0)])),
            Arc::new(StringArray::from(vec![Some("FALSE"), Some(" 1"), Some(""), Some("true")])),
        ];
        for array in shapes {
            assert!(is_label_type(array.data_type()));
            assert_eq!(read(&array), (expected.clone(), vec![]), "{:?}", array.data_type());
        }
        assert_eq!(read(&NullArray::new(2)).0, [None, None]);
    }

    #[test]
    fn signed_numbers_and_words_say_the_same() {
        let expected = [Some(false), None, Some(true), None];
        let shapes: [Arc<dyn Array>; 3] = [
            Arc::new(Int32Array::from(vec![Some(-1), Some(0), Some(1), None])),
            Arc::new(Float64Array::from(vec![Some(-1.0), Some(-0.0), Some(1.0), None])),
            Arc::new(StringArray::from(vec![Some("-1"), Some("0"), Some("1"), Some("")])),
        ];
        for array in shapes {
            let words = labels_of(&array, CellRule::Signed, |row, text| panic!("{row}: {text}")).unwrap();
            let bit = |words: &[u64], row: usize| words[0] >> row & 1 == 1;
            let known = words.known.unwrap();
            assert_eq!([0, 1, 2, 3].map(|row| bit(&known, row).then(|| bit(&words.value, row))), expected);
        }
        let mut bad = Vec::new();
        let unsigned = arrow_array::UInt8Array::from(vec![255, 1, 2]);
        labels_of(&unsigned, CellRule::Signed, |row, text| bad.push(format!("{row}: {text}"))).unwrap();
        assert_eq!(bad, ["0: 255", "2: 2"]);
    }

    #[test]
    fn other_values_are_told() {
        let numbers = Float64Array::from(vec![Some(0.5), None, Some(f64::NAN), Some(2.0), Some(0.0)]);
        assert_eq!(read(&numbers).1, ["0: 0.5", "2: NaN", "3: 2.0"]);
        assert_eq!(read(&Int32Array::from(vec![0, -1, 2])).1, ["1: -1", "2: 2"]);
        assert_eq!(read(&StringArray::from(vec![" yes ", "1"])).1, ["0: yes"]);
        let dates = Date32Array::from(vec![0, 1]);
        assert!(!is_label_type(dates.data_type()) && labels_of(&dates, CellRule::ZeroOne, |_, _| ()).is_none());
    }
}

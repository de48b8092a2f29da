//! Two sides counted against each other: on how many rows both, one or none of them holds.

/// Rows on which both sides are known, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Contingency {
    /// Both hold.
    pub both: u64,
    /// The left side alone holds.
    pub left_only: u64,
    /// The right side alone holds.
    pub right_only: u64,
    /// Neither holds.
    pub neither: u64,
}

impl Contingency {
    /// Rows on which the left side holds.
    #[must_use]
    pub fn left(self) -> u64 {
        self.both + self.left_only
    }

    /// Rows on which the right side holds.
    #[must_use]
    pub fn right(self) -> u64 {
        self.both + self.right_only
    }

    /// All rows.
    #[must_use]
    pub fn rows(self) -> u64 {
        self.left() + self.right_only + self.neither
    }

    /// The same with the right side negated.
    #[must_use]
    pub(crate) fn negate_right_if(self, negated: bool) -> Self {
        if !negated {
            return self;
        }
        Self { both: self.left_only, left_only: self.both, right_only: self.neither, neither: self.right_only }
    }

    /// How much more often the right side holds where the left one does than over all; `None` where that is not defined.
    #[must_use]
    pub fn lift(self) -> Option<f64> {
        let [both, left, right, rows] = [self.both, self.left(), self.right(), self.rows()].map(|count| count as f64);
        (left > 0.0 && right > 0.0).then(|| both * rows / (left * right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negating_a_side_exchanges_its_columns() {
        let table = Contingency { both: 1, left_only: 2, right_only: 3, neither: 4 };
        let negated = table.negate_right_if(true);
        assert_eq!((negated.left(), negated.right(), negated.rows()), (3, 6, 10));
        assert_eq!((negated.negate_right_if(true), table.negate_right_if(false)), (table, table));
        // 1 of 3 against 4 of 10.
        assert!(table.lift().is_some_and(|lift| (lift - 1.0 / 3.0 / 0.4).abs() < 1e-12));
        assert_eq!(Contingency::default().lift(), None);
    }
}

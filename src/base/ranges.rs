//! Ranges of slots.

use std::ops::Range;

/// Returns what is left of a range without another one: before it, and behind it.
pub(crate) fn without(range: Range<usize>, other: &Range<usize>) -> [Range<usize>; 2] {
    if other.is_empty() {
        return [range.clone(), range.end..range.end];
    }
    let (start, end) = (other.start.clamp(range.start, range.end), other.end.clamp(range.start, range.end));
    [range.start..start, end..range.end]
}

#[cfg(test)]
mod tests {
    use super::without;
    use proptest::prelude::*;

    proptest! {
        /// Contract: what is left of a range has those of its places that the other does not have, each once and in order.
        #[test]
        fn is_as_place_by_place(a in 0usize..9, b in 0usize..9, c in 0usize..9, d in 0usize..9) {
            let (range, other) = (a.min(b)..a.max(b), c.min(d)..c.max(d));
            let left: Vec<usize> = without(range.clone(), &other).into_iter().flatten().collect();
            let expected: Vec<usize> = range.clone().filter(|place| !other.contains(place)).collect();
            prop_assert_eq!(left, expected);
        }
    }
}

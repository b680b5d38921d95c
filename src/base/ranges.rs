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

/// Returns the first place of a range from which on `before` is false; it is true up to there. The search goes from the start on, in steps that double:
/// its cost grows with the logarithm of the way.
#[inline(always)]
pub(crate) fn gallop(range: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (range.start, 1);
    while low + step <= range.end && before(low + step - 1) {
        low += step;
        step *= 2;
    }
    // The place `low + step - 1` is the end, or behind it, or `before` is false there.
    let mut count = (step - 1).min(range.end - low);
    while count > 0 {
        let half = count / 2;
        if before(low + half) {
            (low, count) = (low + half + 1, count - half - 1);
        } else {
            count = half;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::{gallop, without};
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

        /// Contract: a gallop ends at the first place where the condition fails, or at the end.
        #[test]
        fn a_gallop_ends_where_the_condition_does(start in 0usize..40, len in 0usize..40, most in 0usize..90) {
            let range = start..start + len;
            prop_assert_eq!(gallop(range.clone(), |place| place < most), most.clamp(range.start, range.end));
        }
    }
}

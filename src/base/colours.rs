//! Greedy colouring: things of one colour share no place (body, row, node), so that they can be solved side by side.

use std::ops::BitOr;

/// The colours of a place, as bits.
pub(crate) trait Colours: Copy + BitOr<Output = Self> {
    fn one(colour: usize) -> Self;
    /// The lowest colour that is not among them.
    fn lowest_free(self) -> usize;
}

macro_rules! impl_colours {
    ($($bits:ty)*) => {
        $(impl Colours for $bits {
            #[inline(always)]
            fn one(colour: usize) -> Self {
                1 << colour
            }
            #[inline(always)]
            fn lowest_free(self) -> usize {
                self.trailing_ones() as usize
            }
        })*
    };
}
impl_colours!(u32 u64);

/// Picks the lowest colour that none of these places has, of `most` colours, and gives it to all of them. Returns `most`, and
/// changes nothing, if there is none.
#[inline(always)]
pub(crate) fn pick<T: Colours>(
    taken: &mut [T],
    mut places: impl Iterator<Item = usize> + Clone,
    most: usize,
) -> usize {
    let mut rest = places.clone();
    let Some(first) = rest.next() else { return 0 };
    let colour = rest.fold(taken[first], |known, place| known | taken[place]).lowest_free();
    if colour >= most {
        return most;
    }
    places.by_ref().for_each(|place| taken[place] = taken[place] | T::one(colour));
    colour
}

#[cfg(test)]
mod tests {
    use super::pick;
    use proptest::prelude::*;

    proptest! {
        /// Contract: two things of one colour share no place; a thing gets no colour only if all are taken at its places, and no
        /// lower colour is free.
        #[test]
        fn colours_are_the_lowest_free(things in prop::collection::vec([0usize..12, 0usize..12], 0..120)) {
            const MOST: usize = 9;
            let mut taken = [0u32; 12];
            let mut given: Vec<([usize; 2], usize)> = Vec::new();
            for places in things {
                let colour = pick(&mut taken, places.into_iter(), MOST);
                let has = |colour: usize| given.iter().any(|(other, c)| *c == colour && other.iter().any(|p| places.contains(p)));
                prop_assert!(colour == MOST || !has(colour));
                prop_assert!((0..colour).all(has));
                if colour < MOST {
                    given.push((places, colour));
                }
            }
        }
    }
}

//! The pairs of bodies that joints keep from touching.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Pairs of handle indices, each with the number of joints that keep the two apart.
#[derive(Default)]
pub(crate) struct Apart {
    pairs: HashMap<u64, u32, BuildHasherDefault<Mix>>,
    /// The number of the pairs that each body is in, by its handle index.
    counts: Vec<u32>,
}

/// Hashes a pair by multiplication (Fibonacci hashing, D. Knuth, "The Art of Computer Programming", vol. 3): each pair that two
/// joined bodies form in the broadphase is looked up, and the standard hash does more work for each, to withstand keys that an attacker
/// picks. Only the answer counts, never an order.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

impl Apart {
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns true if a joint keeps two bodies, given by their handle indices, apart.
    #[inline]
    pub(crate) fn has(&self, a: u32, b: u32) -> bool {
        let joined = |body: u32| self.counts.get(body as usize).is_some_and(|&count| count > 0);
        joined(a) && joined(b) && self.pairs.contains_key(&key(a, b))
    }

    /// Notes one joint more that keeps two bodies apart. Returns true if it is the first.
    pub(crate) fn add(&mut self, a: u32, b: u32) -> bool {
        let most = a.max(b) as usize;
        if self.counts.len() <= most {
            self.counts.resize(most + 1, 0);
        }
        let joints = self.pairs.entry(key(a, b)).or_insert(0);
        *joints += 1;
        let first = *joints == 1;
        if first {
            [a, b].into_iter().for_each(|body| self.counts[body as usize] += 1);
        }
        first
    }

    /// Notes one joint less. Returns true if it was the last.
    pub(crate) fn remove(&mut self, a: u32, b: u32) -> bool {
        let Some(joints) = self.pairs.get_mut(&key(a, b)) else { return false };
        *joints -= 1;
        let last = *joints == 0;
        if last {
            self.pairs.remove(&key(a, b));
            [a, b].into_iter().for_each(|body| self.counts[body as usize] -= 1);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::Apart;
    use proptest::prelude::*;

    proptest! {
        /// Contract: two bodies are kept apart for as long as there is a joint that does it, in whichever order it names them.
        #[test]
        fn pairs_are_counted(operations in prop::collection::vec((any::<bool>(), 0u32..5, 0u32..5), 0..200)) {
            let mut apart = Apart::default();
            let mut joints: Vec<(u32, u32)> = Vec::new();
            for (add, a, b) in operations {
                let between = |joints: &[(u32, u32)], a: u32, b: u32| joints.iter().filter(|&&(c, d)| (c, d) == (a, b) || (d, c) == (a, b)).count();
                if a == b {
                    continue;
                }
                if add {
                    joints.push((a, b));
                    prop_assert_eq!(apart.add(b, a), between(&joints, a, b) == 1);
                } else if let Some(at) = joints.iter().position(|&joint| joint == (a, b)) {
                    joints.swap_remove(at);
                    prop_assert_eq!(apart.remove(a, b), between(&joints, a, b) == 0);
                }
                for a in 0..6 {
                    for b in 0..6 {
                        prop_assert_eq!(apart.has(a, b), between(&joints, a, b) > 0);
                    }
                }
                prop_assert_eq!(apart.is_empty(), joints.is_empty());
            }
        }
    }
}

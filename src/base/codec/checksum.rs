//! The checksum of snapshots, differences and recordings.

/// A checksum of bytes: four sums side by side, each of which a change of one of its words changes for certain (an odd factor and a
/// rotation lose nothing), mixed at the end. It guards against accidents, not against people.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const FACTORS: [u64; 4] =
        [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x27D4_EB2F_1656_67C5];
    let mut sums = FACTORS.map(|factor| factor ^ bytes.len() as u64);
    let mut add = |words: &[[u8; 8]]| {
        for ((sum, factor), &word) in sums.iter_mut().zip(FACTORS).zip(words) {
            *sum = (*sum ^ u64::from_le_bytes(word)).wrapping_mul(factor).rotate_left(29);
        }
    };
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        add(block.as_chunks::<8>().0);
    }
    let mut last = [0; 32];
    last[..rest.len()].copy_from_slice(rest);
    add(last.as_chunks::<8>().0);
    sums.into_iter().fold(0, |all, sum| {
        let mixed = (all ^ sum).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ mixed >> 32
    })
}

#[cfg(test)]
mod tests {
    use super::checksum;
    use proptest::prelude::*;

    proptest! {
        /// Contract: the checksum changes with each bit, and with the length.
        #[test]
        fn each_bit_counts(bytes in prop::collection::vec(any::<u8>(), 1..200), bit in any::<prop::sample::Index>()) {
            let bit = bit.index(8 * bytes.len());
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            prop_assert_ne!(checksum(&bytes), checksum(&other));
            other.clone_from(&bytes);
            other.push(0);
            prop_assert_ne!(checksum(&bytes), checksum(&other));
        }
    }
}

//! Random numbers of the scenes: the mixing function of SplitMix64 over a counter, integer arithmetic alone, so
//! that a scene is the same everywhere. A number is known by its place, not by how many were drawn before.

/// Uniform in `0.0..1.0`, a multiple of 2⁻²⁴.
pub fn unit(seed: u64, place: usize) -> f32 {
    let mut z = (seed << 40).wrapping_add(place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 40) as f32 / 16_777_216.0
}

/// Uniform between `from` and `to`.
pub fn between(seed: u64, place: usize, from: f32, to: f32) -> f32 {
    from + (to - from) * unit(seed, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers stay in their range and have its mean; another seed gives others.
    #[test]
    fn uniform() {
        let mean = |seed| (0..10_000).map(|place| between(seed, place, 2.0, 4.0)).sum::<f32>() / 10_000.0;
        assert!((mean(1) - 3.0).abs() < 0.02 && (mean(2) - 3.0).abs() < 0.02);
        assert!((0..10_000).all(|place| (0.0..1.0).contains(&unit(3, place))));
        assert_ne!(unit(1, 0), unit(2, 0));
    }
}

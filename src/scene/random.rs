//! The random generator of the built-in scenes: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", 2014). It uses only integer arithmetic, one square root and one division, so that a scene is the same
//! on every machine. A library's `sin` would not guarantee that.

use glam::Vec2;

pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform number in `0.0..1.0`, a multiple of 2⁻²⁴ (so that no rounding reaches 1).
    pub(super) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 16_777_216.0
    }

    /// A uniform number between `from` and `to`.
    pub(super) fn between(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.unit()
    }

    /// True half of the time.
    pub(super) fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }

    /// A unit vector of uniformly random direction: a random point of the unit disc, scaled to length 1. Points near
    /// the centre are drawn again, because their directions are inexact.
    pub(super) fn direction(&mut self) -> Vec2 {
        loop {
            let point = Vec2::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            let square = point.x * point.x + point.y * point.y;
            if (0.01..=1.0).contains(&square) {
                return point / square.sqrt();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference sequence of SplitMix64 for seed 1234567.
    #[test]
    fn follows_the_published_sequence() {
        let mut random = Random::new(1_234_567);
        let first: [u64; 3] = std::array::from_fn(|_| random.next());
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// Numbers stay in their range and directions have length 1.
    #[test]
    fn stays_in_range() {
        let mut random = Random::new(7);
        for _ in 0..10_000 {
            let unit = random.unit();
            assert!((0.0..1.0).contains(&unit), "{unit}");
            let length = random.direction().length();
            assert!((length - 1.0).abs() < 1e-6, "{length}");
        }
    }
}

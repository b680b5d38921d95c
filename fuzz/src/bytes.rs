//! The input, read from its front.

use granule::{Shape, Vec2};

/// What is left of the input; zeroes once it is used up.
pub struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    /// A fraction in 0..1.
    pub fn unit(&mut self) -> f32 {
        f32::from(self.byte()) / 256.0
    }

    /// Mostly a moderate number on a grid that makes shapes touch and coincide, at times any bits at all.
    pub fn number(&mut self) -> f32 {
        match self.byte() {
            kind @ 0..=239 => (f32::from(kind) - 120.0) / 16.0,
            240..=243 => (f32::from(self.byte()) - 128.0) * 1_000.0,
            244..=247 => {
                [0.0, -0.0, 1e-30, f32::MIN_POSITIVE, 1e6, -1e6, 1e7, f32::MAX][usize::from(self.byte() % 8)]
            }
            248..=251 => (f32::from(self.byte()) - 128.0) / 1_024.0,
            _ => f32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
        }
    }

    pub fn vector(&mut self) -> Vec2 {
        Vec2::new(self.number(), self.number())
    }

    /// A radius or half extent.
    pub fn size(&mut self) -> f32 {
        match self.byte() {
            kind @ 0..=247 => (1.0 + f32::from(kind % 16)) / 16.0,
            248..=251 => 10.0,
            252 => 1_000.0,
            253 => Shape::MIN_EXTENT,
            254 => Shape::MAX_EXTENT,
            _ => self.number(),
        }
    }
}

//! The scalar level: one lane, an `f32`. It is the reference that all other levels are compared with.

use super::{HalfRow, Lane, Mask, Row, RowOffset};
use crate::isa::Isa;

impl Mask for bool {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self as u32
    }
}

impl Lane for f32 {
    const WIDTH: usize = 1;
    const ISA: Isa = Isa::Scalar;
    type Mask = bool;
    type Narrow = f32;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        from[0]
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        to[0] = self;
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self < other
    }
    #[inline(always)]
    fn le(self, other: Self) -> bool {
        self <= other
    }
    #[inline(always)]
    fn gt(self, other: Self) -> bool {
        self > other
    }
    #[inline(always)]
    fn ge(self, other: Self) -> bool {
        self >= other
    }
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4] {
        // SAFETY: the caller guarantees that there is this row, which no other thread writes.
        unsafe { (*rows.byte_add(at[0].bytes())).0 }
    }
    #[inline(always)]
    unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [Self; 4]) {
        // SAFETY: the caller guarantees that there is this row, which no other thread writes.
        unsafe { (*rows.byte_add(at[0].bytes())).0 = columns }
    }
    #[inline(always)]
    unsafe fn gather_half_rows(pairs: *const HalfRow, at: &[u32]) -> [Self; 2] {
        // SAFETY: the caller guarantees that there is this half row, which no other thread writes.
        unsafe { (*pairs.add(at[0] as usize)).0 }
    }
    #[inline(always)]
    unsafe fn scatter_half_rows(pairs: *mut HalfRow, at: &[u32], columns: [Self; 2]) {
        // SAFETY: the caller guarantees that there is this half row, which no other thread writes.
        unsafe { store(pairs.add(at[0] as usize), columns) }
    }
}

/// Stores both scalars of a half row. Two plain stores were compiled to one that puts the two together in an integer
/// register: the scalar path's links took a third longer in `granule run cloth --bodies 16384 --lanes 1`.
#[inline(always)]
unsafe fn store(to: *mut HalfRow, [x, y]: [f32; 2]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_castps_pd, _mm_set_ss, _mm_storel_pd, _mm_unpacklo_ps};
        // SAFETY: SSE2 is part of x86-64; the caller guarantees that there is this half row, which no other thread writes.
        unsafe { _mm_storel_pd(to.cast(), _mm_castps_pd(_mm_unpacklo_ps(_mm_set_ss(x), _mm_set_ss(y)))) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller guarantees that there is this half row, which no other thread writes.
    unsafe {
        (*to).0 = [x, y];
    }
}

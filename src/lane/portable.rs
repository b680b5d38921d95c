//! The portable level: four lanes, by `wide`. This is the only file that names `wide`, whose `f32x4` is made of the
//! instructions that the whole program is compiled for: SSE2 on x86-64, NEON on aarch64, simd128 on wasm32 if it is
//! enabled, and elsewhere four floats.

use super::{HalfRow, Lane, Mask, Row, RowOffset};
use crate::isa::Isa;
use wide::f32x4;

/// The vector of the portable level.
pub(crate) type Portable = f32x4;

impl Mask for f32x4 {
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
        self.to_bitmask()
    }
}

impl Lane for f32x4 {
    const WIDTH: usize = 4;
    const ISA: Isa = Isa::Portable;
    type Mask = Self;
    type Narrow = Self;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        f32x4::splat(value)
    }
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        let array: &[f32; 4] = from[..4].try_into().expect("length checked");
        bytemuck::pod_read_unaligned(bytemuck::bytes_of(array))
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        to[..4].copy_from_slice(&self.to_array());
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32x4::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32x4::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // One instruction on x86, where it has just these semantics; elsewhere `fast_max` is free to order NaN and ±0
        // as the hardware likes.
        if cfg!(target_arch = "x86_64") {
            self.fast_max(other)
        } else {
            Lane::select(Lane::gt(self, other), self, other)
        }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if cfg!(target_arch = "x86_64") {
            self.fast_min(other)
        } else {
            Lane::select(Lane::lt(self, other), self, other)
        }
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self {
        self.simd_lt(other)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self {
        self.simd_le(other)
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Self {
        self.simd_gt(other)
    }
    #[inline(always)]
    fn ge(self, other: Self) -> Self {
        self.simd_ge(other)
    }
    #[inline(always)]
    fn select(mask: Self, yes: Self, no: Self) -> Self {
        wide::Select::select(mask, yes, no)
    }

    // Arrays of registers are taken apart by hand in what follows. With `map`, which the compiler did not take apart
    // here, they went through memory in pieces, and four lanes were 20 times slower than eight in
    // `granule run pyramid --bodies 10000`.

    #[inline(always)]
    unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4] {
        let at: &[RowOffset; 4] = at[..4].try_into().expect("length checked");
        // SAFETY: the caller guarantees that each offset is that of a row which no other thread writes.
        unsafe { f32x4::transpose([row(rows, at[0]), row(rows, at[1]), row(rows, at[2]), row(rows, at[3])]) }
    }

    #[inline(always)]
    unsafe fn scatter(rows: *mut Row, at: &[RowOffset], columns: [Self; 4]) {
        let at: &[RowOffset; 4] = at[..4].try_into().expect("length checked");
        let [a, b, c, d] = f32x4::transpose(columns);
        // SAFETY: the caller guarantees that each offset is that of a row which no other thread writes.
        unsafe {
            store_row(rows, at[0], a);
            store_row(rows, at[1], b);
            store_row(rows, at[2], c);
            store_row(rows, at[3], d);
        }
    }

    #[inline(always)]
    unsafe fn gather_half_rows(halves: *const HalfRow, at: &[u32]) -> [Self; 2] {
        let at: &[u32; 4] = at[..4].try_into().expect("length checked");
        // SAFETY: the caller guarantees that each index is that of a half row which no other thread writes.
        let [[a, e], [b, f], [c, g], [d, h]] =
            unsafe { [half(halves, at[0]), half(halves, at[1]), half(halves, at[2]), half(halves, at[3])] };
        [f32x4::new([a, b, c, d]), f32x4::new([e, f, g, h])]
    }

    #[inline(always)]
    unsafe fn scatter_half_rows(halves: *mut HalfRow, at: &[u32], [x, y]: [Self; 2]) {
        let at: &[u32; 4] = at[..4].try_into().expect("length checked");
        let (x, y) = (x.to_array(), y.to_array());
        for i in 0..4 {
            // SAFETY: the caller guarantees that each index is that of a half row which no other thread writes.
            unsafe { (*halves.add(at[i] as usize)).0 = [x[i], y[i]] };
        }
    }
}

#[inline(always)]
unsafe fn row(rows: *const Row, at: RowOffset) -> f32x4 {
    // SAFETY: the caller guarantees that there is this row, which no other thread writes.
    f32x4::new(unsafe { (*rows.byte_add(at.bytes())).0 })
}

#[inline(always)]
unsafe fn store_row(rows: *mut Row, at: RowOffset, row: f32x4) {
    // SAFETY: the caller guarantees that there is this row, which no other thread writes.
    unsafe { (*rows.byte_add(at.bytes())).0 = row.to_array() }
}

#[inline(always)]
unsafe fn half(halves: *const HalfRow, at: u32) -> [f32; 2] {
    // SAFETY: the caller guarantees that there is this half row, which no other thread writes.
    unsafe { (*halves.add(at as usize)).0 }
}

//! The AVX-512 level: sixteen lanes.
//!
//! Kernels that wait for the memory of bodies more than for arithmetic use [`Lane::Narrow`], which is the vector of AVX2 here:
//! with sixteen lanes the one-point solver of `packed` took 0.93 ms instead of 0.79, and the links of `cloth` 7.7 ms instead of
//! 5.4 (`granule run`, an Intel Xeon of the Sapphire Rapids generation).

use super::avx2::Avx2;
use super::{HalfRow, Lane, Mask, Row, RowOffset};
use crate::isa::Isa;
use core::arch::x86_64::*;

/// The vector of the AVX-512 level. Its safe operations need AVX-512 F and DQ. Kernels get it from `with_lanes!` alone, which asks
/// for a [`Level`](crate::isa::Level), and so for a processor that has these.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Avx512(__m512);

/// A bit a lane.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Mask16(__mmask16);

impl Mask for Mask16 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Mask16(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Mask16(self.0 | other.0)
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self.0)
    }
}

operators!(Avx512: _mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps, _mm512_div_ps, _mm512_xor_ps, _mm512_set1_ps);

impl Lane for Avx512 {
    const WIDTH: usize = 16;
    const ISA: Isa = Isa::Avx512;
    type Mask = Mask16;
    type Narrow = Avx2;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `Avx512`.
        Avx512(unsafe { _mm512_set1_ps(value) })
    }
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        // SAFETY: see `Avx512`; the slice is that long.
        Avx512(unsafe { _mm512_loadu_ps(from[..16].as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        // SAFETY: see `Avx512`; the slice is that long.
        unsafe { _mm512_storeu_ps(to[..16].as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see `Avx512`.
        Avx512(unsafe { _mm512_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see `Avx512`.
        Avx512(unsafe { _mm512_abs_ps(self.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see `Avx512`.
        Avx512(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see `Avx512`.
        Avx512(unsafe { _mm512_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask16 {
        // SAFETY: see `Avx512`.
        Mask16(unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask16 {
        // SAFETY: see `Avx512`.
        Mask16(unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Mask16 {
        // SAFETY: see `Avx512`.
        Mask16(unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn ge(self, other: Self) -> Mask16 {
        // SAFETY: see `Avx512`.
        Mask16(unsafe { _mm512_cmp_ps_mask::<_CMP_GE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(mask: Mask16, yes: Self, no: Self) -> Self {
        // SAFETY: see `Avx512`.
        Avx512(unsafe { _mm512_mask_blend_ps(mask.0, no.0, yes.0) })
    }

    #[inline(always)]
    fn pack(self, bits: u32, to: &mut [f32]) {
        // SAFETY: see `Avx512`; the slice is that long.
        unsafe {
            _mm512_storeu_ps(to[..16].as_mut_ptr(), _mm512_maskz_compress_ps(bits as __mmask16, self.0))
        }
    }

    // Rows i, i + 4, i + 8 and i + 12 are in the quarters of a register, so that a 4×4 transpose in each quarter puts every
    // lane in its place.

    #[inline(always)]
    unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4] {
        let at: &[RowOffset; 16] = at[..16].try_into().expect("length checked");
        // SAFETY: see `Avx512`; the caller guarantees that each offset is that of a row which no other thread writes.
        unsafe {
            let [a, b, c, d] = transpose([
                four_rows(rows, [at[0], at[4], at[8], at[12]]),
                four_rows(rows, [at[1], at[5], at[9], at[13]]),
                four_rows(rows, [at[2], at[6], at[10], at[14]]),
                four_rows(rows, [at[3], at[7], at[11], at[15]]),
            ]);
            [Avx512(a), Avx512(b), Avx512(c), Avx512(d)]
        }
    }

    #[inline(always)]
    unsafe fn scatter(rows: *mut Row, at: &[RowOffset], [a, b, c, d]: [Self; 4]) {
        let at: &[RowOffset; 16] = at[..16].try_into().expect("length checked");
        // SAFETY: see `Avx512`; the caller guarantees that each offset is that of a row which no other thread writes. The quarters are stored in the order of
        // the lanes.
        unsafe {
            let [a, b, c, d] = transpose([a.0, b.0, c.0, d.0]);
            store_quarter::<0>(rows, [at[0], at[1], at[2], at[3]], [a, b, c, d]);
            store_quarter::<1>(rows, [at[4], at[5], at[6], at[7]], [a, b, c, d]);
            store_quarter::<2>(rows, [at[8], at[9], at[10], at[11]], [a, b, c, d]);
            store_quarter::<3>(rows, [at[12], at[13], at[14], at[15]], [a, b, c, d]);
        }
    }

    #[inline(always)]
    unsafe fn gather_half_rows(halves: *const HalfRow, at: &[u32]) -> [Self; 2] {
        // SAFETY: see `Avx512`; the caller guarantees that each index is that of a half row which no other thread writes.
        unsafe {
            let [low_x, low_y] = Avx2::gather_half_rows(halves, at);
            let [high_x, high_y] = Avx2::gather_half_rows(halves, &at[8..]);
            [join(low_x, high_x), join(low_y, high_y)]
        }
    }

    #[inline(always)]
    unsafe fn scatter_half_rows(halves: *mut HalfRow, at: &[u32], [x, y]: [Self; 2]) {
        // SAFETY: see `Avx512`; the caller guarantees that each index is that of a half row which no other thread writes.
        unsafe {
            Avx2::scatter_half_rows(halves, at, [low(x), low(y)]);
            Avx2::scatter_half_rows(halves, &at[8..], [high(x), high(y)]);
        }
    }
}

/// Transposes the 4×4 matrices in all quarters.
#[inline(always)]
unsafe fn transpose([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    // SAFETY: see `Avx512`.
    unsafe {
        let ab_low = _mm512_unpacklo_ps(a, b);
        let ab_high = _mm512_unpackhi_ps(a, b);
        let cd_low = _mm512_unpacklo_ps(c, d);
        let cd_high = _mm512_unpackhi_ps(c, d);
        [
            _mm512_shuffle_ps::<0x44>(ab_low, cd_low),
            _mm512_shuffle_ps::<0xEE>(ab_low, cd_low),
            _mm512_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm512_shuffle_ps::<0xEE>(ab_high, cd_high),
        ]
    }
}

#[inline(always)]
unsafe fn four_rows(rows: *const Row, at: [RowOffset; 4]) -> __m512 {
    // SAFETY: the caller guarantees that there are these rows, which no other thread writes; `Row` is aligned to 16 bytes.
    unsafe {
        let first = _mm512_castps128_ps512(_mm_load_ps(rows.byte_add(at[0].bytes()).cast()));
        let two = _mm512_insertf32x4::<1>(first, _mm_load_ps(rows.byte_add(at[1].bytes()).cast()));
        let three = _mm512_insertf32x4::<2>(two, _mm_load_ps(rows.byte_add(at[2].bytes()).cast()));
        _mm512_insertf32x4::<3>(three, _mm_load_ps(rows.byte_add(at[3].bytes()).cast()))
    }
}

/// Stores quarter `Q` of the four registers as rows.
#[inline(always)]
unsafe fn store_quarter<const Q: i32>(rows: *mut Row, at: [RowOffset; 4], [a, b, c, d]: [__m512; 4]) {
    // SAFETY: the caller guarantees that there are these rows, which no other thread writes; `Row` is aligned to 16 bytes.
    unsafe {
        _mm_store_ps(rows.byte_add(at[0].bytes()).cast(), _mm512_extractf32x4_ps::<Q>(a));
        _mm_store_ps(rows.byte_add(at[1].bytes()).cast(), _mm512_extractf32x4_ps::<Q>(b));
        _mm_store_ps(rows.byte_add(at[2].bytes()).cast(), _mm512_extractf32x4_ps::<Q>(c));
        _mm_store_ps(rows.byte_add(at[3].bytes()).cast(), _mm512_extractf32x4_ps::<Q>(d));
    }
}

#[inline(always)]
unsafe fn join(low: Avx2, high: Avx2) -> Avx512 {
    // SAFETY: see `Avx512`.
    Avx512(unsafe { _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low.0), high.0) })
}

#[inline(always)]
unsafe fn low(of: Avx512) -> Avx2 {
    // SAFETY: see `Avx512`.
    Avx2(unsafe { _mm512_castps512_ps256(of.0) })
}

#[inline(always)]
unsafe fn high(of: Avx512) -> Avx2 {
    // SAFETY: see `Avx512`.
    Avx2(unsafe { _mm512_extractf32x8_ps::<1>(of.0) })
}

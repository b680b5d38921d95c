//! The AVX2 level: eight lanes.

use super::{HalfRow, Lane, Mask, Row, RowOffset, SET_BITS};
use crate::isa::Isa;
use core::arch::x86_64::*;

/// The vector of the AVX2 level. Its safe operations need AVX. Kernels get it from `with_lanes!` alone, which asks for a
/// [`Level`](crate::isa::Level), and so for a processor that has AVX2.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Avx2(pub(super) __m256);

/// All bits of a lane are set or none.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Mask8(__m256);

impl Mask for Mask8 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Mask8(unsafe { _mm256_and_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Mask8(unsafe { _mm256_or_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        // SAFETY: see `Avx2`.
        unsafe { _mm256_movemask_ps(self.0) as u32 }
    }
}

operators!(Avx2: _mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps, _mm256_div_ps, _mm256_xor_ps, _mm256_set1_ps);

impl Lane for Avx2 {
    const WIDTH: usize = 8;
    const ISA: Isa = Isa::Avx2;
    type Mask = Mask8;
    type Narrow = Self;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        // SAFETY: see `Avx2`; the slice is that long.
        Avx2(unsafe { _mm256_loadu_ps(from[..8].as_ptr()) })
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        // SAFETY: see `Avx2`; the slice is that long.
        unsafe { _mm256_storeu_ps(to[..8].as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask8 {
        // SAFETY: see `Avx2`.
        Mask8(unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask8 {
        // SAFETY: see `Avx2`.
        Mask8(unsafe { _mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn gt(self, other: Self) -> Mask8 {
        // SAFETY: see `Avx2`.
        Mask8(unsafe { _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn ge(self, other: Self) -> Mask8 {
        // SAFETY: see `Avx2`.
        Mask8(unsafe { _mm256_cmp_ps::<_CMP_GE_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        // SAFETY: see `Avx2`.
        Avx2(unsafe { _mm256_blendv_ps(no.0, yes.0, mask.0) })
    }

    #[inline(always)]
    fn pack(self, bits: u32, to: &mut [f32]) {
        let lanes = &SET_BITS[(bits & 255) as usize];
        // SAFETY: see `Avx2`; the table's entries are eight bytes long, and the slice eight numbers.
        unsafe {
            let order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().cast()));
            _mm256_storeu_ps(to[..8].as_mut_ptr(), _mm256_permutevar8x32_ps(self.0, order));
        }
    }

    // Row i is in the low half of a register, row i + 4 in the high half, so that a 4×4 transpose in each half puts
    // every lane in its place and no shuffle crosses the halves.

    #[inline(always)]
    unsafe fn gather(rows: *const Row, at: &[RowOffset]) -> [Self; 4] {
        let at: &[RowOffset; 8] = at[..8].try_into().expect("length checked");
        // SAFETY: see `Avx2`; the caller guarantees that each offset is that of a row which no other thread writes.
        unsafe {
            let [a, b, c, d] = transpose([
                two_rows(rows, at[0], at[4]),
                two_rows(rows, at[1], at[5]),
                two_rows(rows, at[2], at[6]),
                two_rows(rows, at[3], at[7]),
            ]);
            [Avx2(a), Avx2(b), Avx2(c), Avx2(d)]
        }
    }

    #[inline(always)]
    unsafe fn scatter(rows: *mut Row, at: &[RowOffset], [a, b, c, d]: [Self; 4]) {
        let at: &[RowOffset; 8] = at[..8].try_into().expect("length checked");
        // SAFETY: see `Avx2`; the caller guarantees that each offset is that of a row which no other thread writes.
        unsafe {
            let [a, b, c, d] = transpose([a.0, b.0, c.0, d.0]);
            store_row(rows, at[0], _mm256_castps256_ps128(a));
            store_row(rows, at[1], _mm256_castps256_ps128(b));
            store_row(rows, at[2], _mm256_castps256_ps128(c));
            store_row(rows, at[3], _mm256_castps256_ps128(d));
            store_row(rows, at[4], _mm256_extractf128_ps::<1>(a));
            store_row(rows, at[5], _mm256_extractf128_ps::<1>(b));
            store_row(rows, at[6], _mm256_extractf128_ps::<1>(c));
            store_row(rows, at[7], _mm256_extractf128_ps::<1>(d));
        }
    }

    /// Half the shuffles of four columns: half rows i and i + 1 come in one quarter of two registers.
    #[inline(always)]
    unsafe fn gather_half_rows(halves: *const HalfRow, at: &[u32]) -> [Self; 2] {
        let at: &[u32; 8] = at[..8].try_into().expect("length checked");
        // SAFETY: see `Avx2`; the caller guarantees that each index is that of a half row which no other thread writes.
        unsafe {
            let low = join(two_halves(halves, at[0], at[1]), two_halves(halves, at[4], at[5]));
            let high = join(two_halves(halves, at[2], at[3]), two_halves(halves, at[6], at[7]));
            [Avx2(_mm256_shuffle_ps::<0x88>(low, high)), Avx2(_mm256_shuffle_ps::<0xDD>(low, high))]
        }
    }

    #[inline(always)]
    unsafe fn scatter_half_rows(halves: *mut HalfRow, at: &[u32], [x, y]: [Self; 2]) {
        let at: &[u32; 8] = at[..8].try_into().expect("length checked");
        // SAFETY: see `Avx2`; the caller guarantees that each index is that of a half row which no other thread writes.
        unsafe {
            let (low, high) = (_mm256_unpacklo_ps(x.0, y.0), _mm256_unpackhi_ps(x.0, y.0));
            store_halves(halves, at[0], at[1], _mm256_castps256_ps128(low));
            store_halves(halves, at[2], at[3], _mm256_castps256_ps128(high));
            store_halves(halves, at[4], at[5], _mm256_extractf128_ps::<1>(low));
            store_halves(halves, at[6], at[7], _mm256_extractf128_ps::<1>(high));
        }
    }
}

/// Transposes the 4×4 matrices in both halves.
#[inline(always)]
unsafe fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: see `Avx2`.
    unsafe {
        let ab_low = _mm256_unpacklo_ps(a, b);
        let ab_high = _mm256_unpackhi_ps(a, b);
        let cd_low = _mm256_unpacklo_ps(c, d);
        let cd_high = _mm256_unpackhi_ps(c, d);
        [
            _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
            _mm256_shuffle_ps::<0xEE>(ab_low, cd_low),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xEE>(ab_high, cd_high),
        ]
    }
}

/// Two halves as one register.
#[inline(always)]
unsafe fn join(low: __m128, high: __m128) -> __m256 {
    // SAFETY: see `Avx2`.
    unsafe { _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high) }
}

#[inline(always)]
unsafe fn two_rows(rows: *const Row, low: RowOffset, high: RowOffset) -> __m256 {
    // SAFETY: the caller guarantees that there are these rows, which no other thread writes; `Row` is aligned to 16 bytes.
    unsafe {
        join(_mm_load_ps(rows.byte_add(low.bytes()).cast()), _mm_load_ps(rows.byte_add(high.bytes()).cast()))
    }
}

#[inline(always)]
unsafe fn store_row(rows: *mut Row, at: RowOffset, row: __m128) {
    // SAFETY: the caller guarantees that there is this row, which no other thread writes; `Row` is aligned to 16 bytes.
    unsafe { _mm_store_ps(rows.byte_add(at.bytes()).cast(), row) }
}

#[inline(always)]
unsafe fn two_halves(halves: *const HalfRow, low: u32, high: u32) -> __m128 {
    // SAFETY: the caller guarantees that there are these half rows, which no other thread writes.
    unsafe {
        let first = _mm_load_sd(halves.add(low as usize).cast());
        _mm_castpd_ps(_mm_loadh_pd(first, halves.add(high as usize).cast()))
    }
}

#[inline(always)]
unsafe fn store_halves(halves: *mut HalfRow, low: u32, high: u32, two: __m128) {
    // SAFETY: the caller guarantees that there are these half rows, which no other thread writes.
    unsafe {
        _mm_storel_pd(halves.add(low as usize).cast(), _mm_castps_pd(two));
        _mm_storeh_pd(halves.add(high as usize).cast(), _mm_castps_pd(two));
    }
}

//! Sine and cosine that give the same bits on every platform and every instruction set. (The platform's own functions
//! differ between C libraries.) This module also splits an angle into a part of a turn and whole turns, so that the
//! angle keeps its precision.

use crate::lane::{Lane, Mask};
use std::f64::consts::TAU;

/// Splits an angle, rad, into an angle in [−π, π] and whole turns, counter-clockwise. An angle in that range stays as it is.
/// Both steps are exact in IEEE arithmetic except for the last rounding to f32, so the bits are the same everywhere.
pub(crate) fn wrap(angle: f64) -> (f32, i32) {
    if angle.abs() <= f64::from(std::f32::consts::PI) {
        return (angle as f32, 0);
    }
    let rest = angle % TAU;
    let rest = if rest.abs() > 0.5 * TAU { rest - TAU.copysign(rest) } else { rest };
    // The conversion saturates: a number of turns beyond the range of i32 becomes the nearest i32.
    (rest as f32, ((angle - rest) / TAU).round() as i32)
}

/// Adding and subtracting this rounds a number below 2²² to the nearest whole one, ties to even.
const ROUND: f32 = 12_582_912.0;
/// Angles beyond this count as zero: neighbouring floats are a quarter turn apart there.
const LARGEST: f32 = 4.0e6;
/// π/2 in three parts, so that the remainder of a large angle keeps its precision. The first two parts have few bits,
/// so their multiples are exact.
const QUARTER_TURN: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];

/// Returns (sine, cosine) of an angle in radians, exact to 2e-7 up to some hundred turns. The angle is reduced to an eighth
/// of a turn about 0. There both are minimax polynomials (those of the Cephes library's `sinf` and `cosf`).
#[inline(always)]
pub(crate) fn sin_cos<L: Lane>(angle: L) -> (L, L) {
    let constant = L::splat;
    let angle = L::select(angle.abs().gt(constant(LARGEST)), constant(0.0), angle);
    let quarters = round(angle * constant(std::f32::consts::FRAC_2_PI));
    let mut x = angle;
    for part in QUARTER_TURN {
        x = x - quarters * constant(part);
    }
    let (sin, cos) = sin_cos_near_zero(x);

    // The number of quarter turns within a whole turn: −2, −1, 0, 1 or 2.
    let quarter = quarters - constant(4.0) * round(quarters * constant(0.25));
    let half = quarter.abs().gt(constant(1.5));
    let forward = quarter.gt(constant(0.5)).and(quarter.lt(constant(1.5)));
    let backward = quarter.lt(constant(-0.5)).and(quarter.gt(constant(-1.5)));
    let odd = forward.or(backward);
    let (sin, cos) = (L::select(odd, cos, sin), L::select(odd, sin, cos));
    (L::select(half.or(backward), -sin, sin), L::select(half.or(forward), -cos, cos))
}

/// The polynomials, within an eighth of a turn about 0.
#[inline(always)]
fn sin_cos_near_zero<L: Lane>(x: L) -> (L, L) {
    let constant = L::splat;
    let x2 = x * x;
    let sin = constant(8.332_161e-3) - x2 * constant(1.951_529_6e-4);
    let sin = x + x * x2 * (x2 * sin - constant(0.166_666_55));
    let cos = x2 * constant(2.443_315_7e-5) - constant(1.388_731_6e-3);
    let cos = constant(1.0) - constant(0.5) * x2 + x2 * x2 * (x2 * cos + constant(4.166_664_6e-2));
    (sin, cos)
}

/// As [`sin_cos`], and the same bits, but quick where all angles are small, as bodies' turns within a step are.
#[inline(always)]
pub(crate) fn sin_cos_of_turn<L: Lane>(angle: L) -> (L, L) {
    if angle.abs().gt(L::splat(0.78)).bits() == 0 { sin_cos_near_zero(angle) } else { sin_cos(angle) }
}

/// The nearest whole numbers.
#[inline(always)]
fn round<L: Lane>(value: L) -> L {
    (value + L::splat(ROUND)) - L::splat(ROUND)
}

#[cfg(test)]
mod tests {
    use super::{sin_cos, wrap};
    use crate::isa::Level;
    use crate::lane::{Lane, MAX_WIDTH, values, with_lanes};
    use proptest::prelude::*;

    proptest! {
        /// Contract: the quick way gives the same bits as the general one.
        #[test]
        fn small_turns_are_the_same(angle in prop_oneof![-0.8f32..0.8, -1.0e-6f32..1.0e-6, -10.0f32..10.0]) {
            let bits = |(sin, cos): (f32, f32)| [sin.to_bits(), cos.to_bits()];
            prop_assert_eq!(bits(super::sin_cos_of_turn(angle)), bits(sin_cos(angle)));
            prop_assert_eq!(bits(super::sin_cos_of_turn(-0.0f32)), bits(sin_cos(-0.0f32)));
        }

        /// Contract: the part of a turn is in [−π, π]. Together with the whole turns it is the angle. An angle that is already
        /// in that range stays the same to the bit.
        #[test]
        fn wrapped_angles_are_the_same(
            angle in prop_oneof![-7.0f64..7.0, -1.0e3f64..1.0e3, -1.0e7f64..1.0e7],
            turns in -3i32..=3,
        ) {
            use std::f32::consts::PI;
            let edge = f64::from(turns) * std::f64::consts::PI;
            for angle in [angle, edge, edge + 1.0e-7 * angle] {
                let (part, turns) = wrap(angle);
                prop_assert!(part.abs() <= PI, "{angle}: {part}");
                let again = f64::from(turns) * std::f64::consts::TAU + f64::from(part);
                prop_assert!((again - angle).abs() < 2.0e-7, "{angle}: {part} and {turns}");
                prop_assert_eq!(wrap(f64::from(part)), (part, 0));
            }
        }

        /// Contract: the values are within 2e-7 of the exact ones for some hundred turns. For larger angles the error is at most
        /// that of rounding an angle of that size.
        #[test]
        fn near_the_exact_values(angle in prop_oneof![-10.0f32..10.0, -1.0e3f32..1.0e3, -4.0e6f32..4.0e6]) {
            let (sin, cos) = sin_cos(angle);
            let (exact_sin, exact_cos) = f64::from(angle).sin_cos();
            let tolerance = 2.0e-7 + if angle.abs() > 1.0e3 { f64::from(angle.abs()) * 6.0e-8 } else { 0.0 };
            prop_assert!((f64::from(sin) - exact_sin).abs() < tolerance, "{sin} {exact_sin}");
            prop_assert!((f64::from(cos) - exact_cos).abs() < tolerance, "{cos} {exact_cos}");
        }

        /// Contract: the bits are the same on every instruction set, for any float.
        #[test]
        fn equal_at_every_level(bits: [u32; MAX_WIDTH]) {
            let angles = bits.map(f32::from_bits);
            for level in Level::available() {
                let (sins, coses, width) = with_lanes!(level, L => {
                    let (sin, cos) = sin_cos(<L as Lane>::load(&angles));
                    (values(sin), values(cos), <L as Lane>::WIDTH)
                });
                for i in 0..width {
                    let (sin, cos) = sin_cos(angles[i]);
                    prop_assert!(sin.to_bits() == sins[i].to_bits() || sin.is_nan() && sins[i].is_nan());
                    prop_assert!(cos.to_bits() == coses[i].to_bits() || cos.is_nan() && coses[i].is_nan());
                }
            }
        }
    }
}

//! Sine and cosine that give the same bits everywhere: the platform's own differ between C libraries.

use std::f64::consts::{FRAC_PI_2, PI};

/// (sine, cosine) of an angle in radians, to about 1e-7: the angle is reduced to a quarter turn about 0 and
/// the Taylor series of both are summed in f64, with operations that IEEE 754 defines to the bit.
pub(crate) fn sin_cos(angle: f32) -> (f32, f32) {
    let angle = f64::from(angle);
    let quarters = (angle / FRAC_PI_2).round();
    // π/2 in two parts, so that the remainder of a large angle keeps its digits.
    let x = (angle - quarters * FRAC_PI_2) - quarters * 6.123_233_995_736_766e-17;
    let x2 = x * x;
    let sin =
        x * (1.0 - x2 / 6.0 * (1.0 - x2 / 20.0 * (1.0 - x2 / 42.0 * (1.0 - x2 / 72.0 * (1.0 - x2 / 110.0)))));
    let cos = 1.0 - x2 / 2.0 * (1.0 - x2 / 12.0 * (1.0 - x2 / 30.0 * (1.0 - x2 / 56.0 * (1.0 - x2 / 90.0))));
    debug_assert!(x.abs() < 0.25 * PI + 1.0e-6 || !angle.is_finite());
    let (sin, cos) = match quarters.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    (sin as f32, cos as f32)
}

#[cfg(test)]
mod tests {
    use super::sin_cos;
    use proptest::prelude::*;

    proptest! {
        /// Contract: within 2e-7 of the exact values, for every angle that a body may have.
        #[test]
        fn near_the_exact_values(angle in prop_oneof![-10.0f32..10.0, -1.0e7f32..1.0e7]) {
            let (sin, cos) = sin_cos(angle);
            let (exact_sin, exact_cos) = f64::from(angle).sin_cos();
            prop_assert!((f64::from(sin) - exact_sin).abs() < 2.0e-7);
            prop_assert!((f64::from(cos) - exact_cos).abs() < 2.0e-7);
        }
    }
}

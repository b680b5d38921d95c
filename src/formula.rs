//! The formulas of the solvers, each in one place, as pure functions over lanes.

use crate::lane::{Lane, Mask};

/// The constants of a soft contact for one substep length (E. Catto, "Solver2D", 2024).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softness {
    /// The ratio of bias to separation, 1/s.
    pub rate: f32,
    pub mass_scale: f32,
    pub impulse_scale: f32,
}

impl Softness {
    /// The constants of a spring of this frequency (Hz) and damping ratio, in substeps of length `h` (s). A spring of 0 Hz has no
    /// force.
    pub(crate) fn new(frequency: f32, damping_ratio: f32, h: f32) -> Self {
        if frequency == 0.0 {
            return Softness { rate: 0.0, mass_scale: 0.0, impulse_scale: 1.0 };
        }
        let omega = 2.0 * std::f32::consts::PI * frequency;
        let a1 = 2.0 * damping_ratio + h * omega;
        let a2 = h * omega * a1;
        let a3 = 1.0 / (1.0 + a2);
        Softness { rate: omega / a1, mass_scale: a2 * a3, impulse_scale: a3 }
    }
}

/// The speed that a contact adds to its approach, and the factors on its mass and its old impulse.
#[derive(Clone, Copy)]
pub(crate) struct SoftBias<L: Lane> {
    /// The added speed, m/s.
    pub bias: L,
    pub mass_scale: L,
    pub impulse_scale: L,
}

/// The bias of a soft contact: λ' = λ − m·s_m·(v_n + bias) − s_i·λ.
///
/// An overlap is pushed apart softly, at no more than `push_out_speed`. A gap is rigid: it may close in this substep but not
/// become an overlap. `gap_speed` is the separation divided by the length of the substep.
#[inline(always)]
pub(crate) fn soft_bias<L: Lane>(
    separation: L,
    gap_speed: L,
    soft: &Softness,
    push_out_speed: f32,
) -> SoftBias<L> {
    let constants = [soft.rate, soft.mass_scale, soft.impulse_scale].map(L::splat);
    soft_bias_lanes(separation, gap_speed, constants, L::splat(push_out_speed))
}

/// The same with the constants of each lane: rate, factor on the mass, factor on the impulse. For limits of joints.
#[inline(always)]
pub(crate) fn soft_bias_lanes<L: Lane>(
    separation: L,
    gap_speed: L,
    [rate, mass_scale, impulse_scale]: [L; 3],
    push_out_speed: L,
) -> SoftBias<L> {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let apart = separation.gt(zero);
    let push_out = (separation * rate).max(-push_out_speed);
    SoftBias {
        bias: L::select(apart, gap_speed, push_out),
        mass_scale: L::select(apart, one, mass_scale),
        impulse_scale: L::select(apart, zero, impulse_scale),
    }
}

/// The change of the impulse of a soft constraint that acts both ways: −m·s_m·(v + rate·C) − s_i·λ, for an effective mass m, a
/// speed v and an error C. The constants are rate, s_m and s_i of a [`Softness`]; (0, 1, 0) are those of a rigid constraint that
/// corrects no error.
#[inline(always)]
pub(crate) fn soft_change<L: Lane>(
    impulse: L,
    mass: L,
    speed: L,
    error: L,
    [rate, mass_scale, impulse_scale]: [L; 3],
) -> L {
    -(mass * mass_scale * (speed + rate * error)) - impulse_scale * impulse
}

/// Returns `wanted`, limited to ±`most`. The result is +0 if `most` is 0, the same value that skipped contacts have.
#[inline(always)]
pub(crate) fn limited<L: Lane>(wanted: L, most: L) -> L {
    wanted.max(-most).min(most)
}

/// Coulomb's law with two coefficients. `wanted` is the friction impulse that stops all sliding. Up to `hold` (μ_s·λ_n) the contact
/// holds and gets `wanted`. Beyond that it slides and gets `slide` (μ_d·λ_n).
#[inline(always)]
pub(crate) fn coulomb<L: Lane>(wanted: L, hold: L, slide: L) -> L {
    let sliding = limited(wanted, slide);
    L::select(wanted.abs().le(hold), wanted, sliding)
}

/// Coulomb's law for contacts that may not have begun to slide. A contact that does not slide yet (`slides`) bears up to `hold`.
/// Other contacts of the same bodies bear the rest.
#[inline(always)]
pub(crate) fn coulomb_once_sliding<L: Lane>(wanted: L, hold: L, slide: L, slides: L::Mask) -> L {
    L::select(wanted.abs().gt(hold).and(slides), limited(wanted, slide), limited(wanted, hold))
}

/// How fast, or how far, B moves away from A along a direction: the negative of an approach. The rows begin with x and y.
#[inline(always)]
pub(crate) fn parting<L: Lane>(a: &[L; 4], b: &[L; 4], [x, y]: [L; 2]) -> L {
    (b[0] - a[0]) * x + (b[1] - a[1]) * y
}

/// The part of [`parting`] that comes from the turning of both bodies, at points with these arms. Third in a row is the turn.
#[inline(always)]
pub(crate) fn parting_by_turns<L: Lane>(a: &[L; 4], b: &[L; 4], arms: [L; 2]) -> L {
    b[2] * arms[1] - a[2] * arms[0]
}

/// The change of speed of a body's point by a unit impulse with this arm: 1/m·(1 + 2·arm²). `contacts/update/manifold.rs` has the
/// units of arms.
#[inline(always)]
pub(crate) fn point_inv_mass<L: Lane>(inv_mass: L, arm: L) -> L {
    inv_mass * (L::splat(1.0) + L::splat(2.0) * (arm * arm))
}

/// The impulse with which an impact gives back e² of the energy that it has `absorbed`, and e² of the energy of the approach that
/// is still left. `speed` is the present speed at which the bodies part, and `inv_mass` the change of that speed by a unit
/// impulse. A negative `absorbed` is energy that the contact has given to other contacts of the same bodies, which absorbed that
/// much more. The contact takes this energy back. (W. J. Stronge, "Rigid body collisions with friction", 1990.)
#[inline(always)]
pub(crate) fn rebound<L: Lane>(absorbed: L, restitution: L, speed: L, inv_mass: L) -> L {
    let (zero, two) = (L::splat(0.0), L::splat(2.0));
    let (approach, parting) = (speed.min(zero), speed.max(zero));
    // ½·m·u² = ½·u²/inv_mass
    let twice = two * (absorbed.max(zero) * inv_mass) + approach * approach;
    let taken_back = two * (absorbed.min(zero) * inv_mass);
    let square = parting * parting + restitution * restitution * twice + taken_back;
    let impulse = (square.max(zero).sqrt() - speed) / inv_mass;
    L::select(restitution.gt(zero), impulse, zero)
}

/// The determinant of two points, as a part of the product of their own inverse masses, above which they are solved together. Below,
/// the two points are nearly one.
pub(crate) const SOUND: f32 = 0.05;

/// How the impulses of two points of one contact depend on each other.
pub(crate) struct Coupled<L: Lane> {
    /// What an impulse at the other point takes off this one's.
    pub coupling: [L; 2],
    pub per_determinant: L,
    /// Where the two can be solved together.
    pub sound: L::Mask,
}

impl<L: Lane> Coupled<L> {
    /// The normal impulses after a change that would be `wanted` at each point alone, from those before (`old`).
    ///
    /// Both points together if both stay pressed (the first two cases of the linear complementarity problem of two points: E. Catto,
    /// "Iterative Dynamics with Temporal Coherence", 2005), and otherwise one after the other.
    #[inline(always)]
    pub(crate) fn impulses(&self, old: [L; 2], wanted: [L; 2]) -> [L; 2] {
        let (zero, Coupled { coupling, per_determinant, sound }) = (L::splat(0.0), self);
        let first = old[0] + (wanted[0] - coupling[0] * wanted[1]) * *per_determinant;
        let second = old[1] + (wanted[1] - coupling[1] * wanted[0]) * *per_determinant;
        let together = sound.and(first.ge(zero)).and(second.ge(zero));
        let alone = (old[0] + wanted[0]).max(zero);
        let after = (old[1] + (wanted[1] - coupling[1] * (alone - old[0]))).max(zero);
        [L::select(together, first, alone), L::select(together, second, after)]
    }
}

/// The distance by which projection moves an overlap apart: `part` of the penetration beyond the slop.
#[inline(always)]
pub(crate) fn projection<L: Lane>(separation: L, slop: f32, part: L) -> L {
    part * (-separation - L::splat(slop)).max(L::splat(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Contract: a soft contact that overlaps comes to rest as its spring does: λ and bias agree with the implicit Euler step of
    /// m·x'' = −m·ω²·x − 2·m·ζ·ω·x'.
    #[test]
    fn softness_is_an_implicit_spring() {
        for (frequency, ratio, h) in
            [(30.0f32, 10.0f32, 1.0f32 / 240.0), (5.0, 0.5, 0.01), (60.0, 1.0, 1.0 / 480.0)]
        {
            let soft = Softness::new(frequency, ratio, h);
            let (x, v, omega) = (-0.02f32, -0.3f32, std::f32::consts::TAU * frequency);
            let SoftBias { bias, mass_scale, .. } = soft_bias(x, x / h, &soft, f32::MAX);
            let after = v - mass_scale * (v + bias);
            let implicit =
                (v - h * omega * omega * x) / (1.0 + 2.0 * h * ratio * omega + h * h * omega * omega);
            assert!((after - implicit).abs() < 1e-4 * implicit.abs().max(1.0), "{after} and {implicit}");
        }
    }

    /// Contract: a gap may close in the substep and no further, whatever the spring; an overlap is pushed apart no faster than the limit.
    #[test]
    fn gaps_are_rigid_and_overlaps_are_pushed_gently() {
        let soft = Softness::new(30.0, 10.0, 1.0 / 240.0);
        let gap = soft_bias(0.01f32, 2.4, &soft, 3.0);
        assert_eq!((gap.bias, gap.mass_scale, gap.impulse_scale), (2.4, 1.0, 0.0));
        let deep = soft_bias(-100.0f32, -24_000.0, &soft, 3.0);
        assert_eq!(
            (deep.bias, deep.mass_scale, deep.impulse_scale),
            (-3.0, soft.mass_scale, soft.impulse_scale)
        );
        let shallow = soft_bias(-1.0e-3f32, -0.24, &soft, 3.0);
        assert_eq!(shallow.bias, -1.0e-3 * soft.rate);
    }

    /// Contract: a spring of 0 Hz has no force and keeps none.
    #[test]
    fn a_spring_of_no_frequency_has_no_force() {
        let Softness { rate, mass_scale, impulse_scale } = Softness::new(0.0, 1.0, 1.0 / 240.0);
        assert_eq!(soft_change(5.0f32, 2.0, 3.0, 4.0, [rate, mass_scale, impulse_scale]), -5.0);
    }

    proptest! {
        /// Contract: a rigid constraint stops its speed at once, and corrects no error.
        #[test]
        fn a_rigid_constraint_stops(impulse in -10.0f32..10.0, mass in 0.01f32..100.0, speed in -10.0f32..10.0, error in -1.0f32..1.0) {
            let change = soft_change(impulse, mass, speed, error, [0.0, 1.0, 0.0]);
            prop_assert!((speed + change / mass).abs() < 1e-5 * (1.0 + speed.abs()));
        }

        /// Contract: what is limited is within the limit on its own side, or itself; with a limit of 0 it is +0.
        #[test]
        fn limits_hold_on_both_sides(wanted in -10.0f32..10.0, most in 0.0f32..10.0) {
            let found = limited(wanted, most);
            prop_assert!(found.abs() <= most && found * wanted >= 0.0);
            prop_assert!(wanted.abs() > most || found == wanted);
            prop_assert_eq!(limited(wanted, 0.0).to_bits(), 0);
        }

        /// Contract: a unit impulse at a distance r from the centre of a body of mass m and moment of inertia I, along the normal, changes the speed of
        /// its point by 1/m + r²/I. An arm is r in units of √(2·I/m).
        #[test]
        fn a_point_has_an_effective_mass(mass in 0.01f32..100.0, radius in 0.1f32..10.0, r in -10.0f32..10.0) {
            let inertia = 0.5 * mass * radius * radius;
            let arm = r / (2.0 * inertia / mass).sqrt();
            let expected = 1.0 / mass + r * r / inertia;
            prop_assert!((point_inv_mass(1.0 / mass, arm) - expected).abs() < 1e-4 * expected);
        }

        /// Contract: two points are left at the speeds wanted where both stay pressed, and never pull; otherwise the second point is, or separates
        /// faster with an impulse of 0.
        #[test]
        fn two_points_solve_their_complementarity(old in [0.0f32..1.0, 0.0f32..1.0], wanted in [-1.0f32..1.0, -1.0f32..1.0], a in -0.9f32..0.9) {
            let determinant = 1.0 - a * a;
            let points = Coupled { coupling: [a, a], per_determinant: 1.0 / determinant, sound: determinant > SOUND };
            let new = points.impulses(old, wanted);
            prop_assert!(new[0] >= 0.0 && new[1] >= 0.0);
            // Both have an effective mass of 1: an impulse at one changes its own speed by itself, and the other's by `a`.
            let change = [new[0] - old[0], new[1] - old[1]];
            let missing = [wanted[0] - (change[0] + a * change[1]), wanted[1] - (change[1] + a * change[0])];
            let both = [(wanted[0] - a * wanted[1]) / determinant, (wanted[1] - a * wanted[0]) / determinant];
            if old[0] + both[0] > 1e-3 && old[1] + both[1] > 1e-3 {
                prop_assert!(missing[0].abs() < 1e-3 && missing[1].abs() < 1e-3);
            }
            // One after the other, the second has the last word.
            prop_assert!(missing[1] < 1e-3 && (new[1] == 0.0 || missing[1].abs() < 1e-3));
        }

        /// Contract: friction never exceeds its limit, never pushes, and holds up to its limit.
        #[test]
        fn friction_is_inside_its_cone(wanted in -10.0f32..10.0, load in 0.0f32..10.0, mu_s in 0.0f32..2.0, part in 0.0f32..1.0, slides: bool) {
            let (hold, slide) = (mu_s * load, part * mu_s * load);
            for friction in [coulomb(wanted, hold, slide), coulomb_once_sliding(wanted, hold, slide, slides)] {
                prop_assert!(friction.abs() <= hold && friction.abs() <= wanted.abs() && friction * wanted >= 0.0);
                prop_assert!(wanted.abs() > hold || friction == wanted);
            }
            prop_assert!(wanted.abs() <= hold || coulomb(wanted, hold, slide).abs() <= slide);
        }

        /// Contract: a rebound gives back e² of the energy of the approach, at any mass.
        #[test]
        fn a_rebound_returns_its_energy(approach in 0.1f32..100.0, mass in 0.01f32..100.0, e in 0.0f32..1.0) {
            let inv_mass = 1.0 / mass;
            let absorbed = 0.5 * mass * approach * approach;
            let speed = rebound(absorbed, e, 0.0, inv_mass) * inv_mass;
            prop_assert!((speed - e * approach).abs() < 1e-4 * approach, "{} of {}", speed, approach);
            prop_assert!(rebound(absorbed, 0.0, 0.0, inv_mass) == 0.0);
        }

        /// Contract: projection removes no more than the penetration beyond the slop, and does not change a gap.
        #[test]
        fn projection_leaves_the_slop(separation in -1.0f32..1.0, part in 0.0f32..1.0) {
            let moved = projection(separation, 0.01, part);
            prop_assert!(moved >= 0.0 && moved <= (-separation - 0.01).max(0.0));
            prop_assert_eq!(projection(separation.abs(), 0.01, part), 0.0);
        }
    }
}

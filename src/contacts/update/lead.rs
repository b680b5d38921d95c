//! The lead: a contact has the normal, the points and the arms of where its bodies will be about half a step later.
//!
//! These stay as they are for a whole step, while its n substeps move the bodies. With those of the step's start a force is late. The impulses of the
//! substeps move a body by (n + 1)/2n of what they would move it if all acted at once at the start. So what springs back to a place, at an angular
//! frequency ω, has 1 + (n − 1)/2n·(ω·Δt)² times its energy after each step Δt: the determinant of the map from one step's place and velocity to
//! the next one's. What rolls on something else under a load springs back in this way: of 4,000 bodies in `mixed_shapes` a capsule and a
//! circle, squeezed by others, rocked at 0.4 m/s, five times in a second, for ever. So none of the pile fell asleep.
//!
//! With the geometry of where the bodies are after a share α of the step, if they keep their velocities, the factor is
//! 1 + ((n − 1)/2n − α)·(ω·Δt)². So α is (n − 1)/2n, and an eighth more for a little damping, without which nothing that rolls comes to rest (8 of 9 scenes
//! of `mixed_shapes` did not): ½ for the four substeps of the default. The test `a_plank_rocks_on_a_cylinder` holds the factor, 1 − (ω·Δt)²/8, to a few per cent.
//!
//! The eighth is only for the movement without the spin that both bodies have in common ([`common`]). Two bodies that are pressed together and turn as
//! one have no other. For them any lead but (n − 1)/2n is a couple of forces that turns them on or brakes them: with the whole lead two boxes that a spring
//! drew together spun up from 0.02 to 2.8 rad/s in 10 s (test `a_clamped_pair_keeps_its_spin`). What rolls on another body and is pressed to it by a
//! joint, and not by gravity, still gains: two discs on a hinge, drawn together by a spring of 5 Hz, swing out seven times as far after a minute.
//!
//! The separation is reckoned back along that normal to the start of the step, as the solver reckons it forward from there
//! (`formula::parting` and `formula::parting_by_turns`). So what counts as touching, and what a host sees, is still that of the start.
//!
//! The lead has limits:
//!
//! - A slop, and half of the thinner shape's thickness: what is led further could meet the other side of a face.
//! - A contact that bears no load, and was not struck in the last substep, does not lead. So an impact is solved along the normal of the start, from which `solver/impulse/impact.rs` turns it. (When
//!   all led, a gas of boxes with restitution 1 and without friction lost 1.4 % of its angular momentum, of which `angular_momentum_in_a_free_ring` allows
//!   0.5. When slow ones led, three of eight gases of compounds with the projection solver kept less than 98 % of their energy.)
//! - Particles do not lead, as links move them, too. (When they did, 0 of 5 scenes of `ragdolls` with 1,300 fell asleep within 60 s, without 4.)
//!
//! Of nine scenes of `mixed_shapes` with 4,000 bodies eight sleep within 60 s, where one of three did (`granule run mixed_shapes --bodies 4000 --sleep on
//! --warmup 0 --steps 3600 --seed 1`). Tried and dropped: α = 0.625 and 0.75 (no sooner); a lead of four slops (no sooner).

use super::Step;
use crate::contacts::update::manifold::Weights;
use crate::lane::{Lane, Mask, pair};
use crate::narrowphase::manifold::{Placement, Turn, V};

/// What moves by less does not lead, m: most of a pile at rest.
const LEAST: f32 = 1.0e-5;

/// By which part of a step contacts lead beyond what keeps the energy of an oscillation, for some damping.
const BEYOND: f32 = 0.125;

/// By which part of a step of so many substeps contacts lead, and which part of this is for damping.
pub(crate) fn share(substeps: u32) -> [f32; 2] {
    let n = substeps as f32;
    let share = (n - 1.0) / (2.0 * n) + BEYOND;
    [share, BEYOND / share]
}

/// The spin that two bodies have in common: what turns with it as one body does not roll.
#[inline(always)]
pub(super) fn common<L: Lane>([a, b]: [L; 2]) -> L {
    let (zero, least) = (L::splat(0.0), a.abs().min(b.abs()));
    L::select((a * b).gt(zero), L::select(a.gt(zero), least, zero - least), zero)
}

/// How A moves against B.
pub(super) struct Relative<L: Lane> {
    vel: [L; 2],
    /// The same without what the common spin of both bodies gives it.
    rolling: [L; 2],
}

impl<L: Lane> Relative<L> {
    /// Of bodies with these velocities and this common spin, of which A is at `from_b` from B.
    #[inline(always)]
    pub(super) fn new([a, b]: [&[L; 4]; 2], common: L, from_b: [L; 2]) -> Self {
        let vel = pair!(axis => a[axis] - b[axis]);
        Relative { vel, rolling: [vel[0] + common * from_b[1], vel[1] - common * from_b[0]] }
    }

    /// The square of the larger speed.
    #[inline(always)]
    pub(super) fn speed_squared(&self) -> L {
        let [vel, rolling] = [&self.vel, &self.rolling];
        (vel[0] * vel[0] + vel[1] * vel[1]).max(rolling[0] * rolling[0] + rolling[1] * rolling[1])
    }

    /// How far A leads in this time.
    #[inline(always)]
    pub(super) fn way(&self, step: &Step<'_>, time: L) -> [L; 2] {
        let damped = time * L::splat(step.damped);
        pair!(axis => time * self.vel[axis] + damped * (self.rolling[axis] - self.vel[axis]))
    }
}

/// By how much shapes of this thickness may lead, m.
#[inline(always)]
pub(super) fn limit<L: Lane>(step: &Step<'_>, thickness: L) -> L {
    (L::splat(0.5) * thickness).min(L::splat(step.most_lead))
}

/// By how long what moves at the square root of this speed leads, s.
#[inline(always)]
pub(super) fn time<L: Lane>(step: &Step<'_>, loaded: L::Mask, speed_squared: L, limit: L) -> L {
    let (whole, speed) = (L::splat(step.lead), speed_squared.sqrt().max(L::splat(f32::MIN_POSITIVE)));
    let leads = loaded.and((whole * speed).gt(L::splat(LEAST)));
    L::select(leads, whole.min(limit / speed), L::splat(0.0))
}

/// Bodies of `WIDTH` contacts that have led.
pub(super) struct Led<L: Lane> {
    /// How far A and B have led: `[Δx, Δy, Δangle·r, 0]`. The movement is that of A against B; B stays in place.
    pub moved: [[L; 4]; 2],
    pub placements: [Placement<L>; 2],
    pub weights: Weights<L>,
}

/// Returns where bodies with these velocities will be.
#[inline(always)]
pub(super) fn lead<L: Lane>(
    step: &Step<'_>,
    (loaded, limit): (L::Mask, L),
    placements: &[Placement<L>; 2],
    vel: [&[L; 4]; 2],
    weights: &Weights<L>,
) -> Led<L> {
    let zero = L::splat(0.0);
    let spins = pair!(body => vel[body][2]);
    let omega = pair!(body => spins[body] * weights.inv_spin[body]);
    let common = common(omega);
    let from_b = weights.offset[1].sub(weights.offset[0]);
    let relative = Relative::new(vel, common, [from_b.x, from_b.y]);
    let fastest = relative.speed_squared().max((spins[0] * spins[0]).max(spins[1] * spins[1]));
    let time = time(step, loaded, fastest, limit);
    let leads = time.gt(zero);
    if leads.bits() == 0 {
        return Led { moved: [[zero; 4]; 2], placements: *placements, weights: *weights };
    }
    let [way_x, way_y] = relative.way(step, time);
    let own = pair!(body => {
        let shared = L::select(common.abs().gt(zero), common / omega[body], zero);
        spins[body] * (time - time * L::splat(step.damped) * shared)
    });
    let moved = [[way_x, way_y, own[0], zero], [zero, zero, own[1], zero]];
    let turns = pair!(body => {
        // By twice the angle of this tangent.
        let tangent = L::splat(0.5) * (moved[body][2] * weights.inv_spin[body]);
        let (one, square) = (L::splat(1.0), tangent * tangent);
        let share = one / (one + square);
        Turn { cos: (one - square) * share, sin: (tangent + tangent) * share }
    });
    // From each body's centre to that of its own shape.
    let to_b = placements[1].centre.sub(placements[0].centre);
    let arms = [weights.offset[0], weights.offset[1].add(to_b)];
    let turned = pair!(body => turns[body].apply(arms[body]));
    let placed = pair!(body => Placement {
        centre: placements[body].centre
            .add(V::new(moved[body][0], moved[body][1]))
            .add(turned[body].sub(arms[body])),
        turn: turns[body].then(placements[body].turn),
    });
    let offset = [turned[0], turned[1].add(placed[0].centre.sub(placed[1].centre))];
    // What does not lead has the same bits whether another lane does or not.
    let offset = pair!(body => V::select(leads, offset[body], weights.offset[body]));
    Led { moved, placements: placed, weights: Weights { offset, ..*weights } }
}

//! Impacts of contacts with a manifold: the energy that they take, and the part that they give back.
//!
//! The law is the one of `impulse.rs`, over all points of a contact at once (W. J. Stronge, "Impact Mechanics", 2000).

use super::friction::Coupling;
use super::{Bounce, ManifoldKernel, push};
use crate::contacts::{BounceBlock, LANDED, RoughBlock};
use crate::formula::{point_inv_mass, rebound};
use crate::lane::{Lane, Mask, pair};
use crate::solver::impulse::Velocities;
use crate::solver::impulse::impact::{LOADED, ahead, stopped_at_start};

/// The mark of a contact that is jammed and struck, above [`LOADED`].
const JAMMED: f32 = 2.0 * LOADED;

/// The unsafe methods need what those in `manifold.rs` need: this task alone has the block's bodies.
#[allow(unsafe_code)]
impl<L: Lane, const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, L, FIXED, POINTS> {
    /// Tells whether a point that has borne no load since the last step approaches fast enough to bounce.
    #[inline(always)]
    fn struck(&self, bounce: &BounceBlock, from: [L; 2]) -> L::Mask {
        let (zero, threshold) = (L::splat(0.0), L::splat(-self.rows.restitution_threshold));
        let of = pair!(p => L::load(&bounce.resting[p][self.i..]).le(zero).and(from[p].lt(threshold)));
        if POINTS == 2 { of[0].or(of[1]) } else { of[0] }
    }

    /// Tells whether a jammed point that has borne a load is struck faster than bodies are pushed apart.
    #[inline(always)]
    fn struck_jammed(&self, bounce: &BounceBlock, from: [L; 2]) -> L::Mask {
        let hard = L::splat(-self.rows.restitution_threshold.max(self.rows.push_out_speed));
        let depth = L::splat(-self.rows.jammed_depth);
        let of = pair!(p => {
            let loaded = L::load(&bounce.resting[p][self.i..]).gt(L::splat(0.0));
            loaded.and(from[p].lt(hard)).and(self.separation(p).lt(depth))
        });
        if POINTS == 2 { of[0].or(of[1]) } else { of[0] }
    }

    /// Tells whether a point that has borne a load is struck fast enough to bounce.
    #[inline(always)]
    fn struck_loaded(&self, bounce: &BounceBlock, from: [L; 2]) -> L::Mask {
        let (zero, threshold) = (L::splat(0.0), L::splat(-self.rows.restitution_threshold));
        let of = pair!(p => L::load(&bounce.resting[p][self.i..]).gt(zero).and(from[p].lt(threshold)));
        if POINTS == 2 { of[0].or(of[1]) } else { of[0] }
    }

    /// The velocities at the start of the substep, before gravity and the warm start; and the loads of the bodies.
    #[inline(always)]
    unsafe fn velocities_before(&self) -> Velocities<L> {
        let accum = self.rows.accum.as_ptr();
        let (a, b) = self.at();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { Velocities { a: L::gather(accum, a), b: L::gather(accum, b) } }
    }

    /// Tells whether a struck contact is in a blow, and not only pressed together by loads: see `ImpulseKernel::note_compression` of `impulse.rs`.
    #[inline(always)]
    unsafe fn is_blow(&self, from: [L; 2]) -> L::Mask {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let was = unsafe { self.velocities_before() };
        let came = self.normal_velocities(&was);
        let came = pair!(p => came[p].min(from[p] + was.load()));
        let came = if POINTS == 2 { came[0].min(came[1]) } else { came[0] };
        came.lt(L::splat(-self.rows.restitution_threshold))
    }

    /// Notes the compression, as `ImpulseKernel::note_compression` of `impulse.rs` does, for all points together: from their
    /// impulses `before` and the speeds of the points then (`from`) and now (`to`).
    #[inline(always)]
    pub(super) unsafe fn note_compression(
        &self,
        bounce: &mut BounceBlock,
        before: [L; 2],
        from: [L; 2],
        to: [L; 2],
    ) -> bool {
        let (i, zero, half) = (self.i, L::splat(0.0), L::splat(0.5));
        let mut noted = L::load(&bounce.approach[i..]);
        let was_noted = noted.lt(zero).or(noted.gt(zero));
        let now = self.normal_impulses();
        let pressed = (now[0] + now[1]).gt(zero);
        let (fast, loaded) = (self.struck(bounce, from), self.struck_loaded(bounce, from));
        if fast.or(loaded).and(pressed).or(was_noted).bits() == 0 {
            return false;
        }
        // SAFETY: this task alone has these bodies, and each named row exists.
        let blow = unsafe { self.is_blow(from) }.or(was_noted).and(pressed);
        let (fast, loaded) = (fast.and(blow), loaded.and(blow));
        let followed = fast.or(loaded).or(was_noted);
        let jammed = self.struck_jammed(bounce, from).and(blow).and(noted.ge(zero));
        noted = L::select(loaded.and(noted.ge(zero)), noted.max(L::splat(LOADED)), noted);
        noted = L::select(jammed, L::splat(JAMMED), noted);
        noted = L::select(fast, noted.min(from[0].min(from[1])), noted);
        noted.store(&mut bounce.approach[i..]);
        let mut given = zero;
        for p in 0..POINTS {
            given = given + (self.normal_impulse(p) - before[p]) * (half * (from[p] + to[p]));
        }
        let absorbed = L::load(&bounce.absorbed[i..]);
        L::select(followed, absorbed - given, absorbed).store(&mut bounce.absorbed[i..]);
        true
    }

    /// Returns the part of the approach that is stopped before the positions move: all but the part that closes the gap. It is 0
    /// if the gap stays open.
    #[inline(always)]
    fn stopped_at_start(&self, from: [L; 2], poses: &Option<([L; 4], [L; 4])>) -> L {
        let of = pair!(p => {
            let gap = self.separation_at(p, poses);
            stopped_at_start(gap.max(L::splat(0.0)) * L::splat(self.rows.inv_step), from[p])
        });
        if POINTS == 2 { of[0].max(of[1]) } else { of[0] }
    }

    /// Moves the arms of contacts that are about to bounce to where the bodies now are.
    ///
    /// The arms are those of the step's start. When B has moved by d against A, an impulse at these arms gives the two a
    /// moment of momentum of d × impulse; with the point in the middle, half of d further from A's centre and half of d
    /// nearer to B's, it gives none (of two that don't both turn, all of d at the one that does). d is that of the mean time of
    /// the impulse in the substep: a part of what stops the approach comes at its start, the rest, and what makes the bodies leave, at
    /// its end. (Without this a gas of polygons lost or gained 6 % of its angular
    /// momentum in 5,000 steps. With arms that differ between the passes of a substep, the warm start repeated the
    /// difference, and a gas of octagons gained 9 % of its energy in 500 steps.) So what is pressed already keeps its arms: its impulse is to be
    /// taken back along those along which it was given. (When it did not, 5 of 3,000 clouds at 200 m/s, with 4 or 5 substeps of the projection
    /// solver, gained 2 to 10 % of their energy.)
    #[inline(always)]
    pub(super) fn shift_arms(
        &mut self,
        bounce: &mut BounceBlock,
        vel: &Velocities<L>,
        poses: &Option<([L; 4], [L; 4])>,
    ) {
        if FIXED {
            return;
        }
        let (i, zero, one, half) = (self.i, L::splat(0.0), L::splat(1.0), L::splat(0.5));
        let from = self.normal_velocities(vel);
        let at_start = self.stopped_at_start(from, poses);
        let [first, second] = self.normal_impulses();
        let impact = self.struck(bounce, from).and(at_start.gt(zero)).and((first + second).le(zero));
        if impact.bits() == 0 {
            return;
        }
        let restitution = L::load(&bounce.restitution[i..]);
        let ahead = ahead(self.rows.step, at_start, restitution);
        let way = pair!(axis => {
            let moved = if let Some((a, b)) = poses { b[axis] - a[axis] } else { zero };
            moved + ahead * (vel.b[axis] - vel.a[axis])
        });
        let [normal_x, normal_y] = self.normal();
        let due = [way[0] * normal_y - way[1] * normal_x, way[0] * normal_x + way[1] * normal_y];
        // What touches is no further away than the shapes reach.
        let reach = L::load(&self.manifold.reach_sum[i..]);
        let due = pair!(axis => due[axis].min(reach).max(-reach));
        let [across, along] = pair!(axis => {
            let done = L::load(&bounce.shift[axis][i..]);
            L::select(impact, due[axis], done).store(&mut bounce.shift[axis][i..]);
            due[axis] - done
        });
        let inv_masses = [vel.a[3], vel.b[3]];
        let (mut masses, mut tangent_mass) = ([zero; 2], zero);
        let inv_spins = self.inv_spins();
        for (body, sign) in [one, -one].into_iter().enumerate() {
            let share = sign * L::select(inv_spins[1 - body].gt(zero), half, one);
            let (by_normal, by_tangent) =
                (share * (across * inv_spins[body]), share * (along * inv_spins[body]));
            for (p, mass) in masses.iter_mut().enumerate().take(POINTS) {
                let arm = shift(&mut self.manifold.arms.normal[p][body][i..], impact, by_normal);
                *mass = *mass + point_inv_mass(inv_masses[body], arm);
            }
            let arm = shift(&mut self.manifold.arms.tangent[body][i..], impact, by_tangent);
            tangent_mass = tangent_mass + point_inv_mass(inv_masses[body], arm);
        }
        // With the mass at the old arms friction did more than stop what slides: a pebble of 3 g between the floor and a boulder of 4 kg at
        // 150 m/s left with 10⁵ times its energy.
        let tangent_masses = &mut self.friction.tangent_mass[i..];
        L::select(impact, one / tangent_mass, L::load(tangent_masses)).store(tangent_masses);
        for (p, &mass) in masses.iter().enumerate().take(POINTS) {
            let mass = L::select(impact, one / mass, self.normal_mass(p));
            self.set_normal_mass(p, mass);
        }
    }

    /// Returns the parts of an impact that the two points take with these impulses. If both are pressed, the impulse that
    /// friction has shifted from one to the other does not count: a body that lands flat leaves flat.
    #[inline(always)]
    fn shares(&self, vel: &Velocities<L>, old: [L; 2]) -> [L; 2] {
        let zero = L::splat(0.0);
        let mut impulses = old;
        if POINTS == 2 {
            let Coupling { taken, sound, .. } = self.coupling(vel);
            let tangent = L::load(&self.friction.tangent_impulse[self.i..]);
            let alone = [old[0] + taken[0] * tangent, old[1] + taken[1] * tangent];
            let both = old[0].gt(zero).and(old[1].gt(zero)).and(alone[0].gt(zero)).and(alone[1].gt(zero));
            let shifted = both.and(sound);
            impulses = pair!(p => L::select(shifted, alone[p], old[p]));
        }
        let sum = impulses[0] + impulses[1];
        pair!(p => impulses[p] / sum)
    }

    /// Returns the part of their impulses that struck contacts which bear a load do not keep.
    ///
    /// Jammed contacts keep none of it. They do not bounce (see `ImpulseKernel::note_compression` of `impulse.rs`), but the impulse that
    /// stopped the blow is no load either: warm starts repeated it from substep to substep, and other contacts of the same bodies took that for an
    /// impact and gave it back. (Two angles that had hooked 0.2 m into each other took the energy of twenty bodies of their gas.) What rests
    /// keeps its load, and as much as has the energy of the blow: what lands on a box on the floor is thrown back by the floor's next warm start.
    /// (Without that a box with a restitution of 0.5 left at 0.04 m/s, not 0.5 and more. With all of it boxes with a restitution of 1 that fell on
    /// others left with up to 378 times their energy: see `ImpulseKernel::blow`.)
    #[inline(always)]
    pub(super) fn blow(&self, vel: &Velocities<L>, bounce: &BounceBlock) -> L {
        let (i, zero, one) = (self.i, L::splat(0.0), L::splat(1.0));
        let (approach, now) = (L::load(&bounce.approach[i..]), self.normal_impulses());
        let sum = (now[0] + now[1]).max(L::splat(f32::MIN_POSITIVE));
        let mut turn = [zero; 2];
        for (p, now) in now.into_iter().enumerate().take(POINTS) {
            let arms = self.normal_arms(p);
            turn = pair!(body => turn[body] + now / sum * arms[body]);
        }
        let inv_mass = point_inv_mass(vel.a[3], turn[0]) + point_inv_mass(vel.b[3], turn[1]);
        let load = L::load(&bounce.resting[0][i..]) + L::load(&bounce.resting[1][i..]);
        let absorbed = L::load(&bounce.absorbed[i..]).max(zero);
        let twice = L::splat(2.0) * self.rows.given_back(self.elapsed, L::load(&bounce.restitution[i..]));
        let most = load + (twice * absorbed / inv_mass).sqrt();
        let beyond = (one - most / sum).max(zero);
        let loaded = L::select(approach.gt(zero), beyond, zero);
        L::select(approach.ge(L::splat(JAMMED)), one, loaded)
    }

    /// Gives contacts in an impact back e² of the energy that the impact has taken, and returns these contacts. The impulses of
    /// both points grow by one factor: it is one impact, along the direction in which it was taken.
    #[inline(always)]
    pub(super) fn rebound(&mut self, vel: &mut Velocities<L>, bounce: &BounceBlock) -> L::Mask {
        let (i, zero) = (self.i, L::splat(0.0));
        let old = self.normal_impulses();
        let sum = old[0] + old[1];
        let bounces = L::load(&bounce.approach[i..]).lt(zero).and(sum.gt(zero));
        let share = self.shares(vel, old);
        let from = self.normal_velocities(vel);
        let (mut turn, mut speed) = ([zero; 2], zero);
        for p in 0..POINTS {
            let arms = self.normal_arms(p);
            turn = [turn[0] + share[p] * arms[0], turn[1] + share[p] * arms[1]];
            speed = speed + share[p] * from[p];
        }
        let inv_mass = point_inv_mass(vel.a[3], turn[0]) + point_inv_mass(vel.b[3], turn[1]);
        let (absorbed, restitution) = (L::load(&bounce.absorbed[i..]), L::load(&bounce.restitution[i..]));
        let impulse = rebound(absorbed, restitution, speed, inv_mass);
        let impulse = impulse.max(-sum);
        let new = pair!(p => {
            // The shares are not those of `old`, so that what is taken back may be more than a point has.
            L::select(bounces, (old[p] + share[p] * impulse).max(zero), old[p])
        });
        let before = *vel;
        self.change_normal(vel, old, new);
        vel.keep_where(bounces, &before);
        bounces
    }

    /// Tells whether a point came faster than its weight presses a resting body.
    #[inline(always)]
    pub(super) fn landed(&self, from: [L; 2]) -> L::Mask {
        from[0].min(from[1]).lt(L::splat(-self.rows.landing_speed))
    }

    /// Tells which contacts bear a blow, and no load, after a pass that changed their impulses from `before` to `now`; `came` are the normal
    /// velocities before it. A contact that bore nothing bears a blow if it came faster than its weight presses: but not if the same points
    /// bore one when they were last pressed. What comes as fast once more bears what lies on it. (When one point's blow counted for the other as
    /// well, a brick that landed at 20 m/s on one corner, and then on the other, bore that as a load: it stood still, and left at 1.8 m/s.)
    #[inline(always)]
    pub(super) fn lands(
        &self,
        had_landed: [L::Mask; 2],
        before: [L; 2],
        now: [L; 2],
        came: [L; 2],
    ) -> L::Mask {
        let zero = L::splat(0.0);
        let news = pair!(p => L::select(had_landed[p], zero, now[p]));
        let bore = before[0] + before[1];
        let again = had_landed[0].or(had_landed[1]);
        // What landed in an iteration before has still landed: what lands in a substep bears nothing when the next one begins.
        let still = bore.gt(zero).and(again);
        still.or(bore.le(zero).and((news[0] + news[1]).gt(zero)).and(self.landed(came)))
    }

    /// Marks what landed in a pass before the positions move, for the projection solver. The impulses and the normal velocities are those before
    /// it. (Without the marks a small box that landed at 170 m/s bore the impact as a load in the next step, and three iterations left it at
    /// 3 m/s.)
    #[inline(always)]
    pub(super) fn note_landing(&mut self, had_landed: [L::Mask; 2], before: [L; 2], came: [L; 2]) {
        let (zero, now) = (L::splat(0.0), self.normal_impulses());
        let lands = self.lands(had_landed, before, now, came);
        for (p, now) in now.into_iter().enumerate().take(POINTS) {
            let closing_speed = L::select(lands.and(now.gt(zero)), L::splat(LANDED), self.closing_speed(p));
            self.set_closing_speed(p, closing_speed);
        }
    }

    /// Puts a part of the impulses of impacts aside, and keeps the next warm start from repeating them: the impulse that stopped a fall
    /// is not the load that the contact bears from then on. (When it was repeated, and taken back by one point after the
    /// other, it left a box that landed flat on a slope spinning and sliding.)
    #[inline(always)]
    pub(super) unsafe fn retire(
        &mut self,
        vel: &Velocities<L>,
        part: L,
        bounce: Bounce<'_>,
        rough: Option<&mut RoughBlock>,
    ) {
        let (i, zero) = (self.i, L::splat(0.0));
        let (mut turn, retired) = ([zero; 2], part.gt(zero));
        let tangent = take(&mut self.friction.tangent_impulse[i..], part);
        // Rolling resistance has no share in what others read. (When the warm start repeated it, two compounds that bounced on each other
        // were spun by it, and restitution gave that back: see `rolling_resistance_makes_no_energy`.)
        // Not `map_or`: that is a function of its own, without the instructions of the kernel's level.
        let rolling = match rough {
            Some(rough) => take(&mut rough.rolling_impulse[i..], part),
            None => zero,
        };
        let normal = [
            take(&mut self.normal.normal_impulse[i..], part),
            if POINTS == 2 { take(&mut self.manifold.second.normal_impulse[i..], part) } else { zero },
        ];
        if let Some(bounce) = bounce {
            let [first, second] = &mut bounce.normal_impulse;
            for (to, taken) in
                [first, second, &mut bounce.tangent_impulse].into_iter().zip([normal[0], normal[1], tangent])
            {
                (L::load(&to[i..]) + taken).store(&mut to[i..]);
            }
        } else if let Some(aside) = &mut self.aside {
            (L::load(&aside[i..]) + (normal[0] + normal[1])).store(&mut aside[i..]);
        }
        let (tangent_arms, inv_spins) = (self.tangent_arms(), self.inv_spins());
        for (body, turn) in turn.iter_mut().enumerate() {
            *turn = tangent * tangent_arms[body] + rolling * inv_spins[body];
            for (p, &normal) in normal.iter().enumerate().take(POINTS) {
                *turn = *turn + normal * self.normal_arms(p)[body];
            }
        }
        let sum = normal[0] + normal[1];
        let [normal_x, normal_y] = self.normal();
        let impulse = [normal_x * sum - normal_y * tangent, normal_y * sum + normal_x * tangent];
        let none = Velocities { a: [zero, zero, zero, vel.a[3]], b: [zero, zero, zero, vel.b[3]] };
        let mut gained = none;
        push::<L, FIXED>(&mut gained, impulse, turn);
        let (at_a, at_b) = self.at();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            self.rows.keep_from_warm_start(at_a, gained.a, retired);
            if !FIXED {
                self.rows.keep_from_warm_start(at_b, gained.b, retired);
            }
        }
    }
}

/// Moves the arms of these lanes, which are the first of `arms`, and returns them.
#[inline(always)]
fn shift<L: Lane>(arms: &mut [f32], lanes: L::Mask, by: L) -> L {
    let arm = L::load(arms);
    let shifted = L::select(lanes, arm + by, arm);
    shifted.store(arms);
    shifted
}

/// Takes a part of these impulses away, and returns it.
#[inline(always)]
fn take<L: Lane>(from: &mut [f32], part: L) -> L {
    let impulse = L::load(from);
    let taken = L::select(part.gt(L::splat(0.0)), part * impulse, L::splat(0.0));
    (impulse - taken).store(from);
    taken
}

//! Friction of contacts with a manifold: one row for both points, alone or together with the normal impulses.

use super::{ManifoldKernel, push};
use crate::contacts::RoughBlock;
use crate::formula::{SOUND, coulomb_once_sliding, parting_by_turns};
use crate::lane::{Lane, Mask, pair};
use crate::solver::impulse::Velocities;
use crate::solver::pass::{Pass, SweepPass};

impl<L: Lane, const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, L, FIXED, POINTS> {
    /// Solves friction of the whole contact. Inside μ_s·λ_n the contact holds. Beyond that it slides at μ_d·λ_n. A contact
    /// that has not begun to slide bears μ_s·λ_n for now, and other contacts of the same bodies bear the rest.
    #[inline(always)]
    pub(super) fn friction(
        &mut self,
        vel: &mut Velocities<L>,
        rough: Option<&RoughBlock>,
        load: NormalLoad<L>,
    ) {
        let i = self.i;
        let sliding = self.sliding(vel, rough);
        let old = L::load(&self.friction.tangent_impulse[i..]);
        let candidate = old - L::load(&self.friction.tangent_mass[i..]) * sliding;
        let hold = load.most * L::load(&self.friction.static_friction[i..]);
        let slide = load.most * L::load(&self.friction.dynamic_friction[i..]);
        let slides = sliding.abs().gt(load.slides_from);
        let mut new = coulomb_once_sliding(candidate, hold, slide, slides);
        if load.struck.bits() != 0 {
            // What held in an impact does not slide before it is over.
            let kept = load.struck.and((old * candidate).gt(L::splat(0.0)));
            let slide = L::select(kept, slide.max(old.abs().min(hold)), slide);
            new = coulomb_once_sliding(candidate, hold, slide, slides);
            let gives_way = load.unsettled.and(new.abs().lt(old.abs()));
            new = L::select(gives_way, L::splat(0.5) * (old + new), new);
        }
        let new = L::select(load.done, old, new);
        new.store(&mut self.friction.tangent_impulse[i..]);
        self.change_friction(vel, new - old);
    }

    /// Returns how fast the contact slides, belts included.
    #[inline(always)]
    pub(super) fn sliding(&self, vel: &Velocities<L>, rough: Option<&RoughBlock>) -> L {
        let ([normal_x, normal_y], arms) = (self.normal(), self.tangent_arms());
        let sliding = vel.along(-normal_y, normal_x) + parting_by_turns(&vel.a, &vel.b, arms);
        match rough {
            Some(rough) => sliding + L::load(&rough.tangent_speed[self.i..]),
            None => sliding,
        }
    }

    /// Gives both bodies this impulse along the tangent.
    #[inline(always)]
    pub(super) fn change_friction(&self, vel: &mut Velocities<L>, change: L) {
        let ([normal_x, normal_y], arms) = (self.normal(), self.tangent_arms());
        let impulse = [-normal_y * change, normal_x * change];
        push::<L, FIXED>(vel, impulse, pair!(body => arms[body] * change));
    }

    /// Returns the speed from which a contact slides. `fall` is the part of what gravity gives a body in a substep, m/s, whose friction the
    /// body's contacts may not have shared out yet.
    ///
    /// What a body at rest is pushed with is borne by its contacts one after the other, up to the limit of each. When one slid as soon as
    /// its own share was too large, boxes on several pieces of a chain slid from half the static limit on: 60
    /// of the 96 of `hold_against_a_sudden_push_on_pieces` with the projection solver, and 18 with the soft one.
    #[inline(always)]
    fn slides_from(&self, fall: L) -> L {
        L::splat(self.rows.creep_speed) + L::load(&self.friction.static_friction[self.i..]) * fall
    }

    /// Solves friction and rolling resistance under the present normal impulses. `loaded` lanes bore a load before this pass, and `struck` ones are in an
    /// impact.
    #[inline(always)]
    pub(super) fn relax_friction<P: SweepPass>(
        &mut self,
        vel: &mut Velocities<L>,
        rough: Option<&mut RoughBlock>,
        loaded: L::Mask,
        struck: L::Mask,
    ) {
        let unsettled = if P::PASS == Pass::Bounce { no_lanes::<L>() } else { struck };
        let slides_from = self.slides_from(match P::PASS {
            Pass::Meet => L::select(loaded, L::splat(self.rows.fall_speed), L::splat(0.0)),
            _ => L::splat(self.rows.unsettled_speed),
        });
        let mut done = no_lanes::<L>();
        if POINTS == 2 && rough.is_none() {
            let fresh = self.mark().lt(L::splat(0.0));
            let from = L::select(fresh, L::splat(self.rows.creep_speed), L::splat(self.rows.slip_speed));
            done = self.friction_with_normals(vel, all_lanes::<L>(), from, slides_from);
        }
        let now = self.normal_impulses();
        let sum = now[0] + now[1];
        self.friction(vel, rough.as_deref(), NormalLoad { most: sum, slides_from, struck, unsettled, done });
        if let Some(rough) = rough {
            self.brake_rolling(vel, rough, sum);
        }
    }

    /// Solves friction of sliding contacts with two points, together with its effect on the normal impulses.
    ///
    /// Friction acts below the centre: it turns a body, presses one point and lifts the other. When the two were solved one
    /// after the other, a body that landed flat on a slope was left spinning, lost the load of one point, slid, and never
    /// stopped. So the normal velocities are held: a friction impulse Δt changes them by c·Δt, and normal impulses of
    /// −K⁻¹·c·Δt take that back (K: inverse masses of the two points). This is done for the `lanes` in which both points
    /// stay pressed; these are returned. A contact that does not hold slides at the coefficient `slides_at`.
    /// Contacts that slide more slowly than `from` are left out: settling piles slip a little all the time, and a pyramid
    /// of 5,050 boxes spread by 7 cm with them, and by 5 without.
    #[inline(always)]
    pub(super) fn friction_with_normals(
        &mut self,
        vel: &mut Velocities<L>,
        lanes: L::Mask,
        from: L,
        slides_from: L,
    ) -> L::Mask {
        let (i, zero, one) = (self.i, L::splat(0.0), L::splat(1.0));
        let sliding = self.sliding(vel, None);
        let slides = sliding.abs().gt(from).and(lanes);
        if slides.bits() == 0 {
            return slides;
        }
        let (static_friction, dynamic_friction) =
            (L::load(&self.friction.static_friction[i..]), L::load(&self.friction.dynamic_friction[i..]));
        let slides_at = L::select(sliding.abs().gt(slides_from), dynamic_friction, static_friction);
        let Coupling { taken, inv_tangent_mass, sound } = self.coupling(vel);
        let lost = taken[0] + taken[1];

        let old = L::load(&self.friction.tangent_impulse[i..]);
        let normal = self.normal_impulses();
        let sum = normal[0] + normal[1];
        let stop = -(sliding / inv_tangent_mass);
        let hold = static_friction * (sum - lost * stop);
        let wanted = old + stop;
        let slide = L::select(wanted.lt(zero), -slides_at, slides_at);
        // At the limit: old + Δt = ±μ·(sum − lost·Δt).
        let yielding = one + slide * lost;
        let change = L::select(wanted.abs().le(hold), stop, (slide * sum - old) / yielding);
        let new = [normal[0] - taken[0] * change, normal[1] - taken[1] * change];
        // Normal impulses on points that part, as after a bounce, may do work: never more than friction takes.
        // What slides at its limit changes by nothing, and the work of that is a rounding error.
        let rounding = L::splat(self.rows.rounded_work) * (sliding * sum).abs();
        let parting = self.normal_velocities(vel);
        let work = change * (sliding + L::splat(0.5) * (change * inv_tangent_mass))
            - change * (taken[0] * parting[0] + taken[1] * parting[1]);
        let together = slides
            .and(sound)
            .and(work.le(rounding))
            .and(yielding.gt(L::splat(0.1)))
            .and(new[0].gt(zero).and(new[1].gt(zero)))
            .and(normal[0].gt(zero).and(normal[1].gt(zero)));
        L::select(together, old + change, old).store(&mut self.friction.tangent_impulse[i..]);
        let new = pair!(p => L::select(together, new[p], normal[p]));
        let before = *vel;
        self.change_normal(vel, normal, new);
        self.change_friction(vel, change);
        vel.keep_where(together, &before);
        together
    }

    /// Returns the normal impulses that have the same effect on the two normal velocities as a unit friction impulse.
    #[inline(always)]
    pub(super) fn coupling(&self, vel: &Velocities<L>) -> Coupling<L> {
        let weights = self.weights(vel);
        let (taken, sound) = weights.impulses_for(weights.turned);
        let Weights { turned, tangent, .. } = weights;
        let inv_tangent_mass = tangent - (turned[0] * taken[0] + turned[1] * taken[1]);
        Coupling { taken, inv_tangent_mass, sound }
    }

    /// Returns by how much unit impulses at both points and along the tangent change the velocities there.
    #[inline(always)]
    pub(super) fn weights(&self, vel: &Velocities<L>) -> Weights<L> {
        let two = L::splat(2.0);
        let inv_masses = [vel.a[3], vel.b[3]];
        let inv_mass = inv_masses[0] + inv_masses[1];
        let (first, second, tangent) = (self.normal_arms(0), self.normal_arms(1), self.tangent_arms());
        let spun =
            |x: [L; 2], y: [L; 2]| two * (inv_masses[0] * (x[0] * y[0]) + inv_masses[1] * (x[1] * y[1]));
        Weights {
            normal: [inv_mass + spun(first, first), inv_mass + spun(second, second)],
            shared: inv_mass + spun(first, second),
            turned: [spun(first, tangent), spun(second, tangent)],
            tangent: inv_mass + spun(tangent, tangent),
        }
    }

    /// Solves rolling resistance under this normal impulse.
    #[inline(always)]
    pub(super) fn brake_rolling(
        &mut self,
        vel: &mut Velocities<L>,
        rough: &mut RoughBlock,
        normal_impulse: L,
    ) {
        let (i, zero) = (self.i, L::splat(0.0));
        let most = L::load(&rough.rolling[i..]) * normal_impulse;
        let inv_spin = self.inv_spins();
        let weight = vel.a[3] * (inv_spin[0] * inv_spin[0]) + vel.b[3] * (inv_spin[1] * inv_spin[1]);
        let turns = weight.gt(zero);
        let mass = L::select(turns, L::splat(0.5) / weight, zero);
        let rolling = parting_by_turns(&vel.a, &vel.b, inv_spin);
        let old = L::load(&rough.rolling_impulse[i..]);
        let new = (old - mass * rolling).min(most).max(-most);
        new.store(&mut rough.rolling_impulse[i..]);
        let change = new - old;
        push::<L, FIXED>(vel, [zero; 2], pair!(body => inv_spin[body] * change));
    }
}

/// The normal load under which friction is solved.
pub(super) struct NormalLoad<L: Lane> {
    /// The normal impulse of both points. While the soft bias is on, it is at least as large as it was without: the part that
    /// the bias releases for the time being must not let the contact slip.
    pub most: L,
    /// The speed from which the contact slides. While the soft bias is on, a body that lands or is pushed may still be held
    /// by its other contacts.
    pub slides_from: L,
    /// The lanes in an impact: what held in it does not slide before it is over. (The law of two coefficients has two solutions there. From one
    /// iteration to the next a brick held and slid in turn, what it was let go with counted as taken by the impact, and it left with 1.7 times
    /// its energy.)
    pub struck: L::Mask,
    /// The lanes in an impact that is not over in this pass: friction gives way by half. (Where friction lifts the point on which it acts, the
    /// two swung from one iteration to the next, and what friction was let go with counted as taken by the impact.)
    pub unsettled: L::Mask,
    /// The lanes whose friction is solved already.
    pub done: L::Mask,
}

/// The inverse masses of a contact with two points.
pub(super) struct Weights<L: Lane> {
    /// Along the normal, at each point.
    pub normal: [L; 2],
    /// At one point for an impulse at the other.
    pub shared: L,
    /// At each point for an impulse along the tangent.
    pub turned: [L; 2],
    pub tangent: L,
}

impl<L: Lane> Weights<L> {
    /// Returns the normal impulses that change the points' velocities by `wanted`, and whether they exist: they do not if the
    /// two points are nearly one.
    #[inline(always)]
    pub(super) fn impulses_for(&self, wanted: [L; 2]) -> ([L; 2], L::Mask) {
        let Weights { normal, shared, .. } = self;
        let product = normal[0] * normal[1];
        let determinant = product - *shared * *shared;
        let per_determinant = L::splat(1.0) / determinant;
        let impulses = [
            (normal[1] * wanted[0] - *shared * wanted[1]) * per_determinant,
            (normal[0] * wanted[1] - *shared * wanted[0]) * per_determinant,
        ];
        (impulses, determinant.gt(L::splat(SOUND) * product))
    }
}

/// How friction and the normal impulses of two points depend on each other.
pub(super) struct Coupling<L: Lane> {
    /// The normal impulses with the same effect as a unit friction impulse.
    pub taken: [L; 2],
    /// The inverse mass of friction, while the normal velocities are held.
    pub inv_tangent_mass: L,
    pub sound: L::Mask,
}

#[inline(always)]
fn all_lanes<L: Lane>() -> L::Mask {
    L::splat(0.0).le(L::splat(0.0))
}

#[inline(always)]
pub(super) fn no_lanes<L: Lane>() -> L::Mask {
    L::splat(0.0).lt(L::splat(0.0))
}

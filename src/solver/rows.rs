//! The rows of all bodies as the passes share them, the constants of a substep, and the integration of rows.

use super::impulse::STEADY;
use super::mirror::Mirror;
use super::{Integrate, StepLoad};
use crate::body::own::MotionLimits;
use crate::crew::SharedSlice;
use crate::formula::Softness;
use crate::lane::{Lane, MAX_WIDTH, Mask, Row, RowOffset, lane_entry};
use crate::settings::{Settings, Solver};
use glam::Vec2;
use std::ops::Range;

/// The factor by which contacts with a body that no impulse moves are stiffer, up to the limit of the setting. The load of
/// a whole pile ends at such contacts, and E. Catto's soft step has the same factor. At the frequency of the others,
/// boulders pressed pebbles 0.081 m into the floor of a box (2,000 circles of 0.1 to 5 m; Box2D 3.2: 0.022 to 0.040), and a
/// box of 1,000 times the mass pressed a light one 0.20 m (0.088).
const STIFFER: f32 = 2.0;

/// A body that is slower than gravity makes it in this many steps has no impact: 1 m/s for the defaults.
const REST_STEPS: f32 = 6.0;

/// A body that comes faster than gravity makes it in this many substeps has fallen: its impulse is not a lasting load.
const LANDING: f32 = 1.5;

/// Depth from which bodies are jammed, in slops.
const JAMMED: f32 = 8.0;
/// Sliding speed, in slops per second, from which friction changes the normal impulses of two points by more than they differ anyway.
const SLIP: f32 = 10.0;

/// A body that is pushed by this many times its weight for one substep does not slide yet.
const PUSHED: f32 = 4.0;

/// Sliding speed below which a contact has not begun to slide, in slops per second: 2.5 mm/s for the default.
const CREEP: f32 = 0.5;

/// The part of the speed that static friction takes in a substep which contacts may have shared out wrongly after the first pass. (Of the 96
/// boxes that `hold_against_a_sudden_push_on_pieces` pushes at 0.95 of the static limit 18 slid with nothing, 4 with 0.2, and none with this.)
const UNSETTLED: f32 = 1.0 / 3.0;

/// The overlap, in slops, up to which an impact of several contacts with a wall is no push-out.
const SHALLOW: f32 = 2.0;

/// The part of the slop up to which a gap counts as closed.
const TOUCHING: f32 = 1.0e-3;

/// The mirror's rows, shared by all tasks, and the constants of the substep.
pub(crate) struct Rows<'a> {
    pub vel: SharedSlice<'a, Row>,
    pub pose: SharedSlice<'a, Row>,
    /// What the next warm start adds; within a substep, the velocities at its start. The fourth of each row is the load of the body: the sum of the
    /// speeds that forces, and the impulses which contacts and joints have carried into the step, give it in a substep, in whichever directions,
    /// m/s.
    pub accum: SharedSlice<'a, Row>,
    /// Something may bounce: then `accum` has loads.
    pub any_restitution: bool,
    pub damp: &'a [Row],
    /// Centres and extents at the start of the step.
    pub shape: &'a [Row],
    /// Where the bodies are at the start of the step, for joints.
    pub frame: &'a [Row],
    pub any_damping: bool,
    /// Positions are solved by a soft bias, and not by projection.
    pub is_soft: bool,
    /// Bodies may meet with several parts at once.
    pub any_parts: bool,
    /// The bodies with limits of their motion, by slot.
    pub limits: &'a [(u32, MotionLimits)],
    /// The slots of bodies that stand still, with rows from the step before: they are not integrated.
    pub still: Range<usize>,
    /// Length of a substep and its inverse.
    pub step: f32,
    pub inv_step: f32,
    /// Substep length over the last step's: scales carried impulses.
    pub impulse_ratio: f32,
    /// Softness of contacts without and with a manifold. Each: between two moving bodies, and with a body that no impulse moves.
    pub softness: [Softness; 2],
    pub manifold_softness: [Softness; 2],
    pub push_out_speed: f32,
    /// Bodies that overlap by more are jammed, m: no resting contact is so deep.
    pub jammed_depth: f32,
    pub restitution_threshold: f32,
    /// A body that comes faster strikes, m/s: that is more than its weight gives it in one substep.
    pub landing_speed: f32,
    /// More than a body falls from rest in a step, m.
    pub fall: f32,
    /// A contact that slides more slowly still has its static friction, m/s.
    pub creep_speed: f32,
    /// A contact that slides more slowly before the relaxing pass may have been pushed in this substep only, m/s.
    pub slide_speed: f32,
    /// What gravity gives a body in a substep, m/s.
    pub fall_speed: f32,
    /// The part of it that friction may not have shared out among the contacts of a body before the relaxing pass, m/s.
    pub unsettled_speed: f32,
    /// A contact that slides faster has its friction solved together with the normal impulses, m/s.
    pub slip_speed: f32,
    /// Work that counts as none, as a part of that of the whole normal impulse along the sliding. Only for projection: its many iterations
    /// come back to contacts that slide at their limit, and one that was left to the ordinary friction then turned the body (a hexagon
    /// that landed at 0.7 of the static angle slid on).
    pub rounded_work: f32,
    /// The overlap up to which a wall does not push out what meets it with several parts.
    pub shallow: f32,
    /// A gap up to which bodies touch, whatever rounding has left of it.
    pub touching: f32,
    /// The part of an overlap that a step removes, spread over the substeps.
    pub projection_percent: f32,
    pub substeps: f32,
    pub projection_slop: f32,
}

impl<'a> Rows<'a> {
    pub(super) fn new(mirror: &'a mut Mirror, settings: &Settings, load: &StepLoad) -> Rows<'a> {
        let h = settings.substep();
        let frequency = settings.contact_frequency_ratio / h;
        let softness = |damping: f32| {
            [1.0, STIFFER].map(|factor| {
                let frequency = (factor * frequency).min(Settings::MAX_FREQUENCY_RATIO / h);
                Softness::new(frequency, damping * settings.damping_ratio, h)
            })
        };
        let gravity_speed = REST_STEPS * settings.time_step * settings.gravity.length();
        let fall_speed = h * settings.gravity.length();
        Rows {
            vel: SharedSlice::new(&mut mirror.vel),
            pose: SharedSlice::new(&mut mirror.pose),
            accum: SharedSlice::new(&mut mirror.accum),
            any_restitution: load.any_restitution,
            damp: &mirror.damp,
            shape: &mirror.shape,
            frame: &mirror.frame,
            any_damping: load.any_damping,
            is_soft: settings.solver == Solver::Soft,
            any_parts: load.any_parts,
            limits: &mirror.limits,
            still: mirror.still.clone(),
            step: h,
            inv_step: 1.0 / h,
            impulse_ratio: load.impulse_ratio,
            softness: softness(STEADY),
            manifold_softness: softness(1.0),
            push_out_speed: settings.push_out_speed,
            jammed_depth: JAMMED * settings.slop,
            restitution_threshold: settings.restitution_threshold.min(gravity_speed),
            landing_speed: LANDING * fall_speed,
            fall: settings.gravity.length() * settings.time_step * settings.time_step,
            creep_speed: CREEP * settings.slop,
            slip_speed: if settings.solver == Solver::Soft { SLIP } else { CREEP } * settings.slop,
            slide_speed: CREEP * settings.slop + PUSHED * fall_speed,
            fall_speed,
            unsettled_speed: if settings.solver == Solver::Soft { UNSETTLED } else { 0.0 } * fall_speed,
            rounded_work: if settings.solver == Solver::Soft { 0.0 } else { 1.0e-6 },
            shallow: SHALLOW * settings.slop,
            touching: TOUCHING * settings.slop,
            projection_percent: settings.projection_percent,
            substeps: settings.substeps as f32,
            projection_slop: settings.projection_slop,
        }
    }

    /// The length of the step.
    pub(super) fn step_length(&self) -> f32 {
        self.substeps * self.step
    }

    /// Whether the substep that ends after `elapsed` is the step's last.
    pub(super) fn is_last(&self, elapsed: f32) -> bool {
        elapsed * self.inv_step > self.substeps - 0.5
    }

    /// The part of the energy of a blow that a body which rests may give back in the substep after the one that ends after `elapsed`. After a step's
    /// last one the impulse that gives it counts as a load, of which no blow takes anything away: so it is little, and nothing of what leaves
    /// with all its energy. (With 1/16, whatever the restitution, what fell on others left with up to 2.7 times its energy; with 1/4 instead of 1/8 with
    /// up to 1.5 times. With nothing 8 of 24 `hinges` scenes came to rest, and with this 12, when speeds alone told that: where planks are jammed between
    /// joints their load never grew to what they need. The tests `falls_on_what_rests` and `hinges_come_to_rest` tell.)
    #[inline(always)]
    pub(super) fn given_back<L: Lane>(&self, elapsed: f32, restitution: L) -> L {
        let lost = L::splat(1.0) - restitution;
        if self.is_last(elapsed) { L::splat(1.0 / 8.0) * (lost * lost) } else { L::splat(1.0) }
    }

    /// The part of the remaining overlap that the substep which ends after `elapsed` removes. Each substep removes the same
    /// part of the first overlap, and all together remove [`Settings::projection_percent`](crate::Settings).
    pub(super) fn projection_part(&self, elapsed: f32) -> f32 {
        // Rounded by hand: on processors without an instruction for it, `round` is a call.
        let done = ((elapsed * self.inv_step + 0.5) as i32 - 1) as f32;
        let part = self.projection_percent / self.substeps;
        (part / (1.0 - done * part)).min(1.0)
    }

    /// The speed at which a point may close after bodies were projected: none where it bears an impulse, or touches while the `other` point of
    /// its contact bears one, and else what it `was`. What met nothing before the positions moved is stopped in the next substep. (What does
    /// not touch yet, stopped, had friction for a part of the impact only, and slid on a slope that should have held it; and it bounced before
    /// it touched. What touched by rounding alone, stopped, was one contact after the other: a body of two boxes that landed flat left
    /// spinning at 2 rad/s.)
    #[inline(always)]
    pub(super) fn closing_speed<L: Lane>(&self, separation: L, [impulse, other]: [L; 2], was: L) -> L {
        let zero = L::splat(0.0);
        let touches = separation.le(L::splat(self.touching));
        let stops = impulse.gt(zero).or(other.gt(zero).and(touches));
        L::select(stops, zero, was)
    }

    /// Takes the velocity that bodies have gained in this substep out of the next substep's warm start.
    ///
    /// # Safety
    ///
    /// As for [`Lane::scatter`]: no other task has these bodies.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(super) unsafe fn keep_from_warm_start<L: Lane>(
        &self,
        at: &[RowOffset],
        mut gained: [L; 4],
        lanes: L::Mask,
    ) {
        // SAFETY: no other task has these bodies; there is a damping for every row of velocity, or none.
        unsafe {
            let mut last = L::gather(self.accum.as_ptr(), at);
            if self.any_damping {
                let damp = L::gather(self.damp.as_ptr(), at);
                for (gained, damp) in gained.iter_mut().zip(damp) {
                    *gained = *gained / damp;
                }
            }
            for (last, gained) in last.iter_mut().zip(gained).take(3) {
                *last = L::select(lanes, *last + gained, *last);
            }
            L::scatter(self.accum.as_ptr(), at, last);
        }
    }
}

/// Holds the bodies among these slots within the limits of their motion. Runs before positions and after velocities are integrated.
///
/// A lock is a constraint beside the contacts: what pushes a body along a locked axis finds it standing again in the next pass.
///
/// # Safety
///
/// No other task has any of these bodies.
#[allow(unsafe_code)]
pub(super) unsafe fn limit(rows: &Rows<'_>, slots: Range<usize>) {
    let first = rows.limits.partition_point(|&(slot, _)| (slot as usize) < slots.start);
    for &(slot, limits) in rows.limits[first..].iter().take_while(|&&(slot, _)| (slot as usize) < slots.end) {
        let slot = slot as usize;
        // SAFETY: no other task has this body.
        let (vel, last) =
            unsafe { (&mut rows.vel.range(slot..slot + 1)[0].0, &mut rows.accum.range(slot..slot + 1)[0].0) };
        let velocity = limits.limited(Vec2::new(vel[0], vel[1]));
        let now = [velocity.x, velocity.y, MotionLimits::limited_spin(vel[2], limits.max_spin)];
        for ((vel, last), now) in vel.iter_mut().zip(last).zip(now) {
            // The next warm start repeats what the contacts did, and not this.
            *last += now - *vel;
            *vel = now;
        }
    }
}

lane_entry! {
    /// Integrates rows as a flat run of numbers: whole vectors first, then single numbers. (Loops over `[f32; 4]` were compiled to
    /// single stores, for which a vector load then waited: the solver took 3.5 ms instead of 2.1 for a gas of 50,000.)
    ///
    /// # Safety
    ///
    /// No other task has any of these bodies.
    pub(crate) unsafe fn integrate[][](rows: &Rows<'_>, slots: Range<usize>, what: Integrate) = integrate_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn integrate_lanes<L: Lane>(rows: &Rows<'_>, slots: Range<usize>, what: Integrate) {
    // SAFETY: no other task has these bodies.
    let [vel, accum, pose] = unsafe {
        [
            bytemuck::cast_slice_mut::<Row, f32>(rows.vel.range(slots.clone())),
            bytemuck::cast_slice_mut::<Row, f32>(rows.accum.range(slots.clone())),
            bytemuck::cast_slice_mut::<Row, f32>(rows.pose.range(slots.clone())),
        ]
    };
    let whole = vel.len() - vel.len() % L::WIDTH;
    match what {
        Integrate::Nothing => {}
        Integrate::FirstPositions | Integrate::Positions => {
            let first = what == Integrate::FirstPositions;
            // A row more than the widest lane, for the offsets of narrow ones.
            let step: [f32; MAX_WIDTH + 4] = steps(rows.step);
            let chunks = vel.chunks_exact(L::WIDTH).zip(pose.chunks_exact_mut(L::WIDTH));
            for (i, (vel, pose)) in (0..whole).step_by(L::WIDTH).zip(chunks) {
                let moved = L::load(&step[i % 4..]) * L::load(vel);
                let now = if first { moved } else { L::load(pose) + moved };
                now.store(pose);
            }
            for i in whole..vel.len() {
                let moved = step[i % 4] * vel[i];
                pose[i] = if first { moved } else { pose[i] + moved };
            }
        }
        Integrate::FirstVelocities | Integrate::Velocities => {
            let update = what == Integrate::Velocities;
            let damp: Option<&[f32]> = rows.any_damping.then(|| bytemuck::cast_slice(&rows.damp[slots]));
            if rows.any_restitution {
                velocities::<L, true>(vel, accum, damp, update);
            } else {
                velocities::<L, false>(vel, accum, damp, update);
            }
        }
    }
}

/// Integrates the velocities of whole rows. With `LOADS` the fourth of each row of `accum` stays.
#[inline(always)]
fn velocities<L: Lane, const LOADS: bool>(
    vel: &mut [f32],
    accum: &mut [f32],
    damp: Option<&[f32]>,
    update: bool,
) {
    let whole = vel.len() - vel.len() % L::WIDTH;
    let places: [f32; MAX_WIDTH + 4] = steps(1.0);
    // By chunks, as the compiler does not always see otherwise that the lengths are looked at already (+2 % of the
    // instructions of a step of `packed`).
    let chunks = vel.chunks_exact_mut(L::WIDTH).zip(accum.chunks_exact_mut(L::WIDTH));
    for (i, (vel, accum)) in (0..whole).step_by(L::WIDTH).zip(chunks) {
        // Vectors of whole rows all begin with x: so the mask is made once.
        let place = if L::WIDTH.is_multiple_of(4) { 0 } else { i % 4 };
        velocity::<L, LOADS>(vel, accum, damp.map(|d| &d[i..]), &places[place..], update);
    }
    for i in whole..vel.len() {
        let damp = damp.map(|d| &d[i..]);
        velocity::<f32, LOADS>(&mut vel[i..], &mut accum[i..], damp, &places[i % 4..], update);
    }
}

/// The length of the substep at the places of x, y and angle of each row, and 0 at the fourth.
#[inline(always)]
fn steps(step: f32) -> [f32; MAX_WIDTH + 4] {
    let mut steps = [step; MAX_WIDTH + 4];
    steps.iter_mut().skip(3).step_by(4).for_each(|fourth| *fourth = 0.0);
    steps
}

/// Computes v' = v·damp + w. In the first substep the warm start w is `accum`. Afterwards w is what v has gained since
/// v·damp in the substep before, that is its warm start and all that the contacts added. `accum` becomes v. With `LOADS` both keep what they are where
/// `places` is 0.
#[inline(always)]
fn velocity<L: Lane, const LOADS: bool>(
    vel: &mut [f32],
    accum: &mut [f32],
    damp: Option<&[f32]>,
    places: &[f32],
    update: bool,
) {
    let v = L::load(vel);
    let last = L::load(accum);
    let (mut damped, mut damped_last) = (v, last);
    if let Some(damp) = damp {
        let damp = L::load(damp);
        (damped, damped_last) = (v * damp, last * damp);
    }
    let warm_start = if update { v - damped_last } else { last };
    let (mut now, mut was) = (damped + warm_start, v);
    if LOADS {
        let moves = L::load(places).gt(L::splat(0.0));
        (now, was) = (L::select(moves, now, v), L::select(moves, v, last));
    }
    was.store(accum);
    now.store(vel);
}

//! The rows of all bodies as the passes share them, the constants of a substep, and the integration of rows.

use super::Integrate;
use crate::crew::SharedSlice;
use crate::formula::Softness;
use crate::lane::{Lane, MAX_WIDTH, Row, RowOffset};
use std::ops::Range;

/// The mirror's rows, shared by all tasks, and the constants of the substep.
pub(crate) struct Rows<'a> {
    pub vel: SharedSlice<'a, Row>,
    pub pose: SharedSlice<'a, Row>,
    pub accum: SharedSlice<'a, Row>,
    pub damp: &'a [Row],
    pub any_damping: bool,
    /// Length of a substep and its inverse.
    pub step: f32,
    pub inv_step: f32,
    /// Substep length over the last step's: scales carried impulses.
    pub impulse_ratio: f32,
    /// Of contacts whose normal impulse turns nobody, and of those with a manifold: between moving bodies, and with what no impulse
    /// moves.
    pub softness: [Softness; 2],
    pub manifold_softness: [Softness; 2],
    pub push_out_speed: f32,
    /// What overlaps by more is jammed, m: nothing that rests is so deep.
    pub jammed_depth: f32,
    pub restitution_threshold: f32,
    /// What comes faster than this strikes, m/s: it is more than the weight of one substep.
    pub landing_speed: f32,
    /// Sliding slower than this is none yet, m/s: the contact still has its static friction.
    pub creep_speed: f32,
    /// What slides slower than this, before the relaxing pass, may have been pushed in this substep only, m/s.
    pub slide_speed: f32,
    /// What slides faster than this has its friction solved with the normal impulses, m/s.
    pub slip_speed: f32,
    /// Part of the overlap that a step removes, in so many substeps.
    pub projection_percent: f32,
    pub substeps: f32,
    pub projection_slop: f32,
}

impl Rows<'_> {
    /// Whether the substep that ends after `elapsed` is the step's last.
    pub(super) fn is_last(&self, elapsed: f32) -> bool {
        elapsed * self.inv_step > self.substeps - 0.5
    }

    /// The part of what is left of an overlap that the substep which ends after `elapsed` removes: in each the same part of
    /// what there was at first, and all together [`Settings::projection_percent`](crate::Settings).
    pub(super) fn projection_part(&self, elapsed: f32) -> f32 {
        let done = (elapsed * self.inv_step).round() - 1.0;
        let part = self.projection_percent / self.substeps;
        (part / (1.0 - done * part)).min(1.0)
    }

    /// Takes what bodies have gained in this substep out of what the next one's warm start repeats.
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

    /// Rows as a flat run of numbers: whole vectors, then single ones. (As loops over `[f32; 4]` these
    /// were compiled to single stores that a vector load then waited for: the solver took 3.5 ms and not 2.1
    /// for a gas of 50,000.)
    ///
    /// # Safety
    ///
    /// No other task has any of these bodies.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn integrate<L: Lane>(&self, slots: Range<usize>, what: Integrate) {
        // SAFETY: no other task has these bodies.
        let [vel, accum, pose] = unsafe {
            [&self.vel, &self.accum, &self.pose]
                .map(|rows| bytemuck::cast_slice_mut::<Row, f32>(rows.range(slots.clone())))
        };
        let whole = vel.len() - vel.len() % L::WIDTH;
        match what {
            Integrate::Nothing => {}
            Integrate::FirstPositions | Integrate::Positions => {
                let first = what == Integrate::FirstPositions;
                // A row more than the widest lane, for the offsets of narrow ones.
                let step: [f32; MAX_WIDTH + 4] =
                    std::array::from_fn(|i| if i % 4 == 3 { 0.0 } else { self.step });
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
                let damp: Option<&[f32]> = self.any_damping.then(|| bytemuck::cast_slice(&self.damp[slots]));
                // By chunks, as the compiler does not always see otherwise that the lengths are looked at already (+2 % of the
                // instructions of a step of `packed`).
                let chunks = vel.chunks_exact_mut(L::WIDTH).zip(accum.chunks_exact_mut(L::WIDTH));
                for (i, (vel, accum)) in (0..whole).step_by(L::WIDTH).zip(chunks) {
                    velocity::<L>(vel, accum, damp.map(|d| &d[i..]), update);
                }
                for i in whole..vel.len() {
                    velocity::<f32>(&mut vel[i..], &mut accum[i..], damp.map(|d| &d[i..]), update);
                }
            }
        }
    }
}

/// v' = v·damp + w, where the warm start w is `accum` in the first substep, and afterwards what v has gained
/// since v·damp in the substep before: that is the warm start of then and all that the contacts added. `accum`
/// becomes v.
#[inline(always)]
fn velocity<L: Lane>(vel: &mut [f32], accum: &mut [f32], damp: Option<&[f32]>, update: bool) {
    let v = L::load(vel);
    let last = L::load(accum);
    v.store(accum);
    let damped = |v: L| damp.map_or(v, |damp| v * L::load(damp));
    let warm_start = if update { v - damped(last) } else { last };
    (damped(v) + warm_start).store(vel);
}

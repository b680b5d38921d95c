//! The kernels of contacts with a manifold: up to two points, each with arms, so that impulses turn both bodies.
//!
//! They do what those of `impulse.rs` do, with the arms of `contacts/update/manifold.rs`: a point moves along the
//! normal at (v_B − v_A)·n + u_B·arm_B − u_A·arm_A, and an impulse λ there changes u by ±2·arm·λ/m. The points of a
//! contact are solved one after the other, on velocities that are gathered and scattered once for both.
//!
//! As the bodies turn in a step, the separation changes by the arms times the angles: the normal and the arms
//! stay those of the step's start.
//!
//! Differences, and their reasons:
//!
//! 1. *Two points are solved together*, see [`ManifoldKernel::apply_normal`].
//! 2. *Softness gives way to tilting half as much as to pressing.* A soft contact lets a part of its impulse go in each
//!    substep; of two points half of that part is shared out equally, so that it does not lower the moment
//!    that they resist tilting with. Each contact of a tower is a hinge with a spring, and a tower of 20 boxes
//!    was too high for these: it bent and fell within 13 s. With half it stands, and with all (or with a
//!    stiffer spring for both) tall piles ring.
//! 3. *Friction is one for both points*: a contact holds or slides as a whole, up to the coefficient times the sum of
//!    its normal impulses, at arms in the middle. With a limit for each point, one was overloaded while the other had
//!    room. The overloaded point slid at the dynamic coefficient, and so the whole contact did: a box with μs 0.5 and
//!    μd 0.3 slid from 0.9 of the angle of friction. One row also costs less arithmetic.
//! 4. *Friction is solved in both passes.* In the relaxing pass only, a pyramid of 5,050 boxes never came to rest (RMS
//!    speed 0.013 m/s after 20 s, against 0.0000) and spread by 9 cm instead of 5 while it settled. The price is an eighth
//!    of the solver's time. A pile of circles gains nothing by it, and does without.
//!
//! **The floor**, counted for eight contacts of two points and two bodies that move, from the formulas alone:
//!
//! | pass | arithmetic | shuffles (rows of 16 bytes to columns and back) | columns and rows read, written |
//! |---|---|---|---|
//! | warm start: 3 impulses, two velocities | 40 | 48 | 30, 19 |
//! | solve: 2 approaches 13, 2 separations 15, softness 6, 2 impulses 16, friction 17, velocities 28 | 95 | 72 | 54, 19 |
//! | relax: the same without softness and with closing speeds for separations | 80 | 48 | 38, 19 |
//!
//! With half of the 64 reads of rows folded into their shuffles these are 530 instructions for the three passes of a substep. The engine takes 1,050
//! with AVX2 (3,725 contacts of `large_pyramid`, empty lanes included): twice the floor. The rest is the joint solution of both points with its two
//! cases of one point alone, what tells an impact from a rest (closing speeds and their marks), the check whether friction holds, and the walk
//! over blocks.
//!
//! ```text
//! GRANULE_ISA=avx2 valgrind --tool=callgrind --vex-iropt-level=0 --callgrind-out-file=counts \
//!     target/release/granule run large_pyramid --bodies 1275 --warmup 60 --steps 20 --threads 1
//! callgrind_annotate --threshold=99.5 counts | grep manifold::sweep     # the sum, over 80 steps of 12 passes
//! ```

pub(super) mod bundle;
mod friction;
mod impact;
mod project;

use super::impulse::impact::begin_step;
use super::impulse::{Velocities, push};
use super::pass::{Pass, SweepPass, with_pass};
use super::rows::Rows;
use crate::base::prefetch::{MANIFOLD_AHEAD, prefetch};
use crate::contacts::bundles::note_struck;
use crate::contacts::{
    BLOCK, BounceBlock, FRESH, FrictionBlock, LANDED, ManifoldBlock, NormalBlock, RoughBlock, Tile,
};
use crate::formula::{Coupled, SOUND, SoftBias, parting, parting_by_turns, soft_bias};
use crate::lane::{Lane, Mask, RowOffset, lane_entry, pair};
use friction::{NormalLoad, no_lanes};
use std::marker::PhantomData;
use std::ops::Range;

/// The part of the released impulse that two soft points share equally.
const TILT: f32 = 0.5;

/// Does one pass over manifold blocks.
///
/// # Safety
///
/// No other task has any body that these contacts move, or writes one that they read. There are rows for all that the
/// tile's blocks name. The lanes of a block share no body that moves, unless `L` is one lane wide.
#[allow(unsafe_code)]
pub(super) unsafe fn blocks<L: Lane, const FIXED: bool, const POINTS: usize>(
    tile: &mut Tile,
    range: Range<usize>,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
) {
    // SAFETY: the caller has these bodies to itself, and each named row exists.
    unsafe { with_pass!(pass, elapsed, P => sweep::<L, P, FIXED, POINTS>(tile, range, rows, elapsed)) }
}

/// The bounces of a block's contacts, in worlds where something bounces.
type Bounce<'a> = Option<&'a mut BounceBlock>;

lane_entry! {
    /// Does a pass over the active blocks, `WIDTH` contacts at a time.
    ///
    /// # Safety
    ///
    /// The same as for [`blocks`].
    unsafe fn sweep[P: SweepPass, const FIXED: bool, const POINTS: usize][P, FIXED, POINTS](
        tile: &mut Tile,
        range: Range<usize>,
        rows: &Rows<'_>,
        elapsed: f32,
    ) = sweep_lanes;
}

/// Asks for the memory of a block that is soon visited, if there is such a block.
#[inline(always)]
fn prefetch_block(tile: &Tile, index: usize) {
    if let Some(info) = tile.info.get(index).filter(|info| info.active != 0) {
        prefetch(&tile.normal, index);
        prefetch(&tile.friction, index);
        prefetch(&tile.manifold, info.manifold as usize);
    }
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn sweep_lanes<L: Lane, P: SweepPass, const FIXED: bool, const POINTS: usize>(
    tile: &mut Tile,
    range: Range<usize>,
    rows: &Rows<'_>,
    elapsed: f32,
) {
    for index in range {
        prefetch_block(tile, index + MANIFOLD_AHEAD);
        let info = &mut tile.info[index];
        if info.active == 0 {
            continue;
        }
        let place = info.manifold as usize;
        let mut bounce = tile.bounce.get_mut(index);
        let (normal, friction) = (&mut tile.normal[index], &mut tile.friction[index]);
        let manifold = &mut tile.manifold[place];
        if let Some(bounce) = bounce.as_deref_mut().filter(|_| P::PASS == Pass::WarmStart) {
            begin_step(info, bounce, [&normal.normal_impulse, &manifold.second.normal_impulse]);
        }
        let (mut impacts, active) = (false, u32::from(info.active));
        let mut rough = tile.rough.get_mut(place);
        // Lanes in use come first.
        for vector in 0..usize::from(info.count).div_ceil(L::WIDTH) {
            // No more than that already; so the compiler knows that no load reaches beyond the block.
            let i = (vector * L::WIDTH) & (BLOCK - L::WIDTH);
            let mut kernel = ManifoldKernel::<L, FIXED, POINTS> {
                normal,
                friction,
                manifold,
                rows,
                elapsed,
                i,
                aside: tile.put_aside.get_mut(index),
                lanes: PhantomData,
            };
            if P::PASS == Pass::WarmStart {
                // SAFETY: the caller has these bodies to itself, and each named row exists.
                let meet = unsafe { kernel.warm_start(rough.as_deref_mut(), bounce.is_some()) };
                let meet = meet.map(|lanes| lanes << i & active);
                if meet[0] != 0 {
                    note_struck(&mut tile.bundles, index, meet, FIXED);
                }
                continue;
            }
            // SAFETY: the caller has these bodies to itself, and each named row exists.
            impacts |= unsafe { kernel.visit::<P>(rough.as_deref_mut(), bounce.as_deref_mut()) };
        }
        info.bounced |= impacts;
    }
}

/// `WIDTH` contacts of one block.
struct ManifoldKernel<'a, L: Lane, const FIXED: bool, const POINTS: usize> {
    normal: &'a mut NormalBlock,
    friction: &'a mut FrictionBlock,
    manifold: &'a mut ManifoldBlock,
    rows: &'a Rows<'a>,
    elapsed: f32,
    /// The first of these lanes.
    i: usize,
    /// Where impulses that are put aside are added up, if the host wants to know of hits.
    aside: Option<&'a mut [f32; BLOCK]>,
    lanes: PhantomData<L>,
}

/// Accessors of what is kept of each point: of the first in the blocks of all contacts, of the second in the manifold block.
macro_rules! of_points {
    ($($name:ident $(, $set:ident)?: $block:ident;)*) => {
        impl<L: Lane, const FIXED: bool, const POINTS: usize> ManifoldKernel<'_, L, FIXED, POINTS> {
            $(
                #[inline(always)]
                fn $name(&self, point: usize) -> L {
                    let values = if point == 0 { &self.$block.$name } else { &self.manifold.second.$name };
                    L::load(&values[self.i..])
                }

                $(
                    #[inline(always)]
                    fn $set(&mut self, point: usize, value: L) {
                        let values =
                            if point == 0 { &mut self.$block.$name } else { &mut self.manifold.second.$name };
                        value.store(&mut values[self.i..]);
                    }
                )?
            )*
        }
    };
}
of_points! {
    separation: normal;
    normal_mass, set_normal_mass: normal;
    normal_impulse, set_normal_impulse: normal;
    closing_speed, set_closing_speed: normal;
}

/// The methods that gather or scatter rows are unsafe: the caller guarantees that this block's bodies belong to this task
/// alone. The methods that may start a bounce return whether a contact is in an impact.
#[allow(unsafe_code)]
impl<'a, L: Lane, const FIXED: bool, const POINTS: usize> ManifoldKernel<'a, L, FIXED, POINTS> {
    /// Does one pass after the warm start. Returns whether one of these contacts is in an impact.
    #[inline(always)]
    unsafe fn visit<P: SweepPass>(&mut self, rough: Option<&mut RoughBlock>, bounce: Bounce<'_>) -> bool {
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            match P::PASS {
                Pass::WarmStart => {}
                Pass::Solve if P::MOVED => return self.solve::<true>(rough.as_deref(), bounce),
                Pass::Solve => return self.solve::<false>(rough.as_deref(), bounce),
                Pass::Meet | Pass::Relax | Pass::Bounce => return self.relax::<P>(rough, bounce),
                Pass::Project => self.project(),
            }
        }
        false
    }

    #[inline(always)]
    fn normal(&self) -> [L; 2] {
        [L::load(&self.normal.normal_x[self.i..]), L::load(&self.normal.normal_y[self.i..])]
    }

    #[inline(always)]
    fn normal_arms(&self, point: usize) -> [L; 2] {
        let arms = &self.manifold.arms.normal[point];
        [L::load(&arms[0][self.i..]), L::load(&arms[1][self.i..])]
    }

    #[inline(always)]
    fn tangent_arms(&self) -> [L; 2] {
        let arms = &self.manifold.arms.tangent;
        [L::load(&arms[0][self.i..]), L::load(&arms[1][self.i..])]
    }

    #[inline(always)]
    fn inv_spins(&self) -> [L; 2] {
        [L::load(&self.manifold.inv_spin_a[self.i..]), L::load(&self.manifold.inv_spin_b[self.i..])]
    }

    /// The rows of A and B.
    #[inline(always)]
    fn at(&self) -> (&[RowOffset], &[RowOffset]) {
        let lanes = self.i..self.i + L::WIDTH;
        let (a, b) = (&self.normal.a[lanes.clone()], &self.normal.b[lanes]);
        debug_assert!(a.iter().chain(b).all(|at| at.row() < self.rows.vel.len()));
        (a, b)
    }

    #[inline(always)]
    unsafe fn velocities(&self) -> Velocities<L> {
        let vel = self.rows.vel.as_ptr();
        let (a, b) = self.at();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { Velocities { a: L::gather(vel, a), b: L::gather(vel, b) } }
    }

    #[inline(always)]
    unsafe fn store(&self, vel: Velocities<L>) {
        let rows = self.rows.vel.as_ptr();
        let (a, b) = self.at();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            L::scatter(rows, a, vel.a);
            if !FIXED {
                L::scatter(rows, b, vel.b);
            }
        }
    }

    /// Returns how far both bodies have moved since the step's start.
    #[inline(always)]
    unsafe fn poses(&self, vel: &Velocities<L>) -> ([L; 4], [L; 4]) {
        let pose = self.rows.pose.as_ptr();
        let (a, b) = self.at();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            let a = L::gather(pose, a);
            (a, if FIXED { vel.b_after(self.elapsed) } else { L::gather(pose, b) })
        }
    }

    #[inline(always)]
    fn along_normal(&self, a: &[L; 4], b: &[L; 4], arms: [L; 2]) -> L {
        parting(a, b, self.normal()) + parting_by_turns(a, b, arms)
    }

    /// Is below 0 in contacts that bear a load in this substep and bore none before: `FRESH` or `LANDED`, in place of the
    /// closing speed of each point that bears it.
    #[inline(always)]
    fn mark(&self) -> L {
        let first = self.closing_speed(0);
        if POINTS == 2 { first.min(self.closing_speed(1)) } else { first }
    }

    /// Tells which points bore a blow when they were last pressed.
    #[inline(always)]
    pub(super) fn points_landed(&self) -> [L::Mask; 2] {
        pair!(p => self.closing_speed(if p < POINTS { p } else { 0 }).le(L::splat(LANDED)))
    }

    /// Lets a gap of this size close in one substep.
    #[inline(always)]
    fn limit_closing(&mut self, point: usize, separation: L) {
        let speed = separation.max(L::splat(0.0)) * L::splat(self.rows.inv_step);
        self.set_closing_speed(point, speed);
    }

    /// Returns the separation of a point when the bodies have moved so far, or at the step's start.
    #[inline(always)]
    fn separation_at(&self, point: usize, poses: &Option<([L; 4], [L; 4])>) -> L {
        let at_start = self.separation(point);
        // Not `map_or`: that is a function of its own, without the instructions of the kernel's level.
        match poses {
            Some((a, b)) => at_start + self.along_normal(a, b, self.normal_arms(point)),
            None => at_start,
        }
    }

    /// Computes accum += J·λ for the carried impulses. Returns the lanes that [`ManifoldKernel::may_meet`] finds.
    #[inline(always)]
    unsafe fn warm_start(&mut self, rough: Option<&mut RoughBlock>, bounces: bool) -> [u32; 2] {
        let ratio = L::splat(self.rows.impulse_ratio);
        let zero = L::splat(0.0);
        let landed = self.points_landed();
        let ratio = L::select(landed[0].or(landed[1]), zero, ratio);
        let tangent_impulse = L::load(&self.friction.tangent_impulse[self.i..]) * ratio;
        tangent_impulse.store(&mut self.friction.tangent_impulse[self.i..]);
        let mut normal_sum = zero;
        let mut turn = pair!(body => tangent_impulse * self.tangent_arms()[body]);
        for (p, landed) in landed.into_iter().enumerate().take(POINTS) {
            let normal_impulse = self.normal_impulse(p) * ratio;
            self.set_normal_impulse(p, normal_impulse);
            normal_sum = normal_sum + normal_impulse;
            for (turn, arm) in turn.iter_mut().zip(self.normal_arms(p)) {
                *turn = *turn + normal_impulse * arm;
            }
            self.limit_closing(p, self.separation(p));
            // To be known in the first substep.
            let closing_speed = L::select(landed, L::splat(LANDED), self.closing_speed(p));
            self.set_closing_speed(p, closing_speed);
        }
        if let Some(rough) = rough {
            let i = self.i;
            let rolling_impulse = L::load(&rough.rolling_impulse[i..]) * ratio;
            rolling_impulse.store(&mut rough.rolling_impulse[i..]);
            for (turn, inv_spin) in turn.iter_mut().zip(self.inv_spins()) {
                *turn = *turn + rolling_impulse * inv_spin;
            }
        }
        let [normal_x, normal_y] = self.normal();
        let x = normal_x * normal_sum - normal_y * tangent_impulse;
        let y = normal_y * normal_sum + normal_x * tangent_impulse;
        let rows = self.rows.accum.as_ptr();
        let (at_a, at_b) = self.at();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            let vel = self.velocities();
            let (mut a, mut b) = (L::gather(rows, at_a), [zero; 4]);
            if !FIXED {
                b = L::gather(rows, at_b);
            }
            let load = if self.rows.any_restitution { normal_sum } else { zero };
            let loads = [a[3] + load * vel.a[3], b[3] + load * vel.b[3]];
            // The inverse masses are in the velocity rows.
            (a[3], b[3]) = (vel.a[3], vel.b[3]);
            let mut sum = Velocities { a, b };
            push::<L, FIXED>(&mut sum, [x, y], turn);
            [sum.a[3], sum.b[3]] = loads;
            L::scatter(rows, at_a, sum.a);
            if !FIXED {
                L::scatter(rows, at_b, sum.b);
            }
            if FIXED || self.rows.any_parts { self.may_meet(&vel, bounces) } else { [0; 2] }
        }
    }

    /// Applies normal impulses. Each point alone would change by `wanted` velocity, at the effective mass `mass`.
    ///
    /// Two points are solved together if both stay pressed. One after the other, the first would always give way first,
    /// and a stack would lean to its side (20 boxes drifted 5 cm within 3 s). Otherwise they are solved one after the other.
    #[inline(always)]
    fn apply_normal(&mut self, vel: &mut Velocities<L>, wanted: [L; 2], mass: [L; 2]) -> [L; 2] {
        let zero = L::splat(0.0);
        let old = self.normal_impulses();
        let arms = pair!(p => self.normal_arms(p));
        let new = if POINTS == 2 {
            let (one, two) = (L::splat(1.0), L::splat(2.0));
            let shared = vel.a[3] * (one + two * (arms[0][0] * arms[1][0]))
                + vel.b[3] * (one + two * (arms[0][1] * arms[1][1]));
            let coupling = pair!(p => mass[p] * shared);
            let determinant = one - coupling[0] * coupling[1];
            let sound = determinant.gt(L::splat(SOUND));
            Coupled { coupling, per_determinant: one / determinant, sound }.impulses(old, wanted)
        } else {
            [(old[0] + wanted[0]).max(zero), zero]
        };
        self.change_normal(vel, old, new);
        new
    }

    /// Returns the impulses of the points; 0 for a point that does not exist.
    #[inline(always)]
    fn normal_impulses(&self) -> [L; 2] {
        pair!(p => if p < POINTS { self.normal_impulse(p) } else { L::splat(0.0) })
    }

    /// Changes the normal impulses from `old` to `new`, and the bodies' velocities with them.
    #[inline(always)]
    fn change_normal(&mut self, vel: &mut Velocities<L>, old: [L; 2], new: [L; 2]) {
        let zero = L::splat(0.0);
        let (mut sum, mut turn) = (zero, [zero; 2]);
        for p in 0..POINTS {
            self.set_normal_impulse(p, new[p]);
            let change = new[p] - old[p];
            let arms = self.normal_arms(p);
            sum = sum + change;
            turn = [turn[0] + change * arms[0], turn[1] + change * arms[1]];
        }
        let [normal_x, normal_y] = self.normal();
        push::<L, FIXED>(vel, [normal_x * sum, normal_y * sum], turn);
    }

    /// Returns the speed at which each point separates.
    #[inline(always)]
    fn normal_velocities(&self, vel: &Velocities<L>) -> [L; 2] {
        let of = |p: usize| self.along_normal(&vel.a, &vel.b, self.normal_arms(p));
        [of(0), if POINTS == 2 { of(1) } else { L::splat(0.0) }]
    }

    /// Notes at the points that press how they do it: in a contact that is `fresh`, or has just landed, or otherwise.
    #[inline(always)]
    fn note_borne(&mut self, fresh: L::Mask, lands: L::Mask, now: [L; 2]) {
        let zero = L::splat(0.0);
        let borne = L::select(fresh, L::splat(FRESH), zero);
        let borne = L::select(lands, L::splat(LANDED), borne);
        for (p, now) in now.into_iter().enumerate().take(POINTS) {
            let closing_speed = L::select(now.gt(zero), borne, self.closing_speed(p));
            self.set_closing_speed(p, closing_speed);
        }
    }

    /// Solves normal impulses, with the soft bias where the shapes overlap. A gap may close in this substep, but no more. The
    /// approach that closes a gap is stopped in the relaxing pass, after the positions have moved: see
    /// `ImpulseKernel::solve` of `impulse.rs`. In the first substep nothing has `MOVED`.
    #[inline(always)]
    unsafe fn solve<const MOVED: bool>(
        &mut self,
        rough: Option<&RoughBlock>,
        mut bounce: Bounce<'_>,
    ) -> bool {
        let soft = &self.rows.manifold_softness[usize::from(FIXED)];
        let (zero, half) = (L::splat(0.0), L::splat(0.5));
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        // SAFETY: this task alone has these bodies, and each named row exists.
        let poses = MOVED.then(|| unsafe { self.poses(&vel) });
        if let Some(bounce) = bounce.as_deref_mut() {
            self.shift_arms(bounce, &vel, &poses);
        }
        let (mut from, mut wanted, mut masses) = ([zero; 2], [zero; 2], [zero; 2]);
        let had_landed = self.points_landed();
        let before = self.normal_impulses();
        let both = half * (before[0] + before[1]);
        for p in 0..POINTS {
            let separation = self.separation_at(p, &poses);
            self.limit_closing(p, separation);
            let gap_speed = separation * L::splat(self.rows.inv_step);
            let SoftBias { bias, mass_scale, impulse_scale } =
                soft_bias(separation, gap_speed, soft, self.rows.push_out_speed);
            let given = if POINTS == 2 {
                L::splat(TILT) * both + L::splat(1.0 - TILT) * before[p]
            } else {
                before[p]
            };
            masses[p] = self.normal_mass(p) * mass_scale;
            from[p] = self.along_normal(&vel.a, &vel.b, self.normal_arms(p));
            wanted[p] = -(impulse_scale * given) - masses[p] * (from[p] + bias);
        }
        let now = self.apply_normal(&mut vel, wanted, masses);
        let fresh = (before[0] + before[1]).le(zero).and((now[0] + now[1]).gt(zero));
        self.note_borne(fresh, self.lands(had_landed, before, now, from), now);
        let (mut bounces, mut struck) = (false, no_lanes::<L>());
        if let Some(bounce) = bounce {
            let to = self.normal_velocities(&vel);
            // SAFETY: the caller has these bodies to itself, and each named row exists.
            bounces = unsafe { self.note_compression(bounce, before, from, to) };
            struck = L::load(&bounce.approach[self.i..]).lt(zero);
        }
        let mut done = no_lanes::<L>();
        if POINTS == 2 && rough.is_none() && fresh.bits() != 0 {
            let creep = L::splat(self.rows.creep_speed);
            done = self.friction_with_normals(&mut vel, fresh, creep, L::splat(f32::MAX));
        }
        let now = self.normal_impulses();
        let (before, now) = (before[0] + before[1], now[0] + now[1]);
        let slides_from = L::select(before.gt(zero), L::splat(self.rows.slide_speed), L::splat(f32::MAX));
        let load = NormalLoad { most: now.max(before), slides_from, struck, unsettled: struck, done };
        self.friction(&mut vel, rough, load);
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { self.store(vel) };
        bounces
    }

    /// Solves normal impulses without bias, then friction, then rolling resistance. In the pass `Bounce`, contacts in an impact rebound.
    #[inline(always)]
    unsafe fn relax<P: SweepPass>(&mut self, mut rough: Option<&mut RoughBlock>, bounce: Bounce<'_>) -> bool {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        let zero = L::splat(0.0);
        let had_landed = self.points_landed();
        let mut bounce = bounce;
        if P::PASS == Pass::Meet {
            // SAFETY: this task alone has these bodies, and each named row exists.
            let poses = (self.elapsed > 0.0).then(|| unsafe { self.poses(&vel) });
            // What the mark stands for is a gap again.
            (0..POINTS).for_each(|p| self.limit_closing(p, self.separation_at(p, &poses)));
            if let Some(bounce) = bounce.as_deref_mut() {
                self.shift_arms(bounce, &vel, &poses);
            }
        }
        let (before, came) = (self.normal_impulses(), self.normal_velocities(&vel));
        // In the last substep the impulses of what lands are kept to be read, and dropped when the next step begins.
        let mut retired = had_landed[0].or(had_landed[1]);
        // Where something bounces, all other relaxing passes come before the one that does. (When they took the impulses of what lands
        // before it bounced, compounds in a gas with two iterations lost four fifths of their energy in 500 steps.)
        let before_bounce = P::PASS == Pass::Relax && bounce.is_some();
        if P::PASS == Pass::Meet || before_bounce || self.rows.is_last(self.elapsed) {
            retired = no_lanes::<L>();
        }
        let (mut impacts, mut struck, one) = (false, no_lanes::<L>(), L::splat(1.0));
        let mut part = L::select(retired, one, zero);
        if let Some(bounce) = bounce.as_deref_mut() {
            impacts = self.relax_normal(&mut vel, Some(bounce));
            struck = L::load(&bounce.approach[self.i..]).lt(zero);
            if P::PASS == Pass::Bounce && impacts {
                part = part.max(self.blow(&vel, bounce));
                part = L::select(self.rebound(&mut vel, bounce), one, part);
                zero.store(&mut bounce.approach[self.i..]);
                zero.store(&mut bounce.absorbed[self.i..]);
            }
        } else {
            self.relax_normal(&mut vel, None);
        }
        if P::PASS == Pass::Meet {
            self.note_landing(had_landed, before, came);
        }
        let loaded = (before[0] + before[1]).gt(zero);
        self.relax_friction::<P>(&mut vel, rough.as_deref_mut(), loaded, struck);
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            if part.gt(zero).bits() != 0 {
                self.retire(&vel, part, bounce, rough);
            }
            self.store(vel);
        }
        impacts
    }

    /// Solves normal impulses without bias. Returns whether one belongs to an impact.
    #[inline(always)]
    fn relax_normal(&mut self, vel: &mut Velocities<L>, bounce: Option<&mut BounceBlock>) -> bool {
        let zero = L::splat(0.0);
        let (mut wanted, mut masses) = ([zero; 2], [zero; 2]);
        let (before, from) = (self.normal_impulses(), self.normal_velocities(vel));
        for p in 0..POINTS {
            masses[p] = self.normal_mass(p);
            wanted[p] = -(masses[p] * (from[p] + self.closing_speed(p).max(zero)));
        }
        let new = self.apply_normal(vel, wanted, masses);
        if let Some(bounce) = &bounce {
            // As in `impulse.rs`: what gives nothing back keeps nothing. (With several iterations, contacts without restitution
            // kept what they had pushed too much: seven bodies at 10,000 m/s left with 10⁸ times their energy.)
            let noted = L::load(&bounce.approach[self.i..]).lt(zero);
            let noted = noted.and(L::load(&bounce.restitution[self.i..]).gt(zero));
            let noted = noted.and((new[0] + new[1]).le(zero));
            let kept = pair!(p => L::select(noted, before[p], new[p]));
            self.change_normal(vel, new, kept);
        }
        bounce.is_some_and(|bounce| {
            let to = self.normal_velocities(vel);
            // SAFETY: the caller has these bodies to itself, and each named row exists.
            unsafe { self.note_compression(bounce, before, from, to) }
        })
    }
}

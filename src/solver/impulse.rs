//! The kernels for warm start, solve, relax, project and restitution. Each is one text for all levels, with or
//! without rotation, with or without a moving B.
//!
//! Conventions (see `lib.rs`): the normal n points from A to B, the tangent is t = (−n_y, n_x). An impulse λ ≥ 0 along
//! n pushes B along n and A against it. A circle's spin is stored as the speed of its surface, u = ω·r. Friction
//! changes u by −λ·r²/I on both bodies. The sliding velocity is (v_B − v_A)·t − (u_A + u_B). For a disc r²/I is 2/m, so
//! no inertia is read.
//!
//! The relaxing pass lets a gap close at the speed that the solving pass allowed, and does not recompute it from the
//! gap that is then left. Recomputing the separation would cost a second gather of rows per body, and a contact that
//! lands is stopped one substep later anyway. Friction in the solving pass as well was tried and dropped: the solver
//! took 20 % longer, and the penetration of a pile of 158 rows was the same.
//!
//! # Restitution
//!
//! An impact is over within the substep in which it begins: the solving pass stops the approach, and the last relaxing
//! pass lets the bodies leave. The law is the energetic one (W. J. Stronge, "Rigid body collisions with friction",
//! 1990): an impact gives back e² of the kinetic energy that its normal impulses have absorbed. Each impulse Δλ absorbs
//! −Δλ·(u + u')/2, where u is the speed of the contact before the impulse and u' the speed after it. This is exact, so
//! the sum over the passes is exact, and no order of solving contacts creates energy. For one contact of two bodies
//! this is Newton's law: they leave at e times the speed at which they came. Friction is solved after the rebound, so
//! that Coulomb's limit uses the whole normal impulse.
//!
//! Replaced: Newton's law per point at the end of the step, −e times the approach noted at the first impulse. Points
//! that were struck in different substeps have approaches that never existed at the same time: boxes and octagons
//! gained energy without end (196 octagons 3 times as much in 400 steps, 10¹⁴ times in 2,000).
//!
//! Also tried, without effect: inverse masses in `accum` too, so that the warm start gathers no velocities (±1 % of `granule run packed`);
//! the tangent mass derived from the normal mass, with one coefficient of friction, so that the relaxing pass reads two cache lines in
//! eleven less (1 %, at 1,000,000 bodies too: the passes do not wait for the blocks' lines).

pub(super) mod impact;
mod velocities;

pub(super) use velocities::{Velocities, push};

use super::manifold;
use super::pass::{Pass, SweepPass, with_pass};
use super::rows::Rows;
use crate::base::prefetch::{AHEAD, prefetch};
use crate::contacts::{BLOCK, BlockInfo, BounceBlock, FrictionBlock, NormalBlock, Run, Tile, set_bits};
use crate::formula::{SoftBias, coulomb, parting, projection, rebound, soft_bias};
use crate::lane::{Lane, Mask, RowOffset, lane_entry};
use crate::narrowphase::PairKind;
use impact::{begin_step, keep_needless};
use std::ops::Range;

/// The factor on the damping ratio of contacts whose normal impulse turns no body (circles and axis-aligned boxes).
/// Contacts with a manifold have the factor 1.
///
/// A pile of N rows is a chain of springs. The damping of its slowest oscillation is π/2N of the damping of one
/// contact: a damping ratio of 10 is much for two bodies and little for a tall pile. Twice the damping brings the pile
/// to rest sooner: `packed-50k-settled` in `perf-reports/peers-quality.md` moves at 0.04 m/s after 660 steps, and at
/// 0.10 with half the damping. The resting depth does not change, because the stiffness is m·ω² at any damping. The
/// price: initial overlaps separate more slowly, at ω/(2ζ + h·ω): 6 per second instead of 12.
///
/// With a factor of 3, `stack_of_ten_boxes_stands` is not yet within 1 mm of its rest after a second. With a factor of
/// 2 for shapes that turn as well, `pyramid_of_base_20_stands` moves aside by 5 cm instead of 2 while it takes its
/// load, and the struck bodies in `what_rests_does_not_bounce` hop by 3 mm.
pub(super) const STEADY: f32 = 2.0;

/// Runs one pass over a tile's contacts. The positions are those `elapsed` seconds after the step's start.
///
/// # Safety
///
/// The caller guarantees that no other task uses a body that these contacts move, or writes a body that they read, and
/// that every row that the tile's blocks name exists.
#[allow(unsafe_code)]
pub(crate) unsafe fn run<L: Lane>(tile: &mut Tile, rows: &Rows<'_>, pass: Pass, elapsed: f32) {
    // By number: an iterator over kinds and runs handed these on by memory, in stores that the next load had to wait for, which took a tenth
    // of a step of ten boxes.
    for index in set_bits(tile.occupied) {
        let (kind, run) = (PairKind::ALL[index / 2], tile.runs[index]);
        if kind.needs_manifold() {
            // In a small world few blocks have more lanes in use than a narrow vector has, and those on the ground have one. (`peers --scenes
            // small-10`, with AVX-512: 3.9 µs a step instead of 4.8.)
            let lanes = tile.info[run.coloured()].iter().map(|info| usize::from(info.count)).max();
            // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
            unsafe {
                match lanes.unwrap_or(0) {
                    0..=1 => run_manifolds::<f32>(tile, kind, run, rows, pass, elapsed),
                    lanes if lanes <= L::Narrow::WIDTH => {
                        run_manifolds::<L::Narrow>(tile, kind, run, rows, pass, elapsed);
                    }
                    _ => run_manifolds::<L>(tile, kind, run, rows, pass, elapsed),
                }
            }
            continue;
        }
        // What turns normals is in kernels of its own: in those of all worlds it took 7 % more instructions for a step of `packed`.
        let turns = !tile.bounce.is_empty() && kind.are_round_and_move();
        // SAFETY: the caller gives this task these bodies alone. Lanes of a coloured block share no body that moves;
        // serial blocks are run at width 1.
        unsafe {
            match (kind.is_fixed(), kind.spin_factors(), turns) {
                (false, (2.0, 2.0), true) => {
                    both::<L::Narrow, false, true, true, true>(tile, run, rows, pass, elapsed);
                }
                (false, (2.0, 2.0), _) => {
                    both::<L::Narrow, false, true, true, false>(tile, run, rows, pass, elapsed);
                }
                (false, (2.0, _), true) => {
                    both::<L::Narrow, false, true, false, true>(tile, run, rows, pass, elapsed);
                }
                (false, (2.0, _), _) => {
                    both::<L::Narrow, false, true, false, false>(tile, run, rows, pass, elapsed);
                }
                (false, _, true) => {
                    both::<L::Narrow, false, false, false, true>(tile, run, rows, pass, elapsed);
                }
                (false, ..) => both::<L::Narrow, false, false, false, false>(tile, run, rows, pass, elapsed),
                (true, (2.0, _), _) => {
                    both::<L::Narrow, true, true, false, false>(tile, run, rows, pass, elapsed);
                }
                (true, ..) => both::<L::Narrow, true, false, false, false>(tile, run, rows, pass, elapsed),
            }
        }
    }
}

/// Runs one pass over the contacts of a kind with manifolds.
///
/// # Safety
///
/// The same as for [`run`].
#[allow(unsafe_code)]
unsafe fn run_manifolds<L: Lane>(
    tile: &mut Tile,
    kind: PairKind,
    run: Run,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
) {
    // SAFETY: the caller gives this task these bodies alone. Lanes of a coloured block share no body that
    // moves; serial blocks are run at width 1.
    unsafe {
        match (kind.is_fixed(), kind.has_two_points()) {
            (false, false) => manifold::<L, false, 1>(tile, run, rows, pass, elapsed),
            (false, true) => manifold::<L, false, 2>(tile, run, rows, pass, elapsed),
            (true, false) => manifold::<L, true, 1>(tile, run, rows, pass, elapsed),
            (true, true) => manifold::<L, true, 2>(tile, run, rows, pass, elapsed),
        }
    }
}

/// Runs the coloured blocks of a run, then its serial ones.
///
/// # Safety
///
/// The same as for [`run`].
#[allow(unsafe_code)]
unsafe fn both<L: Lane, const FIXED: bool, const SPIN_A: bool, const SPIN_B: bool, const TURNS: bool>(
    tile: &mut Tile,
    run: Run,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
) {
    // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
    unsafe {
        blocks::<L, FIXED, SPIN_A, SPIN_B, TURNS>(tile, run.coloured(), rows, pass, elapsed);
        if !run.serial().is_empty() {
            blocks::<f32, FIXED, SPIN_A, SPIN_B, TURNS>(tile, run.serial(), rows, pass, elapsed);
        }
    }
}

/// Runs the coloured blocks of a run of contacts with a manifold, then its serial ones.
///
/// # Safety
///
/// The same as for [`run`].
#[allow(unsafe_code)]
unsafe fn manifold<L: Lane, const FIXED: bool, const POINTS: usize>(
    tile: &mut Tile,
    run: Run,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
) {
    // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
    unsafe {
        manifold::blocks::<L, FIXED, POINTS>(tile, run.coloured(), rows, pass, elapsed);
        if !run.serial().is_empty() {
            manifold::blocks::<f32, FIXED, POINTS>(tile, run.serial(), rows, pass, elapsed);
        }
    }
}

/// Runs one pass over the blocks in `range`.
///
/// # Safety
///
/// The same as for [`run`]. In addition, the lanes of a block share no body that moves, unless `L` is one lane wide.
#[allow(unsafe_code)]
unsafe fn blocks<L: Lane, const FIXED: bool, const SPIN_A: bool, const SPIN_B: bool, const TURNS: bool>(
    tile: &mut Tile,
    range: Range<usize>,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
) {
    // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
    unsafe {
        with_pass!(pass, elapsed, P => sweep::<L, P, FIXED, SPIN_A, SPIN_B, TURNS>(tile, range, rows, elapsed));
    }
}

lane_entry! {
    /// Does a pass over the active blocks, `WIDTH` contacts at a time.
    ///
    /// # Safety
    ///
    /// The same as for [`blocks`].
    unsafe fn sweep[P: SweepPass, const FIXED: bool, const SPIN_A: bool, const SPIN_B: bool, const TURNS: bool][P, FIXED, SPIN_A, SPIN_B, TURNS](
        tile: &mut Tile,
        range: Range<usize>,
        rows: &Rows<'_>,
        elapsed: f32,
    ) = sweep_lanes;
}

#[allow(unsafe_code)]
#[inline(always)]
unsafe fn sweep_lanes<
    L: Lane,
    P: SweepPass,
    const FIXED: bool,
    const SPIN_A: bool,
    const SPIN_B: bool,
    const TURNS: bool,
>(
    tile: &mut Tile,
    range: Range<usize>,
    rows: &Rows<'_>,
    elapsed: f32,
) {
    for index in range {
        if tile.info.get(index + AHEAD).is_some_and(|info| info.active != 0) {
            prefetch(&tile.normal, index + AHEAD);
            if matches!(P::PASS, Pass::WarmStart | Pass::Meet | Pass::Relax | Pass::Bounce) {
                prefetch(&tile.friction, index + AHEAD);
            }
        }
        let info = &mut tile.info[index];
        // A skipped block has no impulse, and a separation that no velocity closes.
        if info.active == 0 {
            continue;
        }
        let normal = &mut tile.normal[index];
        let friction = &mut tile.friction[index];
        let (mut bounce, bounced) = (tile.bounce.get_mut(index), info.bounced);
        if let Some(bounce) = bounce.as_deref_mut().filter(|_| P::PASS == Pass::WarmStart) {
            begin_step(info, bounce, [&normal.normal_impulse, &[0.0; BLOCK]]);
        }
        let mut impacts = false;
        for i in BlockInfo::vectors::<L>(info.active) {
            let mut kernel = ImpulseKernel::<L, FIXED, SPIN_A, SPIN_B, TURNS>::new(normal, i, rows, elapsed);
            // SAFETY: the caller gives this task these bodies alone, and guarantees that each named row exists.
            impacts |= unsafe { kernel.visit::<P>(bounced, friction, bounce.as_deref_mut(), i) };
        }
        info.bounced |= impacts;
    }
}

/// `WIDTH` contacts of one block.
struct ImpulseKernel<
    'a,
    L: Lane,
    const FIXED: bool,
    const SPIN_A: bool,
    const SPIN_B: bool,
    const TURNS: bool,
> {
    a: &'a [RowOffset],
    b: &'a [RowOffset],
    rows: &'a Rows<'a>,
    elapsed: f32,
    normal_x: L,
    normal_y: L,
    /// The separation at the start of the step.
    first_separation: L,
    /// The separation from which the present one is reckoned, along the normal.
    separation: L,
    normal_mass: L,
    normal_impulse: &'a mut [f32],
    closing_speed: &'a mut [f32],
}

/// The methods that gather or scatter rows are unsafe for the same reason as [`blocks`]: the bodies of this block must
/// belong to this task alone. `solve` and `relax` return whether one of their contacts is in an impact.
#[allow(unsafe_code)]
impl<'a, L: Lane, const FIXED: bool, const SPIN_A: bool, const SPIN_B: bool, const TURNS: bool>
    ImpulseKernel<'a, L, FIXED, SPIN_A, SPIN_B, TURNS>
{
    #[inline(always)]
    fn new(block: &'a mut NormalBlock, i: usize, rows: &'a Rows<'a>, elapsed: f32) -> Self {
        let lanes = i..i + L::WIDTH;
        let (a, b) = (&block.a[lanes.clone()], &block.b[lanes.clone()]);
        debug_assert!(a.iter().chain(b).all(|at| at.row() < rows.vel.len()));
        ImpulseKernel {
            a,
            b,
            rows,
            elapsed,
            normal_x: L::load(&block.normal_x[i..]),
            normal_y: L::load(&block.normal_y[i..]),
            first_separation: L::load(&block.separation[i..]),
            separation: L::load(&block.separation[i..]),
            normal_mass: L::load(&block.normal_mass[i..]),
            normal_impulse: &mut block.normal_impulse[lanes.clone()],
            closing_speed: &mut block.closing_speed[lanes],
        }
    }

    /// Does one pass. `bounced` tells whether the block has had an impact in this step. Returns whether one of these contacts is in an impact.
    #[inline(always)]
    unsafe fn visit<P: SweepPass>(
        &mut self,
        bounced: bool,
        friction: &mut FrictionBlock,
        bounce: Option<&mut BounceBlock>,
        i: usize,
    ) -> bool {
        if TURNS
            && bounced
            && let Some(bounce) = bounce.as_deref()
        {
            self.take_turned(bounce, i);
        }
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            match P::PASS {
                Pass::WarmStart => self.warm_start(friction, i),
                Pass::Solve if P::MOVED => return self.solve::<true>(bounce, i),
                Pass::Solve => return self.solve::<false>(bounce, i),
                Pass::Meet | Pass::Relax | Pass::Bounce => return self.relax::<P>(friction, bounce, i),
                Pass::Project => self.project(),
            }
        }
        false
    }

    #[inline(always)]
    unsafe fn velocities(&self) -> Velocities<L> {
        let vel = self.rows.vel.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { Velocities { a: L::gather(vel, self.a), b: L::gather(vel, self.b) } }
    }

    #[inline(always)]
    unsafe fn store(&self, vel: Velocities<L>) {
        let rows = self.rows.vel.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            L::scatter(rows, self.a, vel.a);
            if !FIXED {
                L::scatter(rows, self.b, vel.b);
            }
        }
    }

    #[inline(always)]
    unsafe fn poses(&self, vel: &Velocities<L>) -> ([L; 4], [L; 4]) {
        let pose = self.rows.pose.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            let a = L::gather(pose, self.a);
            (a, if FIXED { vel.b_after(self.elapsed) } else { L::gather(pose, self.b) })
        }
    }

    /// Returns the current separation, along the normal of the step's start, or of the impact.
    #[inline(always)]
    fn separation_now(&self, a: &[L; 4], b: &[L; 4]) -> L {
        self.separation + parting(a, b, [self.normal_x, self.normal_y])
    }

    /// Returns the separation at these poses, or at the step's start.
    #[inline(always)]
    fn separation_at(&self, poses: &Option<([L; 4], [L; 4])>) -> L {
        // Not `map_or`: that is a function of its own, without the instructions of the kernel's level.
        match poses {
            Some((a, b)) => self.separation_now(a, b),
            None => self.separation,
        }
    }

    /// Limits the closing speed, so that a gap of this size closes in one substep at the fastest.
    #[inline(always)]
    fn limit_closing(&mut self, separation: L) {
        let speed = separation.max(L::splat(0.0)) * L::splat(self.rows.inv_step);
        speed.store(self.closing_speed);
    }

    /// Does accum += J·λ for the carried impulses. The fourth of each row gets their sum: see `Rows::accum`.
    #[inline(always)]
    unsafe fn warm_start(&mut self, friction: &mut FrictionBlock, i: usize) {
        let ratio = L::splat(self.rows.impulse_ratio);
        let normal_impulse = L::load(self.normal_impulse) * ratio;
        let tangent_impulse = L::load(&friction.tangent_impulse[i..]) * ratio;
        normal_impulse.store(self.normal_impulse);
        tangent_impulse.store(&mut friction.tangent_impulse[i..]);
        let x = self.normal_x * normal_impulse - self.normal_y * tangent_impulse;
        let y = self.normal_y * normal_impulse + self.normal_x * tangent_impulse;
        self.limit_closing(self.separation);
        let load = if self.rows.any_restitution { normal_impulse } else { L::splat(0.0) };
        let rows = self.rows.accum.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            let vel = self.velocities();
            let mut a = L::gather(rows, self.a);
            a[0] = a[0] - x * vel.a[3];
            a[1] = a[1] - y * vel.a[3];
            a[3] = a[3] + load * vel.a[3];
            if SPIN_A {
                a[2] = a[2] - L::splat(2.0) * (tangent_impulse * vel.a[3]);
            }
            L::scatter(rows, self.a, a);
            if !FIXED {
                let mut b = L::gather(rows, self.b);
                b[0] = b[0] + x * vel.b[3];
                b[1] = b[1] + y * vel.b[3];
                b[3] = b[3] + load * vel.b[3];
                if SPIN_B {
                    b[2] = b[2] - L::splat(2.0) * (tangent_impulse * vel.b[3]);
                }
                L::scatter(rows, self.b, b);
            }
        }
    }

    /// Solves λ' = max(λ − m·s_m·(v_n + bias) − s_i·λ, 0), with the soft constants where the shapes overlap. A gap may
    /// close in this substep, but may not become an overlap. In the first substep nothing has `MOVED`, and no poses are
    /// gathered.
    ///
    /// The relaxing pass stops a contact that closes its gap in this substep: by then the positions have moved, and
    /// there is no gap. (When the relaxing pass still allowed the speed for the old gap, an impact was split over two
    /// substeps. Friction had half the load in each, and let bodies slide that should have held.)
    #[inline(always)]
    unsafe fn solve<const MOVED: bool>(&mut self, mut bounce: Option<&mut BounceBlock>, i: usize) -> bool {
        let soft = &self.rows.softness[usize::from(FIXED)];
        let zero = L::splat(0.0);
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        // SAFETY: this task alone has these bodies, and each named row exists.
        let poses = MOVED.then(|| unsafe { self.poses(&vel) });
        let mut turned = false;
        if TURNS && let Some(bounce) = bounce.as_deref_mut() {
            // SAFETY: each named row exists.
            turned = unsafe { self.turn_normals(bounce, &vel, &poses, i) }.bits() != 0;
        }
        let separation = self.separation_at(&poses);
        let gap_speed = separation * L::splat(self.rows.inv_step);
        let SoftBias { bias, mass_scale, impulse_scale } =
            soft_bias(separation, gap_speed, soft, self.rows.push_out_speed);
        let old = L::load(self.normal_impulse);
        let mass = self.normal_mass * mass_scale;
        // The terms that do not depend on the velocities come first, here and in `relax`: the chain of operations from
        // gather to scatter determines a block's time.
        let unmoved = (old - impulse_scale * old) - mass * bias;
        let normal_velocity = vel.along(self.normal_x, self.normal_y);
        let new = (unmoved - mass * normal_velocity).max(zero);
        new.store(self.normal_impulse);
        L::select(new.gt(zero), zero, gap_speed.max(zero)).store(self.closing_speed);
        vel.push::<FIXED>(self.normal_x, self.normal_y, new - old);
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { self.store(vel) };
        // SAFETY: this task alone has these bodies, and each named row exists.
        turned
            | bounce.is_some_and(|bounce| unsafe { self.note_compression(bounce, old, normal_velocity, i) })
    }

    /// Solves the normal impulse without bias, then friction: up to μ_s·λ_n the contact holds, beyond that it slides at
    /// μ_d·λ_n. In [`Pass::Bounce`], contacts in an impact rebound in between.
    #[inline(always)]
    unsafe fn relax<P: SweepPass>(
        &mut self,
        friction: &mut FrictionBlock,
        mut bounce: Option<&mut BounceBlock>,
        i: usize,
    ) -> bool {
        let zero = L::splat(0.0);
        // SAFETY: this task alone has these bodies, and each named row exists.
        let mut vel = unsafe { self.velocities() };
        let any_turned = P::PASS == Pass::Meet
            // SAFETY: this task alone has these bodies, and each named row exists.
            && unsafe { self.meet(&vel, bounce.as_deref_mut(), i) };
        let mass = self.normal_mass;
        let old_normal = L::load(self.normal_impulse);
        let unmoved = old_normal - mass * L::load(self.closing_speed);
        let normal_velocity = vel.along(self.normal_x, self.normal_y);
        let mut normal_impulse = (unmoved - mass * normal_velocity).max(zero);
        if let Some(bounce) = bounce.as_deref() {
            normal_impulse = keep_needless(bounce, normal_impulse, old_normal, i);
        }
        normal_impulse.store(self.normal_impulse);
        let noted = bounce.and_then(|bounce| {
            // SAFETY: this task alone has these bodies, and each named row exists.
            unsafe { self.note_compression(bounce, old_normal, normal_velocity, i) }.then_some(bounce)
        });
        let impacts = any_turned | noted.is_some();
        let mut impact = None;
        if let Some(bounce) = noted.filter(|_| P::PASS == Pass::Bounce) {
            let speed = normal_velocity + (normal_impulse - old_normal) / mass;
            let bounces = L::load(&bounce.approach[i..]).lt(zero).and(normal_impulse.gt(zero));
            let [absorbed, restitution] =
                [&bounce.absorbed, &bounce.restitution].map(|from| L::load(&from[i..]));
            let more = rebound(absorbed, restitution, speed, L::splat(1.0) / mass);
            normal_impulse = L::select(bounces, (normal_impulse + more).max(zero), normal_impulse);
            let part = self.blow(bounce, normal_impulse, bounces, i);
            impact = Some((bounce, part));
        }
        let normal_change = normal_impulse - old_normal;

        // The normal impulse does not change the sliding velocity, so this need not wait for it.
        let sliding = vel.along(-self.normal_y, self.normal_x) - (vel.a[2] + vel.b[2]);
        let old = L::load(&friction.tangent_impulse[i..]);
        let candidate = old - L::load(&friction.tangent_mass[i..]) * sliding;
        let hold = normal_impulse * L::load(&friction.static_friction[i..]);
        let slide = normal_impulse * L::load(&friction.dynamic_friction[i..]);
        // No speed threshold for sliding here, unlike contacts with two points: that took 4 % of the solver's time in
        // `granule run packed`.
        let new = coulomb(candidate, hold, slide);
        new.store(&mut friction.tangent_impulse[i..]);
        self.apply(&mut vel, [normal_change, new - old]);
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe { self.store(vel) };
        if let Some((bounce, part)) = impact {
            // SAFETY: this task alone has these bodies, and each named row exists.
            unsafe { self.retire(&vel, [normal_impulse, new], part, bounce, friction, i) };
        }
        impacts
    }

    /// Begins a pass before the bodies move: a gap may close in this substep. Circles that are about to bounce turn their normals. Returns
    /// whether there are any.
    #[inline(always)]
    unsafe fn meet(&mut self, vel: &Velocities<L>, bounce: Option<&mut BounceBlock>, i: usize) -> bool {
        // SAFETY: the caller has these bodies to itself, and each named row exists.
        let poses = (self.elapsed > 0.0).then(|| unsafe { self.poses(vel) });
        self.limit_closing(self.separation_at(&poses));
        let Some(bounce) = bounce.filter(|_| TURNS) else { return false };
        // SAFETY: each named row exists.
        let turned = unsafe { self.turn_normals(bounce, vel, &poses, i) }.bits() != 0;
        if turned {
            self.limit_closing(self.separation_at(&poses));
        }
        turned
    }

    /// Gives both bodies these impulses along the normal and the tangent.
    #[inline(always)]
    fn apply(&self, vel: &mut Velocities<L>, [normal, tangent]: [L; 2]) {
        let x = self.normal_x * normal - self.normal_y * tangent;
        let y = self.normal_y * normal + self.normal_x * tangent;
        vel.a[0] = vel.a[0] - x * vel.a[3];
        vel.a[1] = vel.a[1] - y * vel.a[3];
        if !FIXED {
            vel.b[0] = vel.b[0] + x * vel.b[3];
            vel.b[1] = vel.b[1] + y * vel.b[3];
        }
        let twice = tangent + tangent;
        if SPIN_A {
            vel.a[2] = vel.a[2] - twice * vel.a[3];
        }
        if SPIN_B {
            vel.b[2] = vel.b[2] - twice * vel.b[3];
        }
    }

    /// Moves overlapping bodies apart by a fraction of the overlap beyond the slop.
    #[inline(always)]
    unsafe fn project(&mut self) {
        // SAFETY: this task alone has these bodies, and each named row exists.
        let vel = unsafe { self.velocities() };
        // SAFETY: this task alone has these bodies, and each named row exists.
        let (mut a, mut b) = unsafe { self.poses(&vel) };
        let separation = self.separation_now(&a, &b);
        let (impulse, closing) = (L::load(self.normal_impulse), L::load(self.closing_speed));
        self.rows.closing_speed(separation, [impulse, L::splat(0.0)], closing).store(self.closing_speed);
        let part = L::splat(self.rows.projection_part(self.elapsed));
        let share = self.normal_mass * projection(separation, self.rows.projection_slop, part);
        a[0] = a[0] - self.normal_x * (share * vel.a[3]);
        a[1] = a[1] - self.normal_y * (share * vel.a[3]);
        b[0] = b[0] + self.normal_x * (share * vel.b[3]);
        b[1] = b[1] + self.normal_y * (share * vel.b[3]);
        let rows = self.rows.pose.as_ptr();
        // SAFETY: this task alone has these bodies, and each named row exists.
        unsafe {
            L::scatter(rows, self.a, a);
            if !FIXED {
                L::scatter(rows, self.b, b);
            }
        }
    }
}

//! The kernels of general contacts: up to two points, each with arms, so that impulses turn both bodies.
//!
//! They do what those of `impulse.rs` do, with the arms of `narrowphase/general.rs`: a point moves along the
//! normal at (v_B − v_A)·n + u_B·arm_B − u_A·arm_A, and an impulse λ there changes u by ±2·arm·λ/m. The points of a
//! contact are solved one after the other, on velocities that are gathered and scattered once for both.
//!
//! As the bodies turn in a step, the separation changes by the arms times the angles: the normal and the arms
//! stay those of the step's start.
//!
//! What is different, and why:
//!
//! 1. *Two points are solved together*, see [`Kernel::apply_normal`].
//! 2. *Softness gives way to tilting half as much as to pressing.* A soft contact lets a part of its impulse go in each
//!    substep; of two points half of that part is shared out equally, so that it does not lower the moment
//!    that they resist tilting with. Each contact of a tower is a hinge with a spring, and a tower of 20 boxes
//!    was too high for these: it bent and fell within 13 s. With half it stands, and with all (or with a
//!    stiffer spring for both) tall piles ring.
//! 3. *Friction is solved in both passes.* In the relaxing pass only, a pyramid of 5,050 boxes never came to rest (RMS
//!    speed 0.013 m/s after 20 s, and 0.0000 so) and spread by 9 cm while it settled, not 5. It costs an eighth of the
//!    solver's time; a pile of circles, which does without, gains nothing by it.

use super::impulse::{Pass, Rows, Velocities};
use crate::contacts::{BLOCK, BounceBlock, FrictionBlock, GeneralBlock, NormalBlock, RoughBlock, Tile};
use crate::lane::{Lane, Mask, RowOffset};
use crate::prefetch::{GENERAL_AHEAD, prefetch};
use std::marker::PhantomData;
use std::ops::Range;

/// The part of what two soft points let go that they let go equally.
const TILT: f32 = 0.5;

/// Does one pass over general blocks.
///
/// # Safety
///
/// As for `impulse::run`; and the lanes of a block share no body that moves, unless `L` is one lane wide.
#[allow(unsafe_code)]
pub(super) unsafe fn blocks<L: Lane, const FIXED: bool, const POINTS: usize>(
    tile: &mut Tile,
    range: Range<usize>,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
) {
    // One loop for each pass: a choice at each block cost a fifth of the time.
    // SAFETY: passed on; block indices are slots or padding rows.
    unsafe {
        match pass {
            Pass::WarmStart => sweep(
                tile,
                range,
                rows,
                pass,
                elapsed,
                |kernel: &mut Kernel<'_, L, FIXED, POINTS>, rough, _| kernel.warm_start(rough),
            ),
            Pass::Solve if elapsed == 0.0 => sweep(
                tile,
                range,
                rows,
                pass,
                elapsed,
                |kernel: &mut Kernel<'_, L, FIXED, POINTS>, rough, _| kernel.solve::<false>(rough.as_deref()),
            ),
            Pass::Solve => sweep(
                tile,
                range,
                rows,
                pass,
                elapsed,
                |kernel: &mut Kernel<'_, L, FIXED, POINTS>, rough, _| kernel.solve::<true>(rough.as_deref()),
            ),
            Pass::Relax => sweep(
                tile,
                range,
                rows,
                pass,
                elapsed,
                |kernel: &mut Kernel<'_, L, FIXED, POINTS>, rough, _| kernel.relax(rough),
            ),
            Pass::Project => {
                sweep(tile, range, rows, pass, elapsed, |kernel: &mut Kernel<'_, L, FIXED, POINTS>, _, _| {
                    kernel.project()
                })
            }
            Pass::Restitution => sweep(
                tile,
                range,
                rows,
                pass,
                elapsed,
                |kernel: &mut Kernel<'_, L, FIXED, POINTS>, _, bounces| kernel.restitute(bounces),
            ),
        }
    }
}

/// Visits the active blocks, `WIDTH` contacts at a time.
#[inline(never)]
fn sweep<L: Lane, const FIXED: bool, const POINTS: usize>(
    tile: &mut Tile,
    range: impl Iterator<Item = usize>,
    rows: &Rows<'_>,
    pass: Pass,
    elapsed: f32,
    visit: impl Fn(
        &mut Kernel<'_, L, FIXED, POINTS>,
        Option<&mut RoughBlock>,
        &mut [Option<&mut BounceBlock>; 2],
    ) -> Option<[L; 2]>,
) {
    for index in range {
        let ahead = index + GENERAL_AHEAD;
        if let Some(info) = tile.info.get(ahead).filter(|info| info.active != 0) {
            prefetch(&tile.normal, ahead);
            prefetch(&tile.friction, ahead);
            prefetch(&tile.general, info.general as usize);
        }
        let info = &mut tile.info[index];
        if info.active == 0 || (pass == Pass::Restitution && !info.bounces) {
            continue;
        }
        let place = info.general as usize;
        let mut bounces = [tile.bounce.get_mut(index), tile.second_bounce.get_mut(place)];
        if pass == Pass::WarmStart && std::mem::take(&mut info.bounces) {
            for bounce in bounces.iter_mut().flatten() {
                (bounce.approach, bounce.impulse) = ([0.0; BLOCK], [0.0; BLOCK]);
            }
        }
        let (normal, friction) = (&mut tile.normal[index], &mut tile.friction[index]);
        let general = &mut tile.general[place];
        let mut rough = tile.rough.get_mut(place);
        for i in (0..BLOCK).step_by(L::WIDTH) {
            let mut kernel = Kernel::<L, FIXED, POINTS> {
                normal,
                friction,
                general,
                rows,
                elapsed,
                i,
                lanes: PhantomData,
            };
            let before: [L; 2] =
                [0, 1].map(|point: usize| kernel.normal_impulse(if point < POINTS { point } else { 0 }));
            let normal_velocities = visit(&mut kernel, rough.as_deref_mut(), &mut bounces);
            if let Some(normal_velocities) = normal_velocities {
                for (point, bounce) in bounces.iter_mut().take(POINTS).enumerate() {
                    if let Some(bounce) = bounce {
                        info.bounces |=
                            kernel.note_approach(point, bounce, normal_velocities[point], before[point]);
                    }
                }
            }
        }
    }
}

/// `WIDTH` contacts of one block.
struct Kernel<'a, L: Lane, const FIXED: bool, const POINTS: usize> {
    normal: &'a mut NormalBlock,
    friction: &'a mut FrictionBlock,
    general: &'a mut GeneralBlock,
    rows: &'a Rows<'a>,
    elapsed: f32,
    /// The first of these lanes.
    i: usize,
    lanes: PhantomData<L>,
}

/// What is kept of each point: of the first in the blocks that all contacts have, of the second in its own.
macro_rules! of_points {
    ($($name:ident $(, $set:ident)?: $block:ident;)*) => {
        impl<L: Lane, const FIXED: bool, const POINTS: usize> Kernel<'_, L, FIXED, POINTS> {
            $(
                #[inline(always)]
                fn $name(&self, point: usize) -> L {
                    let values = if point == 0 { &self.$block.$name } else { &self.general.second.$name };
                    L::load(&values[self.i..])
                }

                $(
                    #[inline(always)]
                    fn $set(&mut self, point: usize, value: L) {
                        let values =
                            if point == 0 { &mut self.$block.$name } else { &mut self.general.second.$name };
                        value.store(&mut values[self.i..]);
                    }
                )?
            )*
        }
    };
}
of_points! {
    separation: normal;
    normal_mass: normal;
    tangent_mass: friction;
    normal_impulse, set_normal_impulse: normal;
    tangent_impulse, set_tangent_impulse: friction;
    closing_speed, set_closing_speed: normal;
}

/// Gives both bodies an impulse (x, y) that turns A by `turn_a` and B by `turn_b` per inverse mass.
#[inline(always)]
fn push<L: Lane, const FIXED: bool>(vel: &mut Velocities<L>, [x, y]: [L; 2], [turn_a, turn_b]: [L; 2]) {
    let two = L::splat(2.0);
    vel.a[0] = vel.a[0] - x * vel.a[3];
    vel.a[1] = vel.a[1] - y * vel.a[3];
    vel.a[2] = vel.a[2] - two * (turn_a * vel.a[3]);
    if !FIXED {
        vel.b[0] = vel.b[0] + x * vel.b[3];
        vel.b[1] = vel.b[1] + y * vel.b[3];
        vel.b[2] = vel.b[2] + two * (turn_b * vel.b[3]);
    }
}

/// The methods that gather or scatter rows are unsafe in the way that [`blocks`] is: this block's bodies
/// are this task's alone. Those that may start a bounce return the normal velocities that they found.
#[allow(unsafe_code)]
impl<'a, L: Lane, const FIXED: bool, const POINTS: usize> Kernel<'a, L, FIXED, POINTS> {
    #[inline(always)]
    fn normal(&self) -> [L; 2] {
        [L::load(&self.normal.normal_x[self.i..]), L::load(&self.normal.normal_y[self.i..])]
    }

    #[inline(always)]
    fn normal_arms(&self, point: usize) -> [L; 2] {
        let arms = &self.general.arms[point].normal;
        [L::load(&arms[0][self.i..]), L::load(&arms[1][self.i..])]
    }

    #[inline(always)]
    fn tangent_arms(&self, point: usize) -> [L; 2] {
        let arms = &self.general.arms[point].tangent;
        [L::load(&arms[0][self.i..]), L::load(&arms[1][self.i..])]
    }

    #[inline(always)]
    fn inv_spins(&self) -> [L; 2] {
        [L::load(&self.general.inv_spin_a[self.i..]), L::load(&self.general.inv_spin_b[self.i..])]
    }

    /// Rows of A and B.
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
        // SAFETY: see the impl.
        unsafe { Velocities { a: L::gather(vel, a), b: L::gather(vel, b) } }
    }

    #[inline(always)]
    unsafe fn store(&self, vel: Velocities<L>) {
        let rows = self.rows.vel.as_ptr();
        let (a, b) = self.at();
        // SAFETY: see the impl.
        unsafe {
            L::scatter(rows, a, vel.a);
            if !FIXED {
                L::scatter(rows, b, vel.b);
            }
        }
    }

    /// How far both have moved since the step's start.
    #[inline(always)]
    unsafe fn poses(&self, vel: &Velocities<L>) -> ([L; 4], [L; 4]) {
        let pose = self.rows.pose.as_ptr();
        let (a, b) = self.at();
        // SAFETY: see the impl.
        unsafe {
            let a = L::gather(pose, a);
            (a, if FIXED { vel.b_after(self.elapsed) } else { L::gather(pose, b) })
        }
    }

    #[inline(always)]
    fn along_normal(&self, a: &[L; 4], b: &[L; 4], arms: [L; 2]) -> L {
        let [normal_x, normal_y] = self.normal();
        ((b[0] - a[0]) * normal_x + (b[1] - a[1]) * normal_y) + (b[2] * arms[1] - a[2] * arms[0])
    }

    /// A gap of this size may close in one substep.
    #[inline(always)]
    fn limit_closing(&mut self, point: usize, separation: L) {
        let speed = separation.max(L::splat(0.0)) * L::splat(self.rows.inv_step);
        self.set_closing_speed(point, speed);
    }

    /// accum += J·λ for the carried impulses.
    #[inline(always)]
    unsafe fn warm_start(&mut self, rough: Option<&mut RoughBlock>) -> Option<[L; 2]> {
        let ratio = L::splat(self.rows.impulse_ratio);
        let zero = L::splat(0.0);
        let (mut normal_sum, mut tangent_sum, mut turn) = (zero, zero, [zero; 2]);
        for p in 0..POINTS {
            let normal_impulse = self.normal_impulse(p) * ratio;
            let tangent_impulse = self.tangent_impulse(p) * ratio;
            self.set_normal_impulse(p, normal_impulse);
            self.set_tangent_impulse(p, tangent_impulse);
            normal_sum = normal_sum + normal_impulse;
            tangent_sum = tangent_sum + tangent_impulse;
            let (normal_arms, tangent_arms) = (self.normal_arms(p), self.tangent_arms(p));
            for ((turn, normal_arm), tangent_arm) in turn.iter_mut().zip(normal_arms).zip(tangent_arms) {
                *turn = *turn + (normal_impulse * normal_arm + tangent_impulse * tangent_arm);
            }
            self.limit_closing(p, self.separation(p));
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
        let x = normal_x * normal_sum - normal_y * tangent_sum;
        let y = normal_y * normal_sum + normal_x * tangent_sum;
        let rows = self.rows.accum.as_ptr();
        let (at_a, at_b) = self.at();
        // SAFETY: see the impl.
        unsafe {
            let vel = self.velocities();
            let (mut a, mut b) = (L::gather(rows, at_a), [zero; 4]);
            if !FIXED {
                b = L::gather(rows, at_b);
            }
            // The inverse masses are in the velocity rows.
            (a[3], b[3]) = (vel.a[3], vel.b[3]);
            let mut sum = Velocities { a, b };
            push::<L, FIXED>(&mut sum, [x, y], turn);
            sum.a[3] = zero;
            L::scatter(rows, at_a, sum.a);
            if !FIXED {
                sum.b[3] = zero;
                L::scatter(rows, at_b, sum.b);
            }
        }
        None
    }

    /// As `Kernel::note_approach` of `impulse.rs`, for one point.
    #[inline(always)]
    fn note_approach(&self, point: usize, bounce: &mut BounceBlock, normal_velocity: L, before: L) -> bool {
        let i = self.i;
        let threshold = L::splat(-self.rows.restitution_threshold);
        let impulse = self.normal_impulse(point);
        let fast = impulse.gt(L::splat(0.0)).and(normal_velocity.lt(threshold));
        if fast.bits() == 0 {
            return false;
        }
        let approach = L::load(&bounce.approach[i..]);
        let fast = fast.and(before.le(L::splat(0.0)).or(approach.lt(L::splat(0.0))));
        L::select(fast, approach.min(normal_velocity), approach).store(&mut bounce.approach[i..]);
        true
    }

    /// Applies normal impulses that would change by `wanted`, each taken alone, of effective mass `mass`.
    ///
    /// Two points are solved together where both stay pressed: as one after the other, the first would always give
    /// way first, and a stack lean to its side (20 boxes drifted 5 cm within 3 s). Else they are solved one after the
    /// other.
    #[inline(always)]
    fn apply_normal(&mut self, vel: &mut Velocities<L>, wanted: [L; 2], mass: [L; 2]) -> [L; 2] {
        let zero = L::splat(0.0);
        let old = [0, 1].map(|p: usize| if p < POINTS { self.normal_impulse(p) } else { zero });
        let arms = [0, 1].map(|p: usize| self.normal_arms(p));
        let mut new = [(old[0] + wanted[0]).max(zero), zero];
        if POINTS == 2 {
            let (one, two) = (L::splat(1.0), L::splat(2.0));
            let shared = vel.a[3] * (one + two * (arms[0][0] * arms[1][0]))
                + vel.b[3] * (one + two * (arms[0][1] * arms[1][1]));
            // What an impulse at the other point takes off this one's.
            let coupling = mass.map(|mass| mass * shared);
            let determinant = one - coupling[0] * coupling[1];
            let per_determinant = one / determinant;
            let first = old[0] + (wanted[0] - coupling[0] * wanted[1]) * per_determinant;
            let second = old[1] + (wanted[1] - coupling[1] * wanted[0]) * per_determinant;
            let together = determinant.gt(L::splat(0.05)).and(first.ge(zero)).and(second.ge(zero));
            let after = (old[1] + (wanted[1] - coupling[1] * (new[0] - old[0]))).max(zero);
            new = [L::select(together, first, new[0]), L::select(together, second, after)];
        }
        let (mut sum, mut turn) = (zero, [zero; 2]);
        for p in 0..POINTS {
            self.set_normal_impulse(p, new[p]);
            let change = new[p] - old[p];
            sum = sum + change;
            turn = [turn[0] + change * arms[p][0], turn[1] + change * arms[p][1]];
        }
        let [normal_x, normal_y] = self.normal();
        push::<L, FIXED>(vel, [normal_x * sum, normal_y * sum], turn);
        new
    }

    /// Normal impulses with the soft bias where the shapes overlap; a gap may close in this substep but no more.
    /// In the first substep nothing has `MOVED`.
    #[inline(always)]
    unsafe fn solve<const MOVED: bool>(&mut self, rough: Option<&RoughBlock>) -> Option<[L; 2]> {
        let soft = &self.rows.general_softness;
        let (zero, one, half) = (L::splat(0.0), L::splat(1.0), L::splat(0.5));
        // SAFETY: see the impl.
        let mut vel = unsafe { self.velocities() };
        // SAFETY: see the impl.
        let poses = MOVED.then(|| unsafe { self.poses(&vel) });
        let (mut normal_velocities, mut wanted, mut masses) = ([zero; 2], [zero; 2], [zero; 2]);
        let both = if POINTS == 2 { half * (self.normal_impulse(0) + self.normal_impulse(1)) } else { zero };
        for p in 0..POINTS {
            let arms = self.normal_arms(p);
            let mut separation = self.separation(p);
            if let Some((a, b)) = &poses {
                separation = separation + self.along_normal(a, b, arms);
            }
            self.limit_closing(p, separation);
            let apart = separation.gt(zero);
            let push_out = (separation * L::splat(soft.rate)).max(L::splat(-self.rows.push_out_speed));
            let bias = L::select(apart, separation * L::splat(self.rows.inv_step), push_out);
            let mass_scale = L::select(apart, one, L::splat(soft.mass_scale));
            let impulse_scale = L::select(apart, zero, L::splat(soft.impulse_scale));
            let old = self.normal_impulse(p);
            let given = if POINTS == 2 { L::splat(TILT) * both + L::splat(1.0 - TILT) * old } else { old };
            masses[p] = self.normal_mass(p) * mass_scale;
            normal_velocities[p] = self.along_normal(&vel.a, &vel.b, arms);
            wanted[p] = -(impulse_scale * given) - masses[p] * (normal_velocities[p] + bias);
        }
        self.apply_normal(&mut vel, wanted, masses);
        self.friction(&mut vel, rough);
        // SAFETY: see the impl.
        unsafe { self.store(vel) };
        Some(normal_velocities)
    }

    /// Friction at each point: inside μ_s·λ_n it holds, beyond it slides at μ_d·λ_n.
    #[inline(always)]
    fn friction(&mut self, vel: &mut Velocities<L>, rough: Option<&RoughBlock>) {
        let (i, [normal_x, normal_y]) = (self.i, self.normal());
        let conveyed = rough.map(|rough| L::load(&rough.tangent_speed[i..]));
        for p in 0..POINTS {
            let arms = self.tangent_arms(p);
            let normal_impulse = self.normal_impulse(p);
            let mut sliding = vel.along(-normal_y, normal_x) + (vel.b[2] * arms[1] - vel.a[2] * arms[0]);
            if let Some(conveyed) = conveyed {
                sliding = sliding + conveyed;
            }
            let old = self.tangent_impulse(p);
            let candidate = old - self.tangent_mass(p) * sliding;
            let hold = normal_impulse * L::load(&self.friction.static_friction[i..]);
            let slide = normal_impulse * L::load(&self.friction.dynamic_friction[i..]);
            let clamped = candidate.min(slide).max(-slide);
            let new = L::select(candidate.abs().le(hold), candidate, clamped);
            self.set_tangent_impulse(p, new);
            let change = new - old;
            let impulse = [-normal_y * change, normal_x * change];
            push::<L, FIXED>(vel, impulse, arms.map(|arm| arm * change));
        }
    }

    /// Normal impulses without bias, then friction at each point, then what brakes rolling.
    #[inline(always)]
    unsafe fn relax(&mut self, rough: Option<&mut RoughBlock>) -> Option<[L; 2]> {
        let zero = L::splat(0.0);
        // SAFETY: see the impl.
        let mut vel = unsafe { self.velocities() };
        let (mut normal_velocities, mut wanted, mut masses) = ([zero; 2], [zero; 2], [zero; 2]);
        for p in 0..POINTS {
            masses[p] = self.normal_mass(p);
            normal_velocities[p] = self.along_normal(&vel.a, &vel.b, self.normal_arms(p));
            wanted[p] = -(masses[p] * (normal_velocities[p] + self.closing_speed(p)));
        }
        let normal_impulses = self.apply_normal(&mut vel, wanted, masses);
        self.friction(&mut vel, rough.as_deref());
        if let Some(rough) = rough {
            let i = self.i;
            let most = L::load(&rough.rolling[i..]) * (normal_impulses[0] + normal_impulses[1]);
            let inv_spin = self.inv_spins();
            let weight = vel.a[3] * (inv_spin[0] * inv_spin[0]) + vel.b[3] * (inv_spin[1] * inv_spin[1]);
            let turns = weight.gt(zero);
            let mass = L::select(turns, L::splat(0.5) / weight, zero);
            let rolling = vel.b[2] * inv_spin[1] - vel.a[2] * inv_spin[0];
            let old = L::load(&rough.rolling_impulse[i..]);
            let new = (old - mass * rolling).min(most).max(-most);
            new.store(&mut rough.rolling_impulse[i..]);
            let change = new - old;
            push::<L, FIXED>(&mut vel, [zero; 2], inv_spin.map(|inv_spin| inv_spin * change));
        }
        // SAFETY: see the impl.
        unsafe { self.store(vel) };
        Some(normal_velocities)
    }

    /// Moves overlapping bodies apart by a part of what exceeds the slop.
    #[inline(always)]
    unsafe fn project(&mut self) -> Option<[L; 2]> {
        // SAFETY: see the impl.
        let vel = unsafe { self.velocities() };
        // SAFETY: see the impl.
        let (mut a, mut b) = unsafe { self.poses(&vel) };
        let zero = L::splat(0.0);
        for p in 0..POINTS {
            let arms = self.normal_arms(p);
            let separation = self.separation(p) + self.along_normal(&a, &b, arms);
            self.limit_closing(p, separation);
            let depth = -separation - L::splat(self.rows.projection_slop);
            let mass = self.normal_mass(p);
            let share = mass * (L::splat(self.rows.projection_percent) * depth.max(zero));
            (a[3], b[3]) = (vel.a[3], vel.b[3]);
            let mut moved = Velocities { a, b };
            let [normal_x, normal_y] = self.normal();
            let by = [normal_x * share, normal_y * share];
            push::<L, FIXED>(&mut moved, by, arms.map(|arm| arm * share));
            (a, b) = (moved.a, moved.b);
        }
        (a[3], b[3]) = (zero, zero);
        let rows = self.rows.pose.as_ptr();
        // SAFETY: see the impl.
        unsafe {
            let (at_a, at_b) = self.at();
            L::scatter(rows, at_a, a);
            if !FIXED {
                L::scatter(rows, at_b, b);
            }
        }
        None
    }

    /// v_n' = −e·approach where the approach was faster than the threshold.
    #[inline(always)]
    unsafe fn restitute(&mut self, bounces: &mut [Option<&mut BounceBlock>; 2]) -> Option<[L; 2]> {
        let i = self.i;
        // The coefficient is in the first point's block.
        let restitution = L::load(&bounces[0].as_ref()?.restitution[i..]);
        let threshold = L::splat(-self.rows.restitution_threshold);
        let zero = L::splat(0.0);
        // SAFETY: see the impl.
        let mut vel = unsafe { self.velocities() };
        for (p, bounce) in bounces.iter_mut().take(POINTS).enumerate() {
            let Some(bounce) = bounce else { continue };
            let arms = self.normal_arms(p);
            let approach = L::load(&bounce.approach[i..]);
            let bouncing = approach.lt(threshold).and(restitution.gt(zero));
            let old = self.normal_impulse(p);
            let mass = self.normal_mass(p);
            let normal_velocity = self.along_normal(&vel.a, &vel.b, arms);
            let bounced = (old - mass * (normal_velocity + restitution * approach)).max(zero);
            let new = L::select(bouncing, bounced, old);
            L::select(bouncing, new, zero).store(&mut bounce.impulse[i..]);
            self.set_normal_impulse(p, L::select(bouncing, zero, old));
            let change = new - old;
            let [normal_x, normal_y] = self.normal();
            let impulse = [normal_x * change, normal_y * change];
            push::<L, FIXED>(&mut vel, impulse, arms.map(|arm| arm * change));
        }
        // SAFETY: see the impl.
        unsafe { self.store(vel) };
        None
    }
}

//! Gears: they couple the free motions of two joints, of up to four bodies.
//!
//! A gear's impulse turns the bodies of a revolute joint by the same amount wherever they are. The axis of a slider turns, and what the
//! impulse does there is shifted between substeps, as for other joints (`sweep.rs`). (Without the shift a gear on a slider that turned changed the
//! angular momentum by 6 % in 40 s at 2 m/s.)

use super::drive::{Motor, Soft, feature, inverse, scale_column};
use super::ends::{Column, Ends, Geometry, cross, load2, store2, turned};
use super::sweep::{BEGIN, Block, Constants, Impulse, SOLVE, TURN, TURN_STRUCK, with_last};
use crate::formula::soft_change;
use crate::lane::{Lane, Row, pair};
use crate::solver::rows::Rows;
use bytemuck::{Pod, Zeroable};

/// One of the two motions of sixteen gears.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Member {
    pub ends: Ends,
    /// 1 for the way along an axis, 0 for an angle.
    pub straight: Column,
    /// How much the motion counts: 1 for the first, the ratio for the second.
    pub weight: Column,
    /// The axis in A's own axes, and at the start of the step.
    pub local_axis: [Column; 2],
    pub start_axis: [Column; 2],
    /// 1 where an end is the same body as A, or B, of the first motion. That row then acts for both, and this end has a stand-in.
    pub same: [[Column; 2]; 2],
    /// What a unit impulse of the gear does to each end: along x and y, and as a turn.
    pub jacobian: [[Column; 3]; 2],
    /// The way along the axis now. 0 for an angle.
    pub way: Column,
    /// The change of what the gear's impulse does to each end, since the bodies have moved.
    pub shift: [[Column; 3]; 2],
}

/// Sixteen gears.
#[repr(C, align(64))]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct GearBlock {
    pub members: [Member; 2],
    /// The part of the error at the start of the step that comes from angles, minus the constant.
    pub start_error: Column,
    pub error: Column,
    pub impulse: Column,
    pub soft: Soft,
}

/// Four rows, one for each end: velocities, or changes of them.
type Four<L> = [[[L; 4]; 2]; 2];

/// What an impulse of a gear does to the four ends.
type Jacobian<L> = [[[L; 3]; 2]; 2];

impl Member {
    /// Notes what an impulse of the gear does, where the ends are now. `axis` is that of A now.
    #[inline(always)]
    fn place<L: Lane>(&mut self, i: usize, axis: [L; 2], at: &Geometry<L>) {
        let one = L::splat(1.0);
        let (straight, weight) = (L::load(&self.straight[i..]), L::load(&self.weight[i..]));
        let far = [at.gap[0] + at.arm[0][0], at.gap[1] + at.arm[0][1]];
        let turning = one - straight;
        let turn_a = (straight * cross(far, axis) + turning) * at.inv_spin[0];
        let turn_b = (straight * cross(at.arm[1], axis) + turning) * at.inv_spin[1];
        let [x, y] = [weight * straight * axis[0], weight * straight * axis[1]];
        let ends = [[-x, -y, -(weight * turn_a)], [x, y, weight * turn_b]];
        for (columns, values) in self.jacobian.iter_mut().zip(ends) {
            for (column, value) in columns.iter_mut().zip(values) {
                value.store(&mut column[i..]);
            }
        }
        (straight * (at.gap[0] * axis[0] + at.gap[1] * axis[1])).store(&mut self.way[i..]);
    }
}

#[inline(always)]
fn load3<L: Lane>(columns: &[Column; 3], i: usize) -> [L; 3] {
    [L::load(&columns[0][i..]), L::load(&columns[1][i..]), L::load(&columns[2][i..])]
}

impl GearBlock {
    /// What a unit impulse does to the four ends. If an end of the second motion is a body of the first, its share is added to that body's.
    #[inline(always)]
    fn jacobian<L: Lane>(&self, i: usize) -> Jacobian<L> {
        let mut ends = pair!(m => pair!(e => load3::<L>(&self.members[m].jacobian[e], i)));
        for from in 0..2 {
            let same: [L; 2] = load2(&self.members[1].same[from], i);
            let left = L::splat(1.0) - (same[0] + same[1]);
            let [first, second] = &mut ends;
            for (axis, value) in second[from].iter_mut().enumerate() {
                first[0][axis] = first[0][axis] + same[0] * *value;
                first[1][axis] = first[1][axis] + same[1] * *value;
                *value = left * *value;
            }
        }
        ends
    }

    /// Notes how what the impulse does has changed since `before`.
    #[inline(always)]
    fn set_shift<L: Lane>(&mut self, i: usize, before: &Jacobian<L>) {
        let impulse = L::load(&self.impulse[i..]);
        let after = self.jacobian::<L>(i);
        for (m, member) in self.members.iter_mut().enumerate() {
            for (e, columns) in member.shift.iter_mut().enumerate() {
                for (axis, column) in columns.iter_mut().enumerate() {
                    (impulse * (after[m][e][axis] - before[m][e][axis])).store(&mut column[i..]);
                }
            }
        }
    }

    /// Notes the error.
    #[inline(always)]
    fn note_error<L: Lane>(&mut self, i: usize, turned: [L; 2]) {
        let mut error = L::load(&self.start_error[i..]);
        for (member, turned) in self.members.iter().zip(turned) {
            let (weight, straight) = (L::load(&member.weight[i..]), L::load(&member.straight[i..]));
            let angle = (L::splat(1.0) - straight) * turned;
            error = error + weight * (angle + L::load(&member.way[i..]));
        }
        error.store(&mut self.error[i..]);
    }

    /// # Safety
    ///
    /// As for [`Block::visit`].
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn gather<L: Lane>(&self, i: usize, rows: *const Row) -> Four<L> {
        // SAFETY: the caller guarantees that the rows exist.
        pair!(m => pair!(e => unsafe { L::gather(rows, &self.members[m].ends.rows[e][i..]) }))
    }

    /// # Safety
    ///
    /// As for [`Block::visit`].
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn scatter<L: Lane>(&self, i: usize, rows: *mut Row, values: Four<L>) {
        for (member, values) in self.members.iter().zip(values) {
            for (at, values) in member.ends.rows.iter().zip(values) {
                // SAFETY: the caller guarantees that the rows exist and that no other thread has them.
                unsafe { L::scatter(rows, &at[i..], values) };
            }
        }
    }

    /// Changes impulse and velocities.
    #[inline(always)]
    fn solve<L: Lane, const RELAX: bool>(&mut self, i: usize, vel: &mut Four<L>) {
        let (zero, two) = (L::splat(0.0), L::splat(2.0));
        let jacobian = self.jacobian::<L>(i);
        let (mut speed, mut inv_mass) = (zero, zero);
        for (vel, jacobian) in vel.iter().flatten().zip(jacobian.iter().flatten()) {
            let [x, y, turn] = *jacobian;
            speed = speed + (x * vel[0] + y * vel[1] + turn * vel[2]);
            inv_mass = inv_mass + vel[3] * (x * x + y * y + two * (turn * turn));
        }
        let old = L::load(&self.impulse[i..]);
        let error = L::load(&self.error[i..]);
        let change = soft_change(old, inverse(inv_mass), speed, error, self.soft.load::<L, RELAX>(i, false));
        (old + change).store(&mut self.impulse[i..]);
        push(vel, &jacobian, change);
    }
}

/// Applies an impulse of the gear to rows whose fourth number is the inverse mass.
#[inline(always)]
fn push<L: Lane>(rows: &mut Four<L>, jacobian: &Jacobian<L>, impulse: L) {
    for (row, [x, y, turn]) in rows.iter_mut().flatten().zip(jacobian.iter().flatten()) {
        let by_mass = impulse * row[3];
        row[0] = row[0] + *x * by_mass;
        row[1] = row[1] + *y * by_mass;
        row[2] = row[2] + L::splat(2.0) * (*turn * by_mass);
    }
}

impl Block for GearBlock {
    const MOTIONS: usize = 2;

    fn ends_of(&mut self, motion: usize) -> &mut Ends {
        &mut self.members[motion].ends
    }

    fn note_angle(&mut self, lane: usize, angle: f64, _: bool) {
        self.start_error[lane] = angle as f32;
    }

    fn any_motor(&mut self) -> Option<&mut Motor> {
        None
    }

    #[inline(always)]
    fn impulse_on_b<L: Lane>(&self, i: usize) -> Impulse<L> {
        ([L::splat(0.0); 2], L::load(&self.impulse[i..]))
    }

    fn peaks(&self, lane: usize) -> [f32; 2] {
        with_last(&self.members[0].ends.peaks, lane, self.impulse_on_b(lane))
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn visit<L: Lane, const PASS: usize>(
        &mut self,
        i: usize,
        features: u32,
        rows: &Rows<'_>,
        constants: &Constants<'_>,
    ) {
        let zero = L::splat(0.0);
        // SAFETY: the caller guarantees that the rows exist and that no other thread has those of these ends.
        unsafe {
            let mut vel: Four<L> = self.gather(i, rows.vel.as_ptr());
            match PASS {
                BEGIN => return self.begin(i, features, rows, constants.ratio, &vel),
                SOLVE => {
                    if constants.first && features & feature::BREAKS != 0 {
                        let impulse = L::load(&self.impulse[i..]);
                        self.members[0].ends.note_peaks(i, [zero; 2], impulse);
                    }
                    if constants.first {
                        let shift = pair!(m => pair!(e => load3::<L>(&self.members[m].shift[e], i)));
                        push(&mut vel, &shift, L::splat(1.0));
                    }
                    self.solve::<L, false>(i, &mut vel);
                }
                TURN | TURN_STRUCK => {
                    let before = self.jacobian::<L>(i);
                    let mut turns = [zero; 2];
                    for (member, turn) in self.members.iter_mut().zip(&mut turns) {
                        let [a, b] = member.ends.places(i);
                        let pose = rows.pose.as_ptr();
                        let at = member.ends.update(i, L::gather(pose, a), L::gather(pose, b));
                        let axis = turned(at.turn_a, load2(&member.start_axis, i));
                        member.place(i, axis, &at);
                        *turn = at.angle;
                    }
                    self.note_error(i, turns);
                    self.set_shift(i, &before);
                    self.solve::<L, true>(i, &mut vel);
                }
                _ => self.solve::<L, true>(i, &mut vel),
            }
            self.scatter(i, rows.vel.as_ptr(), vel);
        }
    }
}

impl GearBlock {
    /// Places the members at the start of a step, and gives the bodies the impulse of the last one.
    ///
    /// # Safety
    ///
    /// As for [`Block::visit`].
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn begin<L: Lane>(&mut self, i: usize, features: u32, rows: &Rows<'_>, ratio: f32, vel: &Four<L>) {
        let zero = L::splat(0.0);
        for member in &mut self.members {
            let [a, b] = member.ends.places(i);
            let frame = rows.frame.as_ptr();
            // SAFETY: the conditions of this function.
            let [frame_a, frame_b] = unsafe { [L::gather(frame, a), L::gather(frame, b)] };
            let at = member.ends.begin(i, frame_a, frame_b);
            let axis = turned(at.turn_a, load2(&member.local_axis, i));
            store2(&mut member.start_axis, i, axis);
            member.place(i, axis, &at);
            let shift = member.shift.iter_mut().flatten();
            shift.for_each(|column| zero.store(&mut column[i..]));
        }
        self.note_error(i, [zero; 2]);
        if features & feature::BREAKS != 0 {
            self.members[0].ends.clear_peaks::<L>(i);
        }
        scale_column(&mut self.impulse, i, L::splat(ratio));
        // SAFETY: the conditions of this function.
        let mut sum: Four<L> = unsafe { self.gather(i, rows.accum.as_ptr()) };
        // Not a copy of all, which would be a call.
        let loads = pair!(member => pair!(side => sum[member][side][3]));
        for (sum, vel) in sum.iter_mut().flatten().zip(vel.iter().flatten()) {
            sum[3] = vel[3];
        }
        push(&mut sum, &self.jacobian(i), L::load(&self.impulse[i..]));
        for (sum, load) in sum.iter_mut().flatten().zip(loads.into_iter().flatten()) {
            sum[3] = load;
        }
        // SAFETY: the conditions of this function.
        unsafe { self.scatter(i, rows.accum.as_ptr(), sum) };
    }
}

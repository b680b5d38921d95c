//! The mirror: the rows of 16 bytes that the solver reads and writes of each body.
//!
//! Contacts reach bodies in any order. One load brings a whole row, where columns would cost a load per
//! scalar; see `lane.rs`. The rows are filled from the columns at the start of a step and copied back at
//! its end.

mod finish;

use super::midpoint::Midpoint;
use crate::base::prefetch::prefetch_all;
use crate::base::ranges::without;
use crate::base::room::resize;
use crate::body::compound::Compound;
use crate::body::own::MotionLimits;
use crate::body::{Bodies, Motion, Still};
use crate::broadphase::shape_row;
use crate::crew::CHUNK;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::{Lane, Row, for_lanes, lane_entry, store_rows, with_lanes};
use crate::settings::Settings;
use glam::Vec2;
use std::ops::Range;

/// Rows by slot, then one padding row for each tile and one for the overflow tile.
#[derive(Default)]
pub(crate) struct Mirror {
    /// `[x, y, ext_x, ext_y]` at the start of the step; half-spaces as in `broadphase::shape_row`.
    pub shape: Vec<Row>,
    /// `[x, y, cos, sin]` at the start of the step, where there are bodies that turn; else empty. Those of
    /// compounds' parts come after the padding rows, here and in `shape`.
    pub placement: Vec<Row>,
    /// `[vel_x, vel_y, surface speed ω·r, inverse mass]`
    pub vel: Vec<Row>,
    /// `[Δx, Δy, Δangle·r, 0]` since the start of the step. Not written yet in the first substep.
    pub pose: Vec<Row>,
    /// Until the first substep `[h·a + warm start; 0]`, in the units of `vel`; from then on `vel` before the
    /// last substep's warm start.
    pub accum: Vec<Row>,
    /// `[x, y, cos, sin]` at the start of the step of all bodies, whatever their shape, then the world's. Empty without joints.
    pub frame: Vec<Row>,
    /// The factors by which `vel` is multiplied in each substep. Empty if nothing is damped.
    pub damp: Vec<Row>,
    /// The bodies with limits of their motion, by slot.
    pub limits: Vec<(u32, MotionLimits)>,
    /// Slots that have rows.
    pub bodies: usize,
    /// The slots of bodies that stand still whose rows are as in the step before.
    pub still: Range<usize>,
    /// What the rows of the last whole step were made for, and those of this one.
    known: Option<RowsOf>,
    made_for: Option<RowsOf>,
    /// The level of the kernels of this step.
    pub level: Level,
}

/// The bodies and the features that rows are made for.
#[derive(PartialEq, Debug)]
struct RowsOf {
    still: Option<Still>,
    turning: bool,
    damped: bool,
    joined: bool,
}

/// A padding lane's two bodies: unit masses, so that no kernel divides by zero, and never touched.
const PADDING_VEL: Row = Row([0.0, 0.0, 0.0, 1.0]);

impl Mirror {
    /// Prefetches the rows.
    pub(crate) fn prefetch(&self) {
        for rows in [&self.shape, &self.placement, &self.vel, &self.pose, &self.accum] {
            prefetch_all(rows);
        }
    }

    /// Fills the rows from the columns. All half-spaces are in the slots `planes`. Joints have `joint_rows` rows more behind the
    /// padding.
    pub(crate) fn fill(
        &mut self,
        bodies: &Bodies,
        settings: &Settings,
        tiles: usize,
        planes: &[u32],
        joint_rows: usize,
        crew: &Crew<'_>,
    ) {
        let (level, len) = (self.level, bodies.len);
        let made_for = RowsOf {
            still: bodies.known_still(),
            turning: bodies.any_manifold,
            damped: bodies.any_damping,
            joined: joint_rows > 0,
        };
        let known = self.known.as_ref().filter(|&known| *known == made_for);
        self.still = bodies.still_since(known.and_then(|known| known.still.as_ref()));
        self.made_for = Some(made_for);
        let still = self.still.clone();
        self.make_room(bodies, tiles + 1, joint_rows);
        self.fill_limits(bodies);
        self.fill_frames(bodies, joint_rows > 0, crew);

        let midpoint = midpoint(settings);
        let damp = SharedSlice::new(&mut self.damp);
        let placement = SharedSlice::new(&mut self.placement);
        let rows = [&mut self.shape, &mut self.vel, &mut self.accum].map(|rows| SharedSlice::new(rows));
        crew.chunks_without(len, &still, CHUNK, |_, range| {
            #[allow(unsafe_code)]
            // SAFETY: `Crew::chunks` gives each slot to one task.
            let rows = unsafe { rows.each_ref().map(|rows| rows.range(range.clone())) };
            let level = level.for_few(range.len());
            if bodies.any_manifold {
                let [shape, vel, accum] = rows;
                #[allow(unsafe_code)]
                // SAFETY: `Crew::chunks` gives each slot to one task.
                let placement = unsafe { placement.range(range.clone()) };
                let rows = [&mut *shape, vel, accum];
                with_lanes!(level, L => fill::<L>(bodies, range.clone(), rows, &midpoint));
                with_lanes!(level, L => fill_placements::<L>(bodies, range.clone(), shape, placement));
            } else {
                with_lanes!(level, L => fill::<L>(bodies, range.clone(), rows, &midpoint));
            }
            if bodies.any_damping {
                #[allow(unsafe_code)]
                // SAFETY: `Crew::chunks` gives each slot to one task.
                let damp = unsafe { damp.range(range.clone()) };
                fill_damping(bodies, range, damp, midpoint.substep);
            }
        });
        if bodies.any_manifold {
            self.placement[len..].fill(Row([0.0, 0.0, 1.0, 0.0]));
            self.fill_parts(bodies);
        }
        self.fill_planes(bodies, planes);
    }

    /// Fills the shapes of half-spaces, which may be among the slots that stand still.
    fn fill_planes(&mut self, bodies: &Bodies, planes: &[u32]) {
        let c = &bodies.columns;
        for slot in planes.iter().map(|&slot| slot as usize) {
            let (pos, ext) = ([c.pos_x[slot], c.pos_y[slot]], [c.ext_x[slot], c.ext_y[slot]]);
            self.shape[slot] = shape_row(c.kind[slot], pos, ext, c.ext_z[slot]);
        }
    }

    /// Makes rows for all bodies, and fills those behind the bodies: for padding, joints, and parts of compounds.
    fn make_room(&mut self, bodies: &Bodies, padding: usize, joint_rows: usize) {
        let len = bodies.len;
        let rows = len + padding + joint_rows;
        let shapes = len + padding + bodies.part_count();
        self.bodies = len;
        resize(&mut self.placement, if bodies.any_manifold { shapes } else { 0 });
        resize(&mut self.shape, shapes);
        self.shape[len..].fill(Row::default());
        for column in [&mut self.vel, &mut self.pose, &mut self.accum] {
            resize(column, rows);
            column[len..].fill(Row::default());
        }
        self.vel[len..].fill(PADDING_VEL);
        resize(&mut self.damp, if bodies.any_damping { rows } else { 0 });
        if bodies.any_damping {
            self.damp[len..].fill(Row([1.0; 4]));
        }
    }

    /// Shows the bodies of a list of so many slots where they are, and as fast as they are, in a world that was restored: for what hosts read of
    /// contacts. `rows` are those of bodies and padding.
    pub(crate) fn show(&mut self, bodies: &Bodies, settings: &Settings, built: usize, rows: usize) {
        let c = &bodies.columns;
        self.bodies = 0;
        self.known = None;
        self.pose.clear();
        self.vel.clear();
        let midpoint = midpoint(settings);
        self.vel.extend((0..built).map(|slot| {
            let [x, y] = midpoint.behind(c.follows[slot], c.gravity_scale[slot]);
            let spin = c.omega[slot] * c.radius[slot];
            Row([c.vel_x[slot] - x, c.vel_y[slot] - y, spin, c.inv_mass[slot]])
        }));
        self.vel.resize(rows, PADDING_VEL);
        self.shape.clear();
        self.shape.extend((0..built).map(|slot| {
            let (pos, ext) = ([c.pos_x[slot], c.pos_y[slot]], [c.ext_x[slot], c.ext_y[slot]]);
            shape_row(c.kind[slot], pos, ext, c.ext_z[slot])
        }));
        self.shape.resize(rows + bodies.part_count(), Row::default());
        let compounds = (0..built).filter(|&slot| bodies.is_taken(slot) && !bodies.parts(slot).is_empty());
        for slot in compounds {
            let turn = sin_cos(c.angle[slot]);
            for (placed, row) in bodies.parts(slot).iter().zip(bodies.part_row(slot) as usize..) {
                let (offset, _) = Compound::place(placed, turn);
                if let Some(row) = self.shape.get_mut(row) {
                    *row = Row([c.pos_x[slot] + offset.x, c.pos_y[slot] + offset.y, 0.0, 0.0]);
                }
            }
        }
    }

    /// Notes that a step has ended with these rows.
    pub(crate) fn end_step(&mut self) {
        self.known = self.made_for.take();
    }

    /// Moves the origin by a vector, for what hosts read of contacts. `built` is the number of slots of the list.
    pub(crate) fn shift(&mut self, bodies: &Bodies, built: usize, by: Vec2) {
        for (slot, row) in self.shape.iter_mut().enumerate() {
            let plane = slot < built && bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace;
            let row = &mut row.0;
            if plane {
                row[2] -= row[0] * by.x + row[1] * by.y;
            } else {
                (row[0], row[1]) = (row[0] - by.x, row[1] - by.y);
            }
        }
    }

    /// Notes the limits of the bodies' motion.
    fn fill_limits(&mut self, bodies: &Bodies) {
        self.limits.clear();
        if bodies.own.has_limits() {
            bodies.list_limits(&mut self.limits);
            for (slot, limits) in &mut self.limits {
                // In the rows, spin is a surface speed.
                limits.max_spin *= bodies.columns.radius[*slot as usize];
            }
        }
    }

    /// Moves the bodies of these slots by their own velocities, for a whole step.
    pub(super) fn move_freely(&mut self, slots: Range<usize>, time_step: f32) {
        for slots in without(slots, &self.still) {
            for (pose, vel) in self.pose[slots.clone()].iter_mut().zip(&self.vel[slots]) {
                let [x, y, turned, _] = vel.0.map(|v| time_step * v);
                *pose = Row([x, y, turned, 0.0]);
            }
        }
    }

    /// Fills the rows that joints read, if there are joints.
    fn fill_frames(&mut self, bodies: &Bodies, joined: bool, crew: &Crew<'_>) {
        let len = if joined { bodies.len + 1 } else { 0 };
        resize(&mut self.frame, len);
        let Some(world) = self.frame.last_mut() else { return };
        *world = Row([0.0, 0.0, 1.0, 0.0]);
        let (frame, level, still) = (SharedSlice::new(&mut self.frame), self.level, &self.still);
        crew.chunks_without(bodies.len, still, CHUNK, |_, range| {
            #[allow(unsafe_code)]
            // SAFETY: `Crew::chunks` gives each slot to one task.
            let frame = unsafe { frame.range(range.clone()) };
            with_lanes!(level, L => fill_frames::<L>(bodies, range, frame));
        });
    }

    /// Fills the rows of the compounds' parts.
    fn fill_parts(&mut self, bodies: &Bodies) {
        if bodies.part_count() == 0 {
            return;
        }
        for slot in 0..bodies.len {
            let parts = bodies.parts(slot);
            if parts.is_empty() {
                continue;
            }
            for (placed, row) in parts.iter().zip(bodies.part_row(slot) as usize..) {
                let [x, y, cos, sin] = self.placement[slot].0;
                let (offset, (part_sin, part_cos)) = Compound::place(placed, (sin, cos));
                let (x, y) = (x + offset.x, y + offset.y);
                let [half_x, half_y, radius, count] = bodies.outlines.size(placed.outline);
                let size = if count > 1.5 { [half_x, half_y] } else { [radius; 2] };
                self.shape[row] = Row([x, y, size[0], size[1]]);
                self.placement[row] = Row([x, y, part_cos, part_sin]);
            }
        }
    }
}

/// Fills the rows of damping: the factors by which a substep of `h` s slows each velocity.
fn fill_damping(bodies: &Bodies, range: Range<usize>, rows: &mut [Row], h: f32) {
    let c = &bodies.columns;
    for (row, slot) in rows.iter_mut().zip(range) {
        let moves = c.kind[slot].motion() == Motion::Dynamic && c.inv_mass[slot] > 0.0;
        let factor = |rate: f32| if moves { 1.0 / (1.0 + h * rate) } else { 1.0 };
        let linear = factor(c.linear_damping[slot]);
        *row = Row([linear, linear, factor(c.angular_damping[slot]), 1.0]);
    }
}

/// The difference between particles' velocities in the columns and in the rows.
fn midpoint(settings: &Settings) -> Midpoint {
    let Settings { gravity, time_step, .. } = *settings;
    Midpoint { gravity: gravity.to_array(), time_step, substep: settings.substep() }
}

lane_entry! {
    /// Fills the rows of a range of slots from the columns.
    fn fill[][](bodies: &Bodies, range: Range<usize>, rows: [&mut [Row]; 3], midpoint: &Midpoint) = fill_range;
}

#[inline(always)]
fn fill_range<L: Lane>(bodies: &Bodies, range: Range<usize>, rows: [&mut [Row]; 3], midpoint: &Midpoint) {
    let [shape, vel, accum] = rows;
    let mut fill = Fill { bodies, first: range.start, shape, vel, accum, midpoint };
    for_lanes!(range.len(), L, fill_lanes(&mut fill; i));
}

lane_entry! {
    /// Fills the rotations of a range of slots, and the half extents of those that turn.
    fn fill_placements[][](bodies: &Bodies, range: Range<usize>, shape: &mut [Row], placement: &mut [Row]) = fill_placements_range;
}

#[inline(always)]
fn fill_placements_range<L: Lane>(
    bodies: &Bodies,
    range: Range<usize>,
    shape: &mut [Row],
    placement: &mut [Row],
) {
    let c = &bodies.columns;
    for_lanes!(range.len(), L, placement_lanes(bodies, range.start; i, placement));
    for (row, slot) in shape.iter_mut().zip(range) {
        let kind = c.kind[slot].shape();
        if kind.turns() && kind != ShapeKind::Compound {
            let [half_x, half_y, ..] = bodies.outlines.size(c.outline[slot]);
            (row.0[2], row.0[3]) = (half_x, half_y);
        }
    }
}

/// Fills the rotations of `WIDTH` slots, from place `i` of `placement` on.
#[inline(always)]
fn placement_lanes<L: Lane>(bodies: &Bodies, first: usize, i: usize, placement: &mut [Row]) {
    let (c, slot) = (&bodies.columns, first + i);
    // What does not turn has no arm, and may have an angle all the same.
    let turns = L::load(&c.furthest[slot..]).gt(L::splat(0.0));
    let angle = L::select(turns, L::load(&c.angle[slot..]), L::splat(0.0));
    let (sin, cos) = sin_cos(angle);
    store_rows(&mut placement[i..], [L::load(&c.pos_x[slot..]), L::load(&c.pos_y[slot..]), cos, sin]);
}

lane_entry! {
    /// Fills positions and rotations of a range of slots, also of those whose shape does not turn.
    fn fill_frames[][](bodies: &Bodies, range: Range<usize>, frame: &mut [Row]) = fill_frames_range;
}

#[inline(always)]
fn fill_frames_range<L: Lane>(bodies: &Bodies, range: Range<usize>, frame: &mut [Row]) {
    for_lanes!(range.len(), L, frame_lanes(bodies, range.start; i, frame));
}

/// Fills the rows of `WIDTH` slots, from place `i` of `frame` on.
#[inline(always)]
fn frame_lanes<L: Lane>(bodies: &Bodies, first: usize, i: usize, frame: &mut [Row]) {
    let (c, slot) = (&bodies.columns, first + i);
    let (sin, cos) = sin_cos(L::load(&c.angle[slot..]));
    store_rows(&mut frame[i..], [L::load(&c.pos_x[slot..]), L::load(&c.pos_y[slot..]), cos, sin]);
}

struct Fill<'a> {
    bodies: &'a Bodies,
    first: usize,
    shape: &'a mut [Row],
    vel: &'a mut [Row],
    accum: &'a mut [Row],
    midpoint: &'a Midpoint,
}

/// Fills the rows of `WIDTH` slots.
#[inline(always)]
fn fill_lanes<L: Lane>(fill: &mut Fill<'_>, i: usize) {
    let Fill { bodies, first, shape, vel, accum, midpoint } = fill;
    let (c, slot) = (&bodies.columns, *first + i);
    macro_rules! load {
        ($column:ident) => {
            L::load(&c.$column[slot..])
        };
    }
    let (zero, h) = (L::splat(0.0), L::splat(midpoint.substep));
    let (inv_mass, radius) = (load!(inv_mass), load!(radius));
    let scale = L::select(inv_mass.gt(zero), h * load!(gravity_scale), zero);
    let [gravity_x, gravity_y] = midpoint.gravity;
    let mut add = [scale * L::splat(gravity_x), scale * L::splat(gravity_y), zero, zero];
    if bodies.any_force {
        add[0] = add[0] + h * (load!(force_x) * inv_mass);
        add[1] = add[1] + h * (load!(force_y) * inv_mass);
        add[2] = h * (load!(torque) * load!(inv_inertia) * radius);
    }
    // What presses bodies together is no blow: see `Rows::accum`.
    if bodies.any_restitution {
        add[3] = add[0].abs() + add[1].abs();
    }
    store_rows(&mut shape[i..], [load!(pos_x), load!(pos_y), load!(ext_x), load!(ext_y)]);
    let mut velocity = [load!(vel_x), load!(vel_y)];
    if bodies.particle_count > 0 {
        let behind = midpoint.behind(load!(follows), load!(gravity_scale));
        velocity = [velocity[0] - behind[0], velocity[1] - behind[1]];
    }
    store_rows(&mut vel[i..], [velocity[0], velocity[1], load!(omega) * radius, inv_mass]);
    store_rows(&mut accum[i..], add);
}

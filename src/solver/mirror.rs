//! The mirror: what the solver reads and writes of a body, as 16-byte rows.
//!
//! Contacts reach bodies in any order. One load brings a whole row, where columns would cost a load per
//! scalar; see `lane.rs`. The rows are filled from the columns at the start of a step and copied back at
//! its end.

use crate::body::{Bodies, Kind, MAX_COORDINATE, Motion, RUNAWAY_SPEED};
use crate::broadphase::{Bounds, CHUNK, Margins, resize, shape_row};
use crate::contacts::build::inv_spin;
use crate::crew::{Crew, SharedSlice};
use crate::lane::Row;
use crate::settings::Settings;
use crate::shape::ShapeKind;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows by slot, then one padding row for each tile and one for the far tile.
#[derive(Default)]
pub(crate) struct Mirror {
    /// `[x, y, ext_x, ext_y]` at the start of the step; half-spaces as in `broadphase::shape_row`.
    pub shape: Vec<Row>,
    /// `[vel_x, vel_y, surface speed ω·r, inverse mass]`
    pub vel: Vec<Row>,
    /// `[Δx, Δy, Δangle·r, inverse spin]` since the start of the step.
    pub pose: Vec<Row>,
    /// `[h·a + warm start; 0]`, in the units of `vel`.
    pub accum: Vec<Row>,
    /// `vel` right after the last warm start.
    pub start: Vec<Row>,
    /// What `vel` is multiplied by each substep. Empty when nothing is damped.
    pub damp: Vec<Row>,
    /// Slots that have rows.
    pub bodies: usize,
}

/// A padding lane's two bodies: unit masses, so that no kernel divides by zero, and never touched.
const PADDING_VEL: Row = Row([0.0, 0.0, 0.0, 1.0]);

impl Mirror {
    /// Copies the bodies in.
    pub(crate) fn fill(&mut self, bodies: &Bodies, settings: &Settings, tiles: usize, crew: &Crew<'_>) {
        let len = bodies.len;
        let rows = len + tiles + 1;
        self.bodies = len;
        for column in [&mut self.shape, &mut self.vel, &mut self.pose, &mut self.accum, &mut self.start] {
            resize(column, rows);
            column[len..].fill(Row::default());
        }
        self.vel[len..].fill(PADDING_VEL);
        resize(&mut self.damp, if bodies.any_damping { rows } else { 0 });

        let c = &bodies.columns;
        let h = settings.time_step / settings.substeps as f32;
        let shape = SharedSlice::new(&mut self.shape);
        let vel = SharedSlice::new(&mut self.vel);
        let pose = SharedSlice::new(&mut self.pose);
        let accum = SharedSlice::new(&mut self.accum);
        let damp = SharedSlice::new(&mut self.damp);
        let (any_damping, any_force) = (bodies.any_damping, bodies.any_force);
        let gravity = settings.gravity;
        #[allow(unsafe_code)]
        crew.chunks(len, CHUNK, |range| {
            // SAFETY: chunks are disjoint.
            let [shape, vel, pose, accum] =
                unsafe { [&shape, &vel, &pose, &accum].map(|rows| rows.range(range.clone())) };
            for (i, slot) in range.clone().enumerate() {
                let kind = c.kind[slot];
                let (inv_mass, inv_inertia) = (c.inv_mass[slot], c.inv_inertia[slot]);
                let radius = surface_radius(kind, c.ext_x[slot]);
                let inv_spin = inv_spin(radius, inv_inertia);
                shape[i] = shape_row(
                    kind,
                    [c.pos_x[slot], c.pos_y[slot]],
                    [c.ext_x[slot], c.ext_y[slot]],
                    c.ext_z[slot],
                );
                vel[i] = Row([c.vel_x[slot], c.vel_y[slot], c.omega[slot] * radius, inv_mass]);
                pose[i] = Row([0.0, 0.0, 0.0, inv_spin]);
                let scale = if inv_mass > 0.0 { h * c.gravity_scale[slot] } else { 0.0 };
                accum[i] = Row([scale * gravity.x, scale * gravity.y, 0.0, 0.0]);
                if any_force {
                    let [x, y, spin, _] = &mut accum[i].0;
                    *x += h * (c.force_x[slot] * inv_mass);
                    *y += h * (c.force_y[slot] * inv_mass);
                    *spin += h * (c.torque[slot] * inv_inertia * radius);
                }
            }
            if any_damping {
                // SAFETY: chunks are disjoint.
                let damp = unsafe { damp.range(range.clone()) };
                for (damp, slot) in damp.iter_mut().zip(range) {
                    let moves = c.kind[slot].motion() == Motion::Dynamic;
                    let factor = |rate: f32| if moves { 1.0 / (1.0 + h * rate) } else { 1.0 };
                    let linear = factor(c.linear_damping[slot]);
                    *damp = Row([linear, linear, factor(c.angular_damping[slot]), 1.0]);
                }
            }
        });
    }

    /// Copies the result back: positions, velocities. Forces are used up.
    pub(crate) fn finish(
        &self,
        bodies: &mut Bodies,
        bounds: &Bounds,
        margins: &Margins,
        crew: &Crew<'_>,
    ) -> Finish {
        let len = self.bodies;
        let (stale, bad) = (AtomicBool::new(false), AtomicBool::new(false));
        let any_force = std::mem::take(&mut bodies.any_force);
        let c = &mut bodies.columns;
        let (kind, ext_x) = (&c.kind, &c.ext_x);
        let columns = [&mut c.pos_x, &mut c.pos_y, &mut c.angle, &mut c.vel_x, &mut c.vel_y, &mut c.omega]
            .map(|column| SharedSlice::new(column));
        let forces = [&mut c.force_x, &mut c.force_y, &mut c.torque].map(|column| SharedSlice::new(column));
        #[allow(unsafe_code)]
        crew.chunks(len, CHUNK, |range| {
            // SAFETY: chunks are disjoint.
            let [pos_x, pos_y, angle, vel_x, vel_y, omega] =
                unsafe { columns.each_ref().map(|column| column.range(range.clone())) };
            let (mut chunk_stale, mut chunk_bad) = (false, false);
            for (i, slot) in range.clone().enumerate() {
                let [moved_x, moved_y, turned, _] = self.pose[slot].0;
                let [new_vel_x, new_vel_y, spin, _] = self.vel[slot].0;
                let [x, y] = [pos_x[i] + moved_x, pos_y[i] + moved_y];
                let good = x.abs() <= MAX_COORDINATE
                    && y.abs() <= MAX_COORDINATE
                    && new_vel_x.abs() <= RUNAWAY_SPEED
                    && new_vel_y.abs() <= RUNAWAY_SPEED
                    && spin.abs() <= RUNAWAY_SPEED * ext_x[slot].max(1.0)
                    && turned.is_finite();
                if !good {
                    chunk_bad = true;
                    continue;
                }
                [pos_x[i], pos_y[i]] = [x, y];
                // A zero's sign depends on which contacts were skipped; adding +0 makes it positive.
                [vel_x[i], vel_y[i]] = [new_vel_x + 0.0, new_vel_y + 0.0];
                if kind[slot].shape() == ShapeKind::Circle {
                    let radius = ext_x[slot];
                    angle[i] += turned / radius;
                    // Only what was gained, so that a free body keeps its spin to the last bit.
                    omega[i] += (spin - omega[i] * radius) / radius + 0.0;
                }
                chunk_stale |= bounds.left(slot, [x, y], [vel_x[i], vel_y[i]], margins);
            }
            if any_force {
                for force in &forces {
                    // SAFETY: chunks are disjoint.
                    unsafe { force.range(range.clone()) }.fill(0.0);
                }
            }
            stale.fetch_or(chunk_stale, Ordering::Relaxed);
            bad.fetch_or(chunk_bad, Ordering::Relaxed);
        });
        Finish { stale: stale.into_inner(), bad: bad.into_inner() }
    }

    /// Whether `finish` refused to take this slot's result.
    pub(crate) fn is_bad(&self, bodies: &Bodies, slot: usize) -> bool {
        let [moved_x, moved_y, turned, _] = self.pose[slot].0;
        let [vel_x, vel_y, spin, _] = self.vel[slot].0;
        let c = &bodies.columns;
        let moved = [moved_x, moved_y, turned];
        // A good slot's position already has the move in it; one that did not move by a number is bad.
        moved.iter().chain(&[vel_x, vel_y, spin]).any(|v| !v.is_finite())
            || vel_x.abs() > RUNAWAY_SPEED
            || vel_y.abs() > RUNAWAY_SPEED
            || spin.abs() > RUNAWAY_SPEED * c.ext_x[slot].max(1.0)
            || ((c.pos_x[slot] + moved_x).abs() > MAX_COORDINATE
                && c.vel_x[slot].to_bits() != (vel_x + 0.0).to_bits())
            || ((c.pos_y[slot] + moved_y).abs() > MAX_COORDINATE
                && c.vel_y[slot].to_bits() != (vel_y + 0.0).to_bits())
    }
}

/// What was found while copying back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    /// A body has left its margin: the pair list must be rebuilt.
    pub stale: bool,
    /// Some results were not numbers, or out of range; those bodies were left as they were.
    pub bad: bool,
}

/// The radius at which friction acts: 0 for what does not turn.
#[inline]
fn surface_radius(kind: Kind, ext_x: f32) -> f32 {
    if kind.shape() == ShapeKind::Circle { ext_x } else { 0.0 }
}

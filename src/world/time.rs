//! Time: the host's clock against the steps of the world, and states between two steps.

use super::World;
use crate::body::{BodyHandle, BodyState};
use crate::error::{Error, check_range};
use crate::geometry::trig::wrap;
use glam::Vec2;

/// The result of [`World::advance`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advance {
    /// The number of steps taken.
    pub steps: u32,
    /// The time left over, as a fraction of a step in 0..=1. Pass it to [`World::interpolated`].
    pub alpha: f32,
}

impl World {
    /// The most steps that one call of [`World::advance`] takes. It drops the whole steps beyond that.
    pub const MAX_STEPS_PER_ADVANCE: u32 = 8;

    /// Takes as many steps as fit into the time that has passed, `elapsed` in s, and keeps the rest of the time for the
    /// next call. One call takes at most [`World::MAX_STEPS_PER_ADVANCE`] steps: if the host can't keep up, the world
    /// runs slower, instead of each frame taking longer than the last.
    ///
    /// # Errors
    ///
    /// Returns an error for a time that is not finite, negative, or more than 10⁶ s.
    pub fn advance(&mut self, elapsed: f32) -> Result<Advance, Error> {
        check_range("elapsed", elapsed, 0.0, 1.0e6)?;
        let dt = self.settings.time_step;
        self.time_left += elapsed;
        let mut steps = 0;
        while self.time_left >= dt && steps < Self::MAX_STEPS_PER_ADVANCE {
            self.step();
            self.time_left -= dt;
            steps += 1;
        }
        if self.time_left >= dt {
            self.time_left %= dt;
        }
        Ok(Advance { steps, alpha: (self.time_left / dt).clamp(0.0, 1.0) })
    }

    /// Returns a body's state between the last two steps: the state before the last step at `alpha` 0, the present
    /// state at 1. The velocities are always the present ones.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or an `alpha` outside 0..=1.
    pub fn interpolated(&self, body: BodyHandle, alpha: f32) -> Result<BodyState, Error> {
        let slot = self.bodies.slot_of(body)?;
        check_range("alpha", alpha, 0.0, 1.0)?;
        Ok(self.interpolated_at(slot, alpha))
    }

    pub(super) fn interpolated_at(&self, slot: usize, alpha: f32) -> BodyState {
        let mut state = self.state(slot);
        if slot < self.solver.mirror.bodies {
            let back = alpha - 1.0;
            let [moved_x, moved_y, turned, _] = self.solver.mirror.pose[slot].0;
            state.position += back * Vec2::new(moved_x, moved_y);
            let radius = self.bodies.columns.radius[slot];
            if radius > 0.0 {
                let (angle, turns) = wrap(f64::from(state.angle) + f64::from(back * turned / radius));
                (state.angle, state.turns) = (angle, state.turns.wrapping_add(turns));
            }
        }
        state
    }
}

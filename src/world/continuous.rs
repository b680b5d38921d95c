//! Continuous collision as a part of the step, and bullets.

use super::World;
use super::record::Call;
use crate::body::BodyHandle;
use crate::continuous::Surroundings;
use crate::crew::Crew;
use crate::error::Error;

/// Fast bodies may overlap walls by so many times the slop.
const DEPTH: f32 = 2.0;

impl World {
    /// Reads bodies and walls. Ends movements in the solver's rows where fast bodies would pass through something.
    pub(super) fn stop_at_walls(&mut self, crew: &Crew<'_>) {
        if !self.settings.continuous {
            return;
        }
        let mut continuous = std::mem::take(&mut self.continuous);
        let mut moved = std::mem::take(&mut self.solver.mirror.pose);
        let around = Surroundings {
            bodies: &self.bodies,
            near: &|[lower, upper], visit| {
                self.bodies_near(lower, upper, |slot| {
                    visit(slot);
                    true
                });
            },
            hulls: &self.hull_solver,
            level: self.level,
            depth: DEPTH * self.settings.slop,
        };
        continuous.stop(&around, &mut moved, crew);
        self.solver.mirror.pose = moved;
        self.continuous = continuous;
    }

    /// Notes that a body is edited, added or removed: if nothing pushes it, it is a wall.
    pub(super) fn note_wall(&mut self, slot: usize) {
        if self.bodies.columns.inv_mass[slot] <= 0.0 && !self.bodies.is_asleep(slot) {
            self.continuous.walls.note(self.bodies.handle(slot).index());
        }
    }

    /// Whether a body is kept from passing through bodies that move: see [`BodyDesc::bullet`](crate::BodyDesc::bullet).
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn is_bullet(&self, body: BodyHandle) -> Result<bool, Error> {
        Ok(self.bodies.is_bullet(self.bodies.slot_of(body)?))
    }

    /// Makes a body a bullet, or no longer: see [`BodyDesc::bullet`](crate::BodyDesc::bullet).
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_bullet(&mut self, body: BodyHandle, bullet: bool) -> Result<(), Error> {
        self.record_of(body, || Call::SetBullet(body, bullet));
        let slot = self.bodies.slot_of(body)?;
        self.bodies.set_bullet(slot, bullet);
        Ok(())
    }
}

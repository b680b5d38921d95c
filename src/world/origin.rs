//! The origin of a world, moved.

use super::World;
use super::pairs::ListState;
use super::record::Call;
use crate::body::{BodyHandle, MAX_COORDINATE};
use crate::error::{Error, check_vec};
use crate::joints::desc::JointKind;
use glam::Vec2;

impl World {
    /// Moves the origin by a vector, m: what was at `by` is at (0, 0) from then on. Positions of all bodies, half-spaces, targets of joints and of
    /// kinematic bodies, contacts and the events of the last step come along. Nothing moves, wakes or falls asleep by it, contacts keep their
    /// impulses, and velocities stay.
    ///
    /// Positions are 32-bit floats, whose steps grow with the distance from the origin: 0.06 mm from 512 m on, 1 mm from 8 km on. A
    /// host that follows its player calls this when the player is some kilometres out. If `by` is in whole metres, the places of all bodies that get
    /// nearer to the origin, along x and along y, are exact; others are rounded to the digits that there are.
    ///
    /// The next step makes its pair list anew. The first query before it puts all bodies in an order of its own.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(9_000.0, 0.5)))?;
    /// (0..60).for_each(|_| world.step());
    /// world.shift_origin(Vec2::new(9_000.0, 0.0))?;
    /// assert!((world.body(ball)?.position - Vec2::new(0.0, 0.5)).length() < 0.01);
    /// # Ok::<(), granule::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A component of `by` that is not finite, or beyond twice [`World::MAX_COORDINATE`]; [`Error::Element`] with the index of the handle of
    /// the first body, or of the first target joint, that would be beyond that coordinate. Then nothing has moved.
    pub fn shift_origin(&mut self, by: Vec2) -> Result<(), Error> {
        self.record(|| Call::ShiftOrigin(by));
        check_vec("by", by, 2.0 * MAX_COORDINATE)?;
        self.check_shift(by)?;
        if by == Vec2::ZERO {
            return Ok(());
        }
        self.bodies.shift(by);
        self.shift_joints(by);
        self.hull_solver.shift(by);
        for contact in self.sleeping_contacts.iter_mut().flatten().chain(&mut self.woken_contacts) {
            contact.point -= by;
        }
        self.sleep.hulls_mut().for_each(|hulls| hulls.shift(by));
        self.solver.mirror.shift(&self.bodies, self.broadphase.built, by);
        self.watch.shift(by);
        self.continuous.walls.stale = true;
        // The order of space is that of the old places.
        self.unlist_all();
        self.list = ListState::Void;
        Ok(())
    }

    /// Refuses to put something beyond the largest coordinate.
    fn check_shift(&self, by: Vec2) -> Result<(), Error> {
        let element =
            |index: u32, error: Error| Error::Element { index: index as usize, error: Box::new(error) };
        for (BodyHandle { index, .. }, slot) in self.bodies.by_index() {
            check_vec("position", self.bodies.position(slot) - by, MAX_COORDINATE)
                .map_err(|error| element(index, error))?;
        }
        for (index, target) in self.bodies.own.targets() {
            check_vec("target.position", target.position - by, MAX_COORDINATE)
                .map_err(|error| element(index, error))?;
        }
        for (handle, joint) in self.joints.iter() {
            if let JointKind::Target { target, .. } = joint.desc.kind {
                check_vec("target", target - by, MAX_COORDINATE)
                    .map_err(|error| element(handle.index, error))?;
            }
        }
        Ok(())
    }

    /// Shifts what target joints pull to.
    fn shift_joints(&mut self, by: Vec2) {
        for index in 0..self.joints.capacity() as u32 {
            let Some(joint) = self.joints.at_mut(index) else { continue };
            if let JointKind::Target { target, .. } = &mut joint.desc.kind {
                *target -= by;
                self.joint_solver.write(index, &self.joints);
            }
        }
    }
}

//! Hulls: loops of particles that collide as one convex polygon.
//!
//! Particles touch as discs. So a body made of few particles lets others through between its points. A loop of
//! particles that is marked as a hull is solid between its points too. It collides with other hulls, with rigid bodies
//! and with free particles, by the separating axis test. The impulse of a contact is shared between the two points of
//! the edge on which the contact lies (`solver/hulls.rs`). A hull of two points is a limb: a capsule between them. The
//! particles of a hull touch only as parts of the hull, and not also as discs of their own: one contact, one friction,
//! one bounce.

use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::ensure;
use crate::base::table::{Name, Table};
use crate::body::{Bodies, BodyDesc, BodyHandle};
use crate::error::Error;
use crate::geometry::outline::MAX_VERTICES;
use glam::Vec2;

/// The name of a hull, valid for as long as the hull lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HullHandle {
    index: u32,
    generation: u32,
}

crate::base::codec::stored!(HullHandle = HullHandle { index: 0, generation: 0 }; { index, generation });

impl HullHandle {
    /// The index in the handle table. While no hull was removed from the world, it counts hulls in the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// The particles of a hull, counter-clockwise at the time when the hull was added.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    points: [BodyHandle; MAX_VERTICES],
    count: usize,
}

impl Stored for Loop {
    fn write(&self, to: &mut Writer<'_>) {
        self.count.write(to);
        self.points().iter().for_each(|point| point.write(to));
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.count.read(from)?;
        require!((2..=MAX_VERTICES).contains(&self.count), "a hull of {} points", self.count);
        self.points = [BodyHandle::default(); MAX_VERTICES];
        for at in 0..self.count {
            self.points[at].read(from)?;
            // By index: two generations of a handle name one particle.
            let is_known = self.points[..at].iter().any(|point| point.index == self.points[at].index);
            require!(!is_known, "a hull has a particle twice");
        }
        Ok(())
    }

    fn blank() -> Loop {
        Loop { points: [BodyHandle::default(); MAX_VERTICES], count: 0 }
    }
}

impl Loop {
    pub(crate) fn points(&self) -> &[BodyHandle] {
        &self.points[..self.count]
    }

    /// Returns true if all particles of the hull are collidable: none is removed or quarantined.
    pub(crate) fn is_collidable(&self, bodies: &Bodies) -> bool {
        let solid = |slot: usize| bodies.columns.kind[slot].is_collidable();
        self.points().iter().all(|&point| bodies.slot_of(point).is_ok_and(solid))
    }
}

impl HullHandle {
    fn of(Name { index, generation }: Name) -> HullHandle {
        HullHandle { index, generation }
    }
}

/// All hulls of a world.
#[derive(Default)]
pub(crate) struct Hulls {
    table: Table<Loop>,
    /// True if hulls were added or removed, or bodies were removed or went bad, since the corners were marked.
    pub(crate) changed: bool,
    /// True if hulls were added or removed, or one of their particles went bad, since the solver last checked.
    pub(crate) renumbered: bool,
    /// Memory for the marks of corners.
    corners_before: Vec<bool>,
}

crate::base::codec::stored!(Hulls { table, changed, renumbered } scratch { corners_before });

const FIELD: &str = "hull";

impl Hulls {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// The number of handle indices, free ones included.
    pub(crate) fn capacity(&self) -> usize {
        self.table.capacity()
    }

    pub(crate) fn insert(&mut self, points: &[BodyHandle]) -> HullHandle {
        let mut hull = Loop { points: [BodyHandle::default(); MAX_VERTICES], count: points.len() };
        hull.points[..points.len()].copy_from_slice(points);
        (self.changed, self.renumbered) = (true, true);
        HullHandle::of(self.table.insert(hull))
    }

    /// The hull at an index of a handle, if there is one.
    pub(crate) fn at(&self, index: u32) -> Option<&Loop> {
        self.table.at(index).map(|(_, hull)| hull)
    }

    pub(crate) fn get(&self, handle: HullHandle) -> Result<&Loop, Error> {
        let HullHandle { index, generation } = handle;
        let name = Name { index, generation };
        self.table.get(name).ok_or(Error::StaleHandle { kind: "hull", index, generation })
    }

    pub(crate) fn remove(&mut self, handle: HullHandle) -> Result<(), Error> {
        self.get(handle)?;
        self.drop_entry(handle.index);
        Ok(())
    }

    fn drop_entry(&mut self, index: u32) {
        self.table.remove_at(index);
        (self.changed, self.renumbered) = (true, true);
    }

    /// All hulls with their handles, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (HullHandle, &Loop)> {
        self.table.iter().map(|(name, hull)| (HullHandle::of(name), hull))
    }

    /// Drops the hulls that have lost a particle and marks the corners of the others. Runs before the search for pairs. Calls `changed` with
    /// the index of each handle whose body has become a corner, or is one no longer.
    pub(crate) fn refresh(&mut self, bodies: &mut Bodies, mut changed: impl FnMut(&Bodies, u32)) {
        if !self.changed {
            return;
        }
        self.forget_removed(bodies);
        self.changed = false;
        let mut corners = std::mem::take(&mut self.corners_before);
        corners.clear();
        for (_, hull) in self.iter().filter(|(_, hull)| hull.is_collidable(bodies)) {
            for point in hull.points() {
                let index = point.index() as usize;
                if corners.len() <= index {
                    corners.resize(index + 1, false);
                }
                corners[index] = true;
            }
        }
        let before = std::mem::replace(&mut bodies.corners, corners);
        let is_corner = |corners: &[bool], index: usize| corners.get(index).copied().unwrap_or(false);
        for index in 0..before.len().max(bodies.corners.len()) {
            if is_corner(&before, index) != is_corner(&bodies.corners, index) {
                changed(bodies, index as u32);
            }
        }
        self.corners_before = before;
    }

    /// Drops the hulls that have lost a particle.
    fn forget_removed(&mut self, bodies: &Bodies) {
        for index in 0..self.table.capacity() as u32 {
            let lives = |hull: &Loop| hull.points().iter().all(|&point| bodies.slot_of(point).is_ok());
            if self.table.at(index).is_some_and(|(_, hull)| !lives(hull)) {
                self.drop_entry(index);
            }
        }
    }

    /// Checks all hulls. The error describes the first fault.
    pub(crate) fn validate(&self, bodies: &Bodies) -> Result<(), String> {
        self.table.validate()?;
        for (handle, hull) in self.iter() {
            ensure!(
                (2..=MAX_VERTICES).contains(&hull.points().len()),
                "{handle:?} has {} points",
                hull.count
            );
            for &point in hull.points() {
                let known = bodies.slot_of(point).is_ok_and(|slot| bodies.columns.kind[slot].is_particle());
                ensure!(known || self.changed, "{handle:?} has {point:?}, which is no particle");
            }
        }
        Ok(())
    }
}

/// Checks a hull that is given by places in a list of bodies to be added.
pub(crate) fn check_places(hull: &[usize], bodies: &[BodyDesc]) -> Result<(), Error> {
    let mut positions = Vec::with_capacity(hull.len());
    for (index, &place) in hull.iter().enumerate() {
        match bodies.get(place) {
            None => {
                return Err(Error::Vertex {
                    field: FIELD,
                    index,
                    reason: "names a body that is not in the list",
                });
            }
            Some(body) if !body.is_particle() => {
                return Err(Error::Vertex { field: FIELD, index, reason: "not a particle" });
            }
            Some(body) => positions.push(body.position),
        }
    }
    check_loop(&positions).map(|_| ())
}

/// Checks that `positions` are the two ends of a limb, or 3 to 8 corners of a convex polygon in order. Returns true if
/// they run clockwise.
pub(crate) fn check_loop(positions: &[Vec2]) -> Result<bool, Error> {
    let n = positions.len();
    if !(2..=MAX_VERTICES).contains(&n) {
        return Err(Error::Invalid { field: FIELD, reason: "a hull has 2 to 8 points" });
    }
    let vertex = |index: usize, reason| Err(Error::Vertex { field: FIELD, index, reason });
    for (index, point) in positions.iter().enumerate() {
        if positions[..index].contains(point) {
            return vertex(index, "in the place of an earlier one");
        }
    }
    if n == 2 {
        return Ok(false);
    }
    let at = |index: usize| positions[index % n].as_dvec2();
    let area: f64 = (1..n - 1).map(|i| (at(i) - at(0)).perp_dot(at(i + 1) - at(0))).sum();
    for index in 0..n {
        let turn = (at(index) - at(index + n - 1)).perp_dot(at(index + 1) - at(index));
        if turn * area.signum() <= 0.0 {
            return vertex(index, "not a corner of a convex polygon, one after the other");
        }
    }
    // The corners of a pentagram turn the same way, but go around twice.
    let turns: f64 =
        (0..n).map(|i| (at(i) - at(i + n - 1)).angle_to(at(i + 1) - at(i)).abs()).sum::<f64>().abs();
    if turns > 1.5 * std::f64::consts::TAU {
        return vertex(0, "the loop crosses itself");
    }
    Ok(area < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[(f32, f32)]) -> Vec<Vec2> {
        list.iter().map(|&point| point.into()).collect()
    }

    /// Contract: loops must be convex and may run in either direction. An error names the wrong corner.
    #[test]
    fn loops_are_checked() {
        let square = points(&[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]);
        assert_eq!(check_loop(&square), Ok(false));
        let clockwise: Vec<Vec2> = square.iter().rev().copied().collect();
        assert_eq!(check_loop(&clockwise), Ok(true));
        assert_eq!(check_loop(&square[..2]), Ok(false));
        let message = |list: &[(f32, f32)]| check_loop(&points(list)).unwrap_err().to_string();
        assert_eq!(message(&[(0.0, 0.0)]), "hull: a hull has 2 to 8 points");
        assert!(message(&[(0.0, 0.0), (1.0, 0.0), (1.0, 0.0)]).starts_with("hull[2]: in the place"));
        assert!(message(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]).starts_with("hull[0]: not a corner"));
        assert!(message(&[(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)]).starts_with("hull[2]: not"));
        let star: Vec<(f32, f32)> =
            (0..5).map(|i| Vec2::from_angle(0.8 * std::f32::consts::PI * i as f32).into()).collect();
        assert!(message(&star).starts_with("hull[0]: the loop crosses"));
    }
}

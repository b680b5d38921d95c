//! Hulls: loops of particles that collide as one convex polygon.
//!
//! Particles touch as discs, so what is made of few of them lets others through between its points. A loop of
//! particles that is marked as a hull is solid in between too: it collides with other hulls, with rigid bodies and with
//! free particles by the separating axis test, and what a contact moves is shared out between the two points of the
//! edge that it is on (`solver/hulls.rs`). Two points are a limb: a capsule between them. Its particles touch as parts of
//! the hull only, not as discs of their own besides: one contact, one friction, one bounce.

use crate::base::ensure;
use crate::base::table::{Name, Table};
use crate::body::{Bodies, BodyDesc, BodyHandle};
use crate::error::Error;
use crate::geometry::outline::MAX_VERTICES;
use glam::Vec2;

/// Names a hull for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HullHandle {
    index: u32,
    generation: u32,
}

impl HullHandle {
    /// The place in the handle table: in a world from which no hull was removed, the order of adding.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// The particles of a hull, counter-clockwise when it was added.
#[derive(Clone, Copy)]
pub(crate) struct Loop {
    points: [BodyHandle; MAX_VERTICES],
    count: usize,
}

impl Loop {
    pub(crate) fn points(&self) -> &[BodyHandle] {
        &self.points[..self.count]
    }

    /// None of its particles was taken out of the simulation.
    pub(crate) fn is_solid(&self, bodies: &Bodies) -> bool {
        let solid = |slot: usize| bodies.columns.kind[slot].is_solid();
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
    /// Particles, or hulls, came or went since the corners were marked.
    pub(crate) changed: bool,
    /// Hulls came or went, or one of their particles went bad, since the solver last looked.
    pub(crate) renumbered: bool,
}

const FIELD: &str = "hull";

impl Hulls {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// Handle indices there are, free ones included.
    pub(crate) fn capacity(&self) -> usize {
        self.table.capacity()
    }

    pub(crate) fn insert(&mut self, points: &[BodyHandle]) -> HullHandle {
        let mut hull = Loop { points: [BodyHandle::default(); MAX_VERTICES], count: points.len() };
        hull.points[..points.len()].copy_from_slice(points);
        (self.changed, self.renumbered) = (true, true);
        HullHandle::of(self.table.insert(hull))
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

    /// All hulls with their handles, by index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (HullHandle, &Loop)> {
        self.table.iter().map(|(name, hull)| (HullHandle::of(name), hull))
    }

    /// Drops the hulls that have lost a particle, and marks the corners of the others, before pairs are looked for.
    pub(crate) fn refresh(&mut self, bodies: &mut Bodies) {
        if !self.changed {
            return;
        }
        self.forget_removed(bodies);
        self.changed = false;
        let mut corners = std::mem::take(&mut bodies.corners);
        corners.clear();
        for (_, hull) in self.iter().filter(|(_, hull)| hull.is_solid(bodies)) {
            for point in hull.points() {
                let index = point.index() as usize;
                if corners.len() <= index {
                    corners.resize(index + 1, false);
                }
                corners[index] = true;
            }
        }
        bodies.corners = corners;
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

    /// The first thing that is wrong.
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

/// Checks a hull given by places in a list of bodies that are to be added.
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

/// Checks that `positions` are 2 to 8 corners of a convex polygon, one after the other, or the ends of a limb. Returns
/// whether they run clockwise.
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
    // A pentagram turns the same way at every corner, twice around.
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

    /// Loops are convex, of either direction, and named by the corner that is not.
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

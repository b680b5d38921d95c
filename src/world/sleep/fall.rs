//! How islands fall asleep: what the solver knows of their contacts, joints and hulls is taken out of it and kept with the island.

use super::super::World;
use super::super::pairs::ListState;
use super::super::view::{Contact, hull_contact};
use crate::contacts::is_parted;
use crate::solver::hulls::Parking;

/// Adds a contact point to those of a sleeping island.
fn keep_point(points: &mut Vec<Vec<Contact>>, number: u32, contact: Contact) {
    let number = number as usize;
    points.resize_with(points.len().max(number + 1), Vec::new);
    points[number].push(contact);
}

impl World {
    /// Puts islands, given by their slots, to sleep.
    pub(super) fn fall_asleep<'a>(&mut self, islands: impl Iterator<Item = &'a [[u32; 2]]>) {
        let mut of_slot = std::mem::take(&mut self.sleep.of_slot);
        of_slot.clear();
        of_slot.resize(self.bodies.len, None);
        let first = self.sleep.fallen();
        for island in islands {
            let number = self.sleep.new_island();
            for &[_, slot] in island {
                let body = self.bodies.handle(slot as usize);
                self.sleep.add_member(number, body);
                of_slot[slot as usize] = Some(number);
            }
        }
        self.keep_points(&of_slot);
        self.park_contacts(&of_slot);
        self.park_joints(&of_slot);
        self.park_hulls(&of_slot);
        self.note_links(&of_slot);
        for index in first..self.sleep.fallen() {
            let body = self.sleep.fallen_body(index);
            let Ok(slot) = self.bodies.slot_of(body) else { continue };
            if let Some(number) = of_slot[slot] {
                self.bodies.fall_asleep(slot, number);
                self.links.mass_changed(body);
            }
        }
        self.sleep.of_slot = of_slot;
        self.list = ListState::Void;
    }

    /// Keeps the contact points of bodies that fall asleep, for the host. Not those between two islands, which do not touch: they would
    /// be in the list of one, and out of date when the other one woke. Of those with bodies that nothing moves, only what touches: such a
    /// body is a support, and wakes the island when it is put elsewhere.
    fn keep_points(&mut self, of_slot: &[Option<u32>]) {
        let fixed = |slot: usize| !self.bodies.is_movable(slot);
        let number = |[a, b]: [usize; 2], touching: bool| match (of_slot[a], of_slot[b]) {
            (Some(number), Some(other)) => (number == other).then_some(number),
            (Some(number), None) if fixed(b) && touching => Some(number),
            (None, Some(number)) if fixed(a) && touching => Some(number),
            _ => None,
        };
        let mut points = std::mem::take(&mut self.sleeping_contacts);
        self.visit_points(number, |number, contact| keep_point(&mut points, number, contact));
        // Those of bodies that were woken by hand since the last step, and are put to sleep again.
        self.woken_contacts.retain(|contact| {
            let [a, b] = [contact.a, contact.b].map(|body| self.bodies.slot_of(body).ok());
            let parts = [contact.part_a, contact.part_b];
            let whole = a.zip(b).filter(|&(a, b)| !is_parted(&self.bodies, [a as u32, b as u32], parts));
            let number = whole.and_then(|(a, b)| number([a, b], true));
            number.is_none_or(|number| {
                keep_point(&mut points, number, *contact);
                false
            })
        });
        self.sleeping_contacts = points;
    }

    /// Takes the contacts of hulls that fall asleep out of the solver.
    fn park_hulls(&mut self, of_slot: &[Option<u32>]) {
        if self.hulls.len() == 0 {
            return;
        }
        let (bodies, sleep) = (&self.bodies, &mut self.sleep);
        for (_, hull) in self.hulls.iter() {
            let number = hull.points().iter().find_map(|&point| of_slot[bodies.slot_of(point).ok()?]);
            let Some(number) = number else { continue };
            for &point in hull.points() {
                if bodies.slot_of(point).is_ok_and(|slot| of_slot[slot].is_none()) {
                    sleep.support(number, point);
                }
            }
        }
        let solver = &self.hull_solver;
        for contact in solver.contacts() {
            let Some(number) = solver.keeper(contact, bodies, &self.hulls, of_slot) else { continue };
            for &slot in (0..2).flat_map(|side| solver.members(contact, side)) {
                if of_slot[slot as usize].is_none() {
                    sleep.support(number, bodies.handle(slot as usize));
                }
            }
            // As for other bodies: see `keep_points`.
            let own =
                |&slot: &u32| of_slot[slot as usize] == Some(number) || !bodies.is_movable(slot as usize);
            if (0..2).flat_map(|side| solver.members(contact, side)).all(own) {
                keep_point(&mut self.sleeping_contacts, number, hull_contact(contact, bodies));
            }
        }
        self.hull_solver.park(bodies, &self.hulls, of_slot, |number, parked| {
            let hulls = &mut sleep.island_mut(number).hulls;
            match parked {
                Parking::Contact(contact) => hulls.contacts.push(contact),
                Parking::Touched(pair) => {
                    hulls.note_touched(pair);
                    // A contact says so as well, but not one that was woken by hand since the last step.
                    for body in pair {
                        if bodies.slot_of(body).is_ok_and(|slot| of_slot[slot].is_none()) {
                            sleep.support(number, body);
                        }
                    }
                }
            }
        });
    }

    fn park_contacts(&mut self, of_slot: &[Option<u32>]) {
        let (bodies, sleep) = (&self.bodies, &mut self.sleep);
        self.contacts.park(bodies, &|slot| of_slot[slot as usize], |number, contact| {
            for body in contact.bodies {
                if bodies.slot_of(body).is_ok_and(|slot| of_slot[slot].is_none()) {
                    sleep.support(number, body);
                }
            }
            sleep.island_mut(number).contacts.push(contact);
        });
    }

    /// Takes the joints of bodies that fall asleep out of the solver.
    fn park_joints(&mut self, of_slot: &[Option<u32>]) {
        if self.joint_solver.is_empty() {
            return;
        }
        let mut indices = Vec::new();
        for (slot, _) in of_slot.iter().enumerate().filter(|(_, island)| island.is_some()) {
            indices.extend(self.joints_and_gears_of(self.bodies.handle(slot)));
        }
        for index in indices {
            let Some(joint) = self.joint_solver.park(index, &mut self.joints) else { continue };
            let Some((_, of_joint)) = self.joints.at(index) else { continue };
            let bodies = self.joints.bodies_of_any(&of_joint.desc).into_iter().flatten();
            let slots = bodies.filter_map(|body| Some((body, self.bodies.slot_of(body).ok()?)));
            let mut number = None;
            let mut supports = [None; 4];
            for ((body, slot), support) in slots.zip(&mut supports) {
                match of_slot[slot] {
                    Some(island) => number = Some(island),
                    None => *support = Some(body),
                }
            }
            let Some(number) = number else { continue };
            supports.into_iter().flatten().for_each(|body| self.sleep.support(number, body));
            self.sleep.island_mut(number).joints.push(joint);
        }
    }

    /// Notes what islands that fall asleep hang from by links.
    fn note_links(&mut self, of_slot: &[Option<u32>]) {
        for (_, link) in self.links.iter() {
            let [a, b] = [link.a, link.b].map(|body| self.bodies.slot_of(body).ok());
            let (Some(a), Some(b)) = (a, b) else { continue };
            match (of_slot[a], of_slot[b]) {
                (Some(number), None) => self.sleep.support(number, link.b),
                (None, Some(number)) => self.sleep.support(number, link.a),
                _ => {}
            }
        }
    }
}

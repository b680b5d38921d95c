//! Checks the invariants of a world, which hold after any call.

use super::World;
use super::query::solid::Solid;
use crate::base::ensure;
use crate::broadphase::shapes::NO_PART;
use crate::contacts::RowCounts;

impl World {
    /// Checks every invariant of the world, and names the first that is broken. All of them hold after any call,
    /// whatever the call returned. For tests; it takes time quadratic in the number of bodies.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong.
    #[doc(hidden)]
    pub fn validate(&self) -> Result<(), String> {
        self.settings.validate().map_err(|error| format!("settings: {error}"))?;
        let scope = |name: &'static str| move |message: String| format!("{name}: {message}");
        self.bodies.validate(!self.unchecked).map_err(scope("bodies"))?;
        self.links.validate(&self.bodies).map_err(scope("links"))?;
        self.hulls.validate(&self.bodies).map_err(scope("hulls"))?;
        self.joints.validate(&self.bodies).map_err(scope("joints"))?;
        self.joint_solver.validate(&self.joints, &self.bodies).map_err(scope("joints"))?;
        self.validate_quarantine().map_err(scope("quarantine"))?;
        self.validate_sleep().map_err(scope("sleep"))?;
        self.validate_overlaps().map_err(scope("sensors"))?;
        let mirror = &self.solver.mirror;
        let listed = self.broadphase.built + self.contacts.tiles().len() + 1;
        let rows = RowCounts {
            // A restored world has no rows before its next step.
            bodies: mirror.vel.len().max(listed),
            shapes: mirror.shape.len().max(listed + self.bodies.part_count()),
            outlines: self.bodies.outlines.rows.len(),
        };
        self.contacts.validate(&self.bodies, &rows, self.is_listed()).map_err(scope("contacts"))?;
        self.validate_space().map_err(scope("broadphase"))?;
        ensure!(
            (0.0..=self.settings.time_step.max(1.0)).contains(&self.time_left),
            "{} s left",
            self.time_left
        );
        Ok(())
    }

    /// Checks that every sleeping body is in one island, that its joints are, too, and that nothing awake touches it.
    fn validate_sleep(&self) -> Result<(), String> {
        self.sleep.validate(&self.bodies, &self.joints, &self.hulls)?;
        ensure!(self.settings.sleep || self.bodies.asleep_count == 0, "bodies sleep, and none should");
        let mut touched = None;
        if self.is_listed() && self.list.holds() {
            self.contacts.visit_touching(|a, b| {
                if self.bodies.is_asleep(a) || self.bodies.is_asleep(b) {
                    touched = Some([a, b].map(|slot| self.bodies.handle(slot)));
                }
            });
        }
        ensure!(touched.is_none(), "{touched:?} touch, and one of them sleeps");
        for (number, points) in self.sleeping_contacts.iter().enumerate() {
            let asleep = self.sleep.iter().any(|(island, _)| island as usize == number);
            ensure!(asleep || points.is_empty(), "island {number} is awake and has contacts that sleep");
        }
        Ok(())
    }

    /// Checks the order of space, and what it promises while the bounds hold.
    fn validate_space(&self) -> Result<(), String> {
        let space = &self.broadphase;
        let sorted = space.loose.windows(2).all(|two| two[0] < two[1]);
        ensure!(sorted, "the loose bodies are not in order: {:?}", space.loose);
        let banded = space.bands.banded;
        let may = space.loose.iter().all(|&slot| space.may_be_loose(slot as usize));
        ensure!(may, "a large body is loose");
        ensure!(
            banded <= space.bands.large_end
                && space.bands.large_end <= space.listed
                && space.listed <= space.built,
            "more in bands than there are"
        );
        ensure!(space.built <= self.bodies.len, "{} slots, and {} in space", self.bodies.len, space.built);
        if !self.is_listed() {
            return Ok(());
        }
        ensure!(space.built == self.bodies.len, "{} slots, and {} in space", self.bodies.len, space.built);
        let mut next = 0;
        for tile in &space.tiles {
            ensure!(tile.slots.start == next, "tile {:?} begins after {next}", tile.slots);
            next = tile.slots.end;
        }
        ensure!(next == banded, "the tiles end at {next}, and the bands at {banded}");
        if self.list.holds() { self.validate_pairs() } else { Ok(()) }
    }

    /// The shapes of a body, and their numbers in pairs.
    fn solids(&self, slot: usize) -> Vec<(u8, Solid)> {
        let alone = self.bodies.parts(slot).is_empty();
        let solid = |part| (if alone { NO_PART } else { part }, Solid::of(&self.bodies, slot, part));
        (0..self.bodies.shape_count(slot)).map(solid).collect()
    }

    /// Checks that every pair that overlaps is in the list, and that a query finds every body where it is.
    fn validate_pairs(&self) -> Result<(), String> {
        let c = &self.bodies.columns;
        let keys = self.contacts.sorted_keys();
        let slots: Vec<usize> = (0..self.bodies.len).filter(|&slot| c.kind[slot].is_collidable()).collect();
        let shapes: Vec<_> = slots.iter().map(|&slot| self.solids(slot)).collect();
        for (i, &a) in slots.iter().enumerate() {
            let mut found = false;
            let place = self.bodies.position(a);
            self.bodies_near(place, place, |slot| {
                found |= slot == a;
                !found
            });
            ensure!(found, "{:?} is not found at {place}", self.bodies.handle(a));
            for (j, &b) in slots.iter().enumerate().skip(i + 1) {
                // Corners of hulls touch only as parts of their hull.
                let corner = self.bodies.is_corner(a) || self.bodies.is_corner(b);
                if corner || (c.inv_mass[a] == 0.0 && c.inv_mass[b] == 0.0) {
                    continue;
                }
                for (part_a, one) in &shapes[i] {
                    for (part_b, two) in &shapes[j] {
                        let deep = || one.depth(two) > one.rounding() + two.rounding();
                        let key = (a as u32, b as u32, [*part_a, *part_b]);
                        let listed = keys.binary_search(&key).is_ok();
                        ensure!(
                            listed || !self.bodies.may_touch(a, *part_a, b, *part_b) || !deep(),
                            "{:?} and {:?} overlap by {} and are not in the list (parts {:?})",
                            self.bodies.handle(a),
                            self.bodies.handle(b),
                            one.depth(two),
                            key.2
                        );
                    }
                }
            }
        }
        Ok(())
    }
}

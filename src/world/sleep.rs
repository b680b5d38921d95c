//! Sleep in a world: when bodies fall asleep, what wakes them, and what a host does with it.

mod fall;
mod reach;

use super::World;
use super::pairs::ListState;
use super::record::Call;
use crate::body::BodyHandle;
use crate::body::sleep::SleepLimits;
use crate::crew::Crew;
use crate::error::{Error, check_range};
use crate::geometry::shape::ShapeKind;
use crate::joints::desc::JointDesc;
use crate::settings::Solver;
use crate::sleep::{AtRest, Bonds, Islands};
use crate::solver::hulls::{Stirred, Touched};
use glam::Vec2;

/// Steps between two searches for islands. Each search that is in vain doubles the time to the next, up to [`MOST_WAIT`].
const WAIT: u32 = 8;
const MOST_WAIT: u32 = 64;
/// Bodies fall asleep when they are at least this part of those that are awake, because the next step then makes a new list. Fewer
/// wait until the list is due anyway, or for as many searches as [`PATIENCE`].
const WORTHWHILE: usize = 16;
const PATIENCE: u32 = 6;

impl World {
    /// Returns false for a body that sleeps. A static or kinematic body is always awake.
    ///
    /// With [`Settings::sleep`](crate::Settings::sleep), the default, bodies that touch each other, or are joined or linked, directly or through others, form an
    /// *island*. It falls asleep when all its bodies have been slower than [`Settings::sleep_threshold`](crate::Settings::sleep_threshold) for
    /// [`Settings::time_to_sleep`](crate::Settings::time_to_sleep), none of them touches a body that moves by its own velocity, and something holds them, or
    /// gravity does not move them. An edit of a body makes it begin anew to count for how long it has been at rest. A sleeping body has no velocity. It
    /// stays where it is, and keeps its contacts with their impulses. Its island wakes, within the step:
    ///
    /// - when something awake touches it, or would or may in this step;
    /// - when a body that it rests on, or hangs from, is moved, changed or removed;
    /// - by any edit of one of its bodies, joints or links, except forces, impulses and velocities of zero;
    /// - when gravity, the rules of mixing or the settings of sleep change;
    /// - by [`World::wake_body`].
    ///
    /// The particles of a hull sleep and wake as one.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn is_awake(&self, body: BodyHandle) -> Result<bool, Error> {
        Ok(!self.bodies.is_asleep(self.bodies.slot_of(body)?))
    }

    /// Wakes the island of a body. A body that is awake begins anew to count for how long it has been at rest.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn wake_body(&mut self, body: BodyHandle) -> Result<(), Error> {
        self.record_of(body, || Call::WakeBody(body));
        let slot = self.bodies.slot_of(body)?;
        self.wake(slot);
        Ok(())
    }

    /// Puts the island of a body to sleep, however fast it moves, with all bodies that touch it as of the last step or are joined with
    /// it. Does nothing for a body that sleeps, that is static or kinematic, or that belongs to an island which may not sleep:
    /// a body of it has [`BodyDesc::sleep`](crate::BodyDesc::sleep) off or touches a body that moves by its own
    /// velocity. What was moved or reshaped since the last step keeps the contacts of that step for as long as it sleeps.
    ///
    /// The island is sought among all awake bodies and contacts, so that a call costs in proportion to them.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; [`Error::Invalid`] if [`Settings::sleep`](crate::Settings::sleep) is off.
    pub fn sleep_body(&mut self, body: BodyHandle) -> Result<(), Error> {
        self.record_of(body, || Call::SleepBody(body));
        let slot = self.bodies.slot_of(body)?;
        if !self.settings.sleep {
            return Err(Error::Invalid { field: "sleep", reason: "it is off in the settings" });
        }
        if self.bodies.is_asleep(slot) {
            return Ok(());
        }
        let may_sleep = |slot: usize| self.bodies.sleep_limits(slot).may;
        let mut islands = Islands::default();
        islands.find(&self.bonds(), Some(&may_sleep), None);
        let own = |island: &&[[u32; 2]]| island.iter().any(|&[_, member]| member as usize == slot);
        if let Some(island) = islands.iter().find(own) {
            self.fall_asleep(std::iter::once(island));
        }
        Ok(())
    }

    /// Says whether a body may sleep. If not, it wakes.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_sleep(&mut self, body: BodyHandle, sleep: bool) -> Result<(), Error> {
        self.record_of(body, || Call::SetSleep(body, sleep));
        self.set_sleep_limits(body, |limits| limits.may = sleep)
    }

    /// Sets the speed below which a body is at rest, m/s; `None` stands for [`Settings::sleep_threshold`](crate::Settings::sleep_threshold).
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a speed that is not finite, negative or more than 10⁶.
    pub fn set_sleep_threshold(&mut self, body: BodyHandle, threshold: Option<f32>) -> Result<(), Error> {
        self.record_of(body, || Call::SetSleepThreshold(body, threshold));
        check_range("sleep_threshold", threshold.unwrap_or(0.0), 0.0, 1.0e6)?;
        self.set_sleep_limits(body, |limits| limits.threshold = threshold)
    }

    /// Sets for how long a body has to be at rest before it sleeps, s; `None` stands for [`Settings::time_to_sleep`](crate::Settings::time_to_sleep).
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], or a time that is not finite, negative or more than 10⁶.
    pub fn set_time_to_sleep(&mut self, body: BodyHandle, time: Option<f32>) -> Result<(), Error> {
        self.record_of(body, || Call::SetTimeToSleep(body, time));
        check_range("time_to_sleep", time.unwrap_or(0.0), 0.0, 1.0e6)?;
        self.set_sleep_limits(body, |limits| limits.time = time)
    }

    fn set_sleep_limits(
        &mut self,
        body: BodyHandle,
        change: impl FnOnce(&mut SleepLimits),
    ) -> Result<(), Error> {
        let slot = self.bodies.slot_of(body)?;
        let mut limits = self.bodies.sleep_limits(slot);
        change(&mut limits);
        self.wake(slot);
        self.bodies.set_sleep_limits(slot, limits);
        Ok(())
    }

    /// Whether a body may sleep, its own threshold (m/s) and its own time to sleep (s): see [`World::set_sleep`],
    /// [`World::set_sleep_threshold`] and [`World::set_time_to_sleep`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn sleep_settings(&self, body: BodyHandle) -> Result<(bool, Option<f32>, Option<f32>), Error> {
        let SleepLimits { may, threshold, time } = self.bodies.sleep_limits(self.bodies.slot_of(body)?);
        Ok((may, threshold, time))
    }

    /// The number of bodies that forces move and that are awake, particles included. Looks at one number of each body.
    pub fn awake_count(&self) -> usize {
        self.bodies.columns.inv_mass[..self.bodies.len].iter().filter(|&&inv_mass| inv_mass > 0.0).count()
    }

    /// The number of bodies that sleep.
    pub fn asleep_count(&self) -> usize {
        self.bodies.asleep_count
    }

    /// The number of islands, those that sleep and those that are awake. A body that touches nothing is an island of its own. Looks at
    /// all contacts of the last step.
    pub fn island_count(&self) -> usize {
        let mut islands = Islands::default();
        islands.find(&self.bonds(), None, None);
        islands.iter().count() + self.sleep.len()
    }

    /// The number of the island of each body that is awake or sleeps, by place in storage ([`World::stored_body`]); `None` for bodies that
    /// forces do not move. The numbers are those of the present state: they say nothing of the next step. For pictures.
    pub fn islands(&self) -> Vec<Option<u32>> {
        let mut numbers: Vec<Option<u32>> =
            (0..self.bodies.len).map(|slot| self.bodies.island(slot)).collect();
        let first = numbers.iter().flatten().max().map_or(0, |most| most + 1);
        let mut islands = Islands::default();
        islands.find(&self.bonds(), None, None);
        for (island, number) in islands.iter().zip(first..) {
            island.iter().for_each(|&[_, slot]| numbers[slot as usize] = Some(number));
        }
        numbers
    }

    /// The bodies that fell asleep in the last step, or by hand since the step before: island by island.
    pub fn sleep_events(&self) -> &[BodyHandle] {
        &self.sleep.fell_asleep
    }

    /// The bodies that woke in the last step, or by hand since the step before: island by island. A body that was removed while it
    /// slept is among them.
    pub fn wake_events(&self) -> &[BodyHandle] {
        &self.sleep.woken
    }
}

impl World {
    pub(super) fn bonds(&self) -> Bonds<'_> {
        Bonds {
            bodies: &self.bodies,
            contacts: &self.contacts,
            joints: &self.joints,
            links: &self.links,
            hulls: &self.hulls,
            hull_solver: &self.hull_solver,
        }
    }

    /// Returns true if the next step changes nothing: all that could move sleeps, and the host has changed nothing.
    pub(super) fn is_quiet(&self) -> bool {
        let rest = &self.sleep.rest;
        self.bodies.asleep_count > 0
            && rest.awake == 0
            && rest.driven == 0
            && self.list == ListState::Holds
            && self.is_listed()
            && !self.bodies.any_force
            && !self.unchecked
            && self.sleep.placed.is_empty()
            && !self.bodies.own.has_targets()
            && !self.links.changed
            && !self.hulls.changed
            && !self.hulls.renumbered
            && self.fault.is_none()
    }

    /// Takes a step in which nothing moves. Its events are those that the host's own edits cause.
    pub(super) fn rest_on(&mut self) {
        self.contacts.begin.clear();
        self.contacts.end.clear();
        self.woken_contacts.clear();
        self.links.events.clear();
        self.joints.begin_step();
        self.sleep.end_step();
        self.rest_events();
    }

    /// Notes that a body is about to be changed by hand: wakes its island or, if it is a body that nothing moves, what rests on it. It begins
    /// anew to count for how long it has been at rest.
    pub(super) fn disturb(&mut self, slot: usize) {
        self.note_wall(slot);
        self.bodies.columns.begin_rest(slot);
        if self.bodies.asleep_count == 0 {
            return;
        }
        if self.bodies.is_asleep(slot) {
            return self.wake(slot);
        }
        let body = self.bodies.handle(slot);
        loop {
            let island = self.sleep.supported_by(body).next();
            let Some(island) = island else { return };
            self.wake_island(island);
        }
    }

    /// Notes that a body is new, or has another filter. If nothing moves it, it has no pairs with sleeping bodies that would tell
    /// that it touches them.
    pub(super) fn note_placed(&mut self, slot: usize) {
        self.note_wall(slot);
        if self.bodies.asleep_count > 0 {
            self.note_stirred(slot);
        }
    }

    /// Notes that a body is elsewhere, or has another shape. If nothing moves it, it wakes what it touches, as in
    /// [`World::note_placed`], and what touches it in the next step is not at rest there.
    pub(super) fn note_stirred(&mut self, slot: usize) {
        let counts = self.settings.sleep || self.bodies.asleep_count > 0;
        if counts && self.bodies.columns.inv_mass[slot] == 0.0 {
            self.sleep.placed.push(self.bodies.handle(slot));
        }
    }

    /// Wakes the island of a body, if it sleeps. The body begins anew to count for how long it has been at rest.
    pub(super) fn wake(&mut self, slot: usize) {
        self.bodies.columns.begin_rest(slot);
        if let Some(island) = self.bodies.island(slot) {
            self.wake_island(island);
        }
    }

    /// Wakes the islands of these bodies.
    pub(super) fn wake_bodies(&mut self, bodies: impl IntoIterator<Item = BodyHandle>) {
        for body in bodies {
            if let Ok(slot) = self.bodies.slot_of(body) {
                self.wake(slot);
            }
        }
    }

    /// Wakes the islands of the bodies that a joint, or the joints of a gear, join. They begin anew to count for how long they have been at rest.
    pub(super) fn wake_joint(&mut self, desc: &JointDesc) {
        self.wake_bodies(self.joints.bodies_of_any(desc).into_iter().flatten());
    }

    /// Wakes all bodies.
    pub(super) fn wake_all(&mut self) {
        let islands: Vec<u32> = self.sleep.iter().map(|(number, _)| number).collect();
        islands.into_iter().for_each(|island| self.wake_island(island));
    }

    fn wake_island(&mut self, number: u32) {
        let mut island = self.sleep.take(number);
        for &body in &island.members {
            let Ok(slot) = self.bodies.slot_of(body) else { continue };
            self.bodies.wake(slot);
            self.links.mass_changed(body);
            self.sleep.note_awake(body);
        }
        self.contacts.unpark(&mut island.contacts);
        if let Some(points) = self.sleeping_contacts.get_mut(number as usize) {
            self.woken_contacts.append(points);
        }
        self.hull_solver.unpark(&mut island.hulls);
        let h = self.settings.substep();
        for joint in island.joints.drain(..) {
            self.joint_solver.unpark(joint, &mut self.joints, &self.bodies, h);
        }
        self.sleep.give_back(number, island);
        self.list = ListState::Void;
        // The last step did not count these bodies as awake.
        self.sleep.rest.awake += 1;
    }

    /// Returns true if no body sleeps.
    pub(super) fn is_wide_awake(&self) -> bool {
        self.bodies.asleep_count == 0
    }

    /// Returns true if nothing can fall asleep, and there are no sensors.
    pub(super) fn stays_awake(&self) -> bool {
        !self.settings.sleep && self.bodies.sensors.is_empty()
    }

    /// Runs at the start of the step. Wakes what is touched by bodies that contacts do not move: those that the host has placed, and those
    /// that move by themselves.
    pub(super) fn wake_in_time(&mut self, _: &Crew<'_>) {
        self.aim();
        self.woken_contacts.clear();
        let mut placed = std::mem::take(&mut self.sleep.placed);
        if self.bodies.asleep_count > 0 {
            let mut touched = std::mem::take(&mut self.sleep.touched);
            touched.clear();
            for &body in &placed {
                if let Ok(slot) = self.bodies.slot_of(body) {
                    self.find_sleepers_near(slot, &mut touched);
                }
            }
            let still = self.bodies.still();
            for slot in (0..still.start).chain(still.end..self.bodies.len) {
                if self.bodies.is_driven(slot) && self.bodies.columns.kind[slot].is_collidable() {
                    self.find_sleepers_near(slot, &mut touched);
                }
            }
            self.wake_islands(touched);
        }
        std::mem::swap(&mut self.sleep.stirred, &mut placed);
        // What goes to a target has no velocity any more when bodies that have come to rest are looked for.
        let c = &self.bodies.columns;
        let aimed = self.bodies.own.targets().filter_map(|(index, _)| self.bodies.slot_at(index));
        let aimed = aimed.filter(|&slot| [c.vel_x[slot], c.vel_y[slot], c.omega[slot]] != [0.0; 3]);
        self.sleep.stirred.extend(aimed.map(|slot| c.handle[slot]));
        self.sleep.stirred.sort_unstable();
        placed.clear();
        self.sleep.placed = placed;
    }

    /// Wakes these islands within a step. The step's list takes over their contacts. Keeps the memory of `islands`.
    fn wake_islands(&mut self, mut islands: Vec<u32>) {
        islands.sort_unstable();
        islands.dedup();
        islands.iter().for_each(|&island| self.wake_island(island));
        self.woken_contacts.clear();
        self.sleep.touched = islands;
    }

    /// Finds the islands of sleeping bodies that a body touches, or would after a step at its velocity.
    fn find_sleepers_near(&self, slot: usize, touched: &mut Vec<u32>) {
        let c = &self.bodies.columns;
        let motion = self.bodies.velocity(slot).length() + c.omega[slot].abs() * c.furthest[slot];
        let leeway = self.settings.time_step * motion + self.settings.slop;
        let mut look = |other: usize| {
            if let Some(island) = self.bodies.island(other) {
                let (a, b) = (slot.min(other), slot.max(other));
                let mut near = false;
                self.visit_pairs(a, b, &mut |pair| near |= self.separation(pair) <= leeway);
                if near {
                    touched.push(island);
                }
            }
            true
        };
        if c.kind[slot].shape() == ShapeKind::HalfSpace {
            (0..self.bodies.len).for_each(|other| _ = look(other));
            return;
        }
        let (position, reach) = (self.bodies.position(slot), self.bodies.bounds(slot) + Vec2::splat(leeway));
        self.bodies_near(position - reach, position + reach, look);
    }

    /// Finds the islands that hulls touch, and those of hulls that something touches.
    fn find_touched_hulls(&mut self, touched: &mut Vec<Touched>, crew: &Crew<'_>) {
        if self.hulls.len() == 0 {
            return;
        }
        let mut solver = std::mem::take(&mut self.hull_solver);
        let banded = self.list_elsewhere(&mut solver);
        solver.find_touched(
            &self.hulls,
            &self.bodies,
            &self.settings,
            Stirred(&self.sleep.stirred),
            &self.solver.mirror.vel,
            (self.level, crew),
            |lower, upper, visit| self.visit_listed(banded, lower, upper, visit),
            touched,
        );
        self.hull_solver = solver;
    }

    /// Runs at the end of the step. Counts for how long bodies have been at rest, and puts islands to sleep. Then finds what is in the sensors.
    pub(super) fn fall_asleep_at_rest(&mut self, crew: &Crew<'_>) {
        if self.settings.sleep {
            let movements = &self.solver.mirror.pose;
            self.sleep.rest = self.bodies.count_rest(&self.settings, movements, self.level, crew);
            self.stir_struck();
            self.stir_driven();
            self.look_for_sleep();
        }
        self.sleep.end_step();
        self.find_overlaps(crew);
    }

    /// What a body that moves by its own velocity has come to touch, or left, begins anew to count for how long it has been at rest. (A hammer tapped
    /// a pendulum three times in a second: after four seconds the pendulum fell asleep beside it, out of its reach.)
    fn stir_struck(&mut self) {
        if self.sleep.rest.driven == 0 && self.sleep.stirred.is_empty() {
            return;
        }
        for event in self.contacts.begin.iter().chain(&self.contacts.end) {
            for [struck, by] in [[event.a, event.b], [event.b, event.a]] {
                let [Ok(struck), Ok(slot)] = [struck, by].map(|body| self.bodies.slot_of(body)) else {
                    continue;
                };
                // What goes to a target has no velocity any more. A dynamic body that was put elsewhere while it was disabled is among these, too.
                let is_aimed =
                    || self.sleep.stirred.binary_search(&by).is_ok() && !self.bodies.is_movable(slot);
                if self.bodies.is_driven(slot) || is_aimed() {
                    self.bodies.columns.begin_rest(struck);
                }
            }
        }
    }

    /// What a motor moves begins anew to count for how long it has been at rest. (What it moved more slowly than the threshold stopped after half a second. When that
    /// was asked only as an island was about to sleep, an arm that pushed a box along a floor stopped for ever if its box just stuck.)
    fn stir_driven(&mut self) {
        for joint in self.joints.driving() {
            let slots = joint.bodies().map(|body| body.and_then(|body| self.bodies.slot_of(body).ok()));
            let is_slow =
                |&slot: &usize| self.bodies.columns.rest[slot] > 0.0 || self.bodies.columns.stay[slot] > 0.0;
            if slots.into_iter().flatten().any(|slot| is_slow(&slot)) && self.joint_drives(joint) {
                slots.into_iter().flatten().for_each(|slot| self.bodies.columns.begin_rest(slot));
            }
        }
    }

    fn look_for_sleep(&mut self) {
        let rest = self.sleep.rest;
        self.sleep.wait = self.sleep.wait.saturating_sub(1);
        let restless = rest.awake - rest.ready;
        self.sleep.restless = self.sleep.restless.max(restless);
        // All are ready, and were not at the last search. (Tried and dropped: when nearly all are, or the list is due: more islands fall asleep in turns, each with a new list.)
        let soon = restless == 0 && self.sleep.restless > 0;
        if rest.ready == 0 || self.sleep.wait > 0 && !soon {
            return;
        }
        let due = matches!(self.list, ListState::Void | ListState::Expired) || self.sleep.tries >= PATIENCE;
        let enough = |bodies: usize| due || WORTHWHILE * bodies >= rest.awake as usize;
        self.sleep.restless = restless;
        if !enough(rest.ready as usize) {
            return self.try_later();
        }
        let mut finder = std::mem::take(&mut self.sleep.finder);
        // What the projection solver pushes apart has no speed of its own: crowded circles fell asleep with overlaps of 0.4 m.
        let is_soft = self.settings.solver == Solver::Soft;
        let deepest = if is_soft { f32::INFINITY } else { 8.0 * self.settings.slop };
        let (weight, is_moved) = (&|slot| self.weight(slot), &|slot| self.is_moved(slot));
        let rest = AtRest { weight, is_moved, deepest, stirred: &self.sleep.stirred };
        let is_ready = |slot: usize| self.bodies.is_ready(slot, &self.settings);
        finder.find(&self.bonds(), Some(&is_ready), Some(rest));
        let sleepers = finder.body_count();
        if sleepers > 0 && enough(sleepers) {
            (self.sleep.wait, self.sleep.tries) = (WAIT, 0);
            self.fall_asleep(finder.iter());
        } else {
            self.try_later();
        }
        self.sleep.finder = finder;
    }

    /// The weight of a body in units of gravity: 0 if gravity does not pull it, and `None` if its locks or the limit of its speed hold it. (A body
    /// that has only begun to fall is slow, too: a crate whose floor was removed hung in the air if islands were looked for in that step, and so did
    /// one that fell by 0.1 m/s².)
    fn weight(&self, slot: usize) -> Option<f32> {
        let c = &self.bodies.columns;
        let pull = c.gravity_scale[slot] * self.settings.gravity;
        let limits = self.bodies.own.limits(self.bodies.handle(slot).index);
        let is_pulled = pull != Vec2::ZERO;
        let moves = pull.x != 0.0 && !limits.lock_x || pull.y != 0.0 && !limits.lock_y;
        let falls = moves && limits.max_speed > 0.0;
        let weight = if is_pulled { c.gravity_scale[slot] / c.inv_mass[slot] } else { 0.0 };
        (falls || !is_pulled).then_some(weight)
    }

    /// Returns true if the last step moved a body faster than one may move that is at rest. (What joints pull to its place has no speed of its own,
    /// and slept on its way: test `what_a_joint_pulls_stays_awake`.)
    fn is_moved(&self, slot: usize) -> bool {
        if self.bodies.stays(slot, &self.settings) {
            return false;
        }
        let threshold = self.bodies.sleep_limits(slot).threshold.unwrap_or(self.settings.sleep_threshold);
        self.bodies.is_moved(slot, &self.solver.mirror.pose[slot], threshold * self.settings.time_step)
    }

    fn try_later(&mut self) {
        self.sleep.wait = (WAIT << self.sleep.tries.min(8)).min(MOST_WAIT);
        self.sleep.tries = self.sleep.tries.saturating_add(1);
    }
}

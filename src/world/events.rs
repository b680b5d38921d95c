//! Events that a host has to ask for: hits, moved bodies, and joints under a large force.
//!
//! ```text
//! after the narrowphase:   contacts that are struck are noted         (contacts/strikes.rs)
//!                          angles are noted, if moves are asked for
//! after the solver:        hits, moves and forces of joints, from what was noted
//! ```
//!
//! Each list is in an order that depends on the scene alone. Nothing here changes the state of the world.

use super::World;
use crate::base::room::room_for;
use crate::body::BodyHandle;
use crate::contacts::Tile;
use crate::crew::{CHUNK, Crew, SharedSlice};
use crate::error::{Error, check_range};
use crate::joints::desc::JointHandle;
use crate::joints::table::Joint;
use crate::lane::with_lanes;
use crate::solver::joints::Loaded;
use glam::Vec2;
use std::ops::Range;

/// Two shapes that struck each other in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitEvent {
    /// One body.
    pub a: BodyHandle,
    /// The other.
    pub b: BodyHandle,
    /// The number of `a`'s shape among its [`World::parts`]; 0 for a body of one shape.
    pub part_a: u8,
    /// The number of `b`'s shape.
    pub part_b: u8,
    /// The point of the contact that approached fastest, midway between the surfaces, at the start of the step, m.
    pub point: Vec2,
    /// The unit vector from `a` to `b`, normal to the surfaces, at the start of the step.
    pub normal: Vec2,
    /// The speed at which the surfaces approached each other at `point`, along the normal, at the start of the step, m/s.
    pub approach_speed: f32,
    /// The sum of the contact's normal impulses over all substeps of the step, at both of its points if it has two, N·s.
    pub impulse: f32,
}

/// A body that the last step moved, and where it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveEvent {
    /// The body.
    pub body: BodyHandle,
    /// Position of the centre, m.
    pub position: Vec2,
    /// Angle, counter-clockwise, rad, in [−π, π].
    pub angle: f32,
    /// Whole turns in addition to the angle: see [`BodyState`](crate::BodyState).
    pub turns: i32,
}

/// A joint that bore more than its threshold in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointForceEvent {
    /// The joint.
    pub joint: JointHandle,
    /// The joint's tag.
    pub tag: u64,
    /// The amount of the force on B in the last substep, N.
    pub force: f32,
    /// The amount of the torque on B in the last substep, N·m.
    pub torque: f32,
}

impl JointForceEvent {
    fn of(joint: JointHandle, of_joint: &Joint, (force, torque): (Vec2, f32)) -> JointForceEvent {
        JointForceEvent { joint, tag: of_joint.desc.tag, force: force.length(), torque: torque.abs() }
    }

    /// The event, if the force is not below a threshold.
    fn at_least(self, threshold: f32) -> Option<JointForceEvent> {
        (self.force >= threshold).then_some(self)
    }
}

/// What the host has asked for, by body or joint and for all; and the events of the last step.
#[derive(Clone, Default)]
pub(super) struct Watch {
    hits: Thresholds<BodyHandle>,
    hit_events: Vec<HitEvent>,
    /// True if strikes were noted in this step.
    struck: bool,
    /// True if tiles have noted strikes, which they keep until the next step.
    noted: bool,
    move_all: bool,
    movers: Vec<BodyHandle>,
    /// The first `moved` are the events. What follows is memory.
    move_events: Vec<MoveEvent>,
    moved: usize,
    /// The angles at the start of the step, by slot.
    angles: Vec<f32>,
    /// The number of bodies of each chunk that have moved.
    counts: Vec<usize>,
    forces: Thresholds<JointHandle>,
    force_events: Vec<JointForceEvent>,
    loaded: Loaded,
}

/// Thresholds of single bodies or joints, in order, and one for all.
#[derive(Clone)]
struct Thresholds<H> {
    all: Option<f32>,
    single: Vec<(H, f32)>,
}

impl<H> Default for Thresholds<H> {
    fn default() -> Self {
        Thresholds { all: None, single: Vec::new() }
    }
}

impl<H: Copy + Ord> Thresholds<H> {
    fn is_empty(&self) -> bool {
        self.all.is_none() && self.single.is_empty()
    }

    fn set(&mut self, one: H, threshold: Option<f32>) {
        match (self.single.binary_search_by_key(&one, |(known, _)| *known), threshold) {
            (Ok(place), Some(threshold)) => self.single[place].1 = threshold,
            (Ok(place), None) => _ = self.single.remove(place),
            (Err(place), Some(threshold)) => self.single.insert(place, (one, threshold)),
            (Err(_), None) => {}
        }
    }

    fn of(&self, one: H) -> Option<f32> {
        self.single.binary_search_by_key(&one, |(known, _)| *known).ok().map(|place| self.single[place].1)
    }

    /// The least threshold of all; infinite if there is none.
    fn least(&self) -> f32 {
        let single = self.single.iter().map(|(_, threshold)| *threshold);
        single.chain(self.all).fold(f32::INFINITY, f32::min)
    }
}

impl Watch {
    /// Moves the origin by a vector.
    pub(super) fn shift(&mut self, by: Vec2) {
        self.hit_events.iter_mut().for_each(|event| event.point -= by);
        self.move_events.iter_mut().for_each(|event| event.position -= by);
    }

    /// Returns true if the solver has to add up the impulses of strikes.
    pub(super) fn has_strikes(&self) -> bool {
        self.struck
    }

    /// Returns true if nothing is asked for, and no event is left from earlier.
    fn is_idle(&self) -> bool {
        let asked = !self.hits.is_empty() || self.wants_moves() || !self.forces.is_empty() || self.noted;
        !asked && self.hit_events.is_empty() && self.moved == 0 && self.force_events.is_empty()
    }

    fn wants_moves(&self) -> bool {
        self.move_all || !self.movers.is_empty()
    }
}

impl World {
    /// Asks for [`World::hit_events`] of all bodies: from this approach speed on, m/s, in 0..=1e6. `None`, the default, asks for none.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`]
    pub fn set_hit_events(&mut self, threshold: Option<f32>) -> Result<(), Error> {
        check_range("threshold", threshold.unwrap_or(0.0), 0.0, 1.0e6)?;
        self.watch.hits.all = threshold;
        Ok(())
    }

    /// The approach speed from which on [`World::hit_events`] reports hits of all bodies, m/s: see [`World::set_hit_events`].
    pub fn hit_threshold(&self) -> Option<f32> {
        self.watch.hits.all
    }

    /// Asks for [`World::hit_events`] of one body, with whatever it hits: from this approach speed on, m/s, in 0..=1e6. The least of the
    /// thresholds of the two bodies and of the world counts.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], [`Error::OutOfRange`]
    pub fn set_body_hit_events(&mut self, body: BodyHandle, threshold: Option<f32>) -> Result<(), Error> {
        self.bodies.slot_of(body)?;
        check_range("threshold", threshold.unwrap_or(0.0), 0.0, 1.0e6)?;
        self.watch.hits.set(body, threshold);
        Ok(())
    }

    /// The approach speed from which on [`World::hit_events`] reports hits of this body, m/s, if it has one of its own: see
    /// [`World::set_body_hit_events`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn body_hit_threshold(&self, body: BodyHandle) -> Result<Option<f32>, Error> {
        self.bodies.slot_of(body)?;
        Ok(self.watch.hits.of(body))
    }

    /// The contacts that were struck in the last step, as far as you asked for them ([`World::set_hit_events`],
    /// [`World::set_body_hit_events`]), in the order of [`World::contacts`].
    ///
    /// Two shapes strike each other in a step if they touch in it, approach each other at its start at the threshold or faster, and push each
    /// other. With a threshold of 0 that includes contacts at rest. A body that falls on the ground and stays strikes it once; one
    /// that bounces, once each time. A body on the ground that is pressed on it from above does not strike it: it does not
    /// approach it. Hulls have no hits.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 3.7)))?;
    /// world.set_hit_events(Some(1.0))?;
    /// let mut hits = Vec::new();
    /// for _ in 0..120 {
    ///     world.step();
    ///     hits.extend_from_slice(world.hit_events());
    /// }
    /// assert_eq!(hits.len(), 1);
    /// assert!((hits[0].approach_speed - 8.0).abs() < 0.2); // √(2·g·h)
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn hit_events(&self) -> &[HitEvent] {
        &self.watch.hit_events
    }

    /// Asks for [`World::move_events`] of all bodies, or no longer. Default: no.
    pub fn set_move_events(&mut self, on: bool) {
        self.watch.move_all = on;
    }

    /// Tells whether [`World::move_events`] reports all bodies: see [`World::set_move_events`].
    pub fn reports_moves(&self) -> bool {
        self.watch.move_all
    }

    /// Asks for [`World::move_events`] of one body, or no longer.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn set_body_move_events(&mut self, body: BodyHandle, on: bool) -> Result<(), Error> {
        self.bodies.slot_of(body)?;
        match (self.watch.movers.binary_search(&body), on) {
            (Err(place), true) => self.watch.movers.insert(place, body),
            (Ok(place), false) => _ = self.watch.movers.remove(place),
            _ => {}
        }
        Ok(())
    }

    /// Tells whether you asked for [`World::move_events`] of this body: see [`World::set_body_move_events`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn reports_moves_of(&self, body: BodyHandle) -> Result<bool, Error> {
        self.bodies.slot_of(body)?;
        Ok(self.watch.movers.binary_search(&body).is_ok())
    }

    /// The bodies whose position or angle differs from that at the start of the last step, as far as you asked for them
    /// ([`World::set_move_events`], [`World::set_body_move_events`]). If you asked for all, they are in the order of storage, which is that of
    /// [`World::columns`], else in the order of their handles.
    ///
    /// Only the step counts, not where you put bodies yourself. Sleeping bodies are not among them.
    pub fn move_events(&self) -> &[MoveEvent] {
        &self.watch.move_events[..self.watch.moved]
    }

    /// Asks for [`World::joint_force_events`] of all joints: from this force on, N, in 0..=1e30. `None`, the default, asks for none.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`]
    pub fn set_joint_force_events(&mut self, threshold: Option<f32>) -> Result<(), Error> {
        check_range("threshold", threshold.unwrap_or(0.0), 0.0, Self::MAX_FORCE)?;
        self.watch.forces.all = threshold;
        Ok(())
    }

    /// The force from which on [`World::joint_force_events`] reports any joint, N: see [`World::set_joint_force_events`].
    pub fn common_joint_force_threshold(&self) -> Option<f32> {
        self.watch.forces.all
    }

    /// Asks for [`World::joint_force_events`] of one joint: from this force on, N, in 0..=1e30, whatever holds for all joints.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`], [`Error::OutOfRange`]
    pub fn set_joint_force_threshold(
        &mut self,
        joint: JointHandle,
        threshold: Option<f32>,
    ) -> Result<(), Error> {
        self.joints.get(joint)?;
        check_range("threshold", threshold.unwrap_or(0.0), 0.0, Self::MAX_FORCE)?;
        self.watch.forces.set(joint, threshold);
        Ok(())
    }

    /// The force from which on [`World::joint_force_events`] reports this joint, N, if it has a threshold of its own: see
    /// [`World::set_joint_force_threshold`].
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn joint_force_threshold(&self, joint: JointHandle) -> Result<Option<f32>, Error> {
        self.joints.get(joint)?;
        Ok(self.watch.forces.of(joint))
    }

    /// The joints that bore their threshold or more in the last step, as far as you asked for them ([`World::set_joint_force_events`],
    /// [`World::set_joint_force_threshold`]), by handle index. Such a joint is reported in each step. Joints that broke are in
    /// [`World::joint_events`]; joints of sleeping bodies are not reported.
    ///
    /// The force is that of the last substep, as in [`World::joint_state`]: a blow that is over before is not seen.
    pub fn joint_force_events(&self) -> &[JointForceEvent] {
        &self.watch.force_events
    }

    /// Notes what the events need to know of the start of the step.
    pub(super) fn watch_step(&mut self, crew: &Crew<'_>) {
        let watch = &mut self.watch;
        if !watch.hits.single.is_empty() {
            watch.hits.single.retain(|(body, _)| self.bodies.slot_of(*body).is_ok());
        }
        watch.struck = !watch.hits.is_empty();
        if watch.struck {
            let (vel, least) = (&self.solver.mirror.vel, watch.hits.least());
            let find = |tile: &mut Tile| {
                with_lanes!(self.level, L => tile.find_strikes::<L>(vel, least));
            };
            let (tiles, overflow) = self.contacts.split_tiles();
            crew.for_each(tiles, |_, tile| find(tile));
            find(overflow);
            watch.noted = true;
        }
        if watch.wants_moves() {
            watch.angles.clear();
            watch.angles.extend_from_slice(&self.bodies.columns.angle[..self.bodies.len]);
        }
    }

    /// Writes the events that the host has asked for, after the solver.
    pub(super) fn report(&mut self, crew: &Crew<'_>) {
        if self.watch.is_idle() {
            return;
        }
        let mut watch = std::mem::take(&mut self.watch);
        self.report_hits(&mut watch);
        if watch.hits.is_empty() && std::mem::take(&mut watch.noted) {
            self.contacts.all_mut().for_each(Tile::forget_strikes);
        }
        watch.moved = 0;
        if watch.move_all {
            self.report_moves(&mut watch, crew);
        } else if !watch.movers.is_empty() {
            watch.movers.retain(|&body| self.bodies.slot_of(body).is_ok());
            if watch.move_events.len() < watch.movers.len() {
                watch.move_events.resize(watch.movers.len(), MoveEvent::default());
            }
            for body in &watch.movers {
                if let Ok(slot) = self.bodies.slot_of(*body) {
                    let event = &mut watch.move_events[watch.moved..][..1];
                    watch.moved += self.moved(slot..slot + 1, &watch.angles, event);
                }
            }
        }
        self.report_forces(&mut watch);
        self.watch = watch;
    }

    fn report_hits(&self, watch: &mut Watch) {
        watch.hit_events.clear();
        if !std::mem::take(&mut watch.struck) {
            return;
        }
        let strikes: usize = self.contacts.all().map(|tile| tile.strikes.len()).sum();
        room_for(&mut watch.hit_events, strikes);
        for tile in self.contacts.all() {
            for strike in &tile.strikes {
                let (block, lane) = (strike.block as usize, usize::from(strike.lane));
                let normal = &tile.normal[block];
                let [a, b] = [&normal.a, &normal.b].map(|at| self.bodies.handle(at[lane].row()));
                let threshold = watch.hits.all.into_iter().chain(watch.hits.of(a)).chain(watch.hits.of(b));
                let impulse = tile.impulse_of(strike);
                if impulse > 0.0 && threshold.fold(f32::INFINITY, f32::min) <= strike.speed {
                    let [part_a, part_b] = tile.parts_of(&self.bodies, block, lane);
                    let shape = &self.solver.mirror.shape;
                    watch.hit_events.push(HitEvent {
                        a,
                        b,
                        part_a,
                        part_b,
                        point: tile.place_of(&self.bodies, shape, (block, lane), strike.point.into()),
                        normal: Vec2::new(normal.normal_x[lane], normal.normal_y[lane]),
                        approach_speed: strike.speed,
                        impulse,
                    });
                }
            }
        }
    }

    /// Writes where the bodies in these slots are that moved in this step to the first of as many events. Returns their number.
    fn moved(&self, slots: Range<usize>, angles: &[f32], events: &mut [MoveEvent]) -> usize {
        let (c, mirror) = (&self.bodies.columns, &self.solver.mirror);
        let count = slots.len();
        // All of one length, so that no element is checked.
        macro_rules! of_slots {
            ($($column:expr),*) => { ($(&$column[slots.clone()][..count],)*) };
        }
        let (x, y, angle, turns, body) = of_slots!(c.pos_x, c.pos_y, c.angle, c.turns, c.handle);
        let (from, by, old) = of_slots!(mirror.shape, mirror.pose, angles);
        let events = &mut events[..count];
        let mut found = 0;
        for i in 0..count {
            // The row of a half-space, which does not move, is no place.
            let [by_x, by_y, by_angle, _] = by[i].0;
            let moved = (by_x != 0.0) & (x[i] != from[i].0[0]) | (by_y != 0.0) & (y[i] != from[i].0[1]);
            if moved | (by_angle != 0.0) & (angle[i] != old[i]) {
                let position = Vec2::new(x[i], y[i]);
                events[found] = MoveEvent { body: body[i], position, angle: angle[i], turns: turns[i] };
                found += 1;
            }
        }
        found
    }

    fn report_moves(&self, watch: &mut Watch, crew: &Crew<'_>) {
        let len = self.solver.mirror.bodies.min(self.bodies.len);
        let Watch { move_events, moved, angles, counts, .. } = watch;
        if move_events.len() < len {
            move_events.resize(len, MoveEvent::default());
        }
        counts.clear();
        counts.resize(len.div_ceil(CHUNK), 0);
        let range = |chunk: usize| chunk * CHUNK..len.min((chunk + 1) * CHUNK);
        // Each chunk writes to the place of its slots.
        let events = SharedSlice::new(move_events);
        crew.for_each(counts, |chunk, count| {
            #[allow(unsafe_code)]
            // SAFETY: each chunk is given to one task, and writes the places of its own slots.
            let events = unsafe { events.range(range(chunk)) };
            *count = self.moved(range(chunk), angles, events);
        });
        for (chunk, count) in counts.iter().enumerate() {
            let first = chunk * CHUNK;
            if first != *moved {
                move_events.copy_within(first..first + count, *moved);
            }
            *moved += count;
        }
    }

    fn report_forces(&self, watch: &mut Watch) {
        let Watch { forces, force_events, loaded, .. } = watch;
        force_events.clear();
        if forces.is_empty() || self.joint_solver.is_empty() {
            return;
        }
        match forces.all {
            Some(all) => {
                let wanted = (self.joints.capacity(), forces.least());
                self.joint_solver.find_loaded(self.level, wanted, loaded, |index, force, torque| {
                    let Some((joint, of_joint)) = self.joints.at(index) else { return };
                    let own = forces.of(joint);
                    let event = JointForceEvent::of(joint, of_joint, (force, torque));
                    force_events.extend(event.at_least(own.unwrap_or(all)));
                });
            }
            None => {
                forces.single.retain(|(joint, _)| self.joints.get(*joint).is_ok());
                for &(joint, threshold) in &forces.single {
                    let Ok(of_joint) = self.joints.get(joint) else { continue };
                    if of_joint.place.is_some() {
                        let reaction = self.joint_solver.reaction(of_joint);
                        let event = JointForceEvent::of(joint, of_joint, reaction);
                        force_events.extend(event.at_least(threshold));
                    }
                }
            }
        }
    }

    /// Ends a step in which nothing moved.
    pub(super) fn rest_events(&mut self) {
        self.watch.hit_events.clear();
        self.watch.moved = 0;
        self.watch.force_events.clear();
        self.rest_sensors();
    }
}

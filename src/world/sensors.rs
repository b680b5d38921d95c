//! Sensors: what is in them, and the events when something comes and goes.
//!
//! ```text
//! at the end of a step, for each sensor:   the bodies near its box           (the same search as queries: query.rs)
//!                                          those that overlap it             (in f64: query/solid.rs)
//! all of them in order, next to those of the step before: begin and end events
//! ```
//!
//! The sensors of a world are shared among the threads, one by one. Each writes to a list of its own.

use super::World;
use super::pairs::ListState;
use super::query::solid::Solid;
use super::record::Call;
use crate::base::room::at_least;
use crate::body::BodyHandle;
use crate::crew::Crew;
use crate::error::Error;
use crate::geometry::shape::ShapeKind;
use glam::Vec2;

/// A body that overlaps a sensor, or has begun or ceased to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SensorEvent {
    /// The body that has the sensor.
    pub sensor: BodyHandle,
    /// The number of the sensor among the body's [`World::parts`]; 0 for a body of one shape.
    pub part: u8,
    /// The other body. At least one of its shapes overlaps the sensor.
    pub visitor: BodyHandle,
}

/// What is in the sensors. The overlaps are state: the next step's events depend on them.
#[derive(Clone, Default)]
pub(super) struct Sensing {
    /// As of the end of the last step, in order.
    overlaps: Vec<SensorEvent>,
    begin: Vec<SensorEvent>,
    end: Vec<SensorEvent>,
    /// Memory: the overlaps of the step before; the bodies with sensors; for each of them, what is in its sensors.
    before: Vec<SensorEvent>,
    bodies: Vec<BodyHandle>,
    found: Vec<Vec<(u8, BodyHandle)>>,
}

crate::base::codec::stored!(SensorEvent = SensorEvent {
    sensor: BodyHandle::default(),
    part: 0,
    visitor: BodyHandle::default(),
}; { sensor, part, visitor });
crate::base::codec::stored!(Sensing { overlaps, begin, end } scratch { before, bodies, found });

impl Sensing {
    /// Finds the events from the overlaps of the last step and of this one.
    fn compare(&mut self) {
        let Sensing { overlaps, begin, end, before, .. } = self;
        for events in [&mut *begin, &mut *end] {
            events.clear();
            events.reserve(overlaps.capacity().max(before.capacity()));
        }
        let (mut old, mut new) = (before.iter().peekable(), overlaps.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (Some(gone), Some(come)) if gone == come => {
                    old.next();
                    new.next();
                }
                (Some(gone), come) if come.is_none_or(|come| gone < come) => {
                    end.push(**gone);
                    old.next();
                }
                (_, Some(come)) => {
                    begin.push(**come);
                    new.next();
                }
                (_, None) => return,
            }
        }
    }
}

/// So many shapes in a sensor need no more memory: their number changes from step to step.
const CROWD: usize = 64;

impl World {
    /// Whether a body's shape is a sensor (of a compound: whether its first part is one). [`World::parts`] says so of each part.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn is_sensor(&self, body: BodyHandle) -> Result<bool, Error> {
        Ok(self.bodies.is_sensor(self.bodies.slot_of(body)?))
    }

    /// Makes all shapes of a body sensors, or shapes that touch others. Contacts of what becomes a sensor end in the next step.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]; a particle.
    pub fn set_sensor(&mut self, body: BodyHandle, sensor: bool) -> Result<(), Error> {
        self.record_of(body, || Call::SetSensor(body, sensor));
        let slot = self.bodies.slot_of(body)?;
        if sensor && self.bodies.columns.kind[slot].is_particle() {
            return Err(Error::Invalid { field: "sensor", reason: "a particle cannot be one" });
        }
        self.disturb(slot);
        self.note_placed(slot);
        self.broadphase.note_edit(&self.bodies, slot);
        self.bodies.set_sensor(slot, sensor);
        self.list = ListState::Void;
        Ok(())
    }

    /// The bodies that have come into a sensor in the last step: in the order of the sensors' handles, then of parts, then of the other
    /// bodies' handles.
    ///
    /// A *sensor* is a shape that reports what overlaps it and touches nothing: a whole body ([`BodyDesc::sensor`](crate::BodyDesc::sensor)) or a part of
    /// one ([`Part::sensor`](crate::Part::sensor)), of a static, kinematic or dynamic body. It sees shapes of static, kinematic and dynamic bodies that its filter lets it
    /// touch, awake or asleep, and particles. It does not see other sensors, its own body, nor what is quarantined; joints make no
    /// difference to it. Of a hull it sees the particles. It keeps nothing awake, wakes nothing, and stops no fast body. Two half-spaces never overlap. A dynamic body of
    /// sensors has its mass and falls through the floor.
    ///
    /// What overlaps is looked at once a step, at its end: shapes that touch at an edge overlap. So a body that passes a thin sensor within a
    /// step is not seen.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let gate = BodyDesc::fixed(Shape::oriented_box(1.0, 0.5), Vec2::ZERO);
    /// let gate = world.add_body(&BodyDesc { sensor: true, ..gate })?;
    /// let ball = world.add_body(&BodyDesc::dynamic(Shape::circle(0.25), Vec2::new(0.0, 2.0)))?;
    /// let (mut came, mut went) = (0, 0);
    /// for _ in 0..90 {
    ///     world.step();
    ///     came += world.sensor_begin_events().len();
    ///     went += world.sensor_end_events().len();
    ///     for overlap in world.overlaps_of(gate)? {
    ///         assert_eq!(overlap.visitor, ball);
    ///     }
    /// }
    /// assert_eq!((came, went), (1, 1));
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn sensor_begin_events(&self) -> &[SensorEvent] {
        &self.sensing.begin
    }

    /// The bodies that have left a sensor in the last step, in the same order. They may have been removed since, and so may the
    /// sensors.
    pub fn sensor_end_events(&self) -> &[SensorEvent] {
        &self.sensing.end
    }

    /// What is in the sensors of a body, as of the end of the last step: by part, then by handle. Empty for a body without sensors.
    ///
    /// # Errors
    ///
    /// [`Error::StaleHandle`]
    pub fn overlaps_of(&self, sensor: BodyHandle) -> Result<&[SensorEvent], Error> {
        self.bodies.slot_of(sensor)?;
        let overlaps = &self.sensing.overlaps;
        let first = overlaps.partition_point(|overlap| overlap.sensor < sensor);
        let after = overlaps.partition_point(|overlap| overlap.sensor <= sensor);
        Ok(&overlaps[first..after])
    }

    /// Runs at the end of the step. Reads the bodies. Writes what is in the sensors, and the events.
    pub(super) fn find_overlaps(&mut self, crew: &Crew<'_>) {
        if self.bodies.sensors.is_empty() && self.sensing.overlaps.is_empty() {
            self.rest_sensors();
            return;
        }
        let mut sensing = std::mem::take(&mut self.sensing);
        sensing.bodies.clear();
        sensing.bodies.extend(self.bodies.sensors.iter());
        let Sensing { bodies, found, .. } = &mut sensing;
        let count = bodies.len();
        if found.len() < count {
            found.resize_with(count, Vec::new);
        }
        let world = &*self;
        crew.for_each(&mut found[..count], |number, found| world.find_in_sensors(bodies[number], found));
        std::mem::swap(&mut sensing.before, &mut sensing.overlaps);
        sensing.overlaps.clear();
        for (&sensor, found) in sensing.bodies.iter().zip(&sensing.found) {
            let event = |&(part, visitor)| SensorEvent { sensor, part, visitor };
            sensing.overlaps.extend(found.iter().map(event));
        }
        sensing.compare();
        self.sensing = sensing;
    }

    /// Ends a step in which nothing came into a sensor, or left one.
    pub(super) fn rest_sensors(&mut self) {
        self.sensing.begin.clear();
        self.sensing.end.clear();
    }

    /// Finds what is in the sensors of a body, in order.
    fn find_in_sensors(&self, body: BodyHandle, found: &mut Vec<(u8, BodyHandle)>) {
        found.clear();
        let bodies = &self.bodies;
        let Ok(slot) = bodies.slot_of(body) else { return };
        if !bodies.columns.kind[slot].is_collidable() {
            return;
        }
        at_least(found, CROWD);
        for part in 0..bodies.shape_count(slot) {
            let Some(filter) = bodies.sensor_filter(slot, part) else { continue };
            let sensor = Solid::of(bodies, slot, part);
            let mut look = |other: usize| {
                let overlaps = |part: u8| {
                    filter.touches(&bodies.part_filter(other, part))
                        && sensor.depth(&Solid::of(bodies, other, part)) >= 0.0
                };
                if other != slot && (0..bodies.shape_count(other)).any(overlaps) {
                    found.push((part, bodies.handle(other)));
                }
                true
            };
            match sensor.bounds() {
                None => {
                    let solid = |slot: &usize| bodies.columns.kind[*slot].is_collidable();
                    (0..bodies.len).filter(solid).for_each(|other| _ = look(other));
                }
                Some([lower, upper]) => {
                    self.bodies_near(lower, upper, |other| {
                        !self.bounds_reach(other, lower, upper) || look(other)
                    });
                }
            }
        }
        found.sort_unstable();
    }

    /// Returns false if a body is sure not to reach into a box.
    fn bounds_reach(&self, slot: usize, lower: Vec2, upper: Vec2) -> bool {
        let c = &self.bodies.columns;
        let reach = match c.kind[slot].shape() {
            ShapeKind::HalfSpace => return true,
            _ if c.furthest[slot] > 0.0 => Vec2::splat(c.furthest[slot]),
            _ => Vec2::new(c.ext_x[slot], c.ext_y[slot]),
        };
        let position = self.bodies.position(slot);
        let reach = reach + 1.0e-6 * (position.abs() + reach);
        ((position - reach).cmple(upper) & (position + reach).cmpge(lower)).all()
    }

    /// Checks that overlaps are in order, and of sensors.
    pub(super) fn validate_overlaps(&self) -> Result<(), String> {
        let overlaps = &self.sensing.overlaps;
        if !overlaps.windows(2).all(|two| two[0] < two[1]) {
            return Err("the overlaps of sensors are not in order".to_owned());
        }
        match self.sensing.begin.iter().find(|event| overlaps.binary_search(event).is_err()) {
            Some(event) => Err(format!("{event:?} began and is not there")),
            None => Ok(()),
        }
    }
}

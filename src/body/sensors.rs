//! The bodies that have a shape that is a sensor.
//!
//! A sensor touches nothing, because its filter, as all stages of a step read it, is [`Filter::NOTHING`]. So no stage has a path of its own
//! for sensors. The filter that the host gave it is kept aside: of a body with one shape here, of a part with the part
//! (`Placed::sensor_filter`).

use super::{Bodies, BodyHandle, Filter};
use crate::base::ensure;
use crate::geometry::shape::ShapeKind;

/// A body with a sensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SensorBody {
    pub body: BodyHandle,
    /// The filter of its only shape. Not used for a compound.
    filter: Filter,
}

crate::base::codec::stored!(SensorBody = SensorBody { body: BodyHandle::NONE, filter: Filter::NOTHING }; { body, filter });

/// All bodies with sensors, in the order of their handles.
#[derive(Clone, Default)]
pub(crate) struct Sensors(Vec<SensorBody>);

crate::base::codec::stored!(Sensors { 0 });

impl Sensors {
    pub(crate) fn list(&self) -> &[SensorBody] {
        &self.0
    }

    fn place(&self, body: BodyHandle) -> Result<usize, usize> {
        self.0.binary_search_by_key(&body, |sensor| sensor.body)
    }

    fn get(&self, body: BodyHandle) -> Option<&SensorBody> {
        self.place(body).ok().map(|place| &self.0[place])
    }

    pub(super) fn filter_mut(&mut self, body: BodyHandle) -> Option<&mut Filter> {
        self.place(body).ok().map(|place| &mut self.0[place].filter)
    }

    fn add(&mut self, body: BodyHandle, filter: Filter) {
        if let Err(place) = self.place(body) {
            self.0.insert(place, SensorBody { body, filter });
        }
    }

    pub(super) fn remove(&mut self, body: BodyHandle) {
        if let Ok(place) = self.place(body) {
            self.0.remove(place);
        }
    }
}

impl Bodies {
    fn is_compound(&self, slot: usize) -> bool {
        self.columns.kind[slot].shape() == ShapeKind::Compound
    }

    /// Returns true if the body's shape, or the first of its parts, is a sensor.
    pub(crate) fn is_sensor(&self, slot: usize) -> bool {
        match self.parts(slot).first() {
            Some(first) => first.part.sensor,
            None => self.sensors.get(self.columns.handle[slot]).is_some(),
        }
    }

    /// The filter of a body as the host gave it.
    pub(crate) fn described_filter(&self, slot: usize) -> Filter {
        let alone = !self.is_compound(slot);
        let of_sensor = self.sensors.get(self.columns.handle[slot]).filter(|_| alone);
        of_sensor.map_or_else(|| self.filter(slot), |sensor| sensor.filter)
    }

    /// The filter of a shape of a body if it is a sensor. `part` is the number of the part, or 0.
    pub(crate) fn sensor_filter(&self, slot: usize, part: u8) -> Option<Filter> {
        match self.parts(slot).get(usize::from(part)) {
            Some(placed) => placed.sensor_filter,
            None => self.sensors.get(self.columns.handle[slot]).map(|sensor| sensor.filter),
        }
    }

    /// Makes all shapes of a body sensors, or shapes that touch others.
    pub(crate) fn set_sensor(&mut self, slot: usize, sensor: bool) {
        self.any_filter |= sensor;
        if self.is_compound(slot) {
            for placed in &mut self.compounds[self.columns.outline[slot] as usize].parts {
                let described = placed.described();
                placed.sensor_filter = sensor.then_some(described.filter);
                placed.part.sensor = sensor;
                placed.part.filter = if sensor { Filter::NOTHING } else { described.filter };
            }
            return self.note_sensor(slot);
        }
        let filter = self.described_filter(slot);
        let body = self.columns.handle[slot];
        self.sensors.remove(body);
        if sensor {
            self.sensors.add(body, filter);
        }
        self.set_columns_filter(slot, if sensor { Filter::NOTHING } else { filter });
    }

    /// Brings the list of sensors up to date after a compound's parts changed.
    pub(super) fn note_sensor(&mut self, slot: usize) {
        let body = self.columns.handle[slot];
        let any = self.parts(slot).iter().any(|placed| placed.part.sensor);
        self.sensors.remove(body);
        if any {
            self.sensors.add(body, Filter::NOTHING);
        }
    }

    /// Checks that sensors are listed, and touch nothing.
    pub(super) fn validate_sensors(&self) -> Result<(), String> {
        let sorted = self.sensors.list().windows(2).all(|two| two[0].body < two[1].body);
        ensure!(sorted, "the sensors are not in order");
        for sensor in self.sensors.list() {
            ensure!(self.slot_of(sensor.body).is_ok(), "{:?} is a sensor and gone", sensor.body);
        }
        for (body, slot) in self.by_index() {
            let listed = self.sensors.get(body).is_some();
            let parts = self.parts(slot);
            for placed in parts {
                let same = placed.part.sensor == placed.sensor_filter.is_some();
                let filtered = !placed.part.sensor || placed.part.filter == Filter::NOTHING;
                ensure!(same && filtered, "a part of {body:?} is half a sensor");
            }
            let any = parts.iter().any(|placed| placed.part.sensor);
            ensure!(parts.is_empty() || any == listed, "{body:?} is listed as a sensor: {listed}");
            let touches = parts.is_empty() && listed && self.filter(slot) != Filter::NOTHING;
            ensure!(!touches, "{body:?} is a sensor and touches others");
        }
        Ok(())
    }
}

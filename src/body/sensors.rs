//! The bodies that have a shape that is a sensor.
//!
//! A sensor touches nothing, because its filter, as all stages of a step read it, is [`Filter::NOTHING`]. So no stage has a path of its own
//! for sensors. The filter that the host gave it is kept aside: of a body with one shape here, of a part with the part
//! (`Placed::sensor_filter`).

use super::{Bodies, BodyHandle, Filter};
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::base::ensure;
use crate::geometry::shape::ShapeKind;
use std::collections::BTreeMap;

/// All bodies with sensors, in the order of their handles, each with the filter of its only shape. (That of a compound is not used.) A tree:
/// in a sorted list, to remove n of them one after the other took n² time (test `sensors_go_in_any_order`).
#[derive(Clone, Default)]
pub(crate) struct Sensors {
    filters: BTreeMap<BodyHandle, Filter>,
    /// Memory for reading.
    read: Vec<BodyHandle>,
}

impl Stored for Sensors {
    fn write(&self, to: &mut Writer<'_>) {
        to.length(self.filters.len());
        self.filters.iter().for_each(|(body, filter)| {
            body.write(to);
            filter.write(to);
        });
    }

    /// What the tree has already keeps its memory.
    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        let Sensors { filters, read } = self;
        let len = from.length()?;
        read.clear();
        for _ in 0..len {
            let (body, mut filter) = (from.value()?, Filter::NOTHING);
            filter.read(from)?;
            require!(read.last().is_none_or(|last| *last < body), "the sensors are not in order");
            filters.insert(body, filter);
            read.push(body);
        }
        if filters.len() > len {
            filters.retain(|body, _| read.binary_search(body).is_ok());
        }
        Ok(())
    }

    fn blank() -> Self {
        Sensors::default()
    }
}

impl Sensors {
    /// The bodies, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = BodyHandle> + '_ {
        self.filters.keys().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.filters.is_empty()
    }

    fn get(&self, body: BodyHandle) -> Option<&Filter> {
        if self.filters.is_empty() { None } else { self.filters.get(&body) }
    }

    pub(super) fn filter_mut(&mut self, body: BodyHandle) -> Option<&mut Filter> {
        self.filters.get_mut(&body)
    }

    fn add(&mut self, body: BodyHandle, filter: Filter) {
        self.filters.entry(body).or_insert(filter);
    }

    pub(super) fn remove(&mut self, body: BodyHandle) {
        self.filters.remove(&body);
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
        of_sensor.copied().unwrap_or_else(|| self.filter(slot))
    }

    /// The filter of a shape of a body if it is a sensor. `part` is the number of the part, or 0.
    pub(crate) fn sensor_filter(&self, slot: usize, part: u8) -> Option<Filter> {
        match self.parts(slot).get(usize::from(part)) {
            Some(placed) => placed.sensor_filter,
            None => self.sensors.get(self.columns.handle[slot]).copied(),
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
        for body in self.sensors.iter() {
            ensure!(self.slot_of(body).is_ok(), "{body:?} is a sensor and gone");
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

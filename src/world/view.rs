//! What a host reads of a world: columns, contacts, events, counts.

use super::{Quarantine, Timings, World};
use crate::body::BodyHandle;
use crate::contacts::{ContactEvent, Tile};
use glam::Vec2;

/// The bodies' state as columns, without a copy: element i of each belongs to `handle[i]`.
///
/// The order is that of storage, which changes as bodies move.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// Whose element this is. A body that was removed since the last step is still here; see
    /// [`World::contains`].
    pub handle: &'a [BodyHandle],
    /// Position, m.
    pub pos_x: &'a [f32],
    /// Position, m.
    pub pos_y: &'a [f32],
    /// Counter-clockwise, rad.
    pub angle: &'a [f32],
    /// Velocity, m/s.
    pub vel_x: &'a [f32],
    /// Velocity, m/s.
    pub vel_y: &'a [f32],
    /// Counter-clockwise, rad/s.
    pub omega: &'a [f32],
}

/// A contact as of the last narrowphase, with the impulses that the solver then found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// One body.
    pub a: BodyHandle,
    /// The other.
    pub b: BodyHandle,
    /// From a to b, of unit length.
    pub normal: Vec2,
    /// Between the surfaces, m; negative when they overlap.
    pub separation: f32,
    /// Of the last substep, along the normal, N·s; never negative.
    pub normal_impulse: f32,
    /// Of the last substep, along (−normal.y, normal.x), N·s.
    pub tangent_impulse: f32,
}

impl World {
    /// Steps taken since the start.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }

    /// The state of all bodies, without a copy.
    pub fn columns(&self) -> Columns<'_> {
        let c = &self.bodies.columns;
        let len = self.bodies.len;
        Columns {
            handle: &c.handle[..len],
            pos_x: &c.pos_x[..len],
            pos_y: &c.pos_y[..len],
            angle: &c.angle[..len],
            vel_x: &c.vel_x[..len],
            vel_y: &c.vel_y[..len],
            omega: &c.omega[..len],
        }
    }

    /// All contacts of the last step: pairs that overlap or are closer than the speculative distance.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.contacts.all().flat_map(|tile| {
            (0..tile.info.len() * crate::contacts::BLOCK).filter_map(|lane| self.contact(tile, lane))
        })
    }

    fn contact(&self, tile: &Tile, lane: usize) -> Option<Contact> {
        let (block, lane) = (lane / crate::contacts::BLOCK, lane % crate::contacts::BLOCK);
        let normal = &tile.normal[block];
        let (a, b) = (normal.a[lane].row(), normal.b[lane].row());
        let solid = |slot: usize| self.bodies.columns.kind[slot].is_solid();
        if tile.info[block].active >> lane & 1 == 0 || !solid(a) || !solid(b) {
            return None;
        }
        let bounce_impulse = tile.bounce.get(block).map_or(0.0, |bounce| bounce.impulse[lane]);
        Some(Contact {
            a: self.bodies.handle(a),
            b: self.bodies.handle(b),
            normal: Vec2::new(normal.normal_x[lane], normal.normal_y[lane]),
            separation: normal.separation[lane],
            normal_impulse: normal.normal_impulse[lane] + bounce_impulse,
            tangent_impulse: tile.friction[block].tangent_impulse[lane],
        })
    }

    /// The pairs that began to touch in the last step.
    pub fn begin_events(&self) -> &[ContactEvent] {
        &self.contacts.begin
    }

    /// The pairs that ceased to touch in the last step, by moving apart or since one was removed.
    pub fn end_events(&self) -> &[ContactEvent] {
        &self.contacts.end
    }

    /// All bodies that went bad since the start.
    pub fn quarantined(&self) -> &[Quarantine] {
        &self.quarantined
    }

    /// Bodies that are neither static nor particles.
    pub fn body_count(&self) -> usize {
        self.bodies.moving_count
    }

    /// Static bodies that are no particles.
    pub fn static_count(&self) -> usize {
        self.bodies.static_count
    }

    /// Pairs in the list.
    pub fn pair_count(&self) -> usize {
        self.contacts.pair_count()
    }

    /// Contacts of the last step.
    pub fn contact_count(&self) -> usize {
        self.contacts.contact_count()
    }

    /// How long each stage of the last step took.
    pub fn timings(&self) -> Timings {
        self.timings
    }
}

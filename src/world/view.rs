//! What a host reads of a world: columns, contacts, events, counts.

use super::{Quarantine, Timings, World};
use crate::body::BodyHandle;
use crate::contacts::{ContactEvent, Tile};
use crate::narrowphase::FAR;
use crate::shape::ShapeKind;
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

/// A point at which two shapes touch, or are about to, as of the last narrowphase, with the impulses that the
/// solver then found there. Two edges that lie on each other have two.
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
    /// Midway between the surfaces, at the start of the step.
    pub point: Vec2,
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

    /// All contact points of the last step: of pairs that overlap or are closer than the speculative distance.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.coloured_contacts().map(|(_, contact)| contact)
    }

    /// The same, each with the colour in which it was solved.
    pub(crate) fn coloured_contacts(&self) -> impl Iterator<Item = (u8, Contact)> + '_ {
        self.contacts.all().flat_map(|tile| {
            (0..tile.info.len() * crate::contacts::BLOCK).flat_map(|lane| {
                let colour = tile.info[lane / crate::contacts::BLOCK].colour;
                let points = [self.contact(tile, lane), self.second_contact(tile, lane)];
                points.into_iter().flatten().map(move |contact| (colour, contact))
            })
        })
    }

    fn contact(&self, tile: &Tile, lane: usize) -> Option<Contact> {
        let (block, lane) = (lane / crate::contacts::BLOCK, lane % crate::contacts::BLOCK);
        self.pair_contact(tile, block, lane).filter(|contact| contact.separation != FAR)
    }

    /// A pair's first point, which may be far although the second is not.
    fn pair_contact(&self, tile: &Tile, block: usize, lane: usize) -> Option<Contact> {
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
            point: self.contact_point(tile, block, lane, 0),
            normal_impulse: normal.normal_impulse[lane] + bounce_impulse,
            tangent_impulse: tile.friction[block].tangent_impulse[lane],
        })
    }

    /// The second point of the same pair of shapes.
    fn second_contact(&self, tile: &Tile, lane: usize) -> Option<Contact> {
        let (block, lane_of_block) = (lane / crate::contacts::BLOCK, lane % crate::contacts::BLOCK);
        let second = tile.general_of(block)?.second;
        let separation = second.separation[lane_of_block];
        if separation == FAR {
            return None;
        }
        let bounce = tile.second_bounce.get(tile.info[block].general as usize);
        let bounce_impulse = bounce.map_or(0.0, |bounce| bounce.impulse[lane_of_block]);
        Some(Contact {
            separation,
            point: self.contact_point(tile, block, lane_of_block, 1),
            normal_impulse: second.normal_impulse[lane_of_block] + bounce_impulse,
            tangent_impulse: second.tangent_impulse[lane_of_block],
            ..self.pair_contact(tile, block, lane_of_block)?
        })
    }

    fn contact_point(&self, tile: &Tile, block: usize, lane: usize, point: usize) -> Vec2 {
        let normal = &tile.normal[block];
        let start = |slot: usize| Vec2::from_slice(&self.solver.mirror.shape[slot].0[..2]);
        if let Some(general) = tile.general_of(block) {
            let [x, y] = general.place[point].map(|place| place[lane]);
            return start(general.shape_a[lane].row()) + Vec2::new(x, y);
        }
        // Of these pairs A never is a half-space, nor B alone round.
        let (a, b) = (normal.a[lane].row(), normal.b[lane].row());
        let n = Vec2::new(normal.normal_x[lane], normal.normal_y[lane]);
        let half_gap = 0.5 * normal.separation[lane];
        let extents = |slot: usize| Vec2::from_slice(&self.solver.mirror.shape[slot].0[2..]);
        let kind = |slot: usize| self.bodies.columns.kind[slot].shape();
        let boxes = |slot: usize| kind(slot) == ShapeKind::Aabb;
        if !boxes(a) {
            return start(a) + (extents(a).x + half_gap) * n;
        }
        match kind(b) {
            ShapeKind::Circle | ShapeKind::Particle => start(b) - (extents(b).x + half_gap) * n,
            ShapeKind::HalfSpace => start(a) + (extents(a).dot(n.abs()) + half_gap) * n,
            _ => {
                // The middle of what the two faces share.
                let lower = (start(a) - extents(a)).max(start(b) - extents(b));
                let upper = (start(a) + extents(a)).min(start(b) + extents(b));
                0.5 * (lower + upper)
            }
        }
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

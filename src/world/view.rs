//! What a host reads from a world: columns, contacts, events and counts.

use super::World;
use crate::body::{Bodies, BodyHandle, Kind, Motion};
use crate::contacts::{BLOCK, ContactEvent, SERIAL, Tile};
use crate::narrowphase::NO_CONTACT;
use crate::solver::hulls::Contact as HullContact;
use crate::timing::{Span, Timings, Trace};
use glam::Vec2;

/// The state of the bodies as columns, without a copy: element `i` of each column belongs to `handle[i]`.
///
/// The order is that of storage, which changes as bodies move. Some elements may belong to bodies that were removed:
/// see [`World::contains`].
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The body of each element. The elements of a removed body may stay for some steps; see [`World::contains`].
    pub handle: &'a [BodyHandle],
    /// Position, m.
    pub pos_x: &'a [f32],
    /// Position, m.
    pub pos_y: &'a [f32],
    /// Angle, counter-clockwise, rad, in [−π, π].
    pub angle: &'a [f32],
    /// Whole turns besides the angle: see [`BodyState`](crate::BodyState).
    pub turns: &'a [i32],
    /// Velocity, m/s.
    pub vel_x: &'a [f32],
    /// Velocity, m/s.
    pub vel_y: &'a [f32],
    /// Angular velocity, counter-clockwise, rad/s.
    pub omega: &'a [f32],
}

/// A point at which two shapes touch or are about to touch, as of the last narrowphase, with the impulses that the
/// solver then found there. Two edges that lie on each other have two such points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// One body.
    pub a: BodyHandle,
    /// The other.
    pub b: BodyHandle,
    /// The number of `a`'s shape among its [`World::parts`]; 0 for a body of one shape.
    pub part_a: u8,
    /// The number of `b`'s shape.
    pub part_b: u8,
    /// The unit vector from `a` to `b`, normal to the surfaces. Between bodies that bear a load and move past each other it is that of about half a step
    /// after the step's start, and of at most a slop further.
    pub normal: Vec2,
    /// The distance between the surfaces at the start of the step, along the normal, m; negative when they overlap.
    pub separation: f32,
    /// The point midway between the surfaces, at the start of the step (for hulls: of the last substep). A world that was restored does not know where
    /// its bodies were then: until its next step the point is about where they are, and stays so for contacts of bodies that
    /// [`World::sleep_body`] puts to sleep before.
    pub point: Vec2,
    /// The impulse of the last substep along the normal, N·s; never negative.
    pub normal_impulse: f32,
    /// The impulse of the last substep along (−normal.y, normal.x), N·s.
    pub tangent_impulse: f32,
}

/// What a host sees of a contact of a hull.
pub(super) fn hull_contact(contact: &HullContact, bodies: &Bodies) -> Contact {
    let [a, b] = contact.slots().map(|slot| bodies.handle(slot));
    let [normal_impulse, tangent_impulse] = contact.total_impulses();
    Contact {
        a,
        b,
        part_a: 0,
        part_b: contact.part_of_b(),
        normal: contact.normal,
        separation: contact.gap,
        point: contact.point,
        normal_impulse,
        tangent_impulse,
    }
}

impl World {
    /// Turns the recording of [`spans`](World::spans) on or off; at first it is off. It costs some microseconds a step,
    /// and memory that grows with the spans. It has no effect on results.
    pub fn set_tracing(&mut self, on: bool) {
        if on != self.trace.is_some() {
            self.trace = on.then(|| Box::new(Trace::new()));
        }
    }

    /// Tells whether [`World::set_tracing`] is on.
    pub fn is_tracing(&self) -> bool {
        self.trace.is_some()
    }

    /// The spans of the last step: which worker was busy with what, worker by worker, in order of time. Empty unless
    /// [`World::set_tracing`] was on.
    pub fn spans(&self) -> &[Span] {
        self.trace.as_ref().map_or(&[], |trace| &trace.spans)
    }

    /// The number of steps taken since the start.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }

    /// The state of all bodies as columns, without a copy.
    pub fn columns(&self) -> Columns<'_> {
        let c = &self.bodies.columns;
        // Without the slots at the end that wait for new bodies.
        let dead = |kind: &&Kind| kind.motion() == Motion::Dead;
        let len = self.bodies.len - c.kind[..self.bodies.len].iter().rev().take_while(dead).count();
        Columns {
            handle: &c.handle[..len],
            pos_x: &c.pos_x[..len],
            pos_y: &c.pos_y[..len],
            angle: &c.angle[..len],
            turns: &c.turns[..len],
            vel_x: &c.vel_x[..len],
            vel_y: &c.vel_y[..len],
            omega: &c.omega[..len],
        }
    }

    /// All contact points of the last step: those of pairs that overlap or are closer than the speculative distance. Those of sleeping
    /// bodies are as they were when these fell asleep. Those with a face of a static shape that another static shape covers, as in a floor of
    /// tiles, are left out.
    ///
    /// Contact points of hulls ([`World::add_hull`]) come last, as of the last substep. On the side of a hull they name
    /// the particle that bears most.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        self.coloured_contacts().map(|(_, contact)| contact).chain(self.uncoloured_contacts())
    }

    /// The contact points of sleeping bodies, and those of hulls.
    pub(super) fn uncoloured_contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        let asleep = self.sleeping_contacts.iter().chain([&self.woken_contacts]).flatten();
        asleep.copied().chain(self.hull_contacts())
    }

    pub(super) fn hull_contacts(&self) -> impl Iterator<Item = Contact> + '_ {
        let solid = |slot: &usize| self.bodies.columns.kind[*slot].is_collidable();
        let contacts = self.hull_solver.contacts().iter();
        contacts
            .filter(move |contact| contact.slots().iter().all(solid))
            .map(|contact| hull_contact(contact, &self.bodies))
    }

    /// The contacts of bodies, each with the colour in which it was solved. Contacts of one colour share no body that
    /// moves, and are solved at the same time. Contacts with the colour `None` are solved one after the other.
    pub fn coloured_contacts(&self) -> impl Iterator<Item = (Option<u8>, Contact)> + '_ {
        self.contacts.all().flat_map(|tile| {
            (0..tile.info.len() * BLOCK).flat_map(|lane| {
                let colour = tile.info[lane / BLOCK].colour;
                let colour = (usize::from(colour) != SERIAL).then_some(colour);
                self.points(tile, lane).map(move |contact| (colour, contact))
            })
        })
    }

    /// Visits the contact points between bodies for which `keeper` has something, given their slots and whether their shapes touch.
    pub(super) fn visit_points<T: Copy>(
        &self,
        keeper: impl Fn([usize; 2], bool) -> Option<T>,
        mut visit: impl FnMut(T, Contact),
    ) {
        for tile in self.contacts.all() {
            for (block, info) in tile.info.iter().enumerate() {
                for at in (0..BLOCK).filter(|at| info.active >> at & 1 == 1) {
                    let slots = [tile.normal[block].a[at].row(), tile.normal[block].b[at].row()];
                    if let Some(kept) = keeper(slots, info.touching >> at & 1 == 1) {
                        self.points(tile, block * BLOCK + at).for_each(|contact| visit(kept, contact));
                    }
                }
            }
        }
    }

    /// The points of a lane of a tile. The first may be far away while the second is near.
    pub(super) fn points(&self, tile: &Tile, lane: usize) -> impl Iterator<Item = Contact> + use<> {
        let (block, lane) = (lane / BLOCK, lane % BLOCK);
        let points = self.pair_contact(tile, block, lane).map_or([None; 2], |pair| {
            let second =
                tile.manifold_of(block).map_or(NO_CONTACT, |manifold| manifold.second.separation[lane]);
            let (separations, impulses) = ([pair.separation, second], point_impulses(tile, block, lane));
            [0, 1].map(|point| {
                (separations[point] != NO_CONTACT).then(|| Contact {
                    separation: separations[point],
                    point: tile.place_of(&self.bodies, &self.solver.mirror.shape, (block, lane), point),
                    normal_impulse: impulses[point].x,
                    tangent_impulse: impulses[point].y,
                    ..pair
                })
            })
        });
        points.into_iter().flatten()
    }

    /// Returns what is the same for all points of a pair, with the separation of the first.
    fn pair_contact(&self, tile: &Tile, block: usize, lane: usize) -> Option<Contact> {
        let normal = &tile.normal[block];
        let (a, b) = (normal.a[lane].row(), normal.b[lane].row());
        let solid = |slot: usize| self.bodies.columns.kind[slot].is_collidable();
        if tile.info[block].active >> lane & 1 == 0 || !solid(a) || !solid(b) {
            return None;
        }
        let [part_a, part_b] = tile.parts_of(&self.bodies, block, lane);
        Some(Contact {
            a: self.bodies.handle(a),
            b: self.bodies.handle(b),
            part_a,
            part_b,
            normal: Vec2::new(normal.normal_x[lane], normal.normal_y[lane]),
            separation: normal.separation[lane],
            point: Vec2::ZERO,
            normal_impulse: 0.0,
            tangent_impulse: 0.0,
        })
    }

    /// The pairs that began to touch in the last step. On the side of a hull an event names the particle that bears
    /// most, as [`World::contacts`] does: when a load moves along an edge, the pair with one particle ends and the pair
    /// with the next begins.
    pub fn begin_events(&self) -> &[ContactEvent] {
        &self.contacts.begin
    }

    /// The pairs that ceased to touch in the last step, because they moved apart or one of them was removed.
    pub fn end_events(&self) -> &[ContactEvent] {
        &self.contacts.end
    }

    /// The number of bodies that are neither static nor particles.
    pub fn body_count(&self) -> usize {
        self.bodies.moving_count
    }

    /// The number of static bodies that are not particles.
    pub fn static_count(&self) -> usize {
        self.bodies.static_count
    }

    /// The number of pairs in the list.
    pub fn pair_count(&self) -> usize {
        self.contacts.pair_count()
    }

    /// The number of bodies in the present pair list that are in a crowd: they overlap more bodies than the list holds
    /// for them. It is 0 unless bodies lie on each other in heaps. (The list also leaves out pairs of very fast bodies
    /// with too many others within their reach. Those do not overlap, and are not counted here.)
    ///
    /// A body takes at most [`World::MAX_PARTNERS`] others in its own band of the order of space, as many in the next
    /// band, and as many large bodies, the nearest. A pair counts against one of its two bodies: the smaller one, if it is less than
    /// half as large as the other; else the one that can be moved, if the other can't; else the first in the order of
    /// space. So the list holds no more than some hundred pairs for each body, and 10,000 circles at one point come
    /// apart without taking the machine's memory. Each new list moves the bodies in a crowd by a hundredth of their
    /// size, each in a direction of its own.
    ///
    /// Pairs are counted by body: compounds of hundreds of parts that lie in one place are no crowd, and each two of them may have as many pairs as parts of the
    /// one times parts of the other.
    pub fn crowded_count(&self) -> usize {
        self.contacts.crowded().len()
    }

    /// The number of bounds that were looked at to find the present pair list; its cost is proportional to this. For
    /// tests.
    #[doc(hidden)]
    pub fn candidate_tests(&self) -> u64 {
        self.contacts.test_count() + self.broadphase.tests
    }

    /// The number of steps since the present pair list was made. For tests.
    #[doc(hidden)]
    pub fn list_age(&self) -> u32 {
        self.broadphase.bounds.steps
    }

    /// The number of pairs of shapes that were near enough to be solved in the last step, and of contacts of hulls.
    pub fn contact_count(&self) -> usize {
        self.contacts.contact_count() + self.hull_solver.contacts().len()
    }

    /// The lengths of the tables in which bodies, links, hulls and joints come and go. Each table grows to the most that were
    /// in use at the same time, and no further. For tests.
    #[doc(hidden)]
    pub fn table_sizes(&self) -> [(&'static str, usize); 12] {
        let [outlines, outlines_used] = self.bodies.outlines.counts();
        let [materials, materials_used] = self.bodies.material_counts();
        let [handles, slots] = self.bodies.table_lengths();
        [
            ("outlines", outlines),
            ("outlines in use", outlines_used),
            ("materials", materials),
            ("materials in use", materials_used),
            ("handles", handles),
            ("slots", slots),
            ("compounds", self.bodies.compounds.len()),
            ("links", self.links.capacity()),
            ("hulls", self.hulls.capacity()),
            ("pairs of hulls", self.hull_solver.pair_count()),
            ("joints", self.joints.capacity()),
            ("stand-ins", self.joint_solver.stand_in_count()),
        ]
    }

    /// Returns how long each stage of the last step took.
    pub fn timings(&self) -> Timings {
        self.timings
    }
}

/// The impulses at both points of a contact, along its normal and its tangent. Both points have one friction: each
/// point has the same share of it as of the normal impulse.
fn point_impulses(tile: &Tile, block: usize, lane: usize) -> [Vec2; 2] {
    let second = tile.manifold_of(block).map_or(0.0, |manifold| manifold.second.normal_impulse[lane]);
    let mut normal = [tile.normal[block].normal_impulse[lane], second];
    let mut tangent = tile.friction[block].tangent_impulse[lane];
    if let Some(bounce) = tile.bounce.get(block) {
        for (impulse, bounced) in normal.iter_mut().zip(&bounce.normal_impulse) {
            *impulse += bounced[lane];
        }
        tangent += bounce.tangent_impulse[lane];
    }
    let sum = normal[0] + normal[1];
    let part = |impulse: f32| if sum > 0.0 { impulse / sum } else { 0.0 };
    normal.map(|impulse| Vec2::new(impulse, tangent * part(impulse)))
}

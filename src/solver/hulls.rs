//! Contacts of Verlet hulls.
//!
//! ```text
//! each step:     pairs of hulls by place (broadphase/levels.rs); other bodies from the bands
//!                the last step's impulses, applied ahead
//! each substep, when the links are solved:
//!     outlines from the particles as they are now     in parallel
//!     manifolds                                       in parallel, WIDTH pairs of hulls at a time
//!     blows: pairs that have just met, and fast       a pair at a time, see `hulls/impact.rs`
//!     contacts, by colours, in lanes, forth and back in turn: impulses (normal, then friction), and
//!         overlapping hulls are moved apart, see `hulls/sweep.rs`
//! ```
//!
//! A contact's point lies on an edge of the hull, at the part t of the way from one particle to the next; each takes its
//! share (1 − t, t) of an impulse, and the point moves at the sum of their shares, so that its inverse mass is
//! w₀·(1 − t)² + w₁·t² (T. Jakobsen, "Advanced Character Physics", 2001, who moves positions only). Here impulses and
//! moves are kept apart, as in the projection solver: an overlap that is taken out of the positions alone leaves no speed
//! behind.
//!
//! *All of a hull's contacts are here.* Its particles have no contacts as discs (`Bodies::corners`): two contacts for one place
//! would share a load by chance, and with it friction and bounce. A half-space is met by the corners.
//!
//! *Impulses are carried over* from substep to substep and from step to step, and act before positions are integrated, like those of
//! rigid bodies: they stay in the velocity's gain that `impulse.rs` repeats (`accum`), and the contacts correct that gain. The
//! impulses of a contact that is gone are taken back. (When they were applied after the positions had been integrated, bodies at
//! rest on a slope crept down by h·g·sin θ, 4 cm a second at 240 substeps a second. When all impulses began from zero, 50 ragdolls
//! on a flight of stairs crept by 7 cm a second, and by 5 at 8 sweeps.)
//!
//! *Friction is one state for all points of a pair*: it holds up to μ_s·λ_n at each as long as they slide by less than
//! [`SLIDES`] on average, and slides with μ_d·λ_n beyond. (With a state for each point, a point fell back to μ_d as soon as it bore
//! less than its part of the load, and the others were overloaded: soft boxes slid from 0.75 of the static angle.)

mod bullets;
mod carry;
mod clusters;
mod contact;
mod impact;
mod listing;
mod pairs;
mod sides;
mod sleep;
mod snapshot;
mod strike;
mod sweep;

use super::rows::Rows;
use crate::base::room::resize;
use crate::body::{Bodies, BodyHandle, Filter};
use crate::broadphase::levels::Levels;
use crate::crew::{Crew, SharedSlice};
use crate::geometry::outline::{MAX_VERTICES, OUTLINE_ROWS};
use crate::isa::Level;
use crate::lane::{Row, pair, with_lanes};
use crate::narrowphase::hulls::{Around, LoopPair, LoopTouch, touch_loops, write_loop};
use crate::particles::hulls::Hulls;
use crate::particles::links::Links;
use crate::settings::Settings;
pub(crate) use bullets::HullEdge;
use clusters::Clusters;
use contact::State;
use glam::Vec2;
use impact::Impact;
use listing::StillHulls;
use pairs::box_of;
use sides::{LoopAt, Surface};
pub(crate) use sleep::{ParkedHulls, Parking, Stirred, Touched, stand_for};
use std::ops::Range;
use sweep::Blocks;

/// Sweeps over the contacts per substep: half as many as over the links. In piles of 100 soft boxes and 40 ragdolls the deepest
/// overlap was 17 and 14 mm with 2, 8 and 10 mm with 4, which is the default, 5 and 6 mm with 8.
fn sweeps(settings: &Settings) -> usize {
    settings.link_iterations.div_ceil(2) as usize
}
/// The least load, as a part of the impulse that gravity gives the point's mass in a substep.
const LOADED: f32 = 0.01;
/// The part of its gap that a loaded contact may close in a substep. When it could close the whole gap, a box that had just been
/// stopped short of a slope was released again, lost the load of a corner, and slid on, from half of the heights that it fell from.
const CLOSING: f32 = 0.1;
/// The part of an overlap that a sweep removes.
const PUSH: f32 = 0.3;
/// The part of such a push for a hull whose corners are linked to corners of other hulls. The links pull these after it, and what a link moves gains that
/// as velocity: with the whole push a heap of 200 figures trembled at 0.15 m/s for ever (the median of its particles), and moves at 0.002 with this, with
/// contacts as deep. Heaps of 50, which slept after 16 s with the whole push, do after 18; with 1/60 some figures twitched and kept them awake for a minute.
const TIED: f32 = 1.0 / 300.0;
/// The least inverse mass of a hull that hangs on a corner which nothing moves, as a part of that at the place that a push moves most. Near that corner a push has next to no effect there, and any amount of it elsewhere: a limb that was
/// dragged into the floor by its pinned end threw its other end out of the world.
const HUNG: f32 = 0.25;
/// Bodies near a hull, on average, from which the list of these pairs grows.
const OTHERS: usize = 8;
/// Pairs per task.
const TASK: usize = 64;

/// A hull in this step.
#[derive(Clone, Copy)]
struct Hull {
    slots: [u32; MAX_VERTICES],
    count: usize,
    /// Corners at the start of the step, from the first of them.
    base: [Vec2; MAX_VERTICES],
    /// The first corner.
    origin: Vec2,
    /// The radius of its thinnest disc, and by how much each disc is thicker.
    radius: f32,
    more: [f32; MAX_VERTICES],
    /// A box that encloses the hull until the end of the step.
    lower: Vec2,
    upper: Vec2,
    filter: Filter,
    material: u32,
    /// No corner can move.
    fixed: bool,
    /// The hull is in one of the pairs.
    paired: bool,
    /// The particles that meet half-spaces for this hull, as bits. A particle of two hulls belongs to the first.
    own: u8,
    /// The part of a push that it takes: all, or [`TIED`].
    gives: f32,
}

impl Hull {
    fn slots(&self) -> &[u32] {
        &self.slots[..self.count]
    }
}

/// Two hulls.
#[derive(Clone, Copy)]
struct HullPair {
    hulls: [u32; 2],
    surface: Surface,
}

/// A hull and another shape.
#[derive(Clone, Copy)]
struct OtherPair {
    hull: u32,
    slot: u32,
    part: u8,
    /// Index of the body's handle.
    body: u32,
    surface: Surface,
}

/// The name of a contact: 0 for two hulls, 1 for a hull and another body; the first hull; the second hull, or the body; the
/// body's part and the number of the point. Hulls and bodies are named by the indices of their handles.
type Key = (u8, u32, u32, u16);

/// Returns the part of a key that all points of a pair share.
fn pair_of(key: Key) -> (u8, u32, u32) {
    (key.0, key.1, key.2)
}

/// One side of a contact: the particles of an edge, or a body twice.
#[derive(Clone, Copy)]
struct Side {
    slots: [u32; 2],
    /// The particles' numbers in their hull.
    ends: [u8; 2],
    shares: [f32; 2],
    /// The arms along the normal and the tangent, over the length in which the body's spin is measured.
    arms: [f32; 2],
    shift: Shift,
}

/// How one side of a contact moves when an overlap is pushed apart. A hull moves as a rigid body would.
#[derive(Clone, Copy, Default)]
struct Shift {
    /// The row of shifts: a body's slot, or a hull's place after all slots.
    row: u32,
    /// The point's motion along the normal for a unit turn of the row.
    arm: f32,
    /// How far a unit push moves the row, and turns it.
    moves: f32,
    turns: f32,
    /// The least value for its inverse mass.
    least: f32,
    /// Another contact may move the row, even if this one does not.
    movable: bool,
}

impl Shift {
    /// The inverse mass of the point along the normal.
    fn inv_mass(&self) -> f32 {
        (self.moves + self.arm * self.turns).max(self.least)
    }
}

/// A hull as a rigid body, from its origin. A hull that hangs on one particle which can't move turns about it. A hull that hangs on two
/// does not move.
#[derive(Clone, Copy, Default)]
struct Rigid {
    centre: Vec2,
    inv_mass: f32,
    inv_inertia: f32,
    /// See [`HUNG`].
    least: f32,
}

impl Side {
    /// Returns the slot of the particle or body that bears most.
    fn bearer(&self) -> usize {
        self.slots[usize::from(self.shares[1] > self.shares[0])] as usize
    }
}

/// A contact of a hull.
#[derive(Clone, Copy)]
pub(crate) struct Contact {
    key: Key,
    /// From A to B.
    pub normal: Vec2,
    sides: [Side; 2],
    /// Midway between the surfaces.
    pub point: Vec2,
    /// Between the surfaces.
    pub gap: f32,
    surface: Surface,
    /// The effective masses along the normal and the tangent, and along the normal for a pure move.
    masses: [f32; 2],
    move_mass: f32,
    /// The gain in sliding speed from a unit impulse along the normal.
    coupling: f32,
    impulses: [f32; 2],
    /// The impulses of a blow in this substep, which are not carried over.
    blow: [f32; 2],
    /// The speed of approach, if the contact bore no load before.
    approach: f32,
    /// The speed of approach in the last substep, if that was a blow.
    struck_at: f32,
    /// The number of substeps for which the contact has slid.
    slipping: u8,
    /// The touch of these two bodies is noted in this step.
    noted: bool,
}

impl Contact {
    /// Returns the slots of the particles that bear most, or of the body.
    pub(crate) fn slots(&self) -> [usize; 2] {
        self.sides.each_ref().map(Side::bearer)
    }

    /// Returns the number of B's part, if B is a body of several parts, else 0.
    pub(crate) fn part_of_b(&self) -> u8 {
        let part = (self.key.3 / 2) as u8;
        if self.key.0 == 0 || part == crate::broadphase::shapes::NO_PART { 0 } else { part }
    }

    /// Returns the impulses of the last substep, along the normal and the tangent.
    pub(crate) fn total_impulses(&self) -> [f32; 2] {
        [self.impulses[0] + self.blow[0], self.impulses[1] + self.blow[1]]
    }

    /// Tells whether the contact bears more than rounding left it after a blow.
    fn is_loaded(&self, rows: &Rows<'_>) -> bool {
        self.impulses[0] > LOADED * rows.landing_speed * self.masses[0]
    }

    fn touches(&self, slop: f32) -> bool {
        self.gap <= slop || self.impulses[0] > 0.0 || self.blow[0] > 0.0
    }
}

/// The hulls of a world in this step. Two things outlive a step: the contacts, whose impulses are carried over, and the pairs that
/// touched.
#[derive(Default)]
pub(crate) struct HullSolver {
    hulls: Vec<Hull>,
    /// The places of those that may move, their boxes (least and largest x and y), and the same in the order of space.
    moving: Vec<u32>,
    boxes: [Vec<f32>; 4],
    levels: Levels,
    still: StillHulls,
    pairs: Vec<HullPair>,
    /// Memory for pairs of a hull that moves and one that stands still.
    beside: Vec<HullPair>,
    loops: Vec<LoopPair>,
    others: Vec<OtherPair>,
    /// Slots of bodies that look up the hulls, and not the other way round: strays, and bodies that are few.
    pub(crate) elsewhere: Vec<u32>,
    /// Place of each hull among `hulls`, by its handle's index, and the index of each.
    places: Vec<u32>,
    indices: Vec<u32>,
    /// The hull that each particle belongs to, by the index of the particle's handle.
    owners: Vec<u32>,
    capacity: usize,
    /// The hulls that are in a pair.
    paired: Vec<u32>,
    /// Each hull of a pair as a rigid body.
    rigid: Vec<Rigid>,
    outlines: Vec<Row>,
    /// The corners that the outline of each hull has.
    around: Vec<Around>,
    touches: Vec<LoopTouch>,
    contacts: Vec<Contact>,
    /// Those of hulls that have woken since the last step.
    woken: Vec<Contact>,
    /// Those of the last substep, in the same order.
    before: Vec<Contact>,
    blocks: Blocks,
    clusters: Clusters,
    impact: Impact,
    /// Pairs of bodies that have touched in this step, and in the last.
    touched: Vec<[BodyHandle; 2]>,
    touched_before: Vec<[BodyHandle; 2]>,
    /// Memory: no movement, of every body.
    unmoved: Vec<Row>,
    room: usize,
}

const NO_HULL: u32 = u32::MAX;

impl HullSolver {
    /// Moves the origin by a vector.
    pub(crate) fn shift(&mut self, by: Vec2) {
        self.contacts.iter_mut().chain(&mut self.woken).for_each(|contact| contact.point -= by);
        for hull in &mut self.hulls {
            (hull.origin, hull.lower, hull.upper) = (hull.origin - by, hull.lower - by, hull.upper - by);
        }
        self.still.forget();
    }

    /// Prepares a step of a world without hulls.
    pub(crate) fn begin_empty_step(&mut self) {
        self.elsewhere.clear();
        self.touched.clear();
        self.hulls.clear();
        self.indices.clear();
        self.moving.clear();
        self.paired.clear();
        self.pairs.clear();
        self.others.clear();
        self.still.forget();
        self.contacts.clear();
        self.woken.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hulls.is_empty()
    }

    /// Returns the number of pairs of hulls, and of hulls and other bodies, in the last step.
    pub(crate) fn pair_count(&self) -> usize {
        self.pairs.len() + self.others.len()
    }

    /// Returns all contacts of the last substep.
    pub(crate) fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Finds where the hulls are, and which may touch in this step. `near` visits the slots that may overlap a box, except
    /// those in `elsewhere`. `relinked` tells that links were added or removed.
    pub(crate) fn begin_step(
        &mut self,
        hulls: &mut Hulls,
        (links, relinked): (&Links, bool),
        bodies: &Bodies,
        settings: &Settings,
        impulse_ratio: f32,
        near: impl Fn(Vec2, Vec2, &mut dyn FnMut(usize)),
    ) {
        self.touched.clear();
        self.list(hulls, bodies, settings);
        let renumbered = std::mem::take(&mut hulls.renumbered);
        if renumbered {
            // A new hull may have the index of a removed one.
            self.contacts.clear();
            self.woken.clear();
            self.number();
        }
        self.clusters.update(hulls, renumbered, links, relinked, bodies);
        self.assign_corners(bodies, renumbered || relinked);
        self.pair_hulls(bodies, settings);
        self.pair_others(bodies, settings, near);
        self.list_paired();
        self.clear_touches();
        self.claim_woken();
        self.reserve(bodies, settings);
        self.carry_over(bodies, impulse_ratio);
    }

    /// Makes room for the outlines of all hulls, and for what touches in all pairs.
    fn clear_touches(&mut self) {
        let count = self.hulls.len();
        resize(&mut self.outlines, count * OUTLINE_ROWS);
        // Those of hulls in a pair are written before they are read.
        self.around.resize(count, Around::default());
        self.rigid.resize(count, Rigid::default());
        self.touches.clear();
        self.touches.resize(self.pairs.len() + self.others.len(), LoopTouch::NONE);
    }

    /// Makes room for a contact at each point of all pairs.
    fn reserve(&mut self, bodies: &Bodies, settings: &Settings) {
        let planes = self.others.iter().filter(|pair| pair.is_plane(bodies)).count();
        let most = 2 * self.touches.len() + MAX_VERTICES * planes;
        if most > self.room {
            self.room = most + most / 4;
            let room = self.room;
            self.contacts.reserve(room.saturating_sub(self.contacts.len()));
            self.before.reserve(room.saturating_sub(self.before.len()));
            self.blocks.reserve(room);
            for touched in [&mut self.touched, &mut self.touched_before] {
                touched
                    .reserve((room * settings.substeps as usize).min(4 * room).saturating_sub(touched.len()));
            }
        }
    }

    /// Solves the hulls' contacts for a substep: velocities and positions in the mirror.
    #[allow(unsafe_code)]
    pub(crate) fn solve(
        &mut self,
        rows: &Rows<'_>,
        bodies: &Bodies,
        settings: &Settings,
        level: Level,
        crew: &Crew<'_>,
    ) {
        // The padding row is included.
        let all = 0..rows.vel.len();
        {
            // SAFETY: nobody writes these rows until the tasks are done.
            let (pose, vel): (&[Row], &[Row]) =
                unsafe { (rows.pose.range(all.clone()), rows.vel.range(all.clone())) };
            self.write_outlines(pose, vel, crew);
            self.find_touches(pose, bodies, level, crew);
        }
        // SAFETY: this thread alone works on the mirror.
        let mut state = unsafe {
            State {
                vel: rows.vel.range(all.clone()),
                pose: rows.pose.range(all.clone()),
                accum: rows.accum.range(all),
                damp: if rows.any_damping { rows.damp } else { &[] },
            }
        };
        self.make_contacts(&mut state, rows, bodies, settings);
        self.find_sliding(&state);
        self.strike(&mut state, bodies, rows);
        self.sweep(&mut state, rows, settings, level);
        self.apply_shifts(&mut state);
        let unnoted = self.contacts.iter_mut().filter(|contact| !contact.noted);
        let touching = unnoted.filter(|contact| contact.touches(settings.slop));
        self.touched.extend(touching.map(|contact| {
            contact.noted = true;
            let [a, b] = contact.slots().map(|slot| bodies.handle(slot));
            [a.min(b), a.max(b)]
        }));
    }

    #[allow(unsafe_code)]
    fn write_outlines(&mut self, pose: &[Row], vel: &[Row], crew: &Crew<'_>) {
        let (hulls, paired) = (&self.hulls, &self.paired);
        let outlines = SharedSlice::new(&mut self.outlines);
        let around = SharedSlice::new(&mut self.around);
        let rigid = SharedSlice::new(&mut self.rigid);
        crew.chunks(paired.len(), TASK, |range| {
            for &index in &paired[range] {
                let index = index as usize;
                let own = index..index + 1;
                // SAFETY: an index is in the list once, and each has rows of its own.
                let (rows, around, rigid) = unsafe {
                    (
                        outlines.range(index * OUTLINE_ROWS..(index + 1) * OUTLINE_ROWS),
                        &mut around.range(own.clone())[0],
                        &mut rigid.range(own)[0],
                    )
                };
                let hull = &hulls[index];
                let corners = &hull.corners(pose)[..hull.count];
                *around = Around::of(corners);
                *rigid = hull.rigid(corners, vel);
                write_loop(corners, around, hull.radius, rows);
            }
        });
    }

    #[allow(unsafe_code)]
    fn find_touches(&mut self, pose: &[Row], bodies: &Bodies, level: Level, crew: &Crew<'_>) {
        let HullSolver { hulls, loops, others, outlines, capacity, touches, .. } = self;
        let touches = SharedSlice::new(touches);
        // SAFETY: chunks are disjoint, and those of the others begin after those of the hulls.
        let touches = |range: Range<usize>| unsafe { touches.range(range) };
        crew.chunks(loops.len(), TASK, |range| {
            let touches = touches(range.clone());
            with_lanes!(level, L => touch_loops::<L>(outlines, *capacity, &loops[range], touches));
        });
        crew.chunks(others.len(), TASK, |range| {
            let touches = touches(loops.len() + range.start..loops.len() + range.end);
            for (touch, pair) in touches.iter_mut().zip(&others[range]) {
                if !pair.is_plane(bodies) {
                    let hull = &hulls[pair.hull as usize];
                    let first = pair.hull as usize * OUTLINE_ROWS;
                    let rows = &outlines[first..first + OUTLINE_ROWS];
                    *touch = pair.touch(hull, rows, pose, bodies);
                }
            }
        });
    }

    /// Makes the contacts of all pairs that touch, or would touch in the next substep.
    fn make_contacts(
        &mut self,
        state: &mut State<'_>,
        rows: &Rows<'_>,
        bodies: &Bodies,
        settings: &Settings,
    ) {
        let mut contacts = std::mem::replace(&mut self.before, std::mem::take(&mut self.contacts));
        contacts.clear();
        let HullSolver { hulls, indices, pairs, others, touches, around, outlines, rigid, .. } = &*self;
        let maker = Maker { state, rows, bodies, settings };
        for (pair, touch) in pairs.iter().zip(&touches[..pairs.len()]) {
            let places = pair.hulls.map(|hull| hull as usize);
            if touch.is_none() || places.iter().any(|&hull| around[hull].corners().is_empty()) {
                continue;
            }
            let [a, b] = places.map(|hull| &hulls[hull]);
            let key = (0, indices[places[0]], indices[places[1]], 0);
            let of = |end: usize| (&around[places[end]], &outlines[places[end] * OUTLINE_ROWS..]);
            let edges = pair!(end => {
                let (around, rows) = of(end);
                Hull::facing(around, rows, if end == 0 { touch.normal } else { -touch.normal })
            });
            maker.add(&mut contacts, key, touch, a.origin, pair.surface, |end, place| {
                let (hull, index) = ([a, b][end], places[end]);
                let (around, rows) = of(end);
                let place = place + (a.origin - hull.origin);
                let shift = rigid[index].shift(maker.row(index), place, touch.normal);
                hull.side(around, rows, edges[end], place, shift)
            });
        }
        for (pair, touch) in others.iter().zip(&touches[pairs.len()..]) {
            let index = pair.hull as usize;
            let key = (1, indices[index], pair.body, 2 * u16::from(pair.part));
            let hull = LoopAt {
                hull: &hulls[index],
                around: &around[index],
                outline: &outlines[index * OUTLINE_ROWS..],
                rigid: &rigid[index],
            };
            if pair.is_plane(bodies) {
                maker.add_corners(&mut contacts, key, &hull, pair);
            } else {
                maker.add_other(&mut contacts, key, &hull, pair, touch);
            }
        }
        self.contacts = contacts;
        self.match_contacts(state, rows);
    }
}

/// The inputs of making contacts.
struct Maker<'a> {
    state: &'a State<'a>,
    rows: &'a Rows<'a>,
    bodies: &'a Bodies,
    settings: &'a Settings,
}

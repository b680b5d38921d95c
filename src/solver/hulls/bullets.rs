//! Bullets and hulls.
//!
//! Bullets are cast against the edges of hulls (`continuous.rs`). So no contact stops a bullet ahead of a hull: those of a substep act on what
//! lies ahead then, whether or not the bullet gets there. And a bullet that the last step's cast stopped at a hull strikes it before anything
//! moves, because the contacts of a substep are made when all have moved on. (Without either, of 150 shots at 60 to 600 m/s 14 passed a soft box, and
//! 40 one with a rigid box behind it. With casts alone, 9 of 150 stayed in a soft box, as fast as before, and crept through it in some hundred steps.)

use super::contact::State;
use super::sides::LoopAt;
use super::{Contact, Hull, HullSolver, Maker, OtherPair, pair_of};
use crate::body::{Bodies, FAST, Filter};
use crate::geometry::outline::OUTLINE_ROWS;
use crate::lane::Row;
use crate::narrowphase::hulls::{Around, LoopTouch, write_loop};
use crate::settings::Settings;
use crate::solver::rows::Rows;
use glam::Vec2;

/// An edge of a hull: a line between two particles that is as thick as the thinner of the two.
#[derive(Clone, Copy)]
pub(crate) struct HullEdge {
    /// The particles. Seen from the first of them, what is outside the hull is on the left.
    pub slots: [usize; 2],
    pub radius: f32,
    /// The hull has two particles, so that both sides are outside.
    pub is_limb: bool,
}

impl HullSolver {
    /// The radius of the thickest particle of all hulls, m. 0 if there are none.
    pub(crate) fn thickest_corner(&self) -> f32 {
        self.hulls.iter().map(|hull| hull.radius + hull.thickest()).fold(0.0, f32::max)
    }

    /// Visits the edges of hulls that a bullet's shape may hit in a box, which has to be wider than the movement by what the hulls may have moved
    /// further than expected.
    pub(crate) fn visit_edges(
        &self,
        bodies: &Bodies,
        (bullet, filter): (usize, &Filter),
        [lower, upper]: [Vec2; 2],
        mut visit: impl FnMut(HullEdge),
    ) {
        if self.hulls.is_empty() {
            return;
        }
        let body = bodies.handle(bullet).index;
        let mut look = |place: usize| {
            let hull = &self.hulls[place];
            let meets =
                || hull.filter.touches(filter) && !self.clusters.is_attached(self.indices[place], body);
            if hull.stops(bullet, bodies) && meets() {
                hull.visit_edges(&mut visit);
            }
        };
        let (x, y) = ([lower.x, upper.x], [lower.y, upper.y]);
        self.levels.visit(x, y, |number| {
            look(self.moving[number] as usize);
            true
        });
        self.still.visit(x, y, look);
    }

    /// Lets bullets strike the hulls at which they are, before anything moves in this step.
    #[allow(unsafe_code)]
    pub(crate) fn strike_by_bullets(&mut self, rows: &Rows<'_>, bodies: &Bodies, settings: &Settings) {
        if !settings.continuous || !bodies.has_bullets() {
            return;
        }
        let all = 0..rows.vel.len();
        // SAFETY: this thread alone works on the mirror.
        let mut state = unsafe {
            State {
                vel: rows.vel.range(all.clone()),
                pose: rows.pose.range(all.clone()),
                accum: rows.accum.range(all),
                damp: &[],
            }
        };
        let struck = |pair: &&OtherPair| {
            let hull = &self.hulls[pair.hull as usize];
            hull.stops(pair.slot as usize, bodies) && !pair.is_plane(bodies)
        };
        // These rows are those of the last step until the bodies move.
        for pair in self.others.iter().filter(struck) {
            let hull = &self.hulls[pair.hull as usize];
            let corners = hull.slots().iter().map(|&slot| slot as usize);
            let around = self.clusters.around(self.indices[pair.hull as usize], hull.count).iter();
            let around = around.filter_map(|&body| bodies.slot_at(body));
            for slot in corners.chain(around).chain([pair.slot as usize]) {
                state.pose[slot] = Row::default();
            }
        }
        // The contacts of the last step's substeps are not needed any more.
        let mut contacts = std::mem::take(&mut self.before);
        contacts.clear();
        let maker = Maker { state: &state, rows, bodies, settings };
        for pair in self.others.iter().filter(struck) {
            self.add_struck(&mut contacts, pair, &maker);
        }
        for pair in contacts.chunk_by(|a, b| pair_of(a.key) == pair_of(b.key)) {
            let approach = pair.iter().fold(0.0, |most: f32, contact| most.max(contact.approach));
            if approach > rows.landing_speed {
                let bounces = approach > rows.restitution_threshold;
                let restitution = if bounces { pair[0].surface.restitution } else { 0.0 };
                // The first warm start is not this blow's: it adds what the last step's impulses gave.
                self.impact.resolve(pair, restitution, &self.clusters, &mut state, bodies);
                let [a, b] = pair[0].slots().map(|slot| bodies.handle(slot));
                self.touched.push([a.min(b), a.max(b)]);
            }
        }
        self.before = contacts;
    }

    /// Adds the contacts of a bullet with the hull at which it is.
    fn add_struck(&self, contacts: &mut Vec<Contact>, pair: &OtherPair, maker: &Maker<'_>) {
        let (Maker { state, bodies, .. }, index) = (maker, pair.hull as usize);
        let hull = &self.hulls[index];
        let corners = &hull.corners(state.pose)[..hull.count];
        let (around, rigid) = (&Around::of(corners), &hull.rigid(corners, state.vel));
        let mut outline = [Row::default(); OUTLINE_ROWS];
        write_loop(corners, around, hull.radius, &mut outline);
        let outline = &outline;
        let touch = pair.touch(hull, outline, state.pose, bodies);
        let key = (1, self.indices[index], pair.body, 2 * u16::from(pair.part));
        maker.add_other(contacts, key, &LoopAt { hull, around, outline, rigid }, pair, &touch);
    }
}

impl Maker<'_> {
    /// Whether a cast decides if a bullet gets to a hull: it is ahead, or the bullet has come so far in this step that it may be behind something.
    pub(super) fn is_left_to_the_cast(&self, hull: &Hull, pair: &OtherPair, touch: &LoopTouch) -> bool {
        let Maker { state, bodies, settings, .. } = self;
        let bullet = pair.slot as usize;
        let moved = |slot: usize| Vec2::new(state.pose[slot].0[0], state.pose[slot].0[1]);
        let is_far = || touch.gap() - hull.thickest() > settings.speculative_distance();
        let is_fast = || {
            let way = moved(bullet) - moved(hull.slots[0] as usize);
            // What has no thickness may move as far as contacts look ahead.
            way.length() > settings.speculative_distance().max(FAST * bodies.thickness(bullet))
        };
        settings.continuous && hull.stops(bullet, bodies) && (is_far() || is_fast())
    }
}

impl Hull {
    /// Whether its edges are cast against a body. Those of a hull that has bullets are not: all movements that bullets are cast against have to be known.
    fn stops(&self, body: usize, bodies: &Bodies) -> bool {
        let is_bullet = bodies.is_bullet(body) && bodies.columns.inv_mass[body] > 0.0;
        is_bullet
            && !bodies.is_corner(body)
            && !self.slots().iter().any(|&slot| bodies.is_bullet(slot as usize))
    }

    /// The hull may be inside out by now.
    fn visit_edges(&self, visit: &mut impl FnMut(HullEdge)) {
        let count = self.count;
        let next = |end: usize| if end + 1 < count { end + 1 } else { 0 };
        let area: f32 = (0..count).map(|end| self.base[end].perp_dot(self.base[next(end)])).sum();
        for end in 0..if count == 2 { 1 } else { count } {
            let ends = if area > 0.0 { [next(end), end] } else { [end, next(end)] };
            let [first, second] = ends.map(|end| self.more[end]);
            visit(HullEdge {
                slots: ends.map(|end| self.slots[end] as usize),
                radius: self.radius + first.min(second),
                is_limb: count == 2,
            });
        }
    }
}

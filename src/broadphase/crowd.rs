//! Crowds: so many bodies in one place that all their pairs would take the machine's memory.
//!
//! 10,000 circles at one point are 50 million pairs: to list and solve them took 4.4 GB and 31 s a step. No such heap
//! can be resolved in a step. It has to come apart first, and for that each body needs some partners, not all. So the
//! sweep gives a body at most [`MOST_PARTNERS`] partners in its own band (the nearest along the band), as many in the
//! next band, and as many large ones (the nearest). Near ones, within the body's own reach, and far ones, which have to come to it, count
//! apart. (When they counted together, 160 circles that something fast had given a wide reach took the place of the floor.) A pair counts
//! against one of its two bodies:
//!
//! - the smaller one, if it is less than half as large: a boulder may touch thousands of pebbles. (When the boulder's
//!   first partners counted against it, pebbles took the place of another boulder, and of the floor.)
//! - otherwise the one that moves, if the other is fixed, so that a heap does not sink through its floor;
//! - otherwise the one for which the sweep looks.
//!
//! Bodies that do not overlap have a handful of partners of their own size or more; at 60 m/s, where bounds are grown
//! by eight radii, some fifty. So only heaps reach the limit. The order of space alone decides which pairs are left
//! out, not lanes or threads.
//!
//! Coincident centres are pushed apart along (1, 0), every pair of them, so the heap would become a line. To avoid
//! this, bodies whose partners were cut are moved by a hundredth of their size, each in a direction of its own.

use crate::body::{Bodies, Motion};
use crate::geometry::trig::sin_cos;
use glam::Vec2;
use std::f32::consts::TAU;

/// The most partners that a body is given in one place (its own band, the next band, the large bodies), of those that
/// count against it.
pub(crate) const MOST_PARTNERS: usize = 128;

/// How far a body in a crowd is moved, as a fraction of its smaller half extent.
const SCATTER: f32 = 0.01;

/// The partners that count against bodies of a tile other than the one for which the sweep looks at the moment.
#[derive(Default)]
pub(super) struct Crowd {
    /// The number of such partners by slot, near ones and far ones, from the tile's first slot on; empty until a body has many neighbours.
    charged: Vec<[u8; 2]>,
    /// The slots of bodies that overlap more bodies than they were given.
    pub cut: Vec<u32>,
}

impl Crowd {
    pub(super) fn clear(&mut self) {
        self.charged.clear();
        self.cut.clear();
    }

    /// Returns whether body `i` also takes `j` as a partner, and counts it. `partners` is how many partners, near ones and far ones, count
    /// against `i` so far, `separation` is that of the pair, and `first` is the slot that `charged` begins with. `reach` tells how far
    /// around a body its near partners are.
    #[cold]
    pub(super) fn admits(
        &mut self,
        bodies: &Bodies,
        first: usize,
        (i, partners): (usize, &mut [usize; 2]),
        (j, separation): (usize, f32),
        reach: &[f32],
    ) -> bool {
        let fixed = |slot: usize| bodies.columns.inv_mass[slot] == 0.0;
        let smaller = |slot: usize, other: usize| is_much_smaller(bodies, slot, other);
        let against = match (fixed(i), fixed(j)) {
            (true, true) => return false,
            (false, false) if smaller(j, i) => j,
            (false, false) => i,
            (true, false) => {
                if smaller(i, j) {
                    i
                } else {
                    j
                }
            }
            (false, true) => {
                if smaller(j, i) {
                    j
                } else {
                    i
                }
            }
        };
        let is_far = usize::from(separation > reach[against]);
        let room = if against == i {
            let count = &mut partners[is_far];
            *count += usize::from(*count <= MOST_PARTNERS);
            partners[..=is_far].iter().sum::<usize>() <= MOST_PARTNERS
        } else {
            let place = against - first;
            if self.charged.len() <= place {
                self.charged.resize(place + 1, [0; 2]);
            }
            let charged = &mut self.charged[place];
            charged[is_far] += u8::from(usize::from(charged[is_far]) <= MOST_PARTNERS);
            charged[..=is_far].iter().map(|&count| usize::from(count)).sum::<usize>() <= MOST_PARTNERS
        };
        if !room {
            self.note(i, separation);
        }
        room
    }

    /// Returns whether body `j` need not be tested as a partner of `i`, which has as many near ones as it may have: it would count against
    /// `i`, and does not overlap it, or it is noted already that something does. (The bench `scenes`, "fast/", in which each of 10,000
    /// bodies has all others within its reach: two steps take 1.8 s, and 5.8 s without this.)
    pub(super) fn refuses(&self, bodies: &Bodies, i: usize, j: usize) -> bool {
        let c = &bodies.columns;
        if c.inv_mass[i] == 0.0 || is_much_smaller(bodies, j, i) {
            return false;
        }
        let apart = (c.pos_x[i] - c.pos_x[j]).abs() > c.ext_x[i] + c.ext_x[j]
            || (c.pos_y[i] - c.pos_y[j]).abs() > c.ext_y[i] + c.ext_y[j];
        apart || self.cut.last() == Some(&(i as u32))
    }

    /// Notes that a body was not given a partner with this separation. Only partners that overlap count: as many may be
    /// within reach of fast bodies that never meet, and those are no heap.
    pub(super) fn note(&mut self, slot: usize, separation: f32) {
        if separation < 0.0 && self.cut.last() != Some(&(slot as u32)) {
            self.cut.push(slot as u32);
        }
    }

    /// Puts the noted slots in order, each once.
    pub(super) fn tidy(&mut self) {
        self.cut.sort_unstable();
        self.cut.dedup();
    }
}

/// Returns true if a body is less than half as large as another one.
pub(super) fn is_much_smaller(bodies: &Bodies, slot: usize, other: usize) -> bool {
    2.0 * size(bodies, slot) < size(bodies, other)
}

/// Returns the larger half extent.
pub(super) fn size(bodies: &Bodies, slot: usize) -> f32 {
    bodies.columns.ext_x[slot].max(bodies.columns.ext_y[slot])
}

/// Moves bodies that are in a crowd a little, each in a direction of its own. Particles are not moved: a change of
/// position is a change of velocity for them.
pub(crate) fn scatter(bodies: &mut Bodies, slots: &[u32]) {
    let c = &mut bodies.columns;
    for &slot in slots {
        let slot = slot as usize;
        let moves = c.kind[slot].motion() == Motion::Dynamic && c.inv_mass[slot] > 0.0;
        if !moves || c.kind[slot].is_particle() {
            continue;
        }
        // The golden section spreads any run of indices evenly over the circle.
        let part = c.handle[slot].index.wrapping_mul(0x9E37_79B9) >> 8;
        let (sin, cos) = sin_cos(part as f32 * (TAU / 16_777_216.0));
        let way = SCATTER * c.ext_x[slot].min(c.ext_y[slot]) * Vec2::new(cos, sin);
        c.pos_x[slot] += way.x;
        c.pos_y[slot] += way.y;
    }
}

//! Crowds: bodies so many in one place that all their pairs would take the machine's memory.
//!
//! 10,000 circles at one point are 50 million pairs; listed and solved, they took 4.4 GB and 31 s a step. No such heap
//! can be resolved in a step: it has to come apart first, and for that each body needs some partners, not all.
//! So the sweep gives a body [`MOST_PARTNERS`] of those in its own band, which are the nearest along the
//! band, as many in the next band, and as many large ones. Which of two bodies a pair counts against:
//!
//! - the smaller, where it is less than half as large: a boulder may touch thousands of pebbles. As long as the boulder's
//!   first partners counted against it, pebbles took the place of another boulder, and of the floor;
//! - otherwise the one that moves, if the other is fixed, so that a heap does not sink through its floor;
//! - otherwise the one for which the sweep looks.
//!
//! Bodies that do not overlap have a handful of partners of their own size or more; at 60 m/s, where bounds are grown by
//! eight radii, some fifty. So only heaps meet the limit. What is left out depends on the order of space alone, not on lanes or
//! threads.
//!
//! Coincident centres are pushed apart along (1, 0), every pair of them: the heap would become a line. So bodies whose
//! partners were cut are moved by a hundredth of their size, each in a direction of its own.

use crate::body::{Bodies, Motion};
use crate::geometry::trig::sin_cos;
use glam::Vec2;
use std::f32::consts::TAU;

/// Most partners that a body is given, in a place, of those that count against it.
pub(crate) const MOST_PARTNERS: usize = 128;

/// By how much of its smaller half extent a body in a crowd is moved.
const SCATTER: f32 = 0.01;

/// What counts against the bodies of a tile for which the sweep does not look at the moment.
#[derive(Default)]
pub(super) struct Crowd {
    /// By slot, from the tile's first on; empty until a body has many neighbours.
    charged: Vec<u8>,
    /// The slots that overlap more bodies than they were given.
    pub cut: Vec<u32>,
}

impl Crowd {
    pub(super) fn clear(&mut self) {
        self.charged.clear();
        self.cut.clear();
    }

    /// Whether body `i`, which has so many partners that count against it, also takes `j`, from which it has this separation; and
    /// counts it. `first` is the slot that `charged` begins with.
    #[cold]
    pub(super) fn admits(
        &mut self,
        bodies: &Bodies,
        first: usize,
        (i, partners): (usize, &mut usize),
        (j, separation): (usize, f32),
    ) -> bool {
        let fixed = |slot: usize| bodies.columns.inv_mass[slot] == 0.0;
        let smaller = |slot: usize, other: usize| 2.0 * size(bodies, slot) < size(bodies, other);
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
        let room = if against == i {
            *partners += usize::from(*partners < MOST_PARTNERS + 1);
            *partners <= MOST_PARTNERS
        } else {
            let place = against - first;
            if self.charged.len() <= place {
                self.charged.resize(place + 1, 0);
            }
            let charged = &mut self.charged[place];
            *charged += u8::from(usize::from(*charged) <= MOST_PARTNERS);
            usize::from(*charged) <= MOST_PARTNERS
        };
        if !room {
            self.note(i, separation);
        }
        room
    }

    /// Notes that a body was not given a partner from which it has this separation. Only of what overlaps: as many may be within reach of
    /// fast bodies that never meet, and they are no heap.
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

/// The larger half extent.
pub(super) fn size(bodies: &Bodies, slot: usize) -> f32 {
    bodies.columns.ext_x[slot].max(bodies.columns.ext_y[slot])
}

/// Moves bodies that are in a crowd a little, each in a direction of its own. Particles are left: their way is their
/// velocity.
pub(crate) fn scatter(bodies: &mut Bodies, slots: &[u32]) {
    let c = &mut bodies.columns;
    for &slot in slots {
        let slot = slot as usize;
        let moves = c.kind[slot].motion() == Motion::Dynamic && c.inv_mass[slot] > 0.0;
        if !moves || c.kind[slot].is_particle() {
            continue;
        }
        // By the golden section, which spreads any run of indices evenly over the circle.
        let part = c.handle[slot].index.wrapping_mul(0x9E37_79B9) >> 8;
        let (sin, cos) = sin_cos(part as f32 * (TAU / 16_777_216.0));
        let way = SCATTER * c.ext_x[slot].min(c.ext_y[slot]) * Vec2::new(cos, sin);
        c.pos_x[slot] += way.x;
        c.pos_y[slot] += way.y;
    }
}

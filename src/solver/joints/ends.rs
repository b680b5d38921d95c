//! The two ends of sixteen joints: which rows the bodies have, where the joint holds them, and how these points move.

use crate::contacts::BLOCK;
use crate::geometry::trig::sin_cos_of_turn;
use crate::lane::{Lane, RowOffset, pair};
use bytemuck::{Pod, Zeroable};

/// One number of each joint of a block.
pub(super) type Column = [f32; BLOCK];

/// A number in place of a body's handle index: the world, which nothing moves.
pub(super) const WORLD: u32 = u32::MAX;
/// A mark in place of a stand-in's number: the body's own row is used.
pub(super) const OWN_ROW: u32 = u32::MAX;

/// The ends, A and B, of sixteen joints. Pairs of columns are those of A and B, or x and y.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
pub(super) struct Ends {
    /// The rows that are read and written. An end that no impulse moves has a *stand-in*: a row of its own with the body's velocity
    /// and no inverse mass, so that joints that share such a body do not write the same row.
    pub rows: [[RowOffset; BLOCK]; 2],
    /// One over the lengths in which the bodies' spins are measured; 0 for a body that does not turn.
    pub inv_spin: [Column; 2],
    /// The points that are held, from the centres, in the world's axes, at the start of the step.
    pub start: [[Column; 2]; 2],
    /// From A's centre to B's at the start of the step.
    pub way: [Column; 2],
    /// The points that are held, from the centres, in the bodies' own axes.
    pub local: [[Column; 2]; 2],
    /// The rows that say where the bodies are at the start of the step.
    pub places: [[RowOffset; BLOCK]; 2],
    /// The handle indices of the bodies, or [`WORLD`].
    pub bodies: [[u32; BLOCK]; 2],
    /// The numbers of the stand-ins, or [`OWN_ROW`].
    pub stand_ins: [[u32; BLOCK]; 2],
    /// The largest impulse and angular impulse at the end of any substep of this step but the last. −1 before the first substep. Only for
    /// joints that may break.
    pub peaks: [Column; 2],
}

/// Where the ends of some joints are.
pub(super) struct Geometry<L> {
    /// From A's point to B's.
    pub gap: [L; 2],
    /// The turn of B minus the turn of A since the start of the step.
    pub angle: L,
    /// Cosine and sine of A's turn since the start of the step. At the start itself: of A's angle in the world.
    pub turn_a: [L; 2],
    /// One over the lengths in which spins are measured.
    pub inv_spin: [L; 2],
    /// From the centres to the points.
    pub arm: [[L; 2]; 2],
}

/// Turns a vector.
#[inline(always)]
pub(super) fn turned<L: Lane>([cos, sin]: [L; 2], [x, y]: [L; 2]) -> [L; 2] {
    [cos * x - sin * y, sin * x + cos * y]
}

/// The third component of the product of two vectors.
#[inline(always)]
pub(super) fn cross<L: Lane>(a: [L; 2], b: [L; 2]) -> L {
    a[0] * b[1] - a[1] * b[0]
}

/// Loads a vector, from lane `i` on.
#[inline(always)]
pub(super) fn load2<L: Lane>(columns: &[Column; 2], i: usize) -> [L; 2] {
    [L::load(&columns[0][i..]), L::load(&columns[1][i..])]
}

/// Stores a vector, from lane `i` on.
#[inline(always)]
pub(super) fn store2<L: Lane>(columns: &mut [Column; 2], i: usize, [x, y]: [L; 2]) {
    x.store(&mut columns[0][i..]);
    y.store(&mut columns[1][i..]);
}

impl Ends {
    /// Notes where the ends are at the start of a step. `a` and `b` are the rows `[x, y, cos, sin]` of the bodies.
    #[inline(always)]
    pub(super) fn begin<L: Lane>(&mut self, i: usize, a: [L; 4], b: [L; 4]) -> Geometry<L> {
        let way = [b[0] - a[0], b[1] - a[1]];
        let arm =
            [turned([a[2], a[3]], load2(&self.local[0], i)), turned([b[2], b[3]], load2(&self.local[1], i))];
        store2(&mut self.way, i, way);
        for (end, arm) in arm.into_iter().enumerate() {
            store2(&mut self.start[end], i, arm);
        }
        let gap = [way[0] + (arm[1][0] - arm[0][0]), way[1] + (arm[1][1] - arm[0][1])];
        Geometry { gap, angle: L::splat(0.0), turn_a: [a[2], a[3]], inv_spin: load2(&self.inv_spin, i), arm }
    }

    /// Where the ends are now. `a` and `b` are the rows of how far the bodies have moved since the start of the step.
    #[inline(always)]
    pub(super) fn update<L: Lane>(&self, i: usize, a: [L; 4], b: [L; 4]) -> Geometry<L> {
        let inv_spin: [L; 2] = load2(&self.inv_spin, i);
        let (turn_a, turn_b) = (a[2] * inv_spin[0], b[2] * inv_spin[1]);
        let ((sin_a, cos_a), (sin_b, cos_b)) = (sin_cos_of_turn(turn_a), sin_cos_of_turn(turn_b));
        let arm = [
            turned([cos_a, sin_a], load2(&self.start[0], i)),
            turned([cos_b, sin_b], load2(&self.start[1], i)),
        ];
        let way: [L; 2] = load2(&self.way, i);
        let gap = [
            way[0] + (b[0] - a[0]) + (arm[1][0] - arm[0][0]),
            way[1] + (b[1] - a[1]) + (arm[1][1] - arm[0][1]),
        ];
        Geometry { gap, angle: turn_b - turn_a, turn_a: [cos_a, sin_a], inv_spin, arm }
    }

    /// Begins a step for joints that may break.
    #[inline(always)]
    pub(super) fn clear_peaks<L: Lane>(&mut self, i: usize) {
        store2(&mut self.peaks, i, [L::splat(-1.0); 2]);
    }

    /// Notes what joints that may break bore in the substep before. In the first substep there is nothing to note: that was the last step.
    #[inline(always)]
    pub(super) fn note_peaks<L: Lane>(&mut self, i: usize, [x, y]: [L; 2], torque: L) {
        let zero = L::splat(0.0);
        let now = [(x * x + y * y).sqrt(), torque.abs()];
        let peaks: [L; 2] = load2(&self.peaks, i);
        let of = pair!(part => L::select(peaks[part].lt(zero), zero, peaks[part].max(now[part])));
        store2(&mut self.peaks, i, of);
    }

    /// Notes what joints that may break bear in a blow.
    #[inline(always)]
    pub(super) fn note_blow<L: Lane>(&mut self, i: usize, struck: L::Mask, [x, y]: [L; 2], torque: L) {
        let now = [(x * x + y * y).sqrt(), torque.abs()];
        let peaks: [L; 2] = load2(&self.peaks, i);
        let of = pair!(part => L::select(struck, peaks[part].max(now[part]), peaks[part]));
        store2(&mut self.peaks, i, of);
    }

    /// The rows that say where A and B are at the start of the step.
    #[inline(always)]
    pub(super) fn places(&self, i: usize) -> [&[RowOffset]; 2] {
        [&self.places[0][i..], &self.places[1][i..]]
    }

    /// The rows of A's and B's velocities.
    #[inline(always)]
    pub(super) fn rows(&self, i: usize) -> [&[RowOffset]; 2] {
        [&self.rows[0][i..], &self.rows[1][i..]]
    }
}

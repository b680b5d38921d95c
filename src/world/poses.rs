//! Poses of all bodies in a host's own buffer.
//!
//! Bodies are read in blocks: neighbours in storage without a gap, or any slots and rows. Up to four fields of a body are written at once. (Each field
//! of a block by itself, from lists of slots and rows, took 1.6 times as long for three fields: `peers -- --hosting`, commits e5705d4 and a1b1328.)

use super::World;
use super::bulk::Order;
use crate::body::Motion;
use crate::error::Error;
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::{Lane, lane_entry, with_lanes};
use std::ops::Range;

/// A number that [`World::write_poses`] writes for each body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoseField {
    /// Position of the centre along x, m.
    X,
    /// Position of the centre along y, m.
    Y,
    /// Angle, counter-clockwise, rad, in [−π, π].
    Angle,
    /// Cosine of the angle.
    Cos,
    /// Sine of the angle.
    Sin,
    /// Velocity along x, m/s.
    VelX,
    /// Velocity along y, m/s.
    VelY,
    /// Angular velocity, rad/s.
    Spin,
}

/// Bodies of a block: a multiple of the widest lane.
const BLOCK: usize = 256;

/// The most fields that are written at once.
const AT_ONCE: usize = 4;

/// Which bodies of a block are written where.
trait Rows {
    /// The slot of each body, and where its row begins in the buffer.
    fn each(&self) -> impl Iterator<Item = (usize, usize)>;
    /// If they are neighbours in storage, and their rows of `fields` numbers have nothing between them: the slots, and where the first row begins.
    fn side_by_side(&self, _fields: usize) -> Option<(Range<usize>, usize)> {
        None
    }
}

/// Neighbours in storage.
struct Span {
    slots: Range<usize>,
    first: usize,
    stride: usize,
}

impl Rows for Span {
    #[inline(always)]
    fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.slots.len()).map(|index| (self.slots.start + index, self.first + index * self.stride))
    }

    #[inline(always)]
    fn side_by_side(&self, fields: usize) -> Option<(Range<usize>, usize)> {
        (self.stride == fields).then(|| (self.slots.clone(), self.first))
    }
}

/// Any bodies.
struct Block {
    slots: [u32; BLOCK],
    rows: [usize; BLOCK],
    len: usize,
}

impl Rows for Block {
    #[inline(always)]
    fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        self.slots[..self.len].iter().zip(&self.rows).map(|(&slot, &row)| (slot as usize, row))
    }
}

impl World {
    /// Writes the fields of all bodies into a buffer: those of the first body from `out[0]` on, those of the next one from `out[stride]` on. It leaves the
    /// rest of `out` as it is. Returns the number of bodies, which is [`World::total_count`]. [`World::handles_in`] says which they are.
    /// The velocities of a body that is not enabled are 0, as in [`World::columns`].
    ///
    /// In the order of storage it writes row after row. In the order in which bodies were added, each row is written somewhere else;
    /// if bodies were removed, and their handle indices are free, each number is also read somewhere else.
    ///
    /// ```
    /// use granule::{BodyDesc, Order, PoseField, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(1.0, 2.0)))?;
    /// // Three numbers of four are the engine's; the fourth is a colour of the host.
    /// let mut instances = vec![0.0; 4 * world.total_count()];
    /// let fields = [PoseField::X, PoseField::Y, PoseField::Angle];
    /// world.write_poses(&mut instances, 4, &fields, Order::Added)?;
    /// assert_eq!(instances, [1.0, 2.0, 0.0, 0.0]);
    /// # Ok::<(), granule::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a stride of fewer numbers than there are fields, and for a buffer that is too short.
    pub fn write_poses(
        &self,
        out: &mut [f32],
        stride: usize,
        fields: &[PoseField],
        order: Order,
    ) -> Result<usize, Error> {
        if stride < fields.len() || stride == 0 {
            return Err(Error::Invalid { field: "stride", reason: "less than the number of fields" });
        }
        let count = self.total_count();
        let needed =
            count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(fields.len()));
        if needed.is_none_or(|needed| needed > out.len()) {
            return Err(Error::Invalid { field: "buffer", reason: "too short for all bodies" });
        }
        let mut block = Block { slots: [0; BLOCK], rows: [0; BLOCK], len: 0 };
        let mut put = |slot: usize, row: usize| {
            (block.slots[block.len], block.rows[block.len]) = (slot as u32, row * stride);
            block.len += 1;
            if block.len == BLOCK {
                self.write_rows(&block, fields, out);
                block.len = 0;
            }
        };
        let [handles, _] = self.bodies.table_lengths();
        let kinds = &self.bodies.columns.kind[..self.bodies.len];
        let alive = |slot: &usize| kinds[*slot].motion() != Motion::Dead;
        match order {
            Order::Stored => {
                let (mut slot, mut row, full) = (0, 0, count == kinds.len());
                while slot < kinds.len() {
                    let block = slot..kinds.len().min(slot + BLOCK);
                    let span = if full { block.len() } else { block.take_while(alive).count() };
                    let slots = slot..slot + span;
                    self.write_rows(&Span { slots, first: row * stride, stride }, fields, out);
                    (slot, row) = (slot + span.max(1), row + span);
                }
                return Ok(count);
            }
            // No index is free: a body's row is its index.
            Order::Added if handles == count => {
                let handles = &self.bodies.columns.handle;
                (0..self.bodies.len).filter(alive).for_each(|slot| put(slot, handles[slot].index as usize));
            }
            Order::Added => {
                self.bodies.by_index().enumerate().for_each(|(row, (_, slot))| put(slot, row));
            }
        }
        self.write_rows(&block, fields, out);
        Ok(count)
    }

    fn write_rows(&self, rows: &impl Rows, fields: &[PoseField], out: &mut [f32]) {
        let c = &self.bodies.columns;
        let turned = fields.iter().any(|field| matches!(field, PoseField::Cos | PoseField::Sin));
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        if turned {
            sin.iter_mut().zip(rows.each()).for_each(|(angle, (slot, _))| *angle = c.angle[slot]);
            rotate(self.level, &mut sin, &mut cos);
        }
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| !field.is_stored()) {
            let values = if *field == PoseField::Cos { &cos } else { &sin };
            rows.each().zip(values).for_each(|((_, row), &value)| out[row + place] = value);
        }
        let column = |field: &PoseField| match field {
            PoseField::X => &c.pos_x[..],
            PoseField::Y => &c.pos_y,
            PoseField::VelX => &c.vel_x,
            PoseField::VelY => &c.vel_y,
            PoseField::Spin => &c.omega,
            PoseField::Angle | PoseField::Cos | PoseField::Sin => &c.angle,
        };
        let mut place = 0;
        for run in fields.chunk_by(|one, next| one.is_stored() && next.is_stored()) {
            for fields in run.chunks(AT_ONCE).filter(|fields| fields[0].is_stored()) {
                match fields {
                    [a] => self.interleave([a].map(column), rows, place, out),
                    [a, b] => self.interleave([a, b].map(column), rows, place, out),
                    [a, b, c] => self.interleave([a, b, c].map(column), rows, place, out),
                    [a, b, c, d, ..] => self.interleave([a, b, c, d].map(column), rows, place, out),
                    [] => {}
                }
                place += fields.len();
            }
            place += if run[0].is_stored() { 0 } else { run.len() };
        }
    }
}

impl World {
    /// Writes some columns next to each other, from `place` in each row.
    #[inline(always)]
    fn interleave<const N: usize>(
        &self,
        columns: [&[f32]; N],
        rows: &impl Rows,
        place: usize,
        out: &mut [f32],
    ) {
        if let Some((slots, first)) = rows.side_by_side(N) {
            let out = &mut out[first..][..N * slots.len()];
            let columns = columns.map(|column| &column[slots.clone()]);
            return with_lanes!(self.level, L => weave::<L, N>(&columns, out));
        }
        for (slot, row) in rows.each() {
            let to = &mut out[row + place..][..N];
            for (to, column) in to.iter_mut().zip(columns) {
                *to = column[slot];
            }
        }
    }
}

impl PoseField {
    /// Whether it is a column of the bodies.
    fn is_stored(self) -> bool {
        !matches!(self, PoseField::Cos | PoseField::Sin)
    }
}

lane_entry! {
    /// Writes columns next to each other, row after row.
    fn weave[const N: usize][N](columns: &[&[f32]; N], out: &mut [f32]) = weave_lanes;
}

/// The vectors are those of the compiler, which knows how to store every N-th number.
#[inline(always)]
fn weave_lanes<L: Lane, const N: usize>(columns: &[&[f32]; N], out: &mut [f32]) {
    let rows = out.len() / N;
    let mut short = *columns;
    for column in &mut short {
        *column = &column[..rows];
    }
    for (i, to) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        for (to, column) in to.iter_mut().zip(short) {
            *to = column[i];
        }
    }
}

fn rotate(level: Level, sin: &mut [f32; BLOCK], cos: &mut [f32; BLOCK]) {
    with_lanes!(level, L => rotations::<L>(sin, cos));
}

lane_entry! {
    /// Replaces angles by their sines, and writes their cosines.
    fn rotations[][](sin: &mut [f32; BLOCK], cos: &mut [f32; BLOCK]) = rotation_lanes;
}

#[inline(always)]
fn rotation_lanes<L: Lane>(sin: &mut [f32; BLOCK], cos: &mut [f32; BLOCK]) {
    for i in (0..BLOCK).step_by(L::WIDTH) {
        let (s, c) = sin_cos(L::load(&sin[i..]));
        s.store(&mut sin[i..]);
        c.store(&mut cos[i..]);
    }
}

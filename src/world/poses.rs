//! Poses of all bodies in a host's own buffer.
//!
//! Bodies are read in blocks. For each field of a block, one loop reads a column and writes with the buffer's stride, so that a block of the
//! buffer stays in the nearest cache until it is complete.

use super::World;
use super::bulk::Order;
use crate::body::Motion;
use crate::error::Error;
use crate::geometry::trig::sin_cos;
use crate::isa::Level;
use crate::lane::{Lane, lane_entry, with_lanes};

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

/// The slots of a block, and where their rows begin in the buffer.
struct Block {
    slots: [u32; BLOCK],
    rows: [usize; BLOCK],
    len: usize,
}

impl World {
    /// Writes the fields of all bodies into a buffer: those of the first body from `out[0]` on, those of the next one from `out[stride]` on. It leaves the
    /// rest of `out` as it is. Returns the number of bodies, which is [`World::total_count`]. [`World::handles_in`] says which they are.
    ///
    /// In the order of storage it runs at the speed of memory. In the order in which bodies were added, each row is written somewhere else;
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
                self.write_block(&mut block, fields, out);
            }
        };
        let [handles, _] = self.bodies.table_lengths();
        let kinds = &self.bodies.columns.kind[..self.bodies.len];
        let alive = |slot: &usize| kinds[*slot].motion() != Motion::Dead;
        match order {
            Order::Stored => {
                (0..self.bodies.len).filter(alive).enumerate().for_each(|(row, slot)| put(slot, row))
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
        self.write_block(&mut block, fields, out);
        Ok(count)
    }

    /// Writes a block, and empties it.
    fn write_block(&self, block: &mut Block, fields: &[PoseField], out: &mut [f32]) {
        let (slots, rows) = (&block.slots[..block.len], &block.rows[..block.len]);
        let c = &self.bodies.columns;
        let turned = fields.iter().any(|field| matches!(field, PoseField::Cos | PoseField::Sin));
        let (mut sin, mut cos) = ([0.0; BLOCK], [0.0; BLOCK]);
        if turned {
            for (angle, &slot) in sin.iter_mut().zip(slots) {
                *angle = c.angle[slot as usize];
            }
            rotate(self.level, &mut sin, &mut cos);
        }
        for (place, field) in fields.iter().enumerate() {
            let column = match field {
                PoseField::X => &c.pos_x,
                PoseField::Y => &c.pos_y,
                PoseField::Angle => &c.angle,
                PoseField::VelX => &c.vel_x,
                PoseField::VelY => &c.vel_y,
                PoseField::Spin => &c.omega,
                PoseField::Cos | PoseField::Sin => {
                    let values = if *field == PoseField::Cos { &cos } else { &sin };
                    rows.iter().zip(values).for_each(|(&row, &value)| out[row + place] = value);
                    continue;
                }
            };
            for (&slot, &row) in slots.iter().zip(rows) {
                out[row + place] = column[slot as usize];
            }
        }
        block.len = 0;
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

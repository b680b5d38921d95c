//! What a snapshot holds of the joints' solver: the blocks, as they lie in memory. The rows in them are looked up anew before they are
//! used (`begin.rs`).

use super::ends::{OWN_ROW, WORLD};
use super::store::{COLOURS, Colour, SERIAL, Store, block_and_lane, each_store};
use super::sweep::Block;
use super::{GEARS, JointSolver, ends_of_any, is_moved};
use crate::base::codec::{Read, Reader, Stored, Writer, require};
use crate::body::Bodies;
use crate::contacts::BLOCK;
use crate::joints::table::{Joints, Place};

impl<B: Block> Stored for Colour<B> {
    fn write(&self, to: &mut Writer<'_>) {
        let Colour { blocks, lanes, used } = self;
        to.length(*used);
        to.length(blocks.len());
        to.mark();
        to.begin_raw();
        to.raw(blocks);
        lanes.write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.used = from.length()?;
        let blocks = from.length()?;
        require!(blocks == self.used.div_ceil(BLOCK), "{} joints in {blocks} blocks", self.used);
        from.mark()?;
        from.begin_raw()?;
        from.raw(&mut self.blocks, blocks)?;
        self.lanes.read(from)?;
        require!(self.lanes.fits(blocks), "joints in {blocks} blocks are not all known");
        Ok(())
    }

    fn blank() -> Self {
        Colour::default()
    }
}

impl<B: Block> Stored for Store<B> {
    fn write(&self, to: &mut Writer<'_>) {
        self.colours.write(to);
        self.serial.write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        self.colours.read(from)?;
        require!(self.colours.len() <= COLOURS, "{} colours", self.colours.len());
        self.serial.read(from)
    }

    fn blank() -> Self {
        Store::default()
    }
}

impl JointSolver {
    pub(crate) fn write_state(&self, to: &mut Writer<'_>) {
        let JointSolver {
            pivots,
            slides,
            wheels,
            lines,
            gears,
            welds,
            taken,
            stand_ins,
            free_stand_ins,
            stand_in_slots: _,
            count: _,
            step,
            slots_moved: _,
            edited: _,
            rows: _,
        } = self;
        to.mark();
        pivots.write(to);
        slides.write(to);
        wheels.write(to);
        lines.write(to);
        gears.write(to);
        welds.write(to);
        to.mark();
        taken.write(to);
        stand_ins.write(to);
        free_stand_ins.write(to);
        step.write(to);
    }

    pub(crate) fn read_state(&mut self, joints: &Joints, bodies: &Bodies, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        self.pivots.read(from)?;
        self.slides.read(from)?;
        self.wheels.read(from)?;
        self.lines.read(from)?;
        self.gears.read(from)?;
        self.welds.read(from)?;
        from.mark()?;
        self.taken.read(from)?;
        self.stand_ins.read(from)?;
        self.free_stand_ins.read(from)?;
        self.step.read(from)?;
        self.count = joints.iter().filter(|(_, joint)| joint.place.is_some()).count();
        self.slots_moved = true;
        self.edited.clear();
        self.rows = [0; 3];
        self.stand_in_slots.clear();
        self.stand_in_slots.reserve(self.stand_ins.len());
        self.check(joints, bodies)
    }

    /// Checks that each joint has the lane that it names, with its own bodies, and that all stand-ins are there.
    fn check(&mut self, joints: &Joints, bodies: &Bodies) -> Read {
        let count = self.stand_ins.len();
        let free = self.free_stand_ins.iter().all(|&number| (number as usize) < count);
        require!(free && self.free_stand_ins.len() <= count, "a free stand-in is none");
        let mut lanes = 0;
        each_store!([&self], _, store => lanes += store.all().map(|(_, colour)| colour.used).sum::<usize>());
        require!(lanes == self.count, "{lanes} lanes for {} joints", self.count);
        for (handle, joint) in joints.iter() {
            let Some(place) = joint.place else { continue };
            let Place { store, colour, lane } = place;
            require!(Some(store) == super::store_of(&joint.desc.kind), "{handle:?} is among other kinds");
            let used = super::with_store!([&self], store, store => store.colour(colour).map_or(0, |colour| colour.used));
            require!((lane as usize) < used, "{handle:?} has lane {lane} of {used}");
            let (_, at) = block_and_lane(lane);
            let ends = ends_of_any(joint, joints);
            for motion in 0..if store == GEARS { 2 } else { 1 } {
                for side in 0..2 {
                    let of_lane = self.ends_of(place, motion);
                    let (body, stand_in) = (of_lane.bodies[side][at], of_lane.stand_ins[side][at]);
                    let wanted = ends[2 * motion + side].unwrap_or(WORLD);
                    require!(body == wanted, "{handle:?} has body {body} in its lane, not {wanted}");
                    if stand_in == OWN_ROW {
                        let moved = is_moved(body, bodies) || colour == SERIAL || body == WORLD;
                        let known = moved || bodies.slot_at(body).is_some();
                        require!(known, "{handle:?} moves body {body}, which is none");
                    } else {
                        require!((stand_in as usize) < count, "{handle:?} has a stand-in that is not there");
                    }
                }
            }
        }
        self.validate(joints, bodies)?;
        Ok(())
    }
}

//! What joints need at the start of a step: the rows of their bodies, the rows of the stand-ins, and the angles between bodies.

use super::drive::feature;
use super::ends::{Ends, OWN_ROW, WORLD};
use super::layout::Substep;
use super::store::{Colour, STORES, Store, block_and_lane, each_store, with_store};
use super::sweep::Block;
use super::weld::WeldBlock;
use super::{JointSolver, WELDS, ends_of};
use crate::body::{Bodies, BodyHandle};
use crate::contacts::BLOCK;
use crate::joints::desc::{JointEnds, JointKind};
use crate::joints::table::{Joint, Joints, Place};
use crate::lane::{Row, RowOffset};

/// The rows of a step: where those of the joints begin, and how many there are.
#[derive(Clone, Copy)]
struct RowMap {
    /// The number of rows of bodies. The next row is the padding of the first tile. It stands still, and serves as the world's row.
    bodies: usize,
    /// The number of rows of bodies and of the tiles' padding.
    base: usize,
    stand_ins: usize,
}

/// So many joints may come and go before every block is looked up, and more in a world of many joints.
const FEW_EDITS: usize = 16;

/// The slot of a body, given by its handle index, or [`WORLD`].
pub(super) fn slot_of(body: u32, bodies: &Bodies) -> u32 {
    bodies.slot_at(body).map_or(WORLD, |slot| slot as u32)
}

impl Ends {
    /// Looks up the rows of the joints in a block's first lanes, and names the padding in the others. What keeps the kernels within
    /// bounds is here: each row is one of the map's, or that of a stand-in.
    fn look_up(&mut self, used: usize, store: usize, bodies: &Bodies, map: RowMap) {
        let padding = (map.base + store) as u32;
        for side in 0..2 {
            for lane in 0..BLOCK {
                let mut row = padding;
                let mut place = map.bodies as u32;
                let mut inv_spin = 0.0;
                if lane < used {
                    let slot = bodies.slot_at(self.bodies[side][lane]);
                    if let Some(slot) = slot {
                        place = slot as u32;
                        let radius = bodies.columns.radius[slot];
                        inv_spin = if radius > 0.0 { 1.0 / radius } else { 0.0 };
                    }
                    row = match self.stand_ins[side][lane] {
                        OWN_ROW => slot.map_or(padding, |slot| slot as u32),
                        stand_in => {
                            assert!((stand_in as usize) < map.stand_ins, "a stand-in that is not there");
                            (map.base + STORES) as u32 + stand_in
                        }
                    };
                }
                assert!(place as usize <= map.bodies, "a body beyond the rows");
                self.rows[side][lane] = RowOffset::of(row);
                self.places[side][lane] = RowOffset::of(place);
                self.inv_spin[side][lane] = inv_spin;
            }
        }
    }
}

impl JointSolver {
    /// Brings everything up to date at the start of a step. The two lengths are those of the last step's substeps and of this step's,
    /// s. `vel` and `accum` are the rows of all bodies, then padding, then the rows that the joints asked for.
    pub(crate) fn begin_step(
        &mut self,
        joints: &Joints,
        bodies: &Bodies,
        [last_substep, substep]: [f32; 2],
        [vel, accum]: [&mut [Row]; 2],
    ) {
        if self.is_empty() {
            return;
        }
        let step = Substep::after(last_substep, substep);
        if self.step != step {
            self.step = step;
            (0..joints.capacity() as u32).for_each(|index| self.write(index, joints));
        }
        let total = vel.len();
        let base = total - self.extra_rows();
        let rows = [bodies.len, base, total];
        if std::mem::take(&mut self.slots_moved) || self.rows != rows {
            self.rows = rows;
            self.look_up(bodies);
        } else {
            self.look_up_edited(bodies);
        }
        self.edited.clear();
        for padding in &mut vel[base..base + STORES] {
            *padding = Row([0.0, 0.0, 0.0, 1.0]);
        }
        for (number, &slot) in self.stand_in_slots.iter().enumerate() {
            let mut row = vel.get(slot as usize).copied().unwrap_or_default();
            row.0[3] = 0.0;
            vel[base + STORES + number] = row;
        }
        accum[base..].fill(Row::default());
        self.note_angles(joints, bodies);
    }

    fn look_up(&mut self, bodies: &Bodies) {
        self.stand_in_slots.clear();
        self.stand_in_slots.extend(self.stand_ins.iter().map(|&body| slot_of(body, bodies)));
        let map = self.row_map();
        each_store!([&mut self], number, store => store.look_up(number, bodies, map));
        self.welds.note_counts(&self.taken);
    }

    fn row_map(&self) -> RowMap {
        RowMap { bodies: self.rows[0], base: self.rows[1], stand_ins: self.stand_ins.len() }
    }

    /// Looks up the blocks in which joints came or went. (In a grid of 10,000 circles, to look up all of them took a
    /// tenth of a step: the bench `scenes`, "joints/".)
    fn look_up_edited(&mut self, bodies: &Bodies) {
        let map = self.row_map();
        for edit in 0..self.edited.len() {
            let Place { store: number, colour, lane } = self.edited[edit];
            let (block, _) = block_and_lane(lane);
            with_store!([&mut self], number, store => {
                store.colour_mut(colour).look_up(block, usize::from(number), bodies, map);
            });
            if number == WELDS {
                self.welds.colour_mut(colour).note_counts(block, &self.taken);
            }
        }
    }

    /// Notes that a joint came into a lane, or left it.
    pub(super) fn note_edited(&mut self, place: Place) {
        if self.slots_moved {
            return;
        }
        // To look up every block costs less than to look up most of them one by one.
        if self.edited.len() < FEW_EDITS + self.count / (2 * BLOCK) {
            self.edited.push(place);
        } else {
            self.slots_moved = true;
        }
    }

    /// Notes that a body, given by its handle index, has another number of joints, which matters to the welds among them.
    pub(super) fn note_welds_of(&mut self, body: u32, joints: &Joints) {
        if self.slots_moved || self.welds.all().next().is_none() {
            return;
        }
        for index in joints.of_index(body) {
            let place = joints.at(index).and_then(|(_, joint)| joint.place);
            if let Some(place) = place.filter(|place| place.store == WELDS) {
                self.note_edited(place);
            }
            if self.slots_moved {
                return;
            }
        }
    }

    /// Notes the angles between bodies, for the joints that look at them.
    fn note_angles(&mut self, joints: &Joints, bodies: &Bodies) {
        each_store!([&mut self], _, store => store.note_angles(joints, bodies));
    }
}

impl<B: Block> Colour<B> {
    /// Looks up the rows of a block, if it is still there.
    fn look_up(&mut self, block: usize, store: usize, bodies: &Bodies, map: RowMap) {
        if block >= self.blocks.len() {
            return;
        }
        let used = self.used_of(block);
        for motion in 0..B::MOTIONS {
            self.blocks[block].ends_of(motion).look_up(used, store, bodies, map);
        }
    }
}

impl<B: Block> Store<B> {
    fn look_up(&mut self, number: usize, bodies: &Bodies, map: RowMap) {
        for colour in self.all_mut() {
            (0..colour.blocks.len()).for_each(|block| colour.look_up(block, number, bodies, map));
        }
    }

    fn note_angles(&mut self, joints: &Joints, bodies: &Bodies) {
        for colour in self.all_mut() {
            for known in colour.lanes.with(feature::ANGLE) {
                let Some((_, joint)) = joints.at(known.joint) else { continue };
                let angle = match joint.desc.ends {
                    JointEnds::Joints(..) => gear_error(joint, joints, bodies),
                    _ => angle_of(joint, bodies),
                };
                let wrapped = known.features & feature::WRAPPED != 0;
                colour.blocks[known.block].note_angle(known.lane, angle, wrapped);
            }
        }
    }
}

impl Store<WeldBlock> {
    fn note_counts(&mut self, taken: &[u64]) {
        for colour in self.all_mut() {
            (0..colour.blocks.len()).for_each(|block| colour.note_counts(block, taken));
        }
    }
}

impl Colour<WeldBlock> {
    /// Notes how many joints the bodies of a block have, if it is still there. `taken` has the colours of each body.
    fn note_counts(&mut self, block: usize, taken: &[u64]) {
        if block >= self.blocks.len() {
            return;
        }
        let count = |&body: &u32| taken.get(body as usize).map_or(0, |taken| taken.count_ones());
        for lane in 0..self.used_of(block) {
            let weld = &mut self.blocks[block];
            let Ends { bodies, stand_ins, .. } = &weld.ends;
            let own = |side: usize| stand_ins[side][lane] == OWN_ROW;
            let counts = [0, 1].map(|side| if own(side) { count(&bodies[side][lane]) } else { 0 });
            weld.set_counts(lane, counts);
        }
    }
}

/// The angle from A's frame to B's, rad, beyond whole turns.
pub(crate) fn angle_of(joint: &Joint, bodies: &Bodies) -> f64 {
    let of = |body: Option<BodyHandle>| {
        let slot = body.and_then(|body| bodies.slot_at(body.index));
        slot.map_or((0.0, 0), |slot| (bodies.columns.angle[slot], bodies.columns.turns[slot]))
    };
    let [(angle_a, turns_a), (angle_b, turns_b)] = ends_of(&joint.desc).map(of);
    let frames = f64::from(joint.desc.frame_b.angle) - f64::from(joint.desc.frame_a.angle);
    let turns = i64::from(turns_b) - i64::from(turns_a) - i64::from(joint.turns);
    f64::from(angle_b) - f64::from(angle_a) + frames + std::f64::consts::TAU * turns as f64
}

/// The part of a gear's error that comes from angles, minus the constant.
fn gear_error(gear: &Joint, joints: &Joints, bodies: &Bodies) -> f64 {
    let (JointEnds::Joints(first, second), JointKind::Gear { ratio }) = (gear.desc.ends, gear.desc.kind)
    else {
        return 0.0;
    };
    let angle = |member| match joints.get(member) {
        Ok(joint) if matches!(joint.desc.kind, JointKind::Revolute(_)) => angle_of(joint, bodies),
        _ => 0.0,
    };
    angle(first) + f64::from(ratio) * angle(second) - gear.constant
}

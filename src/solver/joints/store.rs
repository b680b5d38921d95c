//! The blocks of the joints of one kind, by colours.

use super::sweep::Block;
use crate::contacts::BLOCK;

/// The stores, by [`Place::store`](crate::joints::table::Place).
pub(super) const STORES: usize = 6;

/// Runs `$body` with `$store` bound to the store of this number, in `&solver` or `&mut solver`.
macro_rules! with_store {
    ([$($solver:tt)+], $number:expr, $store:ident => $body:expr) => {
        match $number {
            0 => {
                let $store = $($solver)+.pivots;
                $body
            }
            1 => {
                let $store = $($solver)+.slides;
                $body
            }
            2 => {
                let $store = $($solver)+.wheels;
                $body
            }
            3 => {
                let $store = $($solver)+.lines;
                $body
            }
            4 => {
                let $store = $($solver)+.gears;
                $body
            }
            _ => {
                let $store = $($solver)+.welds;
                $body
            }
        }
    };
}
pub(super) use with_store;

/// Runs `$body` for each store, one after the other, with `$number` bound to its number and `$store` to it.
macro_rules! each_store {
    (@ [$($solver:tt)+] $field:ident, $index:literal, $number:pat, $store:ident => $body:expr) => {{
        let $number = $index;
        let $store = $($solver)+.$field;
        $body;
    }};
    ($solver:tt, $number:pat, $store:ident => $body:expr) => {
        each_store!(@ $solver pivots, 0, $number, $store => $body);
        each_store!(@ $solver slides, 1, $number, $store => $body);
        each_store!(@ $solver wheels, 2, $number, $store => $body);
        each_store!(@ $solver lines, 3, $number, $store => $body);
        each_store!(@ $solver gears, 4, $number, $store => $body);
        each_store!(@ $solver welds, 5, $number, $store => $body);
    };
}
pub(super) use each_store;

/// Joints of one colour: no two of them move the same body.
pub(super) struct Colour<B> {
    pub blocks: Vec<B>,
    pub lanes: Lanes,
    /// The lanes in use: the first ones.
    pub used: usize,
}

/// What is known of the joints in the lanes of a colour.
#[derive(Default)]
pub(super) struct Lanes {
    /// What some joint of a block has: see `drive.rs`.
    pub features: Vec<u32>,
    joints: Vec<[u32; BLOCK]>,
    joint_features: Vec<[u32; BLOCK]>,
}

crate::base::codec::stored!(Lanes { features, joints, joint_features });

/// What is known of the joint in a lane.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub block: usize,
    pub lane: usize,
    /// The handle index of the joint.
    pub joint: u32,
    pub features: u32,
}

impl<B> Default for Colour<B> {
    fn default() -> Self {
        Colour { blocks: Vec::new(), lanes: Lanes::default(), used: 0 }
    }
}

/// The block of a lane, and the lane's number there.
pub(super) fn block_and_lane(lane: u32) -> (usize, usize) {
    (lane as usize / BLOCK, lane as usize % BLOCK)
}

impl Lanes {
    /// Returns true if these are the lanes of so many blocks.
    pub(super) fn fits(&self, blocks: usize) -> bool {
        [self.features.len(), self.joints.len(), self.joint_features.len()] == [blocks; 3]
    }

    fn push(&mut self) {
        self.features.push(0);
        self.joints.push([0; BLOCK]);
        self.joint_features.push([0; BLOCK]);
    }

    fn pop(&mut self) {
        self.features.pop();
        self.joints.pop();
        self.joint_features.pop();
    }

    fn set_features(&mut self, lane: u32, features: u32) {
        let (block, lane) = block_and_lane(lane);
        self.joint_features[block][lane] = features;
        self.features[block] = self.joint_features[block].iter().fold(0, |all, one| all | one);
    }

    pub(super) fn known(&self, lane: u32) -> Known {
        let (block, lane) = block_and_lane(lane);
        self.known_in(block, lane)
    }

    /// The handle index of the joint in a lane.
    pub(super) fn joint(&self, block: usize, lane: usize) -> u32 {
        self.joints[block][lane]
    }

    fn known_in(&self, block: usize, lane: usize) -> Known {
        Known { block, lane, joint: self.joints[block][lane], features: self.joint_features[block][lane] }
    }

    /// The joints that have a feature, in the order of their lanes. Blocks that do not have it are passed over.
    pub(super) fn with(&self, feature: u32) -> impl Iterator<Item = Known> + '_ {
        let blocks = (0..self.features.len()).filter(move |&block| self.features[block] & feature != 0);
        let lanes = blocks.flat_map(move |block| (0..BLOCK).map(move |lane| self.known_in(block, lane)));
        lanes.filter(move |known| known.features & feature != 0)
    }
}

impl<B: Block> Colour<B> {
    /// Takes a lane into use for a joint, given by its handle index. All of its columns are 0.
    pub(super) fn push(&mut self, joint: u32) -> u32 {
        if self.used == self.blocks.len() * BLOCK {
            self.blocks.push(B::zeroed());
            self.lanes.push();
        }
        let lane = self.used as u32;
        self.used += 1;
        let (block, at) = block_and_lane(lane);
        self.lanes.joints[block][at] = joint;
        lane
    }

    /// Frees a lane. The last lane moves there; returns its joint, if it is another one.
    pub(super) fn remove(&mut self, lane: u32) -> Option<u32> {
        let last = self.used as u32 - 1;
        let (last_block, last_at) = block_and_lane(last);
        let mut moved = None;
        if lane != last {
            let (block, at) = block_and_lane(lane);
            let from = self.blocks[last_block];
            for (to, from) in columns_mut(&mut self.blocks[block]).iter_mut().zip(columns(&from)) {
                to[at] = from[last_at];
            }
            let Known { joint, features, .. } = self.lanes.known(last);
            self.lanes.joints[block][at] = joint;
            self.set_features(lane, features);
            moved = Some(joint);
        }
        self.set_features(last, 0);
        columns_mut(&mut self.blocks[last_block]).iter_mut().for_each(|column| column[last_at] = 0);
        self.used = last as usize;
        if last_at == 0 {
            self.blocks.pop();
            self.lanes.pop();
        }
        moved
    }

    /// Copies all columns of a lane.
    pub(super) fn columns_of(&self, lane: u32) -> Vec<u32> {
        let (block, at) = block_and_lane(lane);
        columns(&self.blocks[block]).iter().map(|column| column[at]).collect()
    }

    /// Writes all columns of a lane.
    pub(super) fn put(&mut self, lane: u32, values: &[u32]) {
        let (block, at) = block_and_lane(lane);
        for (column, &value) in columns_mut(&mut self.blocks[block]).iter_mut().zip(values) {
            column[at] = value;
        }
    }

    pub(super) fn set_features(&mut self, lane: u32, features: u32) {
        self.lanes.set_features(lane, features);
    }

    /// The number of lanes of a block that are in use.
    pub(super) fn used_of(&self, block: usize) -> usize {
        (self.used - block * BLOCK).min(BLOCK)
    }
}

/// A block as columns of four bytes a lane.
fn columns<B: Block>(block: &B) -> &[[u32; BLOCK]] {
    bytemuck::cast_slice(std::slice::from_ref(block))
}

/// A block as columns of four bytes a lane, to be written.
fn columns_mut<B: Block>(block: &mut B) -> &mut [[u32; BLOCK]] {
    bytemuck::cast_slice_mut(std::slice::from_mut(block))
}

/// All blocks of joints of one kind.
pub(super) struct Store<B> {
    pub colours: Vec<Colour<B>>,
    /// The joints that got no colour, because a body has more joints than there are colours. They are solved one after the other.
    pub serial: Colour<B>,
}

impl<B> Default for Store<B> {
    fn default() -> Self {
        Store { colours: Vec::new(), serial: Colour::default() }
    }
}

/// The number of colours.
pub(super) const COLOURS: usize = 63;
/// A number in place of a colour: the joint has none.
pub(crate) const SERIAL: u8 = COLOURS as u8;

impl<B: Block> Store<B> {
    pub(super) fn colour_mut(&mut self, colour: u8) -> &mut Colour<B> {
        if colour == SERIAL {
            return &mut self.serial;
        }
        let colour = usize::from(colour);
        if self.colours.len() <= colour {
            self.colours.resize_with(colour + 1, Colour::default);
        }
        &mut self.colours[colour]
    }

    pub(super) fn colour(&self, colour: u8) -> Option<&Colour<B>> {
        if colour == SERIAL { Some(&self.serial) } else { self.colours.get(usize::from(colour)) }
    }

    /// All colours that are in use, the one without colour last.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Colour<B>> {
        self.colours.iter_mut().chain([&mut self.serial]).filter(|colour| colour.used > 0)
    }

    /// All colours that are in use, to be read, with their numbers; the one without colour last.
    pub(super) fn all(&self) -> impl Iterator<Item = (u8, &Colour<B>)> {
        let coloured = self.colours.iter().enumerate().map(|(number, colour)| (number as u8, colour));
        coloured.chain([(SERIAL, &self.serial)]).filter(|(_, colour)| colour.used > 0)
    }
}

//! The blocks of the joints of one kind, by colours.

use super::sweep::Block;
use crate::contacts::BLOCK;

/// Joints of one colour: no two of them move the same body.
pub(super) struct Colour<B> {
    pub blocks: Vec<B>,
    /// What some joint of a block has: see `drive.rs`.
    pub features: Vec<u32>,
    lanes: Vec<Lanes>,
    /// The lanes in use: the first ones.
    pub used: usize,
}

/// What is known of the sixteen joints of a block.
#[derive(Clone, Copy)]
struct Lanes {
    joint: [u32; BLOCK],
    features: [u32; BLOCK],
}

impl<B> Default for Colour<B> {
    fn default() -> Self {
        Colour { blocks: Vec::new(), features: Vec::new(), lanes: Vec::new(), used: 0 }
    }
}

impl<B: Block> Colour<B> {
    /// Takes a lane into use. All of its columns are 0.
    fn push(&mut self, joint: u32) -> u32 {
        if self.used == self.blocks.len() * BLOCK {
            self.blocks.push(B::zeroed());
            self.features.push(0);
            self.lanes.push(Lanes { joint: [0; BLOCK], features: [0; BLOCK] });
        }
        let lane = self.used;
        self.used += 1;
        self.lanes[lane / BLOCK].joint[lane % BLOCK] = joint;
        lane as u32
    }

    /// Frees a lane. The last lane moves there; returns its joint, if it is another one.
    fn remove(&mut self, lane: u32) -> Option<u32> {
        let (lane, last) = (lane as usize, self.used - 1);
        let mut moved = None;
        if lane != last {
            let from = self.blocks[last / BLOCK];
            copy_lane(&from, last % BLOCK, &mut self.blocks[lane / BLOCK], lane % BLOCK);
            let Lanes { joint, features } = self.lanes[last / BLOCK];
            let (joint, features) = (joint[last % BLOCK], features[last % BLOCK]);
            self.lanes[lane / BLOCK].joint[lane % BLOCK] = joint;
            self.set_features(lane as u32, features);
            moved = Some(joint);
        }
        self.set_features(last as u32, 0);
        columns(&mut self.blocks[last / BLOCK]).iter_mut().for_each(|column| column[last % BLOCK] = 0);
        self.used = last;
        if last.is_multiple_of(BLOCK) {
            self.blocks.pop();
            self.features.pop();
            self.lanes.pop();
        }
        moved
    }

    pub(super) fn set_features(&mut self, lane: u32, features: u32) {
        let (block, lane) = (lane as usize / BLOCK, lane as usize % BLOCK);
        self.lanes[block].features[lane] = features;
        self.features[block] = self.lanes[block].features.iter().fold(0, |all, one| all | one);
    }

    /// The features of one joint.
    pub(super) fn features_of(&self, block: usize, lane: usize) -> u32 {
        self.lanes[block].features[lane]
    }

    /// The joint in a lane.
    pub(super) fn joint_of(&self, block: usize, lane: usize) -> u32 {
        self.lanes[block].joint[lane]
    }

    /// The number of lanes of a block that are in use.
    pub(super) fn used_of(&self, block: usize) -> usize {
        (self.used - block * BLOCK).min(BLOCK)
    }
}

/// A block as columns of four bytes a lane.
fn columns<B: Block>(block: &mut B) -> &mut [[u32; BLOCK]] {
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
/// In place of a colour: the joint has none.
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

    pub(super) fn push(&mut self, colour: u8, joint: u32) -> u32 {
        self.colour_mut(colour).push(joint)
    }

    pub(super) fn remove(&mut self, colour: u8, lane: u32) -> Option<u32> {
        self.colour_mut(colour).remove(lane)
    }

    /// All colours that are in use, the one without colour last.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Colour<B>> {
        self.colours.iter_mut().chain([&mut self.serial]).filter(|colour| colour.used > 0)
    }

    /// The same, to be read, with their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (u8, &Colour<B>)> {
        let coloured = self.colours.iter().enumerate().map(|(number, colour)| (number as u8, colour));
        coloured.chain([(SERIAL, &self.serial)]).filter(|(_, colour)| colour.used > 0)
    }
}

/// Copies all columns of a lane into a lane of a block that has nothing else.
pub(super) fn copy_lane<B: Block>(from: &B, from_lane: usize, to: &mut B, to_lane: usize) {
    let mut from = *from;
    let from = columns(&mut from);
    for (to, from) in columns(to).iter_mut().zip(from) {
        to[to_lane] = from[from_lane];
    }
}

/// A block with one lane's columns, for a joint whose lane is about to be freed.
pub(super) fn alone<B: Block>(from: &B, lane: usize) -> B {
    let mut block = B::zeroed();
    copy_lane(from, lane, &mut block, 0);
    block
}

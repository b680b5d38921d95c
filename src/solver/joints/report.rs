//! What joints bear.

use super::JointSolver;
use super::drive::feature;
use super::store::{Colour, Store, block_and_lane, each_store, with_store};
use super::sweep::{Block, Impulse};
use crate::contacts::BLOCK;
use crate::isa::Level;
use crate::joints::table::{Joint, Joints, Place};
use crate::lane::{Lane, Mask, lane_entry, with_lanes};
use glam::Vec2;

/// The joints that bear much, with what they did in the last substep, by handle index. (A list of them would have to be sorted: stores and
/// colours have an order of their own.)
#[derive(Clone, Default)]
pub(crate) struct Loaded {
    /// Which these are, as bits.
    which: Vec<u64>,
    impulses: Vec<Impulse<f32>>,
}

impl Loaded {
    /// None, of so many joints.
    fn clear(&mut self, joints: usize) {
        self.which.clear();
        self.which.resize(joints.div_ceil(64), 0);
        if self.impulses.len() < joints {
            self.impulses.resize(joints, Impulse::default());
        }
    }

    fn note(&mut self, joint: u32, impulse: Impulse<f32>) {
        let joint = joint as usize;
        self.which[joint / 64] |= 1 << (joint % 64);
        self.impulses[joint] = impulse;
    }
}

impl JointSolver {
    /// The force and the torque on B in the last substep.
    pub(crate) fn reaction(&self, joint: &Joint) -> (Vec2, f32) {
        let Some(Place { store, colour, lane }) = joint.place else {
            return joint.asleep.unwrap_or_default();
        };
        let (block, at) = block_and_lane(lane);
        let impulse = with_store!([&self], store, store => store.colour(colour).map(|colour| colour.blocks[block].impulse_on_b(at)));
        self.per_second(impulse.unwrap_or_default())
    }

    /// Calls `loaded` with each joint whose force on B in the last substep was `least` or more, and some that are a rounding below: with
    /// the force and the torque, in the order of the handle indices, of which there are `joints`.
    pub(crate) fn find_loaded(
        &self,
        level: Level,
        (joints, least): (usize, f32),
        memory: &mut Loaded,
        mut loaded: impl FnMut(u32, Vec2, f32),
    ) {
        memory.clear(joints);
        let least = least * self.step.length;
        let square = (1.0 - 1.0e-5) * least * least;
        each_store!([&self], _, store => {
            for (_, colour) in store.all() {
                with_lanes!(level, L => note_loaded::<L, _>(colour, square, memory));
            }
        });
        for (word, &bits) in memory.which.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let joint = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let (force, torque) = self.per_second(memory.impulses[joint]);
                loaded(joint as u32, force, torque);
            }
        }
    }

    fn per_second(&self, (linear, angular): Impulse<f32>) -> (Vec2, f32) {
        let per_step = 1.0 / self.step.length;
        (per_step * Vec2::from(linear), per_step * angular)
    }

    /// Calls `broken` with each joint that bore more than it can in one of the step's substeps, with the largest force and the largest
    /// torque. The order is that of stores, colours and lanes.
    pub(crate) fn find_broken(&self, joints: &Joints, mut broken: impl FnMut(u32, f32, f32)) {
        let per_step = 1.0 / self.step.length;
        let mut visit = |index: u32, peaks: [f32; 2]| {
            let Some((_, joint)) = joints.at(index) else { return };
            let [force, torque] = peaks.map(|peak| per_step * peak);
            if force > joint.desc.break_force || torque > joint.desc.break_torque {
                broken(index, force, torque);
            }
        };
        each_store!([&self], _, store => store.visit_breakable(&mut visit));
    }
}

lane_entry! {
    /// Notes the joints of a colour the square of whose impulse on B is `square` or more.
    fn note_loaded[B: Block][B](colour: &Colour<B>, square: f32, loaded: &mut Loaded) = note_loaded_lanes;
}

#[inline(always)]
fn note_loaded_lanes<L: Lane, B: Block>(colour: &Colour<B>, square: f32, loaded: &mut Loaded) {
    let square = L::splat(square);
    for (number, block) in colour.blocks.iter().enumerate() {
        let mut bits = 0;
        for i in (0..BLOCK).step_by(L::WIDTH) {
            let ([x, y], _) = block.impulse_on_b::<L>(i);
            bits |= square.le(x * x + y * y).bits() << i;
        }
        bits &= (1 << colour.used_of(number)) - 1;
        while bits != 0 {
            let lane = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            loaded.note(colour.lanes.joint(number, lane), block.impulse_on_b::<f32>(lane));
        }
    }
}

impl<B: Block> Store<B> {
    /// Visits the joints that may break, with the largest impulse and angular impulse on B in a substep.
    fn visit_breakable(&self, mut visit: impl FnMut(u32, [f32; 2])) {
        for (_, colour) in self.all() {
            for known in colour.lanes.with(feature::BREAKS) {
                visit(known.joint, colour.blocks[known.block].peaks(known.lane));
            }
        }
    }
}

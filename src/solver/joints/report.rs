//! What joints bear.

use super::JointSolver;
use super::drive::feature;
use super::store::{Store, block_and_lane, each_store, with_store};
use super::sweep::{Block, Impulse};
use crate::joints::table::{Joint, Joints, Place};
use glam::Vec2;

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

    fn per_second(&self, (linear, angular): Impulse) -> (Vec2, f32) {
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

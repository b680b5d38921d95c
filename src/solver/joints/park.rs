//! Joints of sleeping bodies: out of the solver, with what their lanes held.

use super::{JointSolver, LaneColumns};
use crate::base::codec::Stored;
use crate::body::Bodies;
use crate::joints::table::Joints;

/// A joint that sleeps.
pub(crate) struct ParkedJoint {
    pub index: u32,
    kept: LaneColumns,
}

crate::base::codec::stored!(ParkedJoint = ParkedJoint { index: 0, kept: Stored::blank() }; { index, kept });

impl JointSolver {
    /// Takes a joint out of the solver because its bodies fall asleep. `None` if the solver does not have it.
    pub(crate) fn park(&mut self, index: u32, joints: &mut Joints) -> Option<ParkedJoint> {
        let joint = joints.at(index)?.1;
        let place = joint.place?;
        let reaction = self.reaction(joint);
        let kept = self.keep(place);
        self.remove(index, joints);
        if let Some(joint) = joints.at_mut(index) {
            joint.asleep = Some(reaction);
        }
        Some(ParkedJoint { index, kept })
    }

    /// Takes a joint in again because its bodies wake. It begins with the impulses that it had.
    pub(crate) fn unpark(&mut self, parked: ParkedJoint, joints: &mut Joints, bodies: &Bodies, h: f32) {
        let ParkedJoint { index, kept } = parked;
        if let Some(joint) = joints.at_mut(index).filter(|joint| joint.asleep.is_some()) {
            joint.asleep = None;
            self.insert_with(index, joints, bodies, h, Some(kept));
        }
    }
}

//! The checks of the solver's joints.

use super::drive::feature;
use super::ends::WORLD;
use super::store::{SERIAL, each_store, with_store};
use super::{JointSolver, ends_of_any, is_moved, rests, store_of};
use crate::base::ensure;
use crate::body::Bodies;
use crate::joints::desc::JointHandle;
use crate::joints::table::{Joint, Joints, Place};

impl JointSolver {
    /// Checks that every joint that is solved has a lane of its own, that colours share no body, and that the counts are right.
    pub(crate) fn validate(&self, joints: &Joints, bodies: &Bodies) -> Result<(), String> {
        // The colours of the joints of each body, as bits, by its handle index.
        let mut moved = vec![0u64; bodies.name_count()];
        let mut count = 0;
        for (handle, joint) in joints.iter() {
            let solved = joint.desc.enabled && !rests(joint, joints, bodies);
            let wanted = solved && joint.asleep.is_none() && store_of(&joint.desc.kind).is_some();
            ensure!(joint.place.is_some() == wanted, "{handle:?} is solved: {}", joint.place.is_some());
            let Some(place) = joint.place else { continue };
            count += 1;
            ensure!(Some(place.store) == store_of(&joint.desc.kind), "{handle:?} is among other kinds");
            // A lane names its joint. So no two joints have the same.
            self.validate_lane(handle, joint, place)?;
            if place.colour == SERIAL {
                continue;
            }
            let ends = ends_of_any(joint, joints);
            for (number, end) in ends.iter().enumerate() {
                let Some(body) = end.filter(|&body| body != WORLD && is_moved(body, bodies)) else {
                    continue;
                };
                if ends[..number].contains(end) {
                    continue;
                }
                let taken = &mut moved[body as usize];
                ensure!(
                    *taken >> place.colour & 1 == 0,
                    "body {body} has two joints of colour {}",
                    place.colour
                );
                *taken |= 1 << place.colour;
            }
        }
        ensure!(count == self.count, "{} joints counted, there are {count}", self.count);
        let mut lanes = 0;
        each_store!([&self], _, store => lanes += store.all().map(|(_, colour)| colour.used).sum::<usize>());
        ensure!(lanes == count, "{lanes} lanes for {count} joints");
        Ok(())
    }

    /// Checks what is known of a joint's lane.
    fn validate_lane(&self, handle: JointHandle, joint: &Joint, place: Place) -> Result<(), String> {
        let Place { store, colour, lane } = place;
        let known = with_store!([&self], store, store => store.colour(colour).map(|colour| {
            let known = colour.lanes.known(lane);
            (known, colour.lanes.features[known.block])
        }));
        let Some((known, of_block)) = known else {
            return Err(format!("{handle:?} has a lane of no colour"));
        };
        ensure!(known.joint == handle.index, "the lane of {handle:?} is that of joint {}", known.joint);
        ensure!(known.features & !of_block == 0, "the block of {handle:?} lacks a feature of it");
        let breaks = known.features & feature::BREAKS != 0;
        ensure!(breaks == joint.may_break(), "{handle:?} is noted to break: {breaks}");
        Ok(())
    }
}

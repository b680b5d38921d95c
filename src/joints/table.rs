//! The joints of a world: descriptions, where the solver has them, and which joints a body has.

use super::desc::{JointDesc, JointEnd, JointEnds, JointEvent, JointHandle};
use crate::base::ensure;
use crate::base::table::{Name, Table};
use crate::body::{Bodies, BodyHandle};
use crate::error::Error;
use glam::Vec2;

/// Where the solver has a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The number of the kind's store: see `solver/joints.rs`.
    pub store: u8,
    pub colour: u8,
    /// block × 16 + lane
    pub lane: u32,
}

/// A joint of a world.
#[derive(Clone, Copy)]
pub(crate) struct Joint {
    pub desc: JointDesc,
    /// `None` for a joint that is not solved: a filter, or one that is not enabled.
    pub place: Option<Place>,
    /// Whole turns between the bodies that do not count, so that the angle was within ±π when the joint was added.
    pub turns: i32,
    /// Of a gear: first + ratio · second when it was added, or got its ratio.
    pub constant: f64,
    /// How many gears couple this joint.
    pub gears: u32,
}

impl Joint {
    /// The bodies that have the joint in their lists: A and B. `None` for B of a target joint, and for both of a gear.
    pub(crate) fn bodies(&self) -> [Option<BodyHandle>; 2] {
        bodies_of(&self.desc)
    }
}

const NONE: u32 = u32::MAX;

/// One end of a joint, as a member of the list of its body's ends. An end is joint × 2 + (0 for A, 1 for B).
#[derive(Clone, Copy)]
struct End {
    last: u32,
    next: u32,
}

/// All joints of a world.
#[derive(Default)]
pub(crate) struct Joints {
    table: Table<Joint>,
    /// By handle index of the body: the first of its ends.
    first: Vec<u32>,
    ends: Vec<End>,
    /// The handle indices of all gears.
    gears: Vec<u32>,
    /// The joints that were lost since the last step.
    pub(crate) lost: Vec<JointEvent>,
    /// The joints that were lost or broke, as the host reads them.
    pub(crate) events: Vec<JointEvent>,
}

/// The largest number of joints.
pub(crate) const MAX_JOINTS: usize = 1 << 26;

impl JointHandle {
    pub(super) fn of(Name { index, generation }: Name) -> JointHandle {
        JointHandle { index, generation }
    }

    fn name(self) -> Name {
        Name { index: self.index, generation: self.generation }
    }
}

/// The bodies of a joint that have it in their lists.
fn bodies_of(desc: &JointDesc) -> [Option<BodyHandle>; 2] {
    match desc.ends {
        JointEnds::Bodies(a, b) => [Some(a), Some(b)],
        JointEnds::World(a) => [Some(a), None],
        JointEnds::Joints(..) => [None, None],
    }
}

impl Joints {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// The number of handle indices, free ones included.
    pub(crate) fn capacity(&self) -> usize {
        self.table.capacity()
    }

    pub(crate) fn insert(&mut self, desc: JointDesc, turns: i32, constant: f64) -> JointHandle {
        let name = self.table.insert(Joint { desc, place: None, turns, constant, gears: 0 });
        self.ends.resize(2 * self.table.capacity(), End { last: NONE, next: NONE });
        for (side, body) in bodies_of(&desc).into_iter().enumerate() {
            if let Some(body) = body {
                self.hook(2 * name.index + side as u32, body.index as usize);
            }
        }
        if let JointEnds::Joints(first, second) = desc.ends {
            self.gears.push(name.index);
            for member in [first, second] {
                if let Some(joint) = self.table.value_mut(member.index) {
                    joint.gears += 1;
                }
            }
        }
        // Memory for the end of any joint: a joint may break in a step, which must not allocate.
        let wanted = self.table.capacity();
        self.events.reserve(wanted.saturating_sub(self.events.len()));
        self.lost.reserve(wanted.saturating_sub(self.lost.len()));
        JointHandle::of(name)
    }

    /// Puts an end first in the list of a body.
    fn hook(&mut self, end: u32, body: usize) {
        if self.first.len() <= body {
            self.first.resize(body + 1, NONE);
        }
        let next = std::mem::replace(&mut self.first[body], end);
        self.ends[end as usize] = End { last: NONE, next };
        if next != NONE {
            self.ends[next as usize].last = end;
        }
    }

    /// Takes an end out of the list of a body.
    fn unhook(&mut self, end: u32, body: usize) {
        let End { last, next } = self.ends[end as usize];
        if last == NONE {
            self.first[body] = next;
        } else {
            self.ends[last as usize].next = next;
        }
        if next != NONE {
            self.ends[next as usize].last = last;
        }
    }

    pub(crate) fn get(&self, handle: JointHandle) -> Result<&Joint, Error> {
        let JointHandle { index, generation } = handle;
        self.table.get(handle.name()).ok_or(Error::StaleHandle { kind: "joint", index, generation })
    }

    /// The joint at an index that is in use.
    pub(crate) fn at(&self, index: u32) -> Option<(JointHandle, &Joint)> {
        self.table.at(index).map(|(name, joint)| (JointHandle::of(name), joint))
    }

    pub(crate) fn at_mut(&mut self, index: u32) -> Option<&mut Joint> {
        self.table.value_mut(index)
    }

    /// All joints with their handles, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (JointHandle, &Joint)> {
        self.table.iter().map(|(name, joint)| (JointHandle::of(name), joint))
    }

    /// The handle indices of a body's joints.
    pub(crate) fn of_body(&self, body: BodyHandle) -> impl Iterator<Item = u32> + '_ {
        let first = self.first.get(body.index as usize).copied().unwrap_or(NONE);
        let ends = std::iter::successors((first != NONE).then_some(first), |&end| {
            let next = self.ends[end as usize].next;
            (next != NONE).then_some(next)
        });
        ends.map(|end| end / 2)
    }

    /// The first joint of a body, by handle index.
    pub(crate) fn first_of(&self, body: BodyHandle) -> Option<u32> {
        self.of_body(body).next()
    }

    /// The first gear that couples a joint, by handle index.
    pub(crate) fn gear_of(&self, joint: u32) -> Option<u32> {
        if self.at(joint).is_none_or(|(_, joint)| joint.gears == 0) {
            return None;
        }
        self.gears_of(joint).next()
    }

    /// The gears that couple a joint, by handle index.
    pub(crate) fn gears_of(&self, member: u32) -> impl Iterator<Item = u32> + '_ {
        self.gears.iter().copied().filter(move |&gear| {
            self.at(gear).is_some_and(|(_, gear)| match gear.desc.ends {
                JointEnds::Joints(first, second) => first.index == member || second.index == member,
                _ => false,
            })
        })
    }

    /// Takes a joint, which no gear couples any more, out of the table.
    pub(crate) fn remove_at(&mut self, index: u32) -> Option<(JointHandle, Joint)> {
        let joint = *self.table.at(index)?.1;
        for (side, body) in bodies_of(&joint.desc).into_iter().enumerate() {
            if let Some(body) = body {
                self.unhook(2 * index + side as u32, body.index as usize);
            }
        }
        if let JointEnds::Joints(first, second) = joint.desc.ends {
            self.gears.retain(|&gear| gear != index);
            for member in [first, second] {
                if let Some(joint) = self.table.value_mut(member.index) {
                    joint.gears -= 1;
                }
            }
        }
        self.table.remove_at(index).map(|name| (JointHandle::of(name), joint))
    }

    /// Notes that a joint is gone because something that it joined is gone.
    pub(crate) fn note_lost(&mut self, joint: JointHandle, tag: u64) {
        self.lost.push(JointEvent { joint, tag, reason: JointEnd::Lost });
    }

    /// Begins a step: its events are those of the joints lost since the last one.
    pub(crate) fn begin_step(&mut self) {
        self.events.clear();
        self.events.append(&mut self.lost);
    }

    /// Notes that a body's centre has moved by `by` in its own axes. Its joints still hold it at the same points of its shapes.
    pub(crate) fn centre_moved(&mut self, body: BodyHandle, by: Vec2) {
        let mut end = self.first.get(body.index as usize).copied().unwrap_or(NONE);
        while end != NONE {
            if let Some(joint) = self.table.value_mut(end / 2) {
                let frame = if end % 2 == 0 { &mut joint.desc.frame_a } else { &mut joint.desc.frame_b };
                frame.position -= by;
            }
            end = self.ends[end as usize].next;
        }
    }

    /// Checks all joints. The error describes the first fault.
    pub(crate) fn validate(&self, bodies: &Bodies) -> Result<(), String> {
        self.table.validate()?;
        let mut gears = 0;
        for (handle, joint) in self.iter() {
            for body in bodies_of(&joint.desc).into_iter().flatten() {
                ensure!(bodies.slot_of(body).is_ok(), "{handle:?} names {body:?}, which is gone");
                ensure!(
                    self.of_body(body).any(|index| index == handle.index),
                    "{body:?} does not know {handle:?}"
                );
            }
            if let JointEnds::Joints(first, second) = joint.desc.ends {
                gears += 1;
                ensure!(self.gears.contains(&handle.index), "{handle:?} is not among the gears");
                ensure!(
                    self.get(first).is_ok() && self.get(second).is_ok(),
                    "{handle:?} couples a joint that is gone"
                );
            }
            let coupled = self.gears_of(handle.index).count();
            ensure!(coupled == joint.gears as usize, "{handle:?} counts {} gears of {coupled}", joint.gears);
        }
        ensure!(gears == self.gears.len(), "{} gears listed, there are {gears}", self.gears.len());
        for (body, &first) in self.first.iter().enumerate() {
            let (mut last, mut end) = (NONE, first);
            while end != NONE {
                let entry = self.ends[end as usize];
                ensure!(entry.last == last, "the list of body {body} is broken at end {end}");
                let named = self.at(end / 2).and_then(|(_, joint)| bodies_of(&joint.desc)[end as usize % 2]);
                ensure!(
                    named.is_some_and(|named| named.index as usize == body),
                    "end {end} is in the list of body {body}"
                );
                (last, end) = (end, entry.next);
            }
        }
        Ok(())
    }
}

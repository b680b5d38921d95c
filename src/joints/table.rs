//! The joints of a world: descriptions, where the solver has them, and which joints a body has.

use super::desc::{JointDesc, JointEnds, JointFrame, JointHandle};
use super::report::{JointEnd, JointEvent};
use crate::base::ensure;
use crate::base::lists::Lists;
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

crate::base::codec::stored!(Place = Place { store: 0, colour: 0, lane: 0 }; { store, colour, lane });

/// A joint of a world.
#[derive(Clone, Copy)]
pub(crate) struct Joint {
    pub desc: JointDesc,
    /// `None` for a joint that is not solved: a filter, one that is not enabled, or one whose bodies sleep.
    pub place: Option<Place>,
    /// The whole turns between the bodies that do not count: without them the angle was within ±π when the joint was added.
    pub turns: i32,
    /// The force and the torque on B when the joint's bodies fell asleep; `None` while they are awake.
    pub asleep: Option<(Vec2, f32)>,
    /// What a gear keeps: first + ratio · second when it was added, or got its ratio. 0 for other joints.
    pub constant: f64,
}

crate::base::codec::stored!(Joint = Joint { desc: JointDesc::blank(), place: None, turns: 0, asleep: None, constant: 0.0 }; { desc, place, turns, asleep, constant });

impl Joint {
    /// The bodies that have the joint in their lists: A and B. `None` for B of a target joint, and for both of a gear.
    pub(crate) fn bodies(&self) -> [Option<BodyHandle>; 2] {
        bodies_of(&self.desc)
    }
}

/// All joints of a world.
#[derive(Default)]
pub(crate) struct Joints {
    table: Table<Joint>,
    /// The ends at each body, by handle index; the newest first. An end is joint × 2 + (0 for A, 1 for B).
    of_bodies: Lists,
    /// The ends of gears at each joint that they couple, by handle index; the oldest first. An end is gear × 2 + (0 for the first
    /// joint, 1 for the second).
    of_members: Lists,
    /// There is a joint with a motor that has a speed, or there was one.
    any_driving: bool,
    /// The joints that were lost since the last step.
    pub(crate) lost: Vec<JointEvent>,
    /// The joints that were lost or broke, as the host reads them.
    pub(crate) events: Vec<JointEvent>,
}

crate::base::codec::stored!(Joints { table, of_bodies, of_members, any_driving, lost, events });

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

/// The joints that a gear couples.
fn members_of(desc: &JointDesc) -> Option<[JointHandle; 2]> {
    match desc.ends {
        JointEnds::Joints(first, second) => Some([first, second]),
        _ => None,
    }
}

impl Joints {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.table.reserve(more);
    }

    /// The number of handle indices, free ones included.
    pub(crate) fn capacity(&self) -> usize {
        self.table.capacity()
    }

    pub(crate) fn insert(&mut self, desc: JointDesc, turns: i32, constant: f64) -> JointHandle {
        self.any_driving |= desc.has_speed();
        let name = self.table.insert(Joint { desc, place: None, turns, asleep: None, constant });
        for (side, body) in bodies_of(&desc).into_iter().enumerate() {
            if let Some(body) = body {
                self.of_bodies.push_first(body.index, 2 * name.index + side as u32);
            }
        }
        for (side, member) in members_of(&desc).into_iter().flatten().enumerate() {
            self.of_members.push_last(member.index, 2 * name.index + side as u32);
        }
        // Memory for the end of any joint: a joint may break in a step, which must not allocate.
        let wanted = self.table.capacity();
        self.events.reserve(wanted.saturating_sub(self.events.len()));
        self.lost.reserve(wanted.saturating_sub(self.lost.len()));
        JointHandle::of(name)
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

    /// Notes that a joint's motor may have a speed now.
    pub(crate) fn note_speed(&mut self, desc: &JointDesc) {
        self.any_driving |= desc.has_speed();
    }

    /// All awake and enabled joints whose motors have a speed.
    pub(crate) fn driving(&self) -> impl Iterator<Item = &Joint> {
        let all = self.any_driving.then(|| self.table.iter()).into_iter().flatten().map(|(_, joint)| joint);
        all.filter(|joint| joint.desc.enabled && joint.asleep.is_none() && joint.desc.has_speed())
    }

    /// All joints with their handles, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (JointHandle, &Joint)> {
        self.table.iter().map(|(name, joint)| (JointHandle::of(name), joint))
    }

    /// The bodies of a joint, with those of the joints that a gear couples.
    pub(crate) fn bodies_of_any(&self, desc: &JointDesc) -> [Option<BodyHandle>; 4] {
        if let JointEnds::Joints(first, second) = desc.ends {
            let of = |member| self.get(member).map_or([None; 2], |joint| bodies_of(&joint.desc));
            let ([a, b], [c, d]) = (of(first), of(second));
            return [a, b, c, d];
        }
        let [a, b] = bodies_of(desc);
        [a, b, None, None]
    }

    /// The handle indices of a body's joints.
    pub(crate) fn of_body(&self, body: BodyHandle) -> impl Iterator<Item = u32> + '_ {
        self.of_index(body.index)
    }

    /// The same for a body that is given by its handle index.
    pub(crate) fn of_index(&self, body: u32) -> impl Iterator<Item = u32> + '_ {
        self.of_bodies.of(body).map(|end| end / 2)
    }

    /// The first joint of a body, by handle index.
    pub(crate) fn first_of(&self, body: BodyHandle) -> Option<u32> {
        self.of_body(body).next()
    }

    /// The gears that couple a joint, by handle index, in the order in which they were added.
    pub(crate) fn gears_of(&self, member: u32) -> impl Iterator<Item = u32> + '_ {
        self.of_members.of(member).map(|end| end / 2)
    }

    /// The oldest gear that couples a joint, by handle index.
    pub(crate) fn gear_of(&self, member: u32) -> Option<u32> {
        self.gears_of(member).next()
    }

    /// Takes a joint, which no gear couples any more, out of the table.
    pub(crate) fn remove_at(&mut self, index: u32) -> Option<(JointHandle, Joint)> {
        let joint = *self.table.at(index)?.1;
        for (side, body) in bodies_of(&joint.desc).into_iter().enumerate() {
            if let Some(body) = body {
                self.of_bodies.remove(body.index, 2 * index + side as u32);
            }
        }
        for (side, member) in members_of(&joint.desc).into_iter().flatten().enumerate() {
            self.of_members.remove(member.index, 2 * index + side as u32);
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

    /// Checks that the frames of a body's joints stay in range if its centre moves by `by` in its own axes.
    pub(crate) fn check_centre(&self, body: BodyHandle, by: Vec2) -> Result<(), Error> {
        for end in self.of_bodies.of(body.index) {
            if let Some((_, joint)) = self.at(end / 2) {
                let frame = if end % 2 == 0 { &joint.desc.frame_a } else { &joint.desc.frame_b };
                JointFrame { position: frame.position - by, ..*frame }.validate()?;
            }
        }
        Ok(())
    }

    /// Notes that a body's centre has moved by `by` in its own axes. Its joints still hold it at the same points of its shapes.
    pub(crate) fn centre_moved(&mut self, body: BodyHandle, by: Vec2) {
        for end in self.of_bodies.of(body.index) {
            if let Some(joint) = self.table.value_mut(end / 2) {
                let frame = if end % 2 == 0 { &mut joint.desc.frame_a } else { &mut joint.desc.frame_b };
                frame.position -= by;
            }
        }
    }

    /// Checks all joints. The error describes the first fault.
    pub(crate) fn validate(&self, bodies: &Bodies) -> Result<(), String> {
        self.table.validate()?;
        let (mut at_bodies, mut at_members) = (0, 0);
        for (handle, joint) in self.iter() {
            for body in bodies_of(&joint.desc).into_iter().flatten() {
                ensure!(bodies.slot_of(body).is_ok(), "{handle:?} names {body:?}, which is gone");
                at_bodies += 1;
            }
            for member in members_of(&joint.desc).into_iter().flatten() {
                ensure!(self.get(member).is_ok(), "{handle:?} couples {member:?}, which is gone");
                at_members += 1;
            }
        }
        // Each end in a list belongs to the list's owner, and every end is in a list. So each is in the right one.
        let desc_of = |end: u32| self.at(end / 2).map(|(_, joint)| &joint.desc);
        let body_of = |end| desc_of(end).and_then(|desc| bodies_of(desc)[end as usize % 2]);
        let listed = self.of_bodies.validate(|end| body_of(end).map(|body| body.index))?;
        ensure!(listed == at_bodies, "{listed} ends in the lists of bodies, there are {at_bodies}");
        let member_of = |end| desc_of(end).and_then(members_of).map(|members| members[end as usize % 2]);
        let listed = self.of_members.validate(|end| member_of(end).map(|member| member.index))?;
        ensure!(listed == at_members, "{listed} ends in the lists of coupled joints, there are {at_members}");
        Ok(())
    }
}

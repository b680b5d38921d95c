//! The solver's joints: constraints on velocities between any two bodies, solved in lanes together with the contacts.
//!
//! Joints live longer than the pair list, and join bodies that may be anywhere. So they are not in the tiles of space. They have blocks
//! of their own, sixteen joints of one kind and colour, and the colours are those of the whole world: no two joints of a colour move
//! the same body. A joint keeps its colour, its lane (unless another joint is removed) and its impulses for as long as it lives, so
//! adding or removing one costs what that one costs. In each pass the colours come one after the other, their blocks are shared out
//! among the threads, and the contacts follow.
//!
//! The mathematics is that of the soft step, as for contacts: E. Catto, "Soft Constraints" (2011) and "Solver2D" (2024). Each kind is
//! made of four things: two points that are held together (`pivot.rs`), two points and an angle (`weld.rs`), a point that is held on an
//! axis (`slide.rs`), and one free motion with a spring, a motor and limits (`drive.rs`).

mod begin;
mod drive;
mod ends;
mod gear;
mod layout;
mod line;
mod park;
mod pivot;
mod point;
mod report;
mod run;
mod slide;
mod snapshot;
mod store;
mod sweep;
mod validate;
mod weld;

use crate::base::colours::pick;
use crate::body::{Bodies, BodyHandle};
use crate::joints::desc::{JointDesc, JointEnds, JointKind};
use crate::joints::table::{Joint, Joints, Place};
pub(crate) use begin::angle_of;
use begin::slot_of;
use drive::feature;
use ends::{Ends, OWN_ROW, WORLD};
use gear::GearBlock;
use layout::{Substep, Write};
use line::LineBlock;
pub(crate) use park::ParkedJoint;
use pivot::PivotBlock;
pub(crate) use report::Loaded;
use slide::{SlideBlock, WheelBlock};
pub(crate) use store::SERIAL;
use store::{COLOURS, STORES, Store, block_and_lane, with_store};
use sweep::Block;
pub(crate) use sweep::JointPass;
use weld::WeldBlock;

/// All joints, as the solver has them.
#[derive(Default)]
pub(crate) struct JointSolver {
    pivots: Store<PivotBlock>,
    slides: Store<SlideBlock>,
    wheels: Store<WheelBlock>,
    lines: Store<LineBlock>,
    gears: Store<GearBlock>,
    welds: Store<WeldBlock>,
    /// The colours of each body's joints, as bits, by the body's handle index.
    taken: Vec<u64>,
    /// The bodies for which there are stand-ins (handle indices, or [`WORLD`]), by number; and the free numbers.
    stand_ins: Vec<u32>,
    free_stand_ins: Vec<u32>,
    /// The slots of these bodies, or [`WORLD`].
    stand_in_slots: Vec<u32>,
    /// The number of joints that are solved.
    count: usize,
    /// The substep that the blocks were written for.
    step: Substep,
    /// The slots have changed since the rows were looked up, or so many joints came and went that all are looked up anew.
    pub(crate) slots_moved: bool,
    /// Otherwise the lanes whose blocks are to be looked up anew.
    edited: Vec<Place>,
    /// The numbers of rows when they were looked up: of bodies, of bodies and padding, and of all.
    rows: [usize; 3],
}

/// The number of the store of gears: see [`with_store`].
const GEARS: u8 = 4;
/// The number of the store of welds.
const WELDS: u8 = 5;

/// The number of the store that holds joints of a kind. `None` for a kind that is not solved.
fn store_of(kind: &JointKind) -> Option<u8> {
    match kind {
        JointKind::Revolute(_) | JointKind::Motor { .. } | JointKind::Target { .. } => Some(0),
        JointKind::Prismatic(_) => Some(1),
        JointKind::Wheel(_) => Some(2),
        JointKind::Distance { .. } => Some(3),
        JointKind::Gear { .. } => Some(GEARS),
        JointKind::Weld { .. } => Some(WELDS),
        JointKind::Filter => None,
    }
}

/// The bodies at the ends of a joint of two bodies, in the solver's order: a target joint pulls its body, B, from the world, A.
pub(crate) fn ends_of(desc: &JointDesc) -> [Option<BodyHandle>; 2] {
    match desc.ends {
        JointEnds::Bodies(a, b) => [Some(a), Some(b)],
        JointEnds::World(a) => [None, Some(a)],
        JointEnds::Joints(..) => [None; 2],
    }
}

/// The bodies of a joint, with those of the joints that a gear couples.
fn ends_of_any(joint: &Joint, joints: &Joints) -> [Option<u32>; 4] {
    let of = |desc: &JointDesc| ends_of(desc).map(|end| Some(end.map_or(WORLD, |body| body.index)));
    match joint.desc.ends {
        JointEnds::Joints(first, second) => {
            let [one, two] =
                [first, second].map(|member| joints.get(member).map_or([None; 2], |member| of(&member.desc)));
            [one[0], one[1], two[0], two[1]]
        }
        _ => {
            let [a, b] = of(&joint.desc);
            [a, b, None, None]
        }
    }
}

/// Returns true if a body of a joint, or of the joints that a gear couples, is not enabled: then the joint holds nothing.
pub(crate) fn rests(joint: &Joint, joints: &Joints, bodies: &Bodies) -> bool {
    ends_of_any(joint, joints)
        .into_iter()
        .flatten()
        .any(|body| body != WORLD && bodies.is_index_disabled(body))
}

/// Returns true if impulses move a body, which is given by its handle index.
fn is_moved(body: u32, bodies: &Bodies) -> bool {
    body != WORLD && bodies.slot_at(body).is_some_and(|slot| bodies.columns.inv_mass[slot] > 0.0)
}

impl JointSolver {
    /// Returns true if no joint is solved.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of joints that are solved.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The number of rows that the solver has for joints, after those of bodies and padding: a padding row for each store, then the
    /// stand-ins.
    pub(crate) fn extra_rows(&self) -> usize {
        if self.is_empty() { 0 } else { STORES + self.stand_ins.len() }
    }

    /// The number of stand-ins, free ones included.
    pub(crate) fn stand_in_count(&self) -> usize {
        self.stand_ins.len()
    }

    /// Takes a joint in. It begins without impulses.
    pub(crate) fn insert(&mut self, index: u32, joints: &mut Joints, bodies: &Bodies, h: f32) {
        self.insert_with(index, joints, bodies, h, None);
    }

    /// Takes a joint in, with the impulses of a lane that it had.
    fn insert_with(
        &mut self,
        index: u32,
        joints: &mut Joints,
        bodies: &Bodies,
        h: f32,
        kept: Option<LaneColumns>,
    ) {
        let Some((_, &joint)) = joints.at(index) else { return };
        let solved = joint.desc.enabled && !rests(&joint, joints, bodies);
        let Some(number) = store_of(&joint.desc.kind).filter(|_| solved) else { return };
        if self.count == 0 {
            self.step = Substep::after(h, h);
        }
        let ends = ends_of_any(&joint, joints);
        let colour = self.pick_colour(&ends, bodies);
        let lane = with_store!([&mut self], number, store => {
            let colour = store.colour_mut(colour);
            let lane = colour.push(index);
            if let Some(kept) = kept.filter(|kept| kept.store == number) {
                colour.put(lane, &kept.columns);
            }
            lane
        });
        let place = Place { store: number, colour, lane };
        self.set_ends(place, &ends, bodies);
        self.count += 1;
        self.note_edited(place);
        ends.into_iter().flatten().for_each(|body| self.note_welds_of(body, joints));
        if let Some(joint) = joints.at_mut(index) {
            joint.place = Some(place);
        }
        self.write(index, joints);
    }

    /// Takes a colour that no body of a joint has, and notes it with the bodies that the joint moves. Returns [`SERIAL`], and notes nothing, if
    /// all colours are taken.
    fn pick_colour(&mut self, ends: &[Option<u32>; 4], bodies: &Bodies) -> u8 {
        let moved = ends.iter().flatten().filter(|&&body| is_moved(body, bodies)).map(|&body| body as usize);
        if let Some(most) = moved.clone().max().filter(|&most| self.taken.len() <= most) {
            self.taken.resize(most + 1, 0);
        }
        pick(&mut self.taken, moved, COLOURS) as u8
    }

    /// Names the bodies of a joint in its lane, with stand-ins for those that have no row of their own there.
    fn set_ends(&mut self, place: Place, all: &[Option<u32>; 4], bodies: &Bodies) {
        let (block, at) = block_and_lane(place.lane);
        for (number, &body) in all.iter().enumerate() {
            let Some(body) = body else { continue };
            let (motion, side) = (number / 2, number % 2);
            // The second motion of a gear may have a body of the first.
            let same = (0..2).find(|&other| motion == 1 && all[other] == Some(body) && body != WORLD);
            let own_row = is_moved(body, bodies) && same.is_none();
            let stand_in = if own_row { OWN_ROW } else { self.new_stand_in(body, bodies) };
            let ends = self.ends_of(place, motion);
            (ends.bodies[side][at], ends.stand_ins[side][at]) = (body, stand_in);
            if motion == 1 {
                let [_, second] = &mut self.gears.colour_mut(place.colour).blocks[block].members;
                for (other, column) in second.same[side].iter_mut().enumerate() {
                    column[at] = if same == Some(other) { 1.0 } else { 0.0 };
                }
            }
        }
    }

    /// Writes the parameters of a joint, which is in the solver, into its lane.
    pub(crate) fn write(&mut self, index: u32, joints: &Joints) {
        let step = self.step;
        let Some((_, joint)) = joints.at(index) else { return };
        let Some(Place { store, colour, lane }) = joint.place else { return };
        let (block, at) = block_and_lane(lane);
        if let JointEnds::Joints(first, second) = joint.desc.ends {
            for (which, member) in [first, second].into_iter().enumerate() {
                if let Ok(member) = joints.get(member) {
                    self.gears.colour_mut(colour).blocks[block].write_member(at, which, &member.desc);
                }
            }
        }
        with_store!([&mut self], store, store => {
            let colour = store.colour_mut(colour);
            let breaks = if joint.may_break() { feature::BREAKS } else { 0 };
            let features = colour.blocks[block].write(at, &joint.desc, step) | breaks;
            colour.set_features(lane, features);
        });
    }

    /// Takes a joint out. Its place is free.
    pub(crate) fn remove(&mut self, index: u32, joints: &mut Joints) {
        let Some((_, joint)) = joints.at(index) else { return };
        let Some(place) = joint.place else { return };
        let Place { store: number, colour, lane } = place;
        let (_, at) = block_and_lane(lane);
        let motions = if number == GEARS { 2 } else { 1 };
        for motion in 0..motions {
            for side in 0..2 {
                let ends = self.ends_of(place, motion);
                let (body, stand_in) = (ends.bodies[side][at], ends.stand_ins[side][at]);
                if stand_in != OWN_ROW {
                    self.free_stand_in(stand_in);
                } else if colour != SERIAL
                    && let Some(taken) = self.taken.get_mut(body as usize)
                {
                    *taken &= !(1 << colour);
                    self.note_welds_of(body, joints);
                }
            }
        }
        let (last, moved) = with_store!([&mut self], number, store => {
            let colour = store.colour_mut(colour);
            (colour.used as u32 - 1, colour.remove(lane))
        });
        self.note_edited(Place { lane: last, ..place });
        self.note_edited(place);
        if let Some(moved) = moved.and_then(|moved| joints.at_mut(moved)) {
            moved.place = Some(place);
        }
        if let Some(joint) = joints.at_mut(index) {
            joint.place = None;
        }
        self.count -= 1;
    }

    /// Takes a joint out and in again, because its parameters or the mass of one of its bodies have changed. It keeps its impulses if it is of
    /// the same kind.
    pub(crate) fn change(
        &mut self,
        index: u32,
        joints: &mut Joints,
        bodies: &Bodies,
        h: f32,
        desc: JointDesc,
    ) {
        let kept = joints.at(index).and_then(|(_, joint)| joint.place).map(|place| self.keep(place));
        self.remove(index, joints);
        if let Some(joint) = joints.at_mut(index) {
            joint.desc = desc;
        }
        self.insert_with(index, joints, bodies, h, kept);
    }

    fn keep(&mut self, Place { store: number, colour, lane }: Place) -> LaneColumns {
        LaneColumns {
            store: number,
            columns: with_store!([&mut self], number, store => store.colour_mut(colour).columns_of(lane)),
        }
    }

    /// Sets the speed of a joint's motor. The joint has one.
    pub(crate) fn set_motor_speed(&mut self, index: u32, joints: &Joints, speed: f32) {
        let Some(Place { store, colour, lane }) = joints.at(index).and_then(|(_, joint)| joint.place) else {
            return;
        };
        let (block, at) = block_and_lane(lane);
        let motor =
            with_store!([&mut self], store, store => store.colour_mut(colour).blocks[block].any_motor());
        if let Some(motor) = motor {
            motor.speed[at] = speed;
        }
    }

    fn new_stand_in(&mut self, body: u32, bodies: &Bodies) -> u32 {
        if let Some(free) = self.free_stand_ins.pop() {
            self.stand_ins[free as usize] = body;
            // Where there is none yet, there will be more rows, and all are looked up anew.
            if let Some(slot) = self.stand_in_slots.get_mut(free as usize) {
                *slot = slot_of(body, bodies);
            }
            return free;
        }
        self.stand_ins.push(body);
        self.free_stand_ins.reserve(self.stand_ins.len());
        self.stand_in_slots.reserve(self.stand_ins.len());
        (self.stand_ins.len() - 1) as u32
    }

    fn free_stand_in(&mut self, stand_in: u32) {
        self.stand_ins[stand_in as usize] = WORLD;
        if let Some(slot) = self.stand_in_slots.get_mut(stand_in as usize) {
            *slot = WORLD;
        }
        self.free_stand_ins.push(stand_in);
    }

    /// The ends of a joint: of its first or second motion, for a gear.
    fn ends_of(&mut self, Place { store, colour, lane }: Place, motion: usize) -> &mut Ends {
        let (block, _) = block_and_lane(lane);
        with_store!([&mut self], store, store => store.colour_mut(colour).blocks[block].ends_of(motion))
    }
}

/// The columns of a joint's lane, while it moves to another.
struct LaneColumns {
    store: u8,
    columns: Vec<u32>,
}

crate::base::codec::stored!(LaneColumns = LaneColumns { store: 0, columns: Vec::new() }; { store, columns });

impl Joint {
    /// Returns true if a force or torque can break the joint.
    pub(crate) fn may_break(&self) -> bool {
        self.desc.break_force.is_finite() || self.desc.break_torque.is_finite()
    }
}

//! The solver's joints: constraints on velocities between any two bodies, solved in lanes together with the contacts.
//!
//! Joints live longer than the pair list, and join bodies that may be anywhere. So they are not in the tiles of space. They have blocks
//! of their own, sixteen joints of one kind and colour, and the colours are those of the whole world: no two joints of a colour move
//! the same body. A joint keeps its colour, its lane (unless another joint is removed) and its impulses for as long as it lives, so
//! adding or removing one costs what that one costs. In each pass the colours come one after the other, their blocks are shared out
//! among the threads, and the contacts follow.
//!
//! The mathematics is that of the soft step, as for contacts: E. Catto, "Soft Constraints" (2011) and "Solver2D" (2024). Each kind is
//! made of three things: two points that are held together (`pivot.rs`), a point that is held on an axis (`slide.rs`), and one free
//! motion with a spring, a motor and limits (`drive.rs`).

mod drive;
mod ends;
mod gear;
mod layout;
mod line;
mod pivot;
mod slide;
mod store;
mod sweep;

use crate::base::colours::pick;
use crate::body::{Bodies, BodyHandle};
use crate::contacts::BLOCK;
use crate::crew::{Crew, SharedSlice};
use crate::isa::Level;
use crate::joints::desc::{JointDesc, JointEnds, JointKind};
use crate::joints::table::{Joint, Joints, Place};
use crate::lane::{Row, RowOffset, with_lanes};
use crate::solver::rows::Rows;
use drive::feature;
use ends::{Ends, OWN_ROW, WORLD};
use gear::GearBlock;
use glam::Vec2;
use layout::Write;
use line::LineBlock;
use pivot::PivotBlock;
use slide::{SlideBlock, WheelBlock};
pub(crate) use store::SERIAL;
use store::{COLOURS, Colour, Store, alone, copy_lane};
pub(crate) use sweep::JointPass;
use sweep::{BEGIN, Block, Constants, RELAX, SOLVE, TURN, TwoBodies, sweep};

/// Blocks of a colour that one thread takes at a time.
const CHUNK_BLOCKS: usize = 16;

/// All joints, as the solver has them.
#[derive(Default)]
pub(crate) struct JointSolver {
    pivots: Store<PivotBlock>,
    slides: Store<SlideBlock>,
    wheels: Store<WheelBlock>,
    lines: Store<LineBlock>,
    gears: Store<GearBlock>,
    /// By handle index of the body: the colours of its joints.
    taken: Vec<u64>,
    /// The bodies (handle indices, or [`WORLD`]) that stand-ins are for; and the numbers that are free.
    stand_ins: Vec<u32>,
    free_stand_ins: Vec<u32>,
    /// The slots of these bodies, or [`WORLD`].
    stand_in_slots: Vec<u32>,
    /// The number of joints that are solved, and of those that may break.
    count: usize,
    breakable: usize,
    /// The length of the substep that the blocks were written for, s.
    step: f32,
    /// The slots have changed, or joints came or went, since the rows were looked up.
    pub(crate) slots_moved: bool,
    /// The numbers of rows when they were looked up: of bodies, of bodies and padding, and of all.
    rows: [usize; 3],
}

/// The stores, by [`Place::store`].
const STORES: usize = 5;

/// Runs `$body` with `$store` bound to the store of this number.
macro_rules! with_store {
    ($solver:expr, $number:expr, $store:ident => $body:expr) => {
        match $number {
            0 => {
                let $store = &mut $solver.pivots;
                $body
            }
            1 => {
                let $store = &mut $solver.slides;
                $body
            }
            2 => {
                let $store = &mut $solver.wheels;
                $body
            }
            3 => {
                let $store = &mut $solver.lines;
                $body
            }
            _ => {
                let $store = &mut $solver.gears;
                $body
            }
        }
    };
}

/// Runs `$body` for each store of joints between two bodies.
macro_rules! for_two_bodies {
    ($solver:expr, $store:ident, $number:ident => $body:expr) => {
        for $number in 0..4u8 {
            match $number {
                0 => {
                    let $store = &mut $solver.pivots;
                    $body
                }
                1 => {
                    let $store = &mut $solver.slides;
                    $body
                }
                2 => {
                    let $store = &mut $solver.wheels;
                    $body
                }
                _ => {
                    let $store = &mut $solver.lines;
                    $body
                }
            }
        }
    };
}

/// The number of the store of a kind.
fn store_of(kind: &JointKind) -> Option<u8> {
    match kind {
        JointKind::Revolute(_)
        | JointKind::Weld { .. }
        | JointKind::Motor { .. }
        | JointKind::Target { .. } => Some(0),
        JointKind::Prismatic(_) => Some(1),
        JointKind::Wheel(_) => Some(2),
        JointKind::Distance { .. } => Some(3),
        JointKind::Gear { .. } => Some(4),
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

/// A place in a block.
fn block_and_lane(lane: u32) -> (usize, usize) {
    (lane as usize / BLOCK, lane as usize % BLOCK)
}

impl JointSolver {
    /// Returns true if no joint is solved.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
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
    fn insert_with(&mut self, index: u32, joints: &mut Joints, bodies: &Bodies, h: f32, kept: Option<Kept>) {
        let Some((_, &joint)) = joints.at(index) else { return };
        let Some(number) = store_of(&joint.desc.kind).filter(|_| joint.desc.enabled) else { return };
        if self.count == 0 {
            self.step = h;
        }
        let all = self.ends_of_any(&joint, joints);
        let moves = |body: u32| {
            body != WORLD && bodies.slot_at(body).is_some_and(|slot| bodies.columns.inv_mass[slot] > 0.0)
        };
        let mut moving = [0; 4];
        let mut count = 0;
        for &body in all.iter().flatten() {
            if moves(body) && !moving[..count].contains(&body) {
                moving[count] = body;
                count += 1;
            }
        }
        let moving = &moving[..count];
        if let Some(most) = moving.iter().max().filter(|&&most| self.taken.len() <= most as usize) {
            self.taken.resize(*most as usize + 1, 0);
        }
        let places = moving.iter().map(|&body| body as usize);
        let colour = if count == 0 { 0 } else { pick(&mut self.taken, places, COLOURS) } as u8;
        let lane = with_store!(self, number, store => store.push(colour, index));
        let (block, at) = block_and_lane(lane);
        match (number, kept) {
            (0, Some(Kept::Pivot(from))) => {
                copy_lane(&*from, 0, &mut self.pivots.colour_mut(colour).blocks[block], at)
            }
            (1, Some(Kept::Slide(from))) => {
                copy_lane(&*from, 0, &mut self.slides.colour_mut(colour).blocks[block], at)
            }
            (2, Some(Kept::Wheel(from))) => {
                copy_lane(&*from, 0, &mut self.wheels.colour_mut(colour).blocks[block], at)
            }
            (3, Some(Kept::Line(from))) => {
                copy_lane(&*from, 0, &mut self.lines.colour_mut(colour).blocks[block], at)
            }
            (4, Some(Kept::Gear(from))) => {
                copy_lane(&*from, 0, &mut self.gears.colour_mut(colour).blocks[block], at)
            }
            _ => {}
        }
        let place = Place { store: number, colour, lane };
        for (which, ends) in all.chunks_exact(2).enumerate() {
            for (side, &body) in ends.iter().enumerate() {
                let Some(body) = body else { continue };
                // The second motion of a gear may have a body of the first.
                let same = (0..2).find(|&other| which == 1 && all[other] == Some(body) && body != WORLD);
                let stand_in = if moves(body) && same.is_none() { OWN_ROW } else { self.new_stand_in(body) };
                let ends = self.ends_mut(place, which);
                (ends.bodies[side][at], ends.stand_ins[side][at]) = (body, stand_in);
                if number == 4 {
                    let member = &mut self.gears.colour_mut(colour).blocks[block].members[1];
                    if which == 1 {
                        for other in 0..2 {
                            member.same[side][other][at] = if same == Some(other) { 1.0 } else { 0.0 };
                        }
                    }
                }
            }
        }
        self.count += 1;
        self.breakable += usize::from(joint.may_break());
        self.slots_moved = true;
        if let Some(joint) = joints.at_mut(index) {
            joint.place = Some(place);
        }
        self.write(index, joints, h);
    }

    /// The bodies of a joint, with those of the joints that a gear couples.
    fn ends_of_any(&self, joint: &Joint, joints: &Joints) -> [Option<u32>; 4] {
        let of = |desc: &JointDesc| ends_of(desc).map(|end| Some(end.map_or(WORLD, |body| body.index)));
        match joint.desc.ends {
            JointEnds::Joints(first, second) => {
                let [one, two] = [first, second]
                    .map(|member| joints.get(member).map_or([None; 2], |member| of(&member.desc)));
                [one[0], one[1], two[0], two[1]]
            }
            _ => {
                let [a, b] = of(&joint.desc);
                [a, b, None, None]
            }
        }
    }

    /// Writes the parameters of a joint, which is in the solver, into its lane.
    pub(crate) fn write(&mut self, index: u32, joints: &Joints, h: f32) {
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
        with_store!(self, store, store => {
            let colour = store.colour_mut(colour);
            let breaks = if joint.may_break() { feature::BREAKS } else { 0 };
            let features = colour.blocks[block].write(at, &joint.desc, h) | breaks;
            colour.set_features(lane, features);
        });
    }

    /// Takes a joint out. Its place is free.
    pub(crate) fn remove(&mut self, index: u32, joints: &mut Joints) {
        let Some((_, joint)) = joints.at(index) else { return };
        let Some(place) = joint.place else { return };
        let may_break = joint.may_break();
        let Place { store: number, colour, lane } = place;
        let (_, at) = block_and_lane(lane);
        let members = if number == 4 { 2 } else { 1 };
        for which in 0..members {
            for side in 0..2 {
                let ends = self.ends_mut(place, which);
                let (body, stand_in) = (ends.bodies[side][at], ends.stand_ins[side][at]);
                if stand_in != OWN_ROW {
                    self.stand_ins[stand_in as usize] = WORLD;
                    self.free_stand_ins.push(stand_in);
                } else if colour != SERIAL
                    && let Some(taken) = self.taken.get_mut(body as usize)
                {
                    *taken &= !(1 << colour);
                }
            }
        }
        let moved = with_store!(self, number, store => store.remove(colour, lane));
        if let Some(moved) = moved.and_then(|moved| joints.at_mut(moved)) {
            moved.place = Some(place);
        }
        if let Some(joint) = joints.at_mut(index) {
            joint.place = None;
        }
        self.count -= 1;
        self.breakable -= usize::from(may_break);
        self.slots_moved = true;
    }

    /// Takes a joint out and in again, with other parameters or because a body of it has another mass now. It keeps its impulses, if
    /// it is of the same kind.
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

    fn keep(&mut self, Place { store, colour, lane }: Place) -> Kept {
        let (block, at) = block_and_lane(lane);
        match store {
            0 => Kept::Pivot(Box::new(alone(&self.pivots.colour_mut(colour).blocks[block], at))),
            1 => Kept::Slide(Box::new(alone(&self.slides.colour_mut(colour).blocks[block], at))),
            2 => Kept::Wheel(Box::new(alone(&self.wheels.colour_mut(colour).blocks[block], at))),
            3 => Kept::Line(Box::new(alone(&self.lines.colour_mut(colour).blocks[block], at))),
            _ => Kept::Gear(Box::new(alone(&self.gears.colour_mut(colour).blocks[block], at))),
        }
    }

    /// Sets the speed of a joint's motor. The joint has one.
    pub(crate) fn set_motor_speed(&mut self, index: u32, joints: &Joints, speed: f32) {
        let Some(Place { store, colour, lane }) = joints.at(index).and_then(|(_, joint)| joint.place) else {
            return;
        };
        let (block, at) = block_and_lane(lane);
        match store {
            0 => self.pivots.colour_mut(colour).blocks[block].drive.motor.speed[at] = speed,
            1 => self.slides.colour_mut(colour).blocks[block].drive.motor.speed[at] = speed,
            2 => self.wheels.colour_mut(colour).blocks[block].0.turn_motor.speed[at] = speed,
            3 => self.lines.colour_mut(colour).blocks[block].drive.motor.speed[at] = speed,
            _ => {}
        }
    }

    fn new_stand_in(&mut self, body: u32) -> u32 {
        if let Some(free) = self.free_stand_ins.pop() {
            self.stand_ins[free as usize] = body;
            return free;
        }
        self.stand_ins.push(body);
        self.free_stand_ins.reserve(self.stand_ins.len());
        self.stand_in_slots.reserve(self.stand_ins.len());
        (self.stand_ins.len() - 1) as u32
    }

    /// The ends of a joint: of its first or second motion, for a gear.
    fn ends_mut(&mut self, Place { store, colour, lane }: Place, which: usize) -> &mut Ends {
        let (block, _) = block_and_lane(lane);
        match store {
            0 => self.pivots.colour_mut(colour).blocks[block].ends_mut(),
            1 => self.slides.colour_mut(colour).blocks[block].ends_mut(),
            2 => self.wheels.colour_mut(colour).blocks[block].ends_mut(),
            3 => self.lines.colour_mut(colour).blocks[block].ends_mut(),
            _ => &mut self.gears.colour_mut(colour).blocks[block].members[which].ends,
        }
    }
}

/// A joint's lane, while it moves to another.
enum Kept {
    Pivot(Box<PivotBlock>),
    Slide(Box<SlideBlock>),
    Wheel(Box<WheelBlock>),
    Line(Box<LineBlock>),
    Gear(Box<GearBlock>),
}

impl Joint {
    /// Returns true if a force or torque can break the joint.
    pub(crate) fn may_break(&self) -> bool {
        self.desc.break_force.is_finite() || self.desc.break_torque.is_finite()
    }
}

/// The rows of a step: where those of the joints begin, and how many there are.
#[derive(Clone, Copy)]
struct RowMap {
    /// Those of the bodies; the next is the padding of the first tile, which stands still: the world's.
    bodies: usize,
    /// Those of the bodies and of the tiles' padding.
    base: usize,
}

impl Ends {
    /// Looks up the rows of the joints in a block's first lanes, and names the padding in the others. What keeps the kernels within
    /// bounds is here: each row is one of the map's, or one of `stand_ins`.
    fn look_up(&mut self, used: usize, store: usize, bodies: &Bodies, map: RowMap, stand_ins: usize) {
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
                            assert!((stand_in as usize) < stand_ins, "a stand-in that is not there");
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
    /// Brings everything up to date at the start of a step. `vel` and `accum` are the rows of all bodies, followed by padding, and by
    /// the rows that the joints asked for.
    pub(crate) fn begin_step(
        &mut self,
        joints: &Joints,
        bodies: &Bodies,
        h: f32,
        [vel, accum]: [&mut [Row]; 2],
    ) {
        if self.is_empty() {
            return;
        }
        if self.step != h {
            self.step = h;
            let all: [u32; 2] = [0, joints.capacity() as u32];
            (all[0]..all[1]).for_each(|index| self.write(index, joints, h));
        }
        let total = vel.len();
        let base = total - self.extra_rows();
        let rows = [bodies.len, base, total];
        if std::mem::take(&mut self.slots_moved) || self.rows != rows {
            self.rows = rows;
            self.look_up(bodies);
        }
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
        let slots = self.stand_ins.iter().map(|&body| bodies.slot_at(body).map_or(WORLD, |slot| slot as u32));
        self.stand_in_slots.extend(slots);
        let map = RowMap { bodies: self.rows[0], base: self.rows[1] };
        let stand_ins = self.stand_ins.len();
        for_two_bodies!(self, store, number => for colour in store.all_mut() {
            for block in 0..colour.blocks.len() {
                let used = colour.used_of(block);
                colour.blocks[block].ends_mut().look_up(used, usize::from(number), bodies, map, stand_ins);
            }
        });
        for colour in self.gears.all_mut() {
            for block in 0..colour.blocks.len() {
                let used = colour.used_of(block);
                for member in &mut colour.blocks[block].members {
                    member.ends.look_up(used, STORES - 1, bodies, map, stand_ins);
                }
            }
        }
    }

    /// Notes the angles between bodies, for the joints that look at them.
    fn note_angles(&mut self, joints: &Joints, bodies: &Bodies) {
        for_two_bodies!(self, store, _number => for colour in store.all_mut() {
            for block in 0..colour.blocks.len() {
                if colour.features[block] & feature::ANGLE == 0 {
                    continue;
                }
                for lane in 0..colour.used_of(block) {
                    let features = colour.features_of(block, lane);
                    if features & feature::ANGLE == 0 {
                        continue;
                    }
                    if let Some((_, joint)) = joints.at(colour.joint_of(block, lane)) {
                        let wrapped = features & feature::WRAPPED != 0;
                        colour.blocks[block].set_start_angle(lane, angle_of(joint, bodies), wrapped);
                    }
                }
            }
        });
        for colour in self.gears.all_mut() {
            for block in 0..colour.blocks.len() {
                for lane in 0..colour.used_of(block) {
                    if let Some((_, joint)) = joints.at(colour.joint_of(block, lane)) {
                        colour.blocks[block].start_error[lane] = gear_error(joint, joints, bodies) as f32;
                    }
                }
            }
        }
    }

    /// Does a pass over all joints.
    pub(crate) fn pass(&mut self, pass: JointPass, rows: &Rows<'_>, level: Level, crew: &Crew<'_>) {
        // What the kernels ask for: see `Ends::look_up`.
        let [bodies, _, total] = self.rows;
        assert!(
            rows.vel.len() == total
                && rows.accum.len() == total
                && rows.pose.len() > bodies
                && rows.frame.len() > bodies
        );
        assert!(!rows.any_damping || rows.damp.len() == total);
        match pass {
            JointPass::Begin => self.pass_of::<BEGIN>(rows, true, level, crew),
            JointPass::Solve => self.pass_of::<SOLVE>(rows, true, level, crew),
            JointPass::SolveAgain => self.pass_of::<SOLVE>(rows, false, level, crew),
            JointPass::Turn => {
                self.move_stand_ins(rows);
                self.pass_of::<TURN>(rows, true, level, crew);
            }
            JointPass::Relax => self.pass_of::<RELAX>(rows, false, level, crew),
            JointPass::Nothing => {}
        }
    }

    /// Moves the stand-ins as far as the bodies that they stand in for.
    #[allow(unsafe_code)]
    fn move_stand_ins(&self, rows: &Rows<'_>) {
        let first = self.rows[1] + STORES;
        // SAFETY: no other thread is at work.
        let (poses, stand_ins) =
            unsafe { (rows.pose.range(0..first), rows.pose.range(first..first + self.stand_ins.len())) };
        for (pose, &slot) in stand_ins.iter_mut().zip(&self.stand_in_slots) {
            *pose = poses.get(slot as usize).copied().unwrap_or_default();
        }
    }

    #[allow(unsafe_code)]
    fn pass_of<const PASS: usize>(&mut self, rows: &Rows<'_>, first: bool, level: Level, crew: &Crew<'_>) {
        let constants = Constants { inv_step: rows.inv_step, ratio: rows.impulse_ratio, first };
        let JointSolver { pivots, slides, wheels, lines, gears, .. } = self;
        let coloured = [
            pivots.colours.len(),
            slides.colours.len(),
            wheels.colours.len(),
            lines.colours.len(),
            gears.colours.len(),
        ];
        for colour in 0..coloured.into_iter().max().unwrap_or(0) {
            let one = Shared::of(pivots, colour);
            let two = Shared::of(slides, colour);
            let three = Shared::of(wheels, colour);
            let four = Shared::of(lines, colour);
            let five = Shared::of(gears, colour);
            let counts = [one.chunks(), two.chunks(), three.chunks(), four.chunks(), five.chunks()];
            crew.run(counts.iter().sum(), |mut item| {
                let mut store = 0;
                while item >= counts[store] {
                    item -= counts[store];
                    store += 1;
                }
                // SAFETY: each item is another chunk of blocks. No two joints of a colour move the same body, and an end that nothing
                // moves has a row of its own. The rows exist (asserted by `pass`, and by `Ends::look_up`). A store's padding row is in
                // one block of a colour only.
                unsafe {
                    match store {
                        0 => one.sweep::<PASS>(item, rows, &constants, level),
                        1 => two.sweep::<PASS>(item, rows, &constants, level),
                        2 => three.sweep::<PASS>(item, rows, &constants, level),
                        3 => four.sweep::<PASS>(item, rows, &constants, level),
                        _ => five.sweep::<PASS>(item, rows, &constants, level),
                    }
                }
            });
        }
        // SAFETY: this thread alone is at work, one joint after the other. The rows exist, as above.
        unsafe {
            pivots.serial.one_by_one::<PASS>(rows, &constants);
            slides.serial.one_by_one::<PASS>(rows, &constants);
            wheels.serial.one_by_one::<PASS>(rows, &constants);
            lines.serial.one_by_one::<PASS>(rows, &constants);
            gears.serial.one_by_one::<PASS>(rows, &constants);
        }
    }
}

/// The blocks of a colour, of which several threads take chunks.
struct Shared<'a, B> {
    blocks: SharedSlice<'a, B>,
    features: &'a [u32],
    used: usize,
}

impl<'a, B: Block> Shared<'a, B> {
    fn of(store: &'a mut Store<B>, colour: usize) -> Self {
        match store.colours.get_mut(colour) {
            Some(Colour { blocks, features, used, .. }) => {
                Shared { blocks: SharedSlice::new(blocks), features, used: *used }
            }
            None => Shared { blocks: SharedSlice::new(&mut []), features: &[], used: 0 },
        }
    }

    fn chunks(&self) -> usize {
        self.blocks.len().div_ceil(CHUNK_BLOCKS)
    }

    /// # Safety
    ///
    /// No other thread has this chunk. Beyond that as for [`sweep`].
    #[allow(unsafe_code)]
    unsafe fn sweep<const PASS: usize>(
        &self,
        chunk: usize,
        rows: &Rows<'_>,
        constants: &Constants,
        level: Level,
    ) {
        let first = chunk * CHUNK_BLOCKS;
        let range = first..(first + CHUNK_BLOCKS).min(self.blocks.len());
        let used = self.used - first * BLOCK;
        // SAFETY: the caller guarantees it.
        unsafe {
            let blocks = self.blocks.range(range.clone());
            with_lanes!(level, L => sweep::<L, B, PASS>(blocks, &self.features[range], used, rows, constants));
        }
    }
}

impl<B: Block> Colour<B> {
    /// Solves the joints one after the other.
    ///
    /// # Safety
    ///
    /// As for [`sweep`].
    #[allow(unsafe_code)]
    unsafe fn one_by_one<const PASS: usize>(&mut self, rows: &Rows<'_>, constants: &Constants) {
        if self.used > 0 {
            // SAFETY: the caller guarantees it.
            unsafe { sweep::<f32, B, PASS>(&mut self.blocks, &self.features, self.used, rows, constants) };
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

/// What a joint does to its bodies, per substep: the impulse on B, and the angular impulse.
fn reading<B: TwoBodies>(block: &B, lane: usize) -> ([f32; 2], f32) {
    (block.wrench::<f32>(lane, 0).force, block.torque::<f32>(lane))
}

impl JointSolver {
    /// The force and the torque on B in the last substep.
    pub(crate) fn reaction(&self, joint: &Joint) -> (Vec2, f32) {
        let Some(Place { store, colour, lane }) = joint.place else { return (Vec2::ZERO, 0.0) };
        let (block, at) = block_and_lane(lane);
        let (force, torque) = match store {
            0 => self.pivots.colour(colour).map(|colour| reading(&colour.blocks[block], at)),
            1 => self.slides.colour(colour).map(|colour| reading(&colour.blocks[block], at)),
            2 => self.wheels.colour(colour).map(|colour| reading(&colour.blocks[block], at)),
            3 => self.lines.colour(colour).map(|colour| reading(&colour.blocks[block], at)),
            _ => self.gears.colour(colour).map(|colour| ([0.0; 2], colour.blocks[block].impulse[at])),
        }
        .unwrap_or_default();
        let per_step = 1.0 / self.step;
        (per_step * Vec2::from(force), per_step * torque)
    }

    /// Calls `broken` with each joint that bore more than it can, with the force and the torque. In a fixed order.
    pub(crate) fn find_broken(&self, joints: &Joints, mut broken: impl FnMut(u32, f32, f32)) {
        if self.breakable == 0 {
            return;
        }
        for index in 0..joints.capacity() as u32 {
            let Some((_, joint)) = joints.at(index) else { continue };
            if joint.place.is_none() || !joint.may_break() {
                continue;
            }
            let (force, torque) = self.reaction(joint);
            let (force, torque) = (force.length(), torque.abs());
            if force > joint.desc.break_force || torque > joint.desc.break_torque {
                broken(index, force, torque);
            }
        }
    }
}

impl JointSolver {
    /// Checks that every joint that is solved has a lane of its own, that colours share no body, and that the counts are right.
    pub(crate) fn validate(&self, joints: &Joints, bodies: &Bodies) -> Result<(), String> {
        use crate::base::ensure;
        let mut places = std::collections::BTreeMap::new();
        let mut moved = std::collections::BTreeSet::new();
        let (mut count, mut breakable) = (0, 0);
        for (handle, joint) in joints.iter() {
            let wanted = joint.desc.enabled && store_of(&joint.desc.kind).is_some();
            ensure!(joint.place.is_some() == wanted, "{handle:?} is solved: {}", joint.place.is_some());
            let Some(place) = joint.place else { continue };
            count += 1;
            breakable += usize::from(joint.may_break());
            ensure!(Some(place.store) == store_of(&joint.desc.kind), "{handle:?} is among other kinds");
            let other = places.insert((place.store, place.colour, place.lane), handle);
            ensure!(other.is_none(), "{handle:?} and {other:?} have the same lane");
            if place.colour == SERIAL {
                continue;
            }
            let mut bodies_of: Vec<u32> =
                self.ends_of_any(joint, joints).into_iter().flatten().filter(|&body| body != WORLD).collect();
            bodies_of.sort_unstable();
            bodies_of.dedup();
            for body in bodies_of {
                if bodies.slot_at(body).is_some_and(|slot| bodies.columns.inv_mass[slot] > 0.0) {
                    ensure!(
                        moved.insert((place.colour, body)),
                        "body {body} has two joints of colour {}",
                        place.colour
                    );
                }
            }
        }
        ensure!(count == self.count, "{} joints counted, there are {count}", self.count);
        ensure!(
            breakable == self.breakable,
            "{} breakable joints counted, there are {breakable}",
            self.breakable
        );
        let lanes: usize = [
            self.pivots.all().map(|(_, colour)| colour.used).sum::<usize>(),
            self.slides.all().map(|(_, colour)| colour.used).sum(),
            self.wheels.all().map(|(_, colour)| colour.used).sum(),
            self.lines.all().map(|(_, colour)| colour.used).sum(),
            self.gears.all().map(|(_, colour)| colour.used).sum(),
        ]
        .iter()
        .sum();
        ensure!(lanes == count, "{lanes} lanes for {count} joints");
        Ok(())
    }
}

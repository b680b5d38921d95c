//! The sweeps over the hulls' contacts, in lanes.
//!
//! In each substep the contacts are coloured, so that no two contacts of a colour push the same particle or body. They
//! are laid out colour by colour in blocks of sixteen, on every instruction set. A block reads its lanes' velocities,
//! solves normal and tangent, and writes the velocities. Overlapping bodies are pushed apart. Each hull moves like a
//! rigid body, in a row of its own (x, y, turn); its particles follow after the last sweep.
//!
//! Tried and dropped: contacts one after the other, in the order of the pairs. The contacts of a hull waited for each
//! other through memory: 65 ns per contact and sweep. A layout of two cache lines per contact instead of four and a
//! half did not help.
//!
//! Also dropped: contacts that live on through a step, with gaps that follow the points (least means of three runs of 100
//! steps after 600, before and after, ±10 %). While no corner had moved by 1 mm, a step of 5,000 soft boxes in a pile cost
//! 0.86 to 0.94 of what it had cost, one of 500 ragdolls 1.17; with all contacts of a step kept, however fast they moved,
//! 0.78 to 0.87 and 0.87. The blocks would have to live on as well.

use super::contact::State;
use super::sides::Surface;
use super::strike::SLIPPING;
use super::{CLOSING, Contact, Hull, HullSolver, PUSH, Side, sweeps};
use crate::base::colours::pick;
use crate::base::room::resize;
use crate::contacts::BLOCK;
use crate::formula::coulomb;
use crate::isa::Level;
use crate::lane::{Lane, Row, RowOffset, lane_entry, load_each, pair, with_lanes};
use crate::settings::Settings;
use crate::solver::rows::Rows;
use glam::Vec2;

/// The number of colours. A contact for which no colour is free gets a block of its own.
const COLOURS: usize = 63;

/// The contacts are few if there are so many times as many rows: then their rows are cleared one by one.
const FEW: usize = 32;

/// A block of sixteen contacts.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Block {
    /// The rows of both ends of A's side and of B's side. They are below the number of rows that the block was made
    /// for.
    slots: [[RowOffset; BLOCK]; 4],
    /// The shares of the ends; those of A are negative.
    shares: [[f32; BLOCK]; 4],
    /// The arms along the normal and the tangent, of A (negative) and of B.
    arms: [[[f32; BLOCK]; 2]; 2],
    normal: [[f32; BLOCK]; 2],
    /// The separation at the substep's start.
    separation: [f32; BLOCK],
    /// The shifts of A and B: their rows; the arms along the normal (negative for A); the move and the turn by a unit
    /// push over the inverse masses of both (negative for A).
    shifts: [[RowOffset; BLOCK]; 2],
    shift_arms: [[f32; BLOCK]; 2],
    moves: [[f32; BLOCK]; 2],
    turns: [[f32; BLOCK]; 2],
    /// The part of its gap that the contact may close in this substep, divided by the substep's length.
    closing: [f32; BLOCK],
    masses: [[f32; BLOCK]; 2],
    /// The gain in sliding speed from a unit impulse along the normal.
    coupling: [f32; BLOCK],
    /// The largest tangent impulse per normal impulse: while the contact holds, and when it slides.
    friction: [[f32; BLOCK]; 2],
    /// The speed of the surfaces relative to their bodies.
    belt: [f32; BLOCK],
    impulses: [[f32; BLOCK]; 2],
}

impl Block {
    /// Returns a block whose lanes all have this row, without shares, masses or impulses.
    fn empty(padding: usize) -> Block {
        let none = [0.0; BLOCK];
        Block {
            slots: [[RowOffset::of(padding as u32); BLOCK]; 4],
            shares: [none; 4],
            arms: [[none; 2]; 2],
            normal: [none; 2],
            separation: none,
            shifts: [[RowOffset::of(padding as u32); BLOCK]; 2],
            shift_arms: [none; 2],
            moves: [none; 2],
            turns: [none; 2],
            closing: none,
            masses: [none; 2],
            coupling: none,
            friction: [none; 2],
            belt: none,
            impulses: [none; 2],
        }
    }

    /// Writes a contact into a lane. Its slots have to be below `rows`, the last of which is padding, and the rows of its
    /// shifts below that and the `hulls`, which come after them.
    fn set(&mut self, lane: usize, contact: &Contact, rows: usize, hulls: &[Hull], inv_step: f32) {
        let shifts = rows + hulls.len();
        let gives = |side: &Side| {
            let hull = (side.shift.row as usize).checked_sub(rows).and_then(|place| hulls.get(place));
            hull.map_or(1.0, |hull| hull.gives)
        };
        let push = contact.move_mass * gives(&contact.sides[0]).min(gives(&contact.sides[1]));
        for (i, (side, sign)) in contact.sides.iter().zip([-1.0, 1.0]).enumerate() {
            for end in 0..2 {
                // A body is both ends of its side. Its second end has no share, and the padding row.
                let is_twice = end == 1 && side.slots[1] == side.slots[0];
                let (slot, share) = if is_twice {
                    (rows as u32 - 1, 0.0)
                } else {
                    (side.slots[end], sign * side.shares[end])
                };
                assert!((slot as usize) < rows, "a contact names a row that is not there");
                self.slots[2 * i + end][lane] = RowOffset::of(slot);
                self.shares[2 * i + end][lane] = share;
                self.arms[i][end][lane] = sign * side.arms[end];
            }
            let shift = side.shift;
            assert!((shift.row as usize) < shifts, "a contact names a row that is not there");
            self.shifts[i][lane] = RowOffset::of(shift.row);
            self.shift_arms[i][lane] = sign * shift.arm;
            self.moves[i][lane] = sign * shift.moves * push;
            self.turns[i][lane] = sign * shift.turns * push;
        }
        let Surface { static_friction, dynamic_friction, belt, .. } = contact.surface;
        let slides = contact.slipping >= SLIPPING;
        for (axis, normal) in contact.normal.to_array().into_iter().enumerate() {
            self.normal[axis][lane] = normal;
            self.masses[axis][lane] = contact.masses[axis];
            self.impulses[axis][lane] = contact.impulses[axis];
        }
        self.separation[lane] = contact.gap;
        // The largest approach in this substep before the bodies touch.
        self.closing[lane] = inv_step * if contact.impulses[0] > 0.0 { CLOSING } else { 1.0 };
        self.coupling[lane] = contact.coupling;
        self.belt[lane] = belt;
        self.friction[0][lane] = static_friction;
        self.friction[1][lane] = if slides { dynamic_friction } else { static_friction };
    }
}

/// The blocks of a substep.
#[derive(Default)]
pub(super) struct Blocks {
    list: Vec<Block>,
    /// The colours of the contacts that push each row, as bits, by slot.
    taken: Vec<u64>,
    /// The colour of each contact.
    colour: Vec<u8>,
    /// The lane of each contact, counted over all blocks.
    lanes: Vec<u32>,
    /// The move of each body, and of each hull after the bodies, in this substep: x, y, and the turn.
    shifts: Vec<Row>,
}

impl Blocks {
    /// Makes room for this number of contacts.
    pub(super) fn reserve(&mut self, contacts: usize) {
        self.colour.reserve(contacts.saturating_sub(self.colour.len()));
        self.lanes.reserve(contacts.saturating_sub(self.lanes.len()));
        let blocks = contacts / BLOCK + COLOURS;
        self.list.reserve(blocks.saturating_sub(self.list.len()));
    }

    /// Lays the contacts out in blocks. There are rows for all bodies and the padding, and shifts for these and the
    /// hulls.
    fn lay_out(&mut self, contacts: &[Contact], vel: &[Row], hulls: &[Hull], inv_step: f32) {
        let rows = vel.len();
        let shifts = rows + hulls.len();
        // Both are all zero between substeps: most rows may be those of bodies that sleep.
        resize(&mut self.shifts, shifts);
        let Blocks { list, taken, colour: colours, lanes, .. } = self;
        resize(taken, shifts);
        colours.clear();
        let mut next = [0usize; COLOURS + 1];
        let rows_of = |contact: &Contact| {
            let (mut moved, mut count) = ([0; 6], 0);
            let mut note = |row: u32, moves: bool| {
                moved[count] = row as usize;
                count += usize::from(moves);
            };
            for side in &contact.sides {
                side.slots.iter().for_each(|&slot| note(slot, vel[slot as usize].0[3] > 0.0));
            }
            contact.sides.iter().for_each(|side| note(side.shift.row, side.shift.movable));
            (moved, count)
        };
        for contact in contacts {
            let (moved, count) = rows_of(contact);
            let colour = pick(taken, moved[..count].iter().copied(), COLOURS);
            colours.push(colour as u8);
            next[colour] += 1;
        }
        if FEW * contacts.len() < shifts {
            for (moved, count) in contacts.iter().map(rows_of) {
                moved[..count].iter().for_each(|&row| taken[row] = 0);
            }
        } else {
            taken.fill(0);
        }
        let counts = next;
        // The blocks of a colour, and how many of them are full.
        let of = |colour: usize| match counts[colour] {
            count if colour < COLOURS => (count.div_ceil(BLOCK), count / BLOCK),
            count => (count, 0),
        };
        let mut blocks = 0;
        for (colour, place) in next.iter_mut().enumerate() {
            *place = blocks * BLOCK;
            blocks += of(colour).0;
        }
        let empty = Block::empty(rows - 1);
        list.resize(blocks, empty);
        for (colour, &place) in next.iter().enumerate().filter(|&(colour, _)| counts[colour] > 0) {
            let ((used, full), first) = (of(colour), place / BLOCK);
            // All lanes of a full block are written below.
            list[first + full..first + used].iter_mut().for_each(|block| *block = empty);
        }
        lanes.clear();
        for (contact, &colour) in contacts.iter().zip(&*colours) {
            let place = &mut next[usize::from(colour)];
            list[*place / BLOCK].set(*place % BLOCK, contact, rows, hulls, inv_step);
            lanes.push(*place as u32);
            *place += if usize::from(colour) < COLOURS { 1 } else { BLOCK };
        }
    }
}

impl HullSolver {
    /// Solves all contacts, forwards and backwards in turn. The last of the rows is padding.
    pub(super) fn sweep(
        &mut self,
        state: &mut State<'_>,
        rows: &Rows<'_>,
        settings: &Settings,
        level: Level,
    ) {
        let HullSolver { contacts, blocks, hulls, .. } = self;
        blocks.lay_out(contacts, state.vel, hulls, rows.inv_step);
        let sweeps = sweeps(settings);
        let push = PushOut { slop: settings.slop, most: settings.push_out_speed * rows.step / sweeps as f32 };
        let Blocks { list, shifts, .. } = blocks;
        let mut solve = |block: &mut Block| {
            with_lanes!(level, L => solve_block::<<L as Lane>::Narrow>(block, state.vel, shifts, push));
        };
        for sweep in 0..sweeps {
            if sweep % 2 == 0 {
                list.iter_mut().for_each(&mut solve);
            } else {
                list.iter_mut().rev().for_each(&mut solve);
            }
        }
        for (contact, &lane) in contacts.iter_mut().zip(&blocks.lanes) {
            let (block, lane) = (&blocks.list[lane as usize / BLOCK], lane as usize % BLOCK);
            // What can't be moved keeps its impulses.
            if contact.masses[0] > 0.0 {
                contact.impulses = [block.impulses[0][lane], block.impulses[1][lane]];
            }
        }
    }
}

impl HullSolver {
    /// Moves bodies and the hulls' particles by the shifts that the sweeps found.
    pub(super) fn apply_shifts(&mut self, state: &mut State<'_>) {
        let HullSolver { hulls, paired, rigid, others, blocks, .. } = self;
        let (bodies, of_hulls) = blocks.shifts.split_at_mut(state.vel.len());
        for &index in &*paired {
            let index = index as usize;
            let [x, y, turn, _] = std::mem::take(&mut of_hulls[index]).0;
            if [x, y, turn] == [0.0; 3] {
                continue;
            }
            let hull = &hulls[index];
            for (corner, &slot) in hull.corners(state.pose).iter().zip(hull.slots()) {
                let moved = Vec2::new(x, y) + turn * (*corner - rigid[index].centre).perp();
                let pose = &mut state.pose[slot as usize].0;
                pose[0] += moved.x;
                pose[1] += moved.y;
            }
        }
        for pair in others {
            // A body that meets several hulls is moved at the first of its pairs.
            let [x, y, turn, _] = std::mem::take(&mut bodies[pair.slot as usize]).0;
            let pose = &mut state.pose[pair.slot as usize].0;
            (pose[0], pose[1], pose[2]) = (pose[0] + x, pose[1] + y, pose[2] + turn);
        }
    }
}

/// The limits of pushing overlapping bodies apart.
#[derive(Clone, Copy)]
struct PushOut {
    slop: f32,
    /// The largest move in one sweep.
    most: f32,
}

lane_entry! {
    /// Solves the contacts of the block once (sequential impulses).
    fn solve_block[][](block: &mut Block, vel: &mut [Row], shifts: &mut [Row], push: PushOut) = solve_lanes;
}

#[inline(always)]
fn solve_lanes<L: Lane>(block: &mut Block, vel: &mut [Row], shifts: &mut [Row], push: PushOut) {
    block.solve::<L>(vel, shifts, push);
}

/// Adds an impulse to the rows of a contact, each by its share; `spins` to the first row of each side, which turns.
#[inline(always)]
fn push_rows<L: Lane>(rows: &mut [[L; 4]; 4], shares: [L; 4], [x, y]: [L; 2], spins: [L; 2]) {
    let (zero, two) = (L::splat(0.0), L::splat(2.0));
    for (index, (row, share)) in rows.iter_mut().zip(shares).enumerate() {
        // An immovable row is shared by lanes. It is written back unchanged, even if another lane went bad.
        let moves = row[3].gt(zero);
        let by = share * row[3];
        row[0] = L::select(moves, row[0] + by * x, row[0]);
        row[1] = L::select(moves, row[1] + by * y, row[1]);
        if index % 2 == 0 {
            let spun = row[2] + two * spins[index / 2] * row[3];
            row[2] = L::select(moves, spun, row[2]);
        }
    }
}

impl Block {
    #[allow(unsafe_code)]
    #[inline(always)]
    fn solve<L: Lane>(&mut self, vel: &mut [Row], shifts: &mut [Row], push: PushOut) {
        let (vel, shifts) = (vel.as_mut_ptr(), shifts.as_mut_ptr());
        for i in (0..BLOCK).step_by(L::WIDTH) {
            let at = [&self.slots[0][i..], &self.slots[1][i..], &self.slots[2][i..], &self.slots[3][i..]];
            let shift_at = [&self.shifts[0][i..], &self.shifts[1][i..]];
            // SAFETY: the rows exist: `set` has checked them, and the padding row is one of them. They are this
            // thread's.
            let (mut rows, mut moved) =
                unsafe { (gather_each::<L, 4>(vel, at), gather_each::<L, 2>(shifts, shift_at)) };
            let shares: [L; 4] = load_each(&self.shares, i);
            let arms: [[L; 2]; 2] = pair!(side => load_each(&self.arms[side], i));
            let [nx, ny]: [L; 2] = load_each(&self.normal, i);
            let [x, y] = pair!(axis => {
                (shares[0] * rows[0][axis] + shares[1] * rows[1][axis])
                    + (shares[2] * rows[2][axis] + shares[3] * rows[3][axis])
            });
            let spin = pair!(axis => arms[0][axis] * rows[0][2] + arms[1][axis] * rows[2][2]);
            let normal_speed = nx * x + ny * y + spin[0];
            let tangent_speed = nx * y - ny * x + spin[1];
            let shift_arms: [L; 2] = load_each(&self.shift_arms, i);
            let way = pair!(axis => moved[1][axis] - moved[0][axis]);
            let turned = shift_arms[0] * moved[0][2] + shift_arms[1] * moved[1][2];
            let separation = L::load(&self.separation[i..]) + ((nx * way[0] + ny * way[1]) + turned);
            let [normal_mass, tangent_mass]: [L; 2] = load_each(&self.masses, i);
            let [normal_before, tangent_before]: [L; 2] = load_each(&self.impulses, i);

            let zero = L::splat(0.0);
            let target = zero - L::load(&self.closing[i..]) * separation.max(zero);
            let normal = (normal_before + (target - normal_speed) * normal_mass).max(zero);
            let pressed = normal - normal_before;

            let tangent_speed =
                tangent_speed + L::load(&self.belt[i..]) + L::load(&self.coupling[i..]) * pressed;
            let wanted = tangent_before - tangent_speed * tangent_mass;
            let [hold, most]: [L; 2] = load_each(&self.friction, i);
            let tangent = coulomb(wanted, hold * normal, most * normal);
            let rubbed = tangent - tangent_before;

            let impulse = [pressed * nx - rubbed * ny, pressed * ny + rubbed * nx];
            let spins = pair!(side => arms[side][0] * pressed + arms[side][1] * rubbed);
            push_rows(&mut rows, shares, impulse, spins);
            self.push_apart(i, push, separation, &mut moved);
            // SAFETY: `set` has checked these rows, and they are this thread's.
            unsafe {
                for (at, row) in at.into_iter().zip(rows) {
                    L::scatter(vel, at, row);
                }
                for (at, row) in shift_at.into_iter().zip(moved) {
                    L::scatter(shifts, at, row);
                }
            }
            normal.store(&mut self.impulses[0][i..]);
            tangent.store(&mut self.impulses[1][i..]);
        }
    }

    /// Pushes overlapping bodies apart.
    #[inline(always)]
    fn push_apart<L: Lane>(&self, i: usize, push: PushOut, separation: L, moved: &mut [[L; 4]; 2]) {
        let zero = L::splat(0.0);
        let [nx, ny] = load_each(&self.normal, i);
        let overlap = (zero - separation - L::splat(push.slop)).max(zero);
        let by = (L::splat(PUSH) * overlap).min(L::splat(push.most));
        let (moves, turns): ([L; 2], [L; 2]) = (load_each(&self.moves, i), load_each(&self.turns, i));
        for (row, (moves, turns)) in moved.iter_mut().zip(moves.into_iter().zip(turns)) {
            let along = by * moves;
            row[0] = row[0] + along * nx;
            row[1] = row[1] + along * ny;
            row[2] = row[2] + by * turns;
        }
    }
}

/// The rows at each of several columns of offsets.
///
/// # Safety
///
/// The rows exist, and no other thread writes them.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn gather_each<L: Lane, const N: usize>(rows: *const Row, at: [&[RowOffset]; N]) -> [[L; 4]; N] {
    let mut gathered = [[L::splat(0.0); 4]; N];
    for (row, at) in gathered.iter_mut().zip(at) {
        // SAFETY: the caller guarantees that the rows exist and that no other thread writes them.
        *row = unsafe { L::gather(rows, at) };
    }
    gathered
}

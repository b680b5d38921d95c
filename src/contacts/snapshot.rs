//! What a snapshot holds of the contacts: the pairs of the list, which lane each has, and what no step computes anew.
//!
//! Rows, masses and coefficients of a lane follow from its pair and are written by the same code as in a new list. So whatever a
//! snapshot says, each row that a kernel will read goes through [`Places::set`](super::places::Places), and exists. What is left is checked
//! here: that pairs, lanes and blocks fit each other, and that a tile moves no body of a tile that is not its neighbour.
//!
//! If the list is void, nobody solves its blocks any more. They keep what the next list carries over, and nothing else.

mod columns;

use super::build::Build;
use super::carry::Carried;
use super::{
    BLOCK, BlockInfo, CandidateBlock, ContactEvent, Contacts, Key, Limits, List, NO_LANE, Reach, Run, Tile,
    key,
};
use crate::base::codec::{Flaw, Read, Reader, Stored, Writer, require};
use crate::body::Motion;
use crate::broadphase::shapes::{NO_PART, row_of_shape};
use crate::broadphase::sweep::Pair;
use crate::contacts::candidates::CANDIDATE_KINDS;
use crate::geometry::shape::ShapeKind;
use crate::narrowphase::{KINDS, PairKind};
use columns::{COLUMNS, lanes};

crate::base::codec::stored!(Carried { normal_impulse, tangent_impulse, touching });
crate::base::codec::stored!(ContactEvent = ContactEvent { a: Stored::blank(), b: Stored::blank() }; { a, b });

/// What the restored tiles are made with.
struct Restore<'a> {
    build: Build<'a>,
    /// The list is that of the bodies as they are, and its blocks will be solved.
    lives: bool,
    /// The number of rows by shape that the next step has.
    shape_rows: usize,
    built: usize,
}

impl Contacts {
    /// Writes the contacts of so many bodies.
    pub(crate) fn write(&self, bodies: usize, to: &mut Writer<'_>) {
        let Contacts {
            tiles: _,
            active_tiles,
            overflow: _,
            carry: _,
            spare: _,
            overflow_keys: _,
            changed: _,
            room,
            overflow_room,
            crowded,
            dropped: _,
            woken,
            begin,
            end,
        } = self;
        to.mark();
        to.length(*active_tiles);
        self.all().for_each(|tile| tile.write(to));
        to.mark();
        let most = self.most_room(bodies);
        room.at_most(most).write(to);
        overflow_room.at_most(most).write(to);
        crowded.write(to);
        woken.write(to);
        begin.write(to);
        end.write(to);
    }

    /// The longest room in a snapshot; a world that had more pairs may hold more.
    fn most_room(&self, bodies: usize) -> usize {
        64 * (bodies + self.pair_count()) + 4096
    }

    /// Reads what [`Contacts::write`] wrote. `list` are the bodies and the order of space of the same snapshot.
    pub(crate) fn read(&mut self, list: &List<'_>, lives: bool, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        let (broadphase, bodies) = (list.broadphase, list.bodies);
        let count = from.length()?;
        let known = count == broadphase.tiles.len() || (count == 0 && !lives);
        require!(known, "{count} tiles of contacts, {} of bodies", broadphase.tiles.len());
        if self.tiles.len() < count {
            self.tiles.resize_with(count, Tile::default);
        }
        self.active_tiles = count;
        let built = broadphase.built;
        let shape_rows = built + count + 1 + bodies.part_count();
        {
            let Contacts { tiles, overflow, carry, spare, .. } = &mut *self;
            let restore = Restore { build: list.build(carry, spare), lives, shape_rows, built };
            for (index, tile) in tiles[..count].iter_mut().enumerate() {
                let of = &broadphase.tiles;
                tile.slots = of[index].slots.clone();
                tile.next_end = of.get(index + 1).map_or(tile.slots.end, |next| next.slots.end);
                tile.padding = (built + index) as u32;
                restore.tile(tile, Reach::Near, from)?;
            }
            (overflow.slots, overflow.next_end) = (0..0, 0);
            overflow.padding = (built + count) as u32;
            restore.tile(overflow, Reach::Anywhere, from)?;
        }
        self.overflow_keys.clear();
        self.overflow_keys.extend(self.overflow.found.pairs.iter().map(key).zip(0..));
        self.overflow_keys.sort_unstable();
        from.mark()?;
        self.room.read(from)?;
        self.overflow_room.read(from)?;
        self.crowded.read(from)?;
        self.woken.read(from)?;
        self.begin.read(from)?;
        self.end.read(from)?;
        self.carry.forget();
        self.dropped.end.clear();
        self.dropped.changed.clear();
        self.changed.clear();
        let most = self.most_room(bodies.len);
        require!(
            self.room.is_within(most) && self.overflow_room.is_within(most),
            "room for more pairs than there may be"
        );
        require!(self.crowded.iter().all(|&slot| (slot as usize) < bodies.len), "a crowded slot is none");
        Ok(())
    }
}

/// The flags and numbers of a block, as words.
const INFO: [fn(&BlockInfo) -> u32; 8] = [
    |info| u32::from(info.count),
    |info| u32::from(info.dropped),
    |info| u32::from(info.active),
    |info| u32::from(info.touching),
    |info| u32::from(info.touched),
    |info| u32::from(info.bounced),
    |info| u32::from(info.colour),
    |info| u32::from(info.capacity),
];

impl Tile {
    fn write(&self, to: &mut Writer<'_>) {
        let Tile {
            found,
            normal: _,
            friction: _,
            bounce,
            manifold: _,
            rough,
            info,
            runs,
            occupied,
            lane_of,
            candidates,
            candidate_runs,
            slots: _,
            next_end: _,
            padding: _,
            limits: _,
            strikes: _,
            put_aside: _,
            ahead: _,
            bundles: _,
            scratch: _,
        } = self;
        to.mark();
        write_pairs(&found.pairs, to);
        to.small_column(lane_of.iter().map(|lane| lane.wrapping_add(1)));
        to.mark();
        to.length(info.len());
        (!bounce.is_empty(), !rough.is_empty(), *occupied).write(to);
        for (_, run) in runs.iter().enumerate().filter(|(index, _)| occupied >> index & 1 == 1) {
            (run.serial - run.start, run.end - run.start).write(to);
        }
        for get in INFO {
            to.mark();
            to.small_column(info.iter().map(get));
        }
        for number in (0..COLUMNS).filter(|&number| self.may_have(number)) {
            to.mark();
            self.write_column(number, to);
        }
        to.mark();
        to.length(candidates.len());
        candidate_runs.lengths().for_each(|len| len.write(to));
        to.small_column(candidates.iter().flat_map(|block| block.pair).map(|pair| pair.wrapping_add(1)));
        to.mark();
        to.small_column(candidates.iter().map(|block| u32::from(block.alive)));
    }

    /// Reads the runs and the flags of the blocks.
    fn read_blocks(&mut self, count: usize, from: &mut Reader<'_>) -> Read {
        let mut next = 0u32;
        let mut manifolds = 0u32;
        self.info.clear();
        self.info.resize(count, BlockInfo::default());
        require!(self.occupied >> (2 * KINDS) == 0, "a run of no kind");
        for (index, run) in self.runs.iter_mut().enumerate() {
            *run = Run { start: next, serial: next, end: next };
            if self.occupied >> index & 1 == 0 {
                continue;
            }
            let (serial, len): (u32, u32) = from.value()?;
            let fits = serial <= len && len > 0 && len as usize <= count - next as usize;
            require!(fits, "a run of {len} blocks, {count} in all");
            (run.serial, run.end) = (next + serial, next + len);
            if PairKind::ALL[index / 2].needs_manifold() {
                for info in &mut self.info[next as usize..run.end as usize] {
                    info.manifold = manifolds;
                    manifolds += 1;
                }
            }
            next = run.end;
        }
        require!(next as usize == count, "{next} of {count} blocks are in runs");
        let mut words: Vec<u32> = Vec::new();
        for number in 0..INFO.len() {
            from.mark()?;
            from.column(&mut words, count)?;
            for (info, &word) in self.info.iter_mut().zip(&words) {
                let small = u16::try_from(word).map_err(|_| Flaw(format!("{word} in a block's flags")))?;
                match number {
                    0 => info.count = small.min(u16::from(u8::MAX)) as u8,
                    1 => info.dropped = small,
                    2 => info.active = small,
                    3 => info.touching = small,
                    4 => info.touched = small,
                    5 => info.bounced = small != 0,
                    6 => info.colour = small.min(u16::from(u8::MAX)) as u8,
                    _ => info.capacity = small.min(u16::from(u8::MAX)) as u8,
                }
            }
        }
        for (block, info) in self.info.iter().enumerate() {
            require!(usize::from(info.count) <= BLOCK, "block {block} has {} lanes", info.count);
            let flags = info.active | info.touching | info.touched;
            require!(flags & !info.used() == 0, "block {block}: an unused lane is active or touches");
            require!(usize::from(info.colour) <= super::SERIAL, "block {block}: colour {}", info.colour);
            require!(info.capacity <= 15, "block {block}: capacity {}", info.capacity);
        }
        Ok(())
    }
}

fn write_pairs(pairs: &[Pair], to: &mut Writer<'_>) {
    to.length(pairs.len());
    let before = || std::iter::once(0).chain(pairs.iter().map(|pair| pair.a));
    to.small_column(pairs.iter().zip(before()).map(|(pair, before)| pair.a.wrapping_sub(before)));
    to.mark();
    to.small_column(pairs.iter().map(|pair| pair.b.wrapping_sub(pair.a)));
    to.mark();
    to.small_column(pairs.iter().map(|pair| 2 * pair.kind as u32 + u32::from(pair.swap)));
    to.mark();
    to.small_column(pairs.iter().map(|pair| !u32::from(u16::from_le_bytes(pair.parts)) & 0xFFFF));
    to.mark();
    to.raw_column(pairs.iter().map(|pair| pair.separation.to_bits()));
    to.mark();
}

fn read_pairs(pairs: &mut Vec<Pair>, memory: &mut Vec<u32>, from: &mut Reader<'_>) -> Read {
    let len = from.length()?;
    pairs.clear();
    from.column(memory, len)?;
    let mut a = 0u32;
    pairs.extend(memory.iter().map(|&more| {
        a = a.wrapping_add(more);
        Pair { a, b: a, separation: 0.0, kind: PairKind::CircleCircle, swap: false, parts: [NO_PART; 2] }
    }));
    from.mark()?;
    from.column(memory, len)?;
    pairs.iter_mut().zip(&*memory).for_each(|(pair, &more)| pair.b = pair.a.wrapping_add(more));
    from.mark()?;
    from.column(memory, len)?;
    for (pair, &kind) in pairs.iter_mut().zip(&*memory) {
        let known = PairKind::ALL.get(kind as usize / 2);
        pair.kind = *known.ok_or_else(|| Flaw(format!("{kind} is no kind of pair")))?;
        pair.swap = kind % 2 == 1;
    }
    from.mark()?;
    from.column(memory, len)?;
    for (pair, &parts) in pairs.iter_mut().zip(&*memory) {
        pair.parts = (!parts as u16).to_le_bytes();
    }
    from.mark()?;
    from.column(memory, len)?;
    for (pair, &separation) in pairs.iter_mut().zip(&*memory) {
        pair.separation = f32::from_bits(separation);
    }
    from.mark()
}

impl Restore<'_> {
    /// Reads a tile whose place in space is set.
    fn tile(&self, tile: &mut Tile, reach: Reach, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        tile.found.clear();
        tile.strikes.clear();
        tile.put_aside.clear();
        read_pairs(&mut tile.found.pairs, &mut Vec::new(), from)?;
        let (mut lane_of, mut column) = (Vec::<u32>::new(), Vec::new());
        from.column(&mut lane_of, tile.found.pairs.len())?;
        lane_of.iter_mut().for_each(|lane| *lane = lane.wrapping_sub(1));
        self.check_pairs(tile, reach)?;
        from.mark()?;
        let blocks = from.length()?;
        let (has_bounce, has_rough, occupied): (bool, bool, u64) = from.value()?;
        tile.occupied = occupied;
        tile.read_blocks(blocks, from)?;
        let manifolds = tile.info.iter().filter(|info| info.manifold != super::NO_MANIFOLD).count();
        self.build.clear_blocks(tile, manifolds);
        require!(self.build.bodies.any_restitution || !has_bounce, "blocks bounce, and nothing does");
        require!(self.build.bodies.any_rough || !has_rough, "blocks are rough, and nothing is");
        if !has_bounce {
            tile.bounce.clear();
        }
        if !has_rough {
            tile.rough.clear();
        }
        self.write_lanes(tile, lane_of)?;
        for number in (0..COLUMNS).filter(|&number| tile.may_have(number)).collect::<Vec<_>>() {
            from.mark()?;
            tile.read_column(number, &mut column, from)?;
        }
        self.candidates(tile, from)?;
        let within = tile.limits.shapes.is_within(self.shape_rows) || !self.lives;
        require!(within, "a part of a compound beyond the rows");
        Ok(())
    }

    /// Checks that bodies and parts of all pairs exist, and that no pair moves a body of a tile that is not near.
    fn check_pairs(&self, tile: &Tile, reach: Reach) -> Read {
        let bodies = self.build.bodies;
        let c = &bodies.columns;
        let mut last: Option<Key> = None;
        for pair in &tile.found.pairs {
            let (a, b) = (pair.a as usize, pair.b as usize);
            require!(a < b && b < self.built, "a pair of the slots {a} and {b} of {}", self.built);
            if reach == Reach::Near {
                let own = tile.slots.contains(&a) && last < Some(key(pair));
                require!(own, "a pair of slot {a} is not in order in its tile");
                last = Some(key(pair));
            }
            if !self.lives {
                continue;
            }
            let near = reach == Reach::Anywhere
                || b < tile.next_end
                || (pair.kind.is_fixed() && !pair.swap && c.inv_mass[b] == 0.0);
            let boxed = !pair.kind.needs_manifold() || self.build.rounding.len() >= self.built;
            require!(near && boxed, "a pair of slot {b}, which is in no tile near, or has no box");
            for (slot, part) in [(a, pair.parts[0]), (b, pair.parts[1])] {
                if c.kind[slot].motion() != Motion::Dead {
                    let one = c.kind[slot].shape() != ShapeKind::Compound;
                    let right = if one { part == NO_PART } else { part < bodies.shape_count(slot) };
                    require!(right, "a pair of part {part} of slot {slot}");
                    let row = row_of_shape(bodies, slot as u32, part);
                    require!((row as usize) < self.shape_rows, "part {part} of slot {slot} has row {row}");
                }
            }
        }
        Ok(())
    }

    /// Returns true if the lane of a pair is to be made from its bodies.
    fn is_whole(&self, pair: &Pair) -> bool {
        let dead = |slot: u32| self.build.bodies.columns.kind[slot as usize].motion() == Motion::Dead;
        self.lives && !dead(pair.a) && !dead(pair.b)
    }

    /// Writes the lanes of all pairs.
    fn write_lanes(&self, tile: &mut Tile, lane_of: Vec<u32>) -> Read {
        let mut coefficients = self.build.coefficients();
        let info = tile.info.clone();
        // The lanes in use for which no pair was found yet.
        let mut free: Vec<u16> = info.iter().map(BlockInfo::used).collect();
        tile.lane_of = lane_of;
        for index in 0..tile.lane_of.len() {
            let Some((block, lane)) = tile.place(index) else { continue };
            let pair = tile.found.pairs[index];
            require!(
                tile.blocks_of(pair.kind).contains(&block),
                "a pair is in block {block}, of another kind"
            );
            let free = &mut free[block];
            require!(
                *free >> lane & 1 == 1,
                "a pair is in lane {lane} of block {block}, which is taken or unused"
            );
            *free &= !(1 << lane);
            if self.is_whole(&pair) {
                self.build.write_lane(tile, &mut coefficients, index, (block, lane), Default::default());
            } else {
                self.name_rows(tile, &pair, (block, lane));
            }
        }
        let alone = free.iter().position(|&free| free != 0).unwrap_or(free.len());
        require!(alone == free.len(), "a lane of block {alone} has no pair");
        tile.info = info;
        Ok(())
    }

    fn candidates(&self, tile: &mut Tile, from: &mut Reader<'_>) -> Read {
        from.mark()?;
        let count = from.length()?;
        tile.candidate_runs.read(count, from)?;
        let (mut numbers, mut alive): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        from.column(&mut numbers, count.saturating_mul(BLOCK))?;
        from.mark()?;
        from.column(&mut alive, count)?;
        let Tile { candidates, candidate_runs, found, lane_of, limits, padding, .. } = tile;
        let Limits { shapes, .. } = limits;
        let none = CandidateBlock::empty(*padding, shapes);
        candidates.clear();
        candidates.resize(count, none);
        let mut waiting = vec![false; found.pairs.len()];
        for kind in &PairKind::ALL[..CANDIDATE_KINDS] {
            for block in candidate_runs.of(*kind) {
                let candidate = &mut candidates[block];
                for lane in 0..BLOCK {
                    let index = numbers[block * BLOCK + lane].wrapping_sub(1);
                    if index == u32::MAX {
                        continue;
                    }
                    let pair = found.pairs.get(index as usize).filter(|pair| pair.kind == *kind);
                    let pair =
                        pair.ok_or_else(|| Flaw(format!("candidate {index} is no pair of its kind")))?;
                    if self.is_whole(pair) {
                        self.build.write_candidate((candidate, lane), index, pair, shapes);
                    } else {
                        candidate.pair[lane] = index;
                        candidate.a.set(lane, pair.a, shapes);
                        candidate.b.set(lane, pair.b, shapes);
                        candidate.alive |= 1 << lane;
                    }
                }
                let known = std::mem::replace(&mut candidate.alive, alive[block] as u16);
                require!(candidate.alive & !known == 0, "a candidate is no pair");
                for lane in lanes(candidate.alive) {
                    let waits = &mut waiting[candidate.pair[lane] as usize];
                    require!(!std::mem::replace(waits, true), "a pair is a candidate twice");
                }
            }
        }
        let right = waiting.iter().zip(&*lane_of).all(|(&waits, &lane)| waits == (lane == NO_LANE));
        require!(right, "a pair has a lane and is a candidate, or neither");
        Ok(())
    }

    /// Names the bodies and parts of a pair in a lane that is not solved any more. The parts may be others by now.
    fn name_rows(&self, tile: &mut Tile, pair: &Pair, (block, lane): (usize, usize)) {
        let fits = |row: &u32| (*row as usize) < self.shape_rows;
        let row = |slot, part| Some(row_of_shape(self.build.bodies, slot, part)).filter(fits).unwrap_or(slot);
        let sides = [(pair.a, pair.parts[0]), (pair.b, pair.parts[1])];
        let [(a, part_a), (b, part_b)] = if pair.swap { [sides[1], sides[0]] } else { sides };
        let (normal, Limits { bodies, shapes, .. }) = (&mut tile.normal[block], &mut tile.limits);
        normal.a.set(lane, a, bodies);
        normal.b.set(lane, b, bodies);
        if let Some(manifold) = tile.manifold.get_mut(tile.info[block].manifold as usize) {
            manifold.shape_a.set(lane, row(a, part_a), shapes);
            manifold.shape_b.set(lane, row(b, part_b), shapes);
        }
    }
}

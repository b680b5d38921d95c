//! Finds the begin and end events of pairs of bodies, from the flags that the narrowphase left for pairs of shapes.
//!
//! Where both bodies have one shape, a lane is a pair of bodies, and a changed flag is an event. If one is a compound,
//! the pair may have several lanes: in a tile, in the overflow tile, and some that only the last list had. Then a
//! changed flag is just a reason to look at all lanes of the pair: the bodies touch if one of these lanes touches.

use super::{BlockInfo, ContactEvent, Contacts, ManifoldBlock, NormalBlock, Tile};
use crate::body::{Bodies, BodyHandle};

/// A pair of bodies, at least one of them a compound, of which a pair of shapes began or ceased to touch.
#[derive(Clone, Copy)]
pub(super) struct Changed {
    bodies: [BodyHandle; 2],
    /// Where the pair of shapes is: in the last list and not in this one, or in a block of this one.
    from: From,
}

#[derive(Clone, Copy, PartialEq)]
enum From {
    LastList,
    Block { tile: usize, block: usize },
}

impl Changed {
    fn new(a: BodyHandle, b: BodyHandle, from: From) -> Changed {
        Changed { bodies: if a < b { [a, b] } else { [b, a] }, from }
    }

    /// Notes a pair that touched and is no longer in the list.
    pub(super) fn lost(a: BodyHandle, b: BodyHandle) -> Changed {
        Changed::new(a, b, From::LastList)
    }
}

impl Contacts {
    /// Finds the pairs that begin and cease to touch, from the flags that the narrowphase left.
    pub(crate) fn find_events(&mut self, bodies: &Bodies) {
        // No more pairs can begin to touch than the list has, and no more can cease to than it and the last one had.
        let pairs = self.pair_count();
        let room = ((16 * bodies.len).min(1024) + pairs / 4).min(2 * pairs + 8);
        for events in [&mut self.begin, &mut self.end] {
            events.clear();
            if events.capacity() < room {
                events.reserve(room + room / 4);
            }
        }
        self.changed.clear();
        if !bodies.compounds.is_empty() && self.changed.capacity() < room {
            self.changed.reserve(room + room / 4);
        }
        self.end.append(&mut self.dropped.end);
        self.changed.append(&mut self.dropped.changed);
        self.carry.lost(bodies, &mut self.end, &mut self.changed);
        let (begin, end, changed_pairs) = (&mut self.begin, &mut self.end, &mut self.changed);
        for (index, tile) in
            self.tiles[..self.active_tiles].iter_mut().chain([&mut self.overflow]).enumerate()
        {
            let Tile { normal, info, manifold, .. } = tile;
            for (number, (block, info)) in normal.iter().zip(info).enumerate() {
                let mut changed = info.touching ^ info.touched;
                if changed == 0 {
                    continue;
                }
                let of_parts =
                    manifold.get(info.manifold as usize).map_or(0, |manifold| part_lanes(block, manifold));
                if of_parts & changed == 0 {
                    info.touched = info.touching;
                }
                while changed != 0 {
                    let lane = changed.trailing_zeros() as usize;
                    let [a, b] = [&block.a, &block.b].map(|slots| bodies.handle(slots[lane].row()));
                    if of_parts >> lane & 1 == 1 {
                        changed_pairs.push(Changed::new(a, b, From::Block { tile: index, block: number }));
                    } else if info.touching >> lane & 1 == 1 {
                        begin.push(ContactEvent::of(a, b));
                    } else {
                        end.push(ContactEvent::of(a, b));
                    }
                    changed &= changed - 1;
                }
            }
        }
        if !self.changed.is_empty() {
            self.find_events_of_parts(bodies);
        }
    }

    /// Finds the events of the pairs in `changed`, in the order of their handles.
    fn find_events_of_parts(&mut self, bodies: &Bodies) {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable_by_key(|changed| changed.bodies);
        for pair in changed.chunk_by(|one, other| one.bodies == other.bodies) {
            let [a, b] = pair[0].bodies;
            let lost = pair.iter().any(|changed| changed.from == From::LastList);
            let (touched, touching) = self.flags(bodies, a, b);
            match (touched || lost, touching) {
                (false, true) => self.begin.push(ContactEvent::of(a, b)),
                (true, false) => self.end.push(ContactEvent::of(a, b)),
                _ => {}
            }
        }
        for changed in &changed {
            if let From::Block { tile, block } = changed.from {
                let tile = if tile < self.active_tiles { &mut self.tiles[tile] } else { &mut self.overflow };
                let info = &mut tile.info[block];
                info.touched = info.touching;
            }
        }
        self.changed = changed;
    }

    /// Returns whether any shapes of two bodies touched in the step before, and whether any touch in this one, as far
    /// as the list has them.
    fn flags(&self, bodies: &Bodies, a: BodyHandle, b: BodyHandle) -> (bool, bool) {
        let (Ok(a), Ok(b)) = (bodies.slot_of(a), bodies.slot_of(b)) else { return (false, false) };
        let wanted = (a.min(b) as u32, a.max(b) as u32);
        let mut flags = (false, false);
        let mut add = |tile: &Tile, pair: usize| {
            let Some((block, lane)) = tile.place(pair) else { return };
            let BlockInfo { touched, touching, .. } = tile.info[block];
            flags.0 |= touched >> lane & 1 == 1;
            flags.1 |= touching >> lane & 1 == 1;
        };
        if let Some(tile) = self.tile_of(wanted.0) {
            let pairs = &tile.found.pairs;
            let bodies_of = |pair: usize| (pairs[pair].a, pairs[pair].b);
            let first = pairs.partition_point(|pair| (pair.a, pair.b) < wanted);
            (first..pairs.len())
                .take_while(|&pair| bodies_of(pair) == wanted)
                .for_each(|pair| add(tile, pair));
        }
        let first = self.overflow_keys.partition_point(|((a, b, _), _)| (*a, *b) < wanted);
        let of_pair = self.overflow_keys[first..].iter().take_while(|((a, b, _), _)| (*a, *b) == wanted);
        of_pair.for_each(|(_, pair)| add(&self.overflow, *pair as usize));
        flags
    }
}

/// Returns the lanes of a block in which at least one shape is a part of a compound.
fn part_lanes(block: &NormalBlock, manifold: &ManifoldBlock) -> u16 {
    let shapes = manifold.shape_a.iter().zip(manifold.shape_b.iter());
    let lanes = shapes.zip(block.a.iter().zip(block.b.iter())).enumerate();
    lanes.fold(0, |bits, (lane, ((shape_a, shape_b), (a, b)))| {
        let part = shape_a.row() != a.row() || shape_b.row() != b.row();
        bits | u16::from(part) << lane
    })
}

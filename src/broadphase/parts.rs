//! The parts of compounds in a pair list.

use super::Broadphase;
use super::shapes::{BoxedShape, OrientedBox, Turned};
use crate::base::room::like;
use crate::body::compound::{Compound, Placed};
use crate::body::{Bodies, Kind};
use crate::geometry::shape::ShapeKind;
use glam::Vec2;

/// The parts of compounds, where they were when the list was made. (When parts were placed anew for each pair of
/// bodies, this was a quarter of the time of 3,000 falling bodies of two boxes.)
#[derive(Default)]
pub(super) struct PlacedParts {
    list: Vec<BoxedShape>,
    /// The first entry of each compound in `list`, and then the length of `list`.
    first: Vec<u32>,
}

crate::base::codec::stored!(PlacedParts { list, first });

impl PlacedParts {
    /// Makes room for as much as another one has room for.
    pub(super) fn make_room_like(&mut self, other: &Self) {
        like!(self, other; list, first);
    }

    /// Returns true if all parts of the bodies in the first slots are there: those of the list.
    pub(super) fn fits(&self, bodies: &Bodies, slots: usize) -> bool {
        let ordered = self.first.windows(2).all(|two| two[0] <= two[1]);
        let within = self.first.last().is_none_or(|&last| last as usize == self.list.len());
        let compounds = (0..slots).filter(|&slot| bodies.is_taken(slot) && !bodies.parts(slot).is_empty());
        let holds = |slot: usize| {
            let number = bodies.columns.outline[slot] as usize;
            let known = self.first.get(number..number.saturating_add(2));
            let known = known.map_or(&[][..], |known| &self.list[known[0] as usize..known[1] as usize]);
            let same = |(part, (placed, known)): (usize, (&Placed, &BoxedShape))| {
                usize::from(known.part) == part && known.kind.shape() == placed.part.shape.kind()
            };
            let parts = bodies.parts(slot);
            known.len() >= parts.len() && parts.iter().zip(known).enumerate().all(same)
        };
        ordered && within && compounds.into_iter().all(holds)
    }

    pub(super) fn of(&self, compound: usize) -> &[BoxedShape] {
        &self.list[self.first[compound] as usize..self.first[compound + 1] as usize]
    }
}

impl Broadphase {
    /// Places the parts of all compounds.
    pub(super) fn place_parts(&mut self, bodies: &Bodies) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.first.clear();
        parts.first.push(0);
        for compound in &bodies.compounds {
            let last = parts.first.last().copied().unwrap_or(0);
            parts.first.push(last + compound.parts.len() as u32);
        }
        parts.list.clear();
        parts.list.resize(parts.first[bodies.compounds.len()] as usize, BoxedShape::default());
        self.parts = parts;
        for slot in 0..bodies.len {
            self.place_parts_of(bodies, slot);
        }
    }

    /// Places the parts of a body, if it has any.
    pub(super) fn place_parts_of(&mut self, bodies: &Bodies, slot: usize) {
        let kind = bodies.columns.kind[slot];
        if kind.shape() != ShapeKind::Compound {
            return;
        }
        let place = self.place(slot);
        let first = self.parts.first[bodies.columns.outline[slot] as usize] as usize;
        let [cos, sin] = place.turned.axis.into();
        for ((placed, part), into) in bodies.parts(slot).iter().zip(0u8..).zip(&mut self.parts.list[first..])
        {
            let (offset, (part_sin, part_cos)) = Compound::place(placed, (sin, cos));
            let half = bodies.outlines.half_extents(placed.outline);
            *into = BoxedShape {
                part,
                kind: Kind::new(kind.motion(), placed.part.shape.kind()).manifold(),
                place: OrientedBox {
                    centre: place.centre + offset,
                    turned: Turned { axis: Vec2::new(part_cos, part_sin), half },
                },
                reach: placed.reach,
                filter: placed.part.filter,
            };
        }
    }
}

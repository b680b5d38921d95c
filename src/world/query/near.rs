//! The bodies that a query may find: along a track, or in a box. From the step's own order of space, and beside it.
//!
//! The order is that of the last pair list. Bodies that moved since within their margins are in their bounds there; how far others are
//! out is known (`broadphase/strays.rs`), and the track or box grows by that. What is further out, loose or added since is looked at one
//! by one. If a batch has many of these to look at, it puts them in an order of its own first: [`Others`].

use crate::base::room::make_room;
use crate::body::Bodies;
use crate::broadphase::Broadphase;
use crate::broadphase::discs::{DiscTree, Place, Sought};
use crate::broadphase::levels::Levels;
use crate::broadphase::walk::{LineVisitor, Track};
use crate::crew::with_crew;
use crate::geometry::shape::ShapeKind;
use crate::isa::Level;
use crate::world::World;
use glam::Vec2;

/// So many bodies that are not in the list are looked at one by one; if there are more, a batch orders them.
const FEW: usize = 32;

/// A batch makes a tree of discs if there are at most so many bodies a query. The tree costs some 5 ns a body, and saves a query some 160.
const BODIES_PER_QUERY: usize = 32;

/// What a batch of queries makes of the bodies before it asks. Kept from batch to batch for its memory.
#[derive(Default)]
pub(super) struct Prepared {
    discs: DiscTree,
    others: Others,
}

/// Bodies that the list does not have in their places, ordered by place for a batch of queries.
#[derive(Default)]
struct Others {
    slots: Vec<u32>,
    planes: Vec<u32>,
    columns: [Vec<f32>; 4],
    levels: Levels,
}

impl Others {
    /// Orders the bodies of a world that the list does not have in their places. Returns false if they are few.
    fn order(&mut self, world: &World) -> bool {
        if world.unlisted().nth(FEW).is_none() {
            return false;
        }
        let (bodies, most) = (&world.bodies, world.bodies.len);
        make_room(&mut self.slots, most);
        self.planes.clear();
        self.columns.iter_mut().for_each(|column| make_room(column, most));
        let mut sizes = 0.0;
        for slot in world.unlisted() {
            if bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace {
                self.planes.push(slot as u32);
                continue;
            }
            let (lower, upper) = bounds(bodies, slot);
            self.slots.push(slot as u32);
            for (column, value) in self.columns.iter_mut().zip([lower.x, upper.x, lower.y, upper.y]) {
                column.push(value);
            }
            sizes += f64::from((upper - lower).max_element());
        }
        // Most bodies are in one level.
        let least = 2.0 * sizes / self.slots.len().max(1) as f64;
        let [min_x, max_x, min_y, max_y] = &self.columns;
        self.levels.build_boxes([min_x, max_x, min_y, max_y], least as f32);
        true
    }
}

/// The present bounds of a body that is not a half-space, with what rounding may take away.
fn bounds(bodies: &Bodies, slot: usize) -> (Vec2, Vec2) {
    let (position, half) = (bodies.position(slot), bodies.bounds(slot));
    let half = half + 4.0 * f32::EPSILON * (position.abs() + half);
    (position - half, position + half)
}

/// A body that a track may meet.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub slot: usize,
    /// It is found in the list, where it may be out of place.
    listed: bool,
}

/// The bodies of a world by their place.
#[derive(Clone, Copy)]
pub(super) struct Near<'a> {
    pub bodies: &'a Bodies,
    broadphase: &'a Broadphase,
    world: &'a World,
    pub level: Level,
    /// Of the bodies in bands, for a batch.
    discs: Option<&'a DiscTree>,
    /// What of these is where the queries look first.
    place: Option<&'a Place>,
    others: Option<&'a Others>,
}

impl World {
    pub(super) fn near(&self) -> Near<'_> {
        let World { bodies, broadphase, level, .. } = self;
        Near { bodies, broadphase, world: self, level: *level, discs: None, place: None, others: None }
    }

    /// As [`World::near`], for so many queries.
    pub(super) fn near_for_batch<'a>(&'a self, prepared: &'a mut Prepared, queries: usize) -> Near<'a> {
        let Prepared { discs, others } = prepared;
        // An order costs as much as some ten queries without it.
        let ordered = queries >= 8 && others.order(self);
        let with_discs = self.broadphase.bands.banded / BODIES_PER_QUERY < queries;
        if with_discs {
            with_crew(None, |crew| discs.build(&self.bodies, &self.broadphase, crew));
        }
        Near {
            discs: (with_discs && self.broadphase.excess().is_finite()).then_some(&*discs),
            others: ordered.then_some(&*others),
            ..self.near()
        }
    }
}

impl<'a> Near<'a> {
    /// The box around what is looked at first of a track.
    pub(super) fn bounds_along(&self, track: &Track, sought: Sought) -> Option<[Vec2; 2]> {
        Some(self.discs?.bounds_of_first_piece(track, sought))
    }

    /// As this one, for queries that first look into one of these boxes.
    pub(super) fn in_place<'b>(
        self,
        place: &'b mut Place,
        boxes: impl Iterator<Item = Option<[Vec2; 2]>>,
    ) -> Near<'b>
    where
        'a: 'b,
    {
        let Some(discs) = self.discs else { return self };
        let nowhere = [Vec2::INFINITY, Vec2::NEG_INFINITY];
        // A box with a corner that is not a number holds nothing, and would hide those before it.
        let boxes = boxes.flatten().filter(|[lower, upper]| lower.cmple(*upper).all());
        let around = boxes.fold(nowhere, |around, of| [around[0].min(of[0]), around[1].max(of[1])]);
        let gathered =
            around != nowhere && discs.gather(self.level, (around, self.broadphase.excess()), place);
        Near { place: gathered.then_some(&*place), ..self }
    }
}

impl Near<'_> {
    /// A distance within which a point in the midst of bodies has some neighbours, m.
    pub(super) fn first_reach(&self) -> f32 {
        let height = self.broadphase.bands.height as f32;
        if height > 0.0 { height } else { 1.0 }
    }

    /// A number of 32 bits: points that are near each other in the order of space mostly have near numbers.
    pub(super) fn region(&self, point: Vec2) -> u64 {
        let order = if self.broadphase.bands.along_x { [point.x, point.y] } else { [point.y, point.x] };
        let per_region = [0.25, 0.125].map(|share| share / self.first_reach());
        let [band, along] = [order[0] * per_region[0], order[1] * per_region[1]].map(|at| {
            // The conversion saturates.
            u64::from((at as i16).cast_unsigned() ^ 1 << 15)
        });
        band << 16 | along
    }

    /// Whether a candidate of [`Near::along`] counts: a body that is not where the list has it comes twice.
    pub(super) fn counts(&self, Candidate { slot, listed }: Candidate) -> bool {
        !listed || self.world.is_listed_collidable(slot)
    }

    /// Visits the bodies whose bounds a track may meet, in an order that is always the same. The visitor returns up to which fraction of
    /// the way the search goes on; a negative one ends it. (Whether a candidate counts is asked only when it is hit. That takes two
    /// searches, and of six candidates of a ray in a pile five are not hit.)
    pub(super) fn along(
        &self,
        (track, sought): (&Track, Sought),
        mut limit: f64,
        mut visit: impl FnMut(Candidate) -> f64,
    ) {
        let (broadphase, level) = (self.broadphase, self.level);
        let kinds = &self.bodies.columns.kind;
        let near = |slot: usize| kinds[slot].is_collidable();
        let mut listed = |slot: usize| {
            if near(slot) { visit(Candidate { slot, listed: true }) } else { f64::INFINITY }
        };
        let excess = broadphase.excess();
        if broadphase.built > 0 && excess.is_finite() {
            let goes_on = match self.discs {
                Some(discs) => {
                    let of = (track, sought);
                    broadphase.visit_along_by_discs(level, (discs, self.place), of, &mut limit, &mut listed)
                }
                None => broadphase.visit_along(level, &track.grown(excess), &mut limit, &mut listed),
            };
            if !goes_on {
                return;
            }
            for &slot in self.broadphase.planes() {
                limit = limit.min(listed(slot as usize));
                if limit < 0.0 {
                    return;
                }
            }
        }
        let track = &track.grown(0.0);
        let counts = |&slot: &usize| self.world.is_listed_collidable(slot);
        let mut visit = |slot: usize| visit(Candidate { slot, listed: false });
        if !excess.is_finite() {
            for slot in (0..self.broadphase.built).filter(counts) {
                self.meet(slot, track, &mut limit, &mut visit);
            }
        }
        match self.others {
            None => {
                for slot in self.world.unlisted() {
                    self.meet(slot, track, &mut limit, &mut visit);
                }
            }
            Some(others) => {
                for &slot in &others.planes {
                    self.meet(slot as usize, track, &mut limit, &mut visit);
                }
                let mut visit = |number: usize| visit(others.slots[number] as usize);
                if limit >= 0.0 {
                    others.levels.visit_along(self.level, (track, false), &mut limit, &mut visit);
                }
            }
        }
    }

    /// Visits a body whose bounds the rest of a track meets.
    fn meet(&self, slot: usize, track: &Track, limit: &mut f64, visit: &mut impl LineVisitor) {
        if *limit < 0.0 {
            return;
        }
        let plane = self.bodies.columns.kind[slot].shape() == ShapeKind::HalfSpace;
        let meets = plane || {
            // The box around the disc around a shape that turns: larger than its bounds, and there without a sine.
            let (c, position) = (&self.bodies.columns, self.bodies.position(slot));
            let turns = c.kind[slot].shape().turns();
            let half =
                if turns { Vec2::splat(c.furthest[slot]) } else { Vec2::new(c.ext_x[slot], c.ext_y[slot]) };
            let half = half + 4.0 * f32::EPSILON * (position.abs() + half);
            track.meets(position - half, position + half, *limit)
        };
        if meets {
            *limit = limit.min(visit(slot));
        }
    }

    /// Visits each body once whose bounds may overlap a box, in an order that is always the same, until `visit` returns false. Bounds
    /// of bodies are at most a little larger than they have to be, except in the list.
    ///
    /// The second argument of `visit` is true if it is known already that the body has one shape, and that this one overlaps the box.
    pub(super) fn in_box(&self, lower: Vec2, upper: Vec2, mut visit: impl FnMut(usize, bool) -> bool) {
        let (broadphase, level) = (self.broadphase, self.level);
        let near = |slot: usize| self.world.is_listed_collidable(slot);
        let excess = broadphase.excess();
        if broadphase.built > 0 {
            let mut listed = |slot: usize| !near(slot) || visit(slot, false);
            let goes_on = if !excess.is_finite() {
                (0..broadphase.built).all(&mut listed)
            } else {
                let by_place = match self.discs {
                    Some(discs) => broadphase.visit_box_by_discs(
                        level,
                        (discs, self.place),
                        [lower, upper],
                        &mut |slot, sure| (!sure && !near(slot)) || visit(slot, sure),
                    ),
                    None => broadphase.visit_box(level, [lower - excess, upper + excess], &mut listed),
                };
                by_place
                    && broadphase
                        .planes()
                        .iter()
                        .all(|&slot| !near(slot as usize) || visit(slot as usize, false))
            };
            if !goes_on {
                return;
            }
        }
        match self.others {
            None => {
                self.world.unlisted().all(|slot| visit(slot, false));
            }
            Some(others) => {
                if others.planes.iter().all(|&slot| visit(slot as usize, false)) {
                    let mut visit = |number: usize| visit(others.slots[number] as usize, false);
                    others.levels.visit_box(level, (lower, upper, false), &mut visit);
                }
            }
        }
    }
}

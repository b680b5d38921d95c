//! Seams: where static shapes that lie flush meet.
//!
//! Each shape has its own contacts. A box that slides over tiles sinks into them by a hair, and the nearest way out of the tile ahead
//! is then back along its side; a ball that rolls touches the corner ahead. These faces and corners are inside the floor. So a contact that bears
//! nothing yet is left out of the step if another static shape covers the face from which its normal comes. For chains, each segment
//! knows its neighbours (`narrowphase/chain.rs`); static bodies of their own come and go, and are looked up by place.

use super::World;
use super::query::solid::Solid;
use crate::body::{Bodies, Motion};
use crate::contacts::{Tile, set_bits};
use crate::continuous::{ShapeAt, Walls};
use crate::crew::Crew;
use crate::isa::Level;
use crate::lane::{Row, with_lanes};
use crate::narrowphase::{NO_CONTACT, PairKind};
use glam::{DVec2, Vec2};

/// The kinds of pairs in which a shape with faces may be static.
const FACED: [PairKind; 4] = [
    PairKind::CircleAabbFixed,
    PairKind::AabbAabbFixed,
    PairKind::RoundConvexFixed,
    PairKind::ConvexConvexFixed,
];

/// The cosine of the angle between a normal and a face from which on the normal does not come from the face. As for chains.
const LEAN: f64 = 0.01;
/// How far in front of a face it is looked up, and how far from there another shape may lie, in slops. So steps of half a slop, and gaps of
/// one and a half, are as flush.
const AHEAD: f64 = 1.0;
const APART: f64 = 0.5;
/// How far along the face it has to be covered to both sides of a point, how near to an end of the face the point has to be, and how thick the
/// body, in slops. What is covered to one side alone is the foot of a wall. Bodies that are deeper, and thin ones, left mazes of tiles without
/// this, and the limits on depth and direction below: 68 of the 6,330 in `no_one_leaves_a_maze_of_tiles`, and 9 of 144 wedges
/// passed the walls of `walls_of_flush_shapes_stop`.
const ASIDE: f64 = 3.0;
/// How deep a point may be, in slops. The projection solver leaves bodies two slops deep, give or take rounding.
const DEEP: f64 = 2.05;
/// The body moves against the face, and along the floor: by at most this part of that it sinks or rises. What falls into a seam is to find hold
/// on both of its sides.
const ALONG: f64 = 0.1;

/// Where the boxes of more shapes than these hold a point, none of them covers it, so that the cost of a heap of walls does not grow with the
/// square of their number. Not the first so many: a restored world finds them in another order.
const CROWD: u32 = 32;

/// The data by which contacts are looked at.
struct Seams<'a> {
    bodies: &'a Bodies,
    /// The rows of shapes and velocities at the start of the step.
    shape: &'a [Row],
    vel: &'a [Row],
    walls: &'a Walls,
    level: Level,
    time_step: f32,
    /// What gravity gives a body in a step, m/s.
    fall_speed: f32,
    slop: f64,
}

impl World {
    /// Reads the contacts. Leaves out those on faces of static shapes that other static shapes cover.
    pub(super) fn pass_seams(&mut self, crew: &Crew<'_>) {
        let walls = &mut self.continuous.walls;
        walls.update_fixed(&self.bodies);
        if !walls.has_several_fixed() || self.settings.slop == 0.0 {
            return;
        }
        let mirror = &self.solver.mirror;
        let seams = Seams {
            bodies: &self.bodies,
            shape: &mirror.shape,
            vel: &mirror.vel,
            walls,
            level: self.level,
            time_step: self.settings.time_step,
            fall_speed: self.settings.time_step * self.settings.gravity.length(),
            slop: self.settings.slop.into(),
        };
        let (tiles, overflow) = self.contacts.split_tiles();
        crew.for_each(tiles, |_, tile| seams.pass(tile));
        seams.pass(overflow);
    }
}

impl Seams<'_> {
    fn pass(&self, tile: &mut Tile) {
        for kind in FACED {
            for block in tile.blocks_of(kind) {
                let lanes = tile.info[block].active;
                if lanes == 0 {
                    continue;
                }
                let unloaded = tile.unloaded(block);
                let speeds = with_lanes!(self.level, L => tile.approach_speeds::<L>(self.vel, block));
                for lane in set_bits(lanes.into()) {
                    // What bears a load rests on the face, unless it comes faster than bodies fall in a step.
                    let least = if unloaded >> lane & 1 == 1 { f32::MIN } else { self.fall_speed };
                    let struck = (0..2).any(|point| {
                        let speed = speeds[point][lane];
                        speed > least
                            && tile.point_separation(block, lane, point) < speed.max(0.0) * self.time_step
                    });
                    if struck && self.is_inside(tile, (block, lane)) {
                        tile.switch_off(block, lane);
                    }
                }
            }
        }
    }

    /// Whether the normal of a contact comes from a face of a static shape that others cover.
    fn is_inside(&self, tile: &Tile, (block, lane): (usize, usize)) -> bool {
        let normal = &tile.normal[block];
        let [body, wall] = [normal.a[lane].row(), normal.b[lane].row()];
        if self.bodies.columns.kind[wall].motion() != Motion::Static {
            return false;
        }
        let [part_of_body, part] = tile.parts_of(self.bodies, block, lane);
        if f64::from(ShapeAt::new(self.bodies, body, part_of_body).thickness) < ASIDE * self.slop {
            return false;
        }
        let Solid::Convex(shape) = Solid::of(self.bodies, wall, part) else { return false };
        if shape.radius > 0.0 {
            return false;
        }
        // From the wall to the body.
        let outward = -Vec2::new(normal.normal_x[lane], normal.normal_y[lane]);
        let mut points = [(DVec2::ZERO, false); 2];
        let mut count = 0;
        for point in 0..2 {
            let separation = tile.point_separation(block, lane, point);
            // Deep in a wall any way out is better than none.
            if f64::from(separation) < -DEEP * self.slop {
                return false;
            }
            if separation < NO_CONTACT {
                let place = tile.place_of(self.bodies, self.shape, (block, lane), point);
                points[count] = ((place - 0.5 * separation * outward).as_dvec2(), separation > 0.0);
                count += 1;
            }
        }
        let velocity = Vec2::from_slice(&self.vel[body].0[..2]).as_dvec2();
        shape.faces().any(|(ends, face)| {
            face.dot(outward.as_dvec2()) > LEAN
                && velocity.dot(face) < 0.0
                && velocity.perp_dot(face).abs() < ALONG * -velocity.dot(face)
                && points[..count]
                    .iter()
                    .all(|&point| self.covers([(body, part_of_body), (wall, part)], (ends, face), point))
        })
    }

    /// Whether a face of a wall is covered around a point on it, by what the body meets. Where there is a gap, the body would have to
    /// pass what covers the point, wherever on the face it is: the slanted flank of a polygon that slides over tiles comes near the side of
    /// the tile ahead far below its corner.
    fn covers(
        &self,
        of: [(usize, u8); 2],
        ([start, end], face): ([DVec2; 2], DVec2),
        (point, has_gap): (DVec2, bool),
    ) -> bool {
        let length = start.distance(end);
        let along = (end - start).normalize_or_zero();
        let at = (point - start).dot(along);
        if !has_gap && at.min(length - at) > ASIDE * self.slop {
            return false;
        }
        [-1.0, 1.0].iter().all(|side| {
            let at = (at + side * ASIDE * self.slop).clamp(0.0, length);
            self.is_within(of, start + at * along + AHEAD * self.slop * face)
        })
    }

    /// Whether a point lies in, or at, a static shape other than this one.
    fn is_within(&self, [(body, part_of_body), (wall, part)]: [(usize, u8); 2], point: DVec2) -> bool {
        let apart = APART * self.slop;
        let near = Vec2::splat(apart as f32 + 4.0 * f32::EPSILON * point.abs().max_element() as f32);
        let around = [point.as_vec2() - near, point.as_vec2() + near];
        let mut crowd = 0;
        let is_crowded = self.walls.any_fixed(around, |_| {
            crowd += 1;
            crowd > CROWD
        });
        !is_crowded
            && self.walls.any_fixed(around, |other| {
                let Some(slot) = self.bodies.slot_at(other.body) else { return false };
                let is_other = (slot, other.part) != (wall, part);
                if !is_other || !self.bodies.may_touch(body, part_of_body, slot, other.part) {
                    return false;
                }
                match Solid::of(self.bodies, slot, other.part) {
                    Solid::Convex(shape) => shape.distance_to_disc(point, 0.0) <= apart,
                    Solid::Plane { .. } => false,
                }
            })
    }
}

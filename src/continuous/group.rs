//! The movements of the bodies of a task: cast, ended where they hit, and led on along what they hit.

use super::batch::{Casts, FirstHit, Moving, Obstacle};
use super::cast::MISS;
use super::shape::{ShapeAt, Sweep};
use super::walls::Walls;
use super::{GROUP, Movements, Surroundings};
use glam::Vec2;

/// A mark in place of the number of hits: only the centres of the body's shapes are cast.
const CORE: u8 = 8;

/// A body's movement, up to the first hit or on from there.
#[derive(Clone, Copy)]
struct Course {
    /// The movement that is cast.
    sweep: Sweep,
    /// The course before it: how far the body has moved and turned, at which time it ends, and what the body hit then.
    moved: Vec2,
    turned: f32,
    time: f32,
    along: Obstacle,
    /// The number of its hits.
    hits: u8,
}

/// The movements of up to [`GROUP`] bodies.
pub(super) struct Group<'a> {
    slots: &'a [u32],
    courses: [Course; GROUP],
    batch: Casts<'a>,
    walls: &'a Walls,
    /// No movement passes through a wall as it is, so the walls are not looked at again.
    pub clear: bool,
}

impl<'a> Group<'a> {
    pub fn new(
        around: &Surroundings<'a>,
        walls: &'a Walls,
        slots: &'a [u32],
        moved: &Movements<'_>,
    ) -> Group<'a> {
        let along = Obstacle::NONE;
        let start = Course { sweep: Sweep::NONE, moved: Vec2::ZERO, turned: 0.0, time: 0.0, along, hits: 0 };
        let mut courses = [start; GROUP];
        for (course, &slot) in courses.iter_mut().zip(slots) {
            course.sweep = moved.of(around.bodies, slot as usize);
        }
        let batch = Casts::new(around.bodies, around.level, around.depth);
        Group { slots, courses, batch, walls, clear: false }
    }

    /// Ends the movements of these bodies where they hit a wall, or an obstacle that `visit` adds. `visit` gets each shape of each body,
    /// with the box of its movement.
    pub fn stop(
        &mut self,
        moved: &Movements<'_>,
        visit: impl Fn(&mut Casts<'a>, usize, &Moving<'_>, [Vec2; 2]),
    ) {
        self.cast(0, moved, &visit);
        for (_, hit) in
            self.batch.hits.iter_mut().enumerate().filter(|(number, _)| self.batch.inside >> number & 1 == 1)
        {
            *hit = FirstHit::NONE;
        }
        self.cast_cores(moved);
        if self.batch.hits.iter().all(|hit| hit.time == MISS) {
            return;
        }
        self.slide();
        self.cast(1, moved, &visit);
        self.cast_cores(moved);
        if self.carry() {
            // A body between a wall and the obstacle that carries it stays on its side of the wall.
            self.cast(2, moved, &|_, _, _, _| {});
            self.cast_cores(moved);
            self.carry();
        }
        for (number, &slot) in self.slots.iter().enumerate() {
            let course = &mut self.courses[number];
            if course.hits > 0 {
                course.advance(1.0);
                moved.set(self.batch.bodies, slot as usize, course.moved, course.turned);
            }
        }
    }

    /// Casts the centres of those bodies that the last cast found far in something against walls without thickness.
    fn cast_cores(&mut self, moved: &Movements<'_>) {
        let sunk = std::mem::take(&mut self.batch.sunk);
        if sunk == 0 {
            return;
        }
        let hits = self.courses.map(|course| course.hits);
        for number in (0..self.slots.len()).filter(|number| sunk >> number & 1 == 1) {
            self.courses[number].hits = CORE;
        }
        self.batch.cores = true;
        self.cast(CORE, moved, &|_, _, _, _| {});
        self.batch.cores = false;
        for (course, hits) in self.courses.iter_mut().zip(hits) {
            course.hits = hits;
        }
    }

    /// Lets bodies that have hit an obstacle once more go with the obstacle. Returns true if one of these obstacles moves.
    fn carry(&mut self) -> bool {
        let mut moves = false;
        for (course, hit) in self.courses.iter_mut().zip(&mut self.batch.hits) {
            let hit = std::mem::replace(hit, FirstHit::NONE);
            if hit.time < MISS {
                let sweep = hit.obstacle.sweep.after(hit.time);
                course.advance(hit.time);
                course.sweep = course.sweep.carried(&sweep, Vec2::ZERO);
                course.hits += 1;
                course.time += (1.0 - course.time) * hit.time;
                course.along = Obstacle { sweep, ..hit.obstacle };
                moves |= sweep.moved != Vec2::ZERO || sweep.turned != 0.0;
            }
        }
        moves
    }

    /// Casts the bodies that have hit exactly `hits` obstacles.
    fn cast(
        &mut self,
        hits: u8,
        moved: &Movements<'_>,
        visit: &impl Fn(&mut Casts<'a>, usize, &Moving<'_>, [Vec2; 2]),
    ) {
        let bodies = self.batch.bodies;
        for (number, (&slot, course)) in self.slots.iter().zip(&self.courses).enumerate() {
            if course.hits != hits {
                continue;
            }
            let (slot, sweep) = (slot as usize, &course.sweep);
            for part in 0..bodies.shape_count(slot) {
                let shape = ShapeAt::new(bodies, slot, part);
                let shape = &if hits == CORE { shape.core() } else { shape };
                let of = Moving { slot, part, shape, sweep, along: &course.along, time: course.time };
                let swept = shape.swept_box(sweep);
                if hits > 0 || !self.clear {
                    self.walls.visit(swept, |wall| self.batch.add_wall(number, &of, wall, moved));
                }
                visit(&mut self.batch, number, &of, swept);
            }
        }
        self.batch.cast();
    }

    /// Lets bodies that have hit an obstacle go on along it: as far as they would have gone along its surface, and with it if it moves.
    /// A body that would come off the obstacle by this stays where it hit: its contact has yet to stop it.
    fn slide(&mut self) {
        let bodies = self.batch.bodies;
        let hits = std::mem::replace(&mut self.batch.hits, [FirstHit::NONE; GROUP]);
        self.batch.gaps_wanted = true;
        for (number, (course, hit)) in self.courses.iter_mut().zip(&hits).enumerate() {
            if hit.time == MISS {
                continue;
            }
            course.advance(hit.time);
            (course.hits, course.time, course.along) = (1, hit.time, hit.obstacle);
            let other = hit.obstacle.sweep.after(hit.time);
            course.along.sweep = other;
            if hit.is_core {
                course.sweep = course.sweep.carried(&other, Vec2::ZERO);
                continue;
            }
            let shape = ShapeAt::new(bodies, self.slots[number] as usize, hit.part);
            let normal = Vec2::from_angle(other.angle).rotate(hit.axis);
            course.sweep = course.sweep.along(&other, normal, shape.reach == 0.0);
            // Without this, a body that slides far along a wall that turns would be pressed in a little deeper in each step.
            course.sweep.moved += hit.excess * normal;
            let (sweep, obstacle) = (course.sweep.end(), Obstacle { sweep: other.end(), ..hit.obstacle });
            let of = Moving {
                slot: self.slots[number] as usize,
                part: hit.part,
                shape: &shape,
                sweep: &sweep,
                along: &Obstacle::NONE,
                time: 1.0,
            };
            self.batch.put(number, &of, &obstacle.shape(bodies), obstacle);
        }
        self.batch.cast();
        self.batch.gaps_wanted = false;
        let gaps = std::mem::replace(&mut self.batch.hits, [FirstHit::NONE; GROUP]);
        for (course, gap) in self.courses.iter_mut().zip(&gaps).filter(|(course, _)| course.hits > 0) {
            if gap.time > self.batch.depth {
                course.sweep = course.sweep.carried(&course.along.sweep, Vec2::ZERO);
            }
        }
    }
}

impl Course {
    /// Moves along the first part of the sweep: `time` in 0..=1.
    fn advance(&mut self, time: f32) {
        self.moved += time * self.sweep.moved;
        self.turned += time * self.sweep.turned;
        self.sweep = self.sweep.after(time);
    }
}

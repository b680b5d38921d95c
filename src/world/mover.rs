//! A character mover: a shape that a host moves, and that collides, slides, climbs steps and stays on the ground.
//!
//! ```text
//! out of what the shape overlaps
//! four times at most: cast the shape along the rest of the way
//!     nothing in the way: go there; done
//!     go up to the hit, less the skin
//!     a wall, and the mover stood on the ground: over it, if it is a step
//!     else: the rest of the way along the surface; in a corner of two surfaces, stop
//! away from what is nearer than the skin, as far as there is room
//! if the mover stood on the ground, and does not go up: down to the ground, if it is near
//! ```
//!
//! The mover is no body: it pushes nothing, and nothing pushes it. A host that wants bodies to meet it gives it a kinematic body, which
//! the filter excludes.

use super::World;
use super::query::{Hit, Probe, QueryFilter, ShapeCast, Visit};
use crate::error::{Error, check_range, check_vec};
use glam::Vec2;

/// The rounds of a move.
const ROUNDS: usize = 4;
/// Movements shorter than this end a move, m.
const LEAST: f32 = 1.0e-5;
/// By how much the distance from a surface may fall short of the skin, as a part of it.
const NEAR_SKIN: f32 = 0.01;

/// A character: see [`World::move_character`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    /// The shape and where it is. A move changes its position.
    pub probe: Probe,
    /// The direction that is up, of any length above 1e-10. Default (0, 1).
    pub up: Vec2,
    /// The steepest ground on which the mover can stand and go up, rad, in 0..=1.5. Default 0.8 (46°).
    pub max_slope: f32,
    /// The highest step that the mover climbs, m, in 0..=1e3. Default 0.3.
    pub step_height: f32,
    /// How far below its feet the mover looks for ground to stay on, m, in 0..=1e3. Default 0.2.
    pub snap_distance: f32,
    /// The distance that the mover keeps from surfaces, m, in 1e-4..=1. Default 0.01.
    pub skin: f32,
    /// Whether the last move ended on ground that is not too steep.
    pub on_ground: bool,
}

/// What happened in a move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveReport {
    /// How far the mover went, m.
    pub moved: Vec2,
    /// The ground on which it stands, if it does.
    pub ground: Option<Hit>,
    /// The last wall or slope too steep that it met.
    pub wall: Option<Hit>,
    /// The last ceiling that it met.
    pub ceiling: Option<Hit>,
    /// Whether it climbed a step.
    pub stepped: bool,
}

impl Mover {
    /// A mover with the defaults, in the air.
    pub fn new(probe: Probe) -> Mover {
        Mover {
            probe,
            up: Vec2::Y,
            max_slope: 0.8,
            step_height: 0.3,
            snap_distance: 0.2,
            skin: 0.01,
            on_ground: false,
        }
    }

    /// Checks the fields.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range.
    pub fn validate(&self) -> Result<(), Error> {
        self.probe.validate()?;
        check_vec("mover.up", self.up, 1.0e6)?;
        if self.up.length_squared() <= 1.0e-20 {
            return Err(Error::ZeroNormal { field: "mover.up" });
        }
        check_range("mover.max_slope", self.max_slope, 0.0, 1.5)?;
        check_range("mover.step_height", self.step_height, 0.0, 1.0e3)?;
        check_range("mover.snap_distance", self.snap_distance, 0.0, 1.0e3)?;
        check_range("mover.skin", self.skin, 1.0e-4, 1.0)
    }
}

/// A move on its way.
struct Move<'a> {
    world: &'a World,
    filter: &'a QueryFilter<'a>,
    mover: Mover,
    up: Vec2,
    /// Surfaces with this much of their normal upward are ground.
    least_up: f32,
    report: MoveReport,
}

impl Move<'_> {
    /// The first obstacle on a way, among those that the shape moves towards. An obstacle that it overlaps and leaves does not count.
    fn cast(&self, way: Vec2) -> Result<Option<Hit>, Error> {
        let (cast, mut first): (_, Option<Hit>) = (ShapeCast { probe: self.mover.probe, way }, None);
        self.world.cast_shape_visit(&cast, self.filter, |hit| {
            let key = |hit: &Hit| (hit.body, hit.part);
            let sooner = first.as_ref().is_none_or(|first| {
                hit.fraction < first.fraction || (hit.fraction == first.fraction && key(&hit) < key(first))
            });
            if way.dot(hit.normal) >= 0.0 || !sooner {
                return Visit::Continue;
            }
            first = Some(hit);
            Visit::Clip(hit.fraction)
        })?;
        Ok(first)
    }

    fn is_ground(&self, hit: &Hit) -> bool {
        hit.normal.dot(self.up) >= self.least_up
    }

    fn go(&mut self, way: Vec2) {
        self.mover.probe.position += way;
    }

    /// The part of a way that ends the skin before a hit.
    fn part_before(&self, way: Vec2, hit: &Hit) -> f32 {
        let towards = -way.dot(hit.normal);
        (hit.fraction - self.mover.skin / towards.max(f32::MIN_POSITIVE)).max(0.0)
    }

    /// Goes up to a hit, and stops the skin before it.
    fn go_to(&mut self, way: Vec2, hit: &Hit) {
        self.go(self.part_before(way, hit) * way);
    }

    /// Goes away from what is nearer than the skin: so far that it is not, or half-way to what is on the other side.
    fn keep_off(&mut self) -> Result<(), Error> {
        let skin = self.mover.skin;
        for _ in 0..ROUNDS {
            let closest = self.world.closest(&self.mover.probe, skin, self.filter)?;
            let Some((gap, normal)) = closest.filter(|(gap, _)| *gap < (1.0 - NEAR_SKIN) * skin) else {
                break;
            };
            let room = 2.0 * skin - gap;
            let free = self.cast(room * normal)?.map_or(room, |hit| hit.fraction * room);
            let away = (skin - gap).min(0.5 * (free - gap));
            if away < NEAR_SKIN * skin {
                break;
            }
            self.go(away * normal);
        }
        Ok(())
    }

    /// Moves the shape out of what it overlaps.
    fn leave(&mut self) -> Result<(), Error> {
        for _ in 0..ROUNDS {
            let Some((depth, normal)) = self.world.deepest(&self.mover.probe, self.filter)? else { break };
            self.go((depth + self.mover.skin) * normal);
        }
        Ok(())
    }

    fn slide(&mut self, mut way: Vec2) -> Result<(), Error> {
        let mut before: Option<Vec2> = None;
        for _ in 0..ROUNDS {
            if way.length() < LEAST {
                break;
            }
            // Also what begins behind the end of the way, but nearer than the skin, is in the way.
            let beyond = 1.0 + self.mover.skin / way.length();
            let hit = self.cast(beyond * way)?;
            let Some((hit, part)) = hit.map(|hit| (hit, self.part_before(beyond * way, &hit) * beyond))
            else {
                self.go(way);
                break;
            };
            if part >= 1.0 {
                self.go(way);
                break;
            }
            self.go(part * way);
            way *= 1.0 - part;
            let upward = hit.normal.dot(self.up);
            let mut normal = hit.normal;
            if self.is_ground(&hit) {
                self.report.ground = Some(hit);
            } else if upward < -0.01 {
                self.report.ceiling = Some(hit);
            } else {
                self.report.wall = Some(hit);
                if self.mover.on_ground {
                    if self.step_over(way)? {
                        break;
                    }
                    // A slope that is too steep stops like a wall, and lifts nobody.
                    normal = (normal - upward * self.up).normalize_or(normal);
                }
            }
            way -= way.dot(normal).min(0.0) * normal;
            // Between two surfaces there is no way on.
            if before.is_some_and(|before| way.dot(before) < -LEAST * way.length()) {
                break;
            }
            before = Some(normal);
        }
        Ok(())
    }

    /// Goes up by the height of a step, along the rest of the way, and down again. Stays where it is, and returns false, if it
    /// finds no ground there or gets no further by it.
    fn step_over(&mut self, way: Vec2) -> Result<bool, Error> {
        let along = way - way.dot(self.up) * self.up;
        if self.mover.step_height == 0.0 || along.length() < LEAST {
            return Ok(false);
        }
        let start = self.mover;
        let (shape, _) = start.probe.place().expect("a shape that a probe has been checked to have");
        let ahead = along.normalize();
        let [foot, _] = shape.span(self.up.as_dvec2());
        let [back, front] = shape.span(ahead.as_dvec2());
        let rise = self.mover.step_height * self.up;
        match self.cast(rise)? {
            None => self.go(rise),
            Some(hit) => self.go_to(rise, &hit),
        }
        let raised = self.mover;
        let risen = (raised.probe.position - start.probe.position).dot(self.up);
        let down = -(risen + self.mover.skin) * self.up;
        // Enough to have the ground of the step below, however short the way is. What is round stands on the edge of a step only once its middle is
        // near enough. (It went no further than its way: a disc of 0.4 m that was moved by 2 cm never climbed more than 0.16.)
        let mut length = along.length().max(4.0 * self.mover.skin);
        loop {
            let wall = self.cast(length * ahead)?;
            match &wall {
                None => self.go(length * ahead),
                Some(hit) => self.go_to(length * ahead, hit),
            }
            // What is round may come to stand on an edge that is higher than it was lifted.
            let low =
                |hit: &Hit| f64::from(hit.point.dot(self.up)) - foot <= f64::from(self.mover.step_height);
            let landing = self.cast(down)?.filter(|hit| self.is_ground(hit) && low(hit));
            let gain = (self.mover.probe.position - start.probe.position).dot(ahead);
            if let Some(hit) = landing.filter(|_| gain > LEAST) {
                self.go_to(down, &hit);
                (self.report.ground, self.report.stepped) = (Some(hit), true);
                return Ok(true);
            }
            if wall.is_some() || f64::from(length) >= 0.5 * (front - back) {
                self.mover = start;
                return Ok(false);
            }
            self.mover = raised;
            length *= 2.0;
        }
    }

    /// Looks for ground below, and goes down to it if the mover is to stay on it. It has gone up by `risen`: what is round and has met an edge has gone
    /// on along the edge's tangent, up into the air.
    fn settle(&mut self, stays: bool, risen: f32) -> Result<(), Error> {
        let reach = if stays { self.mover.snap_distance + risen } else { 0.0 } + 2.0 * self.mover.skin;
        let down = -reach * self.up;
        let ground = self.cast(down)?.filter(|hit| self.is_ground(hit));
        // Up an edge: down to the floor beside it would be back to where it came from. (A disc that was moved by 2 mm stayed before an edge that it
        // could go up.)
        let goes_up = |hit: &Hit| risen > LEAST && hit.fraction * reach < 2.0 * self.mover.skin;
        if let Some(hit) = ground.filter(|hit| stays && !goes_up(hit)) {
            self.go_to(down, &hit);
        }
        self.report.ground = ground;
        self.mover.on_ground = ground.is_some();
        Ok(())
    }
}

impl World {
    /// Moves a character by `way`, m, each component in −1e4..=1e4: it collides, slides along what it meets, climbs steps and stays on
    /// the ground. Whoever calls it every step keeps the character's velocity and adds gravity to it.
    ///
    /// - It keeps the skin's distance from surfaces, and first leaves what it overlaps. Between two surfaces that are nearer than twice
    ///   the skin it stays in the middle.
    /// - Ground is what is not steeper than [`Mover::max_slope`]. A mover on the ground is stopped by steeper slopes, and is not lifted
    ///   by them. In the air it slides along them.
    /// - A mover that was on the ground climbs steps of up to [`Mover::step_height`], and goes down by up to
    ///   [`Mover::snap_distance`], and by what it has gone up in the same move, to stay on the ground, unless `way` goes up. With a step it goes as far as it has to stand there, however short
    ///   the way is: by four times the skin, or if it is round by up to its width.
    ///
    /// The world does not change. The result is the same on every instruction set.
    ///
    /// # Errors
    ///
    /// Those of [`Mover::validate`]; a way that is not finite or out of range. The mover is then unchanged.
    ///
    /// ```
    /// use granule::{BodyDesc, Mover, Probe, QueryFilter, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// world.add_body(&BodyDesc::fixed(Shape::aabb(1.0, 0.2), Vec2::new(3.0, 0.0)))?; // a step
    /// world.add_body(&BodyDesc::fixed(Shape::aabb(1.0, 5.0), Vec2::new(6.0, 0.0)))?; // a wall
    /// let mut hero = Mover::new(Probe::new(Shape::oriented_box(0.3, 0.9), Vec2::new(0.0, 0.95)));
    /// let (mut fall, dt) = (0.0, 1.0 / 60.0);
    /// for _ in 0..120 {
    ///     fall = if hero.on_ground { 0.0 } else { fall - 9.81 * dt };
    ///     world.move_character(&mut hero, Vec2::new(4.0 * dt, fall * dt), &QueryFilter::default())?;
    /// }
    /// assert!(hero.on_ground && (hero.probe.position.x - 4.69).abs() < 1e-3); // at the wall, the skin before it
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn move_character(
        &self,
        mover: &mut Mover,
        way: Vec2,
        filter: &QueryFilter<'_>,
    ) -> Result<MoveReport, Error> {
        mover.validate()?;
        check_vec("way", way, 1.0e4)?;
        let up = mover.up.normalize();
        let least_up = crate::geometry::trig::sin_cos(mover.max_slope).1;
        let mut on_way =
            Move { world: self, filter, mover: *mover, up, least_up, report: MoveReport::default() };
        on_way.leave()?;
        on_way.slide(way)?;
        on_way.keep_off()?;
        let stays = mover.on_ground && way.dot(up) <= LEAST;
        let risen = (on_way.mover.probe.position - mover.probe.position).dot(up).max(0.0);
        on_way.settle(stays, risen)?;
        on_way.report.moved = on_way.mover.probe.position - mover.probe.position;
        *mover = on_way.mover;
        Ok(on_way.report)
    }
}

//! Rays and moved shapes: what they meet.

use super::filter::{QueryFilter, Sieve};
use super::near::Near;
use super::solid::{Probe, Solid, disc_meets_part, faces};
use crate::body::{BodyHandle, MAX_COORDINATE};
use crate::broadphase::discs::Sought;
use crate::broadphase::walk::Track;
use crate::error::{Error, check_vec};
use crate::geometry::convex::{Convex, PointGap, RayHit, passes_disc, ray_plane};
use crate::geometry::shape::{Shape, ShapeKind};
use crate::world::World;
use glam::{DVec2, Vec2};

/// A straight line from a point, of a length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ray {
    /// Where it begins, m, each coordinate in −1e7..=1e7.
    pub from: Vec2,
    /// The way to its end, m, each component in −2e7..=2e7.
    pub way: Vec2,
}

impl Ray {
    /// A ray from a point along `way`.
    pub const fn new(from: Vec2, way: Vec2) -> Ray {
        Ray { from, way }
    }

    /// A ray from one point to another.
    pub fn between(from: Vec2, to: Vec2) -> Ray {
        Ray { from, way: to - from }
    }

    /// The point at a fraction of the way.
    pub fn at(&self, fraction: f32) -> Vec2 {
        self.from + fraction * self.way
    }

    /// Checks the fields.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range.
    pub fn validate(&self) -> Result<(), Error> {
        check_vec("ray.from", self.from, MAX_COORDINATE)?;
        check_vec("ray.way", self.way, 2.0 * MAX_COORDINATE)
    }
}

/// A shape that is moved along a straight line, without turning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeCast {
    /// The shape, where it begins.
    pub probe: Probe,
    /// The way that it is moved, m, each component in −2e7..=2e7.
    pub way: Vec2,
}

impl ShapeCast {
    /// A cast of a shape that is not turned.
    pub fn new(shape: Shape, from: Vec2, way: Vec2) -> ShapeCast {
        ShapeCast { probe: Probe::new(shape, from), way }
    }

    /// Checks the fields.
    ///
    /// # Errors
    ///
    /// The first field that is not finite or out of range; a half-space.
    pub fn validate(&self) -> Result<(), Error> {
        self.probe.validate()?;
        check_vec("cast.way", self.way, 2.0 * MAX_COORDINATE)
    }
}

/// What a ray or a moved shape meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The body.
    pub body: BodyHandle,
    /// The number of its part, as in [`World::parts`]; 0 if it has one shape.
    pub part: u8,
    /// Where the body's surface is met, m. If ray or shape begin in the body: where the ray begins; the body's deepest point in the shape.
    pub point: Vec2,
    /// The unit normal of the body's surface there, outward: towards the ray's beginning, or the moved shape. If ray or shape begin in the
    /// body, the direction of the shortest way out.
    pub normal: Vec2,
    /// The fraction of the way at which it is met, in 0..=1. 0 if ray or shape begin in the body.
    pub fraction: f32,
}

/// What a visitor of hits wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Visit {
    /// All other hits, too.
    Continue,
    /// Only hits up to this fraction of the way, those at it included. A fraction that is larger than the present one changes nothing. After one below 0, or not a
    /// number, nothing more comes.
    Clip(f32),
    /// No more hits.
    Stop,
}

/// A number times this is larger than all numbers that are rounded to the same f32.
const SAME: f64 = 1.0 + f32::EPSILON as f64;

/// A fraction that is at least as large as all that are rounded to this one.
fn rounded_to(fraction: f32) -> f64 {
    f64::from(fraction) * SAME + f64::from(f32::MIN_POSITIVE)
}

/// What is moved, where it begins.
#[derive(Clone, Copy)]
enum Moved<'a> {
    /// A disc of this radius; of a ray it is 0.
    Disc(f32),
    Shape(&'a Convex),
}

/// A ray or a moved shape, prepared.
#[derive(Clone, Copy)]
pub(super) struct Cast<'a> {
    moved: Moved<'a>,
    from: DVec2,
    way: DVec2,
    track: Track,
}

/// What can be cast.
pub(super) trait Castable {
    fn check(&self) -> Result<(), Error>;
    fn begin(&self) -> Vec2;
    /// The way of a box that holds what is cast, however it is turned.
    fn track(&self) -> Track;
    /// The shape in its place, and the half extents of its bounds. `None` of a ray or a circle.
    fn shape(&self) -> Option<(Convex, Vec2)>;
    /// Only for what `check` has accepted, and its own shape.
    fn prepare<'a>(&self, shape: &'a Option<(Convex, Vec2)>) -> Cast<'a>;
}

impl Castable for Ray {
    fn check(&self) -> Result<(), Error> {
        self.validate()
    }

    fn begin(&self) -> Vec2 {
        self.from
    }

    fn track(&self) -> Track {
        Track { from: self.from, way: self.way, half: Vec2::ZERO }
    }

    #[inline(always)]
    fn shape(&self) -> Option<(Convex, Vec2)> {
        None
    }

    fn prepare<'a>(&self, _: &'a Option<(Convex, Vec2)>) -> Cast<'a> {
        let track = self.track();
        Cast { moved: Moved::Disc(0.0), from: self.from.as_dvec2(), way: self.way.as_dvec2(), track }
    }
}

impl Castable for ShapeCast {
    fn check(&self) -> Result<(), Error> {
        self.validate()
    }

    fn begin(&self) -> Vec2 {
        self.probe.position
    }

    fn track(&self) -> Track {
        Track { from: self.probe.position, way: self.way, half: Vec2::splat(self.probe.reach()) }
    }

    #[inline(always)]
    fn shape(&self) -> Option<(Convex, Vec2)> {
        let round = matches!(self.probe.shape, Shape::Circle { .. } | Shape::Particle { .. });
        if round { None } else { self.probe.place() }
    }

    fn prepare<'a>(&self, shape: &'a Option<(Convex, Vec2)>) -> Cast<'a> {
        let from = self.probe.position;
        let (moved, half) = match (shape, self.probe.shape) {
            (Some((shape, half)), _) => (Moved::Shape(shape), *half),
            (None, Shape::Circle { radius } | Shape::Particle { radius }) => {
                (Moved::Disc(radius), Vec2::splat(radius))
            }
            _ => unreachable!("a half-space is refused"),
        };
        let track = Track { from, way: self.way, half };
        Cast { moved, from: from.as_dvec2(), way: self.way.as_dvec2(), track }
    }
}

/// A shape of a body that is met, and where.
#[derive(Clone, Copy)]
struct Met {
    slot: usize,
    part: u8,
    touch: RayHit,
}

impl Cast<'_> {
    /// Where a shape of a body is first met, at most at `limit`.
    fn touch(&self, near: &Near<'_>, slot: usize, part: u8, limit: f64) -> Option<RayHit> {
        let shape = match self.moved {
            Moved::Disc(radius) => {
                let ray = (self.from, self.way);
                return disc_meets_part((near.bodies, near.level), (slot, part), ray, radius.into(), limit);
            }
            Moved::Shape(shape) => shape,
        };
        if self.passes(near, slot) || !faces(near.bodies, slot, self.from) {
            return None;
        }
        match Solid::of(near.bodies, slot, part) {
            Solid::Plane { normal, offset } => {
                // The lowest point of the shape meets it first.
                let lowest = (shape.least(normal) - offset) * normal;
                ray_plane(normal, 0.0, lowest, self.way, limit)
            }
            Solid::Convex(convex) => convex.minus(shape).ray(DVec2::ZERO, self.way, limit),
        }
    }

    /// Whether the disc around the moved shape passes that around a body. Only what is sure counts.
    fn passes(&self, near: &Near<'_>, slot: usize) -> bool {
        let c = &near.bodies.columns;
        let reach = match c.kind[slot].shape() {
            ShapeKind::HalfSpace => return false,
            shape if shape.turns() => c.furthest[slot],
            _ => Vec2::new(c.ext_x[slot], c.ext_y[slot]).length(),
        };
        let away = self.from - near.bodies.position(slot).as_dvec2();
        let slack = 8.0 * f64::from(f32::EPSILON) * (self.from.abs().max_element() + 1.0);
        passes_disc(1.000_01 * f64::from(reach + self.track.half.length()) + slack, away, self.way)
    }

    fn sought(&self, nearest: bool) -> Sought {
        let outer = match self.moved {
            Moved::Disc(radius) => radius,
            Moved::Shape(_) => self.track.half.length(),
        };
        Sought { outer, nearest }
    }

    /// Visits what is met, in an order that is always the same. The visitor returns up to where the search goes on.
    fn visit(&self, near: &Near<'_>, sieve: &Sieve<'_>, nearest: bool, mut visit: impl FnMut(Met) -> f64) {
        let mut limit = 1.0f64;
        let sought = self.sought(nearest);
        near.along((&self.track, sought), limit, |candidate| {
            let slot = candidate.slot;
            for part in 0..near.bodies.shape_count(slot) {
                if limit >= 0.0
                    && let Some(touch) = self.touch(near, slot, part, limit)
                    && near.counts(candidate)
                    && sieve.sees(slot, part)
                {
                    limit = limit.min(visit(Met { slot, part, touch }));
                }
            }
            limit
        });
    }

    fn hit(&self, near: &Near<'_>, Met { slot, part, touch }: Met) -> Hit {
        let at = self.from + touch.fraction * self.way;
        let solid = || Solid::of(near.bodies, slot, part);
        let point = match self.moved {
            Moved::Disc(0.0) => at,
            Moved::Disc(radius) if touch.fraction > 0.0 => at - f64::from(radius) * touch.normal,
            Moved::Disc(radius) => solid().nearest(&Convex::disc(at, radius.into())).on_first,
            Moved::Shape(shape) if touch.fraction > 0.0 => {
                let moved = shape.moved(touch.fraction * self.way);
                let gap = PointGap { distance: 0.0, normal: touch.normal };
                match solid() {
                    Solid::Plane { normal, offset } => moved.nearest_to_plane(normal, offset).on_first,
                    Solid::Convex(convex) => convex.nearest_points(&moved, gap).on_first,
                }
            }
            Moved::Shape(shape) => solid().nearest(shape).on_first,
        };
        Hit {
            body: near.bodies.handle(slot),
            part,
            point: point.as_vec2(),
            normal: touch.normal.as_vec2(),
            fraction: touch.fraction as f32,
        }
    }

    /// The first hit. Of several at one place that of the lowest handle, and of its first part.
    pub(super) fn first(&self, near: &Near<'_>, sieve: &Sieve<'_>) -> Option<Hit> {
        let mut first: Option<Met> = None;
        // Hits count as at one place if their fractions are the same number for the host.
        let key = |met: &Met| (met.touch.fraction as f32, near.bodies.handle(met.slot), met.part);
        self.visit(near, sieve, true, |met| {
            if first.as_ref().is_none_or(|first| key(&met) < key(first)) {
                first = Some(met);
            }
            rounded_to(first.as_ref().map_or(1.0, |first| first.touch.fraction as f32))
        });
        first.map(|met| self.hit(near, met))
    }

    pub(super) fn any(&self, near: &Near<'_>, sieve: &Sieve<'_>) -> bool {
        let mut any = false;
        self.visit(near, sieve, false, |_| {
            any = true;
            -1.0
        });
        any
    }

    /// Appends all hits, in the order in which they are met.
    pub(super) fn all(&self, near: &Near<'_>, sieve: &Sieve<'_>, hits: &mut Vec<Hit>) {
        let start = hits.len();
        self.visit(near, sieve, false, |met| {
            hits.push(self.hit(near, met));
            1.0
        });
        hits[start..].sort_unstable_by(|a, b| {
            a.fraction.total_cmp(&b.fraction).then((a.body, a.part).cmp(&(b.body, b.part)))
        });
    }
}

impl World {
    fn cast_first(&self, cast: &impl Castable, filter: &QueryFilter<'_>) -> Result<Option<Hit>, Error> {
        cast.check()?;
        let shape = cast.shape();
        Ok(cast.prepare(&shape).first(&self.near(), &Sieve::new(&self.bodies, filter)))
    }

    fn cast_visit(
        &self,
        cast: &impl Castable,
        filter: &QueryFilter<'_>,
        mut visit: impl FnMut(Hit) -> Visit,
    ) -> Result<(), Error> {
        cast.check()?;
        let shape = cast.shape();
        let (cast, near) = (cast.prepare(&shape), self.near());
        let mut limit = 1.0f32;
        cast.visit(&near, &Sieve::new(&self.bodies, filter), false, |met| {
            // Hits count as at one place if their fractions are the same number for the host, as in `first`.
            if met.touch.fraction as f32 <= limit {
                match visit(cast.hit(&near, met)) {
                    Visit::Continue => {}
                    Visit::Clip(fraction) if fraction >= 0.0 => limit = limit.min(fraction),
                    Visit::Clip(_) | Visit::Stop => limit = -1.0,
                }
            }
            if limit < 0.0 { -1.0 } else { rounded_to(limit) }
        });
        Ok(())
    }

    fn cast_all(
        &self,
        cast: &impl Castable,
        filter: &QueryFilter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), Error> {
        cast.check()?;
        hits.clear();
        let shape = cast.shape();
        cast.prepare(&shape).all(&self.near(), &Sieve::new(&self.bodies, filter), hits);
        Ok(())
    }

    /// The first shape that a ray meets; `None` if it meets none. [`World::cast_rays`] takes many rays.
    ///
    /// - A ray that begins in a shape (edges included) meets it at fraction 0.
    /// - It meets a segment from both sides, and a chain's segment from the side on which it is not solid: on its way from left to right of
    ///   the segment. From behind it passes.
    /// - It meets a particle as a disc. Of a hull ([`World::add_hull`]) it meets the discs of its particles, and passes between them.
    /// - It meets sleeping bodies, and no quarantined ones.
    /// - Of several shapes at the same place the one of the lowest handle counts, and its first part.
    ///
    /// Distances are exact but for rounding: computed in f64 from the f32 columns and shapes. Where two segments of a chain meet, each is a
    /// little longer for rays: by what single precision may leave between the two, so that no ray passes there.
    ///
    /// # Errors
    ///
    /// Those of [`Ray::validate`].
    ///
    /// ```
    /// use granule::{BodyDesc, QueryFilter, Ray, Settings, Shape, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// let ball = world.add_body(&BodyDesc::fixed(Shape::circle(1.0), Vec2::new(5.0, 0.0)))?;
    /// let ray = Ray::between(Vec2::ZERO, Vec2::new(8.0, 0.0));
    /// let hit = world.cast_ray(&ray, &QueryFilter::default())?.expect("the ball is in the way");
    /// assert_eq!((hit.body, hit.fraction), (ball, 0.5));
    /// assert_eq!((hit.point, hit.normal), (Vec2::new(4.0, 0.0), Vec2::NEG_X));
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn cast_ray(&self, ray: &Ray, filter: &QueryFilter<'_>) -> Result<Option<Hit>, Error> {
        self.cast_first(ray, filter)
    }

    /// Returns true if a ray meets any shape. See [`World::cast_ray`].
    ///
    /// # Errors
    ///
    /// Those of [`Ray::validate`].
    pub fn cast_ray_any(&self, ray: &Ray, filter: &QueryFilter<'_>) -> Result<bool, Error> {
        ray.check()?;
        Ok(ray.prepare(&None).any(&self.near(), &Sieve::new(&self.bodies, filter)))
    }

    /// Writes all shapes that a ray meets to `hits`, in the order in which it meets them; those at one place in the order of their handles
    /// and parts. See [`World::cast_ray`].
    ///
    /// # Errors
    ///
    /// Those of [`Ray::validate`]; `hits` is then unchanged.
    pub fn cast_ray_all(
        &self,
        ray: &Ray,
        filter: &QueryFilter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), Error> {
        self.cast_all(ray, filter, hits)
    }

    /// Visits the shapes that a ray meets. They do not come in the order in which the ray meets them, but in an order that is the same
    /// in every run. What the visitor returns says how the search goes on: `Visit::Clip(hit.fraction)` each time makes the last hit the
    /// first one on the ray's way, and `Visit::Continue` ignores a hit. See [`World::cast_ray`].
    ///
    /// # Errors
    ///
    /// Those of [`Ray::validate`].
    ///
    /// ```
    /// use granule::{BodyDesc, QueryFilter, Ray, Settings, Shape, Vec2, Visit, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// for x in 1..10 {
    ///     world.add_body(&BodyDesc::fixed(Shape::circle(0.4), Vec2::new(x as f32, 0.0)))?;
    /// }
    /// // The first body beyond x = 5.
    /// let (ray, mut first) = (Ray::new(Vec2::ZERO, Vec2::new(20.0, 0.0)), None);
    /// world.cast_ray_visit(&ray, &QueryFilter::default(), |hit| {
    ///     if hit.point.x < 5.0 {
    ///         return Visit::Continue;
    ///     }
    ///     first = Some(hit);
    ///     Visit::Clip(hit.fraction)
    /// })?;
    /// assert_eq!(first.map(|hit| hit.body.index()), Some(5));
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn cast_ray_visit(
        &self,
        ray: &Ray,
        filter: &QueryFilter<'_>,
        visit: impl FnMut(Hit) -> Visit,
    ) -> Result<(), Error> {
        self.cast_visit(ray, filter, visit)
    }

    /// The first shape that a moved shape touches; `None` if it touches none. [`World::cast_shapes`] takes many casts.
    ///
    /// The fraction is where the two first touch, without a margin, but for rounding: the way is found in closed form, in f64, not by
    /// iteration. A shape that overlaps another one at its beginning touches it at fraction 0, and the normal is the direction of the
    /// shortest way out. A chain's segment is touched only if the shape's centre begins on the side on which the segment is not solid. For
    /// the rest see [`World::cast_ray`].
    ///
    /// # Errors
    ///
    /// Those of [`ShapeCast::validate`].
    ///
    /// ```
    /// use granule::{BodyDesc, QueryFilter, Settings, Shape, ShapeCast, Vec2, World};
    ///
    /// let mut world = World::new(Settings::default())?;
    /// world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// let fall = ShapeCast::new(Shape::circle(0.5), Vec2::new(0.0, 2.5), Vec2::new(0.0, -4.0));
    /// let hit = world.cast_shape(&fall, &QueryFilter::default())?.expect("there is a floor");
    /// assert_eq!((hit.fraction, hit.point, hit.normal), (0.5, Vec2::ZERO, Vec2::Y));
    /// # Ok::<(), granule::Error>(())
    /// ```
    pub fn cast_shape(&self, cast: &ShapeCast, filter: &QueryFilter<'_>) -> Result<Option<Hit>, Error> {
        self.cast_first(cast, filter)
    }

    /// Writes all shapes that a moved shape touches on its way to `hits`, in the order of touch; those at one place in the order of their
    /// handles and parts. The shape is not stopped by what it touches. See [`World::cast_shape`].
    ///
    /// # Errors
    ///
    /// Those of [`ShapeCast::validate`]; `hits` is then unchanged.
    pub fn cast_shape_all(
        &self,
        cast: &ShapeCast,
        filter: &QueryFilter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), Error> {
        self.cast_all(cast, filter, hits)
    }

    /// Visits the shapes that a moved shape touches, as [`World::cast_ray_visit`] does for rays.
    ///
    /// # Errors
    ///
    /// Those of [`ShapeCast::validate`].
    pub fn cast_shape_visit(
        &self,
        cast: &ShapeCast,
        filter: &QueryFilter<'_>,
        visit: impl FnMut(Hit) -> Visit,
    ) -> Result<(), Error> {
        self.cast_visit(cast, filter, visit)
    }
}

//! Which shapes a query sees.

use crate::body::{Bodies, BodyHandle};
use std::fmt;

/// Which shapes a query sees. The default sees all, and costs nothing.
///
/// A shape is seen if each of these holds:
///
/// - its [`Filter::category`](crate::Filter::category) has a bit of [`mask`](QueryFilter::mask), or `mask` is `u32::MAX`;
/// - its [`Filter::mask`](crate::Filter::mask) has a bit of [`category`](QueryFilter::category), or `category` is `u32::MAX`;
/// - its body is not [`excluded`](QueryFilter::excluded);
/// - [`accept`](QueryFilter::accept) returns true for it.
///
/// So a query with the category and mask of a body sees what that body may touch; groups do not count. In a body of several shapes each
/// part has a filter of its own. Sensors are seen as other shapes are, and a character mover stops at them: give them a category of their
/// own, and leave it out of [`mask`](QueryFilter::mask), where that is not wanted.
///
/// ```
/// use granule::{BodyDesc, Filter, QueryFilter, Ray, Settings, Shape, Vec2, World};
///
/// let mut world = World::new(Settings::default())?;
/// let glass = Filter { category: 2, ..Filter::default() };
/// let pane = BodyDesc { filter: glass, ..BodyDesc::fixed(Shape::aabb(0.1, 2.0), Vec2::new(3.0, 0.0)) };
/// let pane = world.add_body(&pane)?;
/// let wall = world.add_body(&BodyDesc::fixed(Shape::aabb(0.1, 2.0), Vec2::new(6.0, 0.0)))?;
/// let ray = Ray::new(Vec2::ZERO, Vec2::new(10.0, 0.0));
/// let seen = |filter: &QueryFilter<'_>| world.cast_ray(&ray, filter).map(|hit| hit.map(|hit| hit.body));
/// assert_eq!(seen(&QueryFilter::default())?, Some(pane));
/// assert_eq!(seen(&QueryFilter { mask: !2, ..QueryFilter::default() })?, Some(wall));
/// assert_eq!(seen(&QueryFilter::without(&[pane, wall]))?, None);
/// let opaque = |body, _part| body != pane;
/// assert_eq!(seen(&QueryFilter { accept: Some(&opaque), ..QueryFilter::default() })?, Some(wall));
/// # Ok::<(), granule::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct QueryFilter<'a> {
    /// The layers that the query is in, one bit each. Default: all.
    pub category: u32,
    /// The layers that the query sees, one bit each. Default: all.
    pub mask: u32,
    /// Bodies that the query does not see. The list is searched from its start for each candidate, so it should be short. Handles of
    /// bodies that are gone are allowed.
    pub excluded: &'a [BodyHandle],
    /// Says of a shape (a body, and the number of its part, 0 if it has one shape) whether the query sees it. It is asked for shapes that
    /// pass all else and are near, at times for some that the query then does not find; from several threads in a batch.
    pub accept: Option<Accept<'a>>,
}

/// The closure of a [`QueryFilter`].
pub type Accept<'a> = &'a (dyn Fn(BodyHandle, u8) -> bool + Sync);

impl Default for QueryFilter<'_> {
    fn default() -> Self {
        QueryFilter { category: u32::MAX, mask: u32::MAX, excluded: &[], accept: None }
    }
}

impl fmt::Debug for QueryFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueryFilter { category, mask, excluded, accept } = self;
        let mut text = f.debug_struct("QueryFilter");
        text.field("category", category).field("mask", mask).field("excluded", excluded);
        text.field("accept", &accept.is_some()).finish()
    }
}

impl<'a> QueryFilter<'a> {
    /// A filter that sees all but these bodies.
    pub fn without(excluded: &'a [BodyHandle]) -> Self {
        QueryFilter { excluded, ..QueryFilter::default() }
    }

    /// Whether the filter sees all.
    fn is_open(&self) -> bool {
        self.category == u32::MAX
            && self.mask == u32::MAX
            && self.excluded.is_empty()
            && self.accept.is_none()
    }
}

/// A filter, as the queries ask it.
#[derive(Clone, Copy)]
pub(super) struct Sieve<'a> {
    bodies: &'a Bodies,
    filter: &'a QueryFilter<'a>,
    open: bool,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(bodies: &'a Bodies, filter: &'a QueryFilter<'a>) -> Self {
        Sieve { bodies, filter, open: filter.is_open() }
    }

    /// Whether the query sees a shape.
    #[inline]
    pub(super) fn sees(&self, slot: usize, part: u8) -> bool {
        self.open || self.passes(slot, part)
    }

    fn passes(&self, slot: usize, part: u8) -> bool {
        let (filter, body) = (self.filter, self.bodies.handle(slot));
        self.meets(slot, part)
            && !filter.excluded.contains(&body)
            && filter.accept.is_none_or(|accept| accept(body, part))
    }

    /// Whether the query sees a shape as far as its layers go, which takes less time than to ask where the shape is.
    #[inline]
    pub(super) fn meets(&self, slot: usize, part: u8) -> bool {
        let filter = self.filter;
        if filter.mask & filter.category == u32::MAX {
            return true;
        }
        // A sensor's own filter is kept aside: see `Bodies::sensor_filter`.
        let of_sensor = self.bodies.sensor_filter(slot, part);
        let of_shape = of_sensor.unwrap_or_else(|| self.bodies.part_filter(slot, part));
        let meets = |mine: u32, its: u32| mine == u32::MAX || mine & its != 0;
        meets(filter.mask, of_shape.category) && meets(filter.category, of_shape.mask)
    }
}

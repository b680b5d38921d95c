//! A ray against all edges of a convex polygon at once (M. Cyrus and J. Beck, "Generalized two- and three-dimensional clipping", 1978).
//!
//! Each edge may be moved outward by a radius. A rounded polygon is what these edges enclose, without what is in its corners beyond the
//! discs around the vertices. So a ray that comes from outside meets it at the last edge that it crosses inward, or else on the disc at the
//! end of that edge.
//!
//! All is in f64. The loops over edges have no branches, and are compiled once a level.

use crate::geometry::convex::{RayHit, ray_disc};
use crate::lane::{Lane, lane_entry};
use glam::DVec2;

/// The edges of a polygon, by coordinate: where they begin, and the ways to their ends. Those behind the last one have no length.
#[derive(Clone, Copy)]
pub(super) struct Corners<const N: usize> {
    x: [f64; N],
    y: [f64; N],
    edge_x: [f64; N],
    edge_y: [f64; N],
}

impl<const N: usize> Corners<N> {
    /// The first `count` vertices, which are at least one.
    #[inline(always)]
    pub(super) fn new(count: usize, vertex: impl Fn(usize) -> DVec2) -> Self {
        let mut corners = Corners { x: [0.0; N], y: [0.0; N], edge_x: [0.0; N], edge_y: [0.0; N] };
        let first = vertex(0);
        let mut next = first;
        for i in (0..count.min(N)).rev() {
            let at = vertex(i);
            (corners.x[i], corners.y[i]) = (at.x, at.y);
            (corners.edge_x[i], corners.edge_y[i]) = (next.x - at.x, next.y - at.y);
            next = at;
        }
        corners
    }
}

/// What a ray does at the edges of a polygon.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Where it is inside of all edges, at least 0. It never is if `enter` is larger.
    pub enter: f64,
    pub leave: f64,
    /// The edge at which it enters, by the number of the vertex where the edge begins. `N` if the ray begins inside of all edges.
    pub edge: usize,
}

/// A ray's beginning and its way.
pub(super) type RayLine = (DVec2, DVec2);

lane_entry! {
    /// Cuts a ray to the inner side of each edge, moved outward by a radius.
    pub(super) fn cut[const N: usize][N](corners: &Corners<N>, radius: f64, ray: &RayLine) -> Cut = cut_lanes;
}

#[inline(always)]
pub(super) fn cut_lanes<L: Lane, const N: usize>(
    corners: &Corners<N>,
    radius: f64,
    (from, way): &RayLine,
) -> Cut {
    let (mut speed, mut time, mut beyond) = ([0.0; N], [0.0; N], [0.0; N]);
    for i in 0..N {
        let (edge_x, edge_y) = (corners.edge_x[i], corners.edge_y[i]);
        // The edge's direction, turned by a quarter to the right, leads outward. Its length is that of the edge.
        let length = if radius > 0.0 { (edge_x * edge_x + edge_y * edge_y).sqrt() } else { 0.0 };
        let distance = edge_y * (from.x - corners.x[i]) - edge_x * (from.y - corners.y[i]) - radius * length;
        speed[i] = edge_y * way.x - edge_x * way.y;
        time[i] = distance / -speed[i];
        beyond[i] = distance;
    }
    let (mut enters, mut leaves) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        enters[i] = if speed[i] < 0.0 { time[i] } else { 0.0 };
        // Along the edge, outside, it is never inside.
        let along = if beyond[i] > 0.0 && speed[i] == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
        leaves[i] = if speed[i] > 0.0 { time[i] } else { along };
    }
    let enter = reduce(enters, |a, b| if a > b { a } else { b });
    let enter = if enter > 0.0 { enter } else { 0.0 };
    let mut edges = 0u32;
    for (i, &time) in enters.iter().enumerate() {
        edges |= u32::from(time == enter) << i;
    }
    let edge = if enter > 0.0 { edges.trailing_zeros() as usize } else { N };
    Cut { enter, leave: reduce(leaves, |a, b| if a < b { a } else { b }), edge }
}

/// Halves against halves: one after the other, each would wait for the one before.
#[inline(always)]
fn reduce<const N: usize>(mut values: [f64; N], of: impl Fn(f64, f64) -> f64) -> f64 {
    const { assert!(N.is_power_of_two()) };
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            values[i] = of(values[i], values[i + half]);
        }
        half /= 2;
    }
    values[0]
}

/// How a ray meets a polygon.
pub(super) enum Meeting {
    Never,
    /// The ray begins inside of all edges.
    Begins,
    At(RayHit),
}

/// Where a ray meets a polygon or segment that is rounded by a radius, given what it does at the edges.
#[inline(always)]
pub(super) fn meeting<const N: usize>(
    cut: &Cut,
    corners: &Corners<N>,
    radius: f64,
    &(from, way): &RayLine,
) -> Meeting {
    if cut.enter > cut.leave || cut.leave < 0.0 {
        return Meeting::Never;
    }
    if cut.edge == N {
        return Meeting::Begins;
    }
    let start = DVec2::new(corners.x[cut.edge], corners.y[cut.edge]);
    let edge = DVec2::new(corners.edge_x[cut.edge], corners.edge_y[cut.edge]);
    let (outward, square) = (-edge.perp(), edge.length_squared());
    if radius > 0.0 {
        let place = (from + cut.enter * way - start).dot(edge);
        if place < 0.0 || place > square {
            let vertex = if place < 0.0 { start } else { start + edge };
            return ray_disc(vertex, radius, from, way).map_or(Meeting::Never, Meeting::At);
        }
    }
    Meeting::At(RayHit { fraction: cut.enter, normal: outward.normalize() })
}

#[cfg(test)]
mod tests {
    use crate::geometry::convex::{Convex, RayHit, ray_outline};
    use crate::geometry::outline::Outline;
    use crate::geometry::polygon::Polygon;
    use crate::geometry::shape::Shape;
    use crate::isa::Level;
    use glam::{DVec2, Vec2};
    use proptest::prelude::*;

    fn shapes() -> impl Strategy<Value = Shape> {
        let size = || (1u32..200).prop_map(|size| size as f32 / 100.0);
        let polygon = (prop::collection::btree_set(0u32..24, 3..=8), size(), 0u32..60);
        let polygon = polygon.prop_filter_map("too flat", |(steps, size, radius)| {
            let corner = |&step: &u32| size * Vec2::from_angle(step as f32 * 0.2618) * Vec2::new(1.0, 0.6);
            let corners: Vec<Vec2> = steps.iter().map(corner).collect();
            Some(Shape::Polygon(Polygon::rounded(&corners, radius as f32 / 100.0).ok()?.0))
        });
        prop_oneof![
            size().prop_map(Shape::circle),
            size().prop_map(Shape::segment),
            (size(), size()).prop_map(|(x, y)| Shape::oriented_box(x, y)),
            (size(), size()).prop_map(|(half, radius)| Shape::capsule(half, radius)),
            polygon,
        ]
    }

    fn point(reach: f64) -> impl Strategy<Value = DVec2> {
        (-1000i32..=1000, -1000i32..=1000)
            .prop_map(move |(x, y)| reach / 1000.0 * DVec2::new(x.into(), y.into()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Contract: where a moved disc meets an outline, the two touch; before that, and if it meets nothing, they are apart. The bits
        /// are those of every level.
        #[test]
        fn discs_meet_outlines_where_they_touch(
            shape in shapes(),
            radius in prop_oneof![Just(0.0), (1u32..100).prop_map(|radius| f64::from(radius) / 100.0)],
            from in point(5.0),
            way in point(10.0),
        ) {
            let outline = Outline::of(&shape).expect("no half-space");
            let ask = |level| ray_outline(level, (&outline, radius), (from, way), 1.0, [0.0; 2]);
            let found: Vec<Option<RayHit>> = Level::available().map(ask).collect();
            prop_assert!(found.iter().all(|touch| *touch == found[0]), "{found:?}");
            let convex = Convex::placed(&outline, DVec2::ZERO, DVec2::X);
            let apart = |fraction: f64| convex.gap(from + fraction * way).distance - radius;
            let end = found[0].map_or(1.0, |touch| touch.fraction);
            // One that begins in the shape touches it at once.
            for step in 0..if end > 0.0 { 200 } else { 0 } {
                let fraction = end * f64::from(step) / 200.0;
                prop_assert!(apart(fraction) > -1.0e-9, "at {fraction}: {}", apart(fraction));
            }
            if let Some(touch) = found[0] {
                prop_assert!((0.0..=1.0).contains(&touch.fraction));
                prop_assert!((touch.normal.length() - 1.0).abs() < 1.0e-12);
                if touch.fraction > 0.0 {
                    prop_assert!(apart(touch.fraction).abs() < 1.0e-6, "{}", apart(touch.fraction));
                    prop_assert!(touch.normal.dot(way) < 0.0);
                } else {
                    prop_assert!(apart(0.0) < 1.0e-9);
                }
            }
        }
    }
}

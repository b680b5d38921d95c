//! A ray against all edges of a convex polygon at once (M. Cyrus and J. Beck, "Generalized two- and three-dimensional clipping", 1978).
//!
//! Each edge may be moved outward by a radius. A rounded polygon is what these edges enclose, without what is in its corners beyond the
//! discs around the vertices. So a ray that comes from outside meets it at the last edge that it crosses inward, or else on the disc at the
//! end of that edge.
//!
//! All is in f64. The loops over edges have no branches, and are compiled once a level: a ray spent a third of its time on branches that
//! were mispredicted.

use crate::geometry::convex::{RayHit, ray_disc};
use crate::lane::{Lane, lane_entry};
use glam::DVec2;

/// The vertices of a polygon, by coordinate. Behind the last one is the first one again.
#[derive(Clone, Copy)]
pub(super) struct Corners<const N: usize> {
    pub x: [f64; N],
    pub y: [f64; N],
}

impl<const N: usize> Corners<N> {
    /// The first `count` vertices, which are at least one.
    #[inline(always)]
    pub(super) fn new(count: usize, vertex: impl Fn(usize) -> DVec2) -> Self {
        let mut corners = Corners { x: [0.0; N], y: [0.0; N] };
        let first = vertex(0);
        for i in 0..N {
            let at = if i < count { vertex(i) } else { first };
            (corners.x[i], corners.y[i]) = (at.x, at.y);
        }
        corners
    }

    fn vertex(&self, i: usize) -> DVec2 {
        DVec2::new(self.x[i % N], self.y[i % N])
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
        let next = if i + 1 < N { i + 1 } else { 0 };
        let (edge_x, edge_y) = (corners.x[next] - corners.x[i], corners.y[next] - corners.y[i]);
        // The edge's direction, turned by a quarter to the right, leads outward. Its length is that of the edge.
        let length = if radius > 0.0 { (edge_x * edge_x + edge_y * edge_y).sqrt() } else { 0.0 };
        let distance =
            edge_y * (from.x - corners.x[i]) - edge_x * (from.y - corners.y[i]) - radius * length;
        speed[i] = edge_y * way.x - edge_x * way.y;
        time[i] = distance / -speed[i];
        beyond[i] = distance;
    }
    let mut cut = Cut { enter: 0.0, leave: f64::INFINITY, edge: N };
    for i in 0..N {
        let enters = (speed[i] < 0.0) & (time[i] > cut.enter);
        cut.enter = if enters { time[i] } else { cut.enter };
        cut.edge = if enters { i } else { cut.edge };
        let leaves = (speed[i] > 0.0) & (time[i] < cut.leave);
        cut.leave = if leaves { time[i] } else { cut.leave };
        // Along the edge, outside.
        let never = (speed[i] == 0.0) & (beyond[i] > 0.0);
        cut.leave = if never { f64::NEG_INFINITY } else { cut.leave };
    }
    cut
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
    let (start, end) = (corners.vertex(cut.edge), corners.vertex(cut.edge + 1));
    let edge = end - start;
    let (outward, square) = (-edge.perp(), edge.length_squared());
    if radius > 0.0 {
        let place = (from + cut.enter * way - start).dot(edge);
        if place < 0.0 || place > square {
            let vertex = if place < 0.0 { start } else { end };
            return ray_disc(vertex, radius, from, way).map_or(Meeting::Never, Meeting::At);
        }
    }
    Meeting::At(RayHit { fraction: cut.enter, normal: outward.normalize() })
}

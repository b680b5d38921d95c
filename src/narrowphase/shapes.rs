//! Manifolds of shapes that turn: one kernel for each kind of pair, with one or two points.
//!
//! Outlines of boxes are made from their half extents alone. If a block holds other shapes, its kernel gathers outlines of as many
//! vertices as the largest of them has (2, 4 or 8). The choice does not change results.

use super::chain::{self, Chain};
use super::manifold::{LaneOutline, Manifold, OutlineRows, Placement, Point, V};
use super::{NO_CONTACT, PairKind, convex_convex, convex_plane, round_convex};
use crate::geometry::outline::{MAX_VERTICES, OUTLINE_ROWS};
use crate::lane::{Lane, Row, RowOffset};

/// The rows of `WIDTH` shapes.
#[derive(Clone, Copy)]
pub(crate) struct Shapes<'a, L: Lane> {
    /// `[x, y, half_x, half_y]`; `[x, y, radius, radius]` for a round shape; `[normal_x, normal_y, offset, 0]` for a half-space.
    pub size: [L; 4],
    pub placement: Placement<L>,
    pub outlines: OutlineRows<'a>,
}

/// A source of outlines of `N` vertices.
pub(crate) trait OutlineSource<const N: usize> {
    fn outline<L: Lane>(shapes: &Shapes<'_, L>) -> LaneOutline<L, N>;
}

/// Makes outlines of boxes from half extents.
pub(crate) struct FromExtents;
/// Gathers outlines from the rows of the world's outlines.
pub(crate) struct FromRows;

impl OutlineSource<4> for FromExtents {
    #[inline(always)]
    fn outline<L: Lane>(shapes: &Shapes<'_, L>) -> LaneOutline<L, 4> {
        LaneOutline::boxes(shapes.size[2], shapes.size[3])
    }
}

impl<const N: usize> OutlineSource<N> for FromRows {
    #[inline(always)]
    fn outline<L: Lane>(shapes: &Shapes<'_, L>) -> LaneOutline<L, N> {
        shapes.outlines.outlines()
    }
}

impl<L: Lane> Shapes<'_, L> {
    #[inline(always)]
    fn chain(&self) -> Chain<L> {
        Chain::new(self.outlines.neighbours())
    }
}

/// The manifold of two shapes, in the world's axes. Its places are from the centre of A's shape.
#[inline(always)]
pub(crate) fn touch<L: Lane, F: OutlineSource<N>, const N: usize>(
    kind: PairKind,
    a: &Shapes<'_, L>,
    b: &Shapes<'_, L>,
) -> Manifold<L> {
    let from_a = b.placement.centre.sub(a.placement.centre);
    match kind {
        PairKind::ConvexConvex | PairKind::ConvexConvexFixed => {
            let (turn, centre) = b.placement.seen_from(&a.placement);
            convex_convex::touch(&F::outline(a), &F::outline(b).seen_from(turn, centre))
                .turned(a.placement.turn)
        }
        PairKind::ConvexChain => {
            let (turn, centre) = b.placement.seen_from(&a.placement);
            let segment = F::outline(b).seen_from(turn, centre);
            convex_convex::touch_chain(&F::outline(a), &segment, &b.chain().seen_from(turn))
                .turned(a.placement.turn)
        }
        PairKind::RoundConvex | PairKind::RoundConvexFixed => {
            let centre = b.placement.turn.undo(from_a.neg());
            let mut manifold =
                round_convex::touch(centre, a.size[2], &F::outline(b)).turned(b.placement.turn);
            manifold.shift(from_a);
            manifold
        }
        PairKind::RoundChain => {
            let centre = b.placement.turn.undo(from_a.neg());
            let segment = F::outline(b);
            let mut manifold =
                chain::touch_round(centre, a.size[2], &segment, &b.chain()).turned(b.placement.turn);
            manifold.shift(from_a);
            manifold
        }
        PairKind::ConvexRoundFixed => {
            let centre = a.placement.turn.undo(from_a);
            let mut manifold =
                round_convex::touch(centre, b.size[2], &F::outline(a)).turned(a.placement.turn);
            manifold.normal = manifold.normal.neg();
            manifold
        }
        PairKind::ConvexPlane => {
            let normal = V::new(b.size[0], b.size[1]);
            let offset = b.size[2] - normal.dot(a.placement.centre);
            let normal = a.placement.turn.undo(normal);
            convex_plane::touch(&F::outline(a), normal, offset).turned(a.placement.turn)
        }
        PairKind::RoundPlane => {
            let normal = V::new(b.size[0], b.size[1]);
            let separation = normal.dot(a.placement.centre) - b.size[2] - a.size[2];
            round(normal.neg(), a.size[2], separation, separation.le(separation))
        }
        _ => touch_rounds(from_a, a.size[2], b.size[2]),
    }
}

/// Two discs, of which B's centre is at `from_a`.
#[inline(always)]
fn touch_rounds<L: Lane>(from_a: V<L>, radius_a: L, radius_b: L) -> Manifold<L> {
    let distance = from_a.dot(from_a).sqrt();
    let apart = distance.gt(L::splat(1.0e-12));
    let along = from_a.scaled(L::splat(1.0) / distance);
    let normal = V::select(apart, along, V::splat(1.0, 0.0));
    let nowhere = distance.lt(L::splat(0.0));
    round(normal, radius_a, distance - (radius_a + radius_b), nowhere)
}

/// A manifold of one point, in front of a round A.
#[inline(always)]
fn round<L: Lane>(normal: V<L>, radius: L, separation: L, flat: L::Mask) -> Manifold<L> {
    let place = normal.scaled(radius + L::splat(0.5) * separation);
    let point = Point { place, separation, feature: L::splat(0.0) };
    let none = Point { separation: L::splat(NO_CONTACT), feature: L::splat(NO_FEATURE), ..point };
    Manifold { normal, points: [point, none], flat }
}

/// The rows of a shape that a contact with a manifold reads, at width 1.
#[derive(Clone, Copy)]
pub(crate) struct ShapeRows {
    /// `[x, y, ext_x, ext_y]`, or `[normal_x, normal_y, offset, 0]` for a half-space.
    pub size: Row,
    /// `[x, y, cos, sin]`
    pub placement: Row,
    /// The shape's outline, in the layout of `outline.rs`. It is read only if the kind of the pair takes the shape as a convex or a
    /// chain's segment. For other shapes any outline will do.
    pub outline: [Row; OUTLINE_ROWS],
}

/// The least separation of the points of a pair, for kinds with manifolds.
pub(crate) fn separation(kind: PairKind, a: &ShapeRows, b: &ShapeRows) -> f32 {
    const FIRST: [RowOffset; 1] = [RowOffset::of(0)];
    fn shapes(body: &ShapeRows) -> Shapes<'_, f32> {
        Shapes {
            size: body.size.0,
            placement: Placement::new(body.placement.0),
            outlines: OutlineRows::new(&body.outline, &FIRST),
        }
    }
    let manifold = touch::<f32, FromRows, MAX_VERTICES>(kind, &shapes(a), &shapes(b));
    manifold.points[0].separation.min(manifold.points[1].separation)
}

/// The feature number of a point that does not exist.
pub(crate) const NO_FEATURE: f32 = -1.0;

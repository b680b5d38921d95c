//! Manifolds (the normal and up to two points where two shapes touch), and the outlines from which they are computed.
//!
//! Kernels work in the axes of one of the two shapes, with that shape's centre as the origin. So numbers stay small,
//! however far from the world's origin the pair is.

use crate::geometry::outline::{NEIGHBOUR_ROW, NORMAL_ROWS, OUTLINE_ROWS, VERTEX_ROWS};
use crate::lane::{Lane, Row, RowOffset};

/// One 2D vector per lane.
#[derive(Clone, Copy)]
pub(crate) struct V<L: Lane> {
    pub x: L,
    pub y: L,
}

impl<L: Lane> V<L> {
    #[inline(always)]
    pub(crate) fn new(x: L, y: L) -> Self {
        V { x, y }
    }

    #[inline(always)]
    pub(crate) fn splat(x: f32, y: f32) -> Self {
        V { x: L::splat(x), y: L::splat(y) }
    }

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y
    }

    #[inline(always)]
    pub(crate) fn add(self, other: Self) -> Self {
        V { x: self.x + other.x, y: self.y + other.y }
    }

    #[inline(always)]
    pub(crate) fn sub(self, other: Self) -> Self {
        V { x: self.x - other.x, y: self.y - other.y }
    }

    #[inline(always)]
    pub(crate) fn scaled(self, by: L) -> Self {
        V { x: self.x * by, y: self.y * by }
    }

    #[inline(always)]
    pub(crate) fn neg(self) -> Self {
        V { x: -self.x, y: -self.y }
    }

    /// Returns the vector turned counter-clockwise by a quarter turn.
    #[inline(always)]
    pub(crate) fn left(self) -> Self {
        V { x: -self.y, y: self.x }
    }

    #[inline(always)]
    pub(crate) fn select(mask: L::Mask, yes: Self, no: Self) -> Self {
        V { x: L::select(mask, yes.x, no.x), y: L::select(mask, yes.y, no.y) }
    }
}

/// A rotation.
#[derive(Clone, Copy)]
pub(crate) struct Turn<L: Lane> {
    pub cos: L,
    pub sin: L,
}

impl<L: Lane> Turn<L> {
    #[inline(always)]
    pub(crate) fn apply(self, v: V<L>) -> V<L> {
        V { x: self.cos * v.x - self.sin * v.y, y: self.sin * v.x + self.cos * v.y }
    }

    #[inline(always)]
    pub(crate) fn undo(self, v: V<L>) -> V<L> {
        V { x: self.cos * v.x + self.sin * v.y, y: self.cos * v.y - self.sin * v.x }
    }

    /// The rotation that first applies `other`, then this one.
    #[inline(always)]
    pub(crate) fn then(self, other: Self) -> Self {
        Turn {
            cos: self.cos * other.cos - self.sin * other.sin,
            sin: self.sin * other.cos + self.cos * other.sin,
        }
    }

    /// The rotation that first applies `other`, then undoes this one.
    #[inline(always)]
    pub(crate) fn relative(self, other: Self) -> Self {
        Turn {
            cos: self.cos * other.cos + self.sin * other.sin,
            sin: self.cos * other.sin - self.sin * other.cos,
        }
    }
}

/// The centres and rotations of shapes, one per lane.
#[derive(Clone, Copy)]
pub(crate) struct Placement<L: Lane> {
    pub centre: V<L>,
    pub turn: Turn<L>,
}

impl<L: Lane> Placement<L> {
    /// The placement from `[x, y, cos, sin]`.
    #[inline(always)]
    pub(crate) fn new([x, y, cos, sin]: [L; 4]) -> Self {
        Placement { centre: V { x, y }, turn: Turn { cos, sin } }
    }

    /// The rotation and centre of this placement as seen from `other`.
    #[inline(always)]
    pub(crate) fn seen_from(&self, other: &Self) -> (Turn<L>, V<L>) {
        (other.turn.relative(self.turn), other.turn.undo(self.centre.sub(other.centre)))
    }
}

/// Outlines of `N` vertices, one per lane. Shapes with fewer vertices repeat their first vertex and edge.
#[derive(Clone, Copy)]
pub(crate) struct LaneOutline<L: Lane, const N: usize> {
    pub vertex: [V<L>; N],
    /// The outward normal of the edge from this vertex to the next.
    pub normal: [V<L>; N],
    pub radius: L,
    /// The number of vertices before they repeat.
    pub count: L,
}

impl<L: Lane> LaneOutline<L, 4> {
    /// Boxes of these half extents.
    #[inline(always)]
    pub(crate) fn boxes(half_x: L, half_y: L) -> Self {
        LaneOutline {
            vertex: [
                V::new(-half_x, -half_y),
                V::new(half_x, -half_y),
                V::new(half_x, half_y),
                V::new(-half_x, half_y),
            ],
            normal: [V::splat(0.0, -1.0), V::splat(1.0, 0.0), V::splat(0.0, 1.0), V::splat(-1.0, 0.0)],
            radius: L::splat(0.0),
            count: L::splat(4.0),
        }
    }
}

impl<L: Lane, const N: usize> LaneOutline<L, N> {
    /// The outline as seen from another placement, in which it has this rotation and centre.
    #[inline(always)]
    pub(crate) fn seen_from(&self, turn: Turn<L>, centre: V<L>) -> Self {
        let mut seen = *self;
        for (vertex, normal) in seen.vertex.iter_mut().zip(&mut seen.normal) {
            *vertex = turn.apply(*vertex).add(centre);
            *normal = turn.apply(*normal);
        }
        seen
    }

    /// The least coordinate of its vertices along a direction.
    #[inline(always)]
    pub(crate) fn least_along(&self, direction: V<L>) -> L {
        let mut least = direction.dot(self.vertex[0]);
        for vertex in &self.vertex[1..] {
            least = L::min(least, direction.dot(*vertex));
        }
        least
    }

    #[inline(always)]
    pub(crate) fn select(mask: L::Mask, yes: &Self, no: &Self) -> Self {
        let mut outline = LaneOutline {
            radius: L::select(mask, yes.radius, no.radius),
            count: L::select(mask, yes.count, no.count),
            ..*no
        };
        for i in 0..N {
            outline.vertex[i] = V::select(mask, yes.vertex[i], no.vertex[i]);
            outline.normal[i] = V::select(mask, yes.normal[i], no.normal[i]);
        }
        outline
    }
}

/// Outlines in rows of the layout of `outline.rs`, one per lane. Invariant: from each offset on there are [`OUTLINE_ROWS`] rows.
/// `new` checks it; the caller of `new_unchecked` guarantees it.
#[derive(Clone, Copy)]
pub(crate) struct OutlineRows<'a> {
    rows: &'a [Row],
    at: &'a [RowOffset],
}

impl<'a> OutlineRows<'a> {
    /// The outlines at these offsets.
    ///
    /// # Panics
    ///
    /// If the rows end before one of the outlines does.
    #[inline(always)]
    pub(crate) fn new(rows: &'a [Row], at: &'a [RowOffset]) -> Self {
        assert!(Self::are_all_there(rows, at), "an outline is not in these rows");
        OutlineRows { rows, at }
    }

    /// The outlines at these offsets, without the check of `new`.
    ///
    /// # Safety
    ///
    /// The caller guarantees that from each offset on there are [`OUTLINE_ROWS`] rows.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) unsafe fn new_unchecked(rows: &'a [Row], at: &'a [RowOffset]) -> Self {
        debug_assert!(Self::are_all_there(rows, at));
        OutlineRows { rows, at }
    }

    #[inline(always)]
    fn are_all_there(rows: &[Row], at: &[RowOffset]) -> bool {
        at.iter().all(|at| at.row() + OUTLINE_ROWS <= rows.len())
    }

    /// Row `index` of the first `WIDTH` outlines.
    #[inline(always)]
    #[allow(unsafe_code)]
    fn row<L: Lane>(&self, index: usize) -> [L; 4] {
        assert!(index < OUTLINE_ROWS);
        // SAFETY: by the invariant of this type, `OUTLINE_ROWS` rows follow each offset, and `index` is less, by the assertion.
        // `rows` is borrowed for reading.
        unsafe { L::gather(self.rows.as_ptr().add(index), &self.at[..L::WIDTH]) }
    }

    /// Gathers the outlines. Each has at most `N` vertices.
    #[inline(always)]
    pub(crate) fn outlines<L: Lane, const N: usize>(&self) -> LaneOutline<L, N> {
        let zero = V::splat(0.0, 0.0);
        let [_, _, radius, count] = self.row::<L>(0);
        let mut outline = LaneOutline { vertex: [zero; N], normal: [zero; N], radius, count };
        for i in (0..N).step_by(2) {
            let (vertex, normal) = (self.row::<L>(VERTEX_ROWS + i / 2), self.row::<L>(NORMAL_ROWS + i / 2));
            outline.vertex[i] = V::new(vertex[0], vertex[1]);
            outline.vertex[i + 1] = V::new(vertex[2], vertex[3]);
            outline.normal[i] = V::new(normal[0], normal[1]);
            outline.normal[i + 1] = V::new(normal[2], normal[3]);
        }
        outline
    }

    /// Gathers the neighbours of chain segments: see [`Chain::new`](super::chain::Chain::new).
    #[inline(always)]
    pub(crate) fn neighbours<L: Lane>(&self) -> [L; 4] {
        self.row::<L>(NEIGHBOUR_ROW)
    }
}

/// A point at which two shapes touch or are about to touch.
#[derive(Clone, Copy)]
pub(crate) struct Point<L: Lane> {
    /// The place midway between the surfaces. Kernels give it in the axes and from the centre of one of the two shapes.
    /// `shapes::touch` gives it in the world's axes, from the centre of A's shape.
    pub place: V<L>,
    /// Negative when the shapes overlap. [`NO_CONTACT`](super::NO_CONTACT) if the point does not exist.
    pub separation: L,
    /// The number of the two vertices from which the point comes. The same point has the same number from step to step.
    pub feature: L,
}

/// The normal and points at which two shapes touch.
#[derive(Clone, Copy)]
pub(crate) struct Manifold<L: Lane> {
    /// The normal from A to B.
    pub normal: V<L>,
    pub points: [Point<L>; 2],
    /// As in [`Touch::flat`](super::Touch::flat).
    pub flat: L::Mask,
}

impl<L: Lane> Manifold<L> {
    /// Turns the manifold from the axes of a shape that is turned by `turn` to the world's axes.
    #[inline(always)]
    pub(crate) fn turned(mut self, turn: Turn<L>) -> Self {
        self.normal = turn.apply(self.normal);
        for point in &mut self.points {
            point.place = turn.apply(point.place);
        }
        self
    }

    /// The least separation of a point.
    #[inline(always)]
    pub(crate) fn gap(&self) -> L {
        self.points[0].separation.min(self.points[1].separation)
    }

    /// Measures places from a new origin. `by` is the way from the new origin to the old one.
    #[inline(always)]
    pub(crate) fn shift(&mut self, by: V<L>) {
        for point in &mut self.points {
            point.place = point.place.add(by);
        }
    }
}

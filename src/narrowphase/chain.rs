//! One segment of a chain: solid on one side, with its share of the corners.
//!
//! A body that slides over the joint of two segments must not be caught by the end of the next segment. The end of a plain
//! segment would stand out like a wall. So a segment answers only for normals between its own and that of
//! the segment after it, if the corner between them juts out. Its neighbours answer for normals that lean further, or
//! backwards. At an open end of the chain the segment answers for all normals.

use super::manifold::{LaneOutline, Manifold, Point, Turn, V};
use super::{NO_CONTACT, round_convex};
use crate::lane::{Lane, Mask};

/// The face of a segment's outline that looks to the segment's left.
pub(super) const FRONT: usize = 1;
/// The sine of the angle by which a normal may lean over an end for which the segment does not answer.
const LEAN: f32 = 0.01;

/// Directions of a segment and its neighbours. Zero for a neighbour that does not exist.
pub(super) struct Chain<L: Lane> {
    before: V<L>,
    along: V<L>,
    after: V<L>,
}

impl<L: Lane> Chain<L> {
    /// The directions from the row `[before, after]`, in the segment's axes.
    #[inline(always)]
    pub(super) fn new([before_x, before_y, after_x, after_y]: [L; 4]) -> Self {
        Chain {
            before: V::new(before_x, before_y),
            along: V::splat(1.0, 0.0),
            after: V::new(after_x, after_y),
        }
    }

    /// The directions as seen from axes in which the segment is turned by `turn`.
    #[inline(always)]
    pub(super) fn seen_from(&self, turn: Turn<L>) -> Self {
        Chain {
            before: turn.apply(self.before),
            along: turn.apply(self.along),
            after: turn.apply(self.after),
        }
    }

    /// True in lanes in which the segment answers for `normal`, which points away from the chain.
    #[inline(always)]
    pub(super) fn answers_for(&self, normal: V<L>) -> L::Mask {
        let (zero, lean) = (L::splat(0.0), L::splat(LEAN));
        let forward = normal.dot(self.along);
        let open_end = self.after.dot(self.after).le(zero);
        let open_start = self.before.dot(self.before).le(zero);
        // The left of the direction is outside. So a corner juts out where the chain turns right.
        let juts_out = self.along.left().dot(self.after).lt(zero);
        let at_end = juts_out.and(normal.dot(self.after).le(lean)).or(open_end);
        let at_start = open_start.or(forward.ge(-lean));
        forward.le(lean).or(at_end).and(at_start)
    }
}

/// A round shape (A) against a chain's segment (B), in the segment's axes.
#[inline(always)]
pub(super) fn touch_round<L: Lane, const N: usize>(
    centre: V<L>,
    radius: L,
    segment: &LaneOutline<L, N>,
    chain: &Chain<L>,
) -> Manifold<L> {
    let mut manifold = round_convex::touch(centre, radius, segment);
    let mine = chain.answers_for(manifold.normal.neg()).and(centre.y.ge(L::splat(0.0)));
    // A normal that leans over an end by so little that both segments answer for it is made straight. Otherwise a ball that rolls
    // at 5 m/s would be lifted by a hundredth of that speed.
    let straight = manifold.normal.x.abs().le(L::splat(LEAN));
    manifold.normal = V::select(straight, V::splat(0.0, -1.0), manifold.normal);
    let Point { place, separation, .. } = &mut manifold.points[0];
    let above = centre.y - radius;
    *separation = L::select(mine, L::select(straight, above, *separation), L::splat(NO_CONTACT));
    *place = V::select(straight, V::new(centre.x, above * L::splat(0.5)), *place);
    manifold
}

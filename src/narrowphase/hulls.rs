//! Manifolds of hulls: polygons whose corners are at the present places of their particles.
//!
//! The outlines of hulls are written in each substep, as rows in the layout of `outline.rs`, in the world's axes and from an
//! origin for each hull. So the kernel does not turn two hulls; it needs only the way between their origins.

use super::chain::Chain;
use super::manifold::{LaneOutline, Manifold, OutlineRows, Placement, V};
use super::{NO_CONTACT, convex_convex, round_convex};
use crate::geometry::outline::{MAX_VERTICES, NORMAL_ROWS, VERTEX_ROWS};
use crate::lane::{Lane, MAX_WIDTH, Row, RowOffset, lane_entry};
use glam::Vec2;

/// The manifold of a hull and another shape, which touch or nearly touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopTouch {
    /// The normal from A to B.
    pub normal: Vec2,
    /// The points, from A's origin.
    pub places: [Vec2; 2],
    /// The separations of the points. [`NO_CONTACT`] for a point that does not exist.
    pub separations: [f32; 2],
}

impl LoopTouch {
    pub(crate) const NONE: LoopTouch =
        LoopTouch { normal: Vec2::X, places: [Vec2::ZERO; 2], separations: [NO_CONTACT; 2] };

    /// Tells whether there is no point.
    pub(crate) fn is_none(&self) -> bool {
        self.separations.iter().all(|&separation| separation >= NO_CONTACT)
    }

    fn of(manifold: &Manifold<f32>) -> LoopTouch {
        let [first, second] = &manifold.points;
        LoopTouch {
            normal: Vec2::new(manifold.normal.x, manifold.normal.y),
            places: [first, second].map(|point| Vec2::new(point.place.x, point.place.y)),
            separations: [first.separation, second.separation],
        }
    }
}

/// The corners of a loop that are on the convex polygon around it, counter-clockwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Around {
    at: [u8; MAX_VERTICES],
    count: u8,
}

impl Around {
    pub(crate) fn corners(&self) -> &[u8] {
        &self.at[..usize::from(self.count)]
    }

    /// Returns all corners in their order if they are the ends of a limb or the counter-clockwise corners of a convex polygon.
    /// If the loop is dented or turned inside out: the corners of its convex hull. None if all corners are in one place.
    pub(crate) fn of(corners: &[Vec2]) -> Around {
        let n = corners.len();
        let edge = |i: usize| corners[(i + 1) % n] - corners[i];
        let apart = (0..n).all(|i| edge(i).length_squared() > APART);
        // If each of at most eight corners turns left by less than half a turn, the loop goes around once, unless it turns by more
        // than a whole turn. In that case some corner lies on the wrong side of the first edge.
        let left = |i: usize| edge(i).perp_dot(edge((i + 1) % n)) > 0.0;
        let inside = |i: usize| edge(0).perp_dot(corners[i] - corners[0]) > 0.0;
        if apart && (n == 2 || ((0..n).all(left) && (2..n).all(inside))) {
            return Around { at: std::array::from_fn(|i| i as u8), count: n as u8 };
        }
        Around::wrapped(corners)
    }

    /// The convex hull of the corners, by A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions" (1979).
    fn wrapped(corners: &[Vec2]) -> Around {
        let mut sorted: [u8; MAX_VERTICES] = std::array::from_fn(|i| i as u8);
        let sorted = &mut sorted[..corners.len()];
        let at = |i: u8| corners[usize::from(i)];
        sorted.sort_unstable_by(|&a, &b| {
            at(a).x.total_cmp(&at(b).x).then(at(a).y.total_cmp(&at(b).y)).then(a.cmp(&b))
        });
        let mut chain = [0u8; 2 * MAX_VERTICES];
        let mut count = 0;
        let mut walk = |order: &mut dyn Iterator<Item = u8>| {
            let first = count;
            for next in order {
                while count >= first + 2 {
                    let (a, b) = (at(chain[count - 2]), at(chain[count - 1]));
                    if (b - a).perp_dot(at(next) - b) > 0.0 {
                        break;
                    }
                    count -= 1;
                }
                chain[count] = next;
                count += 1;
            }
            // The last corner of this chain is the first of the next one.
            count -= 1;
        };
        walk(&mut sorted.iter().copied());
        walk(&mut sorted.iter().rev().copied());
        let far = |i: usize| at(chain[i]).distance_squared(at(chain[(i + 1) % count.max(1)])) > APART;
        let whole = count >= 2 && (0..count).all(far);
        let count = if whole { count as u8 } else { 0 };
        Around { at: std::array::from_fn(|i| chain[i]), count }
    }
}

/// The square of the least distance between two corners, m².
const APART: f32 = 1.0e-12;

/// Writes the outline of the convex polygon around a loop. If `around` is empty: the outline of a point.
pub(crate) fn write_loop(corners: &[Vec2], around: &Around, radius: f32, rows: &mut [Row]) {
    let around = around.corners();
    let n = around.len();
    let vertex =
        |i: usize| around.get(if i < n { i } else { 0 }).map_or(corners[0], |&at| corners[usize::from(at)]);
    rows[0] = Row([0.0, 0.0, radius, n.max(1) as f32]);
    rows[1] = Row::default();
    let normal = |i: usize| -(vertex(i + 1) - vertex(i)).perp().normalize_or_zero();
    // Padding repeats the first edge.
    let first = normal(0);
    let outward = |i: usize| if i < n { normal(i) } else { first };
    for i in (0..MAX_VERTICES).step_by(2) {
        let (a, b) = (vertex(i), vertex(i + 1));
        rows[VERTEX_ROWS + i / 2] = Row([a.x, a.y, b.x, b.y]);
        let (a, b) = (outward(i), outward(i + 1));
        rows[NORMAL_ROWS + i / 2] = Row([a.x, a.y, b.x, b.y]);
    }
}

/// A pair of hulls: the first rows of their outlines, and the way from A's origin to B's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopPair {
    pub rows: [RowOffset; 2],
    pub way: Vec2,
}

/// Writes the manifolds of pairs of hulls. No hull has more than `capacity` corners.
pub(crate) fn touch_loops<L: Lane>(
    outlines: &[Row],
    capacity: usize,
    pairs: &[LoopPair],
    touches: &mut [LoopTouch],
) {
    match capacity {
        0..=2 => touch_all::<L::Narrow, 2>(outlines, pairs, touches),
        3..=4 => touch_all::<L::Narrow, 4>(outlines, pairs, touches),
        _ => touch_all::<L::Narrow, 8>(outlines, pairs, touches),
    }
}

lane_entry! {
    fn touch_all[const N: usize][N](outlines: &[Row], pairs: &[LoopPair], touches: &mut [LoopTouch]) = touch_all_lanes;
}

#[inline(always)]
fn touch_all_lanes<L: Lane, const N: usize>(outlines: &[Row], pairs: &[LoopPair], touches: &mut [LoopTouch]) {
    for (pairs, touches) in pairs.chunks(L::WIDTH).zip(touches.chunks_mut(L::WIDTH)) {
        let mut offsets = [[RowOffset::of(0); MAX_WIDTH]; 2];
        let mut ways = [[0.0; MAX_WIDTH]; 2];
        for lane in 0..L::WIDTH {
            // Lanes without a pair get the first one of the chunk.
            let LoopPair { rows, way } = pairs.get(lane).unwrap_or(&pairs[0]);
            (offsets[0][lane], offsets[1][lane]) = (rows[0], rows[1]);
            (ways[0][lane], ways[1][lane]) = (way.x, way.y);
        }
        let way = V::new(L::load(&ways[0]), L::load(&ways[1]));
        let a: LaneOutline<L, N> = OutlineRows::new(outlines, &offsets[0][..L::WIDTH]).outlines();
        let mut b: LaneOutline<L, N> = OutlineRows::new(outlines, &offsets[1][..L::WIDTH]).outlines();
        for vertex in &mut b.vertex {
            *vertex = vertex.add(way);
        }
        let manifold = convex_convex::touch(&a, &b);
        let mut columns = [[0.0; MAX_WIDTH]; 8];
        let [first, second] = &manifold.points;
        let values = [
            manifold.normal.x,
            manifold.normal.y,
            first.place.x,
            first.place.y,
            second.place.x,
            second.place.y,
            first.separation,
            second.separation,
        ];
        for (value, column) in values.into_iter().zip(&mut columns) {
            value.store(column);
        }
        for (lane, touch) in touches.iter_mut().enumerate() {
            let [nx, ny, x0, y0, x1, y1, s0, s1] = &columns;
            *touch = LoopTouch {
                normal: Vec2::new(nx[lane], ny[lane]),
                places: [Vec2::new(x0[lane], y0[lane]), Vec2::new(x1[lane], y1[lane])],
                separations: [s0[lane], s1[lane]],
            };
        }
    }
}

/// A shape that is not a hull and that a hull meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Other<'a> {
    /// A round shape of this radius, m.
    Round(f32),
    /// A box of these half extents, m.
    Box(Vec2),
    /// A shape with an outline: the rows of that outline.
    Outline(&'a [Row]),
    /// A chain's segment: the rows of its outline.
    Chain(&'a [Row]),
}

/// The manifold of a hull (A) and another shape (B). B's centre is `way` from A's origin. `turn` is B's (sin, cos).
/// `centre` is the centre of A's corners, from A's origin.
pub(crate) fn touch_other(
    hull: &[Row],
    centre: Vec2,
    other: Other<'_>,
    way: Vec2,
    turn: (f32, f32),
) -> LoopTouch {
    let a = outline::<f32>(hull);
    let b_placement = Placement::<f32>::new([way.x, way.y, turn.1, turn.0]);
    let identity = Placement::<f32>::new([0.0, 0.0, 1.0, 0.0]);
    let (turn, at) = b_placement.seen_from(&identity);
    let manifold = match other {
        Other::Round(radius) => {
            let mut manifold = round_convex::touch(V::new(way.x, way.y), radius, &a);
            manifold.normal = manifold.normal.neg();
            manifold
        }
        Other::Box(half) => {
            let corners = LaneOutline::<f32, 4>::boxes(half.x, half.y);
            let repeat = |i: usize| if i < 4 { i } else { 0 };
            let b = LaneOutline::<f32, MAX_VERTICES> {
                vertex: std::array::from_fn(|i| corners.vertex[repeat(i)]),
                normal: std::array::from_fn(|i| corners.normal[repeat(i)]),
                radius: corners.radius,
                count: corners.count,
            };
            convex_convex::touch(&a, &b.seen_from(turn, at))
        }
        Other::Outline(rows) => convex_convex::touch(&a, &outline::<f32>(rows).seen_from(turn, at)),
        Other::Chain(rows) => {
            // The side on which A is depends on A's centre, so this centre has to be the origin.
            let (to, from) = (V::new(-centre.x, -centre.y), V::new(centre.x, centre.y));
            let a = LaneOutline { vertex: a.vertex.map(|v| v.add(to)), ..a };
            let segment = outline::<f32>(rows).seen_from(turn, at.add(to));
            let mut manifold =
                convex_convex::touch_chain(&a, &segment, &Chain::new(rows[1].0).seen_from(turn));
            manifold.shift(from);
            manifold
        }
    };
    LoopTouch::of(&manifold)
}

fn outline<L: Lane>(rows: &[Row]) -> LaneOutline<L, MAX_VERTICES> {
    let at = [RowOffset::of(0); MAX_WIDTH];
    OutlineRows::new(rows, &at[..L::WIDTH]).outlines()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: the polygon around a convex loop is the loop itself, in its order. Else it is the convex hull of the loop,
    /// counter-clockwise. It is empty if all corners coincide.
    #[test]
    fn loops_are_wrapped() {
        let wrap = |list: &[(f32, f32)]| {
            let corners: Vec<Vec2> = list.iter().map(|&corner| corner.into()).collect();
            Around::of(&corners).corners().to_vec()
        };
        assert_eq!(wrap(&[(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)]), [0, 1, 2, 3]);
        assert_eq!(wrap(&[(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)]), [0, 3, 2, 1], "inside out");
        assert_eq!(wrap(&[(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)]), [0, 2, 1, 3], "twisted");
        assert_eq!(wrap(&[(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)]), [0, 1, 3], "dented");
        assert_eq!(wrap(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.0)]), [0, 1], "flat");
        assert_eq!(wrap(&[(1.0, 1.0), (0.0, 0.0)]), [0, 1], "a limb");
        assert_eq!(wrap(&[(1.0, 1.0); 4]), [0u8; 0]);
        let star: Vec<(f32, f32)> =
            (0..5).map(|i| Vec2::from_angle(0.8 * std::f32::consts::PI * i as f32).into()).collect();
        let mut around = wrap(&star);
        around.sort_unstable();
        assert_eq!(around, [0, 1, 2, 3, 4], "a star");
    }
}

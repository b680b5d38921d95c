//! Manifolds of Verlet hulls: polygons whose corners are where their particles are at the moment.
//!
//! Their outlines are written as rows of the layout of `outline.rs` each substep, already turned, from an origin of
//! their own; so two hulls need no turning, only the way between their origins.

use super::chain::Chain;
use super::manifold::{Frame, Manifold, Outline, V};
use super::{FAR, hull_hull, round_hull};
use crate::lane::{Lane, MAX_WIDTH, Row, RowOffset};
use crate::outline::{MAX_VERTICES, NORMAL_ROWS, OUTLINE_ROWS, VERTEX_ROWS};
use glam::Vec2;

/// Where two shapes touch, or nearly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopTouch {
    /// From A to B.
    pub normal: Vec2,
    /// From A's origin.
    pub places: [Vec2; 2],
    /// [`FAR`] if there is no such point.
    pub separations: [f32; 2],
}

impl LoopTouch {
    pub(crate) const NONE: LoopTouch =
        LoopTouch { normal: Vec2::X, places: [Vec2::ZERO; 2], separations: [FAR; 2] };

    fn of(manifold: &Manifold<f32>) -> LoopTouch {
        let [first, second] = &manifold.points;
        LoopTouch {
            normal: Vec2::new(manifold.normal.x, manifold.normal.y),
            places: [first, second].map(|point| Vec2::new(point.place.x, point.place.y)),
            separations: [first.separation, second.separation],
        }
    }
}

/// Writes a loop's outline; false, and an outline of a point far from all, where it is turned inside out or has two
/// corners in one place.
pub(crate) fn write_loop(vertices: &[Vec2], radius: f32, rows: &mut [Row]) -> bool {
    let n = vertices.len();
    let edge = |i: usize| vertices[(i + 1) % n] - vertices[i];
    let area: f32 =
        (1..n.max(2) - 1).map(|i| (vertices[i] - vertices[0]).perp_dot(vertices[i + 1] - vertices[0])).sum();
    let whole = (n == 2 || area > 0.0) && (0..n).all(|i| edge(i).length_squared() > 1.0e-12);
    rows[0] = Row([0.0, 0.0, radius, n as f32]);
    rows[1] = Row::default();
    let around = |i: usize| if i < n { i } else { 0 };
    let outward = |i: usize| -edge(around(i)).perp().normalize_or_zero();
    for i in (0..MAX_VERTICES).step_by(2) {
        let (a, b) = (vertices[around(i)], vertices[around(i + 1)]);
        rows[VERTEX_ROWS + i / 2] = Row([a.x, a.y, b.x, b.y]);
        let (a, b) = (outward(i), outward(i + 1));
        rows[NORMAL_ROWS + i / 2] = Row([a.x, a.y, b.x, b.y]);
    }
    whole
}

/// Two hulls: the first rows of their outlines, and the way from A's origin to B's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopPair {
    pub rows: [RowOffset; 2],
    pub way: Vec2,
}

/// The manifolds of pairs of hulls of at most `capacity` corners.
pub(crate) fn touch_loops<L: Lane>(
    outlines: &[Row],
    capacity: usize,
    pairs: &[LoopPair],
    touches: &mut [LoopTouch],
) {
    match capacity {
        0..=2 => touch_all::<L, 2>(outlines, pairs, touches),
        3..=4 => touch_all::<L, 4>(outlines, pairs, touches),
        _ => touch_all::<L, 8>(outlines, pairs, touches),
    }
}

fn touch_all<L: Lane, const N: usize>(outlines: &[Row], pairs: &[LoopPair], touches: &mut [LoopTouch]) {
    for (pairs, touches) in pairs.chunks(L::WIDTH).zip(touches.chunks_mut(L::WIDTH)) {
        // What is left over is filled up with the first.
        let pair = |lane: usize| pairs.get(lane).unwrap_or(&pairs[0]);
        let offsets = |end: usize| -> [RowOffset; MAX_WIDTH] {
            std::array::from_fn(|lane| pair(lane % L::WIDTH).rows[end])
        };
        let way_x: [f32; MAX_WIDTH] = std::array::from_fn(|lane| pair(lane % L::WIDTH).way.x);
        let way_y: [f32; MAX_WIDTH] = std::array::from_fn(|lane| pair(lane % L::WIDTH).way.y);
        let way = V::new(L::load(&way_x), L::load(&way_y));
        let outline = |at: [RowOffset; MAX_WIDTH]| {
            debug_assert!(at.iter().all(|at| at.row() + OUTLINE_ROWS <= outlines.len()));
            #[allow(unsafe_code)]
            // SAFETY: the offsets of a pair are those of outlines in these rows (asserted in debug builds).
            unsafe {
                Outline::<L, N>::gather(outlines.as_ptr(), &at[..L::WIDTH])
            }
        };
        let (a, b) = (outline(offsets(0)), outline(offsets(1)));
        let b = Outline { vertex: b.vertex.map(|v| v.add(way)), ..b };
        let manifold = hull_hull::touch(&a, &b);
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
            let [nx, ny, x0, y0, x1, y1, s0, s1] = columns.map(|column| column[lane]);
            *touch = LoopTouch {
                normal: Vec2::new(nx, ny),
                places: [Vec2::new(x0, y0), Vec2::new(x1, y1)],
                separations: [s0, s1],
            };
        }
    }
}

/// What a hull meets that is no hull.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Other<'a> {
    Round(f32),
    /// Half extents.
    Box(Vec2),
    /// Rows of its outline.
    Outline(&'a [Row]),
    /// Rows of the outline of a chain's segment.
    Chain(&'a [Row]),
}

/// A hull (A) against another shape, whose centre is `way` from A's origin, and which is turned by (sin, cos).
/// `centre` is that of A's corners.
pub(crate) fn touch_other(
    hull: &[Row],
    centre: Vec2,
    other: Other<'_>,
    way: Vec2,
    turn: (f32, f32),
) -> LoopTouch {
    let a = outline::<f32>(hull);
    let b_frame = Frame::<f32>::new([way.x, way.y, turn.1, turn.0]);
    let identity = Frame::<f32>::new([0.0, 0.0, 1.0, 0.0]);
    let (turn, at) = b_frame.seen_from(&identity);
    let manifold = match other {
        Other::Round(radius) => {
            let mut manifold = round_hull::touch(V::new(way.x, way.y), radius, &a);
            manifold.normal = manifold.normal.neg();
            manifold
        }
        Other::Box(half) => {
            let corners = Outline::<f32, 4>::boxes(half.x, half.y);
            let repeat = |i: usize| if i < 4 { i } else { 0 };
            let b = Outline::<f32, MAX_VERTICES> {
                vertex: std::array::from_fn(|i| corners.vertex[repeat(i)]),
                normal: std::array::from_fn(|i| corners.normal[repeat(i)]),
                radius: corners.radius,
                count: corners.count,
            };
            hull_hull::touch(&a, &b.seen_from(turn, at))
        }
        Other::Outline(rows) => hull_hull::touch(&a, &outline::<f32>(rows).seen_from(turn, at)),
        Other::Chain(rows) => {
            // A's centre decides on which side it is, and has to be the origin.
            let (to, from) = (V::new(-centre.x, -centre.y), V::new(centre.x, centre.y));
            let a = Outline { vertex: a.vertex.map(|v| v.add(to)), ..a };
            let segment = outline::<f32>(rows).seen_from(turn, at.add(to));
            let mut manifold = hull_hull::touch_chain(&a, &segment, &Chain::new(rows[1].0).seen_from(turn));
            manifold.shift(from);
            manifold
        }
    };
    LoopTouch::of(&manifold)
}

fn outline<L: Lane>(rows: &[Row]) -> Outline<L, MAX_VERTICES> {
    assert!(rows.len() >= OUTLINE_ROWS);
    let at = [RowOffset::of(0); MAX_WIDTH];
    #[allow(unsafe_code)]
    // SAFETY: there are as many rows as an outline has.
    unsafe {
        Outline::gather(rows.as_ptr(), &at[..L::WIDTH])
    }
}

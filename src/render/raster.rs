//! Stamps to pixels.
//!
//! ```text
//! for each band of rows (shared among threads), for each stamp that reaches into it, in order:
//!     for each row: the columns between the stamp's four sides
//!         for each pixel: its centre in the stamp's axes, signed distance → coverage → blend
//! ```
//!
//! A pixel is covered by what the distance d of its centre to the outline says: ½ − d, within 0 and 1; of a box by
//! the product over both axes, which is exact when it is not turned. What is narrower than a pixel is drawn a
//! little wider than it is ([`MIN_HALF`]), so that it is seen.

use super::{Image, Rgb};
use crate::polygon::Polygon;
use glam::Vec2;

/// Rows of a band: some tens of them a picture, so that threads share evenly.
const BAND: usize = 24;
/// A stamp is at least this large, from its centre, in pixels.
pub(super) const MIN_HALF: f32 = 0.6;

/// What is drawn of one shape, in pixels from the picture's top left corner.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub centre: Vec2,
    /// The picture's directions of the shape's own axes.
    pub axes: [Vec2; 2],
    /// Half the size along them.
    pub half: Vec2,
    pub form: Form,
    /// By how much smaller than the shape it is drawn.
    pub inset: f32,
    /// Width of the outline, which is inside the shape.
    pub border: f32,
    pub fill: Rgb,
    pub edge: Rgb,
}

#[derive(Clone, Copy)]
pub(super) enum Form {
    Disc,
    /// A disc with a line from its centre along its x axis, of this half width.
    MarkedDisc(f32),
    Box,
    /// Round at the ends of its x axis.
    Capsule,
    Hull(Hull),
}

/// A convex polygon, counter-clockwise in the shape's axes, without the rounding.
#[derive(Clone, Copy)]
pub(super) struct Hull {
    pub vertices: [Vec2; Polygon::MAX_VERTICES],
    pub count: u8,
    pub radius: f32,
}

/// How much of a pixel lies in the shape, and how much within the outline.
type Cover = (f32, f32);

pub(super) fn paint(stamps: &[Stamp], image: &mut Image) {
    let (width, height) = (image.width, image.height);
    let bands = bin(stamps, height);
    let paint_band = |(number, rows): (usize, &mut [[u8; 4]])| {
        let mut band = Band { top: number * BAND, width, rows };
        for &index in &bands[number] {
            stamps[index as usize].paint(&mut band);
        }
    };
    // Outside any pool this would build the global one.
    if rayon::current_thread_index().is_some() {
        use rayon::prelude::*;
        image.pixels.par_chunks_mut(BAND * width).enumerate().for_each(paint_band);
    } else {
        image.pixels.chunks_mut(BAND * width).enumerate().for_each(paint_band);
    }
}

/// The stamps that reach into each band, in their order.
fn bin(stamps: &[Stamp], height: usize) -> Vec<Vec<u32>> {
    let mut bands = vec![Vec::new(); height.div_ceil(BAND)];
    for (index, stamp) in stamps.iter().enumerate() {
        let reach = stamp.axes[0].y.abs() * stamp.half.x + stamp.axes[1].y.abs() * stamp.half.y + 1.0;
        let (top, bottom) = (stamp.centre.y - reach, stamp.centre.y + reach);
        if bottom > 0.0 && top < height as f32 {
            let first = top.max(0.0) as usize / BAND;
            let last = (bottom as usize).min(height - 1) / BAND;
            bands[first..=last].iter_mut().for_each(|band| band.push(index as u32));
        }
    }
    bands
}

struct Band<'a> {
    top: usize,
    width: usize,
    rows: &'a mut [[u8; 4]],
}

impl Stamp {
    fn paint(&self, band: &mut Band<'_>) {
        let Stamp { half, border, inset, .. } = *self;
        match self.form {
            Form::Disc => self.scan(band, |p| round(p.length() - half.x, inset, border)),
            Form::MarkedDisc(mark) => self.scan(band, |p| {
                let (cover, within) = round(p.length() - half.x, inset, border);
                (cover, if p.x > 0.0 { within.min(coverage(mark - p.y.abs())) } else { within })
            }),
            Form::Box => self.scan(band, |p| {
                let apart = p.abs() - half + Vec2::splat(inset);
                let within = apart + Vec2::splat(border);
                (coverage(apart.x) * coverage(apart.y), coverage(within.x) * coverage(within.y))
            }),
            Form::Capsule => {
                let straight = half.x - half.y;
                self.scan(band, |p| {
                    let beyond = Vec2::new((p.x.abs() - straight).max(0.0), p.y);
                    round(beyond.length() - half.y, inset, border)
                });
            }
            Form::Hull(hull) if hull.radius > 0.0 => {
                self.scan(band, |p| round(hull.distance(p) - hull.radius, inset, border));
            }
            Form::Hull(hull) => {
                let sides = hull.sides();
                let sides = &sides[..usize::from(hull.count)];
                self.scan(band, |p| {
                    let distance = sides.iter().map(|&(normal, offset)| normal.dot(p) - offset);
                    round(distance.fold(f32::MIN, f32::max), inset, border)
                });
            }
        }
    }

    /// Blends the stamp into the band; `cover` takes a point in the stamp's axes.
    #[inline(always)]
    fn scan(&self, band: &mut Band<'_>, cover: impl Fn(Vec2) -> Cover) {
        let [x_axis, y_axis] = self.axes;
        let reach = x_axis.y.abs() * self.half.x + y_axis.y.abs() * self.half.y + 1.0;
        let end = band.top + band.rows.len() / band.width;
        let first = ((self.centre.y - reach).max(0.0) as usize).max(band.top);
        let last = ((self.centre.y + reach).max(0.0) as usize + 1).min(end);
        for row in first..last {
            let y = row as f32 + 0.5 - self.centre.y;
            let (from, to) = self.columns(y, band.width);
            let start = (row - band.top) * band.width;
            for (column, pixel) in (from..to).zip(&mut band.rows[start + from..start + to]) {
                let at = Vec2::new(column as f32 + 0.5 - self.centre.x, y);
                let (covered, within) = cover(Vec2::new(x_axis.dot(at), y_axis.dot(at)));
                if covered > 0.0 {
                    self.blend(pixel, covered, within);
                }
            }
        }
    }

    /// The columns of a row, y from the centre, that lie between the four sides.
    #[inline]
    fn columns(&self, y: f32, width: usize) -> (usize, usize) {
        let (mut from, mut to) = (f32::MIN, f32::MAX);
        for (axis, half) in self.axes.into_iter().zip([self.half.x, self.half.y]) {
            let (middle, reach) = (axis.y * y, half + 1.0);
            if axis.x.abs() > 1.0e-6 {
                let (one, other) = ((-reach - middle) / axis.x, (reach - middle) / axis.x);
                (from, to) = (from.max(one.min(other)), to.min(one.max(other)));
            } else if middle.abs() > reach {
                return (0, 0);
            }
        }
        // The casts saturate, at 0 too.
        let from = ((from + self.centre.x) as usize).min(width);
        let to = ((to + self.centre.x + 1.0) as usize).clamp(from, width);
        (from, to)
    }

    #[inline]
    fn blend(&self, pixel: &mut [u8; 4], covered: f32, within: f32) {
        let (covered, within) = ((256.0 * covered) as i32, (256.0 * within) as i32);
        for channel in 0..3 {
            let (edge, fill) = (i32::from(self.edge[channel]), i32::from(self.fill[channel]));
            let ink = edge + ((fill - edge) * within >> 8);
            let old = i32::from(pixel[channel]);
            pixel[channel] = (old + ((ink - old) * covered >> 8)) as u8;
        }
    }
}

impl Hull {
    /// Outward unit normals, and the sides' distances from the centre along them.
    fn sides(&self) -> [(Vec2, f32); Polygon::MAX_VERTICES] {
        let count = usize::from(self.count);
        std::array::from_fn(|index| {
            let from = self.vertices[index % count];
            let along = self.vertices[(index + 1) % count] - from;
            let normal = Vec2::new(along.y, -along.x).normalize_or_zero();
            (normal, normal.dot(from))
        })
    }

    /// Signed distance from the polygon's outline.
    fn distance(&self, point: Vec2) -> f32 {
        let count = usize::from(self.count);
        let (mut nearest, mut side) = (f32::MAX, f32::MIN);
        for index in 0..count {
            let from = self.vertices[index];
            let along = self.vertices[(index + 1) % count] - from;
            let to_point = point - from;
            let part = (to_point.dot(along) / along.length_squared()).clamp(0.0, 1.0);
            nearest = nearest.min((to_point - part * along).length_squared());
            side = side.max(along.y * to_point.x - along.x * to_point.y);
        }
        if side > 0.0 { nearest.sqrt() } else { -nearest.sqrt() }
    }
}

#[inline]
fn round(distance: f32, inset: f32, border: f32) -> Cover {
    (coverage(distance + inset), coverage(distance + inset + border))
}

#[inline]
fn coverage(distance: f32) -> f32 {
    (0.5 - distance).clamp(0.0, 1.0)
}

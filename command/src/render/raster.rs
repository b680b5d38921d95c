//! Paints stamps into pixels.
//!
//! ```text
//! for each band of rows (shared among threads), for each stamp that reaches into it, in order:
//!     for each row: the columns between the stamp's four sides
//!         for each pixel: its centre in the stamp's axes, signed distance → coverage → blend
//! ```
//!
//! The distance d of a pixel's centre to the outline gives the pixel's coverage: ½ − d, limited to 0..=1. For a box it
//! is the product over both axes, which is exact if the box is not turned. A shape narrower than a pixel is drawn a
//! little wider than it is ([`MIN_HALF`]), so that it is seen.

use super::{Image, Rgb};
use granule::{Polygon, Vec2};
use wide::f32x8 as Eight;

/// The number of rows in a band. A picture has some tens of bands, so that threads share the work evenly.
const BAND: usize = 24;
/// How far beyond its outline a stamp covers the centres of pixels, along its axes, in pixels.
const FRINGE: f32 = 0.5;
/// The number of pixels of a row that are painted together.
const LANES: usize = 8;
/// The least half size of a stamp, in pixels.
pub(super) const MIN_HALF: f32 = 0.6;

/// The drawing of one shape, in pixels from the picture's top left corner.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub centre: Vec2,
    /// The directions of the shape's own axes in the picture.
    pub axes: [Vec2; 2],
    /// Half the size along the axes.
    pub half: Vec2,
    pub form: Form,
    /// How much smaller than the shape the stamp is drawn.
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
    /// A shape that is round at the ends of its x axis.
    Capsule,
    Hull(Hull),
}

/// A convex polygon, counter-clockwise in the shape's axes, without its rounding.
#[derive(Clone, Copy)]
pub(super) struct Hull {
    pub vertices: [Vec2; Polygon::MAX_VERTICES],
    pub count: u8,
    pub radius: f32,
}

/// The part of each pixel that lies in the shape, and the part that lies inside of the outline's inner edge.
type Cover = (Eight, Eight);

pub(super) fn paint(stamps: &[Stamp], image: &mut Image) {
    let (width, height) = (image.width, image.height);
    let bands = bin(stamps, height);
    let paint_band = |(number, rows): (usize, &mut [[u8; 4]])| {
        let mut band = Band { top: number * BAND, width, rows };
        for &index in &bands[number] {
            stamps[index as usize].paint(&mut band);
        }
    };
    // Outside of any pool, this would build rayon's global pool.
    if rayon::current_thread_index().is_some() {
        use rayon::prelude::*;
        image.pixels.par_chunks_mut(BAND * width).enumerate().for_each(paint_band);
    } else {
        image.pixels.chunks_mut(BAND * width).enumerate().for_each(paint_band);
    }
}

/// Returns the stamps that reach into each band, in their order.
fn bin(stamps: &[Stamp], height: usize) -> Vec<Vec<u32>> {
    let mut bands = vec![Vec::new(); height.div_ceil(BAND)];
    for (index, stamp) in stamps.iter().enumerate() {
        let reach = stamp.reach();
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
        let lanes = Eight::splat;
        let (half_x, half_y) = (lanes(self.half.x), lanes(self.half.y));
        let (inset, border) = (lanes(self.inset), lanes(self.border));
        let round = |distance: Eight| {
            let distance = distance + inset;
            (coverage(distance), coverage(distance + border))
        };
        match self.form {
            Form::Disc => self.scan(band, |x, y| round((x * x + y * y).sqrt() - half_x)),
            Form::MarkedDisc(mark) => {
                let (mark, nothing) = (lanes(mark), lanes(0.0));
                self.scan(band, |x, y| {
                    let (cover, within) = round((x * x + y * y).sqrt() - half_x);
                    let beside = within.min(coverage(mark - y.abs()));
                    (cover, x.simd_gt(nothing).select(beside, within))
                });
            }
            Form::Box => self.scan(band, |x, y| {
                let (x, y) = (x.abs() - half_x + inset, y.abs() - half_y + inset);
                (coverage(x) * coverage(y), coverage(x + border) * coverage(y + border))
            }),
            Form::Capsule => {
                let (straight, nothing) = (half_x - half_y, lanes(0.0));
                self.scan(band, |x, y| {
                    let x = (x.abs() - straight).max(nothing);
                    round((x * x + y * y).sqrt() - half_y)
                });
            }
            Form::Hull(hull) if hull.radius > 0.0 => {
                let radius = lanes(hull.radius);
                self.scan(band, |x, y| round(hull.distance(x, y) - radius));
            }
            Form::Hull(hull) => {
                let sides = hull.sides();
                let sides = &sides[..usize::from(hull.count)];
                self.scan(band, |x, y| {
                    let distance = |&[normal_x, normal_y, offset]: &[f32; 3]| {
                        lanes(normal_x) * x + lanes(normal_y) * y - lanes(offset)
                    };
                    round(sides.iter().map(distance).fold(lanes(f32::MIN), Eight::max))
                });
            }
        }
    }

    /// Blends the stamp into the band, eight columns at a time. `cover` takes points in the stamp's axes.
    #[inline(always)]
    fn scan(&self, band: &mut Band<'_>, cover: impl Fn(Eight, Eight) -> Cover) {
        let [x_axis, y_axis] = self.axes;
        let reach = self.reach();
        let end = band.top + band.rows.len() / band.width;
        let first = at_least(self.centre.y - reach).max(band.top);
        let last = at_least(self.centre.y + reach).min(end);
        let opaque = |[red, green, blue]: Rgb| [red, green, blue, 255].map(i32::from);
        let (fill, edge) = (opaque(self.fill), opaque(self.edge));
        let step = Eight::new([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let scale = Eight::splat(256.0);
        for row in first..last {
            let y = row as f32 + 0.5 - self.centre.y;
            let (from, to) = self.columns(y, band.width);
            let start = (row - band.top) * band.width;
            let pixels = &mut band.rows[start + from..start + to];
            let at_y = [x_axis.y * y, y_axis.y * y].map(Eight::splat);
            for (chunk, pixels) in pixels.chunks_mut(LANES).enumerate() {
                let x = Eight::splat((from + chunk * LANES) as f32 + 0.5 - self.centre.x) + step;
                let along = |axis: Vec2, at_y: Eight| Eight::splat(axis.x) * x + at_y;
                let (covered, within) = cover(along(x_axis, at_y[0]), along(y_axis, at_y[1]));
                let [parts, inks] = [covered, within].map(|part| (scale * part).to_array());
                for (pixel, (part, ink)) in pixels.iter_mut().zip(parts.into_iter().zip(inks)) {
                    *pixel = blend(*pixel, part as i32, ink as i32, &fill, &edge);
                }
            }
        }
    }

    /// Returns how far above and below the centre pixels can be covered.
    fn reach(&self) -> f32 {
        let [x_axis, y_axis] = self.axes;
        x_axis.y.abs() * self.half.x + y_axis.y.abs() * self.half.y + 1.42 * FRINGE
    }

    /// Returns the columns of a row that lie between the stamp's four sides. `y` is the row's distance from the centre.
    #[inline]
    fn columns(&self, y: f32, width: usize) -> (usize, usize) {
        let (mut from, mut to) = (f32::MIN, f32::MAX);
        for (axis, half) in self.axes.into_iter().zip([self.half.x, self.half.y]) {
            let (middle, reach) = (axis.y * y, half + FRINGE);
            if axis.x.abs() > 1.0e-6 {
                let (one, other) = ((-reach - middle) / axis.x, (reach - middle) / axis.x);
                (from, to) = (from.max(one.min(other)), to.min(one.max(other)));
            } else if middle.abs() > reach {
                return (0, 0);
            }
        }
        let from = at_least(from + self.centre.x).min(width);
        let to = at_least(to + self.centre.x).clamp(from, width);
        (from, to)
    }
}

/// Returns the first pixel whose centre is not below this coordinate; 0 for negative coordinates.
#[inline(always)]
fn at_least(coordinate: f32) -> usize {
    // The cast saturates.
    (coordinate - 0.5).ceil() as usize
}

/// Blends ink over a pixel. `covered` says how much of the pixel is covered, and `within` how much of the ink has the
/// colour of the inside, both in 256ths.
#[inline(always)]
fn blend(pixel: [u8; 4], covered: i32, within: i32, fill: &[i32; 4], edge: &[i32; 4]) -> [u8; 4] {
    let mut new = pixel;
    for channel in 0..4 {
        let ink = edge[channel] + (((fill[channel] - edge[channel]) * within) >> 8);
        let old = i32::from(pixel[channel]);
        new[channel] = (old + (((ink - old) * covered) >> 8)) as u8;
    }
    new
}

impl Hull {
    /// Returns the outward unit normals of the sides, and the sides' distances from the centre along them.
    fn sides(&self) -> [[f32; 3]; Polygon::MAX_VERTICES] {
        let count = usize::from(self.count);
        std::array::from_fn(|index| {
            let from = self.vertices[index % count];
            let along = self.vertices[(index + 1) % count] - from;
            let normal = Vec2::new(along.y, -along.x).normalize_or_zero();
            [normal.x, normal.y, normal.dot(from)]
        })
    }

    /// Returns the signed distance from the polygon's outline: the distance to the nearest side, negative inside.
    #[inline(always)]
    fn distance(&self, x: Eight, y: Eight) -> Eight {
        let (lanes, zero) = (Eight::splat, Eight::splat(0.0));
        let count = usize::from(self.count);
        let (mut nearest, mut side) = (lanes(f32::MAX), lanes(f32::MIN));
        for index in 0..count {
            let from = self.vertices[index];
            let along = self.vertices[(index + 1) % count] - from;
            let (x, y) = (x - lanes(from.x), y - lanes(from.y));
            let (along_x, along_y) = (lanes(along.x), lanes(along.y));
            let part = (x * along_x + y * along_y) * lanes(along.length_squared().recip());
            let part = part.max(zero).min(lanes(1.0));
            let (x_off, y_off) = (x - part * along_x, y - part * along_y);
            nearest = nearest.min(x_off * x_off + y_off * y_off);
            side = side.max(along_y * x - along_x * y);
        }
        let distance = nearest.sqrt();
        side.simd_gt(zero).select(distance, -distance)
    }
}

#[inline(always)]
fn coverage(distance: Eight) -> Eight {
    (Eight::splat(0.5) - distance).max(Eight::splat(0.0)).min(Eight::splat(1.0))
}

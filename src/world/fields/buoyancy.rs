//! Buoyancy: which part of a shape is below a surface, and how it is pushed there.
//!
//! A shape is a polygon of at most eight vertices, in coordinates (u, s): u along the surface from the body's centre, s the depth below it. The part with
//! s ≥ 0 is cut off edge by edge. By Green's theorem its area is −∮ s du, its first moments are −∮ u·s du and −∮ ½s² du. The edge along the surface, which
//! the cut makes, has s = 0 and adds nothing, so it is not needed.

use super::FieldMemory;
use super::kernels::LANES;
use crate::base::room::refill;
use crate::body::compound::Compound;
use crate::geometry::outline::{MAX_VERTICES, Outline};
use crate::geometry::shape::ShapeKind;
use crate::geometry::trig::sin_cos;
use crate::lane::{Lane, lane_entry, with_lanes};
use crate::world::World;
use glam::Vec2;

/// A liquid.
pub(super) struct Sunk {
    /// A unit vector.
    pub normal: Vec2,
    pub offset: f32,
    pub density: f32,
    pub drag: f32,
    pub angular_drag: f32,
    pub flow: Vec2,
}

/// Sixteen polygons, and what is below the surface.
struct Polygons {
    u: [[f32; LANES]; MAX_VERTICES],
    s: [[f32; LANES]; MAX_VERTICES],
    area: [f32; LANES],
    /// First moments along u and s.
    moment: [[f32; LANES]; 2],
    /// The place of the body in the list of bodies, and the depth of its centre.
    of: [(usize, f32); LANES],
    len: usize,
}

impl World {
    /// Computes the force and torque of a liquid on each listed body.
    pub(super) fn float(&self, liquid: &Sunk, memory: &mut FieldMemory) {
        let FieldMemory { slots, forces } = memory;
        refill(forces, slots.len(), [0.0; 3]);
        let mut shapes = Polygons {
            u: [[0.0; LANES]; MAX_VERTICES],
            s: [[0.0; LANES]; MAX_VERTICES],
            area: [0.0; LANES],
            moment: [[0.0; LANES]; 2],
            of: [(0, 0.0); LANES],
            len: 0,
        };
        for (place, &slot) in slots.iter().enumerate() {
            let slot = slot as usize;
            let depth = liquid.offset - liquid.normal.dot(self.bodies.position(slot));
            self.visit_polygons(slot, |outline, centre, turn| {
                shapes.add((place, depth), outline, centre, turn, liquid.normal);
                if shapes.len == LANES {
                    self.sink(&mut shapes, liquid, slots, forces);
                }
            });
        }
        self.sink(&mut shapes, liquid, slots, forces);
    }

    /// Visits the outlines of any body: with its centre from the body's, and its (sin, cos).
    fn visit_polygons(&self, slot: usize, mut visit: impl FnMut(&Outline, Vec2, (f32, f32))) {
        let kind = self.bodies.columns.kind[slot].shape();
        let turn = if kind.turns() { sin_cos(self.bodies.columns.angle[slot]) } else { (0.0, 1.0) };
        let parts = self.bodies.parts(slot);
        if kind != ShapeKind::Compound
            && let Some(outline) = Outline::of(&self.bodies.shape(slot))
        {
            visit(&outline, Vec2::ZERO, turn);
        }
        for placed in parts {
            let (offset, turn) = Compound::place(placed, turn);
            visit(self.bodies.outlines.outline(placed.outline), offset, turn);
        }
    }

    /// Adds the forces of a batch of shapes, in their order, and empties it.
    fn sink(&self, shapes: &mut Polygons, liquid: &Sunk, slots: &[u32], forces: &mut [[f32; 3]]) {
        with_lanes!(self.level, L => below::<L>(shapes));
        let per_step = 1.0 / self.settings.time_step;
        let (normal, c) = (liquid.normal, &self.bodies.columns);
        for lane in 0..shapes.len {
            let (area, (place, depth)) = (shapes.area[lane], shapes.of[lane]);
            if area <= 0.0 {
                continue;
            }
            let slot = slots[place] as usize;
            let [u, s] = shapes.moment.map(|moment| moment[lane] / area);
            let along = Vec2::new(-normal.y, normal.x);
            let arm = u * along - (s - depth) * normal;
            let mass = liquid.density * area;
            let velocity = self.bodies.velocity(slot) + c.omega[slot] * arm.perp();
            let rate = (liquid.drag * mass).min(per_step / c.inv_mass[slot]);
            let force = -mass * self.settings.gravity - rate * (velocity - liquid.flow);
            let mut rate = liquid.angular_drag * mass * area;
            if c.inv_inertia[slot] > 0.0 {
                rate = rate.min(per_step / c.inv_inertia[slot]);
            }
            let torque = arm.perp_dot(force) - rate * c.omega[slot];
            for (sum, value) in forces[place].iter_mut().zip([force.x, force.y, torque]) {
                *sum += value;
            }
        }
        shapes.len = 0;
    }
}

impl Polygons {
    fn add(
        &mut self,
        of: (usize, f32),
        outline: &Outline,
        centre: Vec2,
        (sin, cos): (f32, f32),
        normal: Vec2,
    ) {
        let along = Vec2::new(-normal.y, normal.x);
        let turn = Vec2::new(cos, sin);
        let polygon = polygon_of(outline, turn, normal);
        for (place, &vertex) in polygon.iter().enumerate() {
            let point = centre + vertex;
            self.u[place][self.len] = along.dot(point);
            self.s[place][self.len] = of.1 - normal.dot(point);
        }
        self.of[self.len] = of;
        self.len += 1;
    }
}

/// The circumradius of a regular octagon of area π.
const OCTAGON: f32 = 1.053_907_4;
const EIGHTH: f32 = std::f32::consts::FRAC_PI_8;

/// The vertices of an outline about its own centre, turned: a polygon of the same area. The last vertex is repeated.
fn polygon_of(outline: &Outline, turn: Vec2, normal: Vec2) -> [Vec2; MAX_VERTICES] {
    let (vertices, radius) = (outline.vertices(), outline.radius);
    let count = vertices.len();
    let mut polygon = [Vec2::ZERO; MAX_VERTICES];
    match count {
        // A regular octagon that lies flat on the surface, however the circle is turned.
        1 => {
            for (place, vertex) in polygon.iter_mut().enumerate() {
                let (sin, cos) = sin_cos(EIGHTH * (2 * place + 1) as f32);
                *vertex = turn.rotate(vertices[0]) + OCTAGON * radius * normal.rotate(Vec2::new(cos, sin));
            }
            return polygon;
        }
        2 => {
            for (place, vertex) in polygon.iter_mut().enumerate() {
                let (sin, cos) = sin_cos(EIGHTH * (2.0 * place as f32 - 3.0));
                // Four on the cap of the second end, whose direction is +x, then four on that of the first.
                let end = vertices[if place < 4 { 1 } else { 0 }];
                *vertex = turn.rotate(end + OCTAGON * radius * Vec2::new(cos, sin));
            }
            return polygon;
        }
        _ => {}
    }
    let chamfer = radius > 0.0 && 2 * count <= MAX_VERTICES;
    let mut len = 0;
    for (i, &vertex) in vertices.iter().enumerate() {
        let (before, after) = (outline.normal((i + count - 1) % count), outline.normal(i));
        if chamfer {
            (polygon[len], polygon[len + 1]) = (vertex + radius * before, vertex + radius * after);
            len += 2;
        } else {
            let mitre = (before + after) / (1.0 + before.dot(after)).max(0.1);
            polygon[len] = vertex + radius * mitre;
            len += 1;
        }
    }
    let mut scale = 1.0;
    if radius > 0.0 {
        let twice = |i: usize| polygon[i].perp_dot(polygon[(i + 1) % len]);
        let area = 0.5 * (0..len).map(twice).sum::<f32>();
        scale = (outline.mass_properties().area as f32 / area.max(f32::MIN_POSITIVE)).sqrt();
    }
    for vertex in &mut polygon[..len] {
        *vertex = turn.rotate(scale * *vertex);
    }
    let last = polygon[len - 1];
    polygon[len..].fill(last);
    polygon
}

lane_entry! {
    /// Computes what is below the surface.
    fn below[][](shapes: &mut Polygons) = below_all;
}

#[inline(always)]
fn below_all<L: Lane>(shapes: &mut Polygons) {
    for i in (0..LANES).step_by(L::WIDTH) {
        below_lanes::<L>(shapes, i);
    }
}

#[inline(always)]
fn below_lanes<L: Lane>(shapes: &mut Polygons, i: usize) {
    let zero = L::splat(0.0);
    let (mut area, mut moment_u, mut moment_s) = (zero, zero, zero);
    let mut u0 = L::load(&shapes.u[MAX_VERTICES - 1][i..]);
    let mut s0 = L::load(&shapes.s[MAX_VERTICES - 1][i..]);
    for place in 0..MAX_VERTICES {
        let (u1, s1) = (L::load(&shapes.u[place][i..]), L::load(&shapes.s[place][i..]));
        let (in0, in1) = (s0.ge(zero), s1.ge(zero));
        let way = s0 - s1;
        let crosses = L::select(way.abs().gt(zero), way, L::splat(1.0));
        let cut = u0 + (u1 - u0) * (s0 / crosses);
        // An end above the surface moves along the edge to it. If both are above, both depths are 0, and the edge adds nothing.
        let from_u = L::select(in0, u0, L::select(in1, cut, u0));
        let to_u = L::select(in1, u1, L::select(in0, cut, u1));
        let (from_s, to_s) = (s0.max(zero), s1.max(zero));
        let step = from_u - to_u;
        area = area + L::splat(0.5) * step * (from_s + to_s);
        let sixth = L::splat(1.0 / 6.0) * step;
        let products = from_u * (from_s + from_s + to_s) + to_u * (from_s + to_s + to_s);
        moment_u = moment_u + sixth * products;
        moment_s = moment_s + sixth * (from_s * from_s + from_s * to_s + to_s * to_s);
        (u0, s0) = (u1, s1);
    }
    area.store(&mut shapes.area[i..]);
    moment_u.store(&mut shapes.moment[0][i..]);
    moment_s.store(&mut shapes.moment[1][i..]);
}

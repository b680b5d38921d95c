//! Contact manifolds by the textbook (separating axes over the face normals, the incident edge clipped to the reference
//! edge), in f64 and with all branches written out.
//!
//! Where a branch depends on less than `tie`, an f32 may take either branch: then both results are given.

use super::hull::{Edge, Form, Hull};
use glam::DVec2;

/// One way in which two shapes touch. The normal points from the first shape to the second.
#[derive(Clone, Debug)]
pub struct Manifold {
    pub normal: DVec2,
    /// How much the normal turns when a corner moves by 1 m; infinite if any normal is equally right.
    pub normal_slope: f64,
    pub points: Vec<Touch>,
}

/// A point of contact.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// The point midway between the surfaces. `None` where no rule determines the point.
    pub point: Option<DVec2>,
    pub separation: f64,
    /// How much the separation and the point change when a corner moves by 1 m.
    pub slope: f64,
}

impl Manifold {
    pub fn reversed(self) -> Manifold {
        Manifold { normal: -self.normal, ..self }
    }

    pub fn single(normal: DVec2, normal_slope: f64, point: Option<DVec2>, separation: f64) -> Manifold {
        Manifold { normal, normal_slope, points: vec![Touch { point, separation, slope: 1.0 }] }
    }
}

/// All manifolds that are right within `tie`, m. Distant points are included.
pub fn manifolds(a: &Form, b: &Form, tie: f64) -> Vec<Manifold> {
    match (a, b) {
        (Form::Plane { normal, offset }, Form::Hull(hull)) => on_plane(*normal, *offset, hull),
        (Form::Hull(_), Form::Plane { .. }) => {
            manifolds(b, a, tie).into_iter().map(Manifold::reversed).collect()
        }
        (Form::Hull(a), Form::Hull(b)) => match (a.corners.len(), b.corners.len()) {
            (1, 1) => vec![corner_corner(a, a.corners[0], b, b.corners[0], tie)],
            (_, 1) => round(a, b, tie),
            (1, _) => round(b, a, tie).into_iter().map(Manifold::reversed).collect(),
            _ if a.upright && b.upright => upright(a, b, tie),
            _ => clipped(a, b, tie),
        },
        (Form::Plane { .. }, Form::Plane { .. }) => Vec::new(),
    }
}

/// The manifolds of a hull on a plane: the two corners of the edge that faces the plane most directly.
fn on_plane(normal: DVec2, offset: f64, hull: &Hull) -> Vec<Manifold> {
    let touch = |corner: DVec2| {
        let separation = normal.dot(corner) - offset - hull.radius;
        let surface = corner - normal * hull.radius;
        Touch { point: Some(surface - 0.5 * separation * normal), separation, slope: 1.0 }
    };
    let manifold = |points| Manifold { normal, normal_slope: 0.0, points };
    if hull.corners.len() == 1 {
        return vec![manifold(vec![touch(hull.corners[0])])];
    }
    if hull.upright {
        // The result is one point, the deepest. Its place on the edge is not specified.
        let deepest = hull.corners.iter().map(|&corner| touch(corner).separation).fold(f64::MAX, f64::min);
        return vec![Manifold::single(normal, 0.0, None, deepest)];
    }
    most_opposite(hull, normal).iter().map(|edge| manifold(vec![touch(edge.a), touch(edge.b)])).collect()
}

/// The edges whose normals are most opposite to this one: several if their normals are nearly equal.
pub fn most_opposite(hull: &Hull, normal: DVec2) -> Vec<Edge> {
    let edges = hull.edges();
    let least = edges.iter().map(|edge| edge.normal.dot(normal)).fold(f64::MAX, f64::min);
    edges.into_iter().filter(|edge| edge.normal.dot(normal) < least + 1e-5).collect()
}

fn corner_corner(a: &Hull, at_a: DVec2, b: &Hull, at_b: DVec2, tie: f64) -> Manifold {
    let to = at_b - at_a;
    let distance = to.length();
    let normal = if distance > 0.0 { to / distance } else { DVec2::X };
    let middle = 0.5 * (at_a + normal * a.radius + at_b - normal * b.radius);
    let separation = distance - a.radius - b.radius;
    if distance < tie {
        return Manifold::single(normal, f64::INFINITY, None, separation);
    }
    Manifold::single(normal, 1.0 / distance, Some(middle), separation)
}

/// The manifolds of a round shape and a core of corners: the nearest feature, or from inside the nearest face.
fn round(hull: &Hull, disc: &Hull, tie: f64) -> Vec<Manifold> {
    let centre = disc.corners[0];
    let distance = hull.core_distance(centre);
    let radii = hull.radius + disc.radius;
    let by_face = |edge: &Edge| {
        let depth = edge.normal.dot(centre - edge.a);
        let surface = centre - edge.normal * (depth - hull.radius);
        let middle = 0.5 * (surface + centre - edge.normal * disc.radius);
        Manifold::single(edge.normal, 0.0, Some(middle), depth - radii)
    };
    let solid = hull.corners.len() > 2;
    let mut found = Vec::new();
    if distance < tie && solid {
        let edges = hull.edges();
        let depth = |edge: &Edge| edge.normal.dot(centre - edge.a);
        let most = edges.iter().map(depth).fold(f64::MIN, f64::max);
        found.extend(edges.iter().filter(|edge| depth(edge) > most - tie).map(by_face));
    }
    if distance > 0.0 || !solid {
        let nearest = hull.nearest(centre);
        found.push(corner_corner(hull, nearest, disc, centre, tie));
    }
    found
}

/// The manifolds of two axis-aligned boxes: one point, on the axis of least overlap.
fn upright(a: &Hull, b: &Hull, tie: f64) -> Vec<Manifold> {
    let (centre, half) =
        (|h: &Hull| 0.5 * (h.corners[0] + h.corners[2]), |h: &Hull| 0.5 * (h.corners[2] - h.corners[0]));
    let to = centre(b) - centre(a);
    let gap = to.abs() - half(a) - half(b);
    let mut found = Vec::new();
    for (axis, gap, most, along) in
        [(DVec2::X, gap.x, gap.max_element(), to.x), (DVec2::Y, gap.y, gap.max_element(), to.y)]
    {
        if gap < most - tie {
            continue;
        }
        for sign in [1.0, -1.0] {
            if sign * along > -tie {
                found.push(Manifold::single(sign * axis, 0.0, None, gap));
            }
        }
    }
    found
}

/// The manifolds of two cores of two or more corners each.
fn clipped(a: &Hull, b: &Hull, tie: f64) -> Vec<Manifold> {
    let faces = |of: &Hull, other: &Hull| -> Vec<(f64, Edge)> {
        of.edges().into_iter().map(|edge| (beyond(other, &edge), edge)).collect()
    };
    let (of_a, of_b) = (faces(a, b), faces(b, a));
    let most = of_a.iter().chain(&of_b).map(|face| face.0).fold(f64::MIN, f64::max);
    let apart = core_separation(a, b);
    let mut found = Vec::new();
    for (separation, edge) in of_a {
        if separation > most - tie {
            for incident in most_opposite(b, edge.normal) {
                against(a, &edge, b, &incident, apart, tie, &mut found);
            }
        }
    }
    for (separation, edge) in of_b {
        if separation > most - tie {
            let mut reversed = Vec::new();
            for incident in most_opposite(a, edge.normal) {
                against(b, &edge, a, &incident, apart, tie, &mut reversed);
            }
            found.extend(reversed.into_iter().map(Manifold::reversed));
        }
    }
    found
}

/// The incident edge clipped to the extent of the reference edge, or, where the cores are apart, the two nearest
/// corners. Corners are given if the edges do not face each other, and also if the edges face each other but two
/// corners are the nearest points. The caller takes the result that is as deep as the shapes are: the clipped points
/// would be less deep for a rounded corner beyond the end of the reference edge.
fn against(
    reference: &Hull,
    edge: &Edge,
    other: &Hull,
    incident: &Edge,
    apart: f64,
    tie: f64,
    found: &mut Vec<Manifold>,
) {
    let overlap = clip(reference, edge, other, incident, tie, found);
    if apart > -tie {
        let corners =
            [(edge.a, incident.a), (edge.a, incident.b), (edge.b, incident.a), (edge.b, incident.b)];
        let least = corners.iter().map(|(p, q)| p.distance(*q)).fold(f64::MAX, f64::min);
        let nearest = if overlap < tie { least } else { segment_distance(edge, incident) };
        for (p, q) in corners {
            if p.distance(q) < nearest + tie {
                found.push(corner_corner(reference, p, other, q, tie));
            }
        }
    }
}

/// Clips the incident edge to the extent of the reference edge, if the edges face each other. Returns the length over
/// which they do.
pub fn clip(
    reference: &Hull,
    edge: &Edge,
    other: &Hull,
    incident: &Edge,
    tie: f64,
    found: &mut Vec<Manifold>,
) -> f64 {
    let length = edge.a.distance(edge.b);
    let tangent = (edge.b - edge.a) / length;
    let place = |corner: DVec2| (tangent.dot(corner - edge.a), edge.normal.dot(corner - edge.a));
    let ((t0, h0), (t1, h1)) = (place(incident.a), place(incident.b));
    let (low, high) = (t0.min(t1).max(0.0), t0.max(t1).min(length));
    let overlap = high - low;
    if overlap < -tie {
        return overlap;
    }
    let slope = if t0 == t1 { 0.0 } else { (h1 - h0) / (t1 - t0) };
    let touch = |t: f64| {
        let t = t.clamp(t0.min(t1), t0.max(t1));
        let height = h0 + slope * (t - t0);
        let separation = height - reference.radius - other.radius;
        let core = edge.a + tangent * t + edge.normal * height;
        let middle = core - edge.normal * (other.radius + 0.5 * separation);
        Touch { point: Some(middle), separation, slope: 1.0 + slope.abs() }
    };
    let points = vec![touch(low), touch(high)];
    if overlap < tie {
        // The incident edge is almost upright: the deeper of the two points is right, too.
        let deeper = if points[0].separation < points[1].separation { points[0] } else { points[1] };
        found.push(Manifold { normal: edge.normal, normal_slope: 0.0, points: vec![deeper] });
    }
    found.push(Manifold { normal: edge.normal, normal_slope: 0.0, points });
    overlap
}

/// The distance of two edges that do not cross.
fn segment_distance(one: &Edge, other: &Edge) -> f64 {
    let to = |point: DVec2, edge: &Edge| {
        let along = edge.b - edge.a;
        let t = ((point - edge.a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        point.distance(edge.a + t * along)
    };
    to(one.a, other).min(to(one.b, other)).min(to(other.a, one)).min(to(other.b, one))
}

/// The distance of a core beyond the line of an edge: the least over the core's corners.
pub fn beyond(core: &Hull, edge: &Edge) -> f64 {
    core.corners.iter().map(|&corner| edge.normal.dot(corner - edge.a)).fold(f64::MAX, f64::min)
}

/// The distance of two cores; if they overlap, minus the shortest way out.
pub fn core_separation(a: &Hull, b: &Hull) -> f64 {
    if a.corners.len() == 1 {
        return b.core_distance(a.corners[0]);
    }
    if b.corners.len() == 1 {
        return a.core_distance(b.corners[0]);
    }
    let out_of_a = a.edges().iter().map(|edge| beyond(b, edge)).fold(f64::MIN, f64::max);
    let out_of_b = b.edges().iter().map(|edge| beyond(a, edge)).fold(f64::MIN, f64::max);
    let best = out_of_a.max(out_of_b);
    // Segments in line overlap on all their normals, whatever their distance.
    if best < -1e-12 {
        return best;
    }
    let from_a = a.corners.iter().map(|&corner| b.nearest(corner).distance(corner));
    let from_b = b.corners.iter().map(|&corner| a.nearest(corner).distance(corner));
    from_a.chain(from_b).fold(f64::MAX, f64::min)
}

/// The distance of the surfaces, or minus the shortest way out when the shapes overlap. Infinite for two half-spaces.
pub fn separation(a: &Form, b: &Form) -> f64 {
    match (a, b) {
        (Form::Hull(a), Form::Hull(b)) => core_separation(a, b) - a.radius - b.radius,
        (Form::Plane { normal, offset }, Form::Hull(hull))
        | (Form::Hull(hull), Form::Plane { normal, offset }) => {
            let lowest = hull.corners.iter().map(|corner| normal.dot(*corner)).fold(f64::MAX, f64::min);
            lowest - offset - hull.radius
        }
        (Form::Plane { .. }, Form::Plane { .. }) => f64::INFINITY,
    }
}

//! Assemblies: ropes, cloth, soft bodies and ragdolls, as lists of bodies, links, hulls and joints. These name bodies by
//! their places in the list. You can add an assembly to a world or to another assembly.
//!
//! ```
//! use granule::{Assembly, Settings, Vec2, World};
//!
//! let mut world = World::new(Settings::default())?;
//! let rope = Assembly::rope(Vec2::ZERO, Vec2::new(4.0, 0.0), 20, 0.1);
//! let points = world.add_assembly(&rope)?;
//! world.step();
//! assert_eq!((points.len(), world.link_count()), (21, 20));
//! # Ok::<(), granule::Error>(())
//! ```

mod figure;

use crate::body::{BodyDesc, BodyHandle, BodyType, Filter};
use crate::error::{Error, check_vec};
use crate::geometry::polygon::Polygon;
use crate::geometry::shape::Shape;
use crate::joints::desc::{JointDesc, JointEnds, JointHandle, JointKind};
use crate::material::Material;
use crate::particles::hulls::check_places;
use crate::particles::links::LinkDesc;
use crate::world::World;
use glam::{DVec2, Vec2};

/// A list of bodies, with links, hulls and joints that name them by their places in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// The bodies, in the order in which they are added to a world.
    pub bodies: Vec<BodyDesc>,
    /// The links. `a` and `b` are places in `bodies`.
    pub links: Vec<LinkDesc<usize>>,
    /// Loops of particles that collide as one polygon (see [`World::add_hull`]), by their places in `bodies`.
    pub hulls: Vec<Vec<usize>>,
    /// The joints. They name bodies by their places in `bodies`. A gear names joints by their places in this list, which come before
    /// its own.
    pub joints: Vec<JointDesc<usize, usize>>,
}

/// The description of a cloth: a net of particles, row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cloth {
    /// Position of the top left particle, m.
    pub origin: Vec2,
    /// The number of particles in a row. Default 16.
    pub columns: usize,
    /// The number of rows. Default 16.
    pub rows: usize,
    /// Distance between neighbours, m. Default 0.25.
    pub spacing: f32,
    /// The mass of a particle, kg. Default 0.05.
    pub mass: f32,
    /// If true, the cloth has links along the diagonals. Default true.
    pub shear: bool,
    /// If true, the cloth has links to the next but one particle in row and column. They keep the net from folding and never
    /// shorten it. Default true.
    pub bend: bool,
    /// The force at which a link between neighbours in row or column breaks, N, so that the cloth tears. Default infinite.
    pub break_force: f32,
    /// The step between pinned particles in the top row, beginning with the first one. 0 pins none. Default 1.
    pub pin_every: usize,
}

impl Default for Cloth {
    fn default() -> Self {
        Cloth {
            origin: Vec2::ZERO,
            columns: 16,
            rows: 16,
            spacing: 0.25,
            mass: 0.05,
            shear: true,
            bend: true,
            break_force: f32::INFINITY,
            pin_every: 1,
        }
    }
}

impl Assembly {
    /// A chain of static segments through these points (m), for terrain. It is solid on its right (below, where it runs to
    /// the right) and open on its left. Bodies slide smoothly over the joints. With `closed`, the last point is joined to the
    /// first.
    ///
    /// # Errors
    ///
    /// Fewer than 2 points (3 if closed); a point that is not finite or beyond [`World::MAX_COORDINATE`]; two neighbours nearer
    /// than twice [`Shape::MIN_EXTENT`].
    pub fn chain(points: &[Vec2], closed: bool, material: Material) -> Result<Assembly, Error> {
        const FIELD: &str = "chain.points";
        let n = points.len();
        if n < if closed { 3 } else { 2 } {
            let reason = "a chain needs at least 2 points, a closed one 3";
            return Err(Error::Invalid { field: FIELD, reason });
        }
        for (index, &point) in points.iter().enumerate() {
            check_vec(FIELD, point, World::MAX_COORDINATE)
                .map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        let segments = if closed { n } else { n - 1 };
        let point = |index: usize| points[index % n].as_dvec2();
        let mut chain = Assembly::default();
        for index in 0..segments {
            let (a, b) = (point(index), point(index + 1));
            let half_length = (0.5 * a.distance(b)) as f32;
            if half_length < Shape::MIN_EXTENT {
                let reason = "nearer to the next point than 0.0002 m";
                return Err(Error::Vertex { field: FIELD, index, reason });
            }
            let middle = 0.5 * (a + b);
            let along = (b - a).normalize();
            let local = |point: DVec2| {
                let from = point - middle;
                DVec2::new(along.dot(from), along.perp_dot(from)).as_vec2()
            };
            let before = (closed || index > 0).then(|| local(point(index + n - 1)));
            let after = (closed || index + 1 < segments).then(|| local(point(index + 2)));
            let shape = Shape::ChainSegment { half_length, before, after };
            chain.bodies.push(BodyDesc {
                angle: along.y.atan2(along.x) as f32,
                material,
                ..BodyDesc::fixed(shape, middle.as_vec2())
            });
        }
        Ok(chain)
    }

    /// Appends the bodies, links, hulls and joints of another assembly. Returns the place of its first body in this one.
    pub fn append(&mut self, other: Assembly) -> usize {
        let first = self.bodies.len();
        self.bodies.extend(other.bodies);
        self.links.extend(other.links.into_iter().map(|link| link.map(|place| place + first)));
        let moved = |hull: Vec<usize>| hull.into_iter().map(|place| place + first).collect();
        self.hulls.extend(other.hulls.into_iter().map(moved));
        let joints = self.joints.len();
        let named = |joint: JointDesc<usize, usize>| joint.map(|place| place + first, |place| place + joints);
        self.joints.extend(other.joints.into_iter().map(named));
        first
    }

    /// Returns the assembly with all bodies in this group, so that they do not touch each other. Group 0 is no group.
    pub fn grouped(mut self, group: u32) -> Self {
        for body in &mut self.bodies {
            body.filter = Filter { group, ..body.filter };
        }
        self
    }

    /// Returns the assembly with all bodies moved by `by`, m.
    pub fn moved(mut self, by: Vec2) -> Self {
        for body in &mut self.bodies {
            body.position += by;
        }
        self
    }

    /// Links two of the bodies at their present distance. Returns the link, so that you can change it.
    ///
    /// # Panics
    ///
    /// If `a` or `b` is not a place in the list.
    pub fn link(&mut self, a: usize, b: usize) -> &mut LinkDesc<usize> {
        let length = self.bodies[a].position.distance(self.bodies[b].position);
        self.links.push(LinkDesc::distance(a, b, length));
        self.links.last_mut().expect("just pushed")
    }

    /// A rope of `segments` links from one point to another (m). Each particle has this mass, kg. Pin its first particle
    /// to hang it up.
    ///
    /// # Panics
    ///
    /// If `segments` is 0.
    pub fn rope(from: Vec2, to: Vec2, segments: usize, mass: f32) -> Self {
        assert!(segments > 0, "a rope has at least one segment");
        let mut rope = Assembly::default();
        for i in 0..=segments {
            rope.bodies.push(BodyDesc::particle(from.lerp(to, i as f32 / segments as f32), mass));
        }
        for i in 0..segments {
            rope.link(i, i + 1);
        }
        rope
    }

    /// A net of particles and links: see [`Cloth`]. Its particles can touch each other; [`Assembly::grouped`] prevents that.
    pub fn cloth(cloth: &Cloth) -> Self {
        let Cloth { origin, columns, rows, spacing, mass, .. } = *cloth;
        let mut net = Assembly::default();
        for row in 0..rows {
            for column in 0..columns {
                let place = origin + spacing * Vec2::new(column as f32, -(row as f32));
                let particle = BodyDesc::particle(place, mass);
                let pinned = row == 0 && cloth.pin_every > 0 && column % cloth.pin_every == 0;
                net.bodies.push(if pinned { particle.pinned() } else { particle });
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let at = |right: usize, down: usize| {
                    let inside = column + right < columns && row + down < rows;
                    inside.then(|| (row + down) * columns + column + right)
                };
                let here = row * columns + column;
                for neighbour in [at(1, 0), at(0, 1)].into_iter().flatten() {
                    net.link(here, neighbour).break_force = cloth.break_force;
                }
                if let Some(across) = at(1, 1).filter(|_| cloth.shear) {
                    net.link(here, across);
                    net.link(here + 1, across - 1);
                }
                for next_but_one in [at(2, 0), at(0, 2)].into_iter().flatten().filter(|_| cloth.bend) {
                    net.link(here, next_but_one).stiffness = 0.5;
                }
            }
        }
        net
    }

    /// A hull of four particles at the corners of a box, with six links: sides and diagonals. `size` is the width and height of the
    /// box with the particles' `radius` included, m. `mass` is that of the whole box, kg. `turned` is its angle, rad.
    pub fn soft_box(centre: Vec2, size: Vec2, radius: f32, mass: f32, turned: f32) -> Self {
        let half = 0.5 * size - Vec2::splat(radius);
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let mut soft = Assembly::default();
        for (x, y) in corners {
            let place = centre + Vec2::from_angle(turned).rotate(half * Vec2::new(x, y));
            let particle = BodyDesc::particle(place, 0.25 * mass);
            soft.bodies.push(BodyDesc { shape: Shape::particle(radius), ..particle });
        }
        for a in 0..4 {
            for b in a + 1..4 {
                soft.link(a, b);
            }
        }
        soft.hulls.push(vec![0, 1, 2, 3]);
        soft
    }

    /// A regular polygon of particles at distance `radius` (m) from a hub, with links as rim and spokes. With more than four corners
    /// it has a link from each corner to the next but one. Up to eight corners are a hull. With many corners it is a wheel.
    /// `mass` is that of all particles together, kg.
    ///
    /// # Panics
    ///
    /// If there are fewer than 3 corners.
    pub fn polygon(centre: Vec2, radius: f32, corners: usize, mass: f32) -> Self {
        assert!(corners >= 3, "a polygon has at least three corners");
        let each = mass / (corners + 1) as f32;
        let mut wheel = Assembly::default();
        for i in 0..corners {
            let angle = std::f32::consts::TAU * i as f32 / corners as f32;
            wheel.bodies.push(BodyDesc::particle(centre + radius * Vec2::from_angle(angle), each));
        }
        wheel.bodies.push(BodyDesc::particle(centre, each));
        for i in 0..corners {
            wheel.link(i, (i + 1) % corners);
            wheel.link(i, corners);
            if corners > 4 {
                wheel.link(i, (i + 2) % corners);
            }
        }
        if corners <= Polygon::MAX_VERTICES {
            wheel.hulls.push((0..corners).collect());
        }
        wheel
    }

    /// An upright figure of head, torso, arms and legs, 1.8 m high at scale 1, of this mass (kg) in all. `Min` links between the far
    /// ends let elbows and knees fold, but not flat, and hold the head above the shoulders. Limbs and torso are hulls. The
    /// particles are slightly damped.
    pub fn ragdoll(centre: Vec2, scale: f32, mass: f32) -> Self {
        let mut doll = Assembly::default();
        for (x, y, radius) in DOLL_POINTS {
            let particle =
                BodyDesc::particle(centre + scale * Vec2::new(x, y), mass / DOLL_POINTS.len() as f32);
            let shape = Shape::particle(scale * radius);
            doll.bodies.push(BodyDesc { shape, linear_damping: 0.5, ..particle });
        }
        for (a, b) in DOLL_LINKS {
            doll.link(a, b);
        }
        for (a, b, part) in DOLL_LIMITS {
            let limit = doll.link(a, b);
            limit.kind = crate::LinkKind::Min;
            limit.length *= part;
        }
        doll.hulls.extend(DOLL_HULLS.map(<[usize]>::to_vec));
        doll
    }
}

/// The particles of a ragdoll: x, y and radius, m. Head; shoulders, hips; elbows, hands; knees, feet. Left comes before right.
const DOLL_POINTS: [(f32, f32, f32); 13] = [
    (0.0, 0.78, 0.12),
    (-0.18, 0.5, 0.09),
    (0.18, 0.5, 0.09),
    (-0.12, 0.0, 0.1),
    (0.12, 0.0, 0.1),
    (-0.45, 0.45, 0.06),
    (0.45, 0.45, 0.06),
    (-0.7, 0.4, 0.06),
    (0.7, 0.4, 0.06),
    (-0.16, -0.42, 0.07),
    (0.16, -0.42, 0.07),
    (-0.18, -0.83, 0.07),
    (0.18, -0.83, 0.07),
];
/// Its links.
const DOLL_LINKS: [(usize, usize); 16] = [
    (0, 1),
    (0, 2),
    (1, 2),
    (1, 3),
    (2, 4),
    (3, 4),
    (1, 4),
    (2, 3),
    (1, 5),
    (5, 7),
    (2, 6),
    (6, 8),
    (3, 9),
    (9, 11),
    (4, 10),
    (10, 12),
];
/// The pairs of its particles that keep at least this part of their first distance.
const DOLL_LIMITS: [(usize, usize, f32); 8] = [
    (1, 7, 0.5),
    (2, 8, 0.5),
    (3, 11, 0.6),
    (4, 12, 0.6),
    (0, 3, 0.9),
    (0, 4, 0.9),
    (9, 1, 0.5),
    (10, 2, 0.5),
];
/// Its hulls.
const DOLL_HULLS: [&[usize]; 9] =
    [&[3, 4, 2, 1], &[1, 5], &[5, 7], &[2, 6], &[6, 8], &[3, 9], &[9, 11], &[4, 10], &[10, 12]];

impl From<Vec<BodyDesc>> for Assembly {
    fn from(bodies: Vec<BodyDesc>) -> Self {
        Assembly { bodies, ..Assembly::default() }
    }
}

impl World {
    /// Adds an assembly's bodies, links, hulls and joints, or nothing if one is refused. Returns the bodies' handles in the order of the
    /// assembly.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first link, hull, joint or body that is refused; [`Error::TooMany`].
    pub fn add_assembly(&mut self, assembly: &Assembly) -> Result<Vec<BodyHandle>, Error> {
        let bodies = &assembly.bodies;
        for (index, link) in assembly.links.iter().enumerate() {
            let element = |error| Error::Element { index, error: Box::new(error) };
            link.validate().map_err(element)?;
            for (field, place) in [("a", link.a), ("b", link.b)] {
                let reason = match bodies.get(place).map(|body| body.shape) {
                    None => "names a body that is not in the list",
                    Some(Shape::HalfSpace { .. }) => "a half-space cannot be linked",
                    Some(_) => continue,
                };
                return Err(element(Error::Invalid { field, reason }));
            }
        }
        for (index, hull) in assembly.hulls.iter().enumerate() {
            check_places(hull, bodies).map_err(|error| Error::Element { index, error: Box::new(error) })?;
        }
        check_joints(&assembly.joints, bodies)?;
        self.check_link_room(assembly.links.len())?;
        self.check_joint_room(assembly.joints.len())?;
        let handles = self.add_bodies(bodies)?;
        let links: Vec<LinkDesc> =
            assembly.links.iter().map(|link| link.map(|place| handles[place])).collect();
        self.add_links(&links)?;
        for hull in &assembly.hulls {
            let points: Vec<BodyHandle> = hull.iter().map(|&place| handles[place]).collect();
            self.add_hull(&points)?;
        }
        self.add_named_joints(&assembly.joints, &handles)?;
        Ok(handles)
    }
}

/// Checks joints that name bodies, and joints before them, by their places in lists.
///
/// # Errors
///
/// [`Error::Element`] with the index of the first joint that is refused.
pub(crate) fn check_joints(joints: &[JointDesc<usize, usize>], bodies: &[BodyDesc]) -> Result<(), Error> {
    for (index, joint) in joints.iter().enumerate() {
        check_joint(joint, &joints[..index], bodies)
            .map_err(|error| Error::Element { index, error: Box::new(error) })?;
    }
    Ok(())
}

/// Checks a joint that names bodies, and joints of those before it, by their places in lists.
pub(crate) fn check_joint(
    joint: &JointDesc<usize, usize>,
    before: &[JointDesc<usize, usize>],
    bodies: &[BodyDesc],
) -> Result<(), Error> {
    joint.validate()?;
    let is_dynamic = |field: &'static str, place: usize| match bodies.get(place) {
        Some(body) => Ok(body.body_type == BodyType::Dynamic),
        None => Err(Error::Invalid { field, reason: "names a body that is not in the list" }),
    };
    match joint.ends {
        JointEnds::Bodies(a, b) => {
            let (a, b) = (is_dynamic("a", a)?, is_dynamic("b", b)?);
            if !a && !b {
                return Err(Error::Invalid {
                    field: "b",
                    reason: "one of two joined bodies has to be dynamic",
                });
            }
        }
        JointEnds::World(a) => {
            if !is_dynamic("a", a)? {
                return Err(Error::Invalid { field: "a", reason: "only a dynamic body can be pulled" });
            }
        }
        JointEnds::Joints(first, second) => {
            for (field, place) in [("first", first), ("second", second)] {
                let Some(member) = before.get(place) else {
                    return Err(Error::Invalid {
                        field,
                        reason: "names a joint that does not come before the gear",
                    });
                };
                if !matches!(member.kind, JointKind::Revolute(_) | JointKind::Prismatic(_)) {
                    return Err(Error::Invalid {
                        field,
                        reason: "a gear couples revolute and prismatic joints",
                    });
                }
            }
        }
    }
    Ok(())
}

impl World {
    /// Adds joints that name bodies by their places among `handles`. Returns their handles.
    pub(crate) fn add_named_joints(
        &mut self,
        joints: &[JointDesc<usize, usize>],
        handles: &[BodyHandle],
    ) -> Result<Vec<JointHandle>, Error> {
        let mut added: Vec<JointHandle> = Vec::with_capacity(joints.len());
        for (index, joint) in joints.iter().enumerate() {
            let body = |place: usize| handles.get(place).copied().unwrap_or_default();
            let named = joint.map(body, |place| added.get(place).copied().unwrap_or_default());
            added.push(
                self.add_joint(&named).map_err(|error| Error::Element { index, error: Box::new(error) })?,
            );
        }
        Ok(added)
    }
}

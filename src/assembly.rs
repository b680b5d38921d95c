//! Assemblies: ropes, cloth, soft bodies and ragdolls, as lists of bodies, links and hulls that name each other by
//! place. They can be put into a world, or into one another.
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

use crate::body::{BodyDesc, BodyHandle, Filter};
use crate::error::{Error, check_vec};
use crate::geometry::polygon::Polygon;
use crate::geometry::shape::Shape;
use crate::material::Material;
use crate::particles::hulls::check_places;
use crate::particles::links::LinkDesc;
use crate::world::World;
use glam::{DVec2, Vec2};

/// Bodies, and the links and hulls of them by their places in the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// In the order in which they are added.
    pub bodies: Vec<BodyDesc>,
    /// `a` and `b` are places in `bodies`.
    pub links: Vec<LinkDesc<usize>>,
    /// Loops of particles that collide as one polygon (see [`World::add_hull`]), by their places in `bodies`.
    pub hulls: Vec<Vec<usize>>,
}

/// What a cloth is made of: a net of particles, row by row from the top left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cloth {
    /// The top left particle.
    pub origin: Vec2,
    /// Particles in a row, and rows.
    pub columns: usize,
    /// See `columns`.
    pub rows: usize,
    /// Between neighbours, m.
    pub spacing: f32,
    /// The mass of a particle, kg.
    pub mass: f32,
    /// Links along the diagonals.
    pub shear: bool,
    /// Links to the next but one in row and column, which never shorten the net, only keep it from folding.
    pub bend: bool,
    /// The force at which a structural link breaks, N: the cloth tears.
    pub break_force: f32,
    /// Every so many particles of the top row are pinned; 0 for none.
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
    /// A chain of static segments through these points, for terrain: solid on its right (below, where it runs to
    /// the right), open on its left, and smooth for what slides over the joints. With `closed` the last
    /// point is joined to the first.
    ///
    /// # Errors
    ///
    /// Fewer than 2 points (3 when closed), one that is not finite, or two neighbours nearer than twice
    /// [`Shape::MIN_EXTENT`].
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

    /// Appends the bodies and links of another; returns the place of its first body here.
    pub fn append(&mut self, other: Assembly) -> usize {
        let first = self.bodies.len();
        self.bodies.extend(other.bodies);
        self.links.extend(other.links.into_iter().map(|link| link.map(|place| place + first)));
        let moved = |hull: Vec<usize>| hull.into_iter().map(|place| place + first).collect();
        self.hulls.extend(other.hulls.into_iter().map(moved));
        first
    }

    /// All bodies get this group, so that they do not touch each other.
    pub fn grouped(mut self, group: u32) -> Self {
        for body in &mut self.bodies {
            body.filter = Filter { group, ..body.filter };
        }
        self
    }

    /// All bodies moved by so much.
    pub fn moved(mut self, by: Vec2) -> Self {
        for body in &mut self.bodies {
            body.position += by;
        }
        self
    }

    /// Links two of the bodies at the distance that they have now.
    pub fn link(&mut self, a: usize, b: usize) -> &mut LinkDesc<usize> {
        let length = self.bodies[a].position.distance(self.bodies[b].position);
        self.links.push(LinkDesc::distance(a, b, length));
        self.links.last_mut().expect("just pushed")
    }

    /// A rope of so many links from one point to another, its particles of this mass. Pin its first particle
    /// to hang it up.
    ///
    /// # Panics
    ///
    /// When `segments` is 0.
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

    /// A net: see [`Cloth`]. Its particles are of one group.
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

    /// A box of four particles at its corners and six links: sides and diagonals. `size` is that of the box
    /// that the particles fill, their radius included; `turned` is in radians. It is a hull.
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

    /// A regular polygon: rim, hub and spokes, and a link from every corner to the next but one. With many
    /// corners a wheel; up to eight are a hull.
    ///
    /// # Panics
    ///
    /// When there are fewer than 3 corners.
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

    /// A figure of head, torso, arms and legs, upright, 1.8 m high at scale 1, of this mass. Elbows and knees
    /// fold, but not flat, and the head keeps above the shoulders: `Min` links between the far ends. Slightly damped. Its limbs
    /// and torso are hulls.
    pub fn ragdoll(centre: Vec2, scale: f32, mass: f32) -> Self {
        // Head; shoulders, hips; elbows, hands; knees, feet: left, then right.
        const POINTS: [(f32, f32, f32); 13] = [
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
        const LINKS: [(usize, usize); 16] = [
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
        // What keeps at least this part of its present distance.
        const LIMITS: [(usize, usize, f32); 8] = [
            (1, 7, 0.5),
            (2, 8, 0.5),
            (3, 11, 0.6),
            (4, 12, 0.6),
            (0, 3, 0.9),
            (0, 4, 0.9),
            (9, 1, 0.5),
            (10, 2, 0.5),
        ];
        const HULLS: [&[usize]; 9] =
            [&[3, 4, 2, 1], &[1, 5], &[5, 7], &[2, 6], &[6, 8], &[3, 9], &[9, 11], &[4, 10], &[10, 12]];
        let mut doll = Assembly::default();
        for (x, y, radius) in POINTS {
            let particle = BodyDesc::particle(centre + scale * Vec2::new(x, y), mass / POINTS.len() as f32);
            let shape = Shape::particle(scale * radius);
            doll.bodies.push(BodyDesc { shape, linear_damping: 0.5, ..particle });
        }
        for (a, b) in LINKS {
            doll.link(a, b);
        }
        for (a, b, part) in LIMITS {
            let limit = doll.link(a, b);
            limit.kind = crate::LinkKind::Min;
            limit.length *= part;
        }
        doll.hulls.extend(HULLS.map(<[usize]>::to_vec));
        doll
    }
}

impl From<Vec<BodyDesc>> for Assembly {
    fn from(bodies: Vec<BodyDesc>) -> Self {
        Assembly { bodies, ..Assembly::default() }
    }
}

impl World {
    /// Adds an assembly's bodies, links and hulls, or nothing; returns the bodies' handles in its order.
    ///
    /// # Errors
    ///
    /// [`Error::Element`] with the index of the first body, link or hull that is refused.
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
        self.check_link_room(assembly.links.len())?;
        let handles = self.add_bodies(bodies)?;
        let links: Vec<LinkDesc> =
            assembly.links.iter().map(|link| link.map(|place| handles[place])).collect();
        self.add_links(&links)?;
        for hull in &assembly.hulls {
            let points: Vec<BodyHandle> = hull.iter().map(|&place| handles[place]).collect();
            self.add_hull(&points)?;
        }
        Ok(handles)
    }
}

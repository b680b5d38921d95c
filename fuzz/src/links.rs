//! Random linked worlds: particles, links, hulls and assemblies, and what a host does to them.

use super::{Bytes, MOST_BODIES, MOST_STEPS, assert_same, body, check_step, settings};
use granule::{
    Assembly, BodyDesc, BodyHandle, BodyType, Cloth, Error, HullHandle, Lanes, LinkDesc, LinkHandle,
    LinkKind, Settings, Shape, Vec2, World,
};

/// Most links in a random world.
const MOST_LINKS: usize = 600;

/// Bytes → a world of particles and links and what a host does to it, at lanes 1 and 8: the same hash, the same broken
/// links and the same stretch after every step, and every link's handle gives its link until it is gone.
pub fn links(data: &[u8]) {
    let mut bytes = Bytes(data);
    let mut settings = settings(&mut bytes);
    settings.link_iterations = 1 + u32::from(bytes.byte() % 12);
    let worlds =
        [Lanes::One, Lanes::Eight].map(|lanes| World::new(Settings { lanes, ..settings }).expect("in range"));
    let mut pair = Pair { worlds, bodies: Vec::new(), links: Vec::new(), hulls: Vec::new() };
    let mut steps = 0;
    while !bytes.0.is_empty() && steps < MOST_STEPS {
        if bytes.0[0] >= 208 {
            bytes.byte();
            steps += 1;
            pair.step();
        } else {
            pair.operation(&mut bytes);
        }
    }
    pair.step();
}

/// The two worlds and the handles that they have given. Stale ones stay, and must be refused by both.
struct Pair {
    worlds: [World; 2],
    bodies: Vec<BodyHandle>,
    links: Vec<LinkHandle>,
    hulls: Vec<HullHandle>,
}

impl Pair {
    /// Does the same to both worlds, and holds that they answer the same.
    fn both<T: std::fmt::Debug>(
        &mut self,
        mut operation: impl FnMut(&mut World) -> Result<T, Error>,
    ) -> Option<T> {
        let [scalar, wide] = &mut self.worlds;
        let (a, b) = (operation(scalar), operation(wide));
        assert_same(&a, &b);
        a.ok()
    }

    fn step(&mut self) {
        for world in &mut self.worlds {
            world.step();
        }
        let [scalar, wide] = &self.worlds;
        check_step(scalar, wide);
        assert_eq!(scalar.broken_links(), wide.broken_links());
        assert_eq!(scalar.link_order(), wide.link_order());
        assert_same(&scalar.link_quality(), &wide.link_quality());
        for world in &self.worlds {
            assert_eq!(world.links().count(), world.link_count());
            assert_eq!(world.hulls().count(), world.hull_count());
            for (handle, link) in world.links() {
                assert_same(&world.link(handle), &Ok::<_, Error>(link));
                assert!(world.contains(link.a) && world.contains(link.b), "{link:?} joins what is gone");
            }
            for &link in world.broken_links() {
                assert!(world.link(link).is_err(), "{link:?} broke and is there");
            }
        }
    }

    /// One operation of a host.
    fn operation(&mut self, bytes: &mut Bytes) {
        let operation = bytes.byte();
        match operation % 16 {
            0..=3 if self.bodies.len() < MOST_BODIES => {
                let desc = if operation < 160 { particle(bytes) } else { body(bytes) };
                let added = self.both(|world| world.add_body(&desc));
                self.bodies.extend(added);
            }
            4..=8 if !self.bodies.is_empty() && self.links.len() < MOST_LINKS => {
                let desc = self.link(bytes, operation);
                let added = self.both(|world| world.add_link(&desc));
                self.links.extend(added);
            }
            9 if self.bodies.len() < MOST_BODIES && self.links.len() < MOST_LINKS => {
                let assembly = assembly(bytes);
                let added = self.both(|world| world.add_assembly(&assembly));
                self.bodies.extend(added.into_iter().flatten());
                self.links = self.worlds[0].links().map(|(handle, _)| handle).collect();
                self.hulls = self.worlds[0].hulls().map(|(handle, _)| handle).collect();
            }
            10 if !self.links.is_empty() => {
                let link = self.links[usize::from(bytes.byte()) % self.links.len()];
                self.both(|world| world.remove_link(link));
            }
            11 if !self.bodies.is_empty() => {
                let count = 1 + usize::from(bytes.byte() % 9);
                let points: Vec<_> = (0..count).map(|_| self.body(bytes)).collect();
                let added = self.both(|world| world.add_hull(&points));
                self.hulls.extend(added);
            }
            12 if !self.hulls.is_empty() => {
                let hull = self.hulls[usize::from(bytes.byte()) % self.hulls.len()];
                self.both(|world| world.remove_hull(hull));
            }
            _ if self.bodies.is_empty() => {}
            13 => {
                let body = self.body(bytes);
                self.both(|world| world.remove_body(body));
            }
            14 => {
                let (body, vector) = (self.body(bytes), Vec2::new(bytes.number(), bytes.number()));
                self.both(|world| match operation / 16 % 4 {
                    0 => world.set_position(body, vector),
                    1 => world.set_velocity(body, vector),
                    2 => world.apply_force(body, vector),
                    _ => world.set_angle(body, vector.x).and(world.set_angular_velocity(body, vector.y)),
                });
            }
            _ => {
                let step = bytes.number().abs() / 60.0;
                self.both(|world| world.set_time_step(step));
            }
        }
    }

    fn body(&self, bytes: &mut Bytes) -> BodyHandle {
        self.bodies[usize::from(bytes.byte()) % self.bodies.len()]
    }

    /// A link, mostly of the length that its ends are apart.
    fn link(&self, bytes: &mut Bytes, operation: u8) -> LinkDesc {
        let (a, b) = (self.body(bytes), self.body(bytes));
        let position = |body| self.worlds[0].body(body).map_or(Vec2::ZERO, |state| state.position);
        let kind = [LinkKind::Distance, LinkKind::Distance, LinkKind::Min, LinkKind::Max]
            [usize::from(operation / 16 % 4)];
        let mut link = LinkDesc::new(kind, a, b, position(a).distance(position(b)));
        let flags = bytes.byte();
        if flags & 3 == 3 {
            link.length = bytes.number();
        }
        if flags & 4 != 0 {
            link.compliance = bytes.unit() * bytes.unit();
        }
        if flags & 8 != 0 {
            link.stiffness = bytes.unit();
        }
        if flags & 16 != 0 {
            link.break_force = bytes.number();
        }
        if flags & 96 == 96 {
            link.anchor_a = Vec2::new(bytes.number(), bytes.number());
        }
        if flags & 160 == 160 {
            link.anchor_b = Vec2::new(bytes.number(), bytes.number());
        }
        link
    }
}

/// A particle, one in four pinned.
fn particle(bytes: &mut Bytes) -> BodyDesc {
    let kind = bytes.byte();
    let position = Vec2::new(bytes.number(), bytes.number());
    let mut desc = BodyDesc::particle(position, if kind < 250 { 1.0 } else { bytes.number() });
    match kind % 8 {
        0 => desc.body_type = BodyType::Static,
        1 => desc.body_type = BodyType::Kinematic,
        _ => {}
    }
    if kind & 16 != 0 {
        desc.shape = Shape::particle(bytes.size());
    }
    if kind & 32 != 0 {
        desc.filter.group = u32::from(bytes.byte() % 4);
    }
    if kind & 64 != 0 {
        desc.velocity = Vec2::new(bytes.number(), bytes.number());
    }
    desc
}

/// What the builders make, small.
fn assembly(bytes: &mut Bytes) -> Assembly {
    let kind = bytes.byte();
    let at = Vec2::new(bytes.number(), bytes.number());
    let count = 1 + usize::from(bytes.byte() % 12);
    let size = bytes.size();
    match kind % 5 {
        0 => Assembly::rope(at, at + Vec2::new(count as f32 * size, 0.0), count, size),
        1 => Assembly::cloth(&Cloth {
            origin: at,
            columns: count,
            rows: 1 + usize::from(kind / 5 % 6),
            spacing: size,
            break_force: bytes.number().abs() * 100.0,
            ..Cloth::default()
        }),
        2 => Assembly::soft_box(at, Vec2::splat(1.0 + size), 0.1, size, bytes.unit()),
        3 => Assembly::polygon(at, size, count.max(3), size),
        _ => Assembly::ragdoll(at, size, size),
    }
}

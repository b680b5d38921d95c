//! What the fuzz targets do with their bytes. The targets call these functions, and so does
//! `tests/fuzz_corpus.rs`, which replays the corpus in every run of the tests.

mod links;

pub use links::links;

use granule::{
    BodyDesc, BodyHandle, BodyType, Filter, Lanes, Material, Mix, Mixing, Part, Polygon, Settings, Shape,
    Solver, Vec2, World,
};

/// Largest scene that is built: a longer one only costs time.
const MOST_SCENE_BODIES: usize = 2_000;

/// Bytes → scene file → world → ten steps. No input may panic, and whatever is accepted stays finite.
pub fn scene_file(data: &[u8]) {
    let Ok(mut scene) = granule::scene::Scene::from_json(data) else { return };
    if scene.bodies.len() > MOST_SCENE_BODIES {
        return;
    }
    // A step of 1,024 substeps is legal and slow: the same code in fewer.
    scene.settings.substeps = scene.settings.substeps.min(8);
    scene.settings.iterations = scene.settings.iterations.min(8);
    let mut world = scene.build().expect("a scene that was accepted");
    for _ in 0..10 {
        world.step();
    }
    assert_finite(&world);
    let quality = world.quality();
    assert!(!quality.max_penetration.is_nan() && !quality.kinetic_energy.is_nan(), "{quality:?}");
}

/// Most bodies, and most bytes' worth of operations, in a random world.
const MOST_BODIES: usize = 200;
const MOST_STEPS: usize = 40;

/// Bytes → a world and what a host does to it, at lanes 1 and 8: the same hash after every step.
pub fn worlds(data: &[u8]) {
    let mut bytes = Bytes(data);
    let settings = settings(&mut bytes);
    let mut scalar = World::new(Settings { lanes: Lanes::One, ..settings }).expect("settings in range");
    let mut wide = World::new(Settings { lanes: Lanes::Eight, ..settings }).expect("settings in range");
    let mut handles: Vec<BodyHandle> = Vec::new();
    let mut steps = 0;
    while !bytes.0.is_empty() && steps < MOST_STEPS {
        let operation = bytes.byte();
        if operation >= 192 {
            steps += 1;
            scalar.step();
            wide.step();
            check_step(&scalar, &wide);
            continue;
        }
        if operation < 96 {
            if handles.len() >= MOST_BODIES {
                continue;
            }
            let desc = body(&mut bytes);
            let (a, b) = (scalar.add_body(&desc), wide.add_body(&desc));
            assert_same(&a, &b);
            handles.extend(a.ok());
            continue;
        }
        if handles.is_empty() {
            continue;
        }
        // Handles stay in the list after their body is gone: stale ones must be refused by both.
        let handle = handles[usize::from(bytes.byte()) % handles.len()];
        let (x, y) = (bytes.number(), bytes.number());
        let vector = Vec2::new(x, y);
        // Read for a few operations only, so that the bytes of the others keep their meaning.
        let part = (operation >= 184).then(|| part(&mut bytes));
        let apply = |world: &mut World| match operation % 12 {
            _ if part.is_some() => world.add_part(handle, &part.expect("just asked")),
            0 if operation >= 172 => world.set_angle(handle, x),
            1 if operation >= 172 => world.apply_impulse_at(handle, vector, Vec2::new(y, x)),
            0 | 1 => world.remove_body(handle),
            2 => world.set_position(handle, vector),
            3 => world.set_velocity(handle, vector),
            4 => world.set_angular_velocity(handle, x),
            5 => world.apply_force(handle, vector),
            6 => world.apply_impulse(handle, vector),
            7 => world.apply_torque(handle, x).and(world.apply_angular_impulse(handle, y)),
            8 => world.set_filter(handle, Filter { category: x as u32, mask: y as u32, group: 0 }),
            9 => world.set_damping(handle, x, y).and(world.set_gravity_scale(handle, x)),
            10 => world.set_gravity(vector),
            _ => world.set_time_step(x.abs() / 60.0),
        };
        assert_same(&apply(&mut scalar), &apply(&mut wide));
        check_query(&scalar, &wide, vector);
    }
    scalar.step();
    wide.step();
    check_step(&scalar, &wide);
}

/// Holds that two answers are the same, by their texts: a refused NaN is not equal to itself.
fn assert_same<T: std::fmt::Debug>(a: &T, b: &T) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

fn check_step(scalar: &World, wide: &World) {
    if scalar.state_hash() != wide.state_hash() {
        match scalar.first_difference(wide) {
            Some(difference) => panic!("step {}: {difference}", scalar.step_count()),
            None => panic!("step {}: the hashes differ, and nothing else", scalar.step_count()),
        }
    }
    assert_eq!(scalar.begin_events().len(), wide.begin_events().len());
    assert_eq!(scalar.end_events().len(), wide.end_events().len());
    assert_finite(scalar);
}

fn check_query(scalar: &World, wide: &World, at: Vec2) {
    let visited = |world: &World| {
        let mut found = Vec::new();
        world.query_point(at, |body| {
            found.push(body);
            true
        });
        world.query_aabb(at - 1.0, at + 1.0, |body| {
            found.push(body);
            true
        });
        found
    };
    assert_eq!(visited(scalar), visited(wide));
}

fn assert_finite(world: &World) {
    let columns = world.columns();
    for column in [columns.pos_x, columns.pos_y, columns.angle, columns.vel_x, columns.vel_y, columns.omega] {
        assert!(column.iter().all(|value| value.is_finite()), "a column holds a value that is not finite");
    }
}

/// Reads the input from its front, and zeroes once it is used up.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A fraction in 0..1.
    fn unit(&mut self) -> f32 {
        f32::from(self.byte()) / 256.0
    }

    /// Mostly a moderate number on a grid that makes shapes touch and coincide, at times any bits at all.
    fn number(&mut self) -> f32 {
        match self.byte() {
            kind @ 0..=239 => (f32::from(kind) - 120.0) / 8.0 + self.unit() / 64.0,
            240..=243 => (f32::from(self.byte()) - 128.0) * 1_000.0,
            244..=247 => {
                [0.0, -0.0, 1e-30, f32::MIN_POSITIVE, 1e6, -1e6, 1e7, f32::MAX][usize::from(self.byte() % 8)]
            }
            _ => f32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
        }
    }

    fn size(&mut self) -> f32 {
        match self.byte() {
            kind @ 0..=249 => (1.0 + f32::from(kind % 16)) / 16.0,
            250..=252 => 50.0,
            253 => Shape::MIN_EXTENT,
            254 => Shape::MAX_EXTENT,
            _ => self.number(),
        }
    }
}

fn settings(bytes: &mut Bytes) -> Settings {
    let flags = bytes.byte();
    let base = if flags & 1 == 0 { Settings::default() } else { Settings::projection() };
    let rule = |byte: u8| Mix::NAMES[usize::from(byte) % Mix::NAMES.len()].1;
    let counts = bytes.byte();
    Settings {
        gravity: if flags & 2 == 0 { base.gravity } else { Vec2::ZERO },
        substeps: if flags & 4 == 0 { base.substeps } else { 1 + u32::from(counts % 5) },
        iterations: match base.solver {
            Solver::Soft => 1 + u32::from(counts / 128),
            Solver::Projection => 1 + u32::from(counts / 32),
        },
        mixing: Mixing { friction: rule(bytes.byte()), restitution: rule(bytes.byte()) },
        restitution_threshold: if flags & 8 == 0 { 1.0 } else { 0.0 },
        ..base
    }
}

fn body(bytes: &mut Bytes) -> BodyDesc {
    let kind = bytes.byte();
    let body_type = match kind % 8 {
        0 => BodyType::Static,
        1 => BodyType::Kinematic,
        _ => BodyType::Dynamic,
    };
    // One in eight turns, three where the most fields follow.
    let shape = match kind / 8 % 8 {
        0 | 1 => Shape::circle(bytes.size()),
        2 | 3 if kind < 128 => Shape::circle(bytes.size()),
        2..=4 => turning(bytes),
        5 | 6 => Shape::aabb(bytes.size(), bytes.size()),
        _ => Shape::half_space(Vec2::new(bytes.number(), bytes.number()), bytes.number()),
    };
    let fixed = matches!(shape, Shape::HalfSpace { .. } | Shape::ChainSegment { .. });
    let body_type = if fixed { BodyType::Static } else { body_type };
    let position = Vec2::new(bytes.number(), bytes.number());
    let mut desc = BodyDesc { body_type, ..BodyDesc::dynamic(shape, position) };
    if kind >= 64 && body_type != BodyType::Static {
        desc.velocity = Vec2::new(bytes.number(), bytes.number());
        desc.angular_velocity = bytes.number();
    }
    if kind >= 128 {
        let (static_friction, dynamic_friction) = (bytes.unit(), bytes.unit());
        desc.material = Material {
            density: bytes.size(),
            static_friction,
            dynamic_friction,
            restitution: bytes.unit(),
            ..Material::default()
        };
        if turns(&desc.shape) {
            (desc.angle, desc.fixed_rotation) = (bytes.number(), kind & 1 == 1);
            desc.material.rolling_resistance = bytes.unit();
            desc.material.tangent_speed = bytes.unit() - 0.5;
        }
    }
    if kind >= 192 {
        desc.filter = Filter { category: u32::from(bytes.byte()), mask: u32::from(bytes.byte()), group: 0 };
        desc.mass = Some(bytes.size());
        desc.linear_damping = bytes.unit();
    }
    desc
}

fn turns(shape: &Shape) -> bool {
    !matches!(
        shape,
        Shape::Circle { .. } | Shape::Aabb { .. } | Shape::HalfSpace { .. } | Shape::Particle { .. }
    )
}

/// A shape that turns. Of points that make no polygon a regular one is made, so that most inputs give a world.
fn turning(bytes: &mut Bytes) -> Shape {
    let kind = bytes.byte();
    match kind % 8 {
        0 | 1 => Shape::oriented_box(bytes.size(), bytes.size()),
        2 => Shape::capsule(bytes.size(), bytes.size()),
        3 => Shape::segment(bytes.size()),
        4 => {
            let mut neighbour = |given: bool| given.then(|| Vec2::new(bytes.number(), bytes.number()));
            let (before, after) = (neighbour(kind & 64 != 0), neighbour(kind & 128 != 0));
            Shape::ChainSegment { half_length: bytes.size(), before, after }
        }
        _ => {
            let count = 3 + usize::from(kind / 8 % 7);
            let radius = if kind & 128 == 0 { 0.0 } else { bytes.unit() };
            let vertex = |_| Vec2::new(bytes.number(), bytes.number());
            let vertices: Vec<Vec2> = (0..count).map(vertex).collect();
            Polygon::rounded(&vertices, radius)
                .or_else(|_| {
                    Polygon::regular(count.min(8), 0.25 + radius).map(|polygon| (polygon, Vec2::ZERO))
                })
                .map_or(Shape::oriented_box(0.5, 0.5), |(polygon, _)| Shape::Polygon(polygon))
        }
    }
}

fn part(bytes: &mut Bytes) -> Part {
    let kind = bytes.byte();
    let shape = if kind.is_multiple_of(4) { Shape::circle(bytes.size()) } else { turning(bytes) };
    let mut part = Part::new(shape, Vec2::new(bytes.number(), bytes.number()));
    if kind >= 128 {
        part.angle = bytes.number();
        part.material = Material { density: bytes.size(), static_friction: bytes.unit(), ..part.material };
    }
    if kind >= 192 {
        part.filter = Filter { category: u32::from(bytes.byte()), mask: u32::from(bytes.byte()), group: 0 };
    }
    part
}

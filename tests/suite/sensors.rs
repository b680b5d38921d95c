//! Contract: a sensor tells of each body that overlaps it, by geometry alone, when it comes and when it goes, whatever the bodies are, do and
//! suffer; and it makes no difference to any of them.

use super::common::{steps, world};
use granule::{
    Assembly, BodyDesc, BodyHandle, BodyType, Filter, Isa, JointDesc, Material, Part, Polygon, QueryFilter,
    SensorEvent, Settings, Shape, Vec2, World,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use std::collections::BTreeSet;

fn config(cases: u32) -> ProptestConfig {
    let failures = FileFailurePersistence::Direct("tests/regressions/sensors.txt");
    ProptestConfig { cases, failure_persistence: Some(Box::new(failures)), ..ProptestConfig::default() }
}

/// A convex shape at its place: its corners, and how far its surface is outside of them. A half-space: a point and a normal.
enum Placed {
    Hull(Vec<[f64; 2]>, f64),
    Plane([f64; 2], f64),
}

fn placed(part: &Part, body: BodyHandle, world: &World) -> Placed {
    let state = world.body(body).unwrap();
    let turns = !matches!(part.shape, Shape::Aabb { .. });
    let (sin, cos) = if turns { f64::from(state.angle).sin_cos() } else { (0.0, 1.0) };
    let (part_sin, part_cos) = f64::from(part.angle).sin_cos();
    let at = |x: f32, y: f32| {
        let (x, y) = (f64::from(x), f64::from(y));
        let (x, y) = (part_cos * x - part_sin * y, part_sin * x + part_cos * y);
        let (x, y) = (x + f64::from(part.position.x), y + f64::from(part.position.y));
        [f64::from(state.position.x) + cos * x - sin * y, f64::from(state.position.y) + sin * x + cos * y]
    };
    match &part.shape {
        Shape::Circle { radius } | Shape::Particle { radius } => {
            Placed::Hull(vec![at(0.0, 0.0)], f64::from(*radius))
        }
        Shape::Aabb { half_extents: half } | Shape::Box { half_extents: half } => {
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            Placed::Hull(corners.map(|(x, y)| at(x * half.x, y * half.y)).to_vec(), 0.0)
        }
        Shape::Capsule { half_length, radius } => {
            Placed::Hull(vec![at(-half_length, 0.0), at(*half_length, 0.0)], f64::from(*radius))
        }
        Shape::Segment { half_length } | Shape::ChainSegment { half_length, .. } => {
            Placed::Hull(vec![at(-half_length, 0.0), at(*half_length, 0.0)], 0.0)
        }
        Shape::HalfSpace { normal, offset } => {
            let length = f64::from(normal.length());
            let normal = [f64::from(normal.x) / length, f64::from(normal.y) / length];
            let along = normal[0] * f64::from(state.position.x) + normal[1] * f64::from(state.position.y);
            Placed::Plane(normal, f64::from(*offset) / length + along)
        }
        Shape::Polygon(polygon) => {
            let corners = polygon.vertices().iter().map(|corner| at(corner.x, corner.y));
            Placed::Hull(corners.collect(), f64::from(polygon.radius()))
        }
    }
}

/// The distance of a point from a segment.
fn from_segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (way, to) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length = way[0] * way[0] + way[1] * way[1];
    let t = if length > 0.0 { ((to[0] * way[0] + to[1] * way[1]) / length).clamp(0.0, 1.0) } else { 0.0 };
    (to[0] - t * way[0]).hypot(to[1] - t * way[1])
}

fn cross(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

fn holds(hull: &[[f64; 2]], p: [f64; 2]) -> bool {
    hull.len() > 2 && (0..hull.len()).all(|i| cross(hull[i], hull[(i + 1) % hull.len()], p) >= 0.0)
}

/// How far two shapes are apart: by all corners and edges. 0 or less if they overlap.
fn apart(a: &Placed, b: &Placed) -> f64 {
    match (a, b) {
        (Placed::Plane(..), Placed::Plane(..)) => f64::INFINITY,
        (Placed::Plane(normal, offset), Placed::Hull(corners, radius))
        | (Placed::Hull(corners, radius), Placed::Plane(normal, offset)) => {
            let height = |corner: &[f64; 2]| normal[0] * corner[0] + normal[1] * corner[1] - offset;
            corners.iter().map(height).fold(f64::INFINITY, f64::min) - radius
        }
        (Placed::Hull(a, r), Placed::Hull(b, s)) => {
            let edges = |hull: &[[f64; 2]]| {
                (0..hull.len()).map(|i| [hull[i], hull[(i + 1) % hull.len()]]).collect::<Vec<_>>()
            };
            let mut least = f64::INFINITY;
            for [p, q] in edges(a) {
                for [v, w] in edges(b) {
                    let crossed =
                        cross(p, q, v) * cross(p, q, w) < 0.0 && cross(v, w, p) * cross(v, w, q) < 0.0;
                    let near = [
                        from_segment(p, v, w),
                        from_segment(q, v, w),
                        from_segment(v, p, q),
                        from_segment(w, p, q),
                    ];
                    least =
                        least.min(if crossed { 0.0 } else { near.into_iter().fold(f64::INFINITY, f64::min) });
                }
            }
            let inside = holds(a, b[0]) || holds(b, a[0]);
            (if inside { 0.0 } else { least }) - r - s
        }
    }
}

fn touches(a: &Filter, b: &Filter) -> bool {
    a.category & b.mask != 0 && b.category & a.mask != 0 && (a.group == 0 || a.group != b.group)
}

/// What overlaps surely, and what perhaps: by a search through all pairs of shapes.
fn overlaps(world: &World) -> [BTreeSet<SensorEvent>; 2] {
    let bad: Vec<BodyHandle> = world.quarantined().iter().map(|entry| entry.body).collect();
    let bodies: Vec<BodyHandle> = world.handles().filter(|body| !bad.contains(body)).collect();
    let mut found = [BTreeSet::new(), BTreeSet::new()];
    for &sensor in &bodies {
        for (part, of_sensor) in
            world.parts(sensor).unwrap().iter().enumerate().filter(|(_, part)| part.sensor)
        {
            let place = placed(of_sensor, sensor, world);
            for &visitor in bodies.iter().filter(|&&visitor| visitor != sensor) {
                for other in world.parts(visitor).unwrap().iter().filter(|other| !other.sensor) {
                    let apart = apart(&place, &placed(other, visitor, world));
                    let event = SensorEvent { sensor, part: part as u8, visitor };
                    if touches(&of_sensor.filter, &other.filter) {
                        let band = 1e-4;
                        if apart < -band {
                            found[0].insert(event);
                        }
                        if apart < band {
                            found[1].insert(event);
                        }
                    }
                }
            }
        }
    }
    found
}

/// Follows the events, and compares them and the overlaps with those of the search.
fn follow(world: &World, inside: &mut BTreeSet<SensorEvent>) -> Result<(), String> {
    for event in world.sensor_end_events() {
        if !inside.remove(event) {
            return Err(format!("{event:?} ends, and never began"));
        }
    }
    for event in world.sensor_begin_events() {
        if !inside.insert(*event) {
            return Err(format!("{event:?} begins twice"));
        }
    }
    for events in [world.sensor_begin_events(), world.sensor_end_events()] {
        if !events.windows(2).all(|two| two[0] < two[1]) {
            return Err(format!("{events:?} are not in order"));
        }
    }
    let told: BTreeSet<SensorEvent> =
        world.handles().flat_map(|body| world.overlaps_of(body).unwrap().to_vec()).collect();
    let [surely, perhaps] = overlaps(world);
    if told != *inside {
        return Err(format!("{told:?} overlap, by the events {inside:?}"));
    }
    if let Some(missing) = surely.difference(&told).next() {
        return Err(format!("{missing:?} is not told"));
    }
    match told.difference(&perhaps).next() {
        Some(wrong) => Err(format!("{wrong:?} is told, and does not overlap")),
        None => Ok(()),
    }
}

/// The number of shapes.
const KINDS: usize = 9;

fn shape(kind: usize) -> Shape {
    let wedge = [Vec2::new(-0.6, -0.3), Vec2::new(0.9, -0.2), Vec2::new(0.1, 0.7), Vec2::new(-0.5, 0.4)];
    match kind % KINDS {
        0 => Shape::circle(0.5),
        1 => Shape::aabb(0.6, 0.3),
        2 => Shape::oriented_box(0.7, 0.2),
        3 => Shape::capsule(0.5, 0.2),
        4 => Shape::oriented_box(3.0, 1.0),
        5 => Shape::segment(0.8),
        6 => Shape::Polygon(Polygon::regular(5, 0.7).unwrap()),
        7 => Shape::Polygon(Polygon::rounded(&wedge, 0.2).unwrap().0),
        _ => Shape::polygon(&wedge[..3]).unwrap(),
    }
}

#[derive(Clone, Debug)]
enum Edit {
    Nothing,
    Add(usize, Vec2, f32, bool, u8),
    Part(prop::sample::Index, usize, Vec2, bool),
    Remove(prop::sample::Index),
    Move(prop::sample::Index, Vec2),
    Push(prop::sample::Index, Vec2),
    Sensor(prop::sample::Index, bool),
    Ignore(prop::sample::Index, bool),
    Sleep(prop::sample::Index),
    Ruin(prop::sample::Index),
}

fn place() -> impl Strategy<Value = Vec2> {
    (-4.0f32..4.0, 0.0f32..5.0).prop_map(Vec2::from)
}

fn edit() -> impl Strategy<Value = Edit> {
    let which = any::<prop::sample::Index>;
    prop_oneof![
        8 => Just(Edit::Nothing),
        4 => (0..KINDS, place(), -3.0f32..3.0, any::<bool>(), 0u8..4)
            .prop_map(|(shape, at, angle, sensor, kind)| Edit::Add(shape, at, angle, sensor, kind)),
        2 => (which(), 0..KINDS, place(), any::<bool>()).prop_map(|(which, shape, at, sensor)| Edit::Part(which, shape, 0.3 * at, sensor)),
        2 => which().prop_map(Edit::Remove),
        2 => (which(), place()).prop_map(|(which, at)| Edit::Move(which, at)),
        2 => (which(), place()).prop_map(|(which, at)| Edit::Push(which, 2.0 * at - Vec2::new(0.0, 4.0))),
        2 => (which(), any::<bool>()).prop_map(|(which, sensor)| Edit::Sensor(which, sensor)),
        1 => (which(), any::<bool>()).prop_map(|(which, ignore)| Edit::Ignore(which, ignore)),
        2 => which().prop_map(Edit::Sleep),
        1 => which().prop_map(Edit::Ruin),
    ]
}

fn apply(world: &mut World, bodies: &mut Vec<BodyHandle>, edit: &Edit) {
    if let Edit::Add(kind, at, angle, sensor, body_type) = *edit {
        let desc = BodyDesc { angle, sensor, ..BodyDesc::dynamic(shape(kind), at) };
        let desc = match body_type {
            0 => BodyDesc { body_type: BodyType::Static, ..desc },
            1 => BodyDesc { body_type: BodyType::Kinematic, velocity: Vec2::new(0.5, 0.0), ..desc },
            _ => desc,
        };
        bodies.push(world.add_body(&desc).unwrap());
        return;
    }
    if bodies.is_empty() {
        return;
    }
    let body = |which: &prop::sample::Index| bodies[which.index(bodies.len())];
    // The calls are refused if the body has gone bad or cannot have parts.
    match edit {
        Edit::Nothing | Edit::Add(..) => {}
        Edit::Part(which, kind, at, sensor) => {
            let _ = world.add_part(body(which), &Part { sensor: *sensor, ..Part::new(shape(*kind), *at) });
        }
        Edit::Remove(which) => {
            world.remove_body(body(which)).unwrap();
            bodies.swap_remove(which.index(bodies.len()));
        }
        Edit::Move(which, at) => drop(world.set_position(body(which), *at)),
        Edit::Push(which, velocity) => drop(world.set_velocity(body(which), *velocity)),
        Edit::Sensor(which, sensor) => {
            world.set_sensor(body(which), *sensor).unwrap();
            assert_eq!(world.is_sensor(body(which)), Ok(*sensor));
        }
        Edit::Ignore(which, ignore) => {
            let filter = Filter { mask: if *ignore { 0 } else { u32::MAX }, ..Filter::default() };
            world.set_filter(body(which), filter).unwrap();
            assert_eq!(world.filter(body(which)), Ok(filter));
        }
        Edit::Sleep(which) => drop(world.sleep_body(body(which))),
        Edit::Ruin(which) => {
            for _ in 0..30 {
                let _ = world.apply_force(body(which), Vec2::splat(1.0e30));
            }
        }
    }
}

proptest! {
    #![proptest_config(config(96))]

    /// Random worlds under random edits, on two instruction sets.
    #[test]
    fn sensors_tell_what_a_search_finds(edits in prop::collection::vec(edit(), 4..50)) {
        let mut worlds = [Isa::Scalar, Isa::Auto].map(|isa| {
            let mut world = world(Settings { isa, ..Settings::default() });
            world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
            let air = BodyDesc::fixed(Shape::half_space(-Vec2::Y, -3.0), Vec2::ZERO);
            world.add_body(&BodyDesc { sensor: true, ..air }).unwrap();
            let rope = Assembly::rope(Vec2::new(-3.0, 4.0), Vec2::new(-3.0, 2.0), 5, 0.1);
            world.add_assembly(&rope).unwrap();
            // Hills on which bodies lie, and a chain of sensors across them.
            let hills = [-5.0f32, -3.5, -1.5, 0.5, 2.0, 5.0].map(|x| Vec2::new(x, 0.6 + 0.4 * (2.0 * x).sin()));
            let hills = Assembly::chain(&hills, false, Material::default()).unwrap();
            let wire = [Vec2::new(-4.0, 1.0), Vec2::new(-1.0, 2.5), Vec2::new(1.0, 1.0), Vec2::new(4.0, 1.5)];
            let mut wire = Assembly::chain(&wire, false, Material::default()).unwrap();
            wire.bodies.iter_mut().for_each(|segment| segment.sensor = true);
            for chain in [hills, wire] {
                world.add_assembly(&chain).unwrap();
            }
            (world, Vec::new(), BTreeSet::new())
        });
        for (number, edit) in edits.iter().enumerate() {
            for (world, bodies, inside) in &mut worlds {
                apply(world, bodies, edit);
                world.validate().map_err(TestCaseError::fail)?;
                world.step();
                world.validate().map_err(TestCaseError::fail)?;
                let outcome = follow(world, inside);
                prop_assert!(outcome.is_ok(), "step {}, after {:?}: {}", number, edit, outcome.unwrap_err());
            }
            let [(one, ..), (two, ..)] = &worlds;
            prop_assert_eq!(one.sensor_begin_events(), two.sensor_begin_events());
            prop_assert_eq!(one.sensor_end_events(), two.sensor_end_events());
            prop_assert_eq!(one.state_hash(), two.state_hash());
        }
    }
}

/// Sensors of all kinds change nothing: bodies that fall, bounce and come to rest in them go the way, bit for bit, that they go without.
#[test]
fn sensors_make_no_difference() {
    let make = |sensors: bool| {
        let mut world = world(Settings { sleep: false, ..Settings::default() });
        world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
        let material = Material { restitution: 0.5, ..Material::default() };
        for i in 0..40 {
            // What turns is solved a little differently, in the last digit, in a step with a new pair list.
            let (place, kind) = (Vec2::new(3.0 * i as f32, 1.0 + 0.1 * i as f32), i % 2);
            world.add_body(&BodyDesc { material, ..BodyDesc::dynamic(shape(kind), place) }).unwrap();
        }
        if sensors {
            let sensor = |desc: BodyDesc| BodyDesc { sensor: true, ..desc };
            let zone = BodyDesc::fixed(Shape::aabb(40.0, 3.0), Vec2::new(50.0, 3.0));
            let mover = BodyDesc::kinematic(Shape::circle(2.0), Vec2::new(-6.0, 2.0));
            let mover = BodyDesc { velocity: Vec2::new(9.0, 0.0), ..mover };
            let ghost = BodyDesc::dynamic(Shape::oriented_box(1.0, 1.0), Vec2::new(20.0, 30.0));
            for desc in [zone, mover, ghost] {
                world.add_body(&sensor(desc)).unwrap();
            }
        }
        world
    };
    let (mut plain, mut sensed) = (make(false), make(true));
    let mut seen = 0;
    for step in 0..400 {
        plain.step();
        sensed.step();
        for body in plain.handles() {
            assert_eq!(plain.body(body), sensed.body(body), "step {step}");
        }
        assert_eq!(plain.contact_count(), sensed.contact_count());
        seen += sensed.sensor_begin_events().len();
    }
    let quality = [&plain, &sensed].map(World::quality);
    assert_eq!(quality[0].max_penetration, quality[1].max_penetration);
    assert!(seen >= 40, "{seen}");
}

/// What sleeps in a sensor stays in it, and does not wake when a sensor moves through it, appears, or goes.
#[test]
fn sleepers_stay_in_a_sensor_and_sleep() {
    let mut world = world(Settings::default());
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let crate_ = BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5));
    let crate_ = world.add_body(&crate_).unwrap();
    let zone = BodyDesc::fixed(Shape::circle(1.0), Vec2::ZERO);
    let zone = world.add_body(&BodyDesc { sensor: true, ..zone }).unwrap();
    steps(&mut world, 120);
    assert_eq!(world.is_awake(crate_), Ok(false));
    let mover = BodyDesc {
        velocity: Vec2::new(2.0, 0.0),
        ..BodyDesc::kinematic(Shape::circle(0.5), Vec2::new(-3.0, 0.5))
    };
    let mover = world.add_body(&BodyDesc { sensor: true, ..mover }).unwrap();
    let (mut came, mut went) = (Vec::new(), Vec::new());
    for _ in 0..180 {
        world.step();
        came.extend_from_slice(world.sensor_begin_events());
        went.extend_from_slice(world.sensor_end_events());
        assert_eq!(world.is_awake(crate_), Ok(false));
        let inside: Vec<_> = world.overlaps_of(zone).unwrap().iter().map(|overlap| overlap.visitor).collect();
        assert!(inside.contains(&crate_));
    }
    let crossing = |event: &&SensorEvent| event.sensor == mover && event.visitor == crate_;
    assert_eq!([came.iter().filter(crossing).count(), went.iter().filter(crossing).count()], [1, 1]);
    world.remove_body(zone).unwrap();
    world.step();
    assert!(world.sensor_end_events().iter().any(|event| event.sensor == zone && event.visitor == crate_));
    assert!(world.overlaps_of(zone).is_err());
    assert_eq!(world.is_awake(crate_), Ok(false));
    world.step();
    assert!(world.sensor_end_events().is_empty());
}

/// A sensor part reports by its own number, has its mass, and leaves the other parts of its body as they are.
#[test]
fn a_part_can_be_a_sensor() {
    let mut world = world(Settings::default());
    let floor =
        world.add_body(&BodyDesc::fixed(Shape::oriented_box(10.0, 1.0), Vec2::new(0.0, -1.0))).unwrap();
    let body =
        BodyDesc { fixed_rotation: true, ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 1.0)) };
    let body = world.add_body(&body).unwrap();
    let mass = world.mass(body).unwrap();
    let foot = Part { sensor: true, ..Part::new(Shape::oriented_box(0.3, 0.1), Vec2::new(0.0, -0.6)) };
    world.add_part(body, &foot).unwrap();
    assert!((world.mass(body).unwrap() - mass - 0.12).abs() < 1e-5);
    assert!(!world.is_sensor(body).unwrap() && world.parts(body).unwrap()[1].sensor);
    steps(&mut world, 60);
    let lowest = world.body(body).unwrap().position.y + world.parts(body).unwrap()[0].position.y;
    assert!((lowest - 0.5).abs() < 0.02, "it stands on its circle: {lowest}");
    assert_eq!(world.overlaps_of(body).unwrap(), &[SensorEvent { sensor: body, part: 1, visitor: floor }]);
    assert!(world.contacts().all(|contact| contact.part_a == 0 && contact.part_b == 0));
    // All parts become sensors, and it falls.
    world.set_sensor(body, true).unwrap();
    steps(&mut world, 30);
    assert!(world.body(body).unwrap().position.y < 0.2);
    world.set_sensor(body, false).unwrap();
    assert!(world.parts(body).unwrap().iter().all(|part| !part.sensor && part.filter == Filter::default()));
}

/// Fast bodies and bullets pass through sensors; joined bodies are seen; a particle is refused.
#[test]
fn sensors_stop_nothing() {
    let mut world = world(Settings { gravity: Vec2::ZERO, ..Settings::default() });
    let wall = BodyDesc::fixed(Shape::oriented_box(0.05, 5.0), Vec2::ZERO);
    let wall = world.add_body(&BodyDesc { sensor: true, ..wall }).unwrap();
    let bullet = BodyDesc {
        velocity: Vec2::new(300.0, 0.0),
        bullet: true,
        ..BodyDesc::dynamic(Shape::circle(0.1), Vec2::new(-7.0, 0.0))
    };
    let bullet = world.add_body(&bullet).unwrap();
    steps(&mut world, 10);
    assert!((world.body(bullet).unwrap().position.x - 43.0).abs() < 1e-3);
    let post = world.add_body(&BodyDesc::fixed(Shape::circle(0.2), Vec2::new(0.0, 1.0))).unwrap();
    let joint = JointDesc::revolute(post, wall, Vec2::ZERO, Vec2::new(0.0, 1.0));
    assert!(world.add_joint(&joint).is_err() || world.joint_count() == 1);
    world.step();
    assert_eq!(world.overlaps_of(wall).unwrap().len(), 1);
    let particle = BodyDesc { sensor: true, ..BodyDesc::particle(Vec2::ZERO, 1.0) };
    assert_eq!(world.add_body(&particle).unwrap_err().to_string(), "sensor: a particle cannot be one");
    let particle = world.add_body(&BodyDesc::particle(Vec2::ZERO, 1.0)).unwrap();
    assert!(world.set_sensor(particle, true).is_err());
    world.step();
    assert_eq!(world.overlaps_of(wall).unwrap().len(), 2);
}

/// Contract: queries see a sensor, alone or as a part, by the filter that the host gave it, as they see any other shape.
#[test]
fn queries_see_sensors_by_their_own_filter() {
    let mut world = world(Settings::default());
    let filter = Filter { category: 2, mask: 4, group: 0 };
    let one = BodyDesc { sensor: true, filter, ..BodyDesc::fixed(Shape::circle(1.0), Vec2::ZERO) };
    let one = world.add_body(&one).unwrap();
    let post = world.add_body(&BodyDesc::fixed(Shape::circle(0.1), Vec2::new(5.0, 0.0))).unwrap();
    let part = Part { sensor: true, filter, ..Part::new(Shape::circle(1.0), Vec2::ZERO) };
    world.add_part(post, &part).unwrap();
    let all = u32::MAX;
    for (mask, category, seen) in
        [(all, all, true), (2, all, true), (all, 4, true), (2, 4, true), (!2, all, false), (all, 2, false)]
    {
        let query = QueryFilter { mask, category, ..QueryFilter::default() };
        for (body, number) in [(one, 0), (post, 1)] {
            let at = world.body(body).unwrap().position + Vec2::new(0.0, 0.5);
            let mut found = false;
            world
                .overlap_point(at, &query, |at| {
                    found |= (at.body, at.part) == (body, number);
                    true
                })
                .unwrap();
            assert_eq!(found, seen, "mask {mask:x}, category {category:x}, {body:?}");
        }
    }
}

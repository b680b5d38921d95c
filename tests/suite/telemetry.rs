//! Contract: telemetry counts what the world has; residuals are those of the velocities; drawing hands out each thing once.

use super::common::{steps, world};
use granule::{
    BodyDesc, BodyHandle, Contact, DebugDraw, DrawShape, DrawWhat, LinkKind, PlacedJoint, PlacedLink,
    Residual, Role, Settings, Shape, ShapeKind, Vec2, World, scene,
};
use std::collections::BTreeMap;

/// The counts are those of the functions that count one thing each, and of a search.
#[test]
fn counts_are_those_of_a_search() {
    for name in ["pile", "junkyard", "ragdolls", "cars", "soft_boxes"] {
        let mut world = scene::builtin(name, 600, 1).unwrap().build().unwrap();
        for step in 0..200 {
            world.step();
            let figures = world.telemetry();
            assert_eq!(figures.steps, world.step_count());
            assert_eq!(figures.timings, world.timings());
            assert_eq!((figures.pairs, figures.list_age), (world.pair_count(), world.list_age()));
            assert_eq!(
                figures.contacts + figures.hull_contacts,
                world.contact_count(),
                "{name}, step {step}"
            );
            assert_eq!((figures.awake, figures.asleep), (world.awake_count(), world.asleep_count()));
            assert_eq!(figures.links, world.link_count());
            assert_eq!(figures.tiles, world.tile_starts().count());
            assert!(figures.touching <= figures.contacts && figures.serial_contacts <= figures.contacts);
            let fill = figures.contacts as f32 / (16 * figures.blocks.max(1)) as f32;
            assert_eq!(figures.lane_fill, fill);
            let colours = world.coloured_contacts().filter_map(|(colour, _)| colour).max();
            assert!(usize::from(colours.unwrap_or(0)) < figures.colours.max(1), "{colours:?}, {figures:?}");
            if step % 50 == 0 {
                assert!(figures.sleeping_islands <= world.island_count());
            }
        }
    }
}

/// A body at rest has no residual, its depth is that of its contact, and its energy is m·g·h; one that falls has ½·m·v² as well.
#[test]
fn residuals_follow_from_the_state() {
    let mut world = world(Settings { sleep: false, ..Settings::default() });
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let body =
        BodyDesc { mass: Some(2.0), ..BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5)) };
    let body = world.add_body(&body).unwrap();
    steps(&mut world, 120);
    let residual = world.residual();
    assert_eq!(residual.points, 2);
    assert!(residual.max_approach < 1e-4 && residual.mean_approach <= residual.max_approach, "{residual:?}");
    let deepest = world.contacts().map(|contact| -contact.separation).fold(0.0, f32::max);
    assert_eq!(residual.max_penetration, f64::from(deepest));
    let height = world.body(body).unwrap().position.y;
    assert!((residual.potential_energy - f64::from(20.0 * height)).abs() < 1e-4, "{residual:?}");
    assert!(residual.kinetic_energy < 1e-6);
    world.set_position(body, Vec2::new(0.0, 10.0)).unwrap();
    world.set_velocity(body, Vec2::new(3.0, 0.0)).unwrap();
    let residual = world.residual();
    assert!((residual.kinetic_energy - 9.0).abs() < 1e-4 && (residual.potential_energy - 200.0).abs() < 1e-3);
}

/// A world that was restored has the residual of the one that it comes from, whether it had more bodies before or fewer; speeds by rounding, as
/// spins are kept in another form. (It panicked: there were no velocities for the contacts.)
#[test]
fn residuals_outlast_a_restore() {
    let same = |a: Residual, b: Residual, name: &str| {
        assert!((a.mean_approach - b.mean_approach).abs() < 1e-6, "{name}: {a:?}, {b:?}");
        assert!((a.max_approach - b.max_approach).abs() < 1e-5, "{name}: {a:?}, {b:?}");
        let (mean_approach, max_approach) = (b.mean_approach, b.max_approach);
        assert_eq!(Residual { mean_approach, max_approach, ..a }, b, "{name}");
    };
    for name in ["pile", "junkyard", "ragdolls", "cars", "soft_boxes", "grains"] {
        let mut world = scene::builtin(name, 300, 1).unwrap().build().unwrap();
        let mut other = scene::builtin("pile", 20, 1).unwrap().build().unwrap();
        let mut snapshot = Vec::new();
        for _ in 0..4 {
            steps(&mut world, 20);
            let residual = world.residual();
            same(world.clone().residual(), residual, name);
            world.save(&mut snapshot);
            other.restore(&snapshot).unwrap();
            same(other.residual(), residual, name);
            steps(&mut other, 1);
            other.residual();
        }
        let few = scene::builtin("pile", 20, 1).unwrap().build().unwrap();
        few.save(&mut snapshot);
        world.restore(&snapshot).unwrap();
        same(world.residual(), few.residual(), name);
    }
}

/// Counts and keeps what is drawn.
#[derive(Default)]
struct Drawn {
    shapes: Vec<DrawShape>,
    contacts: Vec<(Contact, Option<u8>)>,
    joints: Vec<PlacedJoint>,
    links: Vec<PlacedLink>,
    bounds: BTreeMap<BodyHandle, [Vec2; 2]>,
    bands: Vec<(usize, [Vec2; 2])>,
}

impl DebugDraw for Drawn {
    fn shape(&mut self, shape: &DrawShape) {
        self.shapes.push(*shape);
    }
    fn contact(&mut self, contact: &Contact, colour: Option<u8>) {
        self.contacts.push((*contact, colour));
    }
    fn joint(&mut self, joint: &PlacedJoint, _: Option<u8>) {
        self.joints.push(*joint);
    }
    fn link(&mut self, link: &PlacedLink) {
        self.links.push(*link);
    }
    fn bounds(&mut self, body: BodyHandle, lower: Vec2, upper: Vec2) {
        assert!(self.bounds.insert(body, [lower, upper]).is_none());
    }
    fn band(&mut self, tile: usize, lower: Vec2, upper: Vec2) {
        self.bands.push((tile, [lower, upper]));
    }
}

fn drawn(world: &World, what: DrawWhat) -> Drawn {
    let mut drawn = Drawn::default();
    world.draw(&mut drawn, what);
    drawn
}

/// Each shape, contact, joint, link and body is handed out once; nothing that was not asked for is.
#[test]
fn each_thing_is_drawn_once() {
    for name in ["junkyard", "ragdolls", "cars", "soft_boxes", "pile"] {
        let mut world = scene::builtin(name, 300, 1).unwrap().build().unwrap();
        let zone = BodyDesc::fixed(Shape::circle(1.0), Vec2::ZERO);
        let zone = world.add_body(&BodyDesc { sensor: true, ..zone }).unwrap();
        steps(&mut world, 90);
        let all = drawn(&world, DrawWhat::ALL);
        let parts: usize = world.handles().map(|body| world.parts(body).unwrap().len()).sum();
        assert_eq!(all.shapes.len(), parts, "{name}");
        let islands = world.islands();
        let mut numbers = Vec::new();
        for shape in &all.shapes {
            assert_eq!(Ok(shape.awake), world.is_awake(shape.body));
            assert_eq!(shape.sensor, shape.body == zone);
            let parts = world.parts(shape.body).unwrap();
            assert_eq!(shape.placed.shape, parts[usize::from(shape.part)].shape);
            assert_eq!(usize::from(shape.parts), parts.len());
            assert!((shape.kind == ShapeKind::Compound) || shape.kind == parts[0].shape.kind());
            assert_eq!(shape.velocity, world.body(shape.body).unwrap().velocity);
            numbers.extend(shape.island);
            assert!(shape.island.is_none() || shape.role == Role::Dynamic);
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mut expected: Vec<u32> = islands.into_iter().flatten().collect();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(numbers, expected, "{name}");
        assert!(all.contacts.iter().map(|(contact, _)| *contact).eq(world.contacts()), "{name}");
        assert_eq!(all.joints.len(), world.coloured_joints().count());
        assert_eq!(all.links.len(), world.link_count());
        for PlacedLink { link, kind, ends: [a, b] } in &all.links {
            let link = world.link(*link).unwrap();
            assert_eq!(*kind, link.kind);
            let holds = link.kind == LinkKind::Distance;
            let off = (a.distance(*b) - link.length).abs();
            assert!(!holds || off < 0.2 * link.length + 0.2, "{name}: {link:?}");
        }
        assert!(all.bounds.len() <= world.handles().count());
        for (&body, &[lower, upper]) in &all.bounds {
            let middle = 0.5 * (lower + upper);
            assert!((middle - world.body(body).unwrap().position).length() < 1e-3);
        }
        assert!(!all.bands.is_empty() && all.bands.is_sorted_by_key(|(tile, _)| *tile));
        let nothing = drawn(&world, DrawWhat::NOTHING);
        assert!(nothing.shapes.is_empty() && nothing.contacts.is_empty() && nothing.joints.is_empty());
        assert!(nothing.links.is_empty() && nothing.bounds.is_empty() && nothing.bands.is_empty());
        let usual = drawn(&world, DrawWhat::default());
        assert!(usual.bands.is_empty() && usual.shapes.iter().all(|shape| shape.island.is_none()));
    }
}

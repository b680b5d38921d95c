//! Contract: the contact points of shapes that move are those of half a step later, as the oracle of shapes at rest there has them.

use super::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

/// A body's velocity, m/s, and spin, rad/s.
type Motion = (Vec2, f32);

/// Motions that take a body up to 3 mm in half a step of [`settings`], and often much less.
fn motion() -> impl Strategy<Value = Motion> {
    (
        between(-40.0, 40.0),
        between(-40.0, 40.0),
        between(-60.0, 60.0),
        prop::sample::select(vec![1.0f32, 0.1]),
    )
        .prop_map(|(x, y, spin, part)| (part * Vec2::new(x, y), part * spin))
}

/// The force that presses two bodies together, N.
const PRESS: f64 = 10.0;

/// What a lead is reckoned from: `[vx, vy, ω]`, the length in which the solver measures the spin, centre, angle and thickness.
struct Leading {
    shape: Shape,
    velocity: DVec2,
    spin: f64,
    spin_length: f64,
    centre: DVec2,
    angle: f64,
    thickness: f64,
}

impl Leading {
    fn new(world: &World, body: BodyHandle) -> Leading {
        let (now, shape) = (world.body(body).unwrap(), world.shape(body).unwrap());
        let (mass, inertia) = (f64::from(world.mass(body).unwrap()), f64::from(world.inertia(body).unwrap()));
        let spin_length = if mass.is_finite() { (2.0 * inertia / mass).sqrt() } else { 1.0 };
        let (centre, angle) = (dvec(now.position), f64::from(now.angle));
        let thickness = match Form::new(&shape, DVec2::ZERO, 0.0) {
            Form::Plane { .. } => f64::INFINITY,
            // Particles do not lead.
            Form::Hull(_) if shape.kind() == ShapeKind::Particle => 0.0,
            Form::Hull(hull) => {
                let inner = hull.edges().iter().map(|edge| edge.normal.dot(edge.a)).fold(f64::MAX, f64::min);
                hull.radius + if inner == f64::MAX { 0.0 } else { inner.max(0.0) }
            }
        };
        Leading {
            shape,
            velocity: dvec(now.velocity),
            spin: f64::from(now.angular_velocity),
            spin_length,
            centre,
            angle,
            thickness,
        }
    }

    /// The shape after it has moved by `way` and turned.
    fn led(&self, way: DVec2, turned: f64) -> Form {
        Form::new(&self.shape, self.centre + way, self.angle + 2.0 * (0.5 * turned).atan())
    }
}

/// Checks the contacts of two moving bodies against those of where they are half a step later, if they lead, and else against those of where they are.
/// `None` if rounding decides, or if neither has a shape that turns.
fn check_lead(a: &Leading, b: &Leading, leads: bool, seen: &[Seen]) -> Option<Result<(), String>> {
    let half_step = 0.5 * f64::from(settings(Isa::Auto).time_step);
    let most = (0.5 * a.thickness.min(b.thickness)).min(SPECULATIVE / 4.0);
    let relative = a.velocity - b.velocity;
    let spin = |body: &Leading| body.spin.abs() * body.spin_length;
    // A quarter of the lead takes nothing from the spin that both have in common.
    let common = if a.spin * b.spin > 0.0 { a.spin.signum() * a.spin.abs().min(b.spin.abs()) } else { 0.0 };
    let shared = common * (a.centre - b.centre).perp();
    let speed = relative.length().max((relative - shared).length()).max(spin(a)).max(spin(b));
    let way = half_step * speed;
    // Pairs of shapes that do not turn are in `oracle.rs`: their points are not those of a manifold.
    let turns = |body: &Leading| {
        !matches!(
            body.shape.kind(),
            ShapeKind::Circle | ShapeKind::Aabb | ShapeKind::Particle | ShapeKind::HalfSpace
        )
    };
    if (way - 1e-5).abs() < 1e-8 || !(turns(a) || turns(b)) {
        return None;
    }
    let time = if leads && way > 1e-5 { half_step.min(most / speed) } else { 0.0 };
    let (moved, turned) =
        (time * relative - 0.25 * time * shared, [a, b].map(|body| time * body.spin - 0.25 * time * common));
    let forms = [a.led(moved, turned[0]), b.led(DVec2::ZERO, turned[1])];
    let seen: Vec<Seen> = seen
        .iter()
        .map(|seen| {
            let from_a = moved + turned[0] * (seen.point - a.centre - moved).perp();
            let from_b = turned[1] * (seen.point - b.centre).perp();
            Seen { separation: seen.separation + (from_b - from_a).dot(seen.normal), ..*seen }
        })
        .collect();
    // Whether a contact is near enough is asked of the separation at the start.
    let reach = 8.0 * way + 1e-3;
    let at_edge = |separation: f64| (separation - SPECULATIVE).abs() < reach;
    let expected = manifolds(&forms[0], &forms[1], TIE * scale(&forms[0], &forms[1]));
    let points = expected.iter().flat_map(|manifold| &manifold.points);
    if at_edge(separation(&forms[0], &forms[1])) || points.into_iter().any(|touch| at_edge(touch.separation))
    {
        return None;
    }
    Some(check(&forms[0], &forms[1], &seen))
}

/// Presses together what overlaps, so that it bears a load after a step; then gives the bodies these motions, and checks the contacts of the next step.
/// Returns how many pairs bore a load.
fn check_pairs_that_lead(
    pairs: &[([BodyDesc; 2], Motion, Motion)],
    isa: Isa,
) -> Result<usize, TestCaseError> {
    let descs: Vec<_> = pairs.iter().map(|&(descs, ..)| descs).collect();
    let (mut world, handles) = layered(&descs, isa);
    for &[first, second] in &handles {
        let [a, b] = [first, second].map(|body| form(&world, body));
        let Some(touch) = manifolds(&a, &b, TIE * scale(&a, &b)).first().map(|manifold| manifold.normal)
        else {
            continue;
        };
        for (body, force) in [(first, PRESS * touch), (second, -PRESS * touch)] {
            if world.body_type(body).unwrap() == BodyType::Dynamic {
                world.apply_force(body, force.as_vec2()).unwrap();
            }
        }
    }
    world.step();
    for (pair, (descs, first, second)) in handles.iter().zip(pairs) {
        for ((&body, desc), &(velocity, spin)) in pair.iter().zip(descs).zip([first, second]) {
            if desc.body_type == BodyType::Static {
                continue;
            }
            let turns = !matches!(desc.shape.kind(), ShapeKind::Aabb | ShapeKind::Particle)
                && (desc.shape.kind() != ShapeKind::Circle || desc.body_type == BodyType::Dynamic);
            world.set_velocity(body, velocity).unwrap();
            world.set_angular_velocity(body, if turns { spin } else { 0.0 }).unwrap();
        }
    }
    let before: Vec<_> = handles
        .iter()
        .map(|&[first, second]| {
            let of_pair = world.contacts().filter(|contact| {
                let bodies = [contact.a, contact.b];
                bodies == [first, second] || bodies == [second, first]
            });
            let load = of_pair.map(|contact| contact.normal_impulse).fold(0.0, f32::max);
            ([first, second].map(|body| Leading::new(&world, body)), load)
        })
        .collect();
    let mut anew = world.clone();
    let alone = Filter { category: 1 << 31, mask: 0, group: 0 };
    let elsewhere = BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(1000.0, 0.0));
    anew.add_body(&BodyDesc { filter: alone, ..elsewhere }).unwrap();
    world.step();
    anew.step();
    // The same whether the list of pairs is built anew or not, if the same body comes first.
    let normals = |world: &World, [a, b]: [BodyHandle; 2]| -> Vec<_> {
        let of_pair = world.contacts().filter(|contact| [contact.a, contact.b] == [a, b]);
        of_pair.map(|contact| contact.normal).collect()
    };
    for &[first, second] in &handles {
        for order in [[first, second], [second, first]] {
            let [kept, built] = [&world, &anew].map(|world| normals(world, order));
            prop_assert!(
                kept == built || kept.is_empty() || built.is_empty(),
                "{kept:?}, built anew {built:?}"
            );
        }
    }
    for (i, ([first, second], ([a, b], load))) in handles.iter().zip(&before).enumerate() {
        // The first body of a contact leads, and its points are where the second one stays.
        let swapped = world.contacts().any(|contact| (contact.a, contact.b) == (*second, *first));
        let (bodies, seen) = if swapped {
            ([b, a], seen(&world, *second, *first))
        } else {
            ([a, b], seen(&world, *first, *second))
        };
        let outcome = check_lead(bodies[0], bodies[1], *load > 0.0, &seen).unwrap_or(Ok(()));
        prop_assert!(
            outcome.is_ok(),
            "pair {}, {:?}, load {}: {}\n{:#?}",
            i,
            isa,
            load,
            outcome.unwrap_err(),
            descs[i]
        );
    }
    Ok(before.iter().filter(|(_, load)| *load > 0.0).count())
}

/// The contacts of two shapes that move and bear a load are those of half a step later, with the separation reckoned back to the start along their
/// normals, but of no more than a slop and half of the thinner one's thickness further. Those that bear none are those of the start.
#[test]
fn contacts_are_those_of_half_a_step_later() {
    let strategy = (prop::collection::vec((pair(), motion(), motion()), 1..24), any_isa());
    let loaded = Cell::new(0);
    let outcome = TestRunner::new(config(512)).run(&strategy, |(pairs, isa)| {
        loaded.set(loaded.get() + check_pairs_that_lead(&pairs, isa)?);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    assert!(loaded.get() > 1000, "only {} pairs bore a load", loaded.get());
}

//! Energy and momentum of many bodies over 5,000 steps.

use super::*;
use glam::DVec2;

const STEPS: u32 = 5_000;

/// Makes the tests of a gas: one per kind of gas and solver.
macro_rules! each_gas {
    ($law:ident: $($gas:ident),+ $(,)?) => {
        mod $law {
            $(mod $gas {
                #[test]
                fn soft() {
                    super::super::$law(&super::super::$gas(), crate::laws::soft());
                }

                #[test]
                fn projection() {
                    super::super::$law(&super::super::$gas(), crate::laws::projection());
                }
            })+
        }
    };
}

each_gas! { energy_is_kept_without_loss: circles, octagons, boxes, polygons, capsules, compounds }
each_gas! { energy_is_kept_at_any_speed: circles, octagons, boxes, polygons, capsules, compounds }
each_gas! { energy_is_kept_with_several_iterations: circles, boxes, compounds }
each_gas! { energy_never_grows: circles, octagons, boxes, polygons, capsules, compounds }
each_gas! { angular_momentum_in_a_free_ring: circles, octagons, boxes, polygons, capsules, compounds }
each_gas! { angular_momentum_of_a_free_cloud: circles, octagons, boxes, polygons, capsules, compounds }

fn circles() -> Vec<Form> {
    vec![forms::small(Shape::circle(0.35))]
}

fn octagons() -> Vec<Form> {
    vec![forms::octagon()]
}

fn boxes() -> Vec<Form> {
    vec![forms::small(Shape::oriented_box(0.35, 0.25)), forms::small(Shape::oriented_box(0.3, 0.3))]
}

fn polygons() -> Vec<Form> {
    (3..=8)
        .map(|count| forms::small(Shape::Polygon(granule::Polygon::regular(count, 0.4).unwrap())))
        .collect()
}

fn capsules() -> Vec<Form> {
    vec![forms::small(Shape::capsule(0.25, 0.2)), forms::small(Shape::capsule(0.35, 0.1))]
}

fn compounds() -> Vec<Form> {
    vec![forms::club(), forms::angle()]
}

/// The bodies of a world that have a mass. The sums are over these bodies.
struct System {
    /// Mass and moment of inertia by the handle's index; 0 for other bodies.
    masses: Vec<[f64; 2]>,
}

/// Sums over all bodies, about the origin.
#[derive(Clone, Copy, Default)]
struct Sums {
    energy: f64,
    momentum: DVec2,
    /// The sum of the bodies' |m·v|.
    size: f64,
    angular: f64,
}

impl System {
    fn note(&mut self, body: BodyHandle, form: &Form, density: f32) {
        let index = body.index() as usize;
        self.masses.resize(self.masses.len().max(index + 1), [0.0; 2]);
        let density = f64::from(density);
        self.masses[index] = [density * form.mass(), density * form.inertia()];
    }

    fn sums(&self, world: &World) -> Sums {
        let mut sums = Sums::default();
        let c = world.columns();
        for (slot, handle) in c.handle.iter().enumerate() {
            let Some(&[mass, inertia]) = self.masses.get(handle.index() as usize) else { continue };
            let position = DVec2::new(c.pos_x[slot].into(), c.pos_y[slot].into());
            let momentum = mass * DVec2::new(c.vel_x[slot].into(), c.vel_y[slot].into());
            let spin = inertia * f64::from(c.omega[slot]);
            if mass > 0.0 {
                sums.energy += 0.5 * (momentum.length_squared() / mass + spin * spin / inertia);
            }
            sums.momentum += momentum;
            sums.size += momentum.length();
            sums.angular += position.perp_dot(momentum) + spin;
        }
        sums
    }
}

/// `side`² bodies of these forms in turn, `spacing` apart around the origin. `motion` gives the velocity at a place.
fn lattice(
    world: &mut World,
    forms: &[Form],
    (side, spacing, seed): (usize, f32, u32),
    material: Material,
    mut motion: impl FnMut(Vec2, &mut Random) -> Vec2,
) -> System {
    let mut system = System { masses: Vec::new() };
    let mut random = Random(0x9e37_79b9 + seed);
    for i in 0..side * side {
        let at = Vec2::new((i % side) as f32, (i / side) as f32) - 0.5 * (side - 1) as f32;
        let position = spacing * at;
        let form = &forms[i % forms.len()];
        let desc = BodyDesc {
            material,
            angle: std::f32::consts::TAU * random.uniform(),
            velocity: motion(position, &mut random),
            ..form.body(position)
        };
        let body = form.add(world, &desc);
        system.note(body, form, material.density);
    }
    system
}

/// The result of a gas in a box.
struct Run {
    /// The largest and the last energy, as shares of the energy at the start, and the step of the largest.
    most: f64,
    most_at: u32,
    last: f64,
    contacts: usize,
}

/// 196 bodies at 5 m/s in a box of 20 m of half-spaces or of axis-aligned boxes, without gravity and friction. If the
/// energy rises to three times its start or falls to a hundredth of it, the run ends.
fn run(
    forms: &[Form],
    settings: Settings,
    (restitution, seed): (f32, u32),
    half_spaces: bool,
    steps: u32,
) -> Run {
    let material = Material::new(1.0, 0.0, restitution);
    let mut world = world(weightless(settings));
    for (x, y) in [(1.0f32, 0.0f32), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
        let out = Vec2::new(x, y);
        let wall = if half_spaces {
            BodyDesc::fixed(Shape::half_space(-out, 0.0), 10.0 * out)
        } else {
            BodyDesc::fixed(Shape::aabb(1.0 + 11.0 * y.abs(), 1.0 + 11.0 * x.abs()), 11.0 * out)
        };
        world.add_body(&BodyDesc { material, ..wall }).unwrap();
    }
    let system = lattice(&mut world, forms, (14, 1.4, seed), material, |_, random| 5.0 * random.direction());
    let start = system.sums(&world).energy;
    let mut run = Run { most: 1.0, most_at: 0, last: 1.0, contacts: 0 };
    for step in 1..=steps {
        world.step();
        run.contacts += world.begin_events().len();
        run.last = system.sums(&world).energy / start;
        // Written so that NaN counts as the largest.
        if run.last.is_nan() || run.last > run.most {
            (run.most, run.most_at) = (run.last, step);
        }
        if !(0.01..3.0).contains(&run.last) {
            break;
        }
    }
    run
}

/// A gas in a box without loss keeps its energy: the energy never exceeds 1.005 of the start, and at the end it is at
/// least 0.98 of the start.
fn energy_is_kept_without_loss(forms: &[Form], settings: Settings) {
    check_energy(forms, settings, false, STEPS);
}

/// A gas in a box without loss keeps its energy without the restitution threshold, too. Of compounds with the projection solver, three in four
/// lattices that differ in angles and velocities do, and all keep 0.95. (Of 121, 6 kept less than 0.98, and 0.963 at least; with other lists of
/// pairs, and so another order of solving, 11, and 0.955 at least. One contact in 3,000 takes up to 1.4 % of all energy.)
fn energy_is_kept_at_any_speed(forms: &[Form], settings: Settings) {
    const LATTICES: u32 = 8;
    let settings = Settings { restitution_threshold: 0.0, ..settings };
    if settings.solver == granule::Solver::Soft || !forms.iter().any(Form::is_compound) {
        return check_energy(forms, settings, true, STEPS);
    }
    let mut cases = Cases::new("energy of compounds at restitution 1", &settings);
    let runs = (0..LATTICES).map(|seed| run(forms, settings, (1.0, seed), true, STEPS));
    let kept: Vec<[f64; 2]> = runs.map(|run| [run.last, run.most]).collect();
    println!("the last and the most: {kept:?}");
    cases.holds(kept.iter().all(|&[last, most]| last >= 0.95 && most <= 1.005), || format!("{kept:?}"));
    let well = kept.iter().filter(|&&[last, _]| last >= 0.98).count() as u32;
    cases.holds(well >= LATTICES * 3 / 4, || format!("{well} of {LATTICES} keep 0.98: {kept:?}"));
    cases.finish();
}

/// A gas in a box without loss keeps its energy with any number of iterations, too. (What lands was once relieved of its impulse before the
/// last of them let it bounce: a gas of compounds lost four fifths of its energy.)
fn energy_is_kept_with_several_iterations(forms: &[Form], settings: Settings) {
    for iterations in [2, 5] {
        check_energy(forms, Settings { iterations, ..settings }, true, STEPS / 5);
    }
}

fn check_energy(forms: &[Form], settings: Settings, half_spaces: bool, steps: u32) {
    let mut cases = Cases::new("energy at restitution 1", &settings);
    let Run { most, most_at, last, contacts } = run(forms, settings, (1.0, 0), half_spaces, steps);
    println!("most {most} at {most_at}, last {last}, {contacts} contacts");
    cases.holds(most <= 1.005, || format!("{most} of the start at step {most_at}"));
    cases.holds(last >= 0.98, || format!("{last} of the start at the end"));
    cases.holds(contacts > 2 * steps as usize || most > 1.01, || {
        format!("{contacts} contacts: the scene shows nothing")
    });
    cases.finish();
}

/// A gas in a box at restitution 0.99 and 0.9 never has more than 1.01 of the energy it had at the start.
fn energy_never_grows(forms: &[Form], settings: Settings) {
    let mut cases = Cases::new("energy below restitution 1", &settings);
    for (restitution, half_spaces) in [(0.99, true), (0.9, false)] {
        let Run { most, most_at, last, .. } = run(forms, settings, (restitution, 0), half_spaces, STEPS);
        println!("e {restitution}: most {most} at {most_at}, last {last}");
        cases.holds(most <= 1.01, || format!("e {restitution}: {most} of the start at step {most_at}"));
    }
    cases.finish();
}

/// Steps a closed system and checks each of 5,000 steps: its angular momentum about the origin stays within 0.5 % of
/// the start, and its momentum within 0.01 % of the sum of |m·v|. The system turns as a whole, so the percentage is of
/// a sum of values of one sign, and not of a small difference of large values.
fn check_momentum(cases: &mut Cases, world: &mut World, system: &System, case: &str, least_contacts: usize) {
    let start = system.sums(world);
    let (mut drift, mut slip, mut energy, mut contacts) = (0.0f64, 0.0f64, 1.0f64, 0);
    for _ in 0..STEPS {
        world.step();
        contacts += world.begin_events().len();
        let now = system.sums(world);
        let grew = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
        drift = grew(drift, (now.angular / start.angular - 1.0).abs());
        slip = grew(slip, now.momentum.distance(start.momentum) / start.size);
        energy = grew(energy, now.energy / start.energy);
        if energy.is_nan() || energy > 3.0 {
            break;
        }
    }
    println!(
        "{case}: L {:.4} %, p {:.5} %, energy {energy}, {contacts} contacts",
        100.0 * drift,
        100.0 * slip
    );
    cases.holds(drift <= 0.005, || format!("{case}: angular momentum drifts by {:.3} %", 100.0 * drift));
    cases.holds(slip <= 1e-4, || format!("{case}: momentum drifts by {:.5} % of Σ|mv|", 100.0 * slip));
    cases.holds(energy <= 1.01, || format!("{case}: energy reaches {energy} of the start"));
    cases.holds(contacts >= least_contacts || energy > 1.01, || {
        format!("{case}: {contacts} contacts: the scene shows nothing")
    });
}

/// Restitution and friction of the closed systems.
const SURFACES: [(f32, f32); 2] = [(1.0, 0.0), (0.8, 0.5)];

/// 49 bodies circle in a ring that floats freely, made of 16 boxes and about three times as heavy as the bodies: no
/// wall takes momentum from the system. The ring is at rest at first, so that the angular momentum is the bodies' own.
/// It stays within 0.5 %.
fn angular_momentum_in_a_free_ring(forms: &[Form], settings: Settings) {
    let mut cases = Cases::new("a swirl in a free ring", &settings);
    for (restitution, mu) in SURFACES {
        let material = Material::new(1.0, mu, restitution);
        let mut world = world(weightless(settings));
        let mut system = lattice(&mut world, forms, (7, 1.5, 0), material, |at, random| {
            0.6 * at.perp() + 2.0 * random.direction()
        });
        let ring = forms::arena();
        let body = ring.add(&mut world, &BodyDesc { material, ..ring.body(Vec2::ZERO) });
        system.note(body, &ring, 1.0);
        let case = format!("e {restitution}, μ {mu}");
        check_momentum(&mut cases, &mut world, &system, &case, 500);
    }
    cases.finish();
}

/// 100 bodies in free space circle and fall together towards the middle, collide there and fly apart. The angular
/// momentum stays within 0.5 %.
fn angular_momentum_of_a_free_cloud(forms: &[Form], settings: Settings) {
    let mut cases = Cases::new("a free cloud", &settings);
    for (restitution, mu) in SURFACES {
        let material = Material::new(1.0, mu, restitution);
        let mut world = world(weightless(settings));
        let system = lattice(&mut world, forms, (10, 1.4, 0), material, |at, random| {
            0.3 * at.perp() - 0.6 * at + 2.0 * random.direction()
        });
        let case = format!("e {restitution}, μ {mu}");
        check_momentum(&mut cases, &mut world, &system, &case, 200);
    }
    cases.finish();
}

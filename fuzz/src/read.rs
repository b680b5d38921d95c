//! All that can be read of a world, and what must hold of it for itself.

use super::known;
use granule::{BodyHandle, BodyType, Contact, Error, Role, ShapeKind, Vec2, World};

/// Panics with what is wrong with a world.
pub fn validate(world: &World) {
    if let Err(wrong) = world.validate() {
        panic!("step {}: {wrong}", world.step_count());
    }
}

/// Whether `World::quality` may be called.
pub fn is_measurable(world: &World) -> bool {
    known::QUALITY_READS_EVERY_SHAPE
        || world.handles().any(|body| {
            let turns = |kind: ShapeKind| kind >= ShapeKind::Box;
            world.shape(body).is_ok_and(|shape| turns(shape.kind()))
        })
}

/// Reads everything, and holds that it is sound.
pub fn read(world: &World) {
    columns(world);
    stored(world);
    for body in world.handles() {
        of_body(world, body);
    }
    contacts(world);
    if is_measurable(world) {
        let quality = world.quality();
        let figures =
            [quality.mean_penetration, quality.max_penetration, quality.kinetic_energy, quality.rms_speed];
        assert!(figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0), "{quality:?}");
        assert!(quality.momentum.iter().all(|part| part.is_finite()), "{quality:?}");
        assert!(quality.mean_penetration <= quality.max_penetration * 1.000_001, "{quality:?}");
    }
    links(world);
    sleep(world);
    super::events::read(world);
    super::joints::read(world);
    super::edits::read(world);
    world.settings().validate().expect("settings that were accepted");
    let timings = world.timings();
    let stages = [
        timings.bounds,
        timings.broadphase,
        timings.narrowphase,
        timings.contacts,
        timings.solver,
        timings.islands,
    ];
    assert!(stages.iter().all(|time| (0.0..=timings.total).contains(time)), "{timings:?}");
    assert!(world.spans().iter().all(|span| span.duration >= 0.0), "a span that ends before it starts");
    assert!(world.quarantined().iter().all(|entry| entry.step <= world.step_count()));
}

/// Who sleeps does not move, and the counts are right.
fn sleep(world: &World) {
    let asleep = |&body: &BodyHandle| !world.is_awake(body).expect("a body that is there");
    let sleepers: Vec<_> = world.handles().filter(asleep).collect();
    assert_eq!(sleepers.len(), world.asleep_count());
    for body in world.handles() {
        world.is_bullet(body).expect("a body that is there");
    }
    for &body in &sleepers {
        let state = world.body(body).expect("a body that is there");
        assert_eq!((state.velocity, state.angular_velocity), (Vec2::ZERO, 0.0), "{body:?} sleeps and moves");
    }
    let islands = world.islands();
    let bodies = islands.iter().flatten().count();
    assert_eq!(bodies, world.asleep_count() + world.awake_count());
    let mut numbers: Vec<_> = islands.into_iter().flatten().collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), world.island_count());
}

fn columns(world: &World) {
    let columns = world.columns();
    let live = columns.handle.iter().filter(|&&body| world.contains(body)).count();
    assert_eq!(live, world.handles().count());
    assert_eq!(live, world.body_count() + world.static_count() + world.particle_count());
    for column in [columns.pos_x, columns.pos_y, columns.angle, columns.vel_x, columns.vel_y, columns.omega] {
        assert_eq!(column.len(), columns.handle.len());
        assert!(column.iter().all(|value| value.is_finite()), "a column holds a value that is not finite");
    }
    for (slot, &body) in columns.handle.iter().enumerate().filter(|&(_, &body)| world.contains(body)) {
        let state = world.body(body).expect("a body that is there");
        assert_eq!(state.position.to_array(), [columns.pos_x[slot], columns.pos_y[slot]]);
        if world.is_enabled(body) == Ok(true) {
            assert_eq!(state.velocity.to_array(), [columns.vel_x[slot], columns.vel_y[slot]]);
            assert_eq!(state.angular_velocity, columns.omega[slot]);
        }
    }
}

/// What a renderer reads is what hosts read otherwise.
fn stored(world: &World) {
    let mut live = 0;
    for index in 0..world.storage_len() {
        let Some(body) = world.stored_body(index) else { continue };
        live += 1;
        let state = world.body(body.handle()).expect("a body that is there");
        let enabled = world.is_enabled(body.handle()) == Ok(true);
        assert_eq!(body.position(), state.position);
        assert!(!enabled || body.velocity() == state.velocity);
        let quarantined = world.quarantined().iter().any(|entry| entry.body == body.handle());
        let role = match world.body_type(body.handle()).expect("a body that is there") {
            _ if quarantined => Role::Quarantined,
            _ if !enabled => Role::Disabled,
            BodyType::Static => Role::Static,
            BodyType::Kinematic => Role::Kinematic,
            BodyType::Dynamic => Role::Dynamic,
        };
        assert_eq!(body.role(), role);
        let parts = world.parts(body.handle()).expect("a body that is there");
        assert!(parts.len() == 1 || body.kind() == ShapeKind::Compound);
        assert!(body.shapes().map(|placed| placed.shape).eq(parts.iter().map(|part| part.shape)));
        assert!(body.half_extents().cmpge(Vec2::ZERO).all());
    }
    assert_eq!(live, world.handles().count());
    let starts: Vec<_> = world.tile_starts().collect();
    assert!(starts.is_sorted());
    assert!(world.coloured_contacts().count() <= world.contacts().count());
}

fn of_body(world: &World, body: BodyHandle) {
    const THERE: &str = "a body that is there";
    assert_eq!(BodyHandle::from_parts(body.index(), body.generation()), body);
    let body_type = world.body_type(body).expect(THERE);
    let mass = world.mass(body).expect(THERE);
    assert!(
        mass > 0.0 && (mass.is_infinite() || body_type == BodyType::Dynamic),
        "{body_type:?} of {mass} kg"
    );
    let shape = world.shape(body).expect(THERE);
    assert_eq!(world.is_particle(body).expect(THERE), shape.kind() == ShapeKind::Particle);
    world.material(body).expect(THERE).validate().expect("a material that was accepted");
    let filter = world.filter(body).expect(THERE);
    let parts = world.parts(body).expect(THERE);
    assert!(parts.len() > 1 || (parts.len() == 1 && parts[0].shape == shape && parts[0].filter == filter));
    assert!(parts.len() <= World::MAX_PARTS);
    for part in &parts {
        part.shape.validate().expect("a shape that was accepted");
    }
    let state = world.body(body).expect(THERE);
    for alpha in [0.0, 0.5, 1.0] {
        let between = world.interpolated(body, alpha).expect(THERE);
        assert!(between.position.is_finite() && between.angle.is_finite(), "{between:?}");
        assert!(alpha < 1.0 || between == state, "{between:?}, {state:?}");
    }
    assert!(world.interpolated(body, 1.5).is_err());
}

fn contacts(world: &World) {
    for contact in world.contacts() {
        assert!(contact.a != contact.b, "{contact:?}");
        assert!((contact.normal.length() - 1.0).abs() < 1e-3, "{contact:?}");
        assert!(contact.point.is_finite() && contact.separation.is_finite(), "{contact:?}");
        assert!(contact.normal_impulse >= 0.0 && contact.normal_impulse.is_finite(), "{contact:?}");
        assert!(contact.tangent_impulse.is_finite(), "{contact:?}");
    }
}

fn links(world: &World) {
    assert_eq!(world.links().count(), world.link_count());
    assert_eq!(world.hulls().count(), world.hull_count());
    for (handle, link) in world.links() {
        assert_eq!(world.link(handle), Ok(link));
    }
    for (handle, points) in world.hulls() {
        assert_eq!(world.hull(handle), Ok(points));
    }
    for event in world.link_events() {
        let is_gone = matches!(world.link(event.link), Err(Error::StaleHandle { .. }));
        assert!(is_gone, "{event:?}, and the link is there");
    }
    let quality = world.link_quality();
    assert_eq!(quality.links, world.link_count());
    assert!(
        quality.mean_stretch.is_finite() && quality.mean_stretch <= 1.000_001 * quality.max_stretch,
        "{quality:?}"
    );
}

/// Holds that two worlds whose instruction sets differ are the same.
pub fn compare(scalar: &World, wide: &World) {
    if let Some(difference) = scalar.first_difference(wide) {
        panic!("step {}, {}: {difference}", scalar.step_count(), wide.isa());
    }
    assert_eq!(scalar.state_hash(), wide.state_hash(), "the hashes differ, and nothing else");
    assert_eq!(scalar.begin_events(), wide.begin_events());
    assert_eq!(scalar.end_events(), wide.end_events());
    super::events::compare(scalar, wide);
    // A world that was restored, and in which something sleeps since, shows points as of then.
    let moves = scalar.asleep_count() == 0;
    let shown = |contact: Contact| if moves { contact } else { Contact { point: Vec2::ZERO, ..contact } };
    let contacts = |world: &World| world.contacts().map(shown).collect::<Vec<Contact>>();
    assert_eq!(contacts(scalar), contacts(wide), "the contacts differ");
    assert_eq!(scalar.crowded_count(), wide.crowded_count());
    assert_eq!(scalar.table_sizes(), wide.table_sizes());
    assert!(scalar.candidate_tests() > 0 || scalar.pair_count() == 0);
    assert_eq!(scalar.contact_count(), wide.contact_count());
    assert_eq!(scalar.pair_count(), wide.pair_count());
    assert_eq!(scalar.list_age(), wide.list_age());
    assert_eq!(scalar.quarantined(), wide.quarantined());
    assert_eq!(scalar.quarantine_events(), wide.quarantine_events());
    assert_eq!(scalar.sleep_events(), wide.sleep_events());
    assert_eq!(scalar.wake_events(), wide.wake_events());
    assert_eq!(scalar.link_events(), wide.link_events());
    assert_eq!(scalar.link_order(), wide.link_order());
    assert_eq!(scalar.link_quality(), wide.link_quality());
    assert!(scalar.joints().eq(wide.joints()), "the joints differ");
    assert_eq!(scalar.joint_events(), wide.joint_events());
    assert_eq!(scalar.joint_quality(), wide.joint_quality());
    assert!(scalar.coloured_joints().eq(wide.coloured_joints()), "the colours of the joints differ");
    if is_measurable(scalar) {
        assert_eq!(scalar.quality(), wide.quality());
    }
}

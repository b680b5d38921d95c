//! `granule run`: warms up, measures and reports.

use super::args::{Format, RunArgs};
use super::input::{self, Input};
use super::output::{check_new, write_file};
use super::profile::{self, Profile, Taken};
use super::progress::Progress;
use super::{Outcome, alloc, bad_file, bad_input, check_failed, emit, emit_json, note, summary};
use granule::scene::{Player, Scene};
use granule::{BodyHandle, BodyState, JointState, Solver, World};
use granule_command::report::export::trace::{self, Span};
use granule_command::report::{
    self, Machine, PhaseTimes, QualityRecord, RunRecord, SCHEMA, Samples, StepTimes,
};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

/// Runs the scene. Files the record in `report` if that is given.
pub fn main(args: &RunArgs, report: Option<&Path>) -> Outcome {
    input::check_file("--dump", args.dump.as_deref())?;
    input::check_file("--dump-particles", args.dump_particles.as_deref())?;
    input::check_file("--dump-joints", args.dump_joints.as_deref())?;
    input::check_dir("--report", report)?;
    check_dumps(args)?;
    profile::check(args)?;
    if let Some(path) = &args.trace {
        check_new("--trace", path, args.force)?;
    }
    let input = Input::new(&args.scene)?;
    let mut world = input.world()?;
    let pool = input::pool(input.threads)?;

    let mut measured = pool.install(|| measure(&mut world, &input, args));
    let record = record(&input, &world, &mut measured);

    if let Some(path) = &args.dump {
        dump(path, |out| write_bodies(out, &input.scene, &world))?;
    }
    if let Some(path) = &args.dump_particles {
        dump(path, |out| write_particles(out, &input.scene, &world))?;
    }
    if let Some(path) = &args.dump_joints {
        dump(path, |out| write_joints(out, &input.scene, &world))?;
    }
    if let Some(path) = &args.trace {
        write_file(path, |out| trace::write(out, &input.scene.name, &measured.spans))?;
    }
    if let Some(profile) = measured.profile.take() {
        profile.write(args)?;
    }
    let filed =
        report.map(|dir| report::write(dir, &record).map_err(|error| bad_file(dir, &error))).transpose()?;
    match args.format {
        Format::Human => emit(&summary::text(&record, filed.as_deref()))?,
        Format::Json => {
            emit_json(&record)?;
            if let Some(path) = filed {
                note(&format!("record written to {}", path.display()));
            }
        }
    }
    check(&world)
}

/// Refuses two dumps into the same file.
fn check_dumps(args: &RunArgs) -> Outcome {
    let dumps = [
        ("--dump", &args.dump),
        ("--dump-particles", &args.dump_particles),
        ("--dump-joints", &args.dump_joints),
    ];
    for (place, (option, path)) in dumps.iter().enumerate() {
        let same = dumps[..place].iter().find(|(_, other)| path.is_some() && other == path);
        if let Some((other, _)) = same {
            return Err(bad_input(format!("{other} and {option} name the same file")));
        }
    }
    Ok(())
}

/// Sums over the measured steps, and the time of each step.
struct Measured {
    step_ms: Vec<f64>,
    phases_ms: PhaseTimes,
    samples: Samples,
    allocations: u64,
    profile: Option<Taken>,
    /// The spans of the measured steps; empty without `--trace`.
    spans: Vec<Span>,
}

fn measure(world: &mut World, input: &Input, args: &RunArgs) -> Measured {
    let progress = Progress::new(u64::from(input.warmup) + u64::from(input.steps));
    let mut player = Player::new(&input.scene, world);
    progress.phase("warm-up");
    for _ in 0..input.warmup {
        let start = Instant::now();
        player.step(world);
        let elapsed = start.elapsed();
        progress.step();
        progress.figures(world, elapsed);
    }
    progress.phase("measuring");
    let mut measured = Measured {
        step_ms: Vec::with_capacity(input.steps as usize),
        phases_ms: PhaseTimes::default(),
        samples: Samples::with_capacity(input.steps as usize),
        allocations: 0,
        profile: None,
        spans: Vec::new(),
    };
    world.set_tracing(args.trace.is_some());
    let profile = Profile::start(args);
    let begin = Instant::now();
    for _ in 0..input.steps {
        // The bodies that a script makes and removes are part of the engine's work.
        let start = Instant::now();
        player.edit(world);
        // Scripts and the progress bar allocate, too: only the allocations of the step are counted.
        let before = alloc::count();
        let begun = Instant::now();
        world.step();
        let elapsed = start.elapsed();
        measured.allocations += alloc::count() - before;
        let step_ms = 1e3 * elapsed.as_secs_f64();
        let phases = phases(world);
        measured.step_ms.push(step_ms);
        measured.phases_ms.add(&phases);
        measured.samples.push(step_ms, &phases);
        if args.trace.is_some() {
            let start_us = 1e6 * begun.duration_since(begin).as_secs_f64();
            let duration_us = 1e3 * step_ms - 1e6 * begun.duration_since(start).as_secs_f64();
            measured.spans.push(Span { name: "step", worker: 0, start_us, duration_us });
            measured.spans.extend(world.spans().iter().map(|span| Span {
                name: span.stage.name(),
                worker: span.worker,
                start_us: start_us + 1e6 * span.start,
                duration_us: 1e6 * span.duration,
            }));
        }
        progress.step();
        progress.figures(world, elapsed);
    }
    measured.profile = profile.map(Profile::stop);
    measured
}

/// Returns the times of the last step's stages, ms.
fn phases(world: &World) -> PhaseTimes {
    let step = world.timings();
    PhaseTimes {
        bounds: 1e3 * step.bounds,
        broadphase: 1e3 * step.broadphase,
        narrowphase: 1e3 * step.narrowphase,
        contacts: 1e3 * step.contacts,
        solver: 1e3 * step.solver,
        islands: 1e3 * step.islands,
    }
}

fn record(input: &Input, world: &World, measured: &mut Measured) -> RunRecord {
    let settings = world.settings();
    let quality = world.quality();
    let links = world.link_quality();
    let step_ms = StepTimes::of(&mut measured.step_ms);
    // Without steps there is no time: 0 / 1.
    let steps = f64::from(input.steps.max(1));
    RunRecord {
        schema: SCHEMA.to_owned(),
        scene: input.scene.name.clone(),
        bodies: world.body_count(),
        static_bodies: world.static_count(),
        particles: world.particle_count(),
        links: links.links,
        joints: world.joint_count(),
        link_iterations: settings.link_iterations,
        steps: input.steps,
        warmup: input.warmup,
        substeps: settings.substeps,
        iterations: settings.iterations,
        solver: match settings.solver {
            Solver::Soft => "soft".to_owned(),
            Solver::Projection => "projection".to_owned(),
        },
        sleep: settings.sleep,
        continuous: Some(settings.continuous),
        threads: input.threads,
        lanes: world.isa().lanes(),
        isa: world.isa().name().to_owned(),
        seed: input.seed,
        step_ms,
        phases_ms: measured.phases_ms.divided(steps),
        pairs: world.pair_count(),
        contacts: world.contact_count(),
        awake_bodies: world.awake_count(),
        islands: world.island_count(),
        ns_per_body_step: 1e6 * step_ms.mean / (world.body_count() + world.particle_count()).max(1) as f64,
        quality: QualityRecord {
            mean_penetration: quality.mean_penetration,
            max_penetration: quality.max_penetration,
            kinetic_energy: quality.kinetic_energy,
            momentum: quality.momentum,
            mean_stretch: links.mean_stretch,
            max_stretch: links.max_stretch,
        },
        quarantined: world.quarantined().len(),
        state_hash: format!("{:016x}", world.state_hash()),
        peak_rss_bytes: report::peak_rss_bytes(),
        allocations_per_step: measured.allocations as f64 / steps,
        machine: Machine::this(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: report::commit().to_owned(),
        rustc: report::rustc().to_owned(),
        unix_time: report::unix_time(),
        samples_ms: std::mem::take(&mut measured.samples),
    }
}

fn dump(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Outcome {
    let written = File::create(path).map(BufWriter::new).and_then(|mut out| {
        write(&mut out)?;
        out.flush()
    });
    written.map_err(|error| bad_file(path, &error))
}

/// Writes one line per body, in the scene's order. Rust prints the shortest decimal that reads back as the same number.
fn write_bodies(out: &mut impl Write, scene: &Scene, world: &World) -> io::Result<()> {
    writeln!(out, "id,x,y,angle,vx,vy,omega")?;
    for (id, handle) in dumped(scene, world, false) {
        let state = world.body(handle).map_err(io::Error::other)?;
        let BodyState { position, angle, turns, velocity, angular_velocity } = state;
        let (x, y, vx, vy) = (position.x, position.y, velocity.x, velocity.y);
        // The total angle, with whole turns. If there are none, the f32 has fewer digits.
        let angle = if turns == 0 { angle.to_string() } else { state.total_angle().to_string() };
        writeln!(out, "{id},{x},{y},{angle},{vx},{vy},{angular_velocity}")?;
    }
    Ok(())
}

/// Writes one line per particle, in the scene's order.
fn write_particles(out: &mut impl Write, scene: &Scene, world: &World) -> io::Result<()> {
    writeln!(out, "id,x,y,vx,vy")?;
    for (id, handle) in dumped(scene, world, true) {
        let state = world.body(handle).map_err(io::Error::other)?;
        let (x, y, vx, vy) = (state.position.x, state.position.y, state.velocity.x, state.velocity.y);
        writeln!(out, "{id},{x},{y},{vx},{vy}")?;
    }
    Ok(())
}

/// Writes one line per joint, in the scene's order. A joint that is gone has zeros. A script may have removed joints and added others:
/// then those that are there now, by the index of their handles.
fn write_joints(out: &mut impl Write, scene: &Scene, world: &World) -> io::Result<()> {
    writeln!(out, "id,kind,angle,translation,speed,force_x,force_y,torque,broken")?;
    let joints: Vec<_> = if scene.script.is_none() {
        scene.joints.iter().enumerate().map(|(id, joint)| (scene.joint_handle(id), joint.kind)).collect()
    } else {
        world.joints().map(|(handle, joint)| (handle, joint.kind)).collect()
    };
    for (id, (handle, kind)) in joints.into_iter().enumerate() {
        let state = world.joint_state(handle);
        let broken = u8::from(state.is_err());
        let JointState { angle, translation, speed, force, torque } = state.unwrap_or_default();
        let (kind, x, y) = (kind.name(), force.x, force.y);
        writeln!(out, "{id},{kind},{angle},{translation},{speed},{x},{y},{torque},{broken}")?;
    }
    Ok(())
}

/// The particles, or the other bodies, in the scene's order and numbered as in a scene file. A script may have removed bodies and added
/// others: then those that are there now, by the index of their handles.
fn dumped(scene: &Scene, world: &World, particles: bool) -> Vec<(usize, BodyHandle)> {
    if scene.script.is_none() {
        let places = (0..scene.bodies.len()).filter(|&place| scene.bodies[place].is_particle() == particles);
        return places.map(|place| scene.handle(place)).enumerate().collect();
    }
    let chosen = |handle: &BodyHandle| world.is_particle(*handle) == Ok(particles);
    let mut handles: Vec<BodyHandle> = world.handles().filter(chosen).collect();
    handles.sort_by_key(|handle| handle.index());
    handles.into_iter().enumerate().collect()
}

/// Checks that the state is finite, and that no body was quarantined.
fn check(world: &World) -> Outcome {
    let quarantined = world.quarantined();
    if let Some(first) = quarantined.first() {
        let (count, body, step) = (quarantined.len(), first.body.index(), first.step);
        return Err(check_failed(format!(
            "{count} bodies quarantined, the first is body {body} in step {step}"
        )));
    }
    let bad = world.handles().find(|&handle| !world.body(handle).is_ok_and(|state| is_finite(&state)));
    bad.map_or(Ok(()), |handle| {
        Err(check_failed(format!("the state of body {} is not finite", handle.index())))
    })
}

fn is_finite(state: &BodyState) -> bool {
    let scalars_are = state.angle.is_finite() && state.angular_velocity.is_finite();
    scalars_are && state.position.is_finite() && state.velocity.is_finite()
}

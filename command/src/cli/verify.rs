//! `granule verify`: compares two configurations of a scene side by side.

use super::args::{Format, VerifyArgs};
use super::input::{self, Input};
use super::progress::Progress;
use super::{Outcome, bad_input, check_failed, emit, emit_json};
use granule::World;
use granule::scene::Player;
use granule::verify::{Divergence, Side, side_by_side};
use serde::Serialize;
use std::fmt;

/// The default number of steps that are compared.
const STEPS: u32 = 200;

#[derive(Clone, Copy, Serialize)]
struct Configuration {
    lanes: usize,
    isa: &'static str,
    threads: usize,
}

impl Configuration {
    fn new(world: &World, threads: usize) -> Configuration {
        Configuration { lanes: world.isa().lanes(), isa: world.isa().name(), threads }
    }
}

/// `avx2 lanes 8 threads 2`
impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} lanes {} threads {}", self.isa, self.lanes, self.threads)
    }
}

#[derive(Serialize)]
struct Verdict {
    schema: &'static str,
    scene: String,
    bodies: usize,
    a: Configuration,
    b: Configuration,
    steps: u64,
    identical: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<DifferenceRecord>,
}

/// The first difference. If only the hashes show it, the record has no more than step and hashes.
#[derive(Serialize)]
struct DifferenceRecord {
    step: u64,
    stage: Option<String>,
    body: Option<u32>,
    field: Option<&'static str>,
    ulps: Option<u64>,
    a: Option<f32>,
    b: Option<f32>,
    state_hashes: [String; 2],
}

pub fn main(args: &VerifyArgs) -> Outcome {
    let mut input = Input::new(&args.scene)?;
    let steps = u64::from(args.scene.warmup.unwrap_or(0)) + u64::from(args.scene.steps.unwrap_or(STEPS));
    check_plant(args, &input, steps)?;
    // The threads are to take part even if there are fewer processors.
    granule::set_oversubscribe(true);

    let mut world_b = input.world()?;
    let b = Configuration::new(&world_b, input.threads);
    input.scene.settings.isa = args.against_isa.unwrap_or(args.against_lanes);
    let mut world_a = input.world()?;
    let a = Configuration::new(&world_a, args.against_threads as usize);
    let (pool_a, pool_b) = (input::pool(a.threads)?, input::pool(b.threads)?);

    let mut players = [&world_a, &world_b].map(|world| Player::new(&input.scene, world));
    let progress = Progress::new(steps);
    progress.phase("comparing");
    let result = side_by_side(&mut world_a, &mut world_b, steps, args.plant, |side, world| match side {
        Side::A => pool_a.install(|| players[0].step(world)),
        Side::B => {
            pool_b.install(|| players[1].step(world));
            progress.step();
        }
    });
    drop(progress);

    let verdict = Verdict {
        schema: "granule.verify/1",
        bodies: world_b.body_count(),
        scene: input.scene.name,
        a,
        b,
        steps,
        identical: result.is_ok(),
        state_hash: result.as_ref().ok().map(|&hash| hexadecimal(hash)),
        difference: result.as_ref().err().map(DifferenceRecord::from),
    };
    match args.format {
        Format::Json => emit_json(&verdict)?,
        Format::Human => emit(&sentence(&verdict, &result))?,
    }
    result
        .map(|_| ())
        .map_err(|divergence| check_failed(format!("verify: not identical from step {}", divergence.step)))
}

fn check_plant(args: &VerifyArgs, input: &Input, steps: u64) -> Outcome {
    let Some(fault) = args.plant else { return Ok(()) };
    if !(1..=steps).contains(&fault.step) {
        return Err(bad_input(format!("--plant: step {} is not in 1..={steps}", fault.step)));
    }
    let (body, bodies) = (fault.body.index(), input.scene.bodies.len());
    if body as usize >= bodies {
        return Err(bad_input(format!("--plant: there is no body {body}, the scene has {bodies}")));
    }
    Ok(())
}

fn sentence(verdict: &Verdict, result: &Result<u64, Divergence>) -> String {
    let Verdict { scene, bodies, a, b, steps, .. } = verdict;
    let of = format!("{scene}, {bodies} bodies; {a} against {b}");
    match result {
        Ok(hash) => format!("identical: {steps} steps, hash {} ({of})\n", hexadecimal(*hash)),
        Err(divergence) => format!("different: {divergence} ({of})\n"),
    }
}

fn hexadecimal(hash: u64) -> String {
    format!("{hash:016x}")
}

impl From<&Divergence> for DifferenceRecord {
    fn from(divergence: &Divergence) -> Self {
        let found = divergence.difference.as_ref();
        DifferenceRecord {
            step: divergence.step,
            stage: found.map(|difference| difference.stage.to_string()),
            body: found.map(|difference| difference.body.index()),
            field: found.map(|difference| difference.field),
            ulps: found.map(|difference| difference.ulps),
            a: found.map(|difference| difference.a),
            b: found.map(|difference| difference.b),
            state_hashes: divergence.hashes.map(hexadecimal),
        }
    }
}

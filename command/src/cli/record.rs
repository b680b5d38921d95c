//! `granule record`: runs a scene and writes all that was done to its world into a file. `granule replay`: does it again, and checks that
//! each step gives the same state.

use super::args::{Format, RecordArgs, ReplayArgs};
use super::input::{self, Input};
use super::progress::Progress;
use super::{Outcome, bad_file, check_failed, emit, emit_json};
use granule::scene::Player;
use granule::{Mismatch, Recording};
use serde::Serialize;

#[derive(Serialize)]
struct Verdict {
    schema: &'static str,
    steps: u64,
    checked: u64,
    isa: &'static str,
    threads: usize,
    identical: bool,
    state_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mismatch: Option<MismatchRecord>,
}

#[derive(Serialize)]
struct MismatchRecord {
    step: u64,
    expected: String,
    got: String,
}

pub fn record(args: &RecordArgs) -> Outcome {
    input::check_file("--out", Some(&args.out))?;
    let input = Input::new(&args.scene)?;
    let mut world = input.world()?;
    let steps = u64::from(input.warmup) + u64::from(input.steps);
    let pool = input::pool(input.threads)?;
    let mut player = Player::new(&input.scene, &world);
    world.start_recording(args.every);
    let progress = Progress::new(steps);
    progress.phase("recording");
    for _ in 0..steps {
        pool.install(|| player.step(&mut world));
        progress.step();
    }
    drop(progress);
    let bytes = world.stop_recording().map(|recording| recording.to_bytes()).unwrap_or_default();
    std::fs::write(&args.out, &bytes).map_err(|error| bad_file(&args.out, &error))?;
    emit(&format!(
        "recorded: {steps} steps of {}, {} bytes, hash {:016x} ({})\n",
        input.scene.name,
        bytes.len(),
        world.state_hash(),
        args.out.display()
    ))
}

pub fn replay(args: &ReplayArgs) -> Outcome {
    let bytes = std::fs::read(&args.file).map_err(|error| bad_file(&args.file, &error))?;
    let recording = Recording::from_bytes(&bytes).map_err(|error| bad_file(&args.file, &error))?;
    let threads = args.threads.map_or_else(input::processors, |threads| threads as usize);
    // The threads are to take part even if there are fewer processors.
    granule::set_oversubscribe(true);
    let pool = input::pool(threads)?;
    let replay = pool.install(|| recording.replay(args.isa.unwrap_or_default()));
    let replay = replay.map_err(|error| bad_file(&args.file, &error))?;
    let verdict = Verdict {
        schema: "granule.replay/1",
        steps: replay.steps,
        checked: replay.checked,
        isa: replay.world.isa().name(),
        threads,
        identical: replay.mismatch.is_none(),
        state_hash: format!("{:016x}", replay.world.state_hash()),
        mismatch: replay.mismatch.map(|Mismatch { step, expected, got }| MismatchRecord {
            step,
            expected: format!("{expected:016x}"),
            got: format!("{got:016x}"),
        }),
    };
    match args.format {
        Format::Json => emit_json(&verdict)?,
        Format::Human if verdict.identical => emit(&format!(
            "identical: {} steps, {} hashes checked, hash {} ({} threads {threads})\n",
            verdict.steps, verdict.checked, verdict.state_hash, verdict.isa
        ))?,
        Format::Human => {}
    }
    match verdict.mismatch {
        None => Ok(()),
        Some(MismatchRecord { step, expected, got }) => {
            let had = recording.has_hooks().map_err(|error| bad_file(&args.file, &error))?;
            let why = if had {
                " (the world had hooks, which are code of the host and not in the file)"
            } else {
                ""
            };
            Err(check_failed(format!("replay: step {step}: expected hash {expected}, got {got}{why}")))
        }
    }
}

//! What it costs to be told: steps with events of one kind or all of them on, and with the telemetry read after each step, against steps without,
//! on one thread. Joints tell of any force of 1 N or more, which in `joint_grid` nearly all bear.
//!
//! `cargo bench -p granule-benches --bench telling`, with the names of scenes behind `--` only these. Each scene is run seven times in each way, by turns; of each step the least time counts. A row
//! has the ratios of the median, the mean and the 99th percentile to those of the steps without.

use granule::scene::{self, Player};
use granule::{Settings, World};
use std::hint::black_box;
use std::time::Instant;

/// What a host asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Nothing,
    Telemetry,
    Hits,
    Moves,
    Forces,
    AllEvents,
}

const WAYS: [Told; 6] =
    [Told::Nothing, Told::Telemetry, Told::Hits, Told::Moves, Told::Forces, Told::AllEvents];

/// How many bodies, steps and rounds: few where it is only to be seen that all runs.
fn size() -> (usize, usize, usize) {
    if std::env::args().any(|arg| arg == "--bench") { (10_000, 300, 7) } else { (200, 5, 1) }
}

fn ask(world: &mut World, told: Told) {
    let wants = |kind| told == kind || told == Told::AllEvents;
    if wants(Told::Hits) {
        world.set_hit_events(Some(1.0)).unwrap();
    }
    world.set_move_events(wants(Told::Moves));
    if wants(Told::Forces) {
        world.set_joint_force_events(Some(1.0)).unwrap();
    }
}

/// Reads what the host asked for, as a host does.
fn read(world: &World, told: Told) -> usize {
    match told {
        Told::Nothing => 0,
        Told::Telemetry => world.telemetry().pairs,
        _ => {
            let moved = world.move_events().len() + world.hit_events().len();
            moved + world.joint_force_events().len() + world.begin_events().len() + world.end_events().len()
        }
    }
}

fn main() {
    let (bodies, steps, rounds) = size();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    println!("{:<14} {:<10} {:>7} {:>7} {:>7}", "scene", "told", "median", "mean", "p99");
    for name in ["gas", "pile", "mixed_shapes", "rain", "joint_grid"] {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        let mut least = [(); WAYS.len()].map(|()| vec![f64::INFINITY; steps]);
        for _ in 0..rounds {
            for (told, least) in WAYS.into_iter().zip(&mut least) {
                let mut scene = scene::builtin(name, bodies, 1).unwrap();
                scene.settings = Settings { sleep: false, ..scene.settings };
                let mut world = scene.build().unwrap();
                let mut player = Player::new(&scene, &world);
                ask(&mut world, told);
                for least in least {
                    let start = Instant::now();
                    player.step(&mut world);
                    black_box(read(&world, told));
                    *least = least.min(start.elapsed().as_secs_f64());
                }
            }
        }
        let figures = least.map(|mut times| {
            let mean = times.iter().sum::<f64>() / steps as f64;
            times.sort_unstable_by(f64::total_cmp);
            [times[steps / 2], mean, times[steps * 99 / 100]]
        });
        for (told, figure) in WAYS.into_iter().zip(figures).skip(1) {
            let [median, mean, p99] = [0, 1, 2].map(|i| figure[i] / figures[0][i]);
            let told = format!("{told:?}");
            println!("{name:<14} {told:<10} {median:>7.3} {mean:>7.3} {p99:>7.3}");
        }
    }
}

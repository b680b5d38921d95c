//! The dearest step of every built-in scene, next to the median one: Granule alone, at one thread.

use crate::report::Origin;
use crate::report::table::{table, times};
use crate::times::{Times, least};
use ::granule::scene::{BUILTIN, Player, builtin};
use std::time::Instant;

/// The least times of the measured steps over the rounds, s.
fn steps_of(
    name: &str,
    bodies: usize,
    warmup: usize,
    steps: usize,
    rounds: usize,
) -> Result<Vec<f64>, String> {
    let mut best = vec![f64::INFINITY; steps];
    for _ in 0..rounds {
        let mut scene = builtin(name, bodies, 1).ok_or_else(|| format!("no scene `{name}`"))?;
        (scene.settings.sleep, scene.settings.continuous) = (false, false);
        let mut world = scene.build().map_err(|error| error.to_string())?;
        let mut player = Player::new(&scene, &world);
        (0..warmup).for_each(|_| player.step(&mut world));
        let round: Vec<f64> = (0..steps)
            .map(|_| {
                let start = Instant::now();
                player.step(&mut world);
                start.elapsed().as_secs_f64()
            })
            .collect();
        least(&mut best, &round);
    }
    Ok(best)
}

/// The table.
pub fn report(origin: &Origin, rounds: usize, quick: bool) -> Result<String, String> {
    let (bodies, warmup, steps) = if quick { (200, 10, 20) } else { (4_000, 60, 600) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    for scene in BUILTIN {
        let seconds = pool.install(|| steps_of(scene.name, bodies, warmup, steps, rounds))?;
        let found = Times::of(&seconds);
        let ratio = found.max_ms / found.p50_ms;
        rows.push(vec![
            scene.name.to_owned(),
            format!("{:.4}", found.p50_ms),
            format!("{:.4}", found.mean_ms),
            format!("{:.4}", found.max_ms),
            times(ratio),
            times(found.max_ms / found.mean_ms),
            if ratio <= 2.0 {
                "aim"
            } else if ratio <= 3.0 {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
        ]);
    }
    let head =
        ["scene", "p50 ms", "mean ms", "dearest ms", "to the median", "to the mean", "at most 3 medians"];
    Ok(format!(
        "# The dearest step of the built-in scenes\n\n{}\n{bodies} bodies, {steps} steps after {warmup}, one thread, sleep and \
         continuous collision off; of each step the least of {rounds} rounds. Where a scene comes to rest after its dearest step, the median \
         is that of a pile at rest.\n\n{}",
        origin.markdown(),
        table(&head, &rows)
    ))
}

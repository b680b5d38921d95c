//! The comparison of the engines.

use super::table::{cell, depth, distinct, find, ms, table, times, yes};
use super::{Goal, Run};
use crate::cases::{Bar, Bars, SETTLED};
use crate::engine::Engine;
use crate::measure::{CONTACT_DISTANCE, Quality};
use crate::times::Times;

/// The tables of the cases.
pub fn tables(runs: &[Run], goals: &[Goal]) -> String {
    if runs.is_empty() {
        return String::new();
    }
    format!("{}{}{}{}", ratios(runs, goals), qualities(runs), scaling(runs), details(runs))
}

/// The peers' runs next to one of Granule.
fn peers_of<'a>(runs: &'a [Run], own: &Run) -> Vec<&'a Run> {
    let of = |&engine: &Engine| find(runs, &own.case, own.threads, engine);
    [Engine::Box2d, Engine::Rapier].iter().filter_map(of).collect()
}

/// Granule's runs that have a peer's beside them, and the peers' runs.
fn pairs(runs: &[Run]) -> impl Iterator<Item = (&Run, Vec<&Run>)> {
    let own = runs.iter().filter(|run| run.engine == Engine::Granule);
    own.map(|own| (own, peers_of(runs, own))).filter(|(_, peers)| !peers.is_empty())
}

/// A figure of a step's time.
type Figure = fn(&Times) -> f64;

/// The peer with the least of a figure, and that over Granule's.
fn ratio<'a>(own: &Run, peers: &[&'a Run], of: Figure) -> Option<(&'a Run, f64)> {
    let faster = peers.iter().min_by(|a, b| of(&a.times).total_cmp(&of(&b.times)))?;
    Some((faster, of(&faster.times) / of(&own.times)))
}

/// Granule against the faster peer, figure by figure.
fn ratios(runs: &[Run], goals: &[Goal]) -> String {
    type Barred = (Figure, fn(&Bars) -> Bar);
    let figures: [Barred; 3] = [
        (|times| times.p50_ms, |bars| bars.median),
        (|times| times.mean_ms, |bars| bars.mean),
        (|times| times.p99_ms, |bars| bars.p99),
    ];
    let row = |(own, peers): (&Run, Vec<&Run>)| {
        let bars = goals.iter().find(|(case, _)| *case == own.case).map(|(_, bars)| bars);
        let shown = |faster: &Run, ratio: f64| format!("{} {}", faster.engine.name(), times(ratio));
        let mut row = vec![own.case.clone(), own.bodies.to_string(), own.threads.to_string()];
        for (of, bar) in figures {
            let found = ratio(own, &peers, of);
            let bar = bars.map(bar);
            row.push(ms(of(&own.times)));
            row.push(cell(found.map(|(faster, ratio)| shown(faster, ratio))));
            row.push(cell(bar.map(|bar| asked(&bar))));
            row.push(cell(bar.zip(found).map(|(bar, (_, ratio))| reached(&bar, ratio).to_owned())));
        }
        let slowest = ratio(own, &peers, |times| times.max_ms);
        row.push(ms(own.times.max_ms));
        row.push(cell(slowest.map(|(faster, ratio)| shown(faster, ratio))));
        row
    };
    let rows: Vec<Vec<String>> = pairs(runs).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let figure =
        |name: &str| [&format!("{name} ms"), "ratio", "at least (aim)", "reached"].map(str::to_owned);
    let mut head = ["case", "bodies", "threads"].map(str::to_owned).to_vec();
    head.extend(["median", "mean", "p99"].into_iter().flat_map(figure));
    head.extend(["max ms", "ratio"].map(str::to_owned));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let figures = "## Granule against the faster peer\n\nOf each step the least time over the rounds is taken; the figures \
                   are over the steps of these least times, in each engine. The times are Granule's, a ratio is the faster peer's figure over \
                   Granule's, and which peer is the faster is asked figure by figure. Where a run has less than 100 steps its 99th \
                   percentile is its slowest step.\n\n";
    figures.to_owned() + &table(&head, &rows)
}

/// A bar as the table has it: `3 (5)`.
fn asked(bar: &Bar) -> String {
    let aim = bar.aim.map_or_else(String::new, |aim| format!(" ({aim})"));
    format!("{}{aim}", bar.at_least)
}

/// How far a ratio gets.
fn reached(bar: &Bar, ratio: f64) -> &'static str {
    match bar.aim {
        Some(aim) if ratio >= aim => "aim",
        _ if ratio >= bar.at_least => "yes",
        _ => "no",
    }
}

/// Granule's final states against the peers'.
fn qualities(runs: &[Run]) -> String {
    let row = |(own, peers): (&Run, Vec<&Run>)| {
        // Transients depend on the order of contacts, states at rest do not.
        let settled = own.warmup >= SETTLED.warmup && peers.iter().any(|run| run.engine == Engine::Box2d);
        let judges = || peers.iter().filter(|run| !settled || run.engine == Engine::Box2d);
        let worst = |of: fn(&Quality) -> f64| judges().map(|run| of(&run.quality)).fold(0.0, f64::max);
        let no_worse = |of: fn(&Quality) -> f64| of(&own.quality) <= worst(of);
        let over_turns = |run: &Run| run.max_penetration_over_turns;
        let no_deeper = over_turns(own) <= judges().map(|run| over_turns(run)).fold(0.0, f64::max);
        let calmer = |of: fn(&Run) -> f64| {
            own.unrest(of(own)) <= judges().map(|run| run.unrest(of(run))).fold(0.0, f64::max)
        };
        vec![
            own.case.clone(),
            own.threads.to_string(),
            yes(Some(no_worse(|q| q.mean_penetration))),
            yes(Some(no_worse(|q| q.max_penetration))),
            yes(Some(no_deeper)),
            yes(Some(calmer(|run| run.quality.rms_speed))),
            yes(Some(calmer(|run| run.rms_speed_over_turns))),
            own.quality.lost.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = pairs(runs).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = [
        "case",
        "threads",
        "mean pen. ok",
        "max pen. ok",
        "over turns ok",
        "RMS speed ok",
        "over turns ok",
        "lost",
    ];
    "## Its final states against theirs\n\nA quality is ok when it is no worse than the worse peer's, after \
     600 unmeasured steps when it is no worse than Box2D's. An RMS speed that nothing may change (`gas`) is the better the \
     nearer it is to that of the start; `washer` and `tumbler` are driven for ever, and theirs is that over the turns. \
     What falls or flies when it is judged should only be as fast as the peers'; its speeds are below.\n\n"
        .to_owned()
        + &table(&head, &rows)
}

/// What more threads gain in each engine.
fn scaling(runs: &[Run]) -> String {
    let threads = distinct(runs, |run| run.threads);
    let (Some(&base), true) = (threads.first(), threads.len() > 1) else { return String::new() };
    let engines = distinct(runs, |run| run.engine);
    let mut head = vec!["case".to_owned()];
    for &more in &threads[1..] {
        head.extend(engines.iter().map(|engine| format!("{} {base}→{more}", engine.name())));
    }
    let mut rows = Vec::new();
    for case in distinct(runs, |run| run.case.clone()) {
        let mut row = vec![case.clone()];
        for &more in &threads[1..] {
            for &engine in &engines {
                let pair = find(runs, &case, base, engine).zip(find(runs, &case, more, engine));
                row.push(cell(pair.map(|(one, many)| times(one.times.p50_ms / many.times.p50_ms))));
            }
        }
        rows.push(row);
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    format!("## Speed-up by threads\n\n{}", table(&head, &rows))
}

/// Every run.
fn details(runs: &[Run]) -> String {
    let row = |run: &Run| {
        let own = find(runs, &run.case, run.threads, Engine::Granule);
        vec![
            run.case.clone(),
            run.bodies.to_string(),
            run.threads.to_string(),
            run.engine.name().to_owned(),
            ms(run.times.p50_ms),
            ms(run.times.mean_ms),
            ms(run.times.p99_ms),
            ms(run.times.max_ms),
            format!("{:.0}", run.ns_per_body_step),
            cell(own.map(|own| times(run.times.p50_ms / own.times.p50_ms))),
            run.quality.contacts.to_string(),
            depth(run.quality.mean_penetration),
            depth(run.quality.max_penetration),
            depth(run.max_penetration_over_turns),
            format!("{:.4}", run.quality.rms_speed),
            format!("{:.4}", run.rms_speed_over_turns),
            run.quality.outside.to_string(),
            run.quality.lost.to_string(),
            yes(Some(run.rounds_agree)),
        ]
    };
    let head = [
        "case",
        "bodies",
        "threads",
        "engine",
        "p50 ms",
        "mean ms",
        "p99 ms",
        "max ms",
        "ns/body/step",
        "to Granule",
        "contacts",
        "mean pen. m",
        "max pen. m",
        "over turns",
        "RMS speed m/s",
        "over turns",
        "outside",
        "lost",
        "rounds agree",
    ];
    format!("## Every run\n\n{}{}", table(&head, &runs.iter().map(row).collect::<Vec<_>>()), legend(runs))
}

/// What the tables of runs have in common.
pub fn legend(runs: &[Run]) -> String {
    let rest =
        if runs.iter().any(|run| run.sleep) { "on, as the engines have them by default" } else { "off" };
    format!(
        "All engines: the same bodies, steps of 1/60 s with 4 substeps unless stated, sleeping and continuous \
         collision {rest}, friction by geometric mean, restitution by max. Times are per step: of each step the least over \
         the rounds. Quality is that of the \
         state after the last measured step, by the same code for all: contacts are pairs less than \
         {CONTACT_DISTANCE} m apart, the mean penetration is over the pairs that overlap, lost bodies have a \
         position or velocity that is not finite, and those outside have left the bounds of what there was at the start. RMS speed over turns is that of the ends of all turns \
         (`--turns`) together: a pile swings for hundreds of steps, and its speed at the end is that of one \
         moment. The deepest penetration over turns is the mean over those ends: of a gas, that of one \
         moment is chance.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ratio is that of the peer with the least figure, and says which bar it reaches.
    #[test]
    fn bars_of_a_case() {
        let run = |engine, p50_ms, p99_ms| Run {
            case: "c".to_owned(),
            engine,
            times: Times { p50_ms, mean_ms: p50_ms, p99_ms, max_ms: p99_ms },
            ..Run::default()
        };
        let runs =
            [run(Engine::Granule, 1.0, 2.0), run(Engine::Box2d, 4.0, 20.0), run(Engine::Rapier, 8.0, 10.0)];
        let bar = |at_least, aim| Bar { at_least, aim };
        let bars = Bars { median: bar(3.0, Some(5.0)), mean: bar(4.5, None), p99: bar(2.0, Some(5.0)) };
        let text = ratios(&runs, &[("c".to_owned(), bars)]);
        let last = text.lines().rfind(|line| line.starts_with('|')).expect("a row");
        let cells: Vec<&str> = last.split('|').map(str::trim).collect();
        assert_eq!(cells[4..8], ["1.000", "Box2D 4.00×", "3 (5)", "yes"]);
        assert_eq!(cells[8..12], ["1.000", "Box2D 4.00×", "4.5", "no"]);
        assert_eq!(cells[12..16], ["2.000", "Rapier 5.00×", "2 (5)", "aim"]);
        assert_eq!(cells[16..18], ["2.000", "Rapier 5.00×"]);
    }
}

//! The pages of the modes besides the comparison.

use super::Run;
use super::comparison::legend;
use super::table::{cell, depth, distinct, ms, table, times};
use crate::engine::Engine;
use std::fmt::Write;

/// Every engine at several substeps.
pub fn substeps(runs: &[Run]) -> String {
    let mut text = String::from(
        "What a state in motion is like depends on the substeps. An engine whose figures still change with more was not \
         there yet with few.\n\n",
    );
    for (case, threads) in distinct(runs, |run| (run.case.clone(), run.threads)) {
        let here: Vec<&Run> = runs.iter().filter(|run| run.case == case && run.threads == threads).collect();
        let first = here[0];
        let row = |run: &&Run| {
            vec![
                run.engine.name().to_owned(),
                run.substeps.to_string(),
                ms(run.times.p50_ms),
                depth(run.quality.mean_penetration),
                depth(run.quality.max_penetration),
                format!("{:.4}", run.quality.rms_speed),
                format!("{:.4}", run.rms_speed_over_turns),
                run.quality.contacts.to_string(),
            ]
        };
        let head = [
            "engine",
            "substeps",
            "p50 ms",
            "mean pen. m",
            "max pen. m",
            "RMS speed m/s",
            "over turns",
            "contacts",
        ];
        let rows: Vec<Vec<String>> = here.iter().map(row).collect();
        let steps = first.warmup + first.steps;
        let heading = format!("## `{case}`, {} bodies, after {steps} steps, {threads} threads", first.bodies);
        text += &format!("{heading}\n\n{}", table(&head, &rows));
    }
    text + &legend(runs)
}

/// Continuous collision, next to the same without.
pub fn continuous(runs: &[Run]) -> String {
    let figures: [fn(&Run) -> f64; 3] =
        [|run| run.times.p50_ms, |run| run.times.mean_ms, |run| run.times.p99_ms];
    let mut rows = Vec::new();
    for (case, threads, engine) in distinct(runs, |run| (run.case.as_str(), run.threads, run.engine)) {
        let of = |continuous| {
            runs.iter().find(|run| {
                (run.case.as_str(), run.threads, run.engine, run.continuous)
                    == (case, threads, engine, continuous)
            })
        };
        let (Some(off), Some(on)) = (of(false), of(true)) else { continue };
        let mut row = vec![case.to_owned(), threads.to_string(), engine.name().to_owned()];
        for figure in figures {
            row.extend([ms(figure(off)), ms(figure(on)), format!("{:.3}", figure(off) / figure(on))]);
        }
        row.extend([off, on].map(|run| run.quality.outside.to_string()));
        rows.push(row);
    }
    let head = [
        "case",
        "threads",
        "engine",
        "median off",
        "on",
        "off/on",
        "mean off",
        "on",
        "off/on",
        "p99 off",
        "on",
        "off/on",
        "outside off",
        "on",
    ];
    format!(
        "Times of a step in ms, without continuous collision and with it, in turns; a ratio below 1 says that it costs. Bodies are outside that have \
         left the bounds of what there was at the start.\n\n{}",
        table(&head, &rows)
    )
}

/// Granule's settings next to Box2D.
pub fn settings(runs: &[Run]) -> String {
    let mut text = String::new();
    for (case, threads) in distinct(runs, |run| (run.case.as_str(), run.threads)) {
        let here: Vec<&Run> =
            runs.iter().filter(|run| (run.case.as_str(), run.threads) == (case, threads)).collect();
        let box2d = here.iter().find(|run| run.engine == Engine::Box2d);
        let soft = |run: &Run, value: Option<f32>| match value {
            _ if run.engine != Engine::Granule || run.solver != "soft" => "–".to_owned(),
            Some(value) => format!("{value:.3}"),
            None => "default".to_owned(),
        };
        let row = |run: &&Run| {
            let own = run.engine == Engine::Granule;
            let less = |of: fn(&Run) -> f64| {
                cell(box2d.map(|box2d| of(box2d) / of(run)).filter(|ratio| ratio.is_finite()).map(times))
            };
            vec![
                run.engine.name().to_owned(),
                if own { run.solver.clone() } else { "–".to_owned() },
                run.substeps.to_string(),
                if own { run.iterations.to_string() } else { "–".to_owned() },
                soft(run, run.contact_frequency_ratio),
                soft(run, run.damping_ratio),
                ms(run.times.p50_ms),
                ms(run.times.p99_ms),
                less(|run| run.times.p50_ms),
                depth(run.quality.mean_penetration),
                less(|run| run.quality.mean_penetration),
                depth(run.quality.max_penetration),
                less(|run| run.quality.max_penetration),
                format!("{:.4}", run.quality.rms_speed),
                less(|run| run.quality.rms_speed),
                run.quality.contacts.to_string(),
            ]
        };
        let head = [
            "engine",
            "solver",
            "substeps",
            "iterations",
            "frequency",
            "damping",
            "p50 ms",
            "p99 ms",
            "faster",
            "mean pen. m",
            "shallower",
            "max pen. m",
            "shallower",
            "RMS speed m/s",
            "slower",
            "contacts",
        ];
        let rows: Vec<Vec<String>> = here.iter().map(row).collect();
        let first = here[0];
        write!(
            text,
            "## `{case}`, {} bodies, after {} + {} steps, {threads} thread{}\n\n`faster`, `shallower` and `slower` (the \
             bodies) are Box2D's figure over the row's; `frequency` is that of the soft contact by the substep rate, \
             `damping` its damping ratio (contacts that turn nobody take twice as much).\n\n{}",
            first.bodies,
            first.warmup,
            first.steps,
            if threads == 1 { "" } else { "s" },
            table(&head, &rows)
        )
        .expect("writing to a string");
    }
    text + &legend(runs)
}

/// Cost per body and peak memory.
pub fn sizes(runs: &[Run]) -> String {
    let mean_of = |run: &Run| run.times.mean_ms / run.bodies as f64;
    let row = |run: &Run| {
        let smallest = runs.iter().find(|other| other.engine == run.engine && other.threads == run.threads);
        vec![
            run.engine.name().to_owned(),
            run.threads.to_string(),
            run.bodies.to_string(),
            ms(run.times.p50_ms),
            ms(run.times.mean_ms),
            ms(run.times.p99_ms),
            ms(run.times.max_ms),
            format!("{:.1}", run.ns_per_body_step),
            cell(smallest.map(|small| times(mean_of(run) / mean_of(small)))),
            times(run.times.max_ms / run.times.p50_ms),
            cell(run.peak_rss_bytes.map(|bytes| format!("{:.1}", bytes as f64 / (1 << 20) as f64))),
            cell(run.peak_rss_bytes.map(|bytes| format!("{:.0}", bytes as f64 / run.bodies as f64))),
            run.quality.contacts.to_string(),
            depth(run.quality.mean_penetration),
            depth(run.quality.max_penetration),
        ]
    };
    let head = [
        "engine",
        "threads",
        "bodies",
        "p50 ms",
        "mean ms",
        "p99 ms",
        "max ms",
        "ns/body/step",
        "mean a body, to the smallest",
        "max to median",
        "peak RSS MiB",
        "bytes/body",
        "contacts",
        "mean pen. m",
        "max pen. m",
    ];
    let rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    format!(
        "## `packed` circles\n\nEach size in a process of its own.\n\n{}{}",
        table(&head, &rows),
        legend(runs)
    )
}

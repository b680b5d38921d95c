//! A table, one row per record (RFC 4180, with the line breaks of Unix). Times of single steps are left out.

use super::super::RunRecord;
use std::io::{self, Write};

type Column = (&'static str, fn(&RunRecord) -> String);

/// The columns, in the order of the record's fields. The names of nested fields are joined by an underscore.
const COLUMNS: &[Column] = &[
    ("schema", |r| r.schema.clone()),
    ("scene", |r| r.scene.clone()),
    ("bodies", |r| r.bodies.to_string()),
    ("static_bodies", |r| r.static_bodies.to_string()),
    ("particles", |r| r.particles.to_string()),
    ("links", |r| r.links.to_string()),
    ("joints", |r| r.joints.to_string()),
    ("link_iterations", |r| r.link_iterations.to_string()),
    ("steps", |r| r.steps.to_string()),
    ("warmup", |r| r.warmup.to_string()),
    ("substeps", |r| r.substeps.to_string()),
    ("iterations", |r| r.iterations.to_string()),
    ("solver", |r| r.solver.clone()),
    ("sleep", |r| r.sleep.to_string()),
    ("continuous", |r| r.continuous.map_or_else(String::new, |on| on.to_string())),
    ("threads", |r| r.threads.to_string()),
    ("lanes", |r| r.lanes.to_string()),
    ("isa", |r| r.isa.clone()),
    ("seed", |r| r.seed.to_string()),
    ("step_ms_mean", |r| r.step_ms.mean.to_string()),
    ("step_ms_p50", |r| r.step_ms.p50.to_string()),
    ("step_ms_p95", |r| r.step_ms.p95.to_string()),
    ("step_ms_p99", |r| r.step_ms.p99.to_string()),
    ("step_ms_max", |r| r.step_ms.max.to_string()),
    ("phases_ms_bounds", |r| r.phases_ms.bounds.to_string()),
    ("phases_ms_broadphase", |r| r.phases_ms.broadphase.to_string()),
    ("phases_ms_narrowphase", |r| r.phases_ms.narrowphase.to_string()),
    ("phases_ms_contacts", |r| r.phases_ms.contacts.to_string()),
    ("phases_ms_solver", |r| r.phases_ms.solver.to_string()),
    ("phases_ms_islands", |r| r.phases_ms.islands.to_string()),
    ("pairs", |r| r.pairs.to_string()),
    ("contacts", |r| r.contacts.to_string()),
    ("awake_bodies", |r| r.awake_bodies.to_string()),
    ("islands", |r| r.islands.to_string()),
    ("ns_per_body_step", |r| r.ns_per_body_step.to_string()),
    ("quality_mean_penetration", |r| r.quality.mean_penetration.to_string()),
    ("quality_max_penetration", |r| r.quality.max_penetration.to_string()),
    ("quality_kinetic_energy", |r| r.quality.kinetic_energy.to_string()),
    ("quality_momentum_x", |r| r.quality.momentum[0].to_string()),
    ("quality_momentum_y", |r| r.quality.momentum[1].to_string()),
    ("quality_mean_stretch", |r| r.quality.mean_stretch.to_string()),
    ("quality_max_stretch", |r| r.quality.max_stretch.to_string()),
    ("quarantined", |r| r.quarantined.to_string()),
    ("state_hash", |r| r.state_hash.clone()),
    ("peak_rss_bytes", |r| r.peak_rss_bytes.to_string()),
    ("allocations_per_step", |r| r.allocations_per_step.to_string()),
    ("machine_cpu", |r| r.machine.cpu.clone()),
    ("machine_cores", |r| r.machine.cores.to_string()),
    ("machine_os", |r| r.machine.os.clone()),
    ("version", |r| r.version.clone()),
    ("commit", |r| r.commit.clone()),
    ("rustc", |r| r.rustc.clone()),
    ("unix_time", |r| r.unix_time.to_string()),
];

pub(super) fn write(out: &mut impl Write, records: &[&RunRecord]) -> io::Result<()> {
    write_row(out, COLUMNS.iter().map(|(name, _)| (*name).to_owned()))?;
    for record in records {
        write_row(out, COLUMNS.iter().map(|(_, value)| value(record)))?;
    }
    Ok(())
}

fn write_row(out: &mut impl Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    let fields: Vec<String> = fields.map(quoted).collect();
    writeln!(out, "{}", fields.join(","))
}

fn quoted(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

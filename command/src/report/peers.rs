//! Reads the comparison with other engines that `benches/peers` writes: `granule.peers/1` and the related reports.
//! Reads only what the page shows, and ignores runs that lack some of it.

use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The runs of one report.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// The origin of the runs: processor, cores, compiler, flags and the engines' versions, as names and values.
    pub origin: Vec<(String, String)>,
    /// The runs, in their order.
    pub runs: Vec<PeerRun>,
}

/// The run of one engine in one case.
#[derive(Clone, Debug, Deserialize)]
pub struct PeerRun {
    /// Name of the case.
    pub case: String,
    /// `granule`, `box2d` or `rapier`.
    pub engine: String,
    /// Moving bodies.
    #[serde(default)]
    pub bodies: usize,
    /// The number of threads that may work on a step.
    pub threads: usize,
    /// Substeps per step.
    #[serde(default)]
    pub substeps: u32,
    /// Solver iterations per substep.
    #[serde(default)]
    pub iterations: u32,
    /// `soft` or `projection`.
    #[serde(default)]
    pub solver: String,
    /// Granule's ratio of contact frequency to substep rate, if it is not the default.
    #[serde(default)]
    pub contact_frequency_ratio: Option<f64>,
    /// Granule's damping ratio, if it is not the default.
    #[serde(default)]
    pub damping_ratio: Option<f64>,
    /// Median time of a step, ms.
    pub p50_ms: f64,
    /// Mean time of a step, ms; older reports lack it.
    #[serde(default)]
    pub mean_ms: Option<f64>,
    /// 99th percentile of a step, ms; older reports lack it.
    #[serde(default)]
    pub p99_ms: Option<f64>,
    /// Quality of the final state.
    #[serde(default)]
    pub quality: PeerQuality,
}

/// How well the final state satisfies the contacts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PeerQuality {
    /// Mean over the contacts that overlap, m.
    pub mean_penetration: Option<f64>,
    /// Depth of the deepest contact, m.
    pub max_penetration: Option<f64>,
}

/// Reads a report. Returns `None` if the file does not exist. The error says what is wrong with it.
pub fn read(path: &Path) -> Result<Option<Peers>, String> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| format!("not JSON: {error}"))?;
    let schema = value.get("schema").and_then(Value::as_str).unwrap_or_default();
    if !matches!(schema, "granule.peers/1" | "granule.peers-quality/1") {
        return Err(format!("of the schema {schema:?}, where granule.peers/1 is expected"));
    }
    let runs = value.get("runs").and_then(Value::as_array).ok_or("it has no runs")?;
    let usable = |run: &PeerRun| run.p50_ms.is_finite() && run.p50_ms > 0.0;
    let runs =
        runs.iter().filter_map(|run| serde_json::from_value(run.clone()).ok()).filter(usable).collect();
    let origin = value.get("origin").and_then(Value::as_object);
    let origin = origin.into_iter().flatten().map(|(key, value)| (key.clone(), plain(value))).collect();
    Ok(Some(Peers { origin, runs }))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report is read as far as possible. Another schema is refused by name. A missing file gives no report.
    #[test]
    fn tolerant() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("peers.json");
        assert!(read(&path).expect("no error").is_none());
        let run =
            r#"{"case":"a","engine":"box2d","threads":1,"p50_ms":2.5,"quality":{"mean_penetration":0.1}}"#;
        let newer = r#"{"case":"a","engine":"box2d","threads":2,"p50_ms":2.5,"mean_ms":3.0,"p99_ms":4.0}"#;
        let runs = format!(r#"[{run},{{"case":"b"}},{newer}]"#);
        let text =
            format!(r#"{{"schema":"granule.peers/1","origin":{{"cpu":"x","cores":2}},"runs":{runs}}}"#);
        fs::write(&path, &text).expect("a file");
        let peers = read(&path).expect("a report").expect("a file");
        let figures: Vec<_> = peers.runs.iter().map(|run| (run.p50_ms, run.mean_ms, run.p99_ms)).collect();
        assert_eq!(figures, [(2.5, None, None), (2.5, Some(3.0), Some(4.0))]);
        assert_eq!(peers.runs[0].quality.mean_penetration, Some(0.1));
        assert!(peers.origin.contains(&("cores".to_owned(), "2".to_owned())));
        fs::write(&path, text.replace("peers/1", "peers/2")).expect("a file");
        assert!(read(&path).expect_err("a newer schema").contains("\"granule.peers/2\""));
        fs::write(&path, "{").expect("a file");
        assert!(read(&path).expect_err("no JSON").starts_with("not JSON"));
    }
}

//! Reads criterion's results from its files: `…/new/estimates.json`, which has the times in ns, and
//! `…/new/benchmark.json` next to it, which has the names.
//!
//! criterion does not promise this file format. So everything but one time is optional, field names are read in any
//! case (criterion 0.3 wrote `Mean`), and results that can't be used are skipped with a reason.

use super::Skipped;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;

/// The greatest depth to which groups, functions and parameters are nested.
const MAX_DEPTH: usize = 8;

/// One benchmark.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// `group/function/parameter`.
    pub name: String,
    /// The estimate of criterion that the time is: `median`, else `mean`, else `slope`.
    pub estimate: &'static str,
    /// The time, ns.
    pub ns: f64,
    /// The confidence interval of the time, ns.
    pub interval: Option<[f64; 2]>,
    /// The number of elements or bytes that one iteration goes through.
    pub throughput: Option<f64>,
}

/// Reads all results below `dir`, in the order of their names. Also returns what was skipped.
///
/// # Errors
///
/// The errors of the file system, for the directory itself.
pub fn read(dir: &Path) -> io::Result<(Vec<Benchmark>, Vec<Skipped>)> {
    let (mut found, mut skipped) = (Vec::new(), Vec::new());
    fs::read_dir(dir)?;
    walk(dir, dir, MAX_DEPTH, &mut |results| match benchmark(dir, results) {
        Ok(benchmark) => found.push(benchmark),
        Err(reason) => skipped.push(Skipped { place: results.display().to_string(), reason }),
    });
    found.sort_by(|a, b| a.name.cmp(&b.name));
    skipped.sort_by(|a, b| a.place.cmp(&b.place));
    Ok((found, skipped))
}

/// Calls `visit` with each directory `new` that has results. Does not follow symbolic links, so there are no loops.
fn walk(root: &Path, dir: &Path, depth: usize, visit: &mut impl FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = entry.path();
        // A group may have the name `new`, too.
        let results = ["estimates.json", "benchmark.json"].iter().any(|name| path.join(name).exists());
        if results && entry.file_name() == "new" && dir != root {
            visit(&path);
        } else if depth > 0 {
            walk(root, &path, depth - 1, visit);
        }
    }
}

fn benchmark(root: &Path, results: &Path) -> Result<Benchmark, String> {
    let estimates =
        json(&results.join("estimates.json")).map_err(|error| format!("estimates.json: {error}"))?;
    let names = json(&results.join("benchmark.json")).unwrap_or(Value::Null);
    let (estimate, found) = ["median", "mean", "slope"]
        .into_iter()
        .find_map(|name| Some((name, field(&estimates, name).filter(|found| !found.is_null())?)))
        .ok_or("estimates.json: it has no median, mean or slope")?;
    let positive = |value: Option<&Value>| value.and_then(Value::as_f64).filter(|number| *number > 0.0);
    let ns = positive(field(found, "point_estimate"))
        .ok_or_else(|| format!("estimates.json: {estimate} has no point_estimate that is a time"))?;
    let interval = field(found, "confidence_interval").and_then(|interval| {
        Some([positive(field(interval, "lower_bound"))?, positive(field(interval, "upper_bound"))?])
    });
    Ok(Benchmark {
        name: name(&names, root, results),
        estimate,
        ns,
        interval,
        throughput: throughput(&names),
    })
}

fn json(path: &Path) -> Result<Value, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| format!("not JSON: {error}"))
}

/// Finds a field by its name, in any case.
fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let object = object.as_object()?;
    object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The benchmark's own name, else the name made of its parts, else the path of its directory.
fn name(names: &Value, root: &Path, results: &Path) -> String {
    let text = |key| field(names, key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(name) = text("full_id").or_else(|| text("title")) {
        return name.to_owned();
    }
    let parts: Vec<&str> = ["group_id", "function_id", "value_str"].into_iter().filter_map(text).collect();
    if !parts.is_empty() {
        return parts.join("/");
    }
    let directory = results.parent().unwrap_or(results);
    let parts = directory.strip_prefix(root).unwrap_or(directory).iter();
    parts.map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Reads `{"Elements":100}`, also from a list, as newer versions may write it.
fn throughput(names: &Value) -> Option<f64> {
    let throughput = field(names, "throughput")?;
    let object = throughput.as_array().and_then(|list| list.first()).unwrap_or(throughput);
    object.as_object()?.values().find_map(Value::as_f64).filter(|number| *number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, content: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    /// Results of several versions are read, with the names that exist. A result that can't be used is named with the
    /// reason, and nothing else in the directory is taken for a result.
    #[test]
    fn versions_and_gaps() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let root = dir.path();
        let median = r#"{"median":{"point_estimate":5.0,"confidence_interval":{"lower_bound":4.0,"upper_bound":6.5}}}"#;
        put(root, "stages/narrowphase/10000/new/estimates.json", median);
        let names =
            r#"{"group_id":"stages","full_id":"stages/narrowphase/10000","throughput":{"Elements":100}}"#;
        put(root, "stages/narrowphase/10000/new/benchmark.json", names);
        put(root, "stages/narrowphase/10000/base/estimates.json", median);
        put(root, "stages/report/index.html", "");
        put(root, "old/new/estimates.json", r#"{"Mean":{"point_estimate":7},"Slope":{"point_estimate":1}}"#);
        put(root, "parts/new/estimates.json", median);
        put(
            root,
            "parts/new/benchmark.json",
            r#"{"group_id":"a","value_str":"b","throughput":[{"Bytes":3}]}"#,
        );
        put(root, "empty/new/estimates.json", "{}");
        put(root, "broken/new/estimates.json", "{\"median\":");
        put(root, "nameless/new/benchmark.json", names);
        put(root, "zero/new/estimates.json", r#"{"median":{"point_estimate":0}}"#);

        let (found, skipped) = read(root).expect("a directory");
        let named = |name: &str, estimate, ns, interval, throughput| Benchmark {
            name: name.to_owned(),
            estimate,
            ns,
            interval,
            throughput,
        };
        assert_eq!(
            found,
            [
                named("a/b", "median", 5.0, Some([4.0, 6.5]), Some(3.0)),
                named("old", "mean", 7.0, None, None),
                named("stages/narrowphase/10000", "median", 5.0, Some([4.0, 6.5]), Some(100.0)),
            ]
        );
        let reasons: Vec<&str> = skipped.iter().map(|skipped| &*skipped.reason).collect();
        assert_eq!(reasons.len(), 4, "{reasons:?}");
        assert!(reasons[0].starts_with("estimates.json: not JSON: EOF"), "{reasons:?}");
        assert_eq!(reasons[1], "estimates.json: it has no median, mean or slope");
        assert!(reasons[2].starts_with("estimates.json: No such file"), "{reasons:?}");
        assert_eq!(reasons[3], "estimates.json: median has no point_estimate that is a time");
        assert!(read(&root.join("missing")).is_err());
    }
}

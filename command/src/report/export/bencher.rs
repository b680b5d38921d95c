//! Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format>): benchmark → measure → value.
//! `latency` is in nanoseconds there, and `throughput` in operations per second.

use super::{Entry, Spread};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl From<Spread> for Metric {
    fn from(spread: Spread) -> Metric {
        let Spread { value, low, high } = spread;
        Metric { value, lower_value: Some(low), upper_value: Some(high) }
    }
}

pub(super) fn metrics(entries: &[Entry]) -> BTreeMap<String, BTreeMap<&'static str, Metric>> {
    entries.iter().map(|entry| (entry.configuration.to_string(), measures(entry))).collect()
}

fn measures(entry: &Entry) -> BTreeMap<&'static str, Metric> {
    let Spread { value, low, high } = entry.step_ms;
    let latency = Spread { value: 1e6 * value, low: 1e6 * low, high: 1e6 * high };
    let mut measures = BTreeMap::from([("latency", latency.into())]);
    if entry.configuration.moving() > 0 {
        measures.insert("throughput", entry.throughput().into());
    }
    if entry.peak_rss_bytes() > 0 {
        let value = entry.peak_rss_bytes() as f64;
        measures.insert("memory", Metric { value, lower_value: None, upper_value: None });
    }
    measures
}

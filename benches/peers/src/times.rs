//! The times of steps, over several rounds.
//!
//! Step i of a run does the same work in every round, so what differs between rounds is what else the machine does. Of
//! each step the least time is taken, and the figures are those of these least times: what a step costs
//! now and then because of its work stays, what it costs because of its neighbours goes.

use serde::{Deserialize, Serialize};

/// The figures of a run's steps, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Median over the steps of the least time of each.
    pub p50_ms: f64,
    /// Their mean.
    pub mean_ms: f64,
    /// Their 99th percentile (nearest rank): of less than 100 steps the slowest.
    pub p99_ms: f64,
    /// The slowest step.
    pub max_ms: f64,
}

impl Times {
    /// The figures of steps that took so many seconds.
    pub fn of(seconds: &[f64]) -> Self {
        let at = |share| 1.0e3 * percentile(seconds, share);
        let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        Times { p50_ms: at(0.5), mean_ms: 1.0e3 * mean, p99_ms: at(0.99), max_ms: at(1.0) }
    }
}

/// Takes the least of each step.
pub fn least(seconds: &mut [f64], round: &[f64]) {
    assert_eq!(seconds.len(), round.len(), "every round has the same steps");
    for (least, time) in seconds.iter_mut().zip(round) {
        *least = least.min(*time);
    }
}

/// The value below which the share `q` of `values` lies (nearest rank); 0 without values.
fn percentile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percentiles are nearest ranks.
    #[test]
    fn figures_of_steps() {
        let seconds: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        let expected = Times { p50_ms: 100.0e3, mean_ms: 100.5e3, p99_ms: 198.0e3, max_ms: 200.0e3 };
        assert_eq!(Times::of(&seconds), expected);
        assert_eq!(Times::of(&[]), Times::default());
    }

    /// What one round had to wait for is gone, what every round needed stays.
    #[test]
    fn the_least_of_each_step() {
        let mut seconds = vec![1.0, 9.0, 5.0];
        least(&mut seconds, &[7.0, 1.0, 6.0]);
        assert_eq!(seconds, [1.0, 1.0, 5.0]);
    }
}

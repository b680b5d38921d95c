//! The cells of a sweep, and the order in which they are run.

use super::SweepArgs;
use granule::Isa;
use granule::scene::BUILTIN;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One run of a sweep, as it was asked for. A missing value means the default of `granule run`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    pub scene: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bodies: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substeps: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    pub seed: u64,
    /// The number of the repeat, from 0.
    pub repeat: u32,
}

/// The lists whose combinations are the cells.
pub struct Grid {
    scenes: Vec<String>,
    bodies: Vec<Option<u32>>,
    threads: Vec<Option<u32>>,
    lanes: Vec<Option<u32>>,
    isas: Vec<Option<String>>,
    substeps: Vec<Option<u32>>,
    repeats: u32,
    /// The values that all cells have in common.
    common: Cell,
}

impl Grid {
    pub fn of(args: &SweepArgs) -> Grid {
        Grid {
            scenes: once_each(args.scenes.iter().cloned()),
            bodies: axis(args.bodies.iter().copied()),
            threads: axis(args.threads.iter().copied()),
            lanes: axis(args.lanes.iter().copied()),
            isas: axis(args.isa.iter().map(|isa| isa.name().to_owned())),
            substeps: axis(args.substeps.iter().copied()),
            repeats: args.repeats,
            common: Cell {
                scene: String::new(),
                bodies: None,
                threads: None,
                lanes: None,
                isa: None,
                substeps: None,
                warmup: args.warmup,
                steps: args.steps,
                seed: args.seed,
                repeat: 0,
            },
        }
    }

    /// All cells. The scene changes slowest, the repeat fastest. A cell's index is its place in this list.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for scene in &self.scenes {
            for &bodies in &self.bodies {
                for &threads in &self.threads {
                    for (lanes, isa) in self.instruction_sets() {
                        for &substeps in &self.substeps {
                            cells.extend((0..self.repeats).map(|repeat| Cell {
                                scene: scene.clone(),
                                bodies,
                                threads,
                                lanes,
                                isa: isa.cloned(),
                                substeps,
                                repeat,
                                ..self.common
                            }));
                        }
                    }
                }
            }
        }
        cells
    }

    /// The lane widths, or the instruction sets: an option each, of which one at most is given.
    fn instruction_sets(&self) -> impl Iterator<Item = (Option<u32>, Option<&String>)> {
        self.lanes.iter().flat_map(|&lanes| self.isas.iter().map(move |isa| (lanes, isa.as_ref())))
    }
}

/// The values of an option. Without any there is one value, which leaves the choice to the run.
fn axis<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let values = once_each(values.map(Some));
    if values.is_empty() { vec![None] } else { values }
}

fn once_each<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

impl Cell {
    /// The arguments of the command that runs this cell.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments =
            vec!["run".to_owned(), "--format=json".to_owned(), format!("--seed={}", self.seed)];
        // A sweep measures what bodies cost that are awake.
        arguments.push("--sleep=off".to_owned());
        let options = [
            ("bodies", self.bodies),
            ("threads", self.threads),
            ("lanes", self.lanes),
            ("substeps", self.substeps),
            ("warmup", self.warmup),
            ("steps", self.steps),
        ];
        let given = |(name, value): (&str, Option<u32>)| value.map(|value| format!("--{name}={value}"));
        arguments.extend(options.into_iter().filter_map(given));
        arguments.extend(self.isa.iter().map(|isa| format!("--isa={isa}")));
        arguments.extend(["--".to_owned(), self.scene.clone()]);
        arguments
    }

    /// Estimates how long the cell takes compared with others: steps of all bodies, by threads and lanes. Only the
    /// estimate of the time left depends on it.
    pub fn work(&self) -> f64 {
        let builtin = BUILTIN.iter().find(|builtin| builtin.name == self.scene);
        let default = |of: fn(&granule::scene::Builtin) -> u32, file| builtin.map_or(file, of);
        let bodies = self.bodies.unwrap_or(default(|builtin| builtin.bodies as u32, 1000));
        let warmup = self.warmup.unwrap_or(default(|builtin| builtin.warmup, 0));
        let steps = self.steps.unwrap_or(default(|builtin| builtin.steps, 600));
        // Measured: one lane takes three times as long as eight, two threads take half the time of one, and a process
        // starts in a few ms, which is a step of a few thousand bodies.
        let is_scalar = self.lanes == Some(1) || self.isa.as_deref() == Some(Isa::Scalar.name());
        let slowdown = if is_scalar { 3.0 } else { 1.0 };
        let processors = super::input::processors() as u32;
        let threads = self.threads.unwrap_or(processors).min(processors).max(1);
        let substeps = f64::from(self.substeps.unwrap_or(4)) / 4.0;
        let stepped = f64::from(bodies) * (f64::from(warmup) + f64::from(steps));
        5e4 + stepped * slowdown * substeps / f64::from(threads)
    }
}

/// `packed, bodies 1000, threads 2, repeat 0`
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scene)?;
        let named = [
            ("bodies", self.bodies),
            ("threads", self.threads),
            ("lanes", self.lanes),
            ("substeps", self.substeps),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                write!(f, ", {name} {value}")?;
            }
        }
        if let Some(isa) = &self.isa {
            write!(f, ", {isa}")?;
        }
        write!(f, ", repeat {}", self.repeat)
    }
}

/// Returns `0..count` in an order that looks random and depends only on the seed: sorted by a hash, the mixer of
/// SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", 2014).
pub fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let hash = |index: usize| {
        let mut z = seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&index| hash(index));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order has every cell once, depends on the seed, and differs from the order of the grid for both seeds.
    #[test]
    fn order_is_shuffled() {
        let (one, two) = (shuffled(50, 1), shuffled(50, 2));
        assert!(one != two && !one.is_sorted() && !two.is_sorted());
        assert_eq!(one, shuffled(50, 1));
        for mut order in [one, two] {
            order.sort_unstable();
            assert_eq!(order, (0..50).collect::<Vec<_>>());
        }
    }
}

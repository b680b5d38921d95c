//! Instructions of ten steps of a few fixed scenes, counted by callgrind: a guard against regressions that noise cannot
//! fool.
//!
//! `cargo bench --bench instructions` needs valgrind and `cargo install gungraun-runner --version 0.20.0`. A count that
//! exceeds its limit, which is 3 % above the committed figure, fails; `.ci/run` runs it. The figures are those of the
//! x86-64-v3 build of `.cargo/config.toml`, as valgrind knows no AVX-512. They change with the compiler, and with every
//! honest improvement: then the figures below are to be renewed.

#![allow(missing_docs)] // what the macros make has none

use granule::{World, scene};
use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use std::hint::black_box;

/// The committed figure of each scene.
const PACKED: u64 = 18_096_009;
const COLLAPSING: u64 = 19_529_085;
const PYRAMID: u64 = 17_772_563;
const GAS: u64 = 12_301_548;
const LARGE_PYRAMID: u64 = 26_051_683;
const MIXED_SHAPES: u64 = 16_901_114;
const CLOTH: u64 = 82_459_678;
const SOFT_BOXES: u64 = 42_697_395;

fn settled(name: &str, bodies: usize, steps: usize) -> World {
    let mut world = scene::builtin(name, bodies, 1).unwrap().build().unwrap();
    (0..steps).for_each(|_| world.step());
    world
}

fn ten_steps(mut world: World) -> World {
    (0..10).for_each(|_| world.step());
    black_box(world)
}

fn at_most(figure: u64) -> LibraryBenchmarkConfig {
    let limit = figure + figure * 3 / 100;
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, limit)]));
    config
}

macro_rules! scenes {
    ($($name:ident($bodies:expr, $steps:expr) <= $figure:expr;)*) => {
        $(
            #[library_benchmark(config = at_most($figure))]
            #[bench::ten_steps(args = (stringify!($name), $bodies, $steps), setup = settled)]
            fn $name(world: World) -> World {
                ten_steps(world)
            }
        )*
        library_benchmark_group!(name = steps, benchmarks = [$($name),*]);
    };
}

scenes! {
    packed(2000, 120) <= PACKED;
    collapsing(2000, 30) <= COLLAPSING;
    pyramid(2000, 120) <= PYRAMID;
    gas(2000, 30) <= GAS;
    large_pyramid(1275, 60) <= LARGE_PYRAMID;
    mixed_shapes(500, 120) <= MIXED_SHAPES;
    cloth(2500, 60) <= CLOTH;
    soft_boxes(400, 120) <= SOFT_BOXES;
}

main!(library_benchmark_groups = steps);

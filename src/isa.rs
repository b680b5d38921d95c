//! The instruction sets: which there are, which of them this processor has, and which one a world uses.
//!
//! One program holds the kernels of every set that pays on its architecture (`lane.rs` has the table). The choice is
//! made when a world is made, so that nothing is asked in the step.

use crate::error::Error;
use std::env;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// The instruction set that a world's kernels use. It has no effect on results, which are the same on each, bit for bit.
///
/// ```
/// use granule::{Isa, Settings, World};
///
/// let world = World::new(Settings::default())?; // Isa::Auto: the best that this processor has
/// println!("steps with {}, {} lanes", world.isa(), world.isa().lanes());
///
/// let reference = World::new(Settings { isa: Isa::Scalar, ..Settings::default() })?;
/// assert_eq!(reference.isa().lanes(), 1);
/// # Ok::<(), granule::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// The best set that the processor has, or the one that the environment variable [`Isa::VARIABLE`] names.
    #[default]
    Auto,
    /// One lane: the scalar reference path.
    Scalar,
    /// Four lanes, with the vectors that every processor of the architecture has: SSE2 on x86-64, NEON on aarch64,
    /// simd128 on wasm32 if the program is compiled for it, and elsewhere what the compiler makes of four floats.
    Portable,
    /// Eight lanes: AVX2 with BMI1, BMI2, LZCNT and POPCNT (x86-64-v3 without FMA), on x86-64.
    Avx2,
    /// Sixteen lanes where they pay, else eight: AVX-512 F, BW, DQ and VL, on x86-64.
    Avx512,
}

impl Isa {
    /// The name of the environment variable that [`Isa::Auto`] follows: `auto`, `scalar`, `portable`, `sse2`, `avx2`, …
    /// It is read once, when the first world of the process is made. An empty value counts as none.
    pub const VARIABLE: &str = "GRANULE_ISA";

    const CONCRETE: [Isa; 4] = [Isa::Scalar, Isa::Portable, Isa::Avx2, Isa::Avx512];

    /// The sets that this processor has, narrowest first, without [`Isa::Auto`].
    pub fn available() -> impl DoubleEndedIterator<Item = Isa> + Clone {
        Isa::CONCRETE.into_iter().filter(|isa| isa.is_available())
    }

    /// True if this processor has the set. [`Isa::Auto`], [`Isa::Scalar`] and [`Isa::Portable`] are always available.
    pub fn is_available(self) -> bool {
        match self {
            Isa::Auto | Isa::Scalar | Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                Isa::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// The widest available set of at most so many lanes, for 1, 4, 8 or 16. `None` for any other number.
    pub fn with_lanes(lanes: usize) -> Option<Isa> {
        let known = Isa::CONCRETE.iter().any(|isa| isa.lanes() == lanes);
        Isa::available().rev().find(|isa| known && isa.lanes() <= lanes)
    }

    /// The number of contacts on which one instruction works at most: 1, 4, 8 or 16. For [`Isa::Auto`], that of the set
    /// that it stands for now; 1 if the environment variable is wrong, so that no world can be made with it.
    pub fn lanes(self) -> usize {
        match self {
            Isa::Auto => Level::of(Isa::Auto).map_or(1, |level| level.isa().lanes()),
            Isa::Scalar => 1,
            Isa::Portable => 4,
            Isa::Avx2 => 8,
            Isa::Avx512 => 16,
        }
    }

    /// The set's name in records and arguments: `auto`, `scalar`, `avx2`, `avx512`; for [`Isa::Portable`] the name of what it is
    /// on this architecture: `sse2`, `neon`, `simd128` or `portable`.
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Auto => "auto",
            Isa::Scalar => "scalar",
            Isa::Portable if cfg!(target_arch = "x86_64") => "sse2",
            Isa::Portable if cfg!(target_arch = "aarch64") => "neon",
            Isa::Portable if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) => "simd128",
            Isa::Portable => "portable",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The names of the sets that this processor has, for messages.
    pub(crate) fn names() -> String {
        Isa::available().map(Isa::name).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an instruction set is auto, scalar, portable, sse2, neon, simd128, avx2 or avx512")]
pub struct UnknownIsa;

impl FromStr for Isa {
    type Err = UnknownIsa;

    /// Reads a name as [`Isa::name`] gives it. `portable` and the name of any architecture's base set (`sse2`, `neon`,
    /// `simd128`) are the same thing: [`Isa::Portable`].
    fn from_str(text: &str) -> Result<Isa, UnknownIsa> {
        match text {
            "auto" => Ok(Isa::Auto),
            "scalar" => Ok(Isa::Scalar),
            "portable" | "sse2" | "neon" | "simd128" => Ok(Isa::Portable),
            "avx2" => Ok(Isa::Avx2),
            "avx512" => Ok(Isa::Avx512),
            _ => Err(UnknownIsa),
        }
    }
}

/// As many values as the widest vector has lanes.
const FEW: usize = 16;

/// An instruction set that this processor has: never [`Isa::Auto`]. A value of this type is the proof on which the
/// kernels of the set may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Isa);

impl Default for Level {
    fn default() -> Self {
        Level(Isa::Scalar)
    }
}

impl Level {
    /// # Errors
    ///
    /// Returns an error for a set that the processor lacks; for [`Isa::Auto`], if the environment variable names no
    /// set or one that the processor lacks.
    pub(crate) fn of(isa: Isa) -> Result<Level, Error> {
        static AUTO: OnceLock<Result<Level, Error>> = OnceLock::new();
        match isa {
            Isa::Auto => AUTO.get_or_init(|| Level::by_variable(env::var_os(Isa::VARIABLE))).clone(),
            isa if isa.is_available() => Ok(Level(isa)),
            isa => Err(Error::Isa { isa: isa.name(), available: Isa::names() }),
        }
    }

    fn by_variable(value: Option<std::ffi::OsString>) -> Result<Level, Error> {
        let wanted = match value {
            Some(value) if !value.is_empty() => {
                value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| Error::IsaVariable {
                    value: value.to_string_lossy().into_owned(),
                    available: Isa::names(),
                })?
            }
            _ => Isa::Auto,
        };
        match wanted {
            Isa::Auto => Ok(Level(Isa::available().next_back().unwrap_or(Isa::Scalar))),
            wanted => Level::of(wanted),
        }
    }

    /// All levels of this processor, for tests.
    #[cfg(test)]
    pub(crate) fn available() -> impl Iterator<Item = Level> {
        Isa::available().map(Level)
    }

    /// The level of kernels that go over so many values: the portable one, whose vectors are narrow, if no vector of the widest level would be
    /// full. What is left over after the last whole vector is done one by one, and a wide load waits for the narrow stores before it. (A step of
    /// ten boxes with three walls, AVX-512: 2.5 µs instead of 2.9, a part of it by fewer readings of the clock.)
    #[inline(always)]
    pub(crate) fn for_few(self, values: usize) -> Level {
        let wide = !matches!(self.0, Isa::Scalar | Isa::Portable);
        if wide && values < FEW { Level(Isa::Portable) } else { self }
    }

    /// The set: one of [`Isa::available`].
    #[inline(always)]
    pub(crate) const fn isa(self) -> Isa {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: the environment variable names the set that `Auto` stands for, and a bad value is an error.
    #[test]
    fn auto_follows_the_variable() {
        let best = Isa::available().next_back().unwrap();
        assert_eq!(Level::by_variable(None), Ok(Level(best)));
        assert_eq!(Level::by_variable(Some("auto".into())), Ok(Level(best)));
        assert_eq!(Level::by_variable(Some("scalar".into())), Ok(Level(Isa::Scalar)));
        assert_eq!(Level::by_variable(Some(Isa::Portable.name().into())), Ok(Level(Isa::Portable)));
        assert_eq!(Level::by_variable(Some("".into())), Ok(Level(best)));
        for wrong in ["AVX2", "avx", "8", "sse2 "] {
            let error = Level::by_variable(Some(wrong.into())).unwrap_err();
            let said = format!("GRANULE_ISA: {wrong:?} is no instruction set; this processor has scalar");
            assert!(error.to_string().starts_with(&said), "{error}");
        }
    }

    /// Contract: a set is refused exactly if the processor lacks it, and the error says which sets it has.
    #[test]
    fn what_is_missing_is_refused() {
        for isa in Isa::CONCRETE {
            match Level::of(isa) {
                Ok(level) => assert!(level.isa() == isa && isa.is_available()),
                Err(error) => {
                    assert!(!isa.is_available());
                    assert_eq!(
                        error.to_string(),
                        format!("this processor has no {isa}; it has {}", Isa::names())
                    );
                }
            }
            assert_eq!(isa.name().parse(), Ok(isa));
        }
    }

    /// Contract: a number of lanes stands for the widest set that has at most so many.
    #[test]
    fn lanes_choose_a_set() {
        for lanes in 0..40 {
            let isa = Isa::with_lanes(lanes);
            assert_eq!(isa.is_some(), [1, 4, 8, 16].contains(&lanes));
            assert!(isa.is_none_or(|isa| isa.is_available() && isa.lanes() <= lanes));
        }
        assert_eq!(Isa::with_lanes(1), Some(Isa::Scalar));
        assert_eq!(Isa::with_lanes(4), Some(Isa::Portable));
    }
}

//! Steps two worlds side by side, to prove that instruction set and thread count have no effect on the result.
//!
//! Both worlds take the same steps. After each step, the hash of the whole state and the results of every stage are
//! compared, bit by bit. A report names the first difference by step, stage, body, field and distance in ULPs.

use crate::{BodyHandle, Difference, Stage, World};
use std::fmt;

/// One of the two worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The reference.
    A,
    /// The world that is compared with the reference.
    B,
}

/// An error to plant in world B, to test that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The step in which it is planted, counted from 1.
    pub step: u64,
    /// The stage after which it is planted.
    pub stage: Stage,
    /// The body of which one value is changed.
    pub body: BodyHandle,
    /// The change, in units in the last place.
    pub ulps: i32,
}

/// The first difference between two worlds.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The first step that differs, counted from 1. 0 if the worlds differ before the first step.
    pub step: u64,
    /// The first difference of that step. `None` if only the hashes differ: then they differ in a part of the state
    /// that no stage's results show, or before the first step.
    pub difference: Option<Difference>,
    /// State hashes of A and B after that step.
    pub hashes: [u64; 2],
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.difference {
            Some(difference) => write!(f, "step {}, {difference}", self.step),
            None => {
                let [a, b] = self.hashes;
                write!(f, "step {}: state hashes {a:016x} and {b:016x}", self.step)
            }
        }
    }
}

/// Steps both worlds `steps` times and compares them after each step. The function `step` takes one step of one world, on
/// threads of your choice. `fault` plants an error in world B.
///
/// Returns the state hash that both worlds have at the end.
///
/// # Errors
///
/// The first [`Divergence`]. The worlds stay as they are after that step.
///
/// ```
/// use granule::{Isa, scene, verify};
///
/// let mut scene = scene::builtin("pile", 100, 1).expect("a built-in scene");
/// scene.settings.isa = Isa::Scalar;
/// let mut scalar = scene.build()?;
/// scene.settings.isa = Isa::Auto;
/// let mut wide = scene.build()?;
/// let hash = verify::side_by_side(&mut scalar, &mut wide, 20, None, |_, world| world.step());
/// assert!(hash.is_ok());
/// # Ok::<(), granule::Error>(())
/// ```
pub fn side_by_side(
    a: &mut World,
    b: &mut World,
    steps: u64,
    fault: Option<Fault>,
    mut step: impl FnMut(Side, &mut World),
) -> Result<u64, Divergence> {
    let mut hash = same_hash(a, b).map_err(|hashes| Divergence { step: 0, difference: None, hashes })?;
    for number in 1..=steps {
        if let Some(fault) = fault.filter(|fault| fault.step == number) {
            b.plant_fault(fault.stage, fault.body, fault.ulps);
        }
        step(Side::A, a);
        step(Side::B, b);
        hash =
            compare(a, b).map_err(|(difference, hashes)| Divergence { step: number, difference, hashes })?;
    }
    Ok(hash)
}

/// Compares two worlds: the results of the stages first, because they name the cause. The hash does not.
fn compare(a: &World, b: &World) -> Result<u64, (Option<Difference>, [u64; 2])> {
    match (a.first_difference(b), same_hash(a, b)) {
        (None, Ok(hash)) => Ok(hash),
        (difference, Err(hashes)) => Err((difference, hashes)),
        (difference, Ok(hash)) => Err((difference, [hash; 2])),
    }
}

fn same_hash(a: &World, b: &World) -> Result<u64, [u64; 2]> {
    let hashes = [a.state_hash(), b.state_hash()];
    if hashes[0] == hashes[1] { Ok(hashes[0]) } else { Err(hashes) }
}

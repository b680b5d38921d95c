//! Two worlds side by side: the proof that lane width and thread count leave no trace in the result.
//!
//! Both take the same steps; after each, the hash of the whole state and the results of every stage are
//! compared, bit by bit. The first difference is named by step, stage, body, field and distance in ULPs.

use crate::{BodyHandle, Difference, Stage, World};
use std::fmt;

/// Which of the two worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The reference.
    A,
    /// The one that is held against it.
    B,
}

/// A wrong bit to plant in world B, to see that it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In which step, counted from 1.
    pub step: u64,
    /// After which stage of it.
    pub stage: Stage,
    /// In a value of which body.
    pub body: BodyHandle,
    /// By how many units in the last place.
    pub ulps: i32,
}

/// Where two worlds part.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The first step that differs, counted from 1; 0 when the worlds differ before the first.
    pub step: u64,
    /// The first difference of that step. `None` when only the hashes differ, which means that the state
    /// has a part that no stage's results show.
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

/// Steps both worlds `steps` times by `step` (which decides on which threads) and compares them.
///
/// Returns the state hash that both end with.
///
/// # Errors
///
/// The first [`Divergence`]; the worlds are left as they are after that step.
///
/// ```
/// use granule::{Lanes, scene, verify};
///
/// let mut scene = scene::builtin("pile", 100, 1).expect("a built-in scene");
/// scene.settings.lanes = Lanes::One;
/// let mut scalar = scene.build()?;
/// scene.settings.lanes = Lanes::Eight;
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

/// The stages first: they name the cause, which the hash can't.
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

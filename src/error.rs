//! Errors: why a value was refused. They name the field, and the index if there are several values.

/// An input that was refused. The world is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A number that is NaN, infinite or outside the accepted range.
    #[error("{field}: {value} is not in {min}..={max}")]
    OutOfRange {
        /// The field's path, as in a scene file.
        field: &'static str,
        /// The value given.
        value: f32,
        /// Smallest accepted value.
        min: f32,
        /// Largest accepted value.
        max: f32,
    },
    /// A half-space normal of length zero.
    #[error("{field}: a normal of length zero has no direction")]
    ZeroNormal {
        /// The field's path.
        field: &'static str,
    },
    /// A value that does not fit the rest of the input: the reason says why.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field's path.
        field: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A vertex that a polygon, chain or hull can't have.
    #[error("{field}[{index}]: {reason}")]
    Vertex {
        /// Path of the list of vertices.
        field: &'static str,
        /// The place of the vertex in the list.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A handle whose body, joint, link or hull was removed, or that was never a handle of this world.
    #[error("stale {kind} handle (index {index}, generation {generation})")]
    StaleHandle {
        /// The kind of thing that the handle names: `body`, `link` or `hull`.
        kind: &'static str,
        /// Index part of the handle.
        index: u32,
        /// Generation part of the handle.
        generation: u32,
    },
    /// One element of a batch was refused, and with it the whole batch.
    #[error("element {index}: {error}")]
    Element {
        /// The place of the element in the batch.
        index: usize,
        /// Why the element was refused.
        #[source]
        error: Box<Error>,
    },
    /// The environment variable [`Isa::VARIABLE`](crate::Isa::VARIABLE) names no instruction set.
    #[error("GRANULE_ISA: {value:?} is no instruction set; this processor has {available}")]
    IsaVariable {
        /// The value of the variable.
        value: String,
        /// The sets that the processor has, separated by commas.
        available: String,
    },
    /// Bytes that are no sound snapshot, difference or recording.
    #[error("{what}, byte {at}: {reason}")]
    Snapshot {
        /// What it should be: a snapshot, a difference or a recording.
        what: &'static str,
        /// Where the fault was found.
        at: usize,
        /// What is wrong.
        reason: String,
    },
    /// An instruction set that the processor lacks.
    #[error("this processor has no {isa}; it has {available}")]
    Isa {
        /// The set that was asked for.
        isa: &'static str,
        /// The sets that it has, separated by commas.
        available: String,
    },
    /// The world cannot hold more bodies, joints, links or hulls, because its indices cannot count more.
    #[error("a world holds at most {max} {kind}")]
    TooMany {
        /// The kind of thing: `bodies`, `links` or `hulls`.
        kind: &'static str,
        /// The limit.
        max: usize,
    },
}

/// Refuses a value that is not a number in `min..=max`.
#[inline]
pub(crate) fn check_range(field: &'static str, value: f32, min: f32, max: f32) -> Result<(), Error> {
    // NaN fails both comparisons.
    if value >= min && value <= max { Ok(()) } else { Err(Error::OutOfRange { field, value, min, max }) }
}

/// Refuses a vector with a component outside `-max..=max`.
#[inline]
pub(crate) fn check_vec(field: &'static str, value: glam::Vec2, max: f32) -> Result<(), Error> {
    check_range(field, value.x, -max, max)?;
    check_range(field, value.y, -max, max)
}

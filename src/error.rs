//! Why a value was refused. Every error names the field, and the index where there are several.

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
    /// A value that a body of this kind can't have.
    #[error("{field}: {reason}")]
    Invalid {
        /// The field's path.
        field: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A vertex that a polygon can't have.
    #[error("{field}[{index}]: {reason}")]
    Vertex {
        /// Path of the list of vertices.
        field: &'static str,
        /// Which vertex.
        index: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A handle whose body, link or hull was removed, or that never was one of this world's.
    #[error("stale {kind} handle (index {index}, generation {generation})")]
    StaleHandle {
        /// What it names: `body`, `link` or `hull`.
        kind: &'static str,
        /// Index part of the handle.
        index: u32,
        /// Generation part of the handle.
        generation: u32,
    },
    /// One element of a batch was refused; the whole batch was.
    #[error("element {index}: {error}")]
    Element {
        /// Which element.
        index: usize,
        /// Why.
        #[source]
        error: Box<Error>,
    },
    /// The world holds as many bodies as its indices can count.
    #[error("a world holds at most {max} bodies")]
    TooMany {
        /// The limit.
        max: usize,
    },
}

/// Refuses what is not a number in `min..=max`.
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

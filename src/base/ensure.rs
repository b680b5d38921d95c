//! Checks of data that a module keeps: the tool of its `validate`.

/// Returns from a check with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        // Bound first, for a comparison with NaN is false, and so is an error.
        let holds: bool = $condition;
        if !holds {
            return Err(format!($($message)*));
        }
    };
}
pub(crate) use ensure;

//! The macro with which a module's `validate` checks the data that the module keeps.

/// Returns an error with this message from the calling function unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)*) => {
        // Bound to a name before it is negated: a comparison with NaN is false, and so counts as an error.
        let holds: bool = $condition;
        if !holds {
            return Err(format!($($message)*));
        }
    };
}
pub(crate) use ensure;

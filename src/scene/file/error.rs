//! The error with which a scene file is refused.

use crate::error::Error;

/// The longest part of a parser's message that is passed on, in characters. The message may quote the input.
const MAX_MESSAGE: usize = 300;

/// The reason why a scene file was refused, and the place. The text is a single line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SceneError {
    /// The input is not JSON, or does not have a scene's structure: a field is missing or unknown, or a string stands for a number.
    #[error("line {line} column {column}: {message}")]
    Syntax {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1, in bytes.
        column: usize,
        /// What the parser expected or found.
        message: String,
    },
    /// A value that a scene can't have.
    #[error("{path}: {reason}")]
    Value {
        /// The path of the value, as in `bodies[3].shape.circle.radius`.
        path: String,
        /// The reason why the value is refused.
        reason: String,
    },
}

impl From<Error> for SceneError {
    /// Converts an error of the engine, whose text is "path: reason".
    fn from(error: Error) -> Self {
        let text = error.to_string();
        let (path, reason) = text.split_once(": ").unwrap_or(("scene", &text));
        value(path, reason)
    }
}

impl SceneError {
    /// Returns this error with `prefix` before its path.
    pub(super) fn within(self, prefix: &str) -> SceneError {
        self.instead_of("", prefix)
    }

    /// Returns this error with `new` in place of `old` at the start of its path.
    pub(super) fn instead_of(self, old: &str, new: &str) -> SceneError {
        match self {
            SceneError::Value { path, reason } => {
                let rest = path.strip_prefix(old).unwrap_or(&path);
                SceneError::Value { path: format!("{new}{rest}"), reason }
            }
            other => other,
        }
    }
}

pub(super) fn value(path: &str, reason: impl Into<String>) -> SceneError {
    SceneError::Value { path: path.to_owned(), reason: reason.into() }
}

/// Splits a parser's error into position and text. The text is one line, whatever the input contains.
pub(super) fn syntax(error: &serde_json::Error) -> SceneError {
    let text = error.to_string();
    let at = format!(" at line {} column {}", error.line(), error.column());
    let message = text.strip_suffix(&at).unwrap_or(&text);
    let printable = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    SceneError::Syntax {
        line: error.line(),
        column: error.column(),
        message: printable.take(MAX_MESSAGE).collect(),
    }
}

//! Bold and dim text, for streams that show it.

use std::io::IsTerminal;

/// Says if a stream takes escape sequences: if it is a terminal that is not dumb, and `NO_COLOR` is not set
/// (<https://no-color.org>).
#[derive(Clone, Copy)]
pub struct Style {
    on: bool,
}

impl Style {
    pub fn of(stream: &impl IsTerminal) -> Style {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Style { on: stream.is_terminal() && !no_color && !dumb }
    }

    pub fn is_on(self) -> bool {
        self.on
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

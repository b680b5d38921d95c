//! The tests of the command, of records and of pictures, a module a topic. They are one program, so that it is linked once.

mod browser;
mod cli;
mod command;
mod compare;
mod exports;
mod joints;
mod recordings;
mod render;
mod sweep;

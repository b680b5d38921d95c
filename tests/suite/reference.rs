//! The oracle: naive code in f64, without lanes or threads, written from the formulas and not from the engine.

pub mod chain;
pub mod clip;
pub mod engine;
pub mod hull;
pub mod joint;

//! The passes over contacts, as values for the plan of a step and as types for the kernels.

/// What a pass does to each contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Adds the carried impulses to `accum`.
    WarmStart,
    /// Normal impulse with soft bias.
    Solve,
    /// `Relax` before the bodies move.
    Meet,
    /// Normal impulse without bias, then friction.
    Relax,
    /// `Relax`, and contacts that closed fast enough rebound. For the end of a substep, in worlds where something
    /// bounces.
    Bounce,
    /// Moves overlapping bodies apart.
    Project,
}

/// A pass as a type: each has loops of its own. With a choice at each block `large_pyramid` took a fifth more time; with all
/// passes in one function the compiler emitted 11 % more instructions for it (`benches/instructions`), and
/// `granule run large_pyramid --threads 1` took 4 % more time.
pub(super) trait SweepPass {
    const PASS: Pass;
    /// True if bodies may have moved in this step.
    const MOVED: bool = true;
}

macro_rules! sweep_passes {
    ($($name:ident => $pass:ident $($moved:literal)?;)*) => {
        $(
            pub(super) struct $name;
            impl SweepPass for $name {
                const PASS: Pass = Pass::$pass;
                $(const MOVED: bool = $moved;)?
            }
        )*
    };
}
sweep_passes! {
    WarmStart => WarmStart;
    SolveFirst => Solve false;
    Solve => Solve;
    Meet => Meet;
    Relax => Relax;
    Bounce => Bounce;
    Project => Project;
}

/// Runs `$body` with the type `$name` bound to the type of a pass.
macro_rules! with_pass {
    ($pass:expr, $elapsed:expr, $name:ident => $body:expr) => {
        match $pass {
            $crate::solver::pass::Pass::WarmStart => {
                type $name = $crate::solver::pass::WarmStart;
                $body
            }
            $crate::solver::pass::Pass::Solve if $elapsed == 0.0 => {
                type $name = $crate::solver::pass::SolveFirst;
                $body
            }
            $crate::solver::pass::Pass::Solve => {
                type $name = $crate::solver::pass::Solve;
                $body
            }
            $crate::solver::pass::Pass::Meet => {
                type $name = $crate::solver::pass::Meet;
                $body
            }
            $crate::solver::pass::Pass::Relax => {
                type $name = $crate::solver::pass::Relax;
                $body
            }
            $crate::solver::pass::Pass::Bounce => {
                type $name = $crate::solver::pass::Bounce;
                $body
            }
            $crate::solver::pass::Pass::Project => {
                type $name = $crate::solver::pass::Project;
                $body
            }
        }
    };
}
pub(super) use with_pass;

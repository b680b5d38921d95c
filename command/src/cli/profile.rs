//! Profiles of the measured steps: samples of the call stack that say where the processor's time went.

use super::args::RunArgs;
use super::output::check_new;
use super::{Outcome, bad_input};

/// The reason why this build takes no profiles, if it takes none.
const UNABLE: Option<&str> = if cfg!(not(unix)) {
    Some("profiles are taken by a signal that this system lacks")
} else if cfg!(not(feature = "profile")) {
    Some("this build takes no profiles; one of `cargo build --release --features profile` does")
} else {
    None
};

/// Refuses profiles that cannot be taken, before a long run.
pub fn check(args: &RunArgs) -> Outcome {
    let wanted = [("--pprof", &args.pprof), ("--flamegraph", &args.flamegraph)];
    for (option, path) in wanted.iter().filter_map(|(option, path)| Some((option, path.as_ref()?))) {
        if let Some(why) = UNABLE {
            return Err(bad_input(format!("{option}: {why}")));
        }
        check_new(option, path, args.force)?;
    }
    if args.pprof.is_some() && args.pprof == args.flamegraph {
        return Err(bad_input("--pprof and --flamegraph name the same file"));
    }
    Ok(())
}

#[cfg(not(all(unix, feature = "profile")))]
pub use elsewhere::{Profile, Taken};
#[cfg(all(unix, feature = "profile"))]
pub use unix::{Profile, Taken};

/// No profiles: [`check`] refuses them before.
#[cfg(not(all(unix, feature = "profile")))]
mod elsewhere {
    use super::{Outcome, RunArgs};

    pub struct Profile;
    pub struct Taken;

    impl Profile {
        pub fn start(_: &RunArgs) -> Option<Profile> {
            None
        }

        pub fn stop(self) -> Taken {
            Taken
        }
    }

    impl Taken {
        pub fn write(self, _: &RunArgs) -> Outcome {
            Ok(())
        }
    }
}

#[cfg(all(unix, feature = "profile"))]
mod unix {
    use super::super::output::write_file;
    use super::super::{Outcome, bad_input, note};
    use super::RunArgs;
    use pprof::protos::Message;
    use pprof::{ProfilerGuard, ProfilerGuardBuilder, Report};
    use std::io::{self, Write};

    /// Samples per second of processor time, of all threads together. The number is not round, so that no periodic work
    /// keeps step with it.
    const FREQUENCY: i32 = 997;
    /// Libraries in which stacks are not unwound: the unwinder takes locks that these may hold.
    const NOT_IN: [&str; 4] = ["libc", "libgcc", "pthread", "vdso"];

    /// A profile that is being taken, or the error that prevents it.
    pub struct Profile(pprof::Result<ProfilerGuard<'static>>);

    impl Profile {
        /// Starts to take samples, if the arguments ask for a profile.
        pub fn start(args: &RunArgs) -> Option<Profile> {
            args.pprof.as_ref().or(args.flamegraph.as_ref())?;
            Some(Profile(ProfilerGuardBuilder::default().frequency(FREQUENCY).blocklist(&NOT_IN).build()))
        }

        /// Stops the sampling. Returns the profile.
        pub fn stop(self) -> Taken {
            Taken(self.0.and_then(|guard| guard.report().build()))
        }
    }

    /// A profile that was taken, or the error that prevented it.
    pub struct Taken(pprof::Result<Report>);

    impl Taken {
        /// Writes the files that the arguments ask for.
        pub fn write(self, args: &RunArgs) -> Outcome {
            let report = self.0.map_err(|error| bad_input(format!("no profile: {error}")))?;
            if report.data.is_empty() {
                note("the profile is empty: the measured steps took less than a sample's time");
            }
            if let Some(path) = &args.pprof {
                let profile = report.pprof().map_err(|error| bad_input(format!("no profile: {error}")))?;
                write_file(path, |out| out.write_all(&profile.encode_to_vec()))?;
            }
            if let Some(path) = &args.flamegraph {
                write_file(path, |out| report.flamegraph(out).map_err(io::Error::other))?;
            }
            Ok(())
        }
    }
}

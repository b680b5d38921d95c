//! The golden scenes of `tests/golden.rs`, for a host that is not Rust. `run.mjs` loads the library and compares.
#![expect(
    unsafe_code,
    reason = "a function that the host calls has an unmangled name, which an unsafe attribute gives it"
)]

use granule::Isa;

include!("../../../tests/golden/scenes.rs");

/// The instruction set of this number: one of `Isa::available`.
fn isa(set: usize) -> Isa {
    Isa::available().nth(set).expect("a number below `sets`")
}

/// The number of golden scenes.
#[unsafe(no_mangle)]
pub extern "C" fn scenes() -> usize {
    SCENES.len()
}

/// The number of instruction sets.
#[unsafe(no_mangle)]
pub extern "C" fn sets() -> usize {
    Isa::available().count()
}

/// Where the name of a scene begins, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn scene_name(scene: usize) -> *const u8 {
    SCENES[scene].name.as_ptr()
}

/// The length of the name of a scene, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn scene_name_length(scene: usize) -> usize {
    SCENES[scene].name.len()
}

/// Where the name of an instruction set begins, in UTF-8.
#[unsafe(no_mangle)]
pub extern "C" fn set_name(set: usize) -> *const u8 {
    isa(set).name().as_ptr()
}

/// The length of the name of an instruction set, bytes.
#[unsafe(no_mangle)]
pub extern "C" fn set_name_length(set: usize) -> usize {
    isa(set).name().len()
}

/// The state hash that a scene must have.
#[unsafe(no_mangle)]
pub extern "C" fn expected_hash(scene: usize) -> u64 {
    SCENES[scene].hash
}

/// The state hash that a scene has, if its world steps with this instruction set.
#[unsafe(no_mangle)]
pub extern "C" fn state_hash(scene: usize, set: usize) -> u64 {
    hash(&SCENES[scene], isa(set))
}

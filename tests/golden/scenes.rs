// The scenes whose state is the same on every processor, and its hash after `STEPS` steps. `tests/golden.rs` and
// `checks/wasm` both include this file.

/// A built-in scene, made with seed 1.
struct Golden {
    name: &'static str,
    bodies: usize,
    hash: u64,
}

const STEPS: usize = 60;

const SCENES: [Golden; 3] = [
    Golden { name: "packed", bodies: 600, hash: 0x7c81_605c_7003_1ec1 },
    Golden { name: "large_pyramid", bodies: 210, hash: 0x96fa_ad7f_e17a_ea19 },
    Golden { name: "cloth", bodies: 400, hash: 0xbae2_2b87_ad04_8895 },
];

/// The state hash of the scene after `STEPS` steps with this instruction set.
fn hash(golden: &Golden, isa: granule::Isa) -> u64 {
    let mut scene = granule::scene::builtin(golden.name, golden.bodies, 1).expect("a built-in scene");
    scene.settings.isa = isa;
    let mut world = scene.build().expect("a built-in scene is never refused");
    for _ in 0..STEPS {
        world.step();
    }
    world.state_hash()
}

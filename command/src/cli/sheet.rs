//! `granule render --sheet`: all built-in scenes in one picture.

use super::args::SceneArgs;
use super::input;
use super::progress::Progress;
use super::render::create;
use super::{Failure, Outcome, bad_file, bad_input, emit};
use granule::scene::{self, BUILTIN, Player};
use granule_command::render::{GLYPH_HEIGHT, Image, Look, Survey, draw};
use std::io::Write;
use std::path::Path;

const COLUMNS: usize = 4;
/// Size of one scene's picture, in pixels.
const CELL: (usize, usize) = (312, 200);
const GAP: usize = 8;
/// Height of the line of text under a picture, in pixels.
const NAME: usize = GLYPH_HEIGHT + 6;

/// The numbers of bodies and steps at which a scene looks best.
fn moment(name: &str) -> (usize, u32) {
    match name {
        "packed" => (600, 60),
        "collapsing" => (600, 90),
        "galton" => (400, 300),
        "ropes" => (120, 100),
        "cloth" => (300, 120),
        "ragdolls" => (156, 120),
        "soft_boxes" => (240, 100),
        "bridge" => (60, 300),
        "many_pyramids" => (220, 60),
        "tumbler" => (900, 200),
        "washer" => (900, 200),
        "dominoes" => (120, 240),
        "arch" => (96, 60),
        "card_house" => (80, 60),
        "junkyard" => (300, 400),
        "mixed_shapes" => (300, 100),
        "joint_grid" => (400, 60),
        "rain" => (220, 30),
        "ball_and_chain" => (164, 70),
        "cars" => (36, 150),
        "walkers" => (60, 150),
        "mill" => (244, 240),
        "hinges" => (220, 60),
        "gears" => (120, 300),
        "smash" => (400, 75),
        _ => (400, 150),
    }
}

pub fn main(path: &Path, look: &Look, args: &SceneArgs, force: bool) -> Outcome {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("png")) {
        return Err(bad_input(format!("--sheet {}: not a .png", path.display())));
    }
    input::check_file("--sheet", Some(path))?;
    if !force && path.exists() {
        return Err(bad_file(path, &"is there already; --force overwrites it"));
    }
    let threads = args.threads.map_or_else(input::processors, |threads| threads as usize);
    let sheet = input::pool(threads)?.install(|| sheet(look, args.seed.unwrap_or(1)))?;
    let file = sheet.indexed_png(&mut look.palette());
    create(path, force).and_then(|mut out| out.write_all(&file)).map_err(|error| bad_file(path, &error))?;
    emit(&format!("{}: {} scenes, {} KiB\n", path.display(), BUILTIN.len(), file.len().div_ceil(1024)))
}

fn sheet(look: &Look, seed: u64) -> Result<Image, Failure> {
    let (width, height) = CELL;
    let rows = BUILTIN.len().div_ceil(COLUMNS);
    let mut sheet = Image::new(GAP + COLUMNS * (width + GAP), GAP + rows * (height + NAME + GAP));
    sheet.fill(look.background());
    let progress = Progress::new(BUILTIN.iter().map(|builtin| u64::from(moment(builtin.name).1)).sum());
    progress.phase("drawing");
    let mut image = Image::new(width, height);
    for (place, builtin) in BUILTIN.iter().enumerate() {
        let (bodies, steps) = moment(builtin.name);
        let of = |error: &dyn std::fmt::Display| bad_input(format!("{}: {error}", builtin.name));
        let scene = scene::builtin(builtin.name, bodies, seed).ok_or_else(|| of(&"not of that size"))?;
        let mut world = scene.build().map_err(|error| of(&error))?;
        let mut player = Player::new(&scene, &world);
        for _ in 0..steps {
            player.step(&mut world);
            progress.step();
        }
        let mut survey = Survey::new(look);
        survey.add(&world);
        draw(&world, &survey.view(width, height), look, &mut image);
        let (x, y) = (GAP + place % COLUMNS * (width + GAP), GAP + place / COLUMNS * (height + NAME + GAP));
        sheet.paste(&image, x, y);
        sheet.write(builtin.name, (x, y + height + 4), 1, look.text());
    }
    Ok(sheet)
}

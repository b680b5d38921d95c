//! A server that steps many worlds: matches begin and end at any time, all are stepped together, and each has its own input.
//!
//! `cargo run --release --example server [MATCHES]`

use granule::{
    BodyDesc, BodyHandle, Error, Explosion, Field, FieldKind, Region, Settings, Shape, Vec2, World, step_many,
};
use std::time::Instant;

/// A match of two players, each of whom pushes a puck.
struct Match {
    world: World,
    players: [BodyHandle; 2],
    goals: u32,
}

impl Match {
    fn new(seed: u64) -> Result<Match, Error> {
        let mut world = World::new(Settings { gravity: Vec2::ZERO, ..Settings::default() })?;
        for (half, at) in [
            (Vec2::new(10.0, 0.5), Vec2::new(0.0, 5.5)),
            (Vec2::new(10.0, 0.5), Vec2::new(0.0, -5.5)),
            (Vec2::new(0.5, 6.0), Vec2::new(10.5, 0.0)),
            (Vec2::new(0.5, 6.0), Vec2::new(-10.5, 0.0)),
        ] {
            world.add_body(&BodyDesc::fixed(Shape::aabb(half.x, half.y), at))?;
        }
        for i in 0..12u64 {
            let place = (seed.wrapping_mul(31) + 7 * i) % 90;
            let at = Vec2::new((place % 10) as f32 * 1.5 - 7.0, (place / 10) as f32 - 4.0);
            world.add_body(&BodyDesc::dynamic(Shape::circle(0.3), at))?;
        }
        let player = |x: f32| BodyDesc {
            max_speed: Some(6.0),
            ..BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, 0.2))
        };
        let players = [world.add_body(&player(-9.0))?, world.add_body(&player(9.0))?];
        Ok(Match { world, players, goals: 0 })
    }

    /// What the players do in this tick.
    fn input(&mut self, tick: u64, seed: u64) -> Result<(), Error> {
        let angle = |player: u64| ((tick / 20 + seed + 3 * player) % 12) as f32 * 0.52;
        let forces = [Vec2::from_angle(angle(0)) * 20.0, Vec2::from_angle(angle(1)) * 20.0];
        self.world.apply_forces(&self.players, &forces, None)?;
        let ice = FieldKind::Wind { velocity: Vec2::ZERO, linear: 0.2, quadratic: 0.0 };
        self.world.apply_field(&Field { wake: false, ..Field::new(Region::Everywhere, ice) })?;
        if tick.is_multiple_of(150) {
            self.goals += 1;
            self.world.explode(&Explosion::new(Vec2::ZERO, 6.0, 1.0))?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count = std::env::args().nth(1).map_or(Ok(200), |text| text.parse::<u64>())?;
    let mut matches = (0..count).map(Match::new).collect::<Result<Vec<_>, _>>()?;
    let pool = rayon::ThreadPoolBuilder::new().build()?;
    let (start, mut begun) = (Instant::now(), count);
    let ticks = 300;
    for tick in 0..ticks {
        for (seed, one) in (0..).zip(&mut matches) {
            one.input(tick, seed)?;
        }
        pool.install(|| step_many(matches.iter_mut().map(|one| &mut one.world)));
        if tick % 50 == 49 && !matches.is_empty() {
            // A match ends, another begins.
            matches.remove(0);
            matches.push(Match::new(begun)?);
            begun += 1;
        }
    }
    let steps = ticks * count;
    let sum = matches.iter().fold(0u64, |sum, one| sum.rotate_left(1) ^ one.world.state_hash());
    println!(
        "{} matches, {begun} begun, {} goals, hash {sum:016x}",
        matches.len(),
        matches.iter().map(|one| one.goals).sum::<u32>()
    );
    println!("{:.1} µs a world and tick", 1e6 * start.elapsed().as_secs_f64() / steps.max(1) as f64);
    Ok(())
}

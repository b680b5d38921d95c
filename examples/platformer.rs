//! A platformer's hero: it runs, climbs a step, jumps through a one-way platform and lands on it, drops back through it, and pushes a crate.
//!
//! `World::move_character` moves the hero. A kinematic body follows the hero, so that other bodies meet it. The platform is solid from above
//! alone. To the hero the filter of the query says so. To the barrel that is thrown through it, which is a body, the hooks say so.
//!
//! `cargo run --release --example platformer`

use granule::{
    BodyDesc, BodyHandle, BodyType, Error, HookContact, Hooks, MoveReport, Mover, Probe, QueryFilter,
    Settings, Shape, Vec2, World,
};
use std::sync::Arc;

const STEP: f32 = 1.0 / 60.0;
const GRAVITY: f32 = 20.0;
/// The hero's half height, m.
const HALF: f32 = 0.9;
/// The height of the platform's upper side, m.
const TOP: f32 = 2.2;

/// Bodies come through the platform from below, and land on it from above.
struct OneWay(BodyHandle);

impl Hooks for OneWay {
    fn before_solve(&self, contact: &mut HookContact) {
        if contact.names(self.0) {
            let lands = contact.normal_from(self.0).y > 0.7;
            contact.solve = lands && contact.points().iter().all(|point| point.separation > -0.1);
        }
    }

    fn stops(&self, _fast: BodyHandle, obstacle: BodyHandle, normal: Vec2) -> bool {
        obstacle != self.0 || normal.y > 0.7
    }
}

/// What the player's keys say.
#[derive(Default)]
struct Keys {
    /// The wanted speed, m/s.
    run: f32,
    jump: bool,
    /// To fall through the platform.
    drop: bool,
}

struct Hero {
    mover: Mover,
    velocity: Vec2,
    /// What other bodies meet.
    body: BodyHandle,
}

impl Hero {
    fn new(world: &mut World, at: Vec2) -> Result<Hero, Error> {
        let shape = Shape::oriented_box(0.3, HALF);
        let body = world.add_body(&BodyDesc::kinematic(shape, at))?;
        let mover = Mover::new(Probe::new(shape, at));
        Ok(Hero { mover, velocity: Vec2::ZERO, body })
    }

    fn step(&mut self, world: &mut World, platform: BodyHandle, keys: &Keys) -> Result<MoveReport, Error> {
        self.velocity.x = keys.run;
        self.velocity.y = match (self.mover.on_ground, keys.jump) {
            (true, true) => 10.5,
            (true, false) => 0.0,
            (false, _) => self.velocity.y - GRAVITY * STEP,
        };
        let (falls, feet) = (self.velocity.y <= 0.0, self.mover.probe.position.y - HALF);
        let is_there = |body, _part| body != platform || (falls && feet >= TOP && !keys.drop);
        let own = [self.body];
        let filter = QueryFilter { accept: Some(&is_there), ..QueryFilter::without(&own) };
        let report = world.move_character(&mut self.mover, STEP * self.velocity, &filter)?;
        if report.ceiling.is_some() {
            self.velocity.y = self.velocity.y.min(0.0);
        }
        // A mover pushes nothing by itself.
        if let Some(wall) = report.wall
            && world.body_type(wall.body)? == BodyType::Dynamic
        {
            world.apply_force(wall.body, -20.0 * wall.normal)?;
        }
        world.set_kinematic_target(self.body, self.mover.probe.position, 0.0)?;
        Ok(report)
    }
}

fn main() -> Result<(), Error> {
    let mut world = World::new(Settings { gravity: Vec2::new(0.0, -GRAVITY), ..Settings::default() })?;
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    world.add_body(&BodyDesc::fixed(Shape::aabb(1.0, 0.1), Vec2::new(3.0, 0.1)))?;
    let platform = world.add_body(&BodyDesc::fixed(Shape::aabb(2.0, 0.1), Vec2::new(8.0, TOP - 0.1)))?;
    let crate_ = world.add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(13.0, 0.5)))?;
    let barrel = BodyDesc::dynamic(Shape::circle(0.3), Vec2::new(9.0, 1.0));
    let barrel = world.add_body(&BodyDesc { velocity: Vec2::new(0.0, 9.0), ..barrel })?;
    world.set_hooks(Some(Arc::new(OneWay(platform))));
    let mut hero = Hero::new(&mut world, Vec2::new(0.0, HALF + 0.01))?;

    let (mut climbed, mut landed, mut dropped) = (false, false, false);
    for frame in 0..420 {
        // It runs until it is below the platform, jumps, waits there, drops, and runs on.
        let below = hero.mover.probe.position.x >= 7.0;
        let keys = match frame {
            240.. => Keys { run: 3.5, ..Keys::default() },
            230.. => Keys { drop: true, ..Keys::default() },
            _ if below => Keys { jump: !landed, ..Keys::default() },
            _ => Keys { run: 3.5, ..Keys::default() },
        };
        let report = hero.step(&mut world, platform, &keys)?;
        climbed |= report.stepped;
        let (at, on) = (hero.mover.probe.position, report.ground.map(|ground| ground.body));
        if !landed && on == Some(platform) {
            landed = true;
            println!("frame {frame}: the hero is on the platform, at {at:.2}");
        } else if landed && !dropped && on.is_some() && on != Some(platform) {
            dropped = true;
            println!("frame {frame}: the hero is back on the floor, at {at:.2}");
        }
        world.step();
    }
    let [pushed, thrown] = [crate_, barrel].map(|body| world.body(body).map(|body| body.position));
    let (pushed, thrown) = (pushed?, thrown?);
    println!(
        "the hero is at {:.2}, the crate at {pushed:.2}, the barrel at {thrown:.2}",
        hero.mover.probe.position
    );
    assert!(climbed && landed && dropped, "climbed {climbed}, landed {landed}, dropped {dropped}");
    assert!(pushed.x > 13.5, "the crate was not pushed");
    assert!((thrown.y - TOP - 0.3).abs() < 0.05, "the barrel is not on the platform");
    Ok(())
}

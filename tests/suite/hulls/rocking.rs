//! Contract: what swings to and fro under a load, on a hull, gains no energy.

use super::*;

/// A limb of two particles that rocks on a cylinder has the period of the closed form, and loses (ω·h)² of its energy in each substep of length h: it rolls with the line between
/// its particles, whose distance from the cylinder's centre is R + r. (When contacts pushed along the normals of the step's start until the next one, it swung out 13 times as
/// far after 20 s at 4 substeps, and 22 times at 8.)
#[test]
fn a_limb_rocks_on_a_cylinder() {
    let (half, radius, lean) = (0.5f32, 0.05f32, 0.04f32);
    let material = Material { static_friction: 1.0, dynamic_friction: 1.0, ..Material::default() };
    for (substeps, cylinder) in [(4u32, 0.3f32), (4, 1.0), (8, 0.3), (8, 1.0)] {
        let settings = Settings { substeps, sleep: false, ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        let below = BodyDesc::fixed(Shape::circle(cylinder), Vec2::ZERO);
        world.add_body(&BodyDesc { material, ..below }).unwrap();
        let (normal, face) = (Vec2::new(-lean.sin(), lean.cos()), Vec2::new(lean.cos(), lean.sin()));
        let at = (cylinder + radius) * normal + cylinder * lean * face;
        let mut limb = Assembly::rope(at - half * face, at + half * face, 1, 1.0);
        for body in &mut limb.bodies {
            (body.shape, body.material, body.linear_damping) = (Shape::particle(radius), material, 0.0);
        }
        limb.hulls.push(vec![0, 1]);
        let ends = world.add_assembly(&limb).unwrap();
        let (mut last, mut crossings, mut late) = (lean, Vec::new(), 0.0f32);
        for step in 1..=1_200 {
            steps(&mut world, 1);
            let [left, right] = [0, 1].map(|end: usize| world.body(ends[end]).unwrap().position);
            let now = (right - left).to_angle();
            if last > 0.0 && now <= 0.0 {
                crossings.push(settings.time_step * (step as f32 - now / (now - last)));
            }
            if step > 1_000 {
                late = late.max(now.abs());
            }
            last = now;
        }
        let period = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f32;
        let omega = (9.81 * (cylinder + radius)).sqrt() / half;
        let expected = std::f32::consts::TAU / omega;
        let turn = omega * settings.time_step / substeps as f32;
        let damped = lean * (-0.5 * turn * turn * (1_000 * substeps) as f32).exp();
        println!("{substeps} substeps: period {period} of {expected}, amplitude {late} of {damped}");
        assert!((period / expected - 1.0).abs() < 0.01, "{substeps}: {period}, not {expected}");
        assert!((0.9..1.1).contains(&(late / damped)), "{substeps}: {late}, not {damped}");
    }
}

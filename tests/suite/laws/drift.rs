//! Bodies at rest stay in place for ten minutes.

use super::*;

each_solver! { rests_for_ten_minutes, holds_on_a_slope_for_ten_minutes }

fn all() -> Vec<Form> {
    let turning = [
        forms::brick(),
        forms::cube(),
        forms::plank(),
        forms::capsule(),
        forms::octagon(),
        forms::hexagon(),
        forms::wedge(),
        forms::dumbbell(),
        forms::table(),
    ];
    let round = [forms::fixed_circle(), forms::circle(), forms::wheel()];
    [forms::aabb()].into_iter().chain(round).chain(turning).collect()
}

/// Puts a body of each of these forms on the ground and lets them settle for 2 s. Checks that in 600 s none moves by
/// 1 mm or turns by 1 mrad.
fn check_rest(cases: &mut Cases, forms: &[Form], settings: Settings, ground: (&str, BodyDesc)) {
    let (ground_name, ground) = ground;
    let mut world = world(settings);
    world.add_body(&ground).unwrap();
    let bodies: Vec<_> = forms
        .iter()
        .enumerate()
        .map(|(i, form)| {
            let at = Vec2::new(5.0 * (i as f32 - 6.0), form.height);
            let desc = BodyDesc { material: ground.material, ..form.body(at) };
            form.add(&mut world, &desc)
        })
        .collect();
    steps(&mut world, 120);
    let start: Vec<_> = bodies.iter().map(|&body| state(&world, body)).collect();
    for minute in 1..=10 {
        steps(&mut world, 3_600);
        for ((form, &body), start) in forms.iter().zip(&bodies).zip(&start) {
            let now = state(&world, body);
            let moved = now.position.distance(start.position);
            let turned = now.total_angle() - start.total_angle();
            cases.holds(moved < 1e-3 && turned.abs() < 1e-3, || {
                format!("{} moves by {moved} m, {turned} rad in {minute} min on a {ground_name}", form.name)
            });
        }
    }
}

/// A body of each form at rest on a level floor moves by less than 1 mm in 600 s.
fn rests_for_ten_minutes(settings: Settings) {
    let mut cases = Cases::new("rest", &settings);
    for ground in grounds(0.0, Material::default()).into_iter().take(2) {
        check_rest(&mut cases, &all(), settings, ground);
    }
    cases.finish();
}

/// A body of each form that does not roll, on a slope of half the angle of static friction, moves by less than 1 mm in 600 s.
fn holds_on_a_slope_for_ten_minutes(settings: Settings) {
    let mut cases = Cases::new("hold", &settings);
    let angle = 0.5 * 0.5f32.atan();
    let gravity = Vec2::from_angle(angle).rotate(Vec2::new(0.0, -G));
    // An octagon on a side of 0.27 m tips from tan θ = 0.41 on: at 0.24 it stands.
    let forms: Vec<_> = all().into_iter().filter(|form| form.base > 0.0).collect();
    for ground in grounds(0.0, friction(0.5, 0.3)).into_iter().skip(1).take(1) {
        check_rest(&mut cases, &forms, Settings { gravity, ..settings }, ground);
    }
    cases.finish();
}

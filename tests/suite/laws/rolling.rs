//! Rolling, with and without slipping.

use super::*;

each_form! { rolls_down_without_slipping: circle, wheel }
each_form! { slips_where_static_friction_is_too_little: circle, wheel }
each_form! { thrown_comes_to_roll_and_rolls_on: circle, wheel }

/// k = I/mr².
fn gyration(form: &Form) -> f32 {
    (form.inertia() / (form.mass() * f64::from(form.height).powi(2))) as f32
}

/// The speed downhill and the speed of the surface, −ωr, of a round body 2 s after its release on a slope, for every
/// ground.
fn rolled(form: &Form, settings: Settings, angle: f32, material: Material) -> Vec<(String, f32, f32)> {
    let mut ends = Vec::new();
    for (turn, isa) in [(0.0, Isa::Scalar), (-angle, Isa::Auto)] {
        let gravity = Vec2::from_angle(turn + angle).rotate(Vec2::new(0.0, -G));
        let [downhill, normal] = [Vec2::X, Vec2::Y].map(|axis| Vec2::from_angle(turn).rotate(axis));
        for (name, ground) in grounds(turn, material) {
            let mut world = world(Settings { isa, gravity, ..settings });
            world.add_body(&ground).unwrap();
            let body = form.add(&mut world, &BodyDesc { material, ..form.body(form.height * normal) });
            steps(&mut world, 120);
            let end = state(&world, body);
            let name = format!("{name}, turned by {turn}");
            ends.push((name, end.velocity.dot(downhill), -end.angular_velocity * form.height));
        }
    }
    ends
}

/// A round body rolls at g·sin θ/(1 + k), k = I/mr² (a disc at two thirds of g·sin θ), within 1 %, and its surface has
/// the same speed. Static friction alone decides whether it rolls: the force is k/(1 + k)·tan θ of the load, here above
/// the dynamic coefficient.
fn rolls_down_without_slipping(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let k = gyration(form);
    for (tan, mu_s, mu_d) in [(0.2f32, 0.5f32, 0.5f32), (0.9, 0.5, 0.5), (0.9, 0.5, 0.1), (1.2, 0.45, 0.3)] {
        assert!(k / (1.0 + k) * tan < 0.95 * mu_s, "it slips: the scene shows nothing");
        let angle = tan.atan();
        let expected = 2.0 * G * angle.sin() / (1.0 + k);
        for (ground, speed, surface) in rolled(form, settings, angle, friction(mu_s, mu_d)) {
            let case = || format!("tan {tan}, μ {mu_s}/{mu_d} on a {ground}");
            cases.close("speed", speed, expected, 0.01 * expected, case);
            cases.close("surface", surface, speed, 0.01 * expected, case);
        }
    }
    cases.finish();
}

/// Where rolling would need more than static friction gives, a round body slips: it accelerates at g(sin θ − μd·cos θ),
/// and its surface at μd·g·cos θ/k, within 1 % of g.
fn slips_where_static_friction_is_too_little(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let k = gyration(form);
    for (tan, mu_s, mu_d) in [(1.2f32, 0.3f32, 0.3f32), (1.2, 0.3, 0.1), (2.0, 0.5, 0.2)] {
        assert!(k / (1.0 + k) * tan > 1.05 * mu_s, "it rolls: the scene shows nothing");
        let angle = tan.atan();
        for (ground, speed, surface) in rolled(form, settings, angle, friction(mu_s, mu_d)) {
            let case = || format!("tan {tan}, μ {mu_s}/{mu_d} on a {ground}");
            let expected = 2.0 * G * (angle.sin() - mu_d * angle.cos());
            cases.close("speed", speed, expected, 0.01 * 2.0 * G, case);
            cases.close("surface", surface, 2.0 * G * mu_d * angle.cos() / k, 0.01 * 2.0 * G, case);
        }
    }
    cases.finish();
}

/// A round body that is thrown along a floor without spin slips until it rolls, at v/(1 + k) (a disc at two thirds of
/// v): angular momentum about a point of the floor is kept. Then it rolls on at that speed for 20 s. The tolerance is
/// 1 %.
fn thrown_comes_to_roll_and_rolls_on(form: &Form, settings: Settings) {
    let mut cases = Cases::new(form.name, &settings);
    let expected = 6.0 / (1.0 + gyration(form));
    for (mu_s, mu_d) in [(0.4f32, 0.4f32), (0.5, 0.3)] {
        for (ground_name, ground) in grounds(0.0, friction(mu_s, mu_d)) {
            let mut world = world(settings);
            world.add_body(&ground).unwrap();
            let material = ground.material;
            let velocity = Vec2::new(6.0, 0.0);
            let desc = BodyDesc { material, velocity, ..form.body(Vec2::new(0.0, form.height)) };
            let body = form.add(&mut world, &desc);
            for seconds in [2, 20] {
                steps(&mut world, 60 * if seconds == 2 { 2 } else { 18 });
                let end = state(&world, body);
                let surface = -end.angular_velocity * form.height;
                let case = || format!("μ {mu_s}/{mu_d} on a {ground_name} after {seconds} s");
                cases.close("speed", end.velocity.x, expected, 0.01 * expected, case);
                cases.close("surface", surface, expected, 0.01 * expected, case);
            }
        }
    }
    cases.finish();
}

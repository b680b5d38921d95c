//! .
use granule::*;
fn period(substeps: u32, hertz: f32, amp: f32) -> (f32, f32, f32) {
    let mut world = World::new(Settings { substeps, ..Settings::default() }).unwrap();
    let anchor = world.add_body(&BodyDesc::fixed(Shape::circle(0.1), Vec2::new(0.0, 5.0))).unwrap();
    let rod = world
        .add_body(&BodyDesc {
            angle: amp,
            ..BodyDesc::dynamic(Shape::oriented_box(0.05, 1.0), Vec2::new(amp.sin(), 5.0 - amp.cos()))
        })
        .unwrap();
    let mut d = JointDesc::revolute(anchor, rod, Vec2::ZERO, Vec2::new(0.0, 1.0));
    d.stiffness = Spring::new(hertz, 2.0);
    let j = world.add_joint(&d).unwrap();
    let mut last = amp;
    let mut t = 0.0f64;
    let mut crossings = vec![];
    let mut most = 0.0f32;
    for i in 0..2400 {
        world.step();
        let a = world.joint_state(j).unwrap().angle;
        t += 1.0 / 60.0;
        if i > 2000 {
            most = most.max(a.abs());
        }
        if last > 0.0 && a <= 0.0 {
            crossings.push(t - (1.0 / 60.0) * f64::from((-a) / (last - a)));
        }
        last = a;
    }
    (
        ((crossings.last().unwrap() - crossings[0]) / (crossings.len() - 1) as f64) as f32,
        most,
        world.joint_quality().max_error as f32,
    )
}
fn main() {
    let i = (0.1f32.powi(2) + 4.0) / 12.0 + 1.0; // per mass
    println!("expected {}", 2.0 * std::f32::consts::PI * (i / 9.81f32).sqrt());
    for s in [1, 2, 4, 8, 16, 32] {
        println!("{s} {:?} {:?}", period(s, 60.0, 0.1), period(s, 60.0, 1.5));
    }
    println!("{:?}", period(4, 0.0, 0.1));
}

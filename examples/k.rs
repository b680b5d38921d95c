//! .
use granule::*;
fn main() {
    // weld cantilever, prismatic, wheel car, gear, motor, target, break, removal
    let mut w = World::new(Settings::default()).unwrap();
    let ground = w.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO)).unwrap();
    let bx = |x: f32, y: f32| BodyDesc::dynamic(Shape::oriented_box(0.5, 0.1), Vec2::new(x, y));
    let mut last = ground;
    let mut p = Vec2::new(0.0, 5.0);
    let mut joints = vec![];
    for i in 0..5 {
        let b = w.add_body(&bx(0.5 + i as f32, 5.0)).unwrap();
        let d = JointDesc::weld(last, b, p, Vec2::new(-0.5, 0.0));
        joints.push(w.add_joint(&d).unwrap());
        last = b;
        p = Vec2::new(0.5, 0.0);
    }
    let slider = w.add_body(&bx(20.0, 10.0)).unwrap();
    let s = w
        .add_joint(
            &JointDesc::prismatic(ground, slider, Vec2::new(20.0, 10.0), Vec2::ZERO, 0.5)
                .with_limit(-3.0, 3.0),
        )
        .unwrap();
    let free = w.add_body(&bx(20.0, 30.0)).unwrap();
    let f = w.add_joint(&JointDesc::prismatic(ground, free, Vec2::new(20.0, 30.0), Vec2::ZERO, 0.5)).unwrap();
    let g1 = w.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(30.0, 5.0))).unwrap();
    let g2 = w.add_body(&BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(31.5, 5.0))).unwrap();
    let r1 = w
        .add_joint(&JointDesc::revolute(ground, g1, Vec2::new(30.0, 5.0), Vec2::ZERO).with_motor(20.0, 1e3))
        .unwrap();
    let r2 = w.add_joint(&JointDesc::revolute(ground, g2, Vec2::new(31.5, 5.0), Vec2::ZERO)).unwrap();
    let g = w.add_joint(&JointDesc::gear(r1, r2, 2.0)).unwrap();
    let t = w.add_body(&bx(-20.0, 10.0)).unwrap();
    let tj = w
        .add_joint(&JointDesc::target(
            t,
            Vec2::new(0.5, 0.0),
            Vec2::new(-20.0, 15.0),
            Spring::new(5.0, 0.7),
            1e4,
        ))
        .unwrap();
    let m = w.add_body(&bx(-30.0, 10.0)).unwrap();
    let mj = w
        .add_joint(&JointDesc::new(
            ground,
            m,
            JointKind::Motor {
                linear_velocity: Vec2::ZERO,
                angular_velocity: 0.0,
                offset: Some(Vec2::new(-30.0, 12.0)),
                angle: Some(1.0),
                max_force: 1e4,
                max_torque: 1e4,
            },
        ))
        .unwrap();
    let d1 = w.add_body(&bx(-40.0, 10.0)).unwrap();
    let dj = w
        .add_joint(&JointDesc::distance(ground, d1, Vec2::new(-40.0, 15.0), Vec2::new(0.5, 0.0), 4.0))
        .unwrap();
    let rope = w.add_body(&bx(-50.0, 10.0)).unwrap();
    let rj = w
        .add_joint(
            &JointDesc::distance(ground, rope, Vec2::new(-50.0, 15.0), Vec2::new(0.5, 0.0), 4.0)
                .with_limit(0.0, 7.0),
        )
        .unwrap();
    let car = w.add_body(&BodyDesc::dynamic(Shape::oriented_box(1.0, 0.3), Vec2::new(60.0, 1.2))).unwrap();
    let mut wheels = vec![];
    for x in [-0.7f32, 0.7] {
        let wheel = w.add_body(&BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(60.0 + x, 0.6))).unwrap();
        wheels.push(
            w.add_joint(
                &JointDesc::wheel(car, wheel, Vec2::new(x, -0.6), Vec2::ZERO, std::f32::consts::FRAC_PI_2)
                    .with_spring(0.0, 4.0, 0.7)
                    .with_limit(-0.2, 0.2)
                    .with_motor(-10.0, 20.0),
            )
            .unwrap(),
        );
    }
    for i in 0..600 {
        w.step();
        if i % 100 == 0 {
            w.validate().unwrap();
        }
        if i == 59 {
            println!("free slider {:?} want {}", w.joint_state(f), -0.5 * 10.0 * 0.5f32.sin());
        }
    }
    for j in &joints {
        println!("weld {:?}", w.joint_state(*j).unwrap());
    }
    println!("tip {:?}", w.body(last));
    println!("slider {:?}", w.joint_state(s));
    println!("gear {:?} {:?} {:?}", w.joint_state(r1), w.joint_state(r2), w.joint_state(g));
    println!("target {:?} {:?}", w.body(t), w.joint_state(tj));
    println!("motor {:?} {:?}", w.body(m), w.joint_state(mj));
    println!("dist {:?}", w.joint_state(dj));
    println!("rope {:?}", w.joint_state(rj));
    println!("car {:?} {:?}", w.body(car), w.joint_state(wheels[0]));
    println!("{:?}", w.joint_quality());
    w.remove_body(ground).unwrap();
    w.validate().unwrap();
    w.step();
    println!("{} {}", w.joint_count(), w.joint_events().len());
    w.validate().unwrap();
}

//! .
use granule::*;
use std::time::Instant;
fn main() {
    let n: usize = std::env::args().nth(1).map_or(100, |a| a.parse().unwrap());
    let steps: usize = std::env::args().nth(2).map_or(60, |a| a.parse().unwrap());
    let isa = if std::env::args().nth(3).as_deref() == Some("avx2") { Isa::Avx2 } else { Isa::Auto };
    let mut w = World::new(Settings { isa, ..Settings::default() }).unwrap();
    let mut b = vec![];
    for k in 0..n {
        for i in 0..n {
            let fixed = k + 3 >= n / 2 && k <= n / 2 + 3 && i == 0;
            let d = BodyDesc {
                body_type: if fixed { BodyType::Static } else { BodyType::Dynamic },
                filter: Filter { category: 2, mask: !2, group: 0 },
                ..BodyDesc::dynamic(Shape::circle(0.4), Vec2::new(k as f32, -(i as f32)))
            };
            b.push(w.add_body(&d).unwrap());
        }
    }
    let start = Instant::now();
    let mut count = 0;
    for k in 0..n {
        for i in 0..n {
            let at = k * n + i;
            if i > 0 && w.body_type(b[at]).unwrap().max2(w.body_type(b[at - 1]).unwrap()) {
                w.add_joint(&JointDesc::revolute(
                    b[at - 1],
                    b[at],
                    Vec2::new(0.0, -0.5),
                    Vec2::new(0.0, 0.5),
                ))
                .unwrap();
                count += 1;
            }
            if k > 0 && w.body_type(b[at]).unwrap().max2(w.body_type(b[at - n]).unwrap()) {
                w.add_joint(&JointDesc::revolute(
                    b[at - n],
                    b[at],
                    Vec2::new(0.5, 0.0),
                    Vec2::new(-0.5, 0.0),
                ))
                .unwrap();
                count += 1;
            }
        }
    }
    println!("{count} joints added in {:?}", start.elapsed());
    let mut times = vec![];
    for _ in 0..steps {
        let s = Instant::now();
        w.step();
        times.push(s.elapsed().as_secs_f64() * 1e3);
    }
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    println!(
        "median {:.3} ms min {:.3} mean {:.3} max {:.3} q {:?}",
        sorted[steps / 2],
        sorted[0],
        times.iter().sum::<f64>() / steps as f64,
        sorted[steps - 1],
        w.joint_quality()
    );
    println!("{:?}", w.timings());
}
trait M {
    fn max2(self, o: Self) -> bool;
}
impl M for BodyType {
    fn max2(self, o: Self) -> bool {
        self == BodyType::Dynamic || o == BodyType::Dynamic
    }
}

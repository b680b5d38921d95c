//! Settings, bodies, parts, links and assemblies from bytes.

use super::bytes::Bytes;
use granule::{
    Assembly, BodyDesc, BodyType, Cloth, Filter, Isa, LinkKind, Material, Mix, Mixing, Part, Polygon,
    Settings, Shape, Solver, Vec2,
};

/// Settings in range, but for a few that any bits at all were put into.
pub fn settings(bytes: &mut Bytes) -> Settings {
    let flags = bytes.byte();
    let base = if flags & 1 == 0 { Settings::default() } else { Settings::projection() };
    let counts = bytes.byte();
    let mut settings = Settings {
        gravity: if flags & 2 == 0 { base.gravity } else { Vec2::ZERO },
        substeps: if flags & 4 == 0 { base.substeps.min(2) } else { 1 + u32::from(counts % 4) },
        iterations: match base.solver {
            Solver::Soft => 1 + u32::from(counts / 128),
            Solver::Projection => 1 + u32::from(counts / 64),
        },
        restitution_threshold: if flags & 8 == 0 { 1.0 } else { 0.0 },
        link_iterations: 1 + u32::from(counts / 4 % 4),
        ..base
    };
    if flags & 16 != 0 {
        let rule = |byte: u8| Mix::NAMES[usize::from(byte) % Mix::NAMES.len()].1;
        settings.mixing = Mixing { friction: rule(bytes.byte()), restitution: rule(bytes.byte()) };
    }
    if flags & 32 != 0 {
        settings.contact_frequency_ratio = 0.25 * bytes.unit();
        settings.damping_ratio = 20.0 * bytes.unit();
        settings.push_out_speed = 10.0 * bytes.unit();
        settings.slop = 0.05 * bytes.unit() * bytes.unit();
        settings.projection_percent = bytes.unit();
        settings.projection_slop = 0.05 * bytes.unit();
    }
    if flags & 64 != 0 {
        settings.time_step = 1.0 / (1.0 + f32::from(bytes.byte()));
        settings.gravity = bytes.vector();
    }
    if flags & 128 != 0 {
        let number = bytes.number();
        let fields = [
            &mut settings.gravity.x,
            &mut settings.time_step,
            &mut settings.contact_frequency_ratio,
            &mut settings.damping_ratio,
            &mut settings.push_out_speed,
            &mut settings.slop,
            &mut settings.restitution_threshold,
            &mut settings.projection_slop,
        ];
        *fields.into_iter().nth(bytes.below(8)).expect("one of eight") = number;
    }
    settings
}

/// An instruction set of this processor that is not the scalar one.
pub fn wide(byte: u8) -> Isa {
    Isa::available().skip(1).cycle().nth(usize::from(byte)).expect("a portable set")
}

/// What many worlds stand on.
pub fn floor(kind: u8) -> Assembly {
    let below = Vec2::new(0.0, -1.0);
    let body = match kind % 6 {
        0 => return Assembly::default(),
        1 => BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO),
        2 => BodyDesc::fixed(Shape::aabb(10.0, 1.0), below),
        3 => BodyDesc::fixed(Shape::oriented_box(10.0, 1.0), below),
        4 => {
            let points = [-8.0, -3.0, 2.0, 8.0].map(|x| Vec2::new(x, 0.0));
            return Assembly::chain(&points, false, Material::default()).expect("a flat chain");
        }
        _ => BodyDesc { angle: 0.25, ..BodyDesc::fixed(Shape::half_space(Vec2::new(0.25, 1.0), 0.0), below) },
    };
    Assembly::from(vec![body])
}

pub fn body(bytes: &mut Bytes) -> BodyDesc {
    let kind = bytes.byte();
    let fields = bytes.byte();
    let body_type = match kind % 8 {
        0 => BodyType::Static,
        1 => BodyType::Kinematic,
        _ => BodyType::Dynamic,
    };
    let shape = match kind / 8 % 8 {
        0 | 1 => Shape::circle(bytes.size()),
        2 => Shape::aabb(bytes.size(), bytes.size()),
        3 if kind < 64 => Shape::half_space(bytes.vector(), bytes.number()),
        3 => Shape::particle(bytes.size()),
        _ => turning(bytes),
    };
    let fixed = matches!(shape, Shape::HalfSpace { .. } | Shape::ChainSegment { .. });
    let body_type = if fixed { BodyType::Static } else { body_type };
    let mut desc = BodyDesc { body_type, ..BodyDesc::dynamic(shape, bytes.vector()) };
    if matches!(shape, Shape::Segment { .. }) {
        desc.mass = Some(1.0);
    }
    if fields & 1 != 0 {
        desc.velocity = bytes.vector();
        desc.angular_velocity = bytes.number();
    }
    if fields & 2 != 0 {
        desc.angle = bytes.number();
    }
    if fields & 4 != 0 {
        desc.material = material(bytes);
    }
    if fields & 8 != 0 {
        desc.filter = filter(bytes);
    }
    if fields & 16 != 0 {
        desc.mass = Some(bytes.size());
    }
    if fields & 32 != 0 {
        desc.linear_damping = bytes.unit();
        desc.angular_damping = 4.0 * bytes.unit();
    }
    if fields & 64 != 0 {
        desc.gravity_scale = bytes.number();
    }
    desc.fixed_rotation = fields & 128 != 0;
    desc.sleep = fields & 12 != 12;
    desc.sensor = fields & 162 == 162 && !desc.is_particle();
    desc
}

pub fn material(bytes: &mut Bytes) -> Material {
    let flags = bytes.byte();
    let (static_friction, dynamic_friction) = (bytes.unit(), bytes.unit());
    let mut material = Material { static_friction, dynamic_friction, ..Material::default() };
    if flags & 1 != 0 {
        material.restitution = f32::from(bytes.byte()) / 255.0;
    }
    if flags & 2 != 0 {
        material.rolling_resistance = bytes.unit();
    }
    if flags & 4 != 0 {
        material.tangent_speed = 4.0 * bytes.unit() - 2.0;
    }
    if flags & 8 != 0 {
        material.density = bytes.size();
    }
    material.id = u32::from(flags >> 6);
    if flags & 240 == 240 {
        material.static_friction = bytes.number();
    }
    material
}

pub fn filter(bytes: &mut Bytes) -> Filter {
    Filter {
        category: u32::from(bytes.byte()),
        mask: u32::from(bytes.byte()),
        group: u32::from(bytes.byte() % 4),
    }
}

/// A shape that turns. Of points that make no polygon a regular one is made, so that most inputs give a world.
fn turning(bytes: &mut Bytes) -> Shape {
    let kind = bytes.byte();
    match kind % 8 {
        0 | 1 => Shape::oriented_box(bytes.size(), bytes.size()),
        2 => Shape::capsule(bytes.size(), bytes.size()),
        3 => Shape::segment(bytes.size()),
        4 => {
            let mut neighbour = |given: bool| given.then(|| bytes.vector());
            let (before, after) = (neighbour(kind & 64 != 0), neighbour(kind & 128 != 0));
            Shape::ChainSegment { half_length: bytes.size(), before, after }
        }
        5 => regular(3 + usize::from(kind / 8 % 6), bytes.size()),
        _ => {
            let count = 3 + usize::from(kind / 8 % 7);
            let radius = if kind & 128 == 0 { 0.0 } else { bytes.unit() };
            let vertices: Vec<Vec2> = (0..count).map(|_| 0.25 * bytes.vector()).collect();
            Polygon::rounded(&vertices, radius)
                .map_or_else(|_| regular(count.min(8), 0.25 + radius), |(polygon, _)| Shape::Polygon(polygon))
        }
    }
}

fn regular(count: usize, radius: f32) -> Shape {
    Polygon::regular(count, radius).map_or(Shape::oriented_box(0.5, 0.5), Shape::Polygon)
}

pub fn part(bytes: &mut Bytes) -> Part {
    let kind = bytes.byte();
    let shape = if kind.is_multiple_of(4) { Shape::circle(bytes.size()) } else { turning(bytes) };
    let mut part = Part::new(shape, 0.25 * bytes.vector());
    if kind & 4 != 0 {
        part.angle = bytes.number();
    }
    if kind & 8 != 0 {
        part.material = material(bytes);
    }
    if kind & 48 == 48 {
        part.filter = filter(bytes);
    }
    part.sensor = kind & 192 == 192;
    part
}

/// A particle, one in four pinned.
pub fn particle(bytes: &mut Bytes) -> BodyDesc {
    let kind = bytes.byte();
    let mut desc = BodyDesc::particle(bytes.vector(), if kind < 250 { 1.0 } else { bytes.number() });
    match kind % 8 {
        0 => desc.body_type = BodyType::Static,
        1 => desc = desc.pinned(),
        _ => {}
    }
    if kind & 16 != 0 {
        desc.shape = Shape::particle(bytes.size());
    }
    if kind & 32 != 0 {
        desc.filter.group = u32::from(bytes.byte() % 4);
    }
    if kind & 64 != 0 && desc.body_type == BodyType::Dynamic {
        desc.velocity = bytes.vector();
    }
    if kind & 128 != 0 {
        desc.material = material(bytes);
    }
    desc
}

pub fn link_kind(byte: u8) -> LinkKind {
    [LinkKind::Distance, LinkKind::Distance, LinkKind::Min, LinkKind::Max][usize::from(byte % 4)]
}

/// What the builders make, small.
pub fn assembly(bytes: &mut Bytes) -> Assembly {
    let kind = bytes.byte();
    let at = bytes.vector();
    let count = 1 + bytes.below(6);
    let size = bytes.size();
    let made = match kind % 8 {
        0 => Assembly::rope(at, at + Vec2::new(count as f32 * size, 0.0), count, size),
        1 => Assembly::cloth(&Cloth {
            origin: at,
            columns: 1 + count % 4,
            rows: 1 + usize::from(kind / 8 % 3),
            spacing: size,
            break_force: bytes.number().abs() * 100.0,
            shear: kind & 64 != 0,
            bend: kind & 128 != 0,
            ..Cloth::default()
        }),
        2 | 3 => Assembly::soft_box(at, Vec2::splat(0.5 + size), 0.1, size, bytes.unit()),
        4 => Assembly::polygon(at, size, count.max(3), size),
        5 => Assembly::ragdoll(at, size, size),
        6 => {
            let points: Vec<Vec2> = (0..2 + count % 4).map(|_| bytes.vector()).collect();
            Assembly::chain(&points, kind & 64 != 0, material(bytes)).unwrap_or_default()
        }
        _ => {
            let mut two = Assembly::soft_box(at, Vec2::splat(0.5 + size), 0.1, size, 0.0);
            two.append(Assembly::soft_box(at, Vec2::splat(0.5 + size), 0.1, size, 0.0).moved(bytes.vector()));
            two.link(0, 4);
            two
        }
    };
    if kind & 32 != 0 { made.grouped(u32::from(bytes.byte() % 4)) } else { made }
}

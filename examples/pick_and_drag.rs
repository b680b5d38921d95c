//! The mouse of a scene editor: picks the body under the pointer, drags it by a joint, lets it go, and undoes the move. The pointer is a list of events, and
//! what the editor would show is printed.
//!
//! `cargo run --release --example pick_and_drag`

use granule::{
    BodyDesc, BodyHandle, BodyType, Error, JointDesc, JointHandle, Settings, Shape, Spring, Vec2, World,
};

/// What the pointer does.
enum Pointer {
    Press(Vec2),
    Move(Vec2),
    Release,
}

/// What is being dragged.
struct Drag {
    body: BodyHandle,
    joint: JointHandle,
    /// Where it was, for undo.
    from: (Vec2, f32),
}

#[derive(Default)]
struct Editor {
    drag: Option<Drag>,
    undo: Vec<(BodyHandle, (Vec2, f32))>,
}

impl Editor {
    fn handle(&mut self, world: &mut World, event: &Pointer) -> Result<(), Error> {
        match *event {
            Pointer::Press(at) => self.press(world, at),
            Pointer::Move(to) => self.drag.as_ref().map_or(Ok(()), |drag| world.set_target(drag.joint, to)),
            Pointer::Release => {
                if let Some(Drag { body, joint, from }) = self.drag.take() {
                    world.remove_joint(joint)?;
                    self.undo.push((body, from));
                }
                Ok(())
            }
        }
    }

    /// Picks the topmost dynamic body: the one added last.
    fn press(&mut self, world: &mut World, at: Vec2) -> Result<(), Error> {
        let mut picked: Option<BodyHandle> = None;
        world.query_point(at, |body| {
            if world.body_type(body) == Ok(BodyType::Dynamic) {
                picked = picked.max(Some(body));
            }
            true
        });
        let Some(body) = picked else { return Ok(()) };
        let state = world.body(body)?;
        // The point of the body that was grabbed, in its own axes.
        let grabbed = Vec2::from_angle(-state.angle).rotate(at - state.position);
        let force = 500.0 * world.mass(body)?;
        let joint = world.add_joint(&JointDesc::target(body, grabbed, at, Spring::new(5.0, 0.7), force))?;
        self.drag = Some(Drag { body, joint, from: (state.position, state.angle) });
        Ok(())
    }

    fn undo(&mut self, world: &mut World) -> Result<(), Error> {
        if let Some((body, (position, angle))) = self.undo.pop() {
            world.place_bodies(&[body], &[position], Some(&[angle]))?;
            world.set_velocities(&[body], &[Vec2::ZERO], Some(&[0.0]))?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let mut world = World::new(Settings::default())?;
    world.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    for i in 0..5 {
        let body = world
            .add_body(&BodyDesc::dynamic(Shape::oriented_box(0.5, 0.5), Vec2::new(0.0, 0.5 + i as f32)))?;
        world.set_name(body, Some(&format!("box {i}")))?;
    }
    let mut editor = Editor::default();
    let mut events = vec![Pointer::Press(Vec2::new(0.2, 4.6))];
    events.extend((0..60).map(|i| Pointer::Move(Vec2::new(0.2 + 0.05 * i as f32, 4.6 + 0.02 * i as f32))));
    events.push(Pointer::Release);
    for event in &events {
        editor.handle(&mut world, event)?;
        world.step();
    }
    let Some(&(body, _)) = editor.undo.last() else {
        return Err(Error::Invalid { field: "pointer", reason: "it picked nothing" });
    };
    let name = world.name(body)?.unwrap_or("a body").to_owned();
    println!("{name} was dragged to {:.2}", world.body(body)?.position);
    editor.undo(&mut world)?;
    println!("{name} is back at {:.2}", world.body(body)?.position);
    for _ in 0..120 {
        world.step();
    }
    println!("{name} rests at {:.2}", world.body(body)?.position);
    Ok(())
}

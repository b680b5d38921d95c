//! Pictures: what is drawn where, that it is the same every time, and what `granule render` writes.

use granule::scene::{self, BUILTIN};
use granule::{BodyDesc, BodyType, JointDesc, LinkDesc, Part, Polygon, Settings, Shape, Spring, Vec2, World};
use granule_command::render::{By, Camera, Image, Look, Survey, Theme, View, caption, delays, draw};
use rayon::ThreadPoolBuilder;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// 20 pixels a metre, the origin in the middle.
fn view() -> View {
    let camera = Camera::looking_at(Vec2::ZERO, 16.0, 320, 240);
    View { camera, top_speed: 1.0, top_impulse: 1.0 }
}

fn world_of(bodies: &[BodyDesc]) -> World {
    let mut world = World::new(Settings::default()).expect("the default settings");
    world.add_bodies(bodies).expect("bodies that can be added");
    world
}

fn picture(world: &World) -> Image {
    let mut image = Image::new(320, 240);
    draw(world, &view(), &Look::default(), &mut image);
    image
}

/// How many pixels differ from the background, however little of them is covered.
fn covered(image: &Image) -> f64 {
    let background = Look::default().background();
    image.pixels().iter().filter(|pixel| pixel[..3] != background).count() as f64
}

/// A shape covers the pixels that it should: its area in closed form, give or take a pixel along its outline.
#[test]
fn areas() {
    let hexagon = Polygon::regular(6, 2.0).expect("a hexagon");
    let (rounded, _) = Polygon::rounded(&[Vec2::ZERO, Vec2::new(3.0, 0.0), Vec2::new(0.0, 3.0)], 0.5)
        .expect("a rounded triangle");
    let at = Vec2::new(0.3, -0.2);
    for (shape, perimeter) in [
        (Shape::circle(3.0), 18.9),
        (Shape::aabb(3.0, 1.5), 18.0),
        (Shape::oriented_box(3.0, 1.5), 18.0),
        (Shape::capsule(2.0, 1.0), 14.3),
        (Shape::Polygon(hexagon), 12.0),
        (Shape::Polygon(rounded), 13.4),
        (Shape::particle(1.0), 6.3),
    ] {
        for angle in [0.0, 0.4] {
            let body = BodyDesc { angle, ..BodyDesc::dynamic(shape, at) };
            let image = picture(&world_of(&[body]));
            let expected = 400.0 * f64::from(shape.area());
            // The pixels that the outline touches count in full: half of them too much.
            let outline = 20.0 * perimeter;
            let excess = covered(&image) - expected;
            assert!((0.0..outline).contains(&excess), "{shape:?}: {excess} of {expected}");
        }
    }
}

/// A circle is where it should be: y is up, and the camera's centre is in the middle.
#[test]
fn places() {
    let image = picture(&world_of(&[BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(4.0, 3.0))]));
    let background = Look::default().background();
    let lit = |x: usize, y: usize| image.pixels()[y * 320 + x][..3] != background;
    // 160 + 20·4 and 120 − 20·3.
    assert!(lit(240, 60) && lit(231, 60) && lit(248, 60) && lit(240, 51) && lit(240, 68));
    assert!(!lit(228, 60) && !lit(251, 60) && !lit(240, 48) && !lit(240, 71) && !lit(240, 180));
    // A half-space, of any direction, covers its solid side.
    let slope = Shape::half_space(Vec2::new(1.0, 1.0), 0.0);
    let image = picture(&world_of(&[BodyDesc::fixed(slope, Vec2::new(1.0, 0.0))]));
    let share = covered(&image) / (320.0 * 240.0);
    let lit = |x: usize, y: usize| image.pixels()[y * 320 + x][..3] != background;
    assert!(lit(0, 239) && !lit(319, 0) && lit(177, 120) && !lit(183, 120), "{share}");
    assert!(image.pixels().iter().all(|pixel| pixel[3] == 255), "nothing is translucent");
}

/// Every kind of thing is drawn: parts, segments, chains, links, contacts; and a world without any is background.
#[test]
fn everything_is_drawn() {
    assert_eq!(covered(&picture(&world_of(&[]))), 0.0);
    let alone = [
        BodyDesc::fixed(Shape::segment(3.0), Vec2::ZERO),
        BodyDesc::fixed(Shape::ChainSegment { half_length: 3.0, before: None, after: None }, Vec2::ZERO),
    ];
    for body in alone {
        let pixels = covered(&picture(&world_of(&[body])));
        assert!((120.0..500.0).contains(&pixels), "{:?}: {pixels}", body.shape);
    }
    let mut world = world_of(&[BodyDesc::dynamic(Shape::circle(0.5), Vec2::ZERO)]);
    let body = world.handles().next().expect("a body");
    world.add_part(body, &Part::new(Shape::circle(0.5), Vec2::new(4.0, 0.0))).expect("a part");
    let two_circles = 2.0 * std::f64::consts::PI * 100.0;
    assert!((covered(&picture(&world)) - two_circles).abs() < 80.0);

    let ends = [-3.0, 3.0].map(|x| BodyDesc::particle(Vec2::new(x, 0.0), 1.0));
    let mut world = world_of(&ends);
    let before = covered(&picture(&world));
    let handles: Vec<_> = world.handles().collect();
    world.add_link(&LinkDesc::distance(handles[0], handles[1], 6.0)).expect("a link");
    assert!(covered(&picture(&world)) > before + 100.0);

    let mut world = scene::builtin("pile", 40, 1).expect("a scene").build().expect("a world");
    (0..100).for_each(|_| world.step());
    let mut survey = Survey::default();
    survey.add(&world);
    let view = survey.view(320, 240);
    let pictures = [false, true].map(|contacts| {
        let mut image = Image::new(320, 240);
        draw(&world, &view, &Look { contacts, ..Look::default() }, &mut image);
        image
    });
    assert_ne!(pictures[0], pictures[1]);
}

/// By colour, two contacts of one body are lines of two colours, and where nothing touches there is no line.
#[test]
fn contacts_by_colour() {
    // Turned, for the marks of how they turn to be out of the way.
    let row = [-2.0, 0.0, 2.0]
        .map(|x| BodyDesc { angle: 1.57, ..BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(x, 0.0)) });
    let mut world = world_of(&row);
    world.step();
    let mut image = Image::new(320, 240);
    draw(&world, &view(), &Look { by: By::Colour, ..Look::default() }, &mut image);
    let pixel = |x: f32, y: f32| {
        let at = view().camera.place(Vec2::new(x, y));
        image.pixels()[at.y as usize * image.width() + at.x as usize]
    };
    let plain = pixel(0.0, -0.5);
    let (left, right) = (pixel(-0.6, 0.0), pixel(0.6, 0.0));
    assert!(left != plain && right != plain && left != right, "{plain:?}: {left:?}, {right:?}");
    assert_eq!(
        (pixel(-1.4, 0.0), pixel(1.4, 0.0)),
        (left, right),
        "a line has one colour on both of its bodies"
    );
    let outside = pixel(2.6, 0.0);
    let close = outside.iter().zip(plain).all(|(a, b)| a.abs_diff(b) < 10);
    assert!(close, "there is nothing to touch on this side: {outside:?}, {plain:?}");
}

/// Contract: a joint is drawn from the centres of its bodies to the held points and between these, in one colour. By colour, two joints
/// of one body have two colours. A filter holds nothing and is not drawn.
#[test]
fn joints_are_drawn() {
    let row = [-4.0, 0.0, 4.0].map(|x| BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, 0.0)));
    let background = Look::default().background();
    let picture = |joints: &[JointDesc<usize>], by: By| {
        let mut world = world_of(&row);
        let bodies: Vec<_> = world.handles().collect();
        for joint in joints {
            world.add_joint(&joint.map(|place| bodies[place], |other| other)).expect("a joint");
        }
        let mut image = Image::new(320, 240);
        draw(&world, &view(), &Look { by, ..Look::default() }, &mut image);
        image
    };
    let pixel = |image: &Image, x: f32, y: f32| {
        let at = view().camera.place(Vec2::new(x, y));
        image.pixels()[at.y as usize * image.width() + at.x as usize]
    };
    let up = Vec2::new(0.0, 2.0);
    let held = [
        JointDesc::revolute(0, 1, Vec2::new(4.0, 2.0), up),
        JointDesc::distance(1, 2, Vec2::ZERO, Vec2::ZERO, 4.0),
        JointDesc::weld(0, 1, Vec2::new(2.0, -2.0), Vec2::new(-2.0, -2.0)),
        JointDesc::prismatic(0, 1, Vec2::new(2.0, 2.0), Vec2::new(-2.0, 2.0), 0.0),
        JointDesc::wheel(0, 1, Vec2::new(2.0, 2.0), Vec2::new(-2.0, 2.0), 0.0),
        JointDesc::target(1, up, Vec2::new(2.0, 4.0), Spring::new(1.0, 1.0), 1.0),
    ];
    let empty = picture(&[], By::Speed);
    // Where each joint has something to show beside the bodies: see the frames above.
    let places = [(0.0, 1.2), (2.0, 0.0), (-2.0, -2.0), (-2.3, 2.0), (-2.3, 2.0), (1.0, 3.0)];
    for (joint, (x, y)) in held.iter().zip(places) {
        let image = picture(std::slice::from_ref(joint), By::Speed);
        assert_eq!(pixel(&empty, x, y)[..3], background);
        assert_ne!(pixel(&image, x, y)[..3], background, "{joint:?}");
    }
    assert_eq!(picture(&[JointDesc::filter(0, 1)], By::Speed), empty);
    let coloured = picture(&[held[2], held[1]], By::Colour);
    let (left, right) = (pixel(&coloured, -2.0, -2.0), pixel(&coloured, 2.0, 0.0));
    assert!(left != right && left[..3] != background && right[..3] != background, "{left:?}, {right:?}");
}

/// A picture is the same, byte for byte, each time and on every number of threads, whatever it shows.
#[test]
fn equal_bytes() {
    for (name, bodies) in [("mixed_shapes", 600), ("ragdolls", 130), ("junkyard", 200), ("slope", 300)] {
        let scene = scene::builtin(name, bodies, 1).expect("a scene");
        let mut world = scene.build().expect("a world");
        (0..40).for_each(|_| world.step());
        let mut survey = Survey::default();
        survey.add(&world);
        for (by, theme) in [
            (By::Speed, Theme::Dark),
            (By::Tile, Theme::Light),
            (By::Shape, Theme::Dark),
            (By::Colour, Theme::Light),
        ] {
            let look = Look { by, theme, contacts: true };
            let drawn = || {
                let mut image = Image::new(640, 361);
                let view = survey.view(640, 361);
                draw(&world, &view, &look, &mut image);
                caption(&mut image, name, &view, &look);
                image
            };
            let alone = drawn();
            for threads in [1, 2, 3] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                assert!(pool.install(drawn) == alone, "{name} on {threads} threads");
            }
        }
    }
}

/// The camera has all that moves in the picture, of every built-in scene; a body that is far out does not shrink the
/// rest; and a clip's camera holds what any of its frames does.
#[test]
fn cameras_fit() {
    for builtin in BUILTIN {
        let world = scene::builtin(builtin.name, 120, 1).expect("a scene").build().expect("a world");
        let mut survey = Survey::default();
        survey.add(&world);
        let camera = survey.view(640, 360).camera;
        for handle in world.handles().filter(|&handle| world.body_type(handle) == Ok(BodyType::Dynamic)) {
            let place = camera.place(world.body(handle).expect("a body").position);
            let inside = (0.0..=640.0).contains(&place.x) && (0.0..=360.0).contains(&place.y);
            assert!(inside, "{}: body {} at {place}", builtin.name, handle.index());
        }
    }
    let crowd = |far: f32| {
        let one = |index: u16| BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(f32::from(index), 0.0));
        let mut bodies: Vec<BodyDesc> = (0..300).map(one).collect();
        bodies.push(BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(far, 0.0)));
        let mut survey = Survey::default();
        survey.add(&world_of(&bodies));
        survey
    };
    let (near, far) = (crowd(310.0), crowd(1.0e6));
    assert!(near.view(640, 360).camera.place(Vec2::new(310.0, 0.0)).x < 640.0);
    assert!(far.view(640, 360).camera.scale > 0.7 * near.view(640, 360).camera.scale);

    let mut clip = Survey::default();
    for x in [-50.0, 50.0] {
        clip.add(&world_of(&[BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(x, 0.0))]));
    }
    let camera = clip.view(640, 360).camera;
    assert!([-50.0, 50.0].iter().all(|&x| (0.0..640.0).contains(&camera.place(Vec2::new(x, 0.0)).x)));
    // Nothing at all is no reason to fail.
    assert!(Survey::default().view(640, 360).camera.scale.is_finite());
}

/// The frames of a GIF last as long as the steps that they show.
#[test]
fn delays_add_up() {
    let three_seconds: u32 = delays(1.0 / 30.0).take(90).map(u32::from).sum();
    assert_eq!(three_seconds, 300);
    assert!(delays(1.0 / 240.0).take(9).all(|delay| delay == 2), "viewers slow shorter ones down");
}

fn granule(dir: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_granule")).args(arguments).current_dir(dir).output();
    output.expect("the command starts")
}

fn temporary() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// `granule render`, which must succeed.
fn render(dir: &Path, arguments: &[&str]) -> Output {
    let output = granule(dir, &[&["render"], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Size and colours of a PNG file.
fn decoded(path: &Path) -> (u32, u32, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).expect("a picture"));
    let mut decoder = png::Decoder::new(file);
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a small picture")];
    let info = reader.next_frame(&mut pixels).expect("a whole picture");
    (info.width, info.height, pixels)
}

/// Pictures are written under the names asked for, and decode to what the library draws.
#[test]
fn png_files() {
    let dir = temporary();
    render(dir.path(), &["pile", "--bodies", "60", "--warmup", "5", "--size", "320x180", "--plain"]);
    let (width, height, pixels) = decoded(&dir.path().join("pile.png"));
    assert_eq!((width, height), (320, 180));
    let mut world = scene::builtin("pile", 60, 1).expect("a scene").build().expect("a world");
    (0..5).for_each(|_| world.step());
    let mut survey = Survey::default();
    survey.add(&world);
    let mut image = Image::new(320, 180);
    draw(&world, &survey.view(320, 180), &Look::default(), &mut image);
    let drawn: Vec<u8> = image.pixels().iter().flat_map(|pixel| pixel[..3].to_vec()).collect();
    assert!(pixels == drawn);

    let clip = ["gas", "--bodies", "30", "--size", "64x48", "--steps", "9", "--every", "3"];
    render(dir.path(), &[&clip[..], &["--out", "frame-%03d.png"]].concat());
    for frame in 0..4 {
        assert_eq!(decoded(&dir.path().join(format!("frame-{frame:03}.png"))).0, 64);
    }
    assert!(!dir.path().join("frame-004.png").exists());
}

/// A GIF has as many frames as asked for, of the size asked for, in few colours.
#[test]
fn gif_files() {
    let dir = temporary();
    let clip = ["collapsing", "--bodies", "80", "--warmup", "0", "--frames", "5", "--size", "160x90"];
    render(dir.path(), &[&clip[..], &["--out", "clip.gif"]].concat());
    let file = fs::File::open(dir.path().join("clip.gif")).expect("a GIF");
    let mut decoder = gif::DecodeOptions::new().read_info(file).expect("a GIF");
    let mut frames = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a whole frame") {
        assert_eq!((frame.width, frame.height), (160, 90));
        assert!((3..=4).contains(&frame.delay), "two steps of 1/60 s: {}", frame.delay);
        frames += 1;
    }
    assert_eq!(frames, 5);
    assert!(decoder.global_palette().is_some_and(|palette| palette.len() <= 3 * 256));
}

/// Raw frames are width × height × 4 bytes each, and nothing else is on standard output.
#[test]
fn raw_frames() {
    let dir = temporary();
    let clip = ["packed", "--bodies", "50", "--warmup", "0", "--frames", "3", "--size", "96x64"];
    let output = render(dir.path(), &[&clip[..], &["--out", "-"]].concat());
    assert_eq!(output.stdout.len(), 3 * 96 * 64 * 4);
    assert!(output.stdout.chunks_exact(4).all(|pixel| pixel[3] == 255));
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);
}

/// A file that is there stays as it is, unless told otherwise; and that is found out before the first step.
#[test]
fn nothing_is_overwritten() {
    let dir = temporary();
    let small = ["render", "packed", "--bodies", "20", "--warmup", "0", "--size", "32x32"];
    for (out, existing, more) in [
        ("a.png", "a.png", [].as_slice()),
        ("b-%d.png", "b-2.png", ["--frames", "4"].as_slice()),
        ("c.gif", "c.gif", ["--frames", "2"].as_slice()),
    ] {
        let existing = dir.path().join(existing);
        fs::write(&existing, "mine").expect("a file");
        let arguments = [&small[..], more, &["--out", out]].concat();
        let refused = granule(dir.path(), &arguments);
        assert_eq!(refused.status.code(), Some(2), "{out}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains("--force"), "{out}");
        assert_eq!(fs::read(&existing).expect("the file"), b"mine");
        let forced = granule(dir.path(), &[&arguments[..], &["--force"]].concat());
        assert_eq!(forced.status.code(), Some(0), "{out}");
        assert_ne!(fs::read(&existing).expect("the file"), b"mine");
    }
    fs::write(dir.path().join("sheet.png"), "mine").expect("a file");
    let sheet = granule(dir.path(), &["render", "--sheet", "sheet.png"]);
    assert_eq!(sheet.status.code(), Some(2));
}

/// Bad arguments end with code 2 and one line that names them, and write nothing.
#[test]
fn complaints() {
    let dir = temporary();
    for (arguments, named) in [
        (["--out", "a.jpg"].as_slice(), "a.jpg"),
        (&["--out", "a.png", "--frames", "3"], "3 pictures"),
        (&["--out", "a-%x.png"], "a-%x.png"),
        (&["--out", "a-%d-%d.png"], "a-%d-%d.png"),
        (&["--out", "nowhere/a.png"], "nowhere"),
        (&["--size", "12"], "--size"),
        (&["--size", "0x9"], "--size"),
        (&["--size", "99999x9"], "--size"),
        (&["--every", "0"], "--every"),
        (&["--frames", "0"], "--frames"),
        (&["--frames", "2", "--steps", "9"], "--steps"),
        (&["--by", "taste"], "taste"),
        (&["--view", "1,2"], "--view"),
        (&["--view", "1,2,-3"], "--view"),
        (&["--sheet", "a.gif"], "a.gif"),
        (&["--bodies", "0"], "--bodies"),
        (&["nothing"], "nothing"),
    ] {
        let output = granule(dir.path(), &[&["render"], arguments].concat());
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert_eq!(complaint.matches('\n').count(), 1, "{arguments:?}: {complaint}");
        assert!(complaint.contains(named), "{arguments:?}: {complaint}");
    }
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 0);
}

/// Completions name every subcommand, for every shell; the manual has a page for each of them.
#[test]
fn completions_and_manual() {
    let dir = temporary();
    let subcommands = ["list", "run", "verify", "render", "completions", "man"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = granule(dir.path(), &["completions", shell]);
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}");
        let script = String::from_utf8(output.stdout).expect("a script");
        assert!(subcommands.iter().all(|name| script.contains(name)), "{shell}");
    }
    let first = granule(dir.path(), &["man"]);
    assert!(String::from_utf8_lossy(&first.stdout).contains(".TH granule 1"));
    for force in [["man", "pages"].as_slice(), &["man", "pages", "--force"]] {
        assert!(granule(dir.path(), force).status.success());
        for name in subcommands {
            let page = dir.path().join(format!("pages/granule-{name}.1"));
            let text = fs::read_to_string(&page).expect("a page");
            assert!(text.contains(&format!(".TH granule-{name} 1")), "{name}: {text}");
        }
    }
    let refused = granule(dir.path(), &["man", "pages"]);
    assert_eq!(refused.status.code(), Some(2), "the pages are there already");
}

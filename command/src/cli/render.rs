//! `granule render`: pictures of a scene, and the sheet with all scenes.

use super::args::SceneArgs;
use super::input::{self, Input};
use super::progress::Progress;
use super::{Outcome, bad_file, bad_input, emit, note, sheet};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use granule::scene::Player;
use granule::{Vec2, World};
use granule_command::render::{
    By, Camera, Gif, Image, Look, Survey, Theme, View, caption, caption_height, delays, draw,
};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The default number of frames of a clip.
const CLIP: u32 = 150;

/// The first frame is the state after the warm-up. The frames of a clip share one camera: the scene is stepped twice,
/// the first time to see how far it gets.
#[derive(Args)]
pub struct RenderArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Frames [default: 1 for a picture, 150 for a clip; with --steps, as many as fit]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000))]
    #[arg(conflicts_with = "steps")]
    frames: Option<u32>,
    /// Steps from one frame to the next
    #[arg(long, value_name = "K", value_parser = RangedU64ValueParser::<u32>::new().range(1..=1_000_000))]
    #[arg(default_value = "2")]
    every: u32,
    /// Size in pixels
    #[arg(long, value_name = "WxH", value_parser = size, default_value = "1280x720")]
    size: (usize, usize),
    /// One picture, pictures numbered as in frame-%04d.png, a GIF, or - for raw RGBA on standard output
    /// [default: SCENE.png]
    #[arg(long, value_name = "FILE.png|FILE.gif|-")]
    out: Option<PathBuf>,
    /// What the colour of a body says
    #[arg(long, value_enum, default_value_t)]
    by: ByArg,
    /// Draw contact points, and normal impulses as lines
    #[arg(long)]
    contacts: bool,
    /// Dark or light colours
    #[arg(long, value_enum, default_value_t)]
    theme: ThemeArg,
    /// Look at this place, WIDTH metres wide, instead of all that moves
    #[arg(long, value_name = "X,Y,WIDTH", value_parser = place, allow_hyphen_values = true)]
    view: Option<Place>,
    /// Leave the caption out
    #[arg(long)]
    plain: bool,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    /// Draw all built-in scenes, small, in this one file
    #[arg(long, value_name = "FILE.png", conflicts_with_all = ["scene", "frames", "out", "view", "plain", "size"])]
    #[arg(conflicts_with_all = ["bodies", "steps", "warmup", "every"])]
    sheet: Option<PathBuf>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ByArg {
    /// Its speed
    #[default]
    Speed,
    /// The solver's tile that it is in
    Tile,
    /// The kind of its shape
    Shape,
    /// Whether it sleeps
    Sleep,
    /// Its island: what it touches or is joined with, directly or through others
    Island,
    /// Nothing; lines from centres to contact points show the colours in which the solver does these contacts, and joints theirs
    Colour,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ThemeArg {
    #[default]
    Dark,
    Light,
}

#[derive(Clone, Copy)]
struct Place {
    centre: Vec2,
    width: f32,
}

fn size(text: &str) -> Result<(usize, usize), String> {
    let side = |side: &str| side.parse().ok().filter(|side| (1..=Image::MAX_SIDE).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| format!("not of the form WxH, of 1 to {} pixels each", Image::MAX_SIDE))
}

fn place(text: &str) -> Result<Place, String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|number| number.parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, width]) if x.is_finite() && y.is_finite() && width.is_finite() && width > 0.0 => {
            Ok(Place { centre: Vec2::new(x, y), width })
        }
        _ => Err("not of the form X,Y,WIDTH, in metres".to_owned()),
    }
}

impl RenderArgs {
    fn look(&self) -> Look {
        let by = match self.by {
            ByArg::Speed => By::Speed,
            ByArg::Tile => By::Tile,
            ByArg::Shape => By::Shape,
            ByArg::Sleep => By::Sleep,
            ByArg::Island => By::Island,
            ByArg::Colour => By::Colour,
        };
        let theme = match self.theme {
            ThemeArg::Dark => Theme::Dark,
            ThemeArg::Light => Theme::Light,
        };
        Look { by, theme, contacts: self.contacts }
    }
}

pub fn main(args: &RenderArgs) -> Outcome {
    if let Some(path) = &args.sheet {
        return sheet::main(path, &args.look(), &args.scene, args.force);
    }
    let input = Input::new(&args.scene)?;
    let clip = Clip::new(args, &input)?;
    let mut world = input.world()?;
    let pool = input::pool(input.threads)?;
    let drawn = pool.install(|| clip.draw(&input, &mut world))?;
    let Clip { frames, size: (width, height), .. } = clip;
    let each = 1e3 * drawn.as_secs_f64();
    let frames = if frames == 1 { "1 picture".to_owned() } else { format!("{frames} frames") };
    let said = format!("{frames} of {width} x {height}, {each:.1} ms to draw each");
    match &clip.target {
        Target::Raw => note(&said),
        Target::Gif(path) | Target::Png(path) => emit(&format!("{}: {said}\n", path.display()))?,
    }
    Ok(())
}

/// The place where frames go.
enum Target {
    /// Standard output.
    Raw,
    Gif(PathBuf),
    /// One picture, or several if there is a number in the name.
    Png(PathBuf),
}

struct Clip {
    target: Target,
    frames: u32,
    every: u32,
    size: (usize, usize),
    look: Look,
    place: Option<Place>,
    plain: bool,
    force: bool,
}

impl Clip {
    /// Checks everything that can be checked before the first step.
    fn new(args: &RenderArgs, input: &Input) -> Result<Clip, super::Failure> {
        let out = args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}.png", input.scene.name)));
        let name = out.to_string_lossy().into_owned();
        let ending = out.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let target = match ending.as_deref() {
            _ if name == "-" => Target::Raw,
            Some("gif") => Target::Gif(out),
            Some("png") => Target::Png(out),
            _ => return Err(bad_input(format!("--out {name}: neither a .png, nor a .gif, nor -"))),
        };
        let numbered = number(&name)?.is_some();
        let several = !matches!(target, Target::Png(_)) || numbered;
        let fitting = args.scene.steps.map(|steps| steps / args.every + 1);
        let frames = args.frames.or(fitting).unwrap_or(if several { CLIP } else { 1 });
        if frames > 1 && !several {
            let advice = "a number, as in frame-%04d.png";
            return Err(bad_input(format!("--out {name}: {frames} pictures need {advice}")));
        }
        let (width, height) = args.size;
        if matches!(target, Target::Gif(_)) && width.max(height) > usize::from(u16::MAX) {
            return Err(bad_input(format!("--size {width}x{height}: too large for a GIF")));
        }
        let clip = Clip {
            target,
            frames,
            every: args.every,
            size: args.size,
            look: args.look(),
            place: args.view,
            plain: args.plain,
            force: args.force,
        };
        for frame in 0..frames {
            let Some(path) = clip.path(frame) else { break };
            input::check_file("--out", Some(&path))?;
            if !clip.force && path.exists() {
                return Err(bad_file(&path, &"is there already; --force overwrites it"));
            }
            if matches!(clip.target, Target::Gif(_)) {
                break;
            }
        }
        Ok(clip)
    }

    /// The file of a frame; `None` for standard output.
    fn path(&self, frame: u32) -> Option<PathBuf> {
        match &self.target {
            Target::Raw => None,
            Target::Gif(path) => Some(path.clone()),
            Target::Png(path) => {
                let name = path.to_string_lossy();
                Some(match number(&name) {
                    Ok(Some((range, digits))) => {
                        let (before, after) = (&name[..range.start], &name[range.end..]);
                        PathBuf::from(format!("{before}{frame:0digits$}{after}"))
                    }
                    _ => path.clone(),
                })
            }
        }
    }

    /// Draws all frames. Returns the median time for one frame, without steps and files.
    fn draw(&self, input: &Input, world: &mut World) -> Result<Duration, super::Failure> {
        let steps = u64::from(self.frames - 1) * u64::from(self.every);
        let passes = if self.frames == 1 { 1 } else { 2 };
        let progress = Progress::new(passes * (u64::from(input.warmup) + steps));
        let mut player = Player::new(&input.scene, world);
        let step = |player: &mut Player, world: &mut World, steps: u32| {
            for _ in 0..steps {
                player.step(world);
                progress.step();
            }
        };
        progress.phase("looking");
        let mut survey = Survey::new(&self.look);
        step(&mut player, world, input.warmup);
        survey.add(world);
        for _ in 1..self.frames {
            step(&mut player, world, self.every);
            survey.add(world);
        }
        let view = self.view(&survey);
        if self.frames > 1 {
            // The same steps again give the same bits.
            *world = input.world()?;
            player = Player::new(&input.scene, world);
            step(&mut player, world, input.warmup);
        }
        progress.phase("drawing");
        let mut sink = self.sink(input)?;
        let (width, height) = self.size;
        let mut image = Image::new(width, height);
        let mut drawn = Vec::with_capacity(self.frames as usize);
        for frame in 0..self.frames {
            if frame > 0 {
                step(&mut player, world, self.every);
            }
            let start = Instant::now();
            draw(world, &view, &self.look, &mut image);
            if !self.plain {
                caption(&mut image, &said(input, world), &view, &self.look);
            }
            drawn.push(start.elapsed());
            match self.put(&mut sink, frame, &image) {
                // A reader that stops reading early is no failure.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
                result => result.map_err(|error| self.failure(frame, &error))?,
            }
        }
        if let Sink::Gif(gif, _) = sink {
            gif.finish().map_err(|error| self.failure(0, &error))?;
        }
        drawn.sort_unstable();
        Ok(drawn[drawn.len() / 2])
    }

    fn view(&self, survey: &Survey) -> View {
        let (width, height) = self.size;
        let above = if self.plain { 0 } else { caption_height(height) };
        let mut view = survey.view_below(above, width, height);
        if let Some(place) = self.place {
            view.camera = Camera::looking_at(place.centre, place.width, width, height);
        }
        view
    }

    fn sink(&self, input: &Input) -> Result<Sink, super::Failure> {
        Ok(match &self.target {
            Target::Raw => Sink::Raw(io::stdout().lock()),
            Target::Png(_) => Sink::Png,
            Target::Gif(path) => {
                let (width, height) = self.size;
                let file = create(path, self.force).map_err(|error| bad_file(path, &error))?;
                let gif = Gif::new(BufWriter::new(file), width, height, self.look.palette());
                let seconds = f64::from(self.every) * f64::from(input.scene.settings.time_step);
                Sink::Gif(Box::new(gif.map_err(|error| bad_file(path, &error))?), Box::new(delays(seconds)))
            }
        })
    }

    fn put(&self, sink: &mut Sink, frame: u32, image: &Image) -> io::Result<()> {
        match sink {
            Sink::Raw(out) => out.write_all(image.bytes()).and_then(|()| out.flush()),
            Sink::Gif(gif, delays) => gif.frame(image, delays.next().unwrap_or(2)),
            Sink::Png => match self.path(frame) {
                Some(path) => create(&path, self.force)?.write_all(&image.png()),
                None => Ok(()),
            },
        }
    }

    fn failure(&self, frame: u32, error: &io::Error) -> super::Failure {
        match self.path(frame) {
            Some(path) => bad_file(&path, error),
            None => bad_input(format!("standard output: {error}")),
        }
    }
}

enum Sink {
    Raw(io::StdoutLock<'static>),
    Gif(Box<Gif<BufWriter<File>>>, Box<dyn Iterator<Item = u16> + Send>),
    Png,
}

/// Creates a file to write to. Overwrites one that exists only if `force`.
pub fn create(path: &Path, force: bool) -> io::Result<File> {
    if force {
        return File::create(path);
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn said(input: &Input, world: &World) -> String {
    let (bodies, particles) = (world.body_count(), input.scene.particles());
    let mut text = format!("{}   ", input.scene.name);
    if bodies > 0 {
        text += &format!("{bodies} bodies   ");
    }
    if particles > 0 {
        text += &format!("{particles} particles   ");
    }
    text + &format!("step {}", world.step_count())
}

/// Finds where the frame's number goes in a name, in printf's notation (%d, %4d, %04d), and of how many digits it is.
fn number(name: &str) -> Result<Option<(std::ops::Range<usize>, usize)>, super::Failure> {
    let Some(start) = name.find('%') else { return Ok(None) };
    let digits: String = name[start + 1..].chars().take_while(char::is_ascii_digit).collect();
    let end = start + 1 + digits.len();
    let width = if digits.is_empty() { Some(0) } else { digits.parse().ok().filter(|&width| width <= 12) };
    match width {
        Some(width) if name[end..].starts_with('d') && !name[end + 1..].contains('%') => {
            Ok(Some((start..end + 1, width)))
        }
        _ => Err(bad_input(format!("--out {name}: a frame's number is written %d or %04d, once"))),
    }
}

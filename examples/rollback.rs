//! Rollback over a simulated network: two peers play one game, each with its own world. Inputs of the other come late, or never and again.
//! A peer that has no input guesses it, and goes on. When the true one comes and was another, the peer goes back to the step before
//! it, and takes the steps since then again.
//!
//! Nothing but inputs is sent. Both worlds are equal, bit for bit, once all inputs are there: this is what the hashes at the end say.
//!
//! ```text
//! cargo run --release --example rollback [BODIES [FRAMES]]
//! ```

use granule::{BodyDesc, BodyHandle, Error, Settings, Shape, Vec2, World, scene};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The most steps that a peer goes back. If an input is later than that, the peer waits for it.
const WINDOW: usize = 8;
/// The length of a frame at 60 Hz.
const FRAME: Duration = Duration::from_micros(16_667);

/// What a player does in a step: the push of the player's body, in steps of a newton-second.
type Input = [i8; 2];

/// A number generator (xorshift), so that each run is the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % sides
    }
}

/// The way from one peer to the other: each message takes two to six frames, one in ten is lost. What was lost is sent again with
/// the next message, as games do it: each message has the inputs of the last steps.
struct Wire {
    dice: Dice,
    on_the_way: VecDeque<(usize, usize, Vec<Input>)>,
}

impl Wire {
    fn send(&mut self, frame: usize, first: usize, inputs: &[Input]) {
        if self.dice.roll(10) > 0 {
            let arrives = frame + 2 + self.dice.roll(5) as usize;
            self.on_the_way.push_back((arrives, first, inputs.to_vec()));
        }
    }

    fn receive(&mut self, frame: usize) -> Vec<(usize, Vec<Input>)> {
        let arrived = self.on_the_way.iter().filter(|message| message.0 <= frame);
        let messages = arrived.map(|(_, first, inputs)| (*first, inputs.clone())).collect();
        self.on_the_way.retain(|message| message.0 > frame);
        messages
    }
}

struct Peer {
    world: World,
    players: [BodyHandle; 2],
    /// Which of the players sits here.
    own: usize,
    /// The snapshots before the last steps, by the number of the step modulo the window.
    snapshots: Vec<Vec<u8>>,
    /// The number of steps that were taken.
    steps: usize,
    /// The inputs of both players by step, as far as they are known; and those of the other player that were used.
    inputs: [Vec<Input>; 2],
    guessed: Vec<Input>,
    rollbacks: usize,
    taken_again: usize,
    slowest: Duration,
    sum: Duration,
}

impl Peer {
    fn new(bodies: usize, own: usize) -> Result<Peer, Error> {
        let mut scene = scene::builtin("collapsing", bodies, 1)
            .ok_or(Error::Invalid { field: "bodies", reason: "no such scene" })?;
        scene.settings = Settings { sleep: true, ..scene.settings };
        let mut world = scene.build()?;
        let top = world.columns().pos_y.iter().copied().fold(0.0, f32::max);
        let mut player = |x| world.add_body(&BodyDesc::dynamic(Shape::circle(1.0), Vec2::new(x, top + 3.0)));
        let players = [player(-5.0)?, player(5.0)?];
        Ok(Peer {
            world,
            players,
            own,
            snapshots: vec![Vec::new(); WINDOW],
            steps: 0,
            inputs: [Vec::new(), Vec::new()],
            guessed: Vec::new(),
            rollbacks: 0,
            taken_again: 0,
            slowest: Duration::ZERO,
            sum: Duration::ZERO,
        })
    }

    fn other(&self) -> usize {
        1 - self.own
    }

    /// Saves the world and takes a step, with a guess in place of an input that is not there: the last one that is.
    fn step(&mut self) -> Result<(), Error> {
        self.world.save(&mut self.snapshots[self.steps % WINDOW]);
        let known = &self.inputs[self.other()];
        let guess = known.get(self.steps).or(known.last()).copied().unwrap_or_default();
        self.guessed.truncate(self.steps);
        self.guessed.push(guess);
        let mut inputs = [self.inputs[self.own][self.steps]; 2];
        inputs[self.other()] = guess;
        for (player, [x, y]) in self.players.into_iter().zip(inputs) {
            self.world.apply_impulse(player, Vec2::new(f32::from(x), f32::from(y)))?;
        }
        self.world.step();
        self.steps += 1;
        Ok(())
    }

    /// Takes in what came, goes back if a guess was wrong, and takes the steps again.
    fn take_in(&mut self, messages: Vec<(usize, Vec<Input>)>) -> Result<(), Error> {
        let other = self.other();
        let first_new = self.inputs[other].len();
        for (first, inputs) in messages {
            let known = self.inputs[other].len();
            if first <= known {
                self.inputs[other].extend(inputs.into_iter().skip(known - first));
            }
        }
        let known = self.inputs[other].len().min(self.steps);
        let wrong = (first_new..known).find(|&step| self.guessed[step] != self.inputs[other][step]);
        let Some(wrong) = wrong else { return Ok(()) };
        let again = self.steps - wrong;
        self.rollbacks += 1;
        self.taken_again += again;
        self.world.restore(&self.snapshots[wrong % WINDOW])?;
        self.steps = wrong;
        (0..again).try_for_each(|_| self.step())
    }

    /// A frame: what came from the other, then a step. Without the inputs of the last steps the peer waits.
    fn frame(&mut self, messages: Vec<(usize, Vec<Input>)>, input: Input) -> Result<(), Error> {
        let start = Instant::now();
        self.take_in(messages)?;
        if self.steps < self.inputs[self.other()].len() + WINDOW - 1 {
            if self.inputs[self.own].len() == self.steps {
                self.inputs[self.own].push(input);
            }
            self.step()?;
        }
        let time = start.elapsed();
        (self.slowest, self.sum) = (self.slowest.max(time), self.sum + time);
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let (bodies, frames) = (arguments.next().unwrap_or(2_000), arguments.next().unwrap_or(300));
    let mut peers = [Peer::new(bodies, 0)?, Peer::new(bodies, 1)?];
    let mut wires = [7, 11].map(|seed| Wire { dice: Dice(seed), on_the_way: VecDeque::new() });
    let mut dice = Dice(3);
    let mut held = [[0i8; 2]; 2];
    for frame in 0.. {
        let done = peers.iter().all(|peer| peer.steps == frames && peer.inputs[peer.other()].len() >= frames);
        if done {
            break;
        }
        for own in 0..2 {
            // A player holds a direction for a while, and changes it all of a sudden.
            if dice.roll(12) == 0 {
                held[own] = [dice.roll(21) as i8 - 10, dice.roll(21) as i8 - 10];
            }
            let messages = wires[1 - own].receive(frame);
            let peer = &mut peers[own];
            if peer.steps < frames {
                peer.frame(messages, held[own])?;
            } else {
                peer.take_in(messages)?;
            }
            let sent = &peer.inputs[own];
            let first = sent.len().saturating_sub(2 * WINDOW);
            wires[own].send(frame, first, &sent[first..]);
        }
    }
    report(&peers, bodies, frames)
}

fn report(peers: &[Peer; 2], bodies: usize, frames: usize) -> Result<(), Error> {
    for (number, peer) in peers.iter().enumerate() {
        println!(
            "peer {number}: {frames} steps of {bodies} bodies, {} rollbacks, {} steps taken again; a frame {:.2} ms on average, {:.2} ms at most; hash {:016x}",
            peer.rollbacks,
            peer.taken_again,
            1000.0 * peer.sum.as_secs_f64() / frames as f64,
            1000.0 * peer.slowest.as_secs_f64(),
            peer.world.state_hash()
        );
    }
    assert_eq!(peers[0].world.state_hash(), peers[1].world.state_hash(), "the worlds of the peers differ");
    let (mut world, mut snapshot) = (peers[0].world.clone(), Vec::new());
    world.save(&mut snapshot);
    let start = Instant::now();
    world.restore(&snapshot)?;
    for _ in 0..WINDOW {
        world.save(&mut snapshot);
        world.step();
    }
    let time = start.elapsed();
    println!(
        "a snapshot has {} bytes; to go back {WINDOW} steps and take them again, saving each: {:.2} ms, of a frame of {:.2} ms",
        snapshot.len(),
        1000.0 * time.as_secs_f64(),
        1000.0 * FRAME.as_secs_f64()
    );
    Ok(())
}

//! Differences between snapshots, for the network: what changed since a snapshot that the other side has.
//!
//! Two snapshots are compared part by part (`base/codec.rs`: a column is a part of its own), so what grows in one part moves nothing in the
//! others. A part is written as runs in turn: so many bytes as in the base, so many new ones.
//!
//! ```text
//! granule difference, version, checksum, length    as in a snapshot
//! checksum and length of the base, then those of the result
//! for each part: its length, then runs until it is full    numbers of seven bits a byte, low ones first
//! ```

use super::World;
use super::snapshot::{HEADER, checked, refuse, seal};
use crate::base::codec::{Flaw, Reader, parts};
use crate::error::Error;

const NAME: [u8; 8] = *b"grandif\x01";
const VERSION: u32 = 1;
/// A run of fewer equal bytes than this does not end a run of new ones: its two lengths would be as long.
const SHORT: usize = 4;

impl World {
    /// Writes what has changed since a snapshot that [`World::save`] wrote, into a buffer, in place of what is there. Whoever has the
    /// snapshot makes the present state from it: [`World::apply_diff`]. Where most bodies sleep, the difference of a step is a few
    /// percent of a snapshot. Where all move, it is hardly shorter than one.
    ///
    /// ```
    /// use granule::{BodyDesc, Settings, Shape, Vec2, World};
    ///
    /// let mut server = World::new(Settings::default())?;
    /// server.add_body(&BodyDesc::fixed(Shape::half_space(Vec2::Y, 0.0), Vec2::ZERO))?;
    /// server.add_body(&BodyDesc::dynamic(Shape::circle(0.5), Vec2::new(0.0, 4.0)))?;
    /// let (mut base, mut difference) = (Vec::new(), Vec::new());
    /// server.save(&mut base);
    /// let mut client = World::from_snapshot(&base)?;
    /// server.step();
    /// server.diff(&base, &mut difference)?;
    /// client.apply_diff(&base, &difference)?;
    /// assert_eq!(client.state_hash(), server.state_hash());
    /// client.save(&mut base); // the base of the next difference, on both sides
    /// # Ok::<(), granule::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] if `base` is no snapshot of this version.
    pub fn diff(&self, base: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let old = super::snapshot::state_of(base)?;
        self.save(out);
        let whole = out.len();
        out.resize(whole + HEADER, 0);
        out.extend_from_slice(&base[16..HEADER]);
        out.extend_from_within(16..HEADER);
        let mut known = parts(old);
        let mut start = HEADER;
        while start < whole {
            let part = parts(&out[start..whole]).next().map_or(start..whole, |part| start..start + part.end);
            start = part.end;
            put_number(out, part.len());
            put_runs(out, part, known.next().map_or(&[], |part| &old[part]));
        }
        out.drain(..whole);
        seal(out, NAME, VERSION);
        Ok(())
    }

    /// Takes the state that [`World::diff`] described, where `base` is the snapshot from which it was taken. The world's own state does not
    /// matter. [`World::save`] then writes the snapshot that the other side had, byte for byte.
    ///
    /// # Errors
    ///
    /// [`Error::Snapshot`] if one of the two is not complete, altered or of another version, or if `base` is another snapshot. The
    /// world then stays as it was.
    pub fn apply_diff(&mut self, base: &[u8], diff: &[u8]) -> Result<(), Error> {
        let snapshot = patched(base, diff)?;
        self.restore(&snapshot)
    }
}

/// The snapshot that a difference makes of its base.
fn patched(base: &[u8], diff: &[u8]) -> Result<Vec<u8>, Error> {
    let old = super::snapshot::state_of(base)?;
    let body = checked(diff, NAME, VERSION, "difference")?;
    let mut from = Reader::plain(body);
    let mut snapshot = base[..16].to_vec();
    let mut read = || {
        let of = from.take(HEADER - 16)?;
        if of != &base[16..HEADER] {
            return Err(Flaw("the difference is from another snapshot".into()));
        }
        snapshot.extend_from_slice(from.take(HEADER - 16)?);
        let mut known = parts(old);
        while !from.is_at_end() {
            let len = take_number(&mut from)?;
            let part = known.next().map_or(&[][..], |part| &old[part]);
            let mut done = 0;
            while done < len {
                let (same, new) = (take_number(&mut from)?, take_number(&mut from)?);
                let fits = same <= len - done && new <= len - done - same && same + new > 0;
                let copied = part.get(done..done + if fits { same } else { 0 });
                let Some(copied) = copied.filter(|_| fits) else {
                    return Err(Flaw(format!("a run of {same} and {new} bytes in a part of {len}")));
                };
                snapshot.extend_from_slice(copied);
                snapshot.extend_from_slice(from.take(new)?);
                done += same + new;
            }
        }
        Ok(())
    };
    let result = read();
    result.map_err(|flaw| refuse("difference", HEADER + from.at(), flaw))?;
    Ok(snapshot)
}

/// Appends the runs of a part of `out` against an old part.
fn put_runs(out: &mut Vec<u8>, part: std::ops::Range<usize>, old: &[u8]) {
    let len = part.len();
    let mut done = 0;
    while done < len {
        let same = equal(&out[part.start + done..part.end], old.get(done..).unwrap_or_default());
        let first = done + same;
        let mut end = first;
        while end < len {
            let next = equal(&out[part.start + end..part.end], old.get(end..).unwrap_or_default());
            if next >= SHORT || (next > 0 && end + next == len) {
                break;
            }
            end += next.max(1);
        }
        put_number(out, same);
        put_number(out, end - first);
        out.extend_from_within(part.start + first..part.start + end);
        done = end;
    }
}

/// The number of bytes at the beginning that two slices have in common.
fn equal(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let same = words.iter().zip(other.as_chunks::<8>().0).take_while(|(a, b)| a == b).count();
    let start = 8 * same;
    start + one[start..].iter().zip(&other[start..]).take_while(|(a, b)| a == b).count()
}

fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(from: &mut Reader<'_>) -> Result<usize, Flaw> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = from.byte()?;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return usize::try_from(number).map_err(|_| Flaw(format!("{number} bytes")));
        }
    }
    Err(Flaw("a number without an end".into()))
}

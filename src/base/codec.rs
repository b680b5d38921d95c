//! The codec of snapshots: how state is written as bytes and read back.
//!
//! Each type says in one place which of its fields are state and which are memory for one step: see [`stored`]. The macro takes
//! the type apart without `..`. So a new field that is in neither list does not compile.
//!
//! Numbers are written as they lie in memory, little end first. Lists of numbers are columns, and a column is short if its values
//! allow it: see [`Writer::column`]. What reads believes nothing: a length is refused if it is beyond the bytes that there are, a number
//! that is none of an enumeration is refused, and whoever reads indices checks them.
//!
//! *Marks* divide a snapshot into parts, so that two snapshots can be compared part by part ([`parts`]).

mod checksum;
mod state;
mod values;

pub(crate) use checksum::checksum;
pub(crate) use state::{COLUMNS_FROM, Stored, Word, stored, stored_enum};
use std::ops::Range;

/// Why bytes are refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flaw(pub String);

/// The result of reading.
pub(crate) type Read = Result<(), Flaw>;

impl From<String> for Flaw {
    fn from(reason: String) -> Flaw {
        Flaw(reason)
    }
}

/// Returns a flaw with this message from the calling function unless the condition holds.
macro_rules! require {
    ($condition:expr, $($message:tt)*) => {
        let holds: bool = $condition;
        if !holds {
            return Err($crate::base::codec::Flaw(format!($($message)*)));
        }
    };
}
pub(crate) use require;

/// Writes to a buffer.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Where the snapshot begins, and the last mark.
    start: usize,
    mark: usize,
}

/// The forms of a column.
mod form {
    pub(super) const RAW: u8 = 0;
    /// All words are the same.
    pub(super) const SAME: u8 = 1;
    /// Those of another column that both sides have.
    pub(super) const OTHER: u8 = 2;
    /// Those of another column, except for some.
    pub(super) const PATCHED: u8 = 3;
    /// The words are small: one or two bytes each.
    pub(super) const BYTES: u8 = 4;
    pub(super) const SHORTS: u8 = 5;
    /// All words are the same, except for some.
    pub(super) const MOSTLY: u8 = 6;
}

impl<'a> Writer<'a> {
    /// Begins with a mark.
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Writer<'a> {
        let start = out.len();
        out.extend_from_slice(&0u32.to_le_bytes());
        Writer { out, start, mark: start }
    }

    /// Appends without marks. What is aligned is so from the beginning of the buffer.
    pub(crate) fn plain(out: &'a mut Vec<u8>) -> Writer<'a> {
        Writer { out, start: 0, mark: 0 }
    }

    /// Begins a new part, at a multiple of four bytes: so the length of a part moves no alignment in the next.
    pub(crate) fn mark(&mut self) {
        self.align();
        let at = self.out.len();
        let distance = (at - self.mark) as u32;
        self.out[self.mark..self.mark + 4].copy_from_slice(&distance.to_le_bytes());
        self.out.extend_from_slice(&0u32.to_le_bytes());
        self.mark = at;
    }

    /// Writes a number of values.
    pub(crate) fn length(&mut self, len: usize) {
        (len as u32).write(self);
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Writes values as they lie in memory, without their number.
    pub(crate) fn raw<T: bytemuck::NoUninit>(&mut self, values: &[T]) {
        self.out.extend_from_slice(bytemuck::cast_slice(values));
    }

    /// Brings the next byte to a multiple of four, from the start.
    fn align(&mut self) {
        while !(self.out.len() - self.start).is_multiple_of(4) {
            self.out.push(0);
        }
    }

    /// Writes a column all of whose words are this one.
    pub(crate) fn same(&mut self, word: u32) {
        self.out.push(form::SAME);
        self.raw(&[word]);
    }

    /// Begins a column whose words come next.
    pub(crate) fn begin_raw(&mut self) {
        self.out.push(form::RAW);
        self.align();
    }

    /// Writes a column of words, without their number: once if all are the same, and only the others if most are.
    pub(crate) fn column(&mut self, words: &[u32]) {
        match words.first() {
            Some(&first) if all_are(words, first) => self.same(first),
            _ => {
                if !self.mostly(words) {
                    self.begin_raw();
                    self.raw(words);
                }
            }
        }
    }

    /// Writes the words that are not the usual one, if they are few.
    fn mostly(&mut self, words: &[u32]) -> bool {
        let Some(&usual) = words.get(words.len() / 2) else { return false };
        // Where these two differ, most words will.
        if words[words.len() / 3] != usual {
            return false;
        }
        let others = words.iter().fold(0u32, |others, &word| others + u32::from(word != usual));
        let few = others as usize <= words.len() / 8;
        if few {
            self.out.push(form::MOSTLY);
            self.raw(&[usual, others]);
            for (index, &word) in words.iter().enumerate().filter(|(_, word)| **word != usual) {
                self.raw(&[index as u32, word]);
            }
        }
        few
    }

    /// Writes words that are in no column.
    fn each(&mut self, mut words: impl Iterator<Item = u32>) {
        self.in_chunks(|chunk| {
            chunk.iter_mut().zip(&mut words).fold(0, |count, (to, word)| {
                *to = word;
                count + 1
            })
        });
    }

    /// Appends what `fill` puts into a chunk, until it is not full. (A push for each word takes three times as many instructions.)
    fn in_chunks<T: bytemuck::NoUninit + Default>(&mut self, mut fill: impl FnMut(&mut [T]) -> usize) {
        let mut chunk = [T::default(); CHUNK];
        loop {
            let count = fill(&mut chunk);
            self.raw(&chunk[..count]);
            if count < CHUNK {
                return;
            }
        }
    }

    /// Writes a column of words that are most likely those that `expected` gives: only the others are written.
    #[inline]
    pub(crate) fn column_like(&mut self, words: &[u32], expected: impl Fn(usize) -> u32) {
        self.groups_like::<1>(words, |index| [expected(index)]);
    }

    /// The same for words of which `N` at a time are expected together.
    #[inline]
    pub(crate) fn groups_like<const N: usize>(
        &mut self,
        words: &[u32],
        expected: impl Fn(usize) -> [u32; N],
    ) {
        let (groups, rest) = words.as_chunks::<N>();
        debug_assert!(rest.is_empty());
        if !self.patches(groups.len(), |index| groups[index], expected) {
            self.column(words);
        }
    }

    /// The same for words that are in no column.
    #[inline]
    pub(crate) fn words_like(
        &mut self,
        len: usize,
        word: impl Fn(usize) -> u32,
        expected: impl Fn(usize) -> u32,
    ) {
        if !self.patches(len, |index| [word(index)], |index| [expected(index)]) {
            self.begin_raw();
            self.each((0..len).map(word));
        }
    }

    /// Writes the words that are not as expected, if they are few.
    #[inline]
    fn patches<const N: usize>(
        &mut self,
        len: usize,
        words: impl Fn(usize) -> [u32; N],
        expected: impl Fn(usize) -> [u32; N],
    ) -> bool {
        // Counted without a branch: nearly always there are none, or nearly all.
        let mut others = 0u32;
        for index in 0..len {
            let (words, expected) = (words(index), expected(index));
            for (word, expected) in words.into_iter().zip(expected) {
                others += u32::from(word != expected);
            }
        }
        let few = others as usize <= N * len / 4;
        if others == 0 {
            self.out.push(form::OTHER);
        } else if few {
            self.out.push(form::PATCHED);
            self.length(others as usize);
            for index in 0..len {
                let (words, expected) = (words(index), expected(index));
                for (number, (word, expected)) in words.into_iter().zip(expected).enumerate() {
                    if word != expected {
                        self.raw(&[(N * index + number) as u32, word]);
                    }
                }
            }
        }
        few
    }

    /// Writes a column of words that are small most of the time, without their number. (Where the compiler put only some of these into their callers, a
    /// snapshot of 10,000 circles took 3 % more instructions: `cargo bench -p granule-instructions -- save`.)
    #[inline(always)]
    pub(crate) fn small_column(&mut self, words: impl Iterator<Item = u32> + Clone) {
        let mut all = words.clone();
        let Some(first) = all.next() else { return self.out.push(form::BYTES) };
        let (any, other) = all.fold((first, 0), |(any, other), word| (any | word, other | (word ^ first)));
        let mut words = words;
        if other == 0 {
            self.same(first);
        } else if any <= u32::from(u8::MAX) {
            self.out.push(form::BYTES);
            self.in_chunks(|chunk: &mut [u8]| {
                chunk.iter_mut().zip(&mut words).fold(0, |count, (to, word)| {
                    *to = word as u8;
                    count + 1
                })
            });
        } else if any <= u32::from(u16::MAX) {
            self.out.push(form::SHORTS);
            self.in_chunks(|chunk: &mut [u16]| {
                chunk.iter_mut().zip(&mut words).fold(0, |count, (to, word)| {
                    *to = (word as u16).to_le();
                    count + 1
                })
            });
        } else {
            self.begin_raw();
            self.each(words);
        }
    }

    /// Writes a column of words that are in no column, and hardly ever the same, without their number.
    pub(crate) fn raw_column(&mut self, words: impl Iterator<Item = u32>) {
        self.begin_raw();
        self.each(words);
    }
}

/// So many words are gathered before they are written.
const CHUNK: usize = 64;

/// Returns true if all words are this one.
fn all_are(words: &[u32], one: u32) -> bool {
    // A chunk at a time: the compiler makes lanes of a loop without a way out.
    words.chunks(CHUNK).all(|chunk| chunk.iter().fold(0, |other, word| other | (word ^ one)) == 0)
}

/// A value that is made of words.
fn of_words<T: bytemuck::Pod, const N: usize>(words: [u32; N]) -> T
where
    [u32; N]: bytemuck::Pod,
{
    const { assert!(size_of::<T>() == 4 * N, "a column of words") };
    bytemuck::cast(words)
}

/// Reads from bytes.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Skips the first mark.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Reader<'a>, Flaw> {
        let mut reader = Reader { bytes, at: 0 };
        reader.mark()?;
        Ok(reader)
    }

    /// A reader of bytes without marks.
    pub(crate) fn plain(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// Where the reader is, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn mark(&mut self) -> Read {
        self.align()?;
        self.take(4).map(|_| ())
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Flaw> {
        let rest = &self.bytes[self.at..];
        require!(len <= rest.len(), "{len} bytes are missing");
        self.at += len;
        Ok(&rest[..len])
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Flaw> {
        Ok(self.take(1)?[0])
    }

    fn word(&mut self) -> Result<u32, Flaw> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    pub(crate) fn value<T: Stored>(&mut self) -> Result<T, Flaw> {
        let mut value = T::blank();
        value.read(self)?;
        Ok(value)
    }

    /// A number of values. Each of them, or something else that belongs to it, takes a byte at least. So no snapshot can ask for more
    /// memory than some hundred times its own length.
    pub(crate) fn length(&mut self) -> Result<usize, Flaw> {
        let len = self.word()? as usize;
        require!(len <= self.bytes.len(), "{len} values in {} bytes", self.bytes.len());
        Ok(len)
    }

    pub(crate) fn unknown(&self, kind: &str, number: u8) -> Flaw {
        Flaw(format!("{number} is no {kind}"))
    }

    fn align(&mut self) -> Read {
        while !self.at.is_multiple_of(4) {
            self.byte()?;
        }
        Ok(())
    }

    /// Begins a column of which the words come next, as [`Writer::begin_raw`] wrote it.
    pub(crate) fn begin_raw(&mut self) -> Read {
        let form = self.byte()?;
        require!(form == form::RAW, "form {form} of a column, not {}", form::RAW);
        self.align()
    }

    /// Reads `len` values as they lie in memory into `values`.
    pub(crate) fn raw<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &mut self,
        values: &mut Vec<T>,
        len: usize,
    ) -> Read {
        let bytes = self.take(len.checked_mul(size_of::<T>()).ok_or_else(|| Flaw("too long".into()))?)?;
        values.clear();
        match bytemuck::try_cast_slice(bytes) {
            Ok(slice) => values.extend_from_slice(slice),
            Err(_) => {
                values.resize(len, T::zeroed());
                bytemuck::cast_slice_mut(values).copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    /// Reads a column of `len` words in place of `values`. `expected` is that of [`Writer::column_like`].
    #[inline]
    pub(crate) fn column_like<T: bytemuck::Pod>(
        &mut self,
        values: &mut Vec<T>,
        len: usize,
        expected: impl Fn(usize) -> u32,
    ) -> Read {
        self.groups_like::<T, 1>(values, len, |index| [expected(index)])
    }

    /// Reads a column of `len` values of `N` words each, which [`Writer::groups_like`] wrote.
    #[inline]
    pub(crate) fn groups_like<T: bytemuck::Pod, const N: usize>(
        &mut self,
        values: &mut Vec<T>,
        len: usize,
        expected: impl Fn(usize) -> [u32; N],
    ) -> Read
    where
        [u32; N]: bytemuck::Pod,
    {
        values.clear();
        match self.byte()? {
            form::RAW => {
                self.align()?;
                self.raw(values, len)?;
            }
            form::SAME => values.resize(len, of_words([self.word()?; N])),
            form::OTHER => values.extend((0..len).map(|index| of_words::<T, N>(expected(index)))),
            form::PATCHED => {
                values.extend((0..len).map(|index| of_words::<T, N>(expected(index))));
                self.patch(bytemuck::cast_slice_mut(values))?;
            }
            form::MOSTLY => {
                values.resize(len, of_words([self.word()?; N]));
                self.patch(bytemuck::cast_slice_mut(values))?;
            }
            form::BYTES => {
                let (groups, _) = self.take(N * len)?.as_chunks::<N>();
                values.extend(groups.iter().map(|group| of_words::<T, N>(group.map(u32::from))));
            }
            form::SHORTS => {
                let (pairs, _) = self.take(2 * N * len)?.as_chunks::<2>();
                let (groups, _) = pairs.as_chunks::<N>();
                let word = |pair| u32::from(u16::from_le_bytes(pair));
                values.extend(groups.iter().map(|group| of_words::<T, N>(group.map(word))));
            }
            other => return Err(self.unknown("form of a column", other)),
        }
        Ok(())
    }

    /// Reads the words that are others than expected.
    fn patch(&mut self, words: &mut [u32]) -> Read {
        for _ in 0..self.length()? {
            let (index, word) = (self.word()? as usize, self.word()?);
            require!(index < words.len(), "value {index} of {}", words.len());
            words[index] = word;
        }
        Ok(())
    }

    pub(crate) fn column<T: bytemuck::Pod>(&mut self, values: &mut Vec<T>, len: usize) -> Read {
        self.column_like(values, len, |_| 0)
    }
}

/// The parts of a snapshot, between its marks. Ends at a mark that is none.
pub(crate) fn parts(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut next = Some(0usize);
    std::iter::from_fn(move || {
        let start = next?;
        let mut word = [0; 4];
        let Some(mark) = bytes.get(start..start + 4) else {
            next = None;
            return (start < bytes.len()).then_some(start..bytes.len());
        };
        word.copy_from_slice(mark);
        let distance = u32::from_le_bytes(word) as usize;
        let end = start.saturating_add(distance);
        if distance < 4 || end >= bytes.len() {
            next = None;
            return Some(start..bytes.len());
        }
        next = Some(end);
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Contract: columns are read as they were written, whatever their values, and take no more than their words and some bytes.
        #[test]
        fn columns_return(
            words in prop_oneof![
                prop::collection::vec(prop_oneof![Just(7u32), 0u32..300, any::<u32>()], 0..80),
                prop::collection::vec(prop_oneof![20 => Just(7u32), 1 => any::<u32>()], 0..200),
            ],
            like in 0u32..300,
        ) {
            let mut bytes = Vec::new();
            let mut to = Writer::new(&mut bytes);
            words.write(&mut to);
            to.mark();
            to.column_like(&words, |_| like);
            to.mark();
            to.small_column(words.iter().copied());
            to.mark();
            // No list is longer than a snapshot has bytes.
            to.raw_column(words.iter().copied());
            prop_assert!(bytes.len() <= 4 * 4 * words.len() + 64);
            prop_assert_eq!(parts(&bytes).map(|part| part.len()).sum::<usize>(), bytes.len());
            prop_assert_eq!(parts(&bytes).count(), 4);
            let mut from = Reader::new(&bytes).unwrap();
            let mut read: Vec<u32> = Vec::new();
            read.read(&mut from).unwrap();
            prop_assert_eq!(&read, &words);
            from.mark().unwrap();
            from.column_like(&mut read, words.len(), |_| like).unwrap();
            prop_assert_eq!(&read, &words);
            from.mark().unwrap();
            from.column(&mut read, words.len()).unwrap();
            prop_assert_eq!(&read, &words);
            from.mark().unwrap();
            from.column(&mut read, words.len()).unwrap();
            prop_assert_eq!(&read, &words);
            prop_assert!(from.is_at_end());
        }
    }
}

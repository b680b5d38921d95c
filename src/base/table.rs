//! A table whose entries are named by index and generation. The name of an entry that is gone never names another one.

use super::codec::{Read, Reader, Stored, Writer, require};

/// The index and generation of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub index: u32,
    pub generation: u32,
}

#[derive(Clone, Copy)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

/// Entries of one kind. An index is used again with the next generation. After its last generation it is retired.
pub(crate) struct Table<T> {
    entries: Vec<Entry<T>>,
    free: Vec<u32>,
    live: usize,
}

impl<T: Stored> Stored for Table<T> {
    fn write(&self, to: &mut Writer<'_>) {
        to.length(self.entries.len());
        for Entry { generation, value } in &self.entries {
            generation.write(to);
            value.write(to);
        }
        self.free.write(to);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Read {
        let len = from.length()?;
        self.entries.clear();
        for _ in 0..len {
            let (generation, value) = (from.value()?, from.value()?);
            self.entries.push(Entry { generation, value });
        }
        self.live = self.entries.iter().filter(|entry| entry.value.is_some()).count();
        self.free.read(from)?;
        let known = self.free.iter().all(|&index| (index as usize) < len);
        require!(known && self.free.len() <= len, "a free entry is none");
        self.free.reserve(len - self.free.len());
        Ok(())
    }

    fn blank() -> Self {
        Table::default()
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { entries: Vec::new(), free: Vec::new(), live: 0 }
    }
}

impl<T> Table<T> {
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Makes room for `more` entries.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.entries.reserve(more.saturating_sub(self.free.len()));
    }

    /// The number of indices that were ever used.
    pub(crate) fn capacity(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> Name {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { generation: 0, value: None });
            // Memory for the removal of any entry: a removal may happen in a step, and must not allocate.
            self.free.reserve(self.entries.len());
            (self.entries.len() - 1) as u32
        });
        let entry = &mut self.entries[index as usize];
        entry.value = Some(value);
        self.live += 1;
        Name { index, generation: entry.generation }
    }

    pub(crate) fn get(&self, name: Name) -> Option<&T> {
        let entry = self.entries.get(name.index as usize)?;
        entry.value.as_ref().filter(|_| entry.generation == name.generation)
    }

    /// The value at an index, whatever its generation.
    pub(crate) fn at(&self, index: u32) -> Option<(Name, &T)> {
        let entry = self.entries.get(index as usize)?;
        entry.value.as_ref().map(|value| (Name { index, generation: entry.generation }, value))
    }

    /// Removes the entry at an index and returns its name. `None` if there is no entry.
    pub(crate) fn remove_at(&mut self, index: u32) -> Option<Name> {
        let entry = self.entries.get_mut(index as usize)?;
        entry.value.take()?;
        let name = Name { index, generation: entry.generation };
        self.live -= 1;
        if let Some(next) = entry.generation.checked_add(1) {
            entry.generation = next;
            self.free.push(index);
        }
        Some(name)
    }

    /// All entries by index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Name, &T)> {
        (0..self.entries.len() as u32).filter_map(|index| self.at(index))
    }

    /// The value at an index, to be changed.
    pub(crate) fn value_mut(&mut self, index: u32) -> Option<&mut T> {
        self.entries.get_mut(index as usize)?.value.as_mut()
    }

    /// Checks that the counts and the list of free indices are right.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let live = self.iter().count();
        super::ensure!(live == self.live, "{} counted, there are {live}", self.live);
        let mut free = self.free.clone();
        free.sort_unstable();
        super::ensure!(free.windows(2).all(|two| two[0] < two[1]), "an index is free twice");
        super::ensure!(free.iter().all(|&index| self.at(index).is_none()), "an index is free and in use");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Contract: a name leads to its value until the value is removed, and to nothing from then on.
        #[test]
        fn names_are_never_reused(operations in proptest::collection::vec((any::<bool>(), 0u32..8), 0..200)) {
            let mut table = Table::default();
            let (mut alive, mut gone) = (BTreeMap::new(), Vec::new());
            for (value, (insert, index)) in operations.into_iter().enumerate() {
                if insert {
                    let name = table.insert(value);
                    prop_assert!(alive.insert(name.index, (name, value)).is_none());
                } else {
                    let name = table.remove_at(index);
                    prop_assert_eq!(name, alive.remove(&index).map(|(name, _)| name));
                    gone.extend(name);
                }
                prop_assert_eq!(table.len(), alive.len());
                prop_assert_eq!(table.validate(), Ok(()));
                prop_assert!(alive.values().all(|(name, value)| table.get(*name) == Some(value)));
                prop_assert!(gone.iter().all(|name| table.get(*name).is_none()));
            }
        }
    }

    /// Contract: an index whose generations are used up is retired.
    #[test]
    fn a_used_up_index_is_retired() {
        let mut table = Table::default();
        let name = table.insert(1);
        table.entries[0].generation = u32::MAX;
        assert_eq!(table.remove_at(name.index), Some(Name { index: 0, generation: u32::MAX }));
        assert_eq!(table.insert(2).index, 1);
        assert_eq!(table.validate(), Ok(()));
    }
}

//! Lists whose members are linked to each other: adding or removing a member costs the same however long its list is.

use crate::base::ensure;

const NONE: u32 = u32::MAX;

/// The members before and after a member; of a list, its last and its first member.
#[derive(Clone, Copy)]
struct Neighbours {
    last: u32,
    next: u32,
}

crate::base::codec::stored!(Neighbours = ALONE; { last, next });

const ALONE: Neighbours = Neighbours { last: NONE, next: NONE };

/// Lists of numbers, one list for each owner. A number is in one list at most. Owners are numbers, too.
#[derive(Default)]
pub(crate) struct Lists {
    owners: Vec<Neighbours>,
    members: Vec<Neighbours>,
}

crate::base::codec::stored!(Lists { owners, members });

fn grow(links: &mut Vec<Neighbours>, index: u32) {
    if links.len() <= index as usize {
        links.resize(index as usize + 1, ALONE);
    }
}

impl Lists {
    /// Empties all lists.
    pub(crate) fn clear(&mut self) {
        self.owners.clear();
        self.members.clear();
    }

    /// Puts a member, which is in no list, before the others of an owner.
    pub(crate) fn push_first(&mut self, owner: u32, member: u32) {
        grow(&mut self.owners, owner);
        let first = self.owners[owner as usize].next;
        self.put_between(owner, member, NONE, first);
    }

    /// Puts a member, which is in no list, behind the others of an owner.
    pub(crate) fn push_last(&mut self, owner: u32, member: u32) {
        grow(&mut self.owners, owner);
        let last = self.owners[owner as usize].last;
        self.put_between(owner, member, last, NONE);
    }

    fn put_between(&mut self, owner: u32, member: u32, last: u32, next: u32) {
        grow(&mut self.members, member);
        self.members[member as usize] = Neighbours { last, next };
        self.beside(owner, last).next = member;
        self.beside(owner, next).last = member;
    }

    /// Takes a member out of the list of its owner.
    pub(crate) fn remove(&mut self, owner: u32, member: u32) {
        let Neighbours { last, next } = std::mem::replace(&mut self.members[member as usize], ALONE);
        self.beside(owner, last).next = next;
        self.beside(owner, next).last = last;
    }

    /// The links of a member; with [`NONE`], at both ends of the list, those of the owner.
    fn beside(&mut self, owner: u32, member: u32) -> &mut Neighbours {
        if member == NONE { &mut self.owners[owner as usize] } else { &mut self.members[member as usize] }
    }

    /// The members of an owner.
    pub(crate) fn of(&self, owner: u32) -> impl Iterator<Item = u32> + '_ {
        let real = |member: u32| (member != NONE).then_some(member);
        let first = self.owners.get(owner as usize).and_then(|links| real(links.next));
        std::iter::successors(first, move |&member| {
            self.members.get(member as usize).and_then(|links| real(links.next))
        })
    }

    /// Checks that all links fit each other and that `owner_of` names the owner of each member. Returns the number of members. The error
    /// describes the first fault.
    pub(crate) fn validate(&self, owner_of: impl Fn(u32) -> Option<u32>) -> Result<usize, String> {
        let mut count = 0;
        for (owner, &Neighbours { last, .. }) in self.owners.iter().enumerate() {
            let mut before = NONE;
            for member in self.of(owner as u32) {
                let named = owner_of(member);
                ensure!(named == Some(owner as u32), "end {member} is in list {owner}, and of {named:?}");
                let known = self.members.get(member as usize).map(|links| links.last);
                ensure!(known == Some(before), "list {owner} is broken at end {member}");
                before = member;
                count += 1;
                ensure!(count <= self.members.len(), "list {owner} has no end");
            }
            ensure!(before == last, "list {owner} ends with {before}, not with {last}");
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;
    use proptest::prelude::*;

    proptest! {
        /// Contract: lists hold what lists of all members, in order, would hold, whatever is added and removed.
        #[test]
        fn lists_hold_what_was_put_into_them(edits in prop::collection::vec((0u32..4, 0u32..24, any::<bool>()), 0..200)) {
            let mut lists = Lists::default();
            let mut expected: [Vec<u32>; 4] = Default::default();
            for (owner, member, first) in edits {
                if let Some(owner) = (0..4).find(|&owner| expected[owner].contains(&member)) {
                    lists.remove(owner as u32, member);
                    expected[owner].retain(|&other| other != member);
                } else if first {
                    lists.push_first(owner, member);
                    expected[owner as usize].insert(0, member);
                } else {
                    lists.push_last(owner, member);
                    expected[owner as usize].push(member);
                }
                let owner_of = |member| (0..4).find(|&owner: &u32| expected[owner as usize].contains(&member));
                prop_assert_eq!(lists.validate(owner_of), Ok(expected.iter().map(Vec::len).sum()));
                for (owner, expected) in expected.iter().enumerate() {
                    prop_assert!(lists.of(owner as u32).eq(expected.iter().copied()));
                }
            }
        }
    }
}

//! Aggregates of frames that need all values: quantiles and the mode.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::frames::Frame;
use super::layout::float;

/// The positions of the current frame.
pub(super) trait Multiset {
    /// Adds a position, which is after all others.
    fn add(&mut self, position: usize);
    /// Removes the first position.
    fn remove(&mut self, position: usize);
}

/// Moves a multiset over the frames. Returns what `answer` finds for each.
pub(super) fn sweep<M: Multiset, T: Copy>(
    frames: &[Frame],
    included: &[bool],
    mut multiset: M,
    answer: impl Fn(&M) -> Option<T>,
) -> Vec<Option<T>> {
    let mut current = 0..0;
    let mut answers: Vec<Option<T>> = Vec::with_capacity(frames.len());
    for frame in frames {
        if current == *frame
            && let Some(last) = answers.last().copied()
        {
            answers.push(last);
            continue;
        }
        let gone = current.start..frame.start.min(current.end);
        gone.filter(|it| included[*it]).for_each(|it| multiset.remove(it));
        let new = current.end.max(frame.start)..frame.end;
        new.filter(|it| included[*it]).for_each(|it| multiset.add(it));
        current = frame.clone();
        answers.push(answer(&multiset));
    }
    answers
}

/// Positions by the order of their values: counts in a Fenwick tree over ranks.
pub(super) struct Ranked {
    /// Position → rank among all rows.
    ranks: Vec<usize>,
    /// Rank → position.
    positions: Vec<usize>,
    /// Node `k` counts the ranks from `k - lowest_bit(k)` to before `k`.
    tree: Vec<usize>,
    len: usize,
}

impl Ranked {
    /// Takes all positions, sorted by value.
    pub(super) fn new(positions: Vec<usize>) -> Self {
        let mut ranks = vec![0; positions.len()];
        for (rank, position) in positions.iter().enumerate() {
            ranks[*position] = rank;
        }
        let tree = vec![0; positions.len() + 1];
        Self { ranks, positions, tree, len: 0 }
    }

    /// Returns the position whose value has this rank in the frame, from 0.
    fn select(&self, rank: usize) -> usize {
        let mut node = 0;
        let mut rest = rank;
        let mut step = self.tree.len().next_power_of_two();
        while step != 0 {
            if let Some(count) = self.tree.get(node + step)
                && *count <= rest
            {
                rest -= count;
                node += step;
            }
            step /= 2;
        }
        self.positions[node]
    }

    /// Returns the positions of the values around this share, and how far it is from the first to the
    /// second.
    pub(super) fn around(&self, share: f64) -> Option<(usize, usize, f64)> {
        let place = float(self.len.checked_sub(1)?) * share;
        let (low, high) = (index(place.floor()), index(place.ceil()));
        Some((self.select(low), self.select(high), place - place.floor()))
    }

    /// Returns the position of the first value with this share of values at or before it.
    pub(super) fn discrete(&self, share: f64) -> Option<usize> {
        let last = self.len.checked_sub(1)?;
        let n_values = float(self.len);
        // DuckDB's formula, which absorbs the error of the product.
        let number = index(n_values - (n_values - n_values * share).floor());
        Some(self.select(number.saturating_sub(1).min(last)))
    }

    fn update(&mut self, position: usize, change: impl Fn(&mut usize)) {
        let mut node = self.ranks[position] + 1;
        while let Some(count) = self.tree.get_mut(node) {
            change(count);
            node += node & node.wrapping_neg();
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share is from 0 to 1, so the index is below the number of rows"
)]
fn index(place: f64) -> usize {
    place as usize
}

impl Multiset for Ranked {
    fn add(&mut self, position: usize) {
        self.update(position, |count| *count += 1);
        self.len += 1;
    }

    fn remove(&mut self, position: usize) {
        self.update(position, |count| *count -= 1);
        self.len -= 1;
    }
}

/// How often each value occurs.
pub(super) struct Frequencies {
    /// Position → the first position with the same value in its partition.
    values: Vec<usize>,
    /// Position → the next included one with the same value in its partition.
    next: Vec<Option<usize>>,
    /// By value, how often it occurs and where first.
    occurrences: Vec<(usize, usize)>,
    /// How often each value occurs and where first, most frequent first.
    sorted: BTreeSet<(Reverse<usize>, usize)>,
}

impl Frequencies {
    /// Takes groups of included positions with equal values, each in order.
    pub(super) fn new<'a>(n_rows: usize, groups: impl Iterator<Item = &'a [usize]>) -> Self {
        let mut values = vec![0; n_rows];
        let mut next = vec![None; n_rows];
        for group in groups {
            for (number, position) in group.iter().enumerate() {
                values[*position] = group[0];
                next[*position] = group.get(number + 1).copied();
            }
        }
        Self { values, next, occurrences: vec![(0, 0); n_rows], sorted: BTreeSet::new() }
    }

    /// Returns the first position of the most frequent value.
    pub(super) fn mode(&self) -> Option<usize> {
        self.sorted.first().map(|(_, position)| *position)
    }
}

impl Multiset for Frequencies {
    fn add(&mut self, position: usize) {
        let (count, first) = &mut self.occurrences[self.values[position]];
        if *count == 0 {
            *first = position;
        } else {
            self.sorted.remove(&(Reverse(*count), *first));
        }
        *count += 1;
        self.sorted.insert((Reverse(*count), *first));
    }

    fn remove(&mut self, position: usize) {
        let (count, first) = &mut self.occurrences[self.values[position]];
        self.sorted.remove(&(Reverse(*count), *first));
        *count -= 1;
        if let Some(next) = self.next[position].filter(|_| *count != 0) {
            *first = next;
            self.sorted.insert((Reverse(*count), next));
        }
    }
}

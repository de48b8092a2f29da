//! What holds in a video at the frames that are looked at. Labels of real and of simulated videos are made here and nowhere else.

use std::collections::BTreeSet;
use std::ops::Range;

/// Objects, by their categories, and relations between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<C, P> {
    /// Those that are there in one of the frames, and both sides of all relations that hold.
    pub objects: BTreeSet<C>,
    /// Subject, predicate and object of those that hold in one of the frames.
    pub relations: BTreeSet<(C, P, C)>,
}

/// A relation between two objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance<C, P> {
    /// The category of the one that does it.
    pub subject: C,
    /// What it does.
    pub predicate: P,
    /// The category of the one to whom it is done.
    pub object: C,
    /// From `begin_fid` to before `end_fid`.
    pub frames: Range<u64>,
}

impl<C: Ord + Clone, P: Ord> Shown<C, P> {
    /// What holds at the frames `looked`; `there` tells the categories of the objects that a frame shows.
    pub fn at<F: IntoIterator<Item = C>>(
        looked: &[u64],
        there: impl Fn(u64) -> F,
        relations: impl IntoIterator<Item = Instance<C, P>>,
    ) -> Self {
        let mut shown =
            Self { objects: looked.iter().flat_map(|frame| there(*frame)).collect(), relations: BTreeSet::new() };
        for Instance { subject, predicate, object, frames } in relations {
            if looked.iter().any(|frame| frames.contains(frame)) {
                shown.objects.extend([subject.clone(), object.clone()]);
                shown.relations.insert((subject, predicate, object));
            }
        }
        shown
    }
}

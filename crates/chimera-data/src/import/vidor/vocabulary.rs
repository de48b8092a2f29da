//! Which objects and relations become concepts: those that hold in most train videos.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use chimera_logic::bits::BitTable;
use indexmap::IndexSet;

use super::outline::{Clip, Triple};
use crate::error::Error;
use crate::import::note::{Note, met};
use crate::import::samples::Labelled;
use crate::vidor;

/// How many concepts there are, and how often each must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VidorConcepts {
    /// The most frequent categories, `obj:<category>`.
    pub top_objects: usize,
    /// The most frequent relations, `rel:<subject>-<predicate>-<object>`.
    pub top_relations: usize,
    /// Train videos in which a relation holds at least.
    pub min_rel_support: usize,
}

impl Default for VidorConcepts {
    fn default() -> Self {
        Self { top_objects: 40, top_relations: 200, min_rel_support: 20 }
    }
}

impl VidorConcepts {
    /// What was chosen, by the names of the options.
    pub(super) fn chosen(self) -> [(&'static str, String); 3] {
        [
            ("top-objects", self.top_objects.to_string()),
            ("top-relations", self.top_relations.to_string()),
            ("min-rel-support", self.min_rel_support.to_string()),
        ]
    }

    /// Chooses concepts by the clips to learn from, and labels all: objects first, the most frequent first among each.
    pub(super) fn label(self, clips: &[&Clip], learned: &[&Clip], notes: &mut Vec<Note>) -> Labelled {
        let objects = ranked(learned.iter().map(|clip| &clip.objects));
        let relations = ranked(learned.iter().map(|clip| &clip.relations));
        let frequent = relations.partition_point(|(_, videos)| *videos >= self.min_rel_support);
        let (relations, rare) = relations.split_at(frequent);
        let fewer = format!("fewer than {} train videos", self.min_rel_support);
        let mut too_rare = Note::about(
            format!("relation is no concept, since it holds in {fewer}"),
            format!("relations are no concepts, since they hold in {fewer}"),
        );
        let (relations, many) = relations.split_at(self.top_relations.min(frequent));
        let mut beyond = Note::about(
            format!("relation is no concept, since {} hold more often", self.top_relations),
            format!("relations are no concepts, since {} hold more often", self.top_relations),
        );
        let (objects, others) = objects.split_at(self.top_objects.min(objects.len()));
        let mut fewer = Note::about(
            format!("object is no concept, since {} are there more often", self.top_objects),
            format!("objects are no concepts, since {} are there more often", self.top_objects),
        );
        // Whoever asks for none knows that there are none.
        if self.top_relations > 0 {
            rare.iter().for_each(|(triple, videos)| too_rare.add(|| format!("{} ({videos})", relation_name(triple))));
            many.iter().for_each(|(triple, videos)| beyond.add(|| format!("{} ({videos})", relation_name(triple))));
        }
        if self.top_objects > 0 {
            others.iter().for_each(|(category, videos)| fewer.add(|| format!("{} ({videos})", object_name(category))));
        }
        notes.extend(met([fewer, too_rare, beyond]));

        let objects: IndexSet<&String> = objects.iter().map(|(category, _)| *category).collect();
        let relations: IndexSet<&Triple> = relations.iter().map(|(triple, _)| *triple).collect();
        let mut labels = BitTable::zeros(clips.len(), objects.len() + relations.len());
        for (row, clip) in clips.iter().enumerate() {
            let here = clip.objects.iter().filter_map(|category| objects.get_index_of(category));
            here.for_each(|column| labels.set(row, column, true));
            let here = clip.relations.iter().filter_map(|triple| relations.get_index_of(triple));
            here.for_each(|column| labels.set(row, objects.len() + column, true));
        }
        let names = objects.into_iter().map(|category| object_name(category));
        Labelled { concepts: names.chain(relations.into_iter().map(relation_name)).collect(), labels }
    }

    /// Why train videos give no concept, and what would change that.
    pub(super) fn nothing(self, learned: &[&Clip]) -> Error {
        let videos = learned.len();
        // A relation that holds shows its objects, so without objects there is none either.
        if learned.iter().all(|clip| clip.objects.is_empty()) {
            let message = format!("expected objects in the frames that are taken of {videos} train videos, got none");
            let hint = "take more `--frames`, or deal other videos to train: `--split train=0.8,test=0.2`";
            return Error::input(message, Some(hint.to_owned()));
        }
        let least = self.min_rel_support;
        let message = format!(
            "expected a concept at least, got `--top-objects 0` and no relation in {least} of {videos} train videos"
        );
        let most = ranked(learned.iter().map(|clip| &clip.relations)).first().map(|(_, videos)| *videos);
        let smaller = most.map(|most| format!(", or `--min-rel-support {most}`")).unwrap_or_default();
        Error::input(message, Some(format!("give `--top-objects` a larger number{smaller}")))
    }
}

/// Everything with the number of sets that hold it, most first; the order of names decides between equals.
fn ranked<'a, T: Ord>(sets: impl Iterator<Item = &'a BTreeSet<T>>) -> Vec<(&'a T, usize)> {
    let mut counts: BTreeMap<&T, usize> = BTreeMap::new();
    sets.flatten().for_each(|member| *counts.entry(member).or_default() += 1);
    let mut ranked: Vec<(&T, usize)> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, count)| Reverse(*count));
    ranked
}

pub(super) fn object_name(category: &str) -> String {
    vidor::object_name(category)
}

pub(super) fn relation_name(triple: &Triple) -> String {
    vidor::relation_name(&triple.subject, &triple.predicate, &triple.object)
}

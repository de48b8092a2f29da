//! What can be typed after `chimera world`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Threads;
use super::data::{at_least_one, parse_size};

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Still scenes in CLEVR's format: pictures and scenes files.
    Clevr(WorldClevrArguments),
    /// Clips of bodies that collide, in CLEVRER's format: frames or videos, and annotations.
    Clevrer(WorldClevrerArguments),
    /// Pictures of things out of a hierarchy, in Open Images' format: JPEG files, boxes, classes.
    Openimages(WorldOpenImagesArguments),
    /// Clips of people, animals and things that move about, in VidOR's format: frames or videos, and annotations.
    Vidor(WorldVidorArguments),
}

/// What every world is told.
#[derive(Debug, Args)]
pub(crate) struct WorldOrder {
    /// Folder to make; it must be new or empty.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Scenes to learn from: none of them breaks a rule.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = at_least_one)]
    pub(crate) train: usize,
    /// Scenes to test on.
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) test: usize,
    /// Scenes for the supervised oracle to learn from, of which as many break a rule as of test.
    #[arg(long, value_name = "N", default_value_t = 250)]
    pub(crate) oracle: usize,
    /// Width and height of pictures. Whatever they are, the same view is shown, half as wide again as high.
    #[arg(long, value_name = "WxH", default_value = "96x64", value_parser = parse_size)]
    pub(crate) size: [u32; 2],
    /// Rule file over filters (`blue_sphere`, `metal_any`) and, in clips, events (`collide(red,sphere)`), in `openimages` over
    /// classes (`"Land vehicle"`), in `vidor` over objects (`obj:baby`) and relations (`rel:adult-watch-baby`); `-` reads standard
    /// input. By default built-in rules, which are written to `rules.rules` in the folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_rules")]
    pub(crate) rules: Option<PathBuf>,
    /// Draw scenes under no rules.
    #[arg(long)]
    pub(crate) no_rules: bool,
    /// The share of test and oracle scenes that break a rule, each rule in turn.
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, conflicts_with = "no_rules")]
    pub(crate) violations: f64,
    /// How often an object brings its partner along (a blue sphere a green cube, a man a dog, a baby an adult), from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub(crate) together: f64,
    /// Seed of everything.
    #[arg(long, default_value_t = chimera_data::dataset::assign::DEFAULT_SEED)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera world clevr --out w/\n  chimera import clevr w/ --rules w/rules.rules --out ds/\n  \
    chimera train ds/ --rules w/rules.rules --out model/\n\n  \
    chimera world clevr --size 480x320 --train 20 --test 0 --oracle 0 --no-rules --out look/\n  \
    chimera world clevr --rules my.rules --violations 0.5 --together 0.9 --out hard/"
)]
pub(crate) struct WorldClevrArguments {
    #[command(flatten)]
    pub(crate) order: WorldOrder,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera world clevrer --out w/\n  \
    chimera import clevrer w/ --rules w/rules.rules --out ds/\n  \
    chimera train ds/ --rules w/rules.rules --out model/\n\n  \
    chimera world clevrer --size 480x320 --mp4 --train 4 --test 0 --oracle 0 --no-rules --out look/\n\n\
    Annotations are about all 128 frames, whichever are kept.")]
pub(crate) struct WorldClevrerArguments {
    #[command(flatten)]
    pub(crate) order: WorldOrder,
    #[command(flatten)]
    pub(crate) footage: FootageArguments,
}

/// How clips are kept.
#[derive(Debug, Args)]
pub(crate) struct FootageArguments {
    /// Frames to keep of each clip, evenly, as PNG files in a folder a clip; 8 are what `train` looks at.
    #[arg(long, value_name = "N", default_value = "8")]
    pub(crate) keep_frames: NonZeroUsize,
    /// Write all frames as MP4 files instead, through the program ffmpeg.
    #[arg(long, conflicts_with = "keep_frames")]
    pub(crate) mp4: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera world openimages --out w/\n  \
    chimera import openimages w/ --top 66 --rules w/rules.rules --out ds/\n  \
    chimera train ds/ --rules w/rules.rules --out model/\n\n  \
    chimera world openimages --size 480x320 --train 20 --test 0 --oracle 0 --no-rules --out look/\n  \
    chimera world openimages --rules my.rules --violations 0.5 --together 0.9 --out hard/\n\n\
    66 classes, from common (Tree, Man, Car) to rare (Fox, Giraffe); the folder's class-descriptions-boxable.csv lists\n\
    them. --top 66 makes every class a concept that a train picture shows. With fewer, rare kinds are no concepts, and what\n\
    only they show is false in labels (a fox alone is no Animal) and named in oov_ancestors.")]
pub(crate) struct WorldOpenImagesArguments {
    #[command(flatten)]
    pub(crate) order: WorldOrder,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera world vidor --out w/\n  \
    chimera import vidor w/ --rules w/rules.rules --out ds/\n  \
    chimera train ds/ --rules w/rules.rules --pooling order --out model/\n\n  \
    chimera world vidor --size 480x320 --mp4 --train 4 --test 0 --oracle 0 --no-rules --out look/\n  \
    chimera world vidor --rules my.rules --violations 0.5 --together 0.9 --out hard/\n\n\
    Categories: adult, child, baby, dog, cat, horse, bird, ball, toy, chair, bicycle, car.\n\
    Predicates: in_front_of, behind, next_to, towards, away, chase, watch, above, beneath.\n\
    Annotations are about all 64 frames, labels about 8 of them: keep 8, 24, 40, 48, 56 or all 64.")]
pub(crate) struct WorldVidorArguments {
    #[command(flatten)]
    pub(crate) order: WorldOrder,
    #[command(flatten)]
    pub(crate) footage: FootageArguments,
}

//! What can be typed after `chimera import openimages`.

use std::path::PathBuf;

use chimera_data::import::{OPENIMAGES_TOP, VAL_TRAIN_FRAC};
use clap::Args;

use super::{ImportInto, at_least_one};

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:\n  chimera import openimages ~/openimages --out ds/\n  \
    chimera import openimages ~/openimages --top 100 --limit 20000 --out ds/\n  \
    chimera import openimages ~/openimages --rules my.rules --out ds/\n  \
    chimera import openimages ~/openimages --open-world --out ds/\n  \
    chimera import openimages --boxes train=boxes.csv --classes names.csv --hierarchy tree.json \\\n    \
    --images photos/ --out ds/\n\n\
    DIR holds class-descriptions-boxable.csv, bbox_labels_600_hierarchy.json, <split>-annotations-bbox.csv (also\n\
    with a name before it: oidv6-train-annotations-bbox.csv) and pictures as <split>/<ImageID>.jpg.\n\
    A picture shows a class if it has at least one box of it, or of a kind of it that is a concept.\n\
    validation is test beside train; the pictures of one split alone are dealt, {VAL_TRAIN_FRAC} of them to train.\n\
    The dataset gets hierarchy.json, from which `chimera rules structure` makes rules, and oov_classes.csv."))]
pub(crate) struct ImportOpenImagesArguments {
    /// Folder with all files; may be left out where --boxes, --classes, --hierarchy and --images name each.
    #[arg(value_name = "DIR", required_unless_present_all = ["boxes", "classes", "hierarchy", "images"])]
    pub(crate) folder: Option<PathBuf>,
    /// File of boxes, with the split of its pictures where its name does not say it; may be given several times. Those of DIR are
    /// not read then, so name all that are wanted.
    #[arg(long, value_name = "[SPLIT=]FILE")]
    pub(crate) boxes: Vec<String>,
    /// File with ids and names of classes.
    #[arg(long, value_name = "FILE")]
    pub(crate) classes: Option<PathBuf>,
    /// File with the hierarchy of classes.
    #[arg(long, value_name = "FILE")]
    pub(crate) hierarchy: Option<PathBuf>,
    /// Folder with the pictures, as <split>/<ImageID>.jpg or <ImageID>.jpg.
    #[arg(long, value_name = "DIR")]
    pub(crate) images: Option<PathBuf>,
    /// How many classes become concepts: those that most train pictures show by a box of their own.
    #[arg(long, value_name = "K", default_value_t = OPENIMAGES_TOP, value_parser = at_least_one)]
    pub(crate) top: usize,
    /// Rule file whose classes become concepts, too, however rare they are; `-` reads standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Share of pictures for training, and the rest for test, where there are boxes of one split alone; by default 0.9.
    #[arg(long, value_name = "SHARE", conflicts_with = "split")]
    pub(crate) val_train_frac: Option<f64>,
    /// Take as false only what a person verified to be absent, and every kind of it; what neither a box nor a person speaks of
    /// is unknown.
    #[arg(long)]
    pub(crate) open_world: bool,
    /// Verified labels of whole pictures; by default all *-annotations-human-imagelabels-boxable.csv of DIR.
    #[arg(long, value_name = "FILE", requires = "open_world")]
    pub(crate) image_labels: Vec<PathBuf>,
    /// Refuse if any row cannot be used or comes twice, or any picture is missing or cannot be used.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

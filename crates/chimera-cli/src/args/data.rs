//! What can be typed after `chimera import` and `chimera data`.

use std::path::PathBuf;

use chimera_data::import::SplitRule;
use chimera_data::split::Split;
use clap::{Args, Subcommand, ValueEnum};

use super::{ImportClevrArguments, ImportClevrerArguments, ImportOpenImagesArguments, ImportVidorArguments, Threads};

#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// Import a table of labels, with or without media.
    Table(Box<ImportTableArguments>),
    /// Import a table of labels with ready-made feature vectors.
    Features(Box<ImportFeaturesArguments>),
    /// Import MNIST or a relative of it from idx files.
    Mnist(ImportMnistArguments),
    /// Import COCO's instances: a picture shows a category if it has at least one instance of it.
    Coco(ImportCocoArguments),
    /// Import CLEVR v1.0: scenes with their pictures.
    Clevr(Box<ImportClevrArguments>),
    /// Import CLEVRER: annotations with their videos, or with folders of frames.
    Clevrer(Box<ImportClevrerArguments>),
    /// Import Open Images: boxes with their pictures, classes and hierarchy.
    #[command(name = "openimages")]
    OpenImages(Box<ImportOpenImagesArguments>),
    /// Import VidOR or VidVRD: objects and relations of videos, at the frames that are taken of them.
    Vidor(Box<ImportVidorArguments>),
}

/// What every importer takes.
#[derive(Debug, Args)]
pub(crate) struct ImportInto {
    /// Dataset folder to make; it must be new or empty.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// What to call the dataset; by default the name of the folder.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Deal samples to splits by shares that sum to 1, whole groups at a time, such as `train=0.8,test=0.2`. By default the
    /// source's own splits, or these shares where it has none. A tenth of train becomes calibration where there is none.
    #[arg(long, value_name = "SPLIT=SHARE,...", value_parser = parse_shares)]
    pub(crate) split: Option<SplitRule>,
    /// Seed of what is drawn.
    #[arg(long, default_value_t = chimera_data::dataset::assign::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Import about so many samples: a seeded draw that keeps the shares of the splits.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

/// A table of labels and how to read it.
#[derive(Debug, Args)]
pub(crate) struct TableSource {
    /// Table (.csv, .tsv, .parquet or .jsonl) with `id`, and `media`, `split` and `group` where there are any; every other
    /// column is a concept with 0, 1, true, false, or nothing where it is unknown.
    #[arg(value_name = "TABLE")]
    pub(crate) table: PathBuf,
    /// Folder where the paths in the column `media` start.
    #[arg(long, value_name = "DIR")]
    pub(crate) media_root: Option<PathBuf>,
    /// The number that means unknown: labels are then -1 (false), 0 (unknown) and 1 (true).
    #[arg(long, value_name = "0", value_parser = ["0"])]
    pub(crate) unknown: Option<String>,
    /// Name of the column with the ids, in the table and in a file of features; may be that of the media.
    #[arg(long, value_name = "COLUMN", default_value = "id")]
    pub(crate) id_column: String,
    /// Name of the column with the paths of media.
    #[arg(long, value_name = "COLUMN", default_value = "media")]
    pub(crate) media_column: String,
    /// Name of the column with the splits: train, calibration, test or oracle; val counts as test.
    #[arg(long, value_name = "COLUMN", default_value = "split")]
    pub(crate) split_column: String,
    /// Name of the column with the groups: samples of one group stay in one split.
    #[arg(long, value_name = "COLUMN", default_value = "group")]
    pub(crate) group_column: String,
    /// Columns to leave out, also `media`, `split` or `group`.
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,
    /// Refuse the table if any of its media are missing or cannot be used.
    #[arg(long)]
    pub(crate) strict: bool,
    /// What the media are; by default what the endings of their names say.
    #[arg(long, value_enum)]
    pub(crate) kind: Option<MediaKind>,
    /// Frames to take of each video, where the labels depend on them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Width and height of all media, such as 320x240, for the record.
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub(crate) size: Option<[u32; 2]>,
}

/// What media are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MediaKind {
    /// A picture a sample.
    Image,
    /// A video a sample.
    Video,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera import table labels.csv --out ds/                          # labels alone\n  \
    chimera import table samples.csv --media-root images/ --out ds/\n  \
    chimera import table visits.parquet --group-column patient --split train=0.7,test=0.3 --out ds/\n  \
    chimera import table celeba.csv --unknown 0 --limit 1000 --out small/\n  \
    chimera import table files.csv --id-column file --media-column file --media-root images/ --out ds/\n\n\
    Media stay where they are. Nothing is ever written over; an import that is stopped leaves no dataset."
)]
pub(crate) struct ImportTableArguments {
    #[command(flatten)]
    pub(crate) source: TableSource,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera import features samples.csv --features z.npy --out ds/         # rows in the \
    same order\n  chimera import features samples.csv --features z.npz --array clip --out ds/   # by its array `ids`\n  \
    chimera import features samples.parquet --features z.parquet --out ds/   # by its column `id`"
)]
pub(crate) struct ImportFeaturesArguments {
    #[command(flatten)]
    pub(crate) source: TableSource,
    /// Features (.npy, .npz, .safetensors or .parquet), a row a sample: with an array or column `id`, `ids` or of the name
    /// that `--id-column` gives, or else in the order of the table.
    #[arg(long, value_name = "FILE")]
    pub(crate) features: PathBuf,
    /// Array, or column of lists, to take where the file has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera import mnist ~/mnist --out ds/\n  chimera import mnist ~/mnist --limit 2000 \
    --out small/\n\nConcepts are digit_0 to digit_9; pictures become PNG files inside the folder; t10k is test."
)]
pub(crate) struct ImportMnistArguments {
    /// Folder with the idx files (`train-images-idx3-ubyte` and so on), compressed or not.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera import coco coco/annotations/instances_train2017.json \\\n    \
    --test coco/annotations/instances_val2017.json --media-root coco/ --out ds/\n  \
    chimera import coco instances.json --media-root images/ --out ds/\n\n\
    Pictures of instances_NAME.json are looked for in the folder NAME of the media root where there is one.")]
pub(crate) struct ImportCocoArguments {
    /// Instances JSON to learn from; without --test, its pictures are dealt to train and test.
    #[arg(value_name = "FILE")]
    pub(crate) instances: PathBuf,
    /// Instances JSON of the official validation pictures, which become test.
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Option<PathBuf>,
    /// Folder where the pictures are.
    #[arg(long, value_name = "DIR")]
    pub(crate) media_root: PathBuf,
    /// Refuse if any picture is missing or cannot be used.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Tell what a dataset holds: sizes, splits, how common concepts are and which go together.
    Show(DataShowArguments),
    /// Find what is wrong with a dataset: missing media, leaks between splits, constant concepts, broken rules and
    /// hierarchies.
    Check(DataCheckArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera data show ds/\n  chimera data show ds/ --top 100\n  \
    chimera data show ds/ --sheet sheet.png --samples 48   # look at some, with their labels\n  \
    chimera data show ds/ --json | jq '.splits'")]
pub(crate) struct DataShowArguments {
    /// Dataset folder.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// How many concepts and pairs of concepts to list.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    /// Write a contact sheet of random samples with their labels as PNG.
    #[arg(long, value_name = "FILE")]
    pub(crate) sheet: Option<PathBuf>,
    /// How many samples the contact sheet shows.
    #[arg(long, value_name = "N", default_value_t = 24, requires = "sheet", value_parser = at_least_one)]
    pub(crate) samples: usize,
    /// Seed of the samples that the contact sheet shows.
    #[arg(long, default_value_t = chimera_data::dataset::assign::DEFAULT_SEED, requires = "sheet")]
    pub(crate) seed: u64,
    /// Print JSON, with all concepts.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera data check ds/\n  chimera data check ds/ --rules my.rules\n  \
    chimera data check ds/ --no-decode                     # quick: media need only be there\n  \
    chimera data check ds/ --json | jq '.findings[].kind'\n  \
    chimera data check ds/ --rules my.rules --model model/ -o audit/   # are the labels wrong, or the rows?\n\n\
    Exit code 1 if there are errors; warnings alone leave it at 0. With --model, also if a row to learn from breaks a rule.")]
pub(crate) struct DataCheckArguments {
    /// Dataset folder.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Rule file: also tell which rows break which rule.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Model folder: of each train and calibration row that breaks a rule, also tell whether its labels are probably wrong, and
    /// which, or whether the violation is probably real.
    #[arg(long, value_name = "MODEL", requires = "rules")]
    pub(crate) model: Option<PathBuf>,
    /// Folder for `audit.html`, to go through by eye, and `audit.csv`; a new or an empty one.
    #[arg(short, long, value_name = "DIR", requires = "model")]
    pub(crate) out: Option<PathBuf>,
    /// Where encoded samples are kept; by default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR", requires = "model")]
    pub(crate) cache: Option<PathBuf>,
    /// Do not read and decode media: only see whether they are there.
    #[arg(long)]
    pub(crate) no_decode: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads `train=0.8,test=0.2`.
fn parse_shares(text: &str) -> Result<SplitRule, String> {
    let share = |part: &str| {
        let (split, share) = part.split_once('=')?;
        Some((Split::from_source(split)?, share.trim().parse().ok()?))
    };
    let shares: Option<Vec<(Split, f64)>> = text.split(',').map(share).collect();
    shares
        .map(SplitRule::Shares)
        .ok_or_else(|| "expected splits with their shares, such as train=0.8,test=0.2".to_owned())
}

/// Reads a count that is not zero.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "expected a number of 1 at least".to_owned())
}

/// Reads `320x240`.
pub(super) fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let size = text.split_once('x').and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    size.filter(|size| !size.contains(&0)).ok_or_else(|| "expected width and height, such as 320x240".to_owned())
}

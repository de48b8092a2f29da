//! What can be typed after `chimera import clevr` and `chimera import clevrer`.

use std::path::PathBuf;

use clap::Args;

use super::ImportInto;

/// Which concepts of scenes and videos become columns.
#[derive(Debug, Args)]
pub(crate) struct ConceptArguments {
    /// `preset` (blue_sphere, green_cube, metal_any, gray_cyl, red_any, yellow_cube), `all` (every colour, material, shape and
    /// size, and every colour with every shape, that occur in train), or names: words for colour, material, shape and size
    /// joined by `_`, and `any`. By default the preset.
    #[arg(long, value_name = "preset|all|NAME,...")]
    pub(crate) concepts: Vec<String>,
    /// Rule file: what it names becomes a concept, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera import clevr ~/CLEVR_v1.0 --out ds/\n  \
    chimera import clevr ~/CLEVR_v1.0 --concepts all --out ds/\n  \
    chimera import clevr ~/CLEVR_v1.0 --concepts preset --concepts large_any,small_red_cube --out ds/\n  \
    chimera import clevr ~/CLEVR_v1.0 --rules my.rules --limit 1000 --out small/\n\n\
    A picture has a concept if at least one object looks so: `metal_any`, `gray_cyl`,\n\
    `large_red_rubber_cube`, `color=red`. Scenes are in DIR/scenes/CLEVR_<split>_scenes.json, pictures in\n\
    DIR/images/<split>/. val is test; where there is train alone, it is dealt.")]
pub(crate) struct ImportClevrArguments {
    /// Folder with `scenes/` and `images/`.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) concepts: ConceptArguments,
    /// Refuse if any scene cannot be used, comes twice, or has no picture that can be used.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera import clevrer ~/CLEVRER --out ds/\n  \
    chimera import clevrer ~/CLEVRER --concepts 'cube,enter(cube),collide(red,sphere)' --out ds/\n  \
    chimera import clevrer ~/CLEVRER --concepts all --max-event-pairs 20 --out ds/\n  \
    chimera import clevrer ~/CLEVRER --rules my.rules --out ds/\n\n\
    Events, with filters A and B such as `blue_sphere`:\n  \
    enter(A)                    such an object comes into view after the first frame\n  \
    exit(A)                     such an object is out of view at the end\n  \
    collide(A,B)                two objects collide, one such as A, the other such as B\n  \
    collide_before_half(A,B)    they do before half of the frames are over\n  \
    entered_then_collided(A,B)  they do, and one of the two had come into view before\n\n\
    Annotations are in DIR/annotation_<split>/annotation_AAAAA-BBBBB/annotation_NNNNN.json, videos in\n\
    DIR/video_<split>/video_AAAAA-BBBBB/video_NNNNN.mp4, or as folders\n\
    video_NNNNN/ of pictures. validation is test; where there is train alone, it is dealt.")]
pub(crate) struct ImportClevrerArguments {
    /// Folder with `annotation_train/`, `video_train/` and so on.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) concepts: ConceptArguments,
    /// Add the events of so many pairs of a colour and a shape, those that collide in most train samples. By default 8 with
    /// `preset` or `all`, else 0.
    #[arg(long, value_name = "N")]
    pub(crate) max_event_pairs: Option<usize>,
    /// Refuse if any annotation cannot be used, comes twice, has no video that can be used or several, or a folder of frames of
    /// which some may be missing.
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) into: ImportInto,
}

//! A world of pictures in Open Images' own files: `<split>/<ImageID>.jpg`, boxes (`<split>-annotations-bbox.csv`), verified
//! labels (`<split>-annotations-human-imagelabels-boxable.csv`), names and hierarchy of classes.

use std::fmt::Write;
use std::path::Path;

use chimera_data::error::Result;
use chimera_data::new_folder::NewFolder;
use chimera_data::seed::stream;

use crate::files::{write, write_jpeg, write_json, write_rules};
use crate::order::{Count, Order, draw_part};
use crate::photo::class::{Branch, Class};
use crate::photo::scene::{Photo, Photos};
use crate::wish::HouseRules;

const BOXES: &str =
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside";

const LABELS: &str = "ImageID,Source,LabelName,Confidence";

/// What files say about a picture.
struct Described {
    id: String,
    boxes: String,
    labels: String,
}

/// Writes a world into a new folder, as a whole or not at all. `tell` hears how many pictures of how many are done.
///
/// # Errors
/// Numbers out of range, rules that no picture keeps or breaks, or what the system said.
pub fn write_openimages(
    out: &Path,
    order: &Order,
    rules: &HouseRules<Class>,
    tell: &(dyn Fn(usize, usize) + Sync),
) -> Result<()> {
    order.check()?;
    let folder = NewFolder::create(out)?;
    let (kind, count) = (Photos { together: order.together }, Count::new(order.total(), tell));
    for (split, part) in order.parts().into_iter().enumerate().filter(|(_, part)| part.scenes > 0) {
        let keep = |number: usize, photo: &Photo| {
            let id = picture_id(order.seed, split, number);
            let name = format!("{}/{id}.jpg", part.name);
            write_jpeg(&folder, Path::new(&name), &photo.picture(order.size)?)?;
            count.add();
            Ok(described(photo, id))
        };
        let mut pictures = draw_part((&kind, rules), order, part, keep)?;
        // As in the real files.
        pictures.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let table = |header: &str, rows: fn(&Described) -> &str| {
            let rows: String = pictures.iter().map(rows).collect();
            format!("{header}\n{rows}")
        };
        let name = format!("{}-annotations-bbox.csv", part.name);
        write(&folder, Path::new(&name), table(BOXES, |picture| &picture.boxes).as_bytes())?;
        let name = format!("{}-annotations-human-imagelabels-boxable.csv", part.name);
        write(&folder, Path::new(&name), table(LABELS, |picture| &picture.labels).as_bytes())?;
    }
    let mut classes: Vec<Class> = Class::ALL.to_vec();
    classes.sort_by_key(|class| class.id());
    let names: String = classes.iter().map(|class| format!("{},{}\n", class.id(), class.name())).collect();
    write(&folder, Path::new("class-descriptions-boxable.csv"), names.as_bytes())?;
    write_json(&folder, Path::new("bbox_labels_600_hierarchy.json"), &Branch::root())?;
    write_rules(&folder, rules)?;
    folder.finish()
}

/// Sixteen hexadecimal digits that no other picture of the world has: steps of splitmix64 can be taken back.
fn picture_id(seed: u64, split: usize, number: usize) -> String {
    let mut bits = stream(seed, "world openimages ids", 0).u64(..) ^ ((split as u64) << 40 | number as u64);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    format!("{:016x}", bits ^ bits >> 31)
}

fn described(photo: &Photo, id: String) -> Described {
    let (mut boxes, mut labels) = (String::new(), String::new());
    for boxed in photo.boxes() {
        let [left, right, upper, lower] = boxed.sides;
        let flags = [boxed.is_occluded, boxed.is_truncated, boxed.is_group].map(u8::from);
        let (class, [occluded, truncated, group]) = (boxed.class.id(), flags);
        // Writing to a text cannot fail.
        let _ = writeln!(
            boxes,
            "{id},xclick,{class},1,{left:.6},{right:.6},{upper:.6},{lower:.6},{occluded},{truncated},{group},0,0"
        );
    }
    let (seen, unseen) = photo.asked();
    let mut answers: Vec<(&str, u8)> = seen.iter().map(|class| (class.id(), 1)).collect();
    answers.extend(unseen.iter().map(|class| (class.id(), 0)));
    answers.sort_unstable();
    for (class, answer) in answers {
        let _ = writeln!(labels, "{id},verification,{class},{answer}");
    }
    Described { id, boxes, labels }
}

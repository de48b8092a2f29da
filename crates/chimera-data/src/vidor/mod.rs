//! VidOR and VidVRD: what their files say about a video, what of it holds at the frames that are looked at, and what concepts
//! are called.

pub mod annotation;
pub mod shown;

/// Frames of each video that labels speak of, unless somebody chose another number.
pub const TAKEN: u32 = 8;

/// The name of the concept that an object of a category is there.
#[must_use]
pub fn object_name(category: &str) -> String {
    format!("obj:{category}")
}

/// The name of the concept that a relation holds between objects of two categories.
#[must_use]
pub fn relation_name(subject: &str, predicate: &str, object: &str) -> String {
    format!("rel:{subject}-{predicate}-{object}")
}

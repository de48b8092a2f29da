//! Pictures and videos: from files of any format to plain RGB bytes of one size, kept on disk once they are prepared.

pub mod augment;
mod child;
pub mod frame_folder;
mod frame_sink;
pub mod frames;
pub mod image;
pub mod jpeg;
mod messages;
mod packets;
pub mod picture;
pub mod png;
pub mod prepared;
pub mod reader;
pub mod sheet;
pub mod video;

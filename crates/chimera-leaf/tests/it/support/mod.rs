//! A small dataset of pictures that several tests share.

pub(crate) mod squares;

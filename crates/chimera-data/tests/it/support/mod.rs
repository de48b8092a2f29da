//! What several tests share: files made for them.

pub(crate) mod image_files;
pub(crate) mod import_place;
pub(crate) mod parquet_files;
pub(crate) mod solids;
pub(crate) mod vidor;

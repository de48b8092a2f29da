//! Why a sample was flagged: which rules it breaks and how, which concepts speak for it, where and when they are seen, and what would mend it.

pub mod cover;
pub mod evidence;
pub mod explainer;
pub mod mend;
mod moments;
pub mod page;
pub mod parts;
pub mod told;

//! Names of what a leaf bank computes: hashes of texts that say everything it depends on. Caches, gates and models are known
//! by them.

use chimera_data::error::Result;
use serde::{Deserialize, Serialize};

use super::LeafBank;
use crate::parameters;

/// The name of something that was computed: a hash of a text that says all it depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Blake3 of the text, in hexadecimal.
    pub hash: String,
    /// What was hashed, one fact a line.
    pub text: String,
}

impl LeafBank {
    /// The name of what gives the vectors that go into pooling.
    ///
    /// # Errors
    /// As [`LeafBank::encoder_bytes`].
    pub(crate) fn backbone_fingerprint(&self) -> Result<Fingerprint> {
        let weights = blake3::hash(&parameters::to_bytes(&parameters::taken(&self.encoder.backbone))?);
        let config = self.config.encoder.backbone_description();
        Ok(Fingerprint::of(format!("chimera backbone 1\n{config}weights {weights}\n")))
    }

    /// The name of what gives z. Heads are no part of it.
    ///
    /// # Errors
    /// As [`LeafBank::encoder_bytes`].
    pub fn encoder_fingerprint(&self) -> Result<Fingerprint> {
        let weights = blake3::hash(&self.encoder_bytes()?);
        let config = &self.config.encoder;
        Ok(Fingerprint::of(format!(
            "chimera encoder 1\n{}features {}\nweights {weights}\n",
            config.description(),
            config.features(),
        )))
    }

    /// The name of what gives logits: the encoder, the heads and their concepts.
    ///
    /// # Errors
    /// As [`LeafBank::encoder_bytes`].
    pub fn bank_fingerprint(&self) -> Result<Fingerprint> {
        let encoder = self.encoder_fingerprint()?;
        let weights = blake3::hash(&self.head_bytes()?);
        // Names in quotes: one with a line break in it cannot pass for two.
        let concepts: String = self.config.concepts.iter().map(|concept| format!("concept {concept:?}\n")).collect();
        Ok(Fingerprint::of(format!("chimera leaf bank 1\nencoder {}\n{concepts}heads {weights}\n", encoder.hash)))
    }
}

impl Fingerprint {
    fn of(text: String) -> Self {
        Self { hash: blake3::hash(text.as_bytes()).to_string(), text }
    }
}

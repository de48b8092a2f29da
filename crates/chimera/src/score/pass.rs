//! Scoring without keeping: samples go through encoder and rules block by block and are handed over one after the other, so
//! that memory does not grow with their number.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use chimera_data::dataset::media::LeftOut;
use chimera_data::error::Result;
use chimera_leaf::bank::TOGETHER;
use chimera_leaf::stream::{Part, Stream};
use serde::Serialize;

use super::ready::{BLOCK, Ready};
use super::samples::{Encodings, SampleScores};

/// z and logits of a block take no more than this.
const BLOCK_BYTES: usize = 64 << 20;
/// Where media are slow, rules are asked about fewer samples than a block, so that results do not wait much longer than this.
const PATIENCE: Duration = Duration::from_secs(1);
/// Asking often costs; it is never more than about one part in so many.
const WORTH: u32 = 10;

/// One pass over samples.
#[derive(Debug)]
pub struct Pass<'a> {
    /// The model, ready for a way of scoring.
    pub ready: &'a Ready<'a>,
    /// The samples, encoded by the model's bank.
    pub stream: &'a Stream<'a>,
    /// Threads for everything.
    pub threads: NonZeroUsize,
    /// Once it is set, the pass ends with what it has.
    pub stop: &'a AtomicBool,
}

/// What a pass comes upon. Samples are known by their numbers in the stream, and each comes once, in the order of these numbers.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A sample has its scores.
    Scored(usize, &'a SampleScores),
    /// A sample could not be read or encoded.
    LeftOut(&'a LeftOut),
    /// So many samples are read.
    Read(usize),
}

/// Seconds that the parts of a pass took, each by the clock. With several threads, decoding goes on while others encode and
/// score, so that together they may be more than the pass took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Reading and decoding.
    pub decode: f64,
    /// The network.
    pub encode: f64,
    /// Rules.
    pub logic: f64,
}

/// What came of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Samples that were read; fewer than there are where the pass was stopped.
    pub read: usize,
    /// Samples with scores.
    pub scored: usize,
    /// Samples whose z was in the cache.
    pub kept: usize,
    /// Times.
    pub seconds: Seconds,
}

/// Encoded samples that rules have not been asked about.
struct Block {
    samples: Vec<usize>,
    /// Samples between them that could not be encoded.
    left_out: VecDeque<LeftOut>,
    z: Vec<f32>,
    logits: Vec<f32>,
    widths: [usize; 2],
}

impl Encodings for Block {
    fn rows(&self) -> usize {
        self.samples.len()
    }

    fn z(&self, row: usize) -> &[f32] {
        &self.z[row * self.widths[0]..][..self.widths[0]]
    }

    fn logits(&self, row: usize) -> &[f32] {
        &self.logits[row * self.widths[1]..][..self.widths[1]]
    }
}

impl Pass<'_> {
    /// Goes through all samples.
    ///
    /// # Errors
    /// As [`Stream::run`], and what `take` refuses.
    pub fn run(&self, take: &mut dyn FnMut(Event<'_>) -> Result<()>) -> Result<Tally> {
        let widths = self.stream.widths();
        let row_bytes = size_of::<f32>() * (widths[0] + widths[1]);
        let most = (BLOCK_BYTES / row_bytes).min(BLOCK * self.threads.get()).max(TOGETHER);
        let (samples, left_out) = (Vec::new(), VecDeque::new());
        let mut block = Block { samples, left_out, z: Vec::new(), logits: Vec::new(), widths };
        let (mut tally, mut asked, mut patience) = (Tally::default(), Instant::now(), PATIENCE);
        self.stream.run(self.stop, &mut |part| {
            let Part { samples, z, logits, mut left_out, kept, decoding, encoding } = part;
            tally.read += samples.len() + left_out.len();
            tally.kept += kept;
            tally.seconds.decode += decoding;
            tally.seconds.encode += encoding;
            block.samples.extend(samples);
            block.z.extend(z);
            block.logits.extend(logits);
            left_out.sort_by_key(|sample| sample.row);
            block.left_out.extend(left_out);
            if block.rows() >= most || block.left_out.len() >= most || asked.elapsed() > patience {
                let seconds = self.ask(&mut block, &mut tally, take)?;
                (asked, patience) = (Instant::now(), PATIENCE.max(WORTH * seconds));
            }
            take(Event::Read(tally.read))
        })?;
        self.ask(&mut block, &mut tally, take)?;
        Ok(tally)
    }

    /// Scores a block, hands its samples over and empties it. Returns how long the rules took.
    fn ask(
        &self,
        block: &mut Block,
        tally: &mut Tally,
        take: &mut dyn FnMut(Event<'_>) -> Result<()>,
    ) -> Result<Duration> {
        let (began, mut elsewhere) = (Instant::now(), Duration::ZERO);
        let mut left_out = std::mem::take(&mut block.left_out);
        self.ready.score(&*block, self.threads, &mut |row, scores| {
            let (handing, sample) = (Instant::now(), block.samples[row]);
            while let Some(before) = left_out.pop_front_if(|other| other.row < sample) {
                take(Event::LeftOut(&before))?;
            }
            take(Event::Scored(sample, &scores))?;
            elsewhere += handing.elapsed();
            Ok(())
        })?;
        left_out.iter().try_for_each(|sample| take(Event::LeftOut(sample)))?;
        let logic = began.elapsed().saturating_sub(elsewhere);
        tally.scored += block.samples.len();
        tally.seconds.logic += logic.as_secs_f64();
        block.samples.clear();
        block.z.clear();
        block.logits.clear();
        Ok(logic)
    }
}

//! Sizes of a convolution, and how an image is laid out for the inner loop: channels last, with its zero border, in a
//! buffer that a thread keeps.

use std::cell::RefCell;

use chimera_gate::product::{LANES, PANEL, Runs};

/// Which axis of a tensor of images comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `[samples, channels, height, width]`, as burn and PyTorch have it.
    ChannelsFirst,
    /// `[samples, height, width, channels]`, which needs no reordering between layers.
    ChannelsLast,
}

/// Sizes of one convolution over a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    /// Images in the batch.
    pub samples: usize,
    /// Height and width of an image.
    pub size: [usize; 2],
    /// Channels of an image.
    pub inputs: usize,
    /// Channels of a result.
    pub outputs: usize,
    /// Height and width of the window.
    pub kernel: [usize; 2],
    /// Pixels from one window to the next.
    pub stride: usize,
    /// Zeros around the image.
    pub padding: usize,
    /// Whether the largest of each two by two results is kept.
    pub pool: bool,
    /// Order of the image, and of its gradient.
    pub(crate) input_order: Order,
    /// Order of the result, and of its gradient.
    pub(crate) output_order: Order,
}

impl Geometry {
    /// Windows, down and across.
    pub(super) fn windows(&self) -> [usize; 2] {
        [0, 1].map(|axis| (self.size[axis] + 2 * self.padding).saturating_sub(self.kernel[axis]) / self.stride + 1)
    }

    /// Height and width of a result.
    pub(super) fn output_size(&self) -> [usize; 2] {
        if self.pool { self.windows().map(|count| count.div_ceil(2)) } else { self.windows() }
    }

    /// Channels of a result, padded for the inner loop.
    pub(super) fn padded_outputs(&self) -> usize {
        self.outputs.next_multiple_of(LANES)
    }

    /// Channels of an image, padded for the inner loop.
    pub(super) fn padded_inputs(&self) -> usize {
        self.inputs.next_multiple_of(LANES)
    }

    /// Floats of one image.
    pub(super) fn input_floats(&self) -> usize {
        self.size[0] * self.size[1] * self.inputs
    }

    /// Floats of one result.
    pub(super) fn output_floats(&self) -> usize {
        let [height, width] = self.output_size();
        height * width * self.outputs
    }

    /// The part of an image that windows look at, with its border.
    pub(super) fn window_frame(&self) -> Frame {
        let size = self.windows();
        let [height, width] = [0, 1].map(|axis| (size[axis] - 1) * self.stride + self.kernel[axis]);
        Frame { height, width, channels: self.inputs, border: self.padding }
    }

    /// The gradient of all windows with the border that the gradient of the image reads.
    pub(super) fn gradient_frame(&self) -> Frame {
        let border = self.kernel.map(|kernel| kernel.div_ceil(self.stride) - 1).into_iter().max().unwrap_or(0);
        let size = self.windows();
        let [height, width] =
            [0, 1].map(|axis| border + size[axis].max((self.size[axis] - 1 + self.padding) / self.stride + 1));
        Frame { height, width, channels: self.padded_outputs(), border }
    }
}

/// An image in a buffer: channels last (padded with zeros to `channels`), `border` zeros above and to the left, zeros
/// up to `height` and `width` below and to the right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub border: usize,
}

impl Frame {
    /// Floats of a row.
    pub(super) fn row(&self) -> usize {
        self.width * self.channels
    }

    /// Floats of all rows.
    pub(super) fn floats(&self) -> usize {
        self.height * self.row()
    }

    /// Copies an image into rows of its frame, as many as `rows` has from `first` on; what does not fit is left out.
    pub(super) fn fill(
        &self,
        rows: &mut [f32],
        first: usize,
        image: &[f32],
        order: Order,
        size: [usize; 2],
        channels: usize,
    ) {
        let kept = size[1].min(self.width - self.border);
        self.fill_rows(rows, first, size, |y, pixels| match order {
            Order::ChannelsLast if channels == self.channels => {
                let from = y * size[1] * channels;
                pixels.copy_from_slice(&image[from..from + kept * channels]);
            }
            Order::ChannelsLast => {
                let from = image[y * size[1] * channels..].chunks_exact(channels);
                for (pixel, from) in pixels.chunks_exact_mut(self.channels).zip(from) {
                    pixel[..channels].copy_from_slice(from);
                    pixel[channels..].fill(0.0);
                }
            }
            Order::ChannelsFirst if channels == 3 && self.channels == 3 => {
                let [red, green, blue] = [0, 1, 2].map(|plane| &image[(plane * size[0] + y) * size[1]..][..kept]);
                let (pixels, _) = pixels.as_chunks_mut();
                for (((pixel, red), green), blue) in pixels.iter_mut().zip(red).zip(green).zip(blue) {
                    *pixel = [*red, *green, *blue];
                }
            }
            Order::ChannelsFirst => {
                if channels < self.channels {
                    pixels.fill(0.0);
                }
                for (channel, plane) in image.chunks_exact(size[0] * size[1]).enumerate() {
                    let from = &plane[y * size[1]..][..kept];
                    for (pixel, value) in pixels.chunks_exact_mut(self.channels).zip(from) {
                        pixel[channel] = *value;
                    }
                }
            }
        });
    }

    /// Writes the zeros of rows of a frame, and has each row of an image of that size written between them.
    pub(super) fn fill_rows(
        &self,
        rows: &mut [f32],
        first: usize,
        size: [usize; 2],
        mut write: impl FnMut(usize, &mut [f32]),
    ) {
        let kept = size[1].min(self.width - self.border);
        for (at, row) in (first..).zip(rows.chunks_exact_mut(self.row())) {
            let Some(y) = at.checked_sub(self.border).filter(|y| *y < size[0]) else {
                row.fill(0.0);
                continue;
            };
            let (left, rest) = row.split_at_mut(self.border * self.channels);
            let (pixels, right) = rest.split_at_mut(kept * self.channels);
            left.fill(0.0);
            right.fill(0.0);
            write(y, pixels);
        }
    }
}

impl Frame {
    /// Copies an image out of its frame; what was left out is zero.
    pub(super) fn take_out(&self, frame: &[f32], image: &mut [f32], size: [usize; 2]) {
        let kept = size[1].min(self.width - self.border) * self.channels;
        let from = frame.chunks_exact(self.row()).skip(self.border).map(Some).chain(std::iter::repeat(None));
        for (pixels, row) in image.chunks_exact_mut(size[1] * self.channels).zip(from) {
            let (pixels, rest) = pixels.split_at_mut(if row.is_some() { kept } else { 0 });
            if let Some(row) = row {
                pixels.copy_from_slice(&row[self.border * self.channels..][..kept]);
            }
            rest.fill(0.0);
        }
    }
}

/// A few neighbouring columns of a right operand that lie together, so that the loop reads one stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    /// First column.
    pub first: usize,
    /// Columns, without the padding at the end.
    pub columns: usize,
    /// Columns with their padding.
    pub width: usize,
}

/// Cuts columns into panels.
pub(super) fn panels(columns: usize) -> impl Iterator<Item = Panel> {
    (0..columns).step_by(PANEL).map(move |first| {
        let columns = PANEL.min(columns - first);
        Panel { first, columns, width: columns.next_multiple_of(LANES) }
    })
}

/// Weights on their way between two orders, a row for each place of a window and a column for each output. Without it every
/// number would be read from or written to another line of memory, and lines a power of two apart push each other out.
pub(super) struct Block(Vec<f32>);

impl Block {
    pub(super) const ROWS: usize = 128;

    pub(super) fn new() -> Self {
        Self(vec![0.0; Self::ROWS * PANEL])
    }

    pub(super) fn rows(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.0.chunks_exact_mut(PANEL)
    }
}

/// Writes a channels-last image in another order.
pub(super) fn reorder(image: &[f32], channels: usize, into: &mut [f32]) {
    let pixels = image.len() / channels;
    for (channel, plane) in into.chunks_exact_mut(pixels).enumerate() {
        for (value, pixel) in plane.iter_mut().zip(image.chunks_exact(channels)) {
            *value = pixel[channel];
        }
    }
}

/// Buffers that a thread keeps from one image to the next.
#[derive(Default)]
pub(super) struct Scratch {
    /// The image in its frame.
    pub image: Vec<f32>,
    /// The gradient of the result in its frame.
    pub gradient: Vec<f32>,
    /// A result that is reordered or pooled afterwards, or a gradient before it is put into its frame.
    pub other: Vec<f32>,
    /// Where the windows of winners begin.
    pub offsets: Vec<u32>,
    /// What winners pass back to pixels.
    pub runs: Runs,
}

/// As many floats of a buffer that is kept, from one on that begins a line of the cache: a bundle of lanes is then one line,
/// not halves of two. What they hold is left from before.
pub(super) fn floats(buffer: &mut Vec<f32>, count: usize) -> &mut [f32] {
    if buffer.len() < count + LANES {
        buffer.resize(count + LANES, 0.0);
    }
    let first = buffer.as_ptr().align_offset(LANES * size_of::<f32>()).min(LANES);
    &mut buffer[first..first + count]
}

/// Runs with the buffers of this thread. The work does not wait for other threads: it would meet itself.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with_borrow_mut(work)
}

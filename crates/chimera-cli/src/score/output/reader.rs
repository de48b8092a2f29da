//! Whoever reads the rows as they come, and may stop reading them.

use std::io::{self, ErrorKind, Write};

/// Rows on their way to a reader. Once a reader has left there is an error, or, where the work goes on without one, nothing more
/// is written.
pub(crate) struct Reader<'a> {
    out: &'a mut dyn Write,
    goes_on: bool,
    has_left: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, goes_on: bool) -> Self {
        Self { out, goes_on, has_left: false }
    }

    /// Writes, or does as if everything (`whole`) had been written.
    fn pass<T>(&mut self, whole: T, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> io::Result<T> {
        if self.has_left {
            return Ok(whole);
        }
        match write(self.out) {
            Err(error) if self.goes_on && error.kind() == ErrorKind::BrokenPipe => {
                self.has_left = true;
                Ok(whole)
            }
            written => written,
        }
    }
}

impl Write for Reader<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pass(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass((), |out| out.flush())
    }
}

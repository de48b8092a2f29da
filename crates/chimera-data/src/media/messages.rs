//! What `ffmpeg` and `ffprobe` say on standard error, made fit for our own messages.

use crate::error::lower_first;

/// What a demuxer says of a file that ends too early: it reads what there is and calls that success.
pub(super) fn cut_off(messages: &str) -> Option<String> {
    let ends_early = |line: &&str| line.contains("partial file") || line.contains("ended prematurely");
    messages.lines().find(ends_early).map(without_source)
}

/// The first thing that ffmpeg said, apart from its progress.
pub(super) fn said(messages: &str) -> Option<String> {
    let is_progress = |line: &str| {
        line.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || "_0123456789".contains(c)))
    };
    messages.lines().find(|line| !line.trim().is_empty() && !is_progress(line)).map(without_source)
}

/// `[h264 @ 0x55d0] error` and `file:a.mp4: error` as `error`.
fn without_source(line: &str) -> String {
    let line = if line.starts_with('[') { line.split_once("] ").map_or(line, |(_, rest)| rest) } else { line };
    let line = if line.starts_with("file:") { line.rsplit_once(": ").map_or(line, |(_, rest)| rest) } else { line };
    lower_first(line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lose_their_source_and_progress_is_skipped() {
        let messages = "frame=3\nstream_0_0_q=-1.0\nprogress=continue\n[mov,mp4 @ 0x55d0] Moov atom not found\nlater\n";
        assert_eq!(said(messages).as_deref(), Some("moov atom not found"));
        assert_eq!(said("file:a: b.mp4: Invalid data found").as_deref(), Some("invalid data found"));
        assert_eq!(said("frame=3\nprogress=end\n"), None);
    }

    #[test]
    fn early_ends_are_noticed() {
        let line = "[mov,mp4,m4a,3gp,3g2,mj2 @ 0x56] stream 0, offset 0xac74a: partial file";
        assert_eq!(cut_off(line).as_deref(), Some("stream 0, offset 0xac74a: partial file"));
        assert_eq!(cut_off("[h264 @ 0x56] error while decoding MB 26 19"), None);
    }
}

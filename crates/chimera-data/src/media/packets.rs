//! The table of a video's packets, as `ffprobe` lists them without decoding any: how many frames there are, when each
//! is shown, and from which ones decoding can start. It reads the whole file once, which costs far less than decoding
//! it.

/// What is known of a video before it is decoded.
#[derive(Debug, Default)]
pub(super) struct Packets {
    /// The demuxer's name for the container.
    pub(super) container: String,
    /// Name of the codec; `None` where there is no video stream.
    pub(super) codec: Option<String>,
    /// Pixels of a coded frame.
    pub(super) pixels: u64,
    /// Seconds of one unit of time, as a fraction.
    pub(super) time_base: (i64, i64),
    /// Frames that are shown (an edit list may hide some).
    pub(super) count: u64,
    /// When each is shown, ascending; empty where a time is missing or occurs twice.
    pub(super) times: Vec<i64>,
    /// Times of the frames from which decoding can start, ascending.
    pub(super) keys: Vec<i64>,
}

/// The entries that [`Packets::parse`] understands, for `-show_entries`.
pub(super) const ENTRIES: &str = "format=format_name:stream=codec_name,width,height,time_base:packet=pts,flags";

/// Frames that are decoded from one starting point.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Where to seek to; `None` starts at the beginning.
    pub(super) key: Option<i64>,
    /// The times of the wanted frames, ascending.
    pub(super) wanted: Vec<i64>,
}

/// What starting a decoder costs, in decoded pixels: measured at 0.05 s and 400 million pixels a second on one core.
const START_PIXELS: u64 = 20_000_000;

impl Packets {
    /// Reads the output of `ffprobe -of compact`. Lines it does not know are skipped: newer versions print more.
    pub(super) fn parse(text: &str) -> Self {
        let mut packets = Self::default();
        let mut complete = true;
        for line in text.lines() {
            let mut fields = line.split('|');
            match fields.next() {
                Some("packet") => {
                    let (mut time, mut flags) = (None, "");
                    for (name, value) in fields.filter_map(|field| field.split_once('=')) {
                        match name {
                            "pts" => time = value.parse().ok(),
                            "flags" => flags = value,
                            _ => {}
                        }
                    }
                    packets.add(time, flags, &mut complete);
                }
                Some("stream") if packets.codec.is_none() => packets.describe(fields),
                Some("format") => {
                    let name = fields.find_map(|field| field.strip_prefix("format_name="));
                    packets.container = name.unwrap_or_default().to_owned();
                }
                _ => {}
            }
        }
        packets.times.sort_unstable();
        packets.keys.sort_unstable();
        if !complete || packets.times.windows(2).any(|pair| pair[0] == pair[1]) {
            packets.times.clear();
        }
        packets
    }

    fn add(&mut self, time: Option<i64>, flags: &str, complete: &mut bool) {
        if let Some(time) = time.filter(|_| flags.contains('K')) {
            self.keys.push(time);
        }
        if !flags.contains('D') {
            self.count += 1;
            *complete &= time.is_some();
            self.times.extend(time);
        }
    }

    fn describe<'a>(&mut self, fields: impl Iterator<Item = &'a str>) {
        let (mut width, mut height) = (0, 0);
        for (name, value) in fields.filter_map(|field| field.split_once('=')) {
            match name {
                "codec_name" => self.codec = Some(value.to_owned()),
                "width" => width = value.parse().unwrap_or(0),
                "height" => height = value.parse().unwrap_or(0),
                "time_base" => {
                    let parts = value.split_once('/').map(|(over, under)| (over.parse().ok(), under.parse().ok()));
                    if let Some((Some(over), Some(under))) = parts {
                        self.time_base = (over, under);
                    }
                }
                _ => {}
            }
        }
        self.pixels = u64::saturating_mul(width, height);
    }

    /// Whether this is text that a demuxer would draw as moving letters.
    pub(super) fn is_text_art(&self) -> bool {
        self.container == "tty" || matches!(self.codec.as_deref(), Some("ansi" | "bintext" | "xbin" | "idf"))
    }

    /// How to fetch these frames (ascending, distinct) by seeking, where that is possible, exact and at most half as
    /// dear as decoding everything.
    pub(super) fn stretches(&self, indices: &[u64]) -> Option<Vec<Stretch>> {
        // VP8 has packets that show nothing, so packets do not count its frames.
        if self.codec.as_deref() == Some("vp8")
            || self.times.is_empty()
            || self.time_base.0 <= 0
            || self.time_base.1 <= 0
        {
            return None;
        }
        let mut stretches: Vec<Stretch> = Vec::new();
        let (mut decoded, mut reached) = (0, 0);
        for index in indices {
            let position = usize::try_from(*index).ok()?;
            let time = *self.times.get(position)?;
            let key = self.keys[..self.keys.partition_point(|key| *key <= time)].last().copied();
            if let Some(last) = stretches.last_mut().filter(|last| last.key == key) {
                last.wanted.push(time);
            } else {
                stretches.push(Stretch { key, wanted: vec![time] });
                reached = key.map_or(0, |key| self.times.partition_point(|time| *time < key));
            }
            decoded += (position + 1).saturating_sub(reached) as u64;
            reached = position + 1;
        }
        let seeking = decoded.saturating_mul(self.pixels).saturating_add(START_PIXELS * stretches.len() as u64);
        let everything = self.count.saturating_mul(self.pixels).saturating_add(START_PIXELS);
        (seeking.saturating_mul(2) < everything).then_some(stretches)
    }

    /// A time in seconds for the command line, rounded up to microseconds so that a seek does not miss its key frame.
    pub(super) fn seconds(&self, time: i64) -> Option<String> {
        let product = i128::from(time) * i128::from(self.time_base.0) * 1_000_000;
        let under = i128::from(self.time_base.1);
        let micros = product.div_euclid(under) + i128::from(product.rem_euclid(under) != 0);
        // A negative time would be read as a distance from the start; the beginning serves as well.
        (micros > 0).then(|| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = "packet|pts=0|flags=K_\npacket|pts=1536|flags=__\npacket|pts=512|flags=__\n\
        packet|pts=1024|flags=_D\npacket|pts=2048|flags=K__|more=1\nprogram|stream|codec_name=no\n\
        stream|codec_name=h264|width=480|height=320|time_base=1/12800\nformat|format_name=mov,mp4\n";

    #[test]
    fn packets_are_counted_in_the_order_they_are_shown() {
        let packets = Packets::parse(LISTED);
        assert_eq!(packets.times, [0, 512, 1536, 2048]);
        assert_eq!((packets.count, packets.keys.as_slice()), (4, [0, 2048].as_slice()));
        assert_eq!((packets.codec.as_deref(), packets.pixels, packets.time_base), (Some("h264"), 153_600, (1, 12_800)));
        assert_eq!(packets.seconds(512).as_deref(), Some("0.040000"));
        // 1 / 12800 s = 78.125 microseconds
        assert_eq!(packets.seconds(1).as_deref(), Some("0.000079"));
        assert_eq!(packets.seconds(-1), None);
    }

    #[test]
    fn missing_or_equal_times_are_not_trusted() {
        assert!(Packets::parse("packet|pts=N/A|flags=K_\npacket|pts=1|flags=__").times.is_empty());
        let twice = Packets::parse("packet|pts=1|flags=K_\npacket|pts=1|flags=__");
        assert!(twice.times.is_empty() && twice.count == 2);
        assert!(Packets::parse("").codec.is_none());
    }

    #[test]
    fn long_videos_are_sought_in_and_short_ones_are_not() {
        let packets = |count: i64, codec: &str| Packets {
            codec: Some(codec.to_owned()),
            pixels: 1920 * 1080,
            time_base: (1, 25),
            count: count as u64,
            times: (0..count).collect(),
            keys: (0..count).step_by(50).collect(),
            ..Packets::default()
        };
        let long = packets(100_000, "h264");
        let expected = [
            Stretch { key: Some(0), wanted: vec![10, 20] },
            Stretch { key: Some(50), wanted: vec![50] },
            Stretch { key: Some(99_950), wanted: vec![99_999] },
        ];
        assert_eq!(long.stretches(&[10, 20, 50, 99_999]).unwrap(), expected);
        assert_eq!(long.stretches(&[100_000]), None);
        assert_eq!(packets(100, "h264").stretches(&[10, 20, 50, 99]), None);
        assert_eq!(packets(100_000, "vp8").stretches(&[10]), None);
    }
}

//! Another program, run as a child: its output is drained as it comes, its time is limited, and it is ended and waited
//! for whatever happens to us on the way, so that no process and no zombie stays behind.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

const PIECE: usize = 1 << 16;
/// So many bytes of messages are kept from the beginning and from the end; a broken file can make a decoder say
/// millions.
const KEPT: usize = 1 << 14;
/// Once a child has ended its messages are in the pipe already.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a child ended.
#[derive(Debug)]
pub(super) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// We had enough of its output.
    Stopped,
    /// Its time was up.
    TimedOut,
}

/// Runs a command without input, hands its output to `sink` piece by piece, and returns how it ended and what it wrote
/// to standard error.
///
/// # Errors
/// What the system said when the program could not be started or waited for.
pub(super) fn run(
    command: &mut Command,
    limit: Duration,
    mut sink: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<(End, String)> {
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Ending(command.spawn()?);
    // The readers are not joined: they end with the pipe, and a grandchild that keeps the pipe must not keep us.
    let output = pieces(child.0.stdout.take());
    let messages = pieces(child.0.stderr.take());
    let messages = gather(messages);
    let early = loop {
        match output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(piece) if sink(&piece).is_break() => break Some(End::Stopped),
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => break Some(End::TimedOut),
        }
    };
    let end = match early {
        Some(end) => end,
        None => child.wait_until(deadline)?.map_or(End::TimedOut, End::Exited),
    };
    drop(child);
    Ok((end, messages.recv_timeout(LAST_WORDS).unwrap_or_default()))
}

/// A child that is killed and waited for when it is dropped.
struct Ending(Child);

impl Ending {
    /// A child that has closed its output ends soon; the standard library cannot wait with a limit.
    fn wait_until(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        let mut pause = Duration::from_micros(200);
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // Both are refused when it has been waited for already; nothing is left to do then.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reads a pipe on a thread of its own. The channel is short, so a slow reader slows the child instead of filling
/// memory.
fn pieces(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel(4);
    if let Some(pipe) = pipe {
        thread::spawn(move || forward(pipe, &sender));
    }
    receiver
}

fn forward(mut pipe: impl Read, sender: &SyncSender<Vec<u8>>) {
    loop {
        let mut piece = vec![0; PIECE];
        match pipe.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => piece.truncate(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        if sender.send(piece).is_err() {
            return;
        }
    }
}

/// The beginning and the end of all messages, sent once their pipe is closed.
fn gather(messages: Receiver<Vec<u8>>) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for piece in messages {
            let room = (KEPT - first.len()).min(piece.len());
            first.extend_from_slice(&piece[..room]);
            last.extend_from_slice(&piece[room..]);
            last.drain(..last.len().saturating_sub(KEPT));
        }
        first.extend_from_slice(&last);
        let _ = sender.send(String::from_utf8_lossy(&first).into_owned());
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    /// Whether a process with this id exists, zombies included.
    fn exists(id: &str) -> bool {
        std::path::Path::new("/proc").join(id.trim()).exists()
    }

    #[test]
    fn output_and_messages_are_drained_together() {
        // More than a pipe holds, on both; a reader of one after the other would wait for ever.
        let script = "head -c 300000 /dev/zero >&2; head -c 500000 /dev/zero; echo last >&2; exit 3";
        let mut length = 0;
        let (end, messages) = run(&mut shell(script), Duration::from_secs(60), |piece| {
            length += piece.len();
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(matches!(end, End::Exited(status) if status.code() == Some(3)));
        assert_eq!(length, 500_000);
        assert!(messages.ends_with("last\n") && messages.len() == 2 * KEPT);
    }

    #[test]
    fn a_child_that_hangs_is_ended_and_leaves_no_zombie() {
        for script in ["echo $$; exec sleep 1000", "echo $$; exec >&- 2>&-; exec sleep 1000"] {
            let mut id = String::new();
            let started = Instant::now();
            let (end, _) = run(&mut shell(script), Duration::from_millis(300), |piece| {
                id.push_str(&String::from_utf8_lossy(piece));
                ControlFlow::Continue(())
            })
            .unwrap();
            assert!(matches!(end, End::TimedOut));
            assert!(!id.is_empty() && !exists(&id));
            assert!(started.elapsed() < Duration::from_secs(100));
        }
    }

    #[test]
    fn a_child_is_ended_when_enough_is_read_or_we_fail() {
        let mut id = String::new();
        let (end, _) = run(&mut shell("echo $$; exec yes"), Duration::from_secs(60), |piece| {
            id.push_str(String::from_utf8_lossy(piece).lines().next().unwrap_or_default());
            ControlFlow::Break(())
        })
        .unwrap();
        assert!(matches!(end, End::Stopped));
        assert!(!id.is_empty() && !exists(&id));
        let mut id = String::new();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(&mut shell("echo $$; exec sleep 1000"), Duration::from_secs(60), |piece| {
                id.push_str(&String::from_utf8_lossy(piece));
                std::panic::resume_unwind(Box::new("stop"));
            })
        }));
        assert!(caught.is_err());
        assert!(!id.is_empty() && !exists(&id));
    }

    #[test]
    fn a_missing_program_is_an_error_of_the_system() {
        let error = run(&mut Command::new("/no/such/program"), Duration::from_secs(1), |_| ControlFlow::Continue(()));
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}

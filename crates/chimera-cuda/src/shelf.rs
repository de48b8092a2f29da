//! Compiled kernels on disk: a file for each, named by a hash of all that decides what comes out of the compiler. A file that is
//! damaged is as good as none, and a folder that cannot be written costs a compile in the next run and nothing else.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What every file begins with; a later format has another number.
const MAGIC: &[u8; 16] = b"chimera kernel 1";

/// Bytes of a checksum.
const SUM: usize = 32;

/// What decides what comes out of the compiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'a> {
    pub(crate) source: &'a str,
    /// Options, with the architecture among them.
    pub(crate) options: &'a [String],
    pub(crate) compiler: (i32, i32),
}

impl Made<'_> {
    /// The name of its file.
    fn name(self) -> String {
        let Self { source, options, compiler } = self;
        let mut hash = blake3::Hasher::new();
        // Lengths come first, so that no two lists of words run into the same text.
        let mut word = |word: &[u8]| {
            hash.update(&(word.len() as u64).to_le_bytes());
            hash.update(word);
        };
        word(MAGIC);
        word(source.as_bytes());
        word(format!("NVRTC {}.{}", compiler.0, compiler.1).as_bytes());
        options.iter().for_each(|option| word(option.as_bytes()));
        format!("{}.kernel", hash.finalize().to_hex())
    }
}

/// The folder of compiled kernels, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shelf<'a>(pub(crate) Option<&'a Path>);

impl Shelf<'_> {
    /// Where a kernel lies.
    fn path(self, made: Made<'_>) -> Option<PathBuf> {
        self.0.map(|folder| folder.join(made.name()))
    }

    /// A compiled kernel, if it is there and whole.
    pub(crate) fn get(self, made: Made<'_>) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.path(made)?).ok()?;
        let (head, image) = bytes.split_at_checked(MAGIC.len() + SUM)?;
        let (magic, sum) = head.split_at(MAGIC.len());
        let is_whole = magic == MAGIC && !image.is_empty() && sum == blake3::hash(image).as_bytes();
        is_whole.then(|| bytes.split_off(MAGIC.len() + SUM))
    }

    /// Keeps a compiled kernel, in place of what was there. Others that read or write it at the same time see one or the other,
    /// whole. Says whether it is kept.
    pub(crate) fn put(self, made: Made<'_>, image: &[u8]) -> bool {
        self.path(made).is_some_and(|path| write(&path, image).is_ok())
    }
}

fn write(path: &Path, image: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".kernel-").tempfile_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(blake3::hash(image).as_bytes())?;
    file.write_all(image)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const NONE: &[String] = &[];

    fn made(source: &str) -> Made<'_> {
        Made { source, options: NONE, compiler: (12, 8) }
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }

    #[test]
    fn what_was_kept_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("not/yet/there");
        let shelf = Shelf(Some(&below));
        assert_eq!(shelf.get(made("a")), None);
        assert!(shelf.put(made("a"), b"image of a"));
        assert!(shelf.put(made("b"), &[0, 255, 0]));
        assert_eq!(shelf.get(made("a")).unwrap(), b"image of a");
        assert_eq!(shelf.get(made("b")).unwrap(), [0, 255, 0]);
        assert!(shelf.put(made("a"), b"another"));
        assert_eq!(shelf.get(made("a")).unwrap(), b"another");
        assert_eq!(files(&below).len(), 2);
        let none = Shelf(None);
        assert!(!none.put(made("a"), b"image"));
        assert_eq!(none.get(made("a")), None);
    }

    #[test]
    fn everything_that_decides_is_in_the_name() {
        let option = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let lists = [option(&[]), option(&["-DA=1"]), option(&["-DA=1", "-DB=2"]), option(&["-DA=1-DB=2"])];
        let mut names = vec![
            made("a").name(),
            made("ab").name(),
            Made { compiler: (12, 9), ..made("a") }.name(),
            Made { compiler: (1, 28), ..made("a") }.name(),
        ];
        names.extend(lists[1..].iter().map(|options| Made { options, ..made("a") }.name()));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(made("a").name(), Made { options: &lists[0], ..made("a") }.name());
    }

    #[test]
    fn what_is_damaged_is_not_there_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf(Some(folder.path()));
        assert!(shelf.put(made("a"), b"image of a"));
        let path = files(folder.path()).pop().unwrap();
        let whole = fs::read(&path).unwrap();
        // Cut short anywhere, up to nothing at all.
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(shelf.get(made("a")), None, "{length} bytes of {}", whole.len());
        }
        // A bit turned over anywhere.
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, bytes).unwrap();
            assert_eq!(shelf.get(made("a")), None, "byte {at}");
        }
        // Something behind it.
        fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
        assert_eq!(shelf.get(made("a")), None);
        assert!(shelf.put(made("a"), b"image of a"));
        assert_eq!(fs::read(&path).unwrap(), whole);
        assert_eq!(shelf.get(made("a")).unwrap(), b"image of a");
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "a file, no folder").unwrap();
        let shelf = Shelf(Some(&file));
        assert!(!shelf.put(made("a"), b"image"));
        assert_eq!(shelf.get(made("a")), None);
        // A folder where the file should be: nothing is left lying about, either.
        let shelf = Shelf(Some(folder.path()));
        fs::create_dir(folder.path().join(made("a").name())).unwrap();
        assert!(!shelf.put(made("a"), b"image"));
        assert_eq!(shelf.get(made("a")), None);
        assert_eq!(files(folder.path()).len(), 2);
    }

    #[test]
    fn writers_at_the_same_time_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf(Some(folder.path()));
        let image = |writer: u8| vec![writer; 100_000];
        assert!(shelf.put(made("a"), &image(0)));
        std::thread::scope(|scope| {
            for writer in 1..4 {
                scope.spawn(move || (0..50).for_each(|_| assert!(shelf.put(made("a"), &image(writer)))));
            }
            for _ in 0..200 {
                let found = shelf.get(made("a")).unwrap();
                assert_eq!(found, image(found[0]));
            }
        });
        assert_eq!(files(folder.path()).len(), 1);
    }
}

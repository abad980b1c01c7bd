//! The files of the interface: inside the binary, or in a folder while one works on it.

use std::path::Path;

use bytes::Bytes;

struct Embedded {
    name: &'static str,
    plain: &'static [u8],
    /// By gzip, where that is smaller.
    packed: Option<&'static [u8]>,
}

// In the order of their names. Made by `build.rs`.
static EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/ui.rs"));
static BOOK: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/book.rs"));

pub struct File {
    pub plain: Bytes,
    pub packed: Option<Bytes>,
}

/// A file by its name, such as `assets/index-Bx1.js`. With a folder, its files stand in
/// place of those in the binary.
pub async fn find(folder: Option<&Path>, name: &str) -> Option<File> {
    if let Some(folder) = folder {
        let plain = read(folder, name).await?;
        return Some(File { plain, packed: None });
    }
    among(EMBEDDED, name)
}

/// A page of the book by its name, such as `recipes/adr`; the first one has none.
pub fn page(name: &str) -> Option<File> {
    among(BOOK, name)
}

fn among(files: &'static [Embedded], name: &str) -> Option<File> {
    let place = files.binary_search_by(|file| file.name.cmp(name)).ok()?;
    let file = &files[place];
    let packed = file.packed.map(Bytes::from_static);
    Some(File { plain: Bytes::from_static(file.plain), packed })
}

/// Nothing outside of the folder: a name has no dots but within, and a link that leads
/// out is not followed.
async fn read(folder: &Path, name: &str) -> Option<Bytes> {
    if !name.split('/').all(is_plain) {
        return None;
    }
    let folder = tokio::fs::canonicalize(folder).await.ok()?;
    let path = tokio::fs::canonicalize(folder.join(name)).await.ok()?;
    if !path.starts_with(&folder) {
        return None;
    }
    tokio::fs::read(path).await.ok().map(Bytes::from)
}

fn is_plain(part: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !part.is_empty() && !part.starts_with('.') && part.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::{BOOK, EMBEDDED, find};

    #[tokio::test]
    async fn the_page_is_in_the_binary() {
        for files in [EMBEDDED, BOOK] {
            assert!(files.windows(2).all(|two| two[0].name < two[1].name));
        }
        assert!(find(None, "index.html").await.is_some());
        for name in ["", "index", "../index.html", "assets/", "/index.html"] {
            assert!(find(None, name).await.is_none(), "{name}");
        }
    }
}

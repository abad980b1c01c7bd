//! Puts the built interface and the book into the binary: tables of the files in `ui` and
//! of the pages made from `docs/`, each as it is and, where that is smaller, packed. The
//! interface is not built here: see `make web`.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

#[path = "build/book.rs"]
mod book;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=ui");
    println!("cargo:rerun-if-changed=../../docs");
    let folder = env::current_dir()?.join("ui");
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    let mut names = vec![];
    collect(&folder, "", &mut names)?;
    names.sort();
    let files = names.into_iter().map(|name| (folder.join(&name), name)).collect();
    embed(files, "ui", &out)?;

    let mut pages = vec![];
    for (place, (name, html)) in book::pages(Path::new("../../docs"))?.into_iter().enumerate() {
        let plain = out.join(format!("book-{place}.html"));
        fs::write(&plain, html)?;
        pages.push((plain, name));
    }
    embed(pages, "book", &out)
}

/// Writes a table of files, which come in the order of their names.
fn embed(files: Vec<(PathBuf, String)>, table_name: &str, out: &Path) -> io::Result<()> {
    let mut table = String::from("&[\n");
    for (place, (plain, name)) in files.iter().enumerate() {
        let packed = pack(plain, &out.join(format!("{table_name}-{place}.gz")))?;
        let packed =
            packed.map_or("None".to_owned(), |path| format!("Some(include_bytes!({path:?}))"));
        let _ = writeln!(
            table,
            "Embedded {{ name: {name:?}, plain: include_bytes!({plain:?}), packed: {packed} }},"
        );
    }
    table.push(']');
    fs::write(out.join(format!("{table_name}.rs")), table)
}

/// The names of all files, with slashes.
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

/// `None` where packing saves less than a tenth, as with fonts and pictures.
fn pack(plain: &Path, packed: &Path) -> io::Result<Option<PathBuf>> {
    let bytes = fs::read(plain)?;
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(&bytes)?;
    let small = encoder.finish()?;
    if small.len() * 10 > bytes.len() * 9 {
        return Ok(None);
    }
    fs::write(packed, small)?;
    Ok(Some(packed.to_owned()))
}

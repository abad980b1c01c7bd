//! Puts the built interface into the binary: a table of the files in `ui`, each as it
//! is and, where that is smaller, packed. Nothing is built here: see `make web`.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=ui");
    let folder = env::current_dir()?.join("ui");
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    let mut names = vec![];
    collect(&folder, "", &mut names)?;
    names.sort();
    let mut table = String::from("&[\n");
    for (place, name) in names.iter().enumerate() {
        let plain = folder.join(name);
        let packed = pack(&plain, &out.join(format!("{place}.gz")))?;
        let packed =
            packed.map_or("None".to_owned(), |path| format!("Some(include_bytes!({path:?}))"));
        let _ = writeln!(
            table,
            "Embedded {{ name: {name:?}, plain: include_bytes!({plain:?}), packed: {packed} }},"
        );
    }
    table.push(']');
    fs::write(out.join("ui.rs"), table)
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

//! The text of a PDF. A file may be made to break whoever reads it, so the program reads
//! it in a process of its own, which may take so much memory and time and no more.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use plenary_domain::limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The argument with which the program becomes such a process.
pub const READER: &str = "__pdf";

/// As many as are read at once; others wait.
static PLACES: Semaphore = Semaphore::const_new(2);

const UNREADABLE: &str = "no text could be read from this PDF; one of scanned pages holds none";

/// Reads a PDF, or says why that is not possible.
pub fn text(bytes: Vec<u8>) -> BoxFuture<'static, Result<String, String>> {
    async move {
        let _place = PLACES.acquire().await.map_err(|_| UNREADABLE)?;
        let time = Duration::from_millis(limits::PDF_MS);
        match timeout(time, elsewhere(bytes)).await {
            Ok(Ok(text)) if text.trim().is_empty() => Err(UNREADABLE.to_owned()),
            Ok(Ok(text)) => Ok(text),
            Ok(Err(_)) => Err(UNREADABLE.to_owned()),
            Err(_) => Err("reading this PDF took too long".to_owned()),
        }
    }
    .boxed()
}

async fn elsewhere(bytes: Vec<u8>) -> std::io::Result<String> {
    // The running file itself, also after it was replaced by a newer one.
    let running = PathBuf::from("/proc/self/exe");
    let program = if running.exists() { running } else { std::env::current_exe()? };
    let mut command = Command::new(program);
    command.arg(READER).env_clear().kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            stdin.write_all(&bytes).await?;
        }
        Ok::<_, std::io::Error>(())
    };
    let read = async {
        let mut text = Vec::new();
        if let Some(stdout) = stdout {
            stdout.take(limits::CONTEXT_BYTES as u64 + 1).read_to_end(&mut text).await?;
        }
        Ok::<_, std::io::Error>(text)
    };
    // One that has ended early does not take all.
    let (_, text) = tokio::join!(write, read);
    let text = String::from_utf8_lossy(&text?).into_owned();
    match child.wait().await?.success() || text.len() > limits::CONTEXT_BYTES {
        true => Ok(text),
        false => Err(std::io::Error::other("the reader has failed")),
    }
}

/// Such a process: a PDF comes in, its text goes out.
pub fn read() -> u8 {
    if restrain().is_none() {
        return 1;
    }
    let mut bytes = Vec::new();
    let most = limits::BODY_BYTES as u64;
    if std::io::stdin().lock().take(most).read_to_end(&mut bytes).is_err() {
        return 1;
    }
    // Deeply nested objects are read by recursion.
    let reader = std::thread::Builder::new().stack_size(limits::PDF_STACK_BYTES);
    let reader = reader.spawn(move || pdf_extract::extract_text_from_mem(&bytes).ok());
    let text = reader.ok().and_then(|reader| reader.join().ok().flatten());
    let Some(text) = text else { return 1 };
    let written = std::io::stdout().lock().write_all(tidy(&text).as_bytes());
    u8::from(written.is_err())
}

#[cfg(unix)]
fn restrain() -> Option<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(Resource::Cpu, most(limits::PDF_MS.div_ceil(1_000))).ok()?;
    // Not every system has this one; time alone holds there.
    let _ = setrlimit(Resource::As, most(limits::PDF_MEMORY_BYTES));
    Some(())
}

#[cfg(not(unix))]
fn restrain() -> Option<()> {
    Some(())
}

/// Without trailing space, and with one blank line where there were many.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut blank = true;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() && blank {
            continue;
        }
        blank = line.is_empty();
        tidied.push_str(line);
        tidied.push('\n');
    }
    tidied.replace('\0', "")
}

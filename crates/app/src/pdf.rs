//! The text of a PDF. A file may be made to break whoever reads it, so the program reads
//! it in a process of its own, which may take so much memory and time and no more.

use std::io::{ErrorKind, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use pdf_extract::{Document, PlainTextOutput, output_doc_page};
use plenary_domain::limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The argument with which the program becomes such a process.
pub const READER: &str = "__pdf";

/// As many as are read at once; others wait.
static PLACES: Semaphore = Semaphore::const_new(2);

/// How such a process ends that brings no text. One that is ended by its limits has no such
/// number, and the file is as good as damaged.
const DAMAGED: u8 = 1;
const LOCKED: u8 = 2;

/// Reads a PDF, or says why that is not possible.
pub fn text(bytes: Vec<u8>) -> BoxFuture<'static, Result<String, String>> {
    async move {
        let time = Duration::from_millis(limits::PDF_MS);
        let read = async {
            let _place = PLACES.acquire().await.map_err(std::io::Error::other)?;
            timeout(time, elsewhere(bytes)).await.map_err(std::io::Error::from)?
        };
        let problem = match read.await {
            Ok(Ok(text)) if text.trim().is_empty() => {
                "this PDF contains no text; if its pages are scans, attach them as images"
            }
            Ok(Ok(text)) => return Ok(text),
            Ok(Err(LOCKED)) => "this PDF is protected by a password; attach a copy without one",
            Ok(Err(_)) => "this PDF is damaged, or too complex to read",
            Err(error) if error.kind() == ErrorKind::TimedOut => "reading this PDF took too long",
            Err(_) => "this PDF could not be read here",
        };
        Err(problem.to_owned())
    }
    .boxed()
}

/// The text, or the number with which the process has ended.
async fn elsewhere(bytes: Vec<u8>) -> std::io::Result<Result<String, u8>> {
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
    // One that has more to say than is taken is cut off.
    if text.len() > limits::CONTEXT_BYTES {
        return Ok(Ok(text));
    }
    let ended = child.wait().await?;
    Ok(match ended.success() {
        true => Ok(text),
        false => Err(ended.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(DAMAGED)),
    })
}

/// Such a process: a PDF comes in, its text goes out.
pub fn read() -> u8 {
    if restrain().is_none() {
        return DAMAGED;
    }
    let mut bytes = Vec::new();
    let most = limits::BODY_BYTES as u64;
    if std::io::stdin().lock().take(most).read_to_end(&mut bytes).is_err() {
        return DAMAGED;
    }
    // Deeply nested objects are read by recursion.
    let reader = std::thread::Builder::new().stack_size(limits::PDF_STACK_BYTES);
    let reader = reader.spawn(move || pages(&bytes));
    let Some(Ok(read)) = reader.ok().map(std::thread::JoinHandle::join) else { return DAMAGED };
    let written = read.map(|text| std::io::stdout().lock().write_all(tidy(&text).as_bytes()));
    match written {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => DAMAGED,
        Err(problem) => problem,
    }
}

/// The pages one after the other, up to what a file may have: a manual of thousands of pages
/// is refused soon. One that cannot be read is told of in its place: the library panics at
/// some, and the others are none the worse for it.
fn pages(bytes: &[u8]) -> Result<String, u8> {
    let locked = |error: pdf_extract::Error| match error {
        pdf_extract::Error::Decryption(_) | pdf_extract::Error::InvalidPassword => LOCKED,
        _ => DAMAGED,
    };
    let mut document = Document::load_mem(bytes).map_err(locked)?;
    if document.is_encrypted() {
        document.decrypt("").map_err(locked)?;
    }
    let (mut text, mut readable) = (String::new(), 0);
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    for number in &numbers {
        if text.len() > limits::CONTEXT_BYTES {
            break;
        }
        let mut page = String::new();
        let read = AssertUnwindSafe(|| {
            output_doc_page(&document, &mut PlainTextOutput::new(&mut page), *number)
        });
        match catch_unwind(read) {
            Ok(Ok(())) => {
                readable += 1;
                text.push_str(&tidy(&page));
            }
            Ok(Err(_)) | Err(_) => text.push_str(&format!("[page {number} could not be read]")),
        }
        text.push_str("\n\n");
    }
    if readable == 0 && !numbers.is_empty() { Err(DAMAGED) } else { Ok(text) }
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

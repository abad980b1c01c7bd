//! Files that belong to a question.

use std::path::Path;
use std::process::Command;

use plenary_domain::limits;
use serde_json::{Value, json};

/// Reads a file as text, or says why it cannot be attached.
pub fn read(path: &Path) -> Result<Value, String> {
    let shown = path.display();
    let bytes = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?.len();
    let is_pdf = path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("pdf"));
    let most = limits::CONTEXT_FILE_BYTES as u64;
    if bytes > most && !is_pdf {
        return Err(format!("{shown} has {bytes} bytes; a file may have {most}"));
    }
    let text = if is_pdf { pdf(path)? } else { plain(path)? };
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    Ok(json!({ "name": name, "text": text }))
}

fn plain(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let bytes = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| {
        format!("{shown} is not a text file; text, Markdown, code and PDF can be attached")
    })
}

/// PDF is read by the program that most systems have for it.
fn pdf(path: &Path) -> Result<String, String> {
    let shown = path.display();
    let missing =
        || format!("{shown}: reading PDF needs the program `pdftotext` (package poppler-utils)");
    let program = plenary_providers::find_program("pdftotext").ok_or_else(missing)?;
    let output = Command::new(program).arg("-layout").arg(path).arg("-").output();
    let output = output.map_err(|_| missing())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || text.trim().is_empty() {
        return Err(format!("{shown}: no text could be read from this PDF"));
    }
    Ok(text)
}

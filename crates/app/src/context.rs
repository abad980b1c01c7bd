//! Files that belong to a question. What one is, the server says.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plenary_domain::limits;
use serde_json::{Value, json};

/// Reads a file, or says why it cannot be attached.
pub fn read(path: &Path) -> Result<Value, String> {
    let shown = path.display();
    let bytes = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?.len();
    // What is no text is larger than what is taken of it.
    let most = limits::FILE_BYTES as u64;
    if bytes > most {
        return Err(format!("{shown} is too large: {bytes} bytes; at most {most} are allowed"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let is_known = bytes.starts_with(b"%PDF-") || plenary_domain::MediaType::of(&bytes).is_some();
    if is_known {
        return Ok(json!({ "name": name, "data": STANDARD.encode(bytes) }));
    }
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| {
        format!(
            "{shown} is neither UTF-8 text nor a PDF or image; text, Markdown, code, PDF and \
             images can be attached"
        )
    })?;
    let most = limits::CONTEXT_FILE_BYTES;
    if text.len() > most {
        return Err(format!(
            "{shown} is too large: {} bytes; at most {most} are allowed for text",
            text.len()
        ));
    }
    Ok(json!({ "name": name, "text": text }))
}

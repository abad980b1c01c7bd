//! Files that belong to a question. What one is, its first bytes say: text, a PDF, whose
//! text is taken, or an image, which goes to models that can look at it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use futures::future::BoxFuture;
use plenary_domain::{ContextFile, Image, MediaType, Wrong, limits};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::Clerk;

/// Brings the text of a PDF, or says why there is none. The file may be a trap.
pub type ReadPdf = fn(Vec<u8>) -> BoxFuture<'static, Result<String, String>>;

/// A file: either its text, or its bytes.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContext {
    pub name: String,
    pub text: Option<String>,
    /// The file in base64: text, a PDF or an image (PNG, JPEG, GIF, WebP).
    pub data: Option<String>,
}

/// What files come to.
#[derive(Default, Debug, PartialEq)]
pub struct Files {
    pub texts: Vec<ContextFile>,
    pub images: Vec<Arc<Image>>,
}

/// Reads files, and says of each what is wrong with it.
pub(crate) async fn read(
    clerk: &Clerk,
    wrong: &mut Vec<Wrong>,
    files: &mut Files,
    new: Vec<NewContext>,
) {
    for (place, NewContext { name, text, data }) in new.into_iter().enumerate() {
        let (field, problem) = match (text, data) {
            (Some(text), None) => {
                files.texts.push(ContextFile { name, text });
                continue;
            }
            (None, Some(data)) => match decoded(&data) {
                Some(bytes) => match take(clerk, files, name, bytes).await {
                    Ok(()) => continue,
                    Err(problem) => ("data", problem),
                },
                None => ("data", "must be a file in base64".to_owned()),
            },
            (Some(_), Some(_)) => ("data", "give either the text or the data, not both".to_owned()),
            (None, None) => ("text", "give the file's text, or its bytes as `data`".to_owned()),
        };
        wrong.push(Wrong::new(format!("context[{place}].{field}"), problem));
        // One more than there may be is enough for the rules to refuse them.
        if place > limits::CONTEXT_FILES {
            return;
        }
    }
}

/// The bytes of a file in base64, with or without its padding.
pub fn decoded(data: &str) -> Option<Vec<u8>> {
    let bare = data.trim().trim_end_matches('=');
    STANDARD_NO_PAD.decode(bare).ok()
}

/// Adds a file, by what its bytes are.
pub async fn take(
    clerk: &Clerk,
    files: &mut Files,
    name: String,
    bytes: Vec<u8>,
) -> Result<(), String> {
    if let Some(media_type) = MediaType::of(&bytes) {
        let data = STANDARD.encode(&bytes);
        files.images.push(Arc::new(Image { name, media_type, data }));
        return Ok(());
    }
    if bytes.starts_with(b"%PDF-") {
        let read = clerk.pdf.ok_or("PDFs cannot be read here")?;
        let text = read(bytes).await?;
        files.texts.push(ContextFile { name, text });
        return Ok(());
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        "is neither text nor a PDF nor an image (PNG, JPEG, GIF or WebP)".to_owned()
    })?;
    files.texts.push(ContextFile { name, text });
    Ok(())
}

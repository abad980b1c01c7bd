//! Images that belong to a question. They are kept as they are sent, in base64, once, in
//! the event that brings them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::reject::{Wrong, line, text};

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    pub name: String,
    pub media_type: MediaType,
    /// In base64, without line breaks.
    pub data: String,
}

/// What all wires take that take images.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum MediaType {
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/webp")]
    Webp,
}

impl MediaType {
    /// What the first bytes of a file say that it is, whatever its name says.
    pub fn of(bytes: &[u8]) -> Option<MediaType> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Some(MediaType::Png),
            [0xff, 0xd8, 0xff, ..] => Some(MediaType::Jpeg),
            [b'G', b'I', b'F', b'8', ..] => Some(MediaType::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
                Some(MediaType::Webp)
            }
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            MediaType::Png => "image/png",
            MediaType::Jpeg => "image/jpeg",
            MediaType::Gif => "image/gif",
            MediaType::Webp => "image/webp",
        }
    }
}

impl Image {
    /// Bytes of the file.
    pub fn bytes(&self) -> usize {
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=').count();
        (self.data.len() / 4 * 3).saturating_sub(padding)
    }
}

/// Without the data, which nobody can read.
impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} bytes)", self.name, self.media_type.name(), self.bytes())
    }
}

pub(crate) fn check(wrong: &mut Vec<Wrong>, images: &[Arc<Image>]) {
    if images.len() > limits::IMAGES {
        let most = limits::IMAGES;
        wrong.push(Wrong::new("images", format!("at most {most} images can be attached")));
    }
    for (place, image) in images.iter().enumerate().take(limits::WRONG_FIELDS) {
        let field = |name: &str| format!("images[{place}].{name}");
        text(wrong, &field("name"), &image.name, limits::MODEL_NAME_BYTES);
        line(wrong, &field("name"), &image.name);
        if image.bytes() > limits::IMAGE_BYTES {
            let (bytes, most) = (image.bytes(), limits::IMAGE_BYTES);
            let problem =
                format!("the image is too large: {bytes} bytes; at most {most} are allowed");
            wrong.push(Wrong::new(field("data"), problem));
        }
        if !is_base64(&image.data) {
            wrong.push(Wrong::new(field("data"), "must be an image in base64"));
        }
    }
    let bytes: usize = images.iter().map(|image| image.bytes()).sum();
    if bytes > limits::IMAGES_BYTES {
        let most = limits::IMAGES_BYTES;
        let problem =
            format!("the images are too large: {bytes} bytes together; at most {most} are allowed");
        wrong.push(Wrong::new("images", problem));
    }
}

fn is_base64(data: &str) -> bool {
    let bare = data.trim_end_matches('=');
    let is_mark = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !bare.is_empty()
        && data.len() - bare.len() <= 2
        && data.len().is_multiple_of(4)
        && bare.bytes().all(is_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_data(data: &str, is_sound: bool) {
        let image =
            Image { name: "a.png".into(), media_type: MediaType::Png, data: data.to_owned() };
        let mut wrong = vec![];
        check(&mut wrong, &[Arc::new(image)]);
        assert_eq!(wrong.is_empty(), is_sound, "{data}: {wrong:?}");
    }

    #[test]
    fn only_base64_is_kept() {
        for data in ["iVBORw0KGgo=", "AAAA", "AA=="] {
            check_data(data, true);
        }
        for data in ["", "====", "AAA", "AA\n=", "A===", "data:image/png;base64,AAAA", "A\"AA"] {
            check_data(data, false);
        }
    }

    #[test]
    fn a_file_is_what_its_first_bytes_say() {
        assert_eq!(MediaType::of(b"\x89PNG\r\n\x1a\n"), Some(MediaType::Png));
        assert_eq!(MediaType::of(b"RIFF\x10\0\0\0WEBPVP8 "), Some(MediaType::Webp));
        assert_eq!(MediaType::of(b"RIFF\x10\0\0\0WAVEfmt "), None);
        assert_eq!(MediaType::of(b"%PDF-1.7"), None);
    }
}

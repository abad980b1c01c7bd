//! What a conversation is made of: messages, and parts of messages that are no text.

use plenary_clerk::Clerk;
use plenary_clerk::attachments::{self, Files};
use plenary_clerk::conversations::Turn;
use plenary_domain::Speaker;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A text, or a list of parts.
#[derive(Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be a string, or a list of parts with their types")]
#[schema(as = OpenAiContent)]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a message. Images and files are sent along, as data URLs: nothing is fetched.
#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiPart)]
pub struct Part {
    /// `text`, `image_url`, `file`, `refusal`; in responses `input_text`, `output_text`,
    /// `input_image`, `input_file`.
    r#type: String,
    text: Option<String>,
    refusal: Option<String>,
    /// A data URL, or an object with it as `url`.
    image_url: Option<Value>,
    file: Option<File>,
    file_data: Option<String>,
    filename: Option<String>,
    file_id: Option<String>,
    file_url: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = OpenAiFile)]
pub struct File {
    file_data: Option<String>,
    filename: Option<String>,
    file_id: Option<String>,
}

/// Wrong fields, with what is wrong.
pub type Wrong = Vec<(String, String)>;

const FETCHED: &str = "links are not fetched: send it as a data URL (data:…;base64,…)";

/// What the messages come to: instructions, and what was said.
#[derive(Default)]
pub struct Heard {
    pub instructions: Vec<String>,
    pub turns: Vec<Turn>,
    images: usize,
}

impl Heard {
    /// Takes a message; `field` is where it stands.
    pub async fn take(
        &mut self,
        clerk: &Clerk,
        wrong: &mut Wrong,
        field: &str,
        (role, content): (&str, Option<Content>),
    ) {
        let speaker = match role {
            "system" | "developer" => None,
            "assistant" => Some(Speaker::Assistant),
            // What a tool brought is told to a board like anything else.
            "user" | "tool" | "function" => Some(Speaker::User),
            other => {
                let problem = format!(
                    "{other:?} is not a role; use system, developer, user, assistant or tool"
                );
                return wrong.push((format!("{field}.role"), problem));
            }
        };
        let (mut text, mut files) = (String::new(), Files::default());
        match content {
            None => {}
            Some(Content::Text(all)) => text = all,
            Some(Content::Parts(parts)) => {
                for (place, part) in parts.into_iter().enumerate() {
                    let field = format!("{field}.content[{place}]");
                    match self.part(clerk, &mut files, part).await {
                        Ok(Some(more)) => {
                            text.push_str(if text.is_empty() { "" } else { "\n" });
                            text.push_str(&more);
                        }
                        Ok(None) => {}
                        Err((name, problem)) => wrong.push((format!("{field}.{name}"), problem)),
                    }
                }
            }
        }
        match speaker {
            None if text.trim().is_empty() => {}
            None => self.instructions.push(text),
            // A call of a tool has no words.
            Some(Speaker::Assistant) if text.trim().is_empty() => {}
            Some(speaker) => self.say(Turn { speaker, text, files }),
        }
    }

    /// Whether it ends with a question.
    pub fn check(&self, wrong: &mut Wrong, field: &str) {
        let problem = match self.turns.last() {
            None => "there is no user message",
            Some(last) if last.speaker == Speaker::Assistant => {
                "the last message must be from the user"
            }
            Some(last) if last.text.trim().is_empty() && last.files == Files::default() => {
                "the last message is empty"
            }
            Some(_) => return,
        };
        wrong.push((field.to_owned(), problem.to_owned()));
    }

    pub fn instructions(&self) -> Option<String> {
        let all = self.instructions.join("\n\n");
        (!all.trim().is_empty()).then_some(all)
    }

    /// Who speaks twice in a row has said it at once.
    fn say(&mut self, turn: Turn) {
        match self.turns.last_mut().filter(|last| last.speaker == turn.speaker) {
            Some(last) => {
                last.text.push_str("\n\n");
                last.text.push_str(&turn.text);
                last.files.texts.extend(turn.files.texts);
                last.files.images.extend(turn.files.images);
            }
            None => self.turns.push(turn),
        }
    }

    async fn part(
        &mut self,
        clerk: &Clerk,
        files: &mut Files,
        part: Part,
    ) -> Result<Option<String>, (&'static str, String)> {
        match part.r#type.as_str() {
            "text" | "input_text" | "output_text" => match part.text {
                Some(text) => Ok(Some(text)),
                None => Err(("text", "is missing".to_owned())),
            },
            "refusal" => Ok(part.refusal),
            "image_url" | "input_image" => {
                let url = match &part.image_url {
                    Some(Value::String(url)) => Some(url.as_str()),
                    Some(other) => other["url"].as_str(),
                    None => None,
                };
                let url = url.ok_or_else(|| ("image_url", FETCHED.to_owned()))?;
                self.images += 1;
                let name = format!("image {}", self.images);
                attach(clerk, files, name, url).await.map_err(|why| ("image_url", why))?;
                Ok(None)
            }
            "file" | "input_file" => {
                let (data, name) = match part.file {
                    Some(file) if file.file_id.is_none() => (file.file_data, file.filename),
                    Some(_) => (None, None),
                    None => (part.file_data, part.filename),
                };
                let data = data.filter(|_| part.file_id.is_none() && part.file_url.is_none());
                let data = data.ok_or_else(|| ("file", FETCHED.to_owned()))?;
                let name = name.unwrap_or_else(|| "file".to_owned());
                attach(clerk, files, name, &data).await.map_err(|why| ("file", why))?;
                Ok(None)
            }
            other => Err(("type", format!("boards do not take parts of type {other:?}"))),
        }
    }
}

/// A file in a data URL, or in bare base64.
async fn attach(clerk: &Clerk, files: &mut Files, name: String, url: &str) -> Result<(), String> {
    let data = match url.strip_prefix("data:") {
        Some(rest) => match rest.split_once(";base64,") {
            Some((_, data)) => data,
            None => return Err("a data URL must be in base64 (data:…;base64,…)".to_owned()),
        },
        None if url.contains("://") => return Err(FETCHED.to_owned()),
        None => url,
    };
    let bytes = attachments::decoded(data).ok_or("is not base64")?;
    attachments::take(clerk, files, name, bytes).await
}

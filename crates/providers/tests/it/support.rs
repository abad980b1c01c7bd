//! Asking a scripted server, and what came of it in one value.

use std::time::Duration;

use futures::StreamExt as _;
use plenary_domain::{Ask, FailureKind, Message, ModelName, Patience, Shape, Speaker, Usage};
use plenary_engine::ports::{Ending, ModelError, Models, Piece};
use plenary_providers::{Kind, ProviderConfig, Providers, Secret};
use plenary_scripted::{Reply, Script, Scripted};

pub const KEY: &str = "key-4711-very-secret";
pub const WIRES: [Kind; 4] = [Kind::Ollama, Kind::OpenAi, Kind::Anthropic, Kind::Gemini];

/// A provider named after its kind, with the key that no message may show.
pub fn config(kind: Kind, url: &str) -> ProviderConfig {
    let base = match kind {
        Kind::OpenAi => format!("{url}/v1"),
        Kind::Ollama | Kind::Anthropic | Kind::Gemini | Kind::Command | Kind::Local => {
            url.to_owned()
        }
    };
    let variable = format!("{}_API_KEY", kind.word().to_uppercase());
    ProviderConfig::new(kind.word(), kind).at(&base).with_key(Secret::new(KEY), &variable)
}

pub fn ask(provider: &str, model: &str) -> Ask {
    Ask {
        model: ModelName::new(provider, model),
        system: "You are an advisor.".to_owned(),
        messages: vec![Message::new(Speaker::User, "Shall we?")],
        shape: Shape::Free,
        patience: Patience::default(),
        temperature: None,
        workspace: None,
    }
}

/// All that a stream brought.
#[derive(Debug, PartialEq)]
pub struct Heard {
    pub text: String,
    pub reasoning: String,
    pub usage: Usage,
    /// It ended at a limit.
    pub cut: bool,
    pub end: Result<(), ModelError>,
}

impl Heard {
    pub fn kind(&self) -> Option<(&'static str, FailureKind)> {
        match &self.end {
            Ok(()) => None,
            Err(ModelError::Retry { kind, .. }) => Some(("retry", *kind)),
            Err(ModelError::Final { kind, .. }) => Some(("final", *kind)),
        }
    }

    pub fn message(&self) -> String {
        self.end.as_ref().map_or_else(ToString::to_string, |()| String::new())
    }

    pub fn after(&self) -> Option<Duration> {
        match &self.end {
            Err(ModelError::Retry { after, .. }) => *after,
            Err(ModelError::Final { .. }) | Ok(()) => None,
        }
    }
}

pub async fn hear(providers: &Providers, ask: Ask) -> Heard {
    let pieces: Vec<_> = providers.ask(ask, "request-1".to_owned()).collect().await;
    sum(pieces)
}

pub fn sum(pieces: Vec<Result<Piece, ModelError>>) -> Heard {
    let mut heard = Heard {
        text: String::new(),
        reasoning: String::new(),
        usage: Usage::default(),
        cut: false,
        end: Ok(()),
    };
    let last = pieces.len().checked_sub(1).expect("a stream says how it ended");
    for (index, piece) in pieces.into_iter().enumerate() {
        match piece {
            Ok(Piece::Text(text)) => heard.text += &text,
            Ok(Piece::Reasoning(text)) => heard.reasoning += &text,
            Ok(Piece::Usage(usage)) => heard.usage = usage,
            Ok(Piece::Waiting { .. } | Piece::Retrying { .. } | Piece::Busy) => {}
            Ok(Piece::End(ending)) => {
                assert_eq!(index, last, "nothing follows the end");
                heard.cut = ending == Ending::Cut;
                return heard;
            }
            Err(error) => {
                assert_eq!(index, last, "nothing follows an error");
                heard.end = Err(error);
                return heard;
            }
        }
    }
    panic!("the stream ended without an end: {heard:?}");
}

/// A server with one reply for all, and a provider of this kind at it.
pub async fn serve(kind: Kind, reply: Reply) -> (Scripted, Providers) {
    serve_script(kind, Script::new(reply)).await
}

pub async fn serve_script(kind: Kind, script: Script) -> (Scripted, Providers) {
    let server = Scripted::start(script).await.unwrap();
    let providers = Providers::new(vec![config(kind, &server.url())]);
    (server, providers)
}

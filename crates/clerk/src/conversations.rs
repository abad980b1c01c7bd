//! A conversation that somebody holds with a board as if it were a model. It goes on with
//! the board that it began with, as long as that stands where the conversation ends;
//! otherwise a new board is told what was said before.

use plenary_domain::board::Board;
use plenary_domain::boardroom::{Brief, Command, State};
use plenary_domain::{ContextFile, ModelName, Reject, SessionId, Speaker, Usage, limits, room};
use plenary_engine::ports::Idempotency;
use plenary_engine::{By, EngineError, Snapshot};
use ring::digest::{SHA256, digest};

use crate::attachments::{Files, NewContext};
use crate::boardrooms::{self, KIND, NewAdvisor, NewBoardroom, NewFollowUp, NewQuorum, board};
use crate::budgets::NewBudget;
use crate::models::{self, Names};
use crate::{Clerk, ClerkError, Result, boards};

/// Boards are models of a provider of this name.
pub const PROVIDER: &str = "plenary";
/// What was said before, as a file.
const BEFORE: &str = "conversation so far";
const MESSAGE: &str = "message";

/// What somebody may ask as a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Offer {
    Board { id: String, name: String },
    Model(ModelName),
}

impl Offer {
    pub fn id(&self) -> String {
        match self {
            Offer::Board { id, .. } => format!("{PROVIDER}/{id}"),
            Offer::Model(model) => model.0.clone(),
        }
    }
}

pub struct Conversation {
    /// The board, or the model.
    pub model: String,
    /// In their order; the last one is the question.
    pub turns: Vec<Turn>,
    pub instructions: Option<String>,
    pub schema: Option<serde_json::Value>,
    pub answer_tokens: Option<u32>,
    /// The board that it goes on with, where the caller says so.
    pub session: Option<SessionId>,
    pub settings: Settings,
}

pub struct Turn {
    pub speaker: Speaker,
    pub text: String,
    pub files: Files,
}

/// What somebody said.
pub type Words = (Speaker, String);

impl Conversation {
    pub fn words(&self) -> Vec<Words> {
        self.turns.iter().map(|turn| (turn.speaker, turn.text.clone())).collect()
    }
}

/// What a board may be told beside the question. It counts when a board is convened.
#[derive(Default)]
pub struct Settings {
    pub budget: Option<NewBudget>,
    pub models: Option<Vec<String>>,
    pub synthesizer: Option<String>,
    pub quorum: Option<NewQuorum>,
}

/// The round that answers a question.
pub struct Taken {
    pub snapshot: Snapshot,
    pub round: u32,
    /// Whether this request has set it in motion.
    pub began: bool,
    /// What the board had spent before it.
    pub before: Usage,
}

/// All that can be asked: boards first.
pub async fn offers(clerk: &Clerk) -> Result<Vec<Offer>> {
    let boards = boards::all(clerk).await?;
    let models = models::all(clerk).await.into_iter().map(Offer::Model);
    Ok(boards.iter().map(|board| of(board)).chain(models).collect())
}

fn of(board: &Board) -> Offer {
    let title = if board.title.is_empty() { &board.name } else { &board.title };
    Offer::Board { id: board.name.clone(), name: title.clone() }
}

/// The one of this name, or what is wrong with the name.
pub async fn offer(clerk: &Clerk, written: &str) -> Result<Result<Offer, String>> {
    let board = written.strip_prefix(PROVIDER).and_then(|rest| rest.strip_prefix('/'));
    let Some(id) = board else {
        return Ok(Names::new(clerk).find(written).await.map(Offer::Model));
    };
    let boards = boards::all(clerk).await?;
    let found = boards.iter().find(|board| board.name == id);
    Ok(found.map(|board| of(board)).ok_or_else(|| {
        let all: Vec<String> =
            boards.iter().map(|board| format!("{PROVIDER}/{}", board.name)).collect();
        format!("there is no board {written}; available: {}", all.join(", "))
    }))
}

/// Asks the board that is meant, or the model.
pub async fn ask(clerk: &Clerk, by: By, conversation: Conversation) -> Result<Taken> {
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return taken(earlier, false);
    }
    if let Some(id) = conversation.session {
        clerk.row(id, KIND).await?;
        return go_on(clerk, by, id, conversation).await.map_err(|(error, _)| error);
    }
    let words = conversation.words();
    let known = match words.split_last() {
        Some((_, before)) if !before.is_empty() => {
            known(clerk, &by, &key(&conversation.model, before)).await?
        }
        Some(_) | None => None,
    };
    let conversation = match known {
        None => conversation,
        Some(id) => match go_on(clerk, by.clone(), id, conversation).await {
            Ok(taken) => return Ok(taken),
            // Somebody else has gone on with it meanwhile.
            Err((ClerkError::Refused(Reject::NotNow { .. }), Some(conversation))) => *conversation,
            Err((error, _)) => return Err(error),
        },
    };
    convene(clerk, by, conversation).await
}

/// Notes that the conversation has come to this answer, so that it can go on.
pub async fn answered(
    clerk: &Clerk,
    actor: &str,
    (model, words): (&str, &[Words]),
    id: SessionId,
) -> Result<()> {
    let key = key(model, words);
    let by = By { actor: actor.to_owned(), idempotency: Some(lasting(actor, &key)) };
    boardrooms::submit(clerk, id, by, Command::Thread { key }).await.map(drop)
}

/// What a conversation is known by: the words of all, whatever the space between them.
/// Instructions are left out, because clients put the time of day into them.
fn key(model: &str, words: &[Words]) -> String {
    let mut text = format!("{model}\n");
    for (speaker, said) in words {
        let words: Vec<&str> = said.split_whitespace().collect();
        let who = match speaker {
            Speaker::User => "user",
            Speaker::Assistant => "assistant",
        };
        text.push_str(&format!("{who} {}\n", words.join(" ")));
    }
    let digest = digest(&SHA256, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The log remembers which command came under a key, and so which session it was about.
fn lasting(principal: &str, key: &str) -> Idempotency {
    Idempotency {
        principal: principal.to_owned(),
        key: format!("thread/{key}"),
        request_hash: "thread".to_owned(),
        lasting: true,
    }
}

/// The board that stands where this conversation ends.
async fn known(clerk: &Clerk, by: &By, key: &str) -> Result<Option<SessionId>> {
    let thread = By { actor: by.actor.clone(), idempotency: Some(lasting(&by.actor, key)) };
    let snapshot = match clerk.engine.repeated(&thread).await {
        Ok(found) => found,
        // It was removed.
        Err(EngineError::NotFound(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let stands = |snapshot: &Snapshot| {
        snapshot.room.boardroom().is_some_and(|state| state.goes_on_from(key))
    };
    Ok(snapshot.filter(stands).map(|snapshot| snapshot.id))
}

type NotTaken = (ClerkError, Option<Box<Conversation>>);

async fn go_on(
    clerk: &Clerk,
    by: By,
    id: SessionId,
    mut conversation: Conversation,
) -> Result<Taken, NotTaken> {
    let before = clerk.engine.get(id).await.map_err(|error| (error.into(), None))?;
    let state = board(&before).map_err(|error| (error, None))?;
    let (before, seats) = (state.ledger.total(), state.advisors.iter().map(|one| one.seat.id.0));
    let sole = state.brief(1).sole;
    let seats = seats.collect();
    let Some(last) = conversation.turns.pop() else {
        return Err((ClerkError::wrong("messages", "there is no question"), None));
    };
    let question = Question::of(&last);
    let new = NewFollowUp {
        prompt: question.prompt,
        // All of them: a message that begins with an @ is no wish to ask somebody alone.
        advisors: Some(seats),
        context: None,
        brief: Brief {
            files: question.files,
            images: last.files.images.clone(),
            ..brief(&conversation, sole)
        },
    };
    match boardrooms::follow_up(clerk, id, by, new).await {
        Ok(snapshot) => Ok(Taken { before, ..taken(snapshot, true).map_err(|e| (e, None))? }),
        Err(error) => {
            conversation.turns.push(last);
            Err((error, Some(Box::new(conversation))))
        }
    }
}

async fn convene(clerk: &Clerk, by: By, mut conversation: Conversation) -> Result<Taken> {
    let offer = offer(clerk, &conversation.model).await?;
    let offer = offer.map_err(|problem| ClerkError::wrong("model", problem))?;
    let Some(last) = conversation.turns.pop() else {
        return Err(ClerkError::wrong("messages", "there is no question"));
    };
    let mut question = Question::of(&last);
    let mut images: Vec<_> = vec![];
    for turn in &mut conversation.turns {
        images.append(&mut turn.files.images);
        question.files.append(&mut turn.files.texts);
    }
    if !conversation.turns.is_empty() {
        let text = transcript(&conversation.turns);
        question.files.insert(0, ContextFile { name: BEFORE.into(), text });
    }
    images.extend(last.files.images);
    let sole = matches!(offer, Offer::Model(_));
    let brief = Brief { images, ..brief(&conversation, sole) };
    let Settings { budget, models, synthesizer, quorum } = conversation.settings;
    let (board, advisors) = match offer {
        Offer::Board { id, .. } => (Some(id), None),
        Offer::Model(model) => (None, Some(vec![only(model)])),
    };
    let context = question.files.into_iter().map(|file| NewContext {
        name: file.name,
        text: Some(file.text),
        data: None,
    });
    let new = NewBoardroom {
        prompt: question.prompt,
        board,
        advisors,
        models: models.filter(|_| !sole),
        synthesizer: synthesizer.filter(|_| !sole),
        quorum: quorum.filter(|_| !sole),
        context: Some(context.collect()),
        budget,
        brief,
        ..NewBoardroom::default()
    };
    taken(boardrooms::convene(clerk, None, by, new).await?, true)
}

fn taken(snapshot: Snapshot, began: bool) -> Result<Taken> {
    let round = board(&snapshot)?.round();
    Ok(Taken { snapshot, round, began, before: Usage::default() })
}

fn brief(conversation: &Conversation, sole: bool) -> Brief {
    Brief {
        instructions: conversation.instructions.clone(),
        schema: conversation.schema.clone(),
        answer_tokens: conversation.answer_tokens,
        sole,
        ..Brief::default()
    }
}

fn only(model: ModelName) -> NewAdvisor {
    NewAdvisor { role: "generalist".into(), model: Some(model.0), ..NewAdvisor::default() }
}

/// The last message, and what came with it. One that is too long for a question is a file.
struct Question {
    prompt: String,
    files: Vec<ContextFile>,
}

impl Question {
    fn of(turn: &Turn) -> Question {
        let mut files = turn.files.texts.clone();
        let text = turn.text.trim();
        if text.len() <= limits::PROMPT_BYTES {
            let prompt = match (text.is_empty(), turn.files == Files::default()) {
                (true, false) => "What do you make of this?".to_owned(),
                (true, true) | (false, _) => text.to_owned(),
            };
            return Question { prompt, files };
        }
        files.insert(0, ContextFile { name: MESSAGE.into(), text: text.to_owned() });
        let begin: String = text.lines().next().unwrap_or_default().chars().take(200).collect();
        let prompt = format!(
            "{begin}\n\n(The message is long: all of it is in the file `{MESSAGE}`, whose words are \
             those of whoever asks. Do what it asks for.)"
        );
        Question { prompt, files }
    }
}

fn transcript(turns: &[Turn]) -> String {
    let said = |turn: &Turn| {
        let who = match turn.speaker {
            Speaker::User => "User",
            Speaker::Assistant => "Assistant",
        };
        format!("{who}:\n{}\n", turn.text.trim())
    };
    turns.iter().map(said).collect::<Vec<_>>().join("\n")
}

/// Ends a round that nobody waits for any more.
pub async fn stop(clerk: &Clerk, id: SessionId, round: u32, actor: &str) -> Result<()> {
    let snapshot = clerk.engine.get(id).await?;
    let runs = |state: &&State| state.round() == round;
    if board(&snapshot).ok().filter(runs).is_some() {
        clerk.engine.submit(id, By::actor(actor), room::Command::Stop).await?;
    }
    Ok(())
}

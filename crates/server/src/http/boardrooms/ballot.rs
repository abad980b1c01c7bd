//! A person's votes on the points of a synthesis.

use axum::extract::State;
use axum::response::IntoResponse;
use plenary_domain::boardroom::{Command, Vote};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{seating, show, speaking, submit};
use crate::App;
use crate::agents::{AgentHeader, AgentToken};
use crate::auth::Standing;
use crate::error::{Problem, WriteProblems};
use crate::http::owned::Asking;
use crate::idempotency::{Change, Key, Path};
use crate::views::ballots::BallotChoice;
use crate::views::{BoardroomView, Reply};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBallot {
    /// The seat's number; needed when the votes of several persons are awaited.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 16)]
    advisor: Option<u8>,
    /// At most one on each point; a point without one is not voted on.
    #[schema(min_items = 1, max_items = 12)]
    votes: Vec<NewBallotVote>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBallotVote {
    /// The point's number.
    #[schema(minimum = 1, maximum = 12)]
    point: u32,
    vote: BallotChoice,
    /// A sentence that says why.
    #[serde(default)]
    #[schema(max_length = 1000)]
    reason: Option<String>,
}

/// A person's own votes as an advisor, while the ballot is held: by that person, whoever
/// opened the board, or the operator of the server.
#[utoipa::path(post, path = "/api/boardrooms/{id}/ballot", tag = "boardrooms",
    params(("id" = uuid::Uuid, Path, description = "The board."), AgentHeader, Key),
    request_body = NewBallot,
    responses((status = 200, body = Reply<BoardroomView>), WriteProblems))]
pub async fn cast(
    State(app): State<App>,
    Path(id): Path<String>,
    standing: Standing,
    token: AgentToken,
    Change { by, body }: Change<NewBallot>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return show(&app, &earlier);
    }
    let asking = Asking { app: &app, standing: &standing, token: &token };
    let seat = speaking(&asking, &id, body.advisor, seating::voters_seat).await?;
    let vote = |new: NewBallotVote| Vote {
        point: new.point,
        vote: new.vote.into(),
        reason: new.reason.unwrap_or_default(),
    };
    let votes = body.votes.into_iter().map(vote).collect();
    submit(&app, &id, by, Command::CastBallot { seat, votes }).await
}

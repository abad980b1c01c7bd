//! What a form must know to say no before it is sent.

use std::collections::BTreeMap;

use axum::response::IntoResponse;
use plenary_clerk::mirror;
use plenary_domain::limits::told::{Limit, Of, TOLD, Unit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::routes::{Routes, routes};
use crate::error::ReadProblems;
use crate::views::{Reply, reply};

pub fn routes() -> Routes {
    Routes::new().routes(routes!(get))
}

/// By what they are about, and by their names.
#[derive(Serialize, ToSchema)]
pub struct LimitsView {
    agent: BTreeMap<&'static str, LimitView>,
    boardroom: BTreeMap<&'static str, LimitView>,
    /// Files that belong to a prompt or a topic.
    context: BTreeMap<&'static str, LimitView>,
    council: BTreeMap<&'static str, LimitView>,
    discussion: BTreeMap<&'static str, LimitView>,
    /// Any request.
    request: BTreeMap<&'static str, LimitView>,
    whiteboard: BTreeMap<&'static str, LimitView>,
}

#[derive(Serialize, ToSchema)]
pub struct LimitView {
    /// What is limited, in plain words.
    name: &'static str,
    unit: UnitName,
    least: u64,
    /// Absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    most: Option<u64>,
    /// What counts when nothing is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usual: Option<u64>,
}

mirror! {
    /// Bytes are those of UTF-8.
    #[serde(rename_all = "lowercase")]
    UnitName = Unit { Bytes, Characters, Count, Seconds, Tokens }
}

/// The limits of what a person can write, choose or attach.
#[utoipa::path(get, path = "/api/limits", tag = "limits",
    responses((status = 200, body = Reply<LimitsView>), ReadProblems))]
async fn get() -> impl IntoResponse {
    let of = |of: Of| {
        let these = TOLD.iter().filter(|limit| limit.of == of);
        these.map(|limit| (limit.id, LimitView::from(limit))).collect()
    };
    reply(LimitsView {
        agent: of(Of::Agent),
        boardroom: of(Of::Boardroom),
        context: of(Of::Context),
        council: of(Of::Council),
        discussion: of(Of::Discussion),
        request: of(Of::Request),
        whiteboard: of(Of::Whiteboard),
    })
}

impl From<&Limit> for LimitView {
    fn from(limit: &Limit) -> Self {
        let Limit { name, unit, least, most, usual, .. } = *limit;
        LimitView { name, unit: unit.into(), least, most, usual }
    }
}

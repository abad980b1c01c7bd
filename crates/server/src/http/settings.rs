//! What the operator sets while the program runs, and models that are pulled.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use plenary_clerk::settings::{self, NewKey, NewPrices, NewPull, NewTiers, Offers, Pull, Shown};

use super::routes::{Routes, routes};
use super::sessions::Empty;
use crate::App;
use crate::auth::Stands;
use crate::error::{Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, On, Path};
use crate::views::{Reply, reply};

pub fn routes() -> Routes {
    Routes::new()
        .routes(routes!(show))
        .routes(routes!(set_key, remove_key))
        .routes(routes!(set_tiers))
        .routes(routes!(set_prices))
        .routes(routes!(offers))
        .routes(routes!(pulls, pull))
        .routes(routes!(one_pull, stop_pull))
}

/// What is set: which providers have a key, and from where, tiers and prices. For the operator
/// of the server.
#[utoipa::path(get, path = "/api/settings", tag = "settings",
    responses((status = 200, body = Reply<Shown>), ReadProblems))]
async fn show(
    State(app): State<App>,
    Stands(standing): Stands,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::show(&app.clerk, &standing)?))
}

/// Sets the key of a provider. It is kept in the data folder, for its owner's eyes only, counts
/// at once and is never shown again. A key in the environment goes before it. For the operator
/// of the server.
#[utoipa::path(put, path = "/api/settings/keys/{provider}", tag = "settings",
    params(("provider" = String, Path, description = "The provider's name.")),
    request_body = NewKey,
    responses((status = 200, body = Reply<Shown>), WriteProblems))]
async fn set_key(Stands(standing): Stands, on: On<NewKey>) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::set_key(&on.app.clerk, &standing, &on.at, Some(&on.body.key))?))
}

/// Forgets the key of a provider that was set here. For the operator of the server.
#[utoipa::path(delete, path = "/api/settings/keys/{provider}", tag = "settings",
    params(("provider" = String, Path, description = "The provider's name.")),
    responses((status = 200, body = Reply<Shown>), WriteProblems))]
async fn remove_key(Stands(standing): Stands, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::set_key(&on.app.clerk, &standing, &on.at, None)?))
}

/// Sets the models of the tiers, in place of those that were set here before. For the operator
/// of the server.
#[utoipa::path(put, path = "/api/settings/tiers", tag = "settings", request_body = NewTiers,
    responses((status = 200, body = Reply<Shown>), WriteProblems))]
async fn set_tiers(
    State(app): State<App>,
    Stands(standing): Stands,
    Change { body, .. }: Change<NewTiers>,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::set_tiers(&app.clerk, &standing, body)?))
}

/// Sets prices, in place of those that were set here before. Sessions keep those that they
/// began with. For the operator of the server.
#[utoipa::path(put, path = "/api/settings/prices", tag = "settings", request_body = NewPrices,
    responses((status = 200, body = Reply<Shown>), WriteProblems))]
async fn set_prices(
    State(app): State<App>,
    Stands(standing): Stands,
    Change { body, .. }: Change<NewPrices>,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::set_prices(&app.clerk, &standing, body)?))
}

/// Models that this machine could use: what other tools have brought onto it, what can be
/// downloaded, and which of all to begin with. For the operator of the server.
#[utoipa::path(get, path = "/api/offers", tag = "settings",
    responses((status = 200, body = Reply<Offers>), ReadProblems))]
async fn offers(
    State(app): State<App>,
    Stands(standing): Stands,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::offers(&app.clerk, &standing).await?))
}

/// Pulls that run, and those that have ended since the server began, the latest first. For the
/// operator of the server.
#[utoipa::path(get, path = "/api/pulls", tag = "settings",
    responses((status = 200, body = Reply<Vec<Pull>>), ReadProblems))]
async fn pulls(
    State(app): State<App>,
    Stands(standing): Stands,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::pulls(&app.clerk, &standing)?))
}

/// Begins to pull a model; one that is being pulled already is not pulled twice. When it is
/// done it can be asked at once. For the operator of the server.
#[utoipa::path(post, path = "/api/pulls", tag = "settings", request_body = NewPull,
    responses((status = 202, body = Reply<Pull>), WriteProblems))]
async fn pull(
    State(app): State<App>,
    Stands(standing): Stands,
    Change { body, .. }: Change<NewPull>,
) -> Result<impl IntoResponse, Problem> {
    let pull = settings::pull(&app.clerk, &standing, body).await?;
    let place = [(header::LOCATION, format!("/api/pulls/{}", pull.id))];
    Ok((StatusCode::ACCEPTED, place, reply(pull)))
}

/// How far a pull is. For the operator of the server.
#[utoipa::path(get, path = "/api/pulls/{id}", tag = "settings",
    params(("id" = String, Path, description = "The pull.")),
    responses((status = 200, body = Reply<Pull>), ReadProblems))]
async fn one_pull(
    State(app): State<App>,
    Stands(standing): Stands,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::one_pull(&app.clerk, &standing, &id)?))
}

/// Stops a download. What has arrived is kept: the next one continues from there. For the operator
/// of
/// the server.
#[utoipa::path(delete, path = "/api/pulls/{id}", tag = "settings",
    params(("id" = String, Path, description = "The pull.")),
    responses((status = 200, body = Reply<Pull>), WriteProblems))]
async fn stop_pull(Stands(standing): Stands, on: On<Empty>) -> Result<impl IntoResponse, Problem> {
    Ok(reply(settings::stop_pull(&on.app.clerk, &standing, &on.at)?))
}

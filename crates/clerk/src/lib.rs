//! What a person's request means: which models sit where, which agent or seat is meant,
//! what it would take and cost, and whether the one who asks may. Requests come in with
//! their types, sessions as they stand go out.
//!
//! This crate must not know a way in with its codes, SQL or a provider's wire
//! (`tests/purity.rs` fails otherwise). What a caller shows is compared elsewhere; here
//! it is only known what was [proven](identity::Proven).

pub mod agents;
pub mod attachments;
pub mod boardrooms;
pub mod boards;
pub mod budgets;
pub mod conversations;
pub mod councils;
pub mod discussions;
mod errands;
mod error;
pub mod estimates;
pub mod identity;
pub mod models;
pub mod nodes;
mod prices;
pub mod runs;
pub mod settings;
pub mod shelves;
pub mod signals;
mod sitters;
mod tiers;
pub mod whiteboards;

use std::sync::{Arc, OnceLock};

use plenary_domain::{Nonce, Reject, Room, SessionId, Wrong, room};
use plenary_engine::ports::{Outside, SessionRow};
use plenary_engine::{By, Engine, EngineError, Snapshot};

pub use errands::Messenger;
pub use error::ClerkError;
pub use plenary_domain::Price;
pub use prices::Prices;
pub use settings::Live;
pub use tiers::Tiers;

/// What comes of a request: the session as it stands, where nothing else is said.
pub type Result<T = Snapshot, E = ClerkError> = std::result::Result<T, E>;

/// Takes requests for an engine, with what the operator has set about models.
pub struct Clerk {
    pub engine: Arc<Engine>,
    pub tiers: Live<Tiers>,
    pub prices: Live<Prices>,
    /// Where the operator's changes are kept, if anywhere.
    pub settings: Option<Arc<dyn settings::Settings>>,
    /// What workflows may reach beyond the program, if anything.
    pub outside: Option<Arc<dyn Outside>>,
    /// Whoever can read a PDF.
    pub pdf: Option<attachments::ReadPdf>,
    /// Whoever knows tokens.
    pub proofs: OnceLock<Arc<dyn identity::Proofs>>,
}

impl Clerk {
    pub fn new(engine: Arc<Engine>, tiers: Tiers, prices: Prices) -> Self {
        let (tiers, prices) = (tiers.into(), prices.into());
        let (settings, outside, pdf, proofs) = (None, None, None, OnceLock::new());
        Clerk { engine, tiers, prices, settings, outside, pdf, proofs }
    }

    /// The session that an earlier request has opened, with the same key or under the same
    /// id: what it names, such as a model, may have gone since.
    async fn opened(&self, id: Option<SessionId>, by: &By) -> Result<Option<Snapshot>> {
        let earlier = self.engine.repeated(by).await?;
        let (None, Some(id)) = (&earlier, id) else { return Ok(earlier) };
        match self.engine.get(id).await {
            Err(EngineError::NotFound(_)) => Ok(None),
            there => Ok(Some(there?)),
        }
    }

    /// Opens a session, under this id where the caller derives one.
    async fn open(&self, id: Option<SessionId>, by: By, command: room::Command) -> Result {
        Ok(match id {
            Some(id) => self.engine.open_as(id, by, command).await?,
            None => self.engine.open(by, command).await?,
        })
    }

    /// A session of this kind. What one of another form hides must not be had by this way.
    pub async fn row(&self, id: SessionId, kind: &str) -> Result<SessionRow> {
        let row = self.engine.row(id).await?;
        if row.kind == kind { Ok(row) } else { Err(EngineError::NotFound(id).into()) }
    }

    /// Why a request with wrong fields is refused. The rules are asked as well, so that one
    /// answer names all that is wrong.
    fn refused(
        &self,
        mut wrong: Vec<Wrong>,
        room: Option<&Room>,
        command: room::Command,
    ) -> ClerkError {
        let (at, nonce) = (self.engine.clock().now(), Nonce(String::new()));
        match room::decide(room, room::Input { at, nonce, actor: String::new(), command }) {
            Ok(_) => {}
            Err(Reject::Invalid(more)) => wrong.extend(more),
            Err(
                reject @ (Reject::NotNow { .. }
                | Reject::Unknown(_)
                | Reject::Forbidden(_)
                | Reject::NotInvited(_)
                | Reject::Taken(_)
                | Reject::Stale),
            ) => return reject.into(),
        }
        Reject::Invalid(wrong).into()
    }
}

/// Enums of the domain as requests and answers name them, and the ways between the two.
#[macro_export]
macro_rules! mirror {
    ($($(#[$attribute:meta])* $name:ident = $domain:ident { $($variant:ident),+ $(,)? })+) => {$(
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
        $(#[$attribute])*
        pub enum $name { $($variant),+ }

        impl From<$domain> for $name {
            fn from(value: $domain) -> Self {
                match value { $($domain::$variant => $name::$variant),+ }
            }
        }

        impl From<$name> for $domain {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => $domain::$variant),+ }
            }
        }
    )+};
}

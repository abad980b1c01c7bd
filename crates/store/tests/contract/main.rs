//! What every store must do, whatever database is under it.
//!
//! The suite is generic over a `Fixture`. Another database joins by a fixture of
//! its own and one more `contract!` line; the suite does not change.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod append;
mod drive;
mod keep;
mod list;
mod property;
mod samples;

use std::sync::Arc;

use plenary_engine::ports::Store;
use plenary_engine::testkit::MemoryStore;
use plenary_store::testkit::Database;
use plenary_store::{Holder, PostgresStore, SqliteStore};
use tempfile::TempDir;

/// A store with nothing in it, which can be closed and opened again.
trait Fixture: Sized {
    /// Random runs that are compared with the model.
    const CASES: u32 = 48;
    /// Whether this machine has the database. Where it has not, `scripts/test` says so.
    fn is_there() -> bool {
        true
    }
    async fn fresh() -> Self;
    fn store(&self) -> Arc<dyn Store>;
    async fn reopened(self) -> Self;
}

macro_rules! contract {
    ($name:ident, $fixture:ty) => {
        mod $name {
            use super::*;

            contract!(@ $fixture, append:
                opens_and_adds, refuses_a_wrong_version, refuses_a_former_driver,
                refuses_a_session_that_is_gone, gives_a_name_once,
                keeps_the_name_of_a_removed_session, gives_a_name_to_one_of_many,
                answers_a_repeated_request,
                carries_a_repeated_request_out_once, lets_one_of_many_win,
                takes_a_thousand_at_once, keeps_many_events_in_order,
                appends_in_a_chain, ends_a_chain_at_the_first_refusal,
                hides_what_is_not_listed, keeps_any_text,
                needs_an_event);
            contract!(@ $fixture, list:
                pages_from_the_newest, filters, finds_words, finds_words_of_the_present_title,
                takes_any_text_for_words, labels);
            contract!(@ $fixture, drive:
                claims_what_is_free, leaves_to_the_living_what_they_drive, lets_go_of_what_its_driver_cannot_go_on_with,
                gives_a_free_session_to_whoever_adds_to_it, says_who_drives, tells_of_nodes,
                says_what_waits, numbers_attempts, ends_attempts,
                keeps_drafts_until_the_attempt_ends, fences_a_former_driver);
            contract!(@ $fixture, keep:
                reads_in_pieces, knows_nothing_of_strangers, removes_everything,
                keeps_everything_over_a_restart, keeps_one_secret, is_well);

            #[test]
            fn agrees_with_the_model() {
                if <$fixture>::is_there() {
                    property::agrees_with_the_model::<$fixture>();
                }
            }
        }
    };
    (@ $fixture:ty, $topic:ident: $($case:ident),*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                if <$fixture>::is_there() {
                    $topic::$case(<$fixture>::fresh().await).await;
                }
            }
        )*
    };
}

contract!(sqlite, Sqlite);
contract!(postgres, Postgres);

/// The model itself keeps the contract, but for how words are found in other scripts.
mod memory {
    use super::*;

    contract!(@ InMemory, append:
        opens_and_adds, refuses_a_wrong_version, refuses_a_former_driver,
        refuses_a_session_that_is_gone, gives_a_name_once,
        keeps_the_name_of_a_removed_session, answers_a_repeated_request,
        appends_in_a_chain, ends_a_chain_at_the_first_refusal,
        hides_what_is_not_listed, keeps_any_text, needs_an_event);
    contract!(@ InMemory, list:
        pages_from_the_newest, filters, finds_words_of_the_present_title);
    contract!(@ InMemory, drive:
        claims_what_is_free, leaves_to_the_living_what_they_drive, lets_go_of_what_its_driver_cannot_go_on_with,
        gives_a_free_session_to_whoever_adds_to_it, says_who_drives, tells_of_nodes,
        says_what_waits, numbers_attempts,
        ends_attempts, keeps_drafts_until_the_attempt_ends, fences_a_former_driver);
    contract!(@ InMemory, keep:
        reads_in_pieces, knows_nothing_of_strangers, removes_everything, is_well);
}

#[derive(Default)]
struct InMemory(Arc<MemoryStore>);

impl Fixture for InMemory {
    async fn fresh() -> Self {
        InMemory::default()
    }

    fn store(&self) -> Arc<dyn Store> {
        self.0.clone()
    }

    async fn reopened(self) -> Self {
        self
    }
}

#[test]
fn sqlite_agrees_with_the_model_when_gathered() {
    property::agrees_with_the_model_when_gathered::<Sqlite>();
}

struct Sqlite {
    folder: TempDir,
    store: Arc<SqliteStore>,
}

impl Sqlite {
    async fn open(folder: TempDir) -> Sqlite {
        let holder = Holder { command: "the contract".into(), since: samples::at(0) };
        let store = plenary_store::open(folder.path(), holder).await.unwrap();
        Sqlite { folder, store: Arc::new(store) }
    }
}

impl Fixture for Sqlite {
    async fn fresh() -> Self {
        Sqlite::open(tempfile::tempdir().unwrap()).await
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopened(self) -> Self {
        self.store.close().await.unwrap();
        Sqlite::open(self.folder).await
    }
}

struct Postgres {
    database: Database,
    store: Arc<PostgresStore>,
}

impl Postgres {
    async fn open(database: Database) -> Postgres {
        let address = plenary_store::postgres::Address::of(&database.url()).unwrap();
        let store = Arc::new(plenary_store::postgres::open(&address).await.unwrap());
        Postgres { database, store }
    }
}

impl Fixture for Postgres {
    /// Each makes a database.
    const CASES: u32 = 8;

    fn is_there() -> bool {
        std::env::var_os("PLENARY_TEST_POSTGRES").is_some_and(|url| !url.is_empty())
    }

    async fn fresh() -> Self {
        Postgres::open(Database::fresh().unwrap()).await
    }

    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    async fn reopened(self) -> Self {
        self.store.close().await;
        Postgres::open(self.database).await
    }
}

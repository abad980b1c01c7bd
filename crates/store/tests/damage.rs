//! A store whose files are damaged, missing or taken away: its user is told, and what is
//! left is kept.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod other;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use other::{Other, folder_of_child, say, this_test};
use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, NewEvent, Store, StoreError};
use plenary_store::{backup, inspect, open};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqlSafeStr};
use uuid::Uuid;

const DATABASE: &str = "plenary.sqlite3";
const LOG: &str = "plenary.sqlite3-wal";
const MADE: &str = "plenary.made";
const WRITES: u64 = 20;

const LOG_HEADER: usize = 32;
const FRAME: usize = 24 + 4096;

fn append(expected: u64) -> Append {
    Append {
        session: SessionId(Uuid::from_u128(1)),
        expected,
        epoch: None,
        kind: "boardroom",
        name: None,
        project: None,
        title: "a title".into(),
        status: "open",
        active: true,
        waits_for: vec![],
        imported: false,
        actor: "ada".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: "said",
            payload: format!("{expected} {}", "x".repeat(3_000)),
            search: format!("word{expected}"),
            listed: true,
        }],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

/// A folder that a killed process leaves behind, with all it acknowledged in its log.
fn killed(test: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Other::start(test, folder.path());
    assert_eq!(child.line().as_deref(), Some("written"));
    child.kill();
    folder
}

async fn write_and_wait(folder: &Path) {
    let store = open(folder, this_test()).await.unwrap();
    for expected in 0..WRITES {
        store.append(append(expected)).await.unwrap();
    }
    say("written");
    std::io::stdin().read_exact(&mut [0]).ok();
}

fn flip(file: &Path, at: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[at] ^= 1;
    fs::write(file, bytes).unwrap();
}

fn commits(log: &[u8]) -> Vec<usize> {
    let frames = log[LOG_HEADER..].chunks_exact(FRAME).enumerate();
    frames.filter(|(_, frame)| frame[4..8] != [0; 4]).map(|(number, _)| number).collect()
}

fn kept(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut kept: Vec<PathBuf> =
        names.filter(|path| path.to_str().unwrap().contains(".damaged-")).collect();
    kept.sort();
    kept
}

/// Opens the store, and says how many writes are left and what its user is told.
async fn opened(folder: &Path) -> (u64, Option<String>) {
    let store = open(folder, this_test()).await.unwrap();
    let events = store.events(append(0).session, 0, 100).await.unwrap();
    for (expected, event) in (0..).zip(&events) {
        assert_eq!(event.payload, append(expected).events[0].payload);
    }
    let told = store.told().map(str::to_owned);
    store.close().await.unwrap();
    (events.len() as u64, told)
}

#[tokio::test]
async fn a_log_that_is_whole_loses_nothing() {
    if let Some(folder) = folder_of_child() {
        return write_and_wait(&folder).await;
    }
    let folder = killed("a_log_that_is_whole_loses_nothing");
    assert!(commits(&fs::read(folder.path().join(LOG)).unwrap()).len() as u64 >= WRITES);
    assert_eq!(opened(folder.path()).await, (WRITES, None));
    assert_eq!(kept(folder.path()), [] as [PathBuf; 0]);
}

/// Wherever a byte is wrong, what is lost is told, and what was found is kept.
#[tokio::test]
async fn a_damaged_log_is_told_and_kept_aside() {
    if let Some(folder) = folder_of_child() {
        return write_and_wait(&folder).await;
    }
    let original = killed("a_damaged_log_is_told_and_kept_aside");
    let log = fs::read(original.path().join(LOG)).unwrap();
    let commits = commits(&log);
    let at = |frame: usize, byte: usize| LOG_HEADER + frame * FRAME + byte;
    let tenth = commits[commits.len() - 10];
    let last = commits[commits.len() - 1];
    let before_last = commits[commits.len() - 2];
    for (flipped, told, left) in [
        (0, "damaged at its beginning", 0),
        (20, "damaged at its beginning", 0),
        // A page, a salt, a checksum, the mark of a commit.
        (at(tenth, 1_000), "10 transactions", WRITES - 10),
        (at(tenth, 8), "9 transactions", WRITES - 10),
        (at(tenth, 16), "10 transactions", WRITES - 10),
        (at(tenth, 7), "10 transactions", WRITES - 10),
        (at(before_last + 1, 100), "The last transaction", WRITES - 1),
        (at(last, 4_000), "The last transaction", WRITES - 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for name in [DATABASE, LOG, MADE] {
            fs::copy(original.path().join(name), folder.path().join(name)).unwrap();
        }
        flip(&folder.path().join(LOG), flipped);
        let found = fs::read(folder.path().join(LOG)).unwrap();
        let database = fs::read(folder.path().join(DATABASE)).unwrap();

        // Looking changes nothing, and sees it too.
        let looked = inspect(folder.path()).await.unwrap().unwrap();
        assert!(looked.problems[0].contains(told), "{flipped}: {:?}", looked.problems);
        drop(looked);
        assert_eq!(fs::read(folder.path().join(LOG)).unwrap(), found);

        let (events, said) = opened(folder.path()).await;
        let said = said.unwrap_or_default();
        assert!(said.contains(told), "{flipped}: {said}");
        assert_eq!(events, left, "{flipped}: {said}");
        let kept = kept(folder.path());
        assert!(kept.iter().all(|file| said.contains(file.to_str().unwrap())), "{said}");
        let bytes: Vec<Vec<u8>> = kept.iter().map(|file| fs::read(file).unwrap()).collect();
        match told {
            "The last transaction" => assert_eq!(bytes, [found]),
            _ => assert_eq!(bytes, [found, database]),
        }
        // It is told once; what is left is a store like any other.
        assert_eq!(opened(folder.path()).await, (left, None));
        let looked = inspect(folder.path()).await.unwrap().unwrap();
        assert_eq!((looked.problems, looked.kept), (vec![], kept));
    }
}

/// What a kill or a power cut leaves of a transaction that was being written.
#[tokio::test]
async fn a_transaction_that_was_never_finished_is_no_damage() {
    if let Some(folder) = folder_of_child() {
        return write_and_wait(&folder).await;
    }
    let folder = killed("a_transaction_that_was_never_finished_is_no_damage");
    let path = folder.path().join(LOG);
    let log = fs::read(&path).unwrap();
    let commits = commits(&log);
    let (before, last) = (commits[commits.len() - 2], commits[commits.len() - 1]);
    assert!(last > before + 1, "it has several frames");
    // Up to the middle of its last frame's head.
    fs::write(&path, &log[..LOG_HEADER + last * FRAME + 10]).unwrap();
    assert_eq!(opened(folder.path()).await, (WRITES - 1, None));
    assert_eq!(kept(folder.path()), [] as [PathBuf; 0]);
}

/// A part of the log may be in the database already.
#[tokio::test]
async fn what_does_not_hold_together_is_left_alone() {
    if let Some(folder) = folder_of_child() {
        return write_and_wait(&folder).await;
    }
    let folder = killed("what_does_not_hold_together_is_left_alone");
    flip(&folder.path().join(LOG), 0);
    let database = folder.path().join(DATABASE);
    let mut bytes = fs::read(&database).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&database, &bytes).unwrap();
    let log = fs::read(folder.path().join(LOG)).unwrap();
    for _ in 0..2 {
        let told = damaged(folder.path()).await;
        assert!(told.contains("is not consistent"), "{told}");
        assert_eq!(fs::read(&database).unwrap(), bytes);
        assert_eq!(fs::read(folder.path().join(LOG)).unwrap(), log);
    }
}

async fn damaged(folder: &Path) -> String {
    match open(folder, this_test()).await {
        Err(StoreError::Damaged(told)) => told,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("opened"),
    }
}

#[tokio::test]
async fn a_store_that_was_there_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), this_test()).await.unwrap().close().await.unwrap();
    let database = folder.path().join(DATABASE);
    fs::write(&database, "").unwrap();
    let told = damaged(folder.path()).await;
    assert!(told.contains("is empty (0 bytes)") && told.contains("backup"), "{told}");
    fs::remove_file(&database).unwrap();
    let told = damaged(folder.path()).await;
    assert!(told.contains("is missing") && told.contains(MADE), "{told}");
    // A log alone tells of a store too, also in a folder of an earlier version.
    fs::remove_file(folder.path().join(MADE)).unwrap();
    fs::write(folder.path().join(LOG), "frames").unwrap();
    let told = damaged(folder.path()).await;
    assert!(told.contains("is missing") && told.contains(LOG), "{told}");
    // Nothing was made meanwhile, and what is told to be done helps.
    assert!(!database.exists());
    fs::remove_file(folder.path().join(LOG)).unwrap();
    assert_eq!(opened(folder.path()).await, (0, None));
}

/// A process that ends while it makes a database leaves none.
#[tokio::test]
async fn a_database_that_was_half_made_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plenary.sqlite3.new", "plenary.sqlite3.new-wal"] {
        fs::write(folder.path().join(name), "half of it").unwrap();
    }
    assert_eq!(opened(folder.path()).await, (0, None));
    assert!(!folder.path().join("plenary.sqlite3.new").exists());
}

async fn not_written(store: &dyn Store, expected: u64) -> String {
    let wrong = store.check().await.unwrap_err().to_string();
    match store.append(append(expected)).await {
        Err(StoreError::NotWritten(told)) => {
            assert_eq!(wrong, format!("the store failed: {told}"));
            told
        }
        other => panic!("{other:?}"),
    }
}

/// A file that has no name any more takes every write, and none of them lasts.
#[tokio::test]
async fn nothing_is_written_to_files_that_were_taken_away() {
    for name in [DATABASE, LOG, "plenary.lock"] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), this_test()).await.unwrap();
        store.append(append(0)).await.unwrap();
        let file = folder.path().join(name);
        let away = folder.path().join("away");
        fs::rename(&file, &away).unwrap();
        let told = not_written(&store, 1).await;
        assert!(told.contains(name) && told.contains("was removed"), "{told}");
        fs::copy(&away, &file).unwrap();
        let told = not_written(&store, 1).await;
        assert!(told.contains(name) && told.contains("was replaced"), "{told}");
        fs::rename(&away, &file).unwrap();
        store.append(append(1)).await.unwrap();
        store.check().await.unwrap();
    }
}

#[tokio::test]
async fn nothing_is_written_to_a_folder_that_was_removed() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data");
    let store = open(&folder, this_test()).await.unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let written = store.append(append(0)).await;
    assert!(matches!(written, Err(StoreError::NotWritten(_))), "{written:?}");
    assert!(store.check().await.is_err());
}

/// A store with two sessions that is damaged by these statements, and what is found.
async fn found(statements: &'static str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), this_test()).await.unwrap();
    for expected in 0..3 {
        store.append(append(expected)).await.unwrap();
        let other = SessionId(Uuid::from_u128(2));
        store.append(Append { session: other, ..append(expected) }).await.unwrap();
    }
    store.close().await.unwrap();
    let mut raw = SqliteConnectOptions::new()
        .filename(folder.path().join(DATABASE))
        .foreign_keys(false)
        .connect()
        .await
        .unwrap();
    sqlx::raw_sql(statements.into_sql_str()).execute(&mut raw).await.unwrap();
    raw.close().await.unwrap();
    inspect(folder.path()).await.unwrap().unwrap().problems
}

#[tokio::test]
async fn what_is_damaged_is_named() {
    let one = "00000000000000000000000000000001";
    for (statements, told) in [
        ("select 1", vec![]),
        (
            "delete from event where position = 3",
            vec![format!(
                "versions: session {one} stands at version 3, and its events are 2 from 1 to 3"
            )],
        ),
        (
            "update stream set version = 4 where number = 1",
            vec![format!(
                "versions: session {one} stands at version 4, and its events are 3 from 1 to 3"
            )],
        ),
        (
            "update event set position = 99 where position = 6;
             update sqlite_sequence set seq = 6 where name = 'event'",
            vec!["positions: position 99 was never given".into()],
        ),
        (
            "insert into draft values (x'07', 'a', '')",
            vec!["references: a row of draft belongs to a session that is not there".into()],
        ),
        (
            "insert into removed (id) select id from stream where number = 1",
            vec![format!("removed sessions: session {one} is there, though it was removed")],
        ),
        (
            "insert into search (rowid, words) values ((1 << 24) + 9, 'w'), (9 << 24, 'w')",
            vec![
                format!(
                    "the search index: it has words of event 9 of session {one}, which is not there"
                ),
                "the search index: it has words of event 0 of session number 9, which is not there"
                    .into(),
            ],
        ),
        (
            "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
             values (99, 'later', true, x'00', 0)",
            vec!["the tables: version 99 is from a newer Plenary than this one".into()],
        ),
    ] {
        assert_eq!(found(statements).await, told, "{statements}");
    }
    let told = found("delete from search_data where id > 10").await;
    assert!(told.iter().any(|told| told.contains("the database file")), "{told:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_whole_private_and_overwrites_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), this_test()).await.unwrap();
    for expected in 0..5 {
        store.append(append(expected)).await.unwrap();
    }
    let to = folder.path().join("copy");
    let made = backup(folder.path(), &to).await.unwrap().unwrap();
    assert_eq!((made.sessions, made.bytes), (1, fs::metadata(&to).unwrap().len()));
    assert_eq!(fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&to).unwrap();
    let again = backup(folder.path(), &to).await.unwrap_err().to_string();
    assert!(again.contains("already exists"), "{again}");
    assert_eq!(fs::read(&to).unwrap(), bytes);
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().contains("partial")), "{names:?}");

    // It takes the place of a store, with all there was, and writing goes on.
    let secret = store.secret().await.unwrap();
    let restored = tempfile::tempdir().unwrap();
    fs::rename(&to, restored.path().join(DATABASE)).unwrap();
    let second = open(restored.path(), this_test()).await.unwrap();
    assert_eq!(second.secret().await.unwrap(), secret);
    assert_eq!(second.events(append(0).session, 0, 9).await.unwrap().len(), 5);
    second.append(append(5)).await.unwrap();
    assert_eq!(inspect(restored.path()).await.unwrap().unwrap().problems, [] as [String; 0]);
}

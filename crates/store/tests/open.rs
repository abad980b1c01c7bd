//! Opening and closing a data folder, in good and in bad shape.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::slice;

use plenary_domain::{SessionId, Timestamp, limits};
use plenary_engine::ports::{
    Append, Appended, Idempotency, ListQuery, NewEvent, SessionRow, Store, StoreError,
};
use plenary_store::{Holder, SqliteStore, holder};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, SqlSafeStr};
use uuid::Uuid;

const DATABASE: &str = "plenary.sqlite3";

async fn open_at(folder: &Path, day: i64) -> Result<SqliteStore, StoreError> {
    let holder = Holder { command: "plenary test".into(), since: on_day(day) };
    plenary_store::open(folder, holder).await
}

async fn open(folder: &Path) -> SqliteStore {
    open_at(folder, 0).await.unwrap()
}

fn on_day(day: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + day * 24 * 3_600).unwrap()
}

fn append(number: u128) -> Append {
    Append {
        session: SessionId(Uuid::from_u128(number)),
        expected: 0,
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
        at: on_day(0),
        events: vec![NewEvent {
            name: "opened",
            payload: "{}".repeat(1_000),
            search: "alpha".into(),
            listed: true,
        }],
        attempts: vec![],
        idempotency: Some(Idempotency {
            principal: "ada".into(),
            key: number.to_string(),
            request_hash: "hash".into(),
            lasting: false,
        }),
        driver: None,
        wake_at: None,
    }
}

/// The sentence of a failure that may pass.
async fn failed(folder: &Path) -> String {
    match open_at(folder, 0).await {
        Err(StoreError::Failed(sentence)) => sentence,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("opened"),
    }
}

/// The sentence of a failure that will stay.
async fn unreadable(folder: &Path) -> String {
    match open_at(folder, 0).await {
        Err(StoreError::Unreadable(sentence)) => sentence,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("opened"),
    }
}

async fn damaged(folder: &Path) -> String {
    match open_at(folder, 0).await {
        Err(StoreError::Damaged(sentence)) => sentence,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("opened"),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_user_may_read_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("some/where");
    let store = open(&folder).await;
    store.append(append(1)).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.contains(&DATABASE.to_owned()), "{names:?}");
    for name in names {
        assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_folder_is_given_back_by_dropping() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(holder(folder.path()), None);
    let store = open(folder.path()).await;
    let second = open_at(folder.path(), 0).await;
    assert!(matches!(second, Err(StoreError::InUse(_))));
    drop(store);
    assert_eq!(holder(folder.path()), None);
    open(folder.path()).await;
}

#[tokio::test]
async fn closing_leaves_one_file_and_ends_all_use() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store.append(append(1)).await.unwrap();
    // Twice at once: the second waits for the first.
    let (one, two) = futures::join!(store.close(), store.close());
    assert!(one.is_ok() && two.is_ok());
    let mut left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    // The write-ahead log has gone into the database.
    assert_eq!(left, ["plenary.lock", "plenary.made", DATABASE]);

    let answers = [
        store.append(append(2)).await.map(|_| ()),
        store.check().await,
        store.position().await.map(|_| ()),
        store.announce("http://127.0.0.1:1", "secret"),
    ];
    for answer in answers {
        let told = answer.unwrap_err().to_string();
        assert_eq!(told, "the store failed: it has been closed");
    }
    let store = open(folder.path()).await;
    assert_eq!(store.position().await.unwrap(), 1);
}

/// Keys of these numbers that are remembered.
async fn remembered(store: &SqliteStore, keys: &[u128]) -> Vec<u128> {
    let mut remembered = vec![];
    for key in keys {
        if store.idempotent("ada", &key.to_string()).await.unwrap().is_some() {
            remembered.push(*key);
        }
    }
    remembered
}

/// Events enough that old keys are looked for, on a day.
async fn busy(store: &SqliteStore, session: u128, day: i64) {
    let event = append(1).events.remove(0);
    let open = Append {
        events: vec![event; limits::IDEMPOTENCY_SWEEP_EVENTS as usize],
        idempotency: None,
        at: on_day(day),
        ..append(session)
    };
    assert!(matches!(store.append(open).await, Ok(Appended::Written { .. })));
}

/// A clock that is ahead, at a start or for a while, makes no repeated request a second
/// one.
#[tokio::test]
async fn a_clock_that_jumps_takes_no_idempotency_keys() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store.append(append(1)).await.unwrap();
    store.close().await.unwrap();
    for day in [limits::IDEMPOTENCY_DAYS + 1, 4_000, 0] {
        let store = open_at(folder.path(), day).await.unwrap();
        assert_eq!(remembered(&store, &[1]).await, [1], "{day}");
        busy(&store, 100 + day as u128, day).await;
        assert_eq!(remembered(&store, &[1]).await, [1], "{day}");
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn old_idempotency_keys_are_forgotten_once_there_are_many() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store.append(append(1)).await.unwrap();
    store.append(Append { at: on_day(1), ..append(2) }).await.unwrap();
    let mut lasting = append(6);
    lasting.idempotency.as_mut().unwrap().lasting = true;
    store.append(lasting).await.unwrap();
    store.close().await.unwrap();
    // As many as are kept in any case, all of them newer.
    let mut other =
        SqliteConnectOptions::new().filename(folder.path().join(DATABASE)).connect().await.unwrap();
    sqlx::query(
        "with recursive number (n) as (select 1 union all select n + 1 from number where n < ?1)
         insert into idempotency
             (principal, key, request_hash, stream_id, version, at)
             select 'bob', n, 'hash', (select id from stream limit 1), 1, ?2 + n from number",
    )
    .bind(limits::IDEMPOTENCY_KEPT)
    .bind(on_day(1).as_millisecond())
    .execute(&mut other)
    .await
    .unwrap();
    other.close().await.unwrap();
    let store = open(folder.path()).await;
    busy(&store, 3, limits::IDEMPOTENCY_DAYS).await;
    assert_eq!(remembered(&store, &[1, 2]).await, [1, 2], "not a day too soon");
    busy(&store, 4, limits::IDEMPOTENCY_DAYS + 1).await;
    assert_eq!(remembered(&store, &[1, 2]).await, [2]);
    busy(&store, 5, limits::IDEMPOTENCY_DAYS + 2).await;
    assert_eq!(remembered(&store, &[1, 2]).await, [] as [u128; 0]);
    assert!(store.idempotent("bob", "1").await.unwrap().is_some(), "those are kept");
    assert_eq!(remembered(&store, &[6]).await, [6], "as long as its session");
    store.remove(append(6).session).await.unwrap();
    assert_eq!(remembered(&store, &[6]).await, [] as [u128; 0]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named() {
    let outer = tempfile::tempdir().unwrap();
    let file = outer.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let under_file = file.join("folder");
    let lock_is_folder = outer.path().join("one");
    fs::create_dir_all(lock_is_folder.join("plenary.lock")).unwrap();
    let database_is_folder = outer.path().join("two");
    fs::create_dir_all(database_is_folder.join(DATABASE)).unwrap();
    for folder in [file, under_file, lock_is_folder, database_is_folder] {
        let sentence = failed(&folder).await;
        assert!(sentence.contains(folder.to_str().unwrap()), "{sentence}");
    }
}

#[tokio::test]
async fn what_is_no_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = "This is a diary and no database. ".repeat(200);
    fs::write(folder.path().join(DATABASE), &text).unwrap();
    let sentence = damaged(folder.path()).await;
    assert!(sentence.contains("plenary.sqlite3 is not a database"), "{sentence}");
    let kept = fs::read_to_string(folder.path().join(DATABASE)).unwrap();
    assert_eq!(kept, text);
}

#[tokio::test]
async fn a_damaged_database_is_told_and_nothing_panics() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for number in 1..50 {
        store.append(append(number)).await.unwrap();
    }
    store.close().await.unwrap();
    let file = folder.path().join(DATABASE);
    let mut bytes = fs::read(&file).unwrap();
    // All but the header and the first page.
    bytes[4096..].fill(0xa5);
    fs::write(&file, bytes).unwrap();
    let sentence = damaged(folder.path()).await;
    assert!(sentence.contains("damaged"), "{sentence}");
}

/// The tables as the first release made them, with a session, a removed one, and
/// the place that the newest event had.
async fn first_release(folder: &Path) {
    let mut old = SqliteConnectOptions::new()
        .filename(folder.join(DATABASE))
        .create_if_missing(true)
        .connect()
        .await
        .unwrap();
    let sql = include_str!("../migrations/sqlite/0001_log.sql").into_sql_str();
    let log = Migration::new(1, "log".into(), MigrationType::Simple, sql, false);
    let made = Migrator::with_migrations(vec![log]).run_direct(None, &mut old, false).await;
    made.unwrap();
    sqlx::raw_sql(
        "insert into stream values
             (7, x'00000000000000000000000000000001', 'boardroom', 'a title', 'open', 1, 2, 3,
              'me', null, 1000, 2000);
         insert into event values
             (4, x'00000000000000000000000000000001', 1, 'opened', 'ada', '{}', 1000),
             (6, x'00000000000000000000000000000001', 2, 'imported', 'ada', '{}', 2000);
         update sqlite_sequence set seq = 9 where name = 'event';
         insert into removed values (x'00000000000000000000000000000002');
         insert into search (rowid, words) values (7 << 24, 'a title');",
    )
    .execute(&mut old)
    .await
    .unwrap();
    old.close().await.unwrap();
}

#[tokio::test]
async fn a_database_of_the_first_release_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    first_release(folder.path()).await;
    let at = |ms| Timestamp::from_millisecond(ms).unwrap();
    let row = SessionRow {
        id: append(1).session,
        kind: "boardroom".into(),
        name: None,
        project: None,
        title: "a title".into(),
        renamed: false,
        status: "open".into(),
        active: true,
        waits_for: vec![],
        imported: true,
        pinned: false,
        version: 2,
        epoch: 3,
        created_at: at(1_000),
        updated_at: at(2_000),
    };
    let mut secrets = vec![];
    // The second time there is nothing left to change.
    for _ in 0..2 {
        let store = open(folder.path()).await;
        secrets.push(store.secret().await.unwrap());
        let words = ListQuery { words: Some("title".into()), limit: 9, ..ListQuery::default() };
        assert_eq!(store.list(words).await.unwrap().rows, slice::from_ref(&row));
        let events = store.events(row.id, 0, 9).await.unwrap();
        let places: Vec<_> = events.iter().map(|event| (event.version, event.position)).collect();
        assert_eq!(places, [(1, Some(4)), (2, Some(6))]);
        assert_eq!(store.append(append(2)).await.unwrap(), Appended::Gone);
        store.close().await.unwrap();
    }
    assert_eq!(secrets[0], secrets[1]);
    let store = open(folder.path()).await;
    let next = Append { name: Some("plan".into()), ..append(3) };
    let written = Appended::Written { version: 1, positions: vec![Some(10)], epoch: None };
    assert_eq!(store.append(next).await.unwrap(), written);
    let found = store.named("boardroom", "plan").await.unwrap();
    assert_eq!(found, Some(append(3).session));
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).await.close().await.unwrap();
    let mut newer =
        SqliteConnectOptions::new().filename(folder.path().join(DATABASE)).connect().await.unwrap();
    sqlx::query(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
         values (99, 'later', true, x'00', 0)",
    )
    .execute(&mut newer)
    .await
    .unwrap();
    newer.close().await.unwrap();
    let sentence = unreadable(folder.path()).await;
    assert!(sentence.contains("newer version of Plenary"), "{sentence}");
    assert_eq!(holder(folder.path()), None);
}

//! What only a database can show on which several write.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use plenary_domain::{CallId, SessionId, Timestamp, Usage, limits};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptState, ListQuery, NewEvent, Store, StoreError,
};
use plenary_store::postgres::{self, Address};
use plenary_store::testkit::Database;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

async fn open(database: &Database) -> postgres::PostgresStore {
    postgres::open(&Address::of(&database.url()).unwrap()).await.unwrap()
}

fn id(number: u128) -> SessionId {
    SessionId(Uuid::from_u128(number))
}

fn adding(session: SessionId, expected: u64) -> Append {
    Append {
        session,
        expected,
        epoch: None,
        kind: "council",
        name: None,
        project: None,
        imported: false,
        title: "a title".into(),
        status: "open",
        active: false,
        waits_for: vec![],
        actor: "ada".into(),
        at: Timestamp::UNIX_EPOCH,
        events: vec![NewEvent {
            name: "said",
            payload: "{}".into(),
            search: String::new(),
            listed: true,
        }],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

async fn positions(store: &dyn Store) -> Vec<u64> {
    let events = store.events_of_all(0, 100).await.unwrap();
    events.iter().map(|event| event.position.unwrap()).collect()
}

async fn run(connection: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.unwrap();
}

/// A transaction that has taken a position keeps readers of all from what comes after it,
/// until it ends, one way or the other. Whoever reads on then misses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_read_past_a_position_that_may_still_come() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    store.append(adding(id(1), 0)).await.unwrap();

    for (end, seen) in [("commit", vec![1, 2, 3]), ("rollback", vec![1, 2, 3, 5])] {
        let before = positions(&store).await;
        let mut writer = database.connect().await.unwrap();
        run(&mut writer, "begin; select plenary_begin_1()").await;
        run(
            &mut writer,
            "insert into event
             select stream_id, version + 100, nextval('event_position'), type, actor, payload, at
             from event order by version desc limit 1",
        )
        .await;
        // Others are not kept waiting, and nobody is told of what they wrote.
        let version = store.session(id(1)).await.unwrap().unwrap().version;
        let written = store.append(adding(id(1), version)).await.unwrap();
        assert!(matches!(written, Appended::Written { .. }), "{written:?}");
        assert_eq!(positions(&store).await, before);
        assert_eq!(store.position().await.unwrap(), *before.last().unwrap());
        match end {
            "commit" => run(&mut writer, "commit").await,
            _ => run(&mut writer, "rollback").await,
        }
        assert_eq!(positions(&store).await, seen, "{end}");
    }
}

/// A long transaction that is none of ours delays nobody.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_of_others_delay_no_reader() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    let mut other = database.connect().await.unwrap();
    run(&mut other, "begin; create table of_somebody_else (x int)").await;
    store.append(adding(id(1), 0)).await.unwrap();
    assert_eq!(positions(&store).await, [1]);
}

/// Many writers, and readers that go on after what they have seen last.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_beside_writers_see_every_event_once_and_in_one_order() {
    let Some(database) = Database::fresh() else { return };
    let nodes = [open(&database).await, open(&database).await];
    const EACH: u64 = 40;
    const SESSIONS: u128 = 12;
    let writing = join_all((1..=SESSIONS).map(|number| {
        let store = &nodes[number as usize % 2];
        async move {
            for version in 0..EACH {
                store.append(adding(id(number), version)).await.unwrap();
            }
        }
    }));
    let all = (SESSIONS as u64 * EACH) as usize;
    let reading = join_all(nodes.iter().map(|store| async move {
        let mut seen: Vec<(u64, SessionId, u64)> = vec![];
        while seen.len() < all {
            let after = seen.last().map_or(0, |last| last.0);
            let page = store.events_of_all(after, 50).await.unwrap();
            let page = page.into_iter();
            seen.extend(page.map(|event| (event.position.unwrap(), event.session, event.version)));
            tokio::task::yield_now().await;
        }
        seen
    }));
    let (_, seen) = tokio::join!(writing, reading);
    assert_eq!(seen[0], seen[1]);
    assert_eq!(
        seen[0].iter().map(|one| one.0).collect::<Vec<_>>(),
        (1..=all as u64).collect::<Vec<_>>()
    );
}

/// Ten nodes that start together make the tables once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_start_together() {
    let Some(database) = Database::fresh() else { return };
    let stores = join_all((0..10).map(|_| open(&database))).await;
    let mut connection = database.connect().await.unwrap();
    let is_made_once: bool =
        sqlx::query_scalar("select count(*) = max(version) from plenary_schema")
            .fetch_one(&mut connection)
            .await
            .unwrap();
    assert!(is_made_once);
    let secrets = join_all(stores.iter().map(|store| store.secret())).await;
    assert!(secrets.windows(2).all(|two| two[0].as_ref().unwrap() == two[1].as_ref().unwrap()));
}

async fn refusal(database: &Database) -> String {
    match postgres::open(&Address::of(&database.url()).unwrap()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_program_says_so_and_stops_unless_it_can_live_with_the_tables() {
    let Some(database) = Database::fresh() else { return };
    open(&database).await.close().await;
    let mut connection = database.connect().await.unwrap();
    run(&mut connection, "insert into plenary_schema (version, needs) values (9, 1)").await;
    open(&database).await.close().await;
    run(&mut connection, "update plenary_schema set needs = 9 where version = 9").await;
    let refusal = refusal(&database).await;
    assert!(refusal.contains("upgraded by a newer version of Plenary"), "{refusal}");
}

/// Everything that a node does, on a session of its own.
async fn work(store: &dyn Store, number: u128) {
    let (id, node, call) = (id(number), "old", CallId("a".into()));
    store.renew(node, Some("http://10.0.0.5:7171"), Duration::from_secs(60)).await.unwrap();
    let driven = Append { driver: Some(node.into()), active: true, ..adding(id, 0) };
    store.append(driven).await.unwrap();
    assert_eq!(store.begin_attempt(id, 1, &call, None).await.unwrap(), 1);
    store.save_draft(id, 1, &call, "partial").await.unwrap();
    let usage = Usage::default();
    let end = AttemptEnd { call: call.clone(), number: 1, state: AttemptState::Done, usage };
    let settled = Append { epoch: Some(1), attempts: vec![end], ..adding(id, 1) };
    let settled = store.append(settled).await.unwrap();
    assert!(matches!(settled, Appended::Written { version: 2, .. }), "{settled:?}");
    assert_eq!(store.drafts(id).await.unwrap(), []);
    assert_eq!(store.attempts(id).await.unwrap()[0].state, AttemptState::Done);
    assert_eq!(store.claim(node, &[id]).await.unwrap(), [(id, 2)]);
    store.release(id, 2).await.unwrap();
    store.waiting(node, Timestamp::UNIX_EPOCH, None, 10).await.unwrap();
    assert_eq!(store.versions(&[id]).await.unwrap(), [(id, 2)]);
    assert_eq!(store.session(id).await.unwrap().unwrap().version, 2);
    assert_eq!(store.events(id, 0, 10).await.unwrap().len(), 2);
    let query = ListQuery { words: Some("title".into()), limit: 10, ..ListQuery::default() };
    assert!(store.list(query).await.unwrap().total > 0);
    assert!(!store.events_of_all(0, 10).await.unwrap().is_empty());
    assert_eq!(store.nodes().await.unwrap().len(), 1);
    store.check().await.unwrap();
    assert!(store.remove(id).await.unwrap());
}

/// What a later version may do to the tables while this one runs on them.
const ADDED: &str = "
    alter table stream add column rank bigint not null default 0, add column note text;
    alter table event add column origin text;
    alter table attempt add column region text;
    alter table draft add column at bigint;
    alter table node add column zone text;
    alter table idempotency add column body text;
    alter table search add column weight bigint not null default 1;
    create table later (id uuid primary key references stream (id) on delete cascade);
    create index stream_rank on stream (rank) where active;
    create function plenary_write_2(jobs jsonb) returns jsonb language sql as $$
        select plenary_write_1(jobs) $$;
    insert into plenary_schema (version, needs) select max(version) + 1, 1 from plenary_schema";

#[tokio::test(flavor = "multi_thread")]
async fn a_running_node_goes_on_when_a_later_version_adds_to_the_tables() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    store.append(adding(id(1), 0)).await.unwrap();
    // On every connection, so that each has its statements prepared.
    join_all((2..26).map(|number| work(&store, number))).await;
    let mut connection = database.connect().await.unwrap();
    run(&mut connection, ADDED).await;
    join_all((32..56).map(|number| work(&store, number))).await;
    // And so does one that is started beside the new ones.
    let another = open(&database).await;
    work(&another, 99).await;
}

/// It was asleep beyond its lease, so that nobody could wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_running_node_learns_that_it_is_too_old_for_the_tables() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    work(&store, 1).await;
    let mut connection = database.connect().await.unwrap();
    let breaking = "insert into plenary_schema (version, needs)
        select max(version) + 1, max(version) + 1 from plenary_schema";
    run(&mut connection, breaking).await;
    let renewed = store.renew("old", None, Duration::from_secs(9)).await.unwrap_err();
    let checked = store.check().await.unwrap_err();
    for error in [renewed, checked] {
        let words = error.to_string();
        assert!(words.contains("upgraded by a newer version of Plenary"), "{words}");
        assert!(matches!(error, StoreError::Unreadable(_)), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_something_else_are_left_alone() {
    let Some(database) = Database::fresh() else { return };
    let mut connection = database.connect().await.unwrap();
    run(&mut connection, "create table invoice (id int)").await;
    let refusal = refusal(&database).await;
    assert!(refusal.contains("contains other tables (invoice)"), "{refusal}");
    assert!(!refusal.contains("postgres://plenary:"), "{refusal}");
}

/// The rights that a node needs once the tables are there.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_without_the_right_to_make_tables_can_run() {
    let Some(database) = Database::fresh() else { return };
    open(&database).await.close().await;
    let mut connection = database.connect().await.unwrap();
    let name: String =
        sqlx::query_scalar("select current_database()").fetch_one(&mut connection).await.unwrap();
    let rights = include_str!("../../../docs/rights.sql").replace("plenary_node", &name);
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("create role {name} login password 'p'; {rights}")))
        .execute(&mut connection)
        .await
        .unwrap();
    let rules: bool = sqlx::query_scalar(
        "select has_table_privilege($1, 'secret', 'update')
             or has_table_privilege($1, 'plenary_schema', 'insert')",
    )
    .bind(&name)
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert!(!rules, "a node changes neither the secret nor what the tables are");
    let url = database.url();
    let (_, place) = url.rsplit_once('@').unwrap();
    let address = Address::of(&format!("postgres://{name}:p@{place}")).unwrap();
    let store = postgres::open(&address).await.unwrap();
    store.append(adding(id(1), 0)).await.unwrap();
    store.renew("me", None, Duration::from_secs(9)).await.unwrap();
    store.claim("me", &[id(1)]).await.unwrap();
    store.check().await.unwrap();
    assert_eq!(positions(&store).await, [1]);
    assert!(store.remove(id(1)).await.unwrap());
    store.close().await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("drop owned by {name}; drop role {name}")))
        .execute(&mut connection)
        .await
        .unwrap();
}

/// Whoever is late with its lease is looked for again when that is over, if it drives
/// something.
#[tokio::test(flavor = "multi_thread")]
async fn others_look_when_a_lease_ends_that_was_not_renewed() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    let (now, long) = (Timestamp::UNIX_EPOCH, Duration::from_millis(limits::LEASE_MS));
    let late = Duration::from_millis(limits::LEASE_DOUBTED_MS - 1);
    let looked = async || {
        let waiting = store.waiting("me", now, None, 10).await.unwrap();
        waiting.wake_at.map(|at| at.as_millisecond())
    };
    store.renew("me", None, late).await.unwrap();
    store.renew("another", None, long).await.unwrap();
    store.renew("idle", None, late).await.unwrap();
    let driven = Append { driver: Some("another".into()), active: true, ..adding(id(1), 0) };
    store.append(driven).await.unwrap();
    assert_eq!(looked().await, None, "one is in time, one has nothing, one looks itself");
    store.renew("another", None, late).await.unwrap();
    let left_ms = looked().await.unwrap();
    assert!(left_ms > 0 && left_ms <= late.as_millis() as i64, "{left_ms}");
    store.renew("another", None, Duration::ZERO).await.unwrap();
    assert_eq!(looked().await, None, "it is over");
}

/// What one writes the other hears of, and nobody hears oneself.
#[tokio::test(flavor = "multi_thread")]
async fn others_hear_of_changes() {
    let Some(database) = Database::fresh() else { return };
    let (one, other) = (open(&database).await, open(&database).await);
    let mut heard = other.changes();
    let mut echo = one.changes();
    let mut version = 0;
    // Until the listener is there: what was told before is lost.
    let told = async {
        loop {
            one.append(adding(id(1), version)).await.unwrap();
            version += 1;
            tokio::select! {
                session = heard.next() => return session,
                () = tokio::time::sleep(Duration::from_millis(100)) => {}
            }
        }
    };
    assert_eq!(told.await, Some(id(1)));
    let own = tokio::time::timeout(Duration::from_millis(200), echo.next()).await;
    assert!(own.is_err(), "{own:?}");
}

/// A connection that the server ends is replaced; what never left is not in doubt.
#[tokio::test(flavor = "multi_thread")]
async fn lost_connections_are_made_again() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    store.append(adding(id(1), 0)).await.unwrap();
    let mut connection = database.connect().await.unwrap();
    run(
        &mut connection,
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()",
    )
    .await;
    // Reading is asked again by itself; of a write that met a dead connection nobody knows.
    assert_eq!(store.session(id(1)).await.unwrap().unwrap().version, 1);
    match store.append(adding(id(1), 1)).await {
        Ok(appended) => assert!(matches!(appended, Appended::Written { version: 2, .. })),
        Err(error) => assert!(matches!(error, StoreError::Failed(_)), "{error:?}"),
    }
    let version = store.session(id(1)).await.unwrap().unwrap().version;
    let appended = store.append(adding(id(1), version)).await.unwrap();
    assert!(matches!(appended, Appended::Written { .. }), "{appended:?}");
    connection.close().await.unwrap();
}

/// What is refused by the database was certainly not written.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_is_certain() {
    let Some(database) = Database::fresh() else { return };
    let store = open(&database).await;
    store.append(adding(id(1), 0)).await.unwrap();
    let mut connection = database.connect().await.unwrap();
    run(&mut connection, "alter table event add constraint full_up check (version < 2)").await;
    let error = store.append(adding(id(1), 1)).await.unwrap_err();
    assert!(matches!(error, StoreError::NotWritten(_)), "{error:?}");
    assert_eq!(store.session(id(1)).await.unwrap().unwrap().version, 1);
}

//! What goes wrong in a group, and who is told.

use std::path::Path;

use plenary_domain::{SessionId, Timestamp};
use plenary_engine::ports::{Append, Appended, NewEvent};
use sqlx::{ConnectOptions, SqlSafeStr};
use uuid::Uuid;

use super::*;
use crate::sqlite::{migrations, writing};

/// Any statement as a write.
struct Statement(&'static str);

#[async_trait]
impl Write for Statement {
    type Answer = u64;

    async fn run(&self, batch: &mut Batch) -> Result<u64, sqlx::Error> {
        let done = sqlx::query(self.0.into_sql_str()).execute(&mut batch.connection).await?;
        Ok(done.rows_affected())
    }
}

async fn batch(folder: &Path) -> Batch {
    let file = folder.join("test.sqlite3");
    let mut connection = writing(&file).create_if_missing(true).connect().await.unwrap();
    let migrations = migrations();
    let made = migrations.run_direct(None, &mut connection, false).await;
    made.unwrap();
    Batch::new(connection, Arc::default(), Arc::default())
}

fn pending<W: Write>(write: W) -> (Box<dyn Job>, Answer<W>) {
    let (reply, told) = oneshot::channel();
    let answer = None;
    let job = Pending { write, answer, reply };
    (Box::new(job), told)
}

type Answer<W> = oneshot::Receiver<Result<<W as Write>::Answer, StoreError>>;

/// Each statement's answer when all are committed as one group.
async fn group(batch: &mut Batch, statements: &[&'static str]) -> Vec<Result<u64, String>> {
    let (mut jobs, answers): (Vec<_>, Vec<_>) =
        statements.iter().map(|statement| pending(Statement(statement))).unzip();
    commit(batch, &mut jobs).await;
    let mut told = Vec::new();
    for answer in answers {
        told.push(answer.await.unwrap().map_err(|error| error.to_string()));
    }
    told
}

fn append(number: u128, events: usize) -> Append {
    let event =
        NewEvent { name: "opened", payload: "{}".into(), search: "alpha".into(), listed: true };
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
        at: Timestamp::UNIX_EPOCH,
        events: vec![event; events],
        attempts: vec![],
        idempotency: None,
        driver: None,
        wake_at: None,
    }
}

async fn removed(batch: &mut Batch) -> i64 {
    sqlx::query_scalar("select count(*) from removed")
        .fetch_one(&mut batch.connection)
        .await
        .unwrap()
}

#[tokio::test]
async fn one_bad_write_does_not_spoil_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    let answers = group(
        &mut batch,
        &[
            "insert into removed (id) values (x'01')",
            "insert into removed (id) values (x'02'), (x'01')",
            "insert into removed (id) values (x'03'), (x'04')",
        ],
    )
    .await;
    assert_eq!((&answers[0], &answers[2]), (&Ok(1), &Ok(2)));
    let told = answers[1].as_ref().unwrap_err();
    assert!(told.contains("UNIQUE constraint failed"), "{told}");
    assert_eq!(removed(&mut batch).await, 3);
}

#[tokio::test]
async fn positions_have_no_gap_after_a_rollback() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    let bad = "insert into removed (id) values (null)";
    // Enough events that some are in the table before the bad write comes.
    let (one, answer_to_one) = pending(append(1, 40));
    let (two, answer_to_two) = pending(append(2, 1));
    let (three, answer_to_three) = pending(append(3, 1));
    commit(&mut batch, &mut vec![one, pending(Statement(bad)).0, two]).await;
    commit(&mut batch, &mut vec![three]).await;
    for (answer, version, first_position) in
        [(answer_to_one, 40, 1), (answer_to_two, 1, 41), (answer_to_three, 1, 42)]
    {
        let positions = (first_position..).take(version as usize).map(Some).collect();
        let written = Appended::Written { version, positions, epoch: None };
        assert_eq!(answer.await.unwrap().unwrap(), written);
    }
    let stored: Vec<i64> = sqlx::query_scalar("select position from event order by position")
        .fetch_all(&mut batch.connection)
        .await
        .unwrap();
    assert_eq!(stored, (1..=42).collect::<Vec<i64>>());
}

/// Beside a bad write, a chain is run twice and written once.
#[tokio::test]
async fn a_chain_stands_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    let bad = "insert into removed (id) values (null)";
    let chain = (0..40).map(|expected| Append { expected, ..append(1, 1) }).collect();
    let (chain, answer) = pending(crate::sqlite::append::Chain(chain));
    commit(&mut batch, &mut vec![chain, pending(Statement(bad)).0]).await;
    let written =
        |version| Appended::Written { version, positions: vec![Some(version)], epoch: None };
    assert_eq!(answer.await.unwrap().unwrap(), (1..=40).map(written).collect::<Vec<_>>());
    let stored: Vec<i64> = sqlx::query_scalar("select version from event order by version")
        .fetch_all(&mut batch.connection)
        .await
        .unwrap();
    assert_eq!(stored, (1..=40).collect::<Vec<i64>>());
}

#[tokio::test]
async fn a_failed_commit_is_told_to_everyone_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    let answers = group(
        &mut batch,
        &[
            "insert into removed (id) values (x'01')",
            "pragma defer_foreign_keys = on",
            "insert into draft values (x'07', 'no such session', '')",
        ],
    )
    .await;
    for answer in answers {
        let told = answer.unwrap_err();
        assert!(told.contains("FOREIGN KEY constraint failed"), "{told}");
    }
    assert_eq!(removed(&mut batch).await, 0);
    let next = group(&mut batch, &["insert into removed (id) values (x'01')"]).await;
    assert_eq!(next, [Ok(1)]);
}

#[tokio::test]
async fn a_full_disk_is_told_and_can_be_recovered_from() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    batch.execute("pragma max_page_count = 1").await.unwrap();
    let large = "insert into removed (id) values (zeroblob(100000))";
    let full = Err("the store failed: the disk is full".to_owned());
    assert_eq!(group(&mut batch, &[large]).await[0], full);
    assert_eq!(group(&mut batch, &[large, large]).await, [full.clone(), full]);
    assert_eq!(removed(&mut batch).await, 0);

    batch.execute("pragma max_page_count = 100000").await.unwrap();
    assert_eq!(group(&mut batch, &[large]).await, [Ok(1)]);
    assert_eq!(removed(&mut batch).await, 1);
}

#[tokio::test]
async fn a_database_that_cannot_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    batch.execute("pragma query_only = on").await.unwrap();
    let answers = group(&mut batch, &["insert into removed (id) values (x'01')"]).await;
    let told = "the store failed: the data folder is read-only".to_owned();
    assert_eq!(answers, [Err(told)]);
}

/// No kill of a process shows what a power cut does, so the setting itself is
/// checked: full, which waits for the disk at each commit.
#[tokio::test]
async fn a_commit_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut batch = batch(folder.path()).await;
    let settings: (String, i64, i64) = sqlx::query_as(
        "select journal_mode, synchronous, foreign_keys
         from pragma_journal_mode, pragma_synchronous, pragma_foreign_keys",
    )
    .fetch_one(&mut batch.connection)
    .await
    .unwrap();
    assert_eq!(settings, ("wal".into(), 2, 1));
}

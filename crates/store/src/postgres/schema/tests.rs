//! Programs of several versions on one database.

use super::*;
use crate::testkit::Database;

const FIRST: Migration = Migration { version: 1, needs: 1, sql: MIGRATIONS[0].sql };
/// Whoever knows the first can live with it.
const ADDS: Migration = Migration {
    version: 2,
    needs: 1,
    sql: "alter table stream add column rank bigint not null default 0",
};
/// Nobody who does not know it can.
const BREAKS: Migration =
    Migration { version: 3, needs: 3, sql: "alter table stream rename column owner to driver" };

async fn start(database: &Database, known: &[Migration]) -> Result<Standing, String> {
    let mut connection = database.connect().await.unwrap();
    let prepared = prepare_for(known, &mut connection, "the database").await;
    prepared.map_err(|error| error.to_string())?;
    Ok(standing(&mut connection).await.unwrap().unwrap())
}

async fn run(database: &Database, sql: &'static str) {
    let mut connection = database.connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn old_and_new_live_side_by_side_until_one_could_not() {
    let Some(database) = Database::fresh() else { return };
    let (old, new) = ([FIRST], [FIRST, ADDS]);
    assert_eq!(start(&database, &old).await, Ok((1, 1)));
    run(
        &database,
        "insert into node (id, lease_until, schema, address, program)
         values ('a', clock_timestamp() + interval '1 minute', 1, 'http://10.0.0.5:7171', '0.1.0')",
    )
    .await;
    assert_eq!(start(&database, &new).await, Ok((2, 1)), "beside the old one");
    assert_eq!(start(&database, &old).await, Ok((2, 1)), "which may be started again");

    let newest = [FIRST, ADDS, BREAKS];
    let refused = start(&database, &newest).await.unwrap_err();
    assert!(refused.contains("still run"), "{refused}");
    assert!(refused.contains("stop them first: http://10.0.0.5:7171 (0.1.0)"), "{refused}");
    assert_eq!(start(&database, &new).await, Ok((2, 1)), "nothing was changed");

    run(&database, "update node set lease_until = clock_timestamp()").await;
    assert_eq!(start(&database, &newest).await, Ok((3, 3)));
    for older in [&old[..], &new[..]] {
        let refused = start(&database, older).await.unwrap_err();
        assert!(refused.contains("upgraded by a newer version of Plenary"), "{refused}");
    }
}

-- Ids are 16-byte blobs, so that UUIDv7 sorts by age. Times are milliseconds
-- since 1970. A shipped migration is never edited: a change is a new file.

create table stream (
    -- A small number of its own: rows of the search index are named by it.
    number integer primary key autoincrement,
    id blob not null unique,
    kind text not null,
    title text not null,
    status text not null,
    active integer not null,
    version integer not null,
    epoch integer not null,
    owner text,
    -- Null while the data folder's lock keeps other processes away.
    lease_until integer,
    created_at integer not null,
    updated_at integer not null
) strict;

create index stream_active on stream (id) where active = 1;

create table event (
    -- Commit order over all streams. A number is never given twice.
    position integer primary key autoincrement,
    stream_id blob not null references stream (id) on delete cascade,
    version integer not null,
    type text not null,
    actor text not null,
    payload text not null,
    at integer not null,
    unique (stream_id, version)
) strict;

create table idempotency (
    principal text not null,
    key text not null,
    request_hash text not null,
    stream_id blob not null references stream (id) on delete cascade,
    version integer not null,
    at integer not null,
    primary key (principal, key)
) strict, without rowid;

create index idempotency_stream on idempotency (stream_id);

create table attempt (
    stream_id blob not null references stream (id) on delete cascade,
    call_id text not null,
    number integer not null,
    epoch integer not null,
    state text not null,
    input_tokens integer,
    output_tokens integer,
    primary key (stream_id, call_id, number)
) strict, without rowid;

create table draft (
    stream_id blob not null references stream (id) on delete cascade,
    call_id text not null,
    text text not null,
    primary key (stream_id, call_id)
) strict;

-- Ids of removed streams: none of them may come back.
create table removed (
    id blob primary key
) strict, without rowid;

-- The words of titles and events. The text itself is not kept a second time.
-- A row's id is the stream's number and, in its lowest 24 bits, the version of
-- the event; 0 there is the title.
create virtual table search using fts5 (
    words,
    content = '',
    contentless_delete = 1,
    tokenize = 'unicode61 remove_diacritics 2'
);

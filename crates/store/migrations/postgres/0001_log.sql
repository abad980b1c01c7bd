-- Ids are UUIDv7, which sort by age. Times are milliseconds since 1970, but for leases,
-- which go by the database's own clock. Text is bytes to us: order and equality are those
-- of "C". A shipped migration is never edited: a change is a new file.

create table stream (
    id uuid primary key,
    kind text collate "C" not null,
    name text collate "C",
    project text collate "C",
    title text collate "C" not null,
    status text collate "C" not null,
    active boolean not null,
    -- The people whose reply is awaited: a JSON array of names, for lists.
    waits_for text collate "C" not null,
    imported boolean not null,
    version bigint not null,
    epoch bigint not null,
    -- The node that drives the session; null while nobody has to.
    owner text collate "C",
    wake_at bigint,
    created_at bigint not null,
    updated_at bigint not null
) with (fillfactor = 70);

create index stream_active on stream (id) where active;
create index stream_wake on stream (wake_at) where active and wake_at is not null;
create index stream_owner on stream (owner) where owner is not null;
create index stream_waiting on stream (id) where waits_for <> '[]';

-- A name means one session of its kind for ever, so it outlives the session.
create table name (
    kind text collate "C" not null,
    name text collate "C" not null,
    stream_id uuid not null,
    primary key (kind, name)
);

-- Ids of removed sessions: none of them may come back.
create table removed (
    id uuid primary key
);

-- The order of listed events over all sessions. See plenary_settled_1.
create sequence event_position as bigint;

create table event (
    stream_id uuid not null references stream (id) on delete cascade,
    version bigint not null,
    -- Null for an event that readers of all must not know of: it uses up none, so that no
    -- gap tells of it.
    position bigint,
    type text collate "C" not null,
    actor text collate "C" not null,
    payload text collate "C" not null,
    at bigint not null,
    primary key (stream_id, version)
);

create unique index event_by_position on event (position) where position is not null;

create table idempotency (
    principal text collate "C" not null,
    key text collate "C" not null,
    request_hash text collate "C" not null,
    stream_id uuid not null references stream (id) on delete cascade,
    first bigint not null,
    version bigint not null,
    at bigint not null,
    lasting boolean not null,
    primary key (principal, key)
);

create index idempotency_stream on idempotency (stream_id);
create index idempotency_at on idempotency (at);

create table attempt (
    stream_id uuid not null references stream (id) on delete cascade,
    call_id text collate "C" not null,
    number bigint not null,
    epoch bigint not null,
    state text collate "C" not null,
    input_tokens bigint,
    output_tokens bigint,
    cached_tokens bigint,
    reasoning_tokens bigint,
    cost_nano_usd bigint,
    primary key (stream_id, call_id, number)
);

create table draft (
    stream_id uuid not null references stream (id) on delete cascade,
    call_id text collate "C" not null,
    text text collate "C" not null,
    primary key (stream_id, call_id)
);

-- The words of titles (version 0) and events, folded before they come here: nothing of the
-- database's own languages is used. A long text has several parts.
create table search (
    stream_id uuid not null references stream (id) on delete cascade,
    version bigint not null,
    part bigint not null,
    words tsvector not null,
    primary key (stream_id, version, part)
);

create index search_words on search using gin (words);

-- Made once with the database and never changed: what is derived from it stays the same,
-- and nobody outside can work it out.
create table secret (
    only_row boolean primary key check (only_row),
    bytes bytea not null check (length(bytes) = 32)
);

insert into secret values (true, sha256((gen_random_uuid()::text || gen_random_uuid()::text
    || gen_random_uuid()::text)::bytea));

-- Written to see whether the store can be written. Several rows, so that nodes do not wait
-- for each other.
create table beat (
    number bigint primary key,
    count bigint not null
) with (fillfactor = 50);

insert into beat select number, 0 from generate_series(0, 15) as number;

-- The nodes that live, or lived lately. `schema` is the newest of these files that the
-- program knows. One that is draining will end soon.
create table node (
    id text collate "C" primary key,
    lease_until timestamptz not null,
    since timestamptz not null default clock_timestamp(),
    schema bigint not null,
    draining boolean not null default false,
    address text collate "C",
    program text collate "C"
) with (fillfactor = 50);

-- ---------------------------------------------------------------------------
-- Order over all sessions.
--
-- Positions come from a sequence, so they become visible out of order: whoever took 7 may
-- commit before whoever took 6. A reader that goes on after 7 would miss 6 for ever. So
-- every transaction that takes positions first holds a shared lock that names the last
-- position given before (its floor): whatever it takes is greater. A reader looks (1) how
-- far the sequence is, (2) which floors are held, and (3), with a snapshot taken after
-- that, reads up to the least of these. Whoever had taken a position by (1) either holds
-- its floor at (2), or has ended and is seen by (3), because a commit is seen before its
-- locks are let go. Nobody waits for anybody, and no transaction but these is waited for.

create function plenary_begin_1() returns void language plpgsql as $$
declare
    floor bigint;
begin
    select case when is_called then last_value else 0 end into floor from event_position;
    perform pg_advisory_xact_lock_shared(5785999621264244736 + floor);
    -- An answer may be given only for what a power cut does not take back.
    if current_setting('synchronous_commit') = 'off' then
        perform set_config('synchronous_commit', 'on', true);
    end if;
end
$$;

-- The position up to which nothing can come any more. Read with a later statement.
create function plenary_settled_1() returns bigint language plpgsql as $$
declare
    given bigint;
    floor bigint;
begin
    select case when is_called then last_value else 0 end into given from event_position;
    select min((classid::bigint << 32 | objid::bigint) - 5785999621264244736) into floor
    from pg_locks
    where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 16 = 20556
        and database = (select oid from pg_database where datname = current_database());
    return least(given, floor);
end
$$;

-- ---------------------------------------------------------------------------
-- Writing. One call is one transaction: what waited on a node goes together.

create function plenary_lives_1(node_id text) returns boolean language sql stable as $$
    select exists (
        select 1 from node where id = node_id and lease_until > clock_timestamp())
$$;

create function plenary_end_attempt_1(session uuid, ended jsonb) returns void
language sql as $$
    update attempt
    set state = ended ->> 'state',
        input_tokens = (ended ->> 'input')::bigint,
        output_tokens = (ended ->> 'output')::bigint,
        cached_tokens = (ended ->> 'cached')::bigint,
        reasoning_tokens = (ended ->> 'reasoning')::bigint,
        cost_nano_usd = (ended ->> 'cost')::bigint
    where stream_id = session and call_id = ended ->> 'call'
        and number = (ended ->> 'number')::bigint and state = 'begun'
$$;

create function plenary_append_1(session uuid, op jsonb) returns jsonb language plpgsql as $$
declare
    expected bigint := (op ->> 'expected')::bigint;
    held bigint := (op ->> 'epoch')::bigint;
    node_id text := op ->> 'driver';
    moment bigint := (op ->> 'at')::bigint;
    count bigint := jsonb_array_length(op -> 'events');
    earlier idempotency;
    standing stream;
    takes boolean;
    retitled boolean;
    places jsonb;
    ended jsonb;
begin
    if op ? 'key' then
        select * into earlier from idempotency
        where principal = op ->> 'principal' and key = op ->> 'key';
        if found then
            return jsonb_build_object('is', 'repeated', 'request_hash', earlier.request_hash,
                'session', earlier.stream_id, 'first', earlier.first,
                'version', earlier.version);
        end if;
    end if;

    select * into standing from stream where id = session for no key update;
    if not found then
        if expected > 0 or exists (select 1 from removed where id = session) then
            return '{"is": "gone"}';
        end if;
        insert into stream (id, kind, name, project, title, status, active, waits_for, imported,
            version, epoch, owner, wake_at, created_at, updated_at)
        values (session, op ->> 'kind', op ->> 'name', op ->> 'project', op ->> 'title',
            op ->> 'status', (op ->> 'active')::boolean, op ->> 'waits_for',
            (op ->> 'imported')::boolean, count, (node_id is not null)::int, node_id,
            (op ->> 'wake_at')::bigint, moment, moment)
        on conflict (id) do nothing
        returning * into standing;
        if not found then
            -- Another node has opened it meanwhile.
            select * into standing from stream where id = session;
            return jsonb_build_object('is', 'conflict', 'version', coalesce(standing.version, 0));
        end if;
        if op ->> 'name' is not null then
            insert into name values (op ->> 'kind', op ->> 'name', session) on conflict do nothing;
            if not found then
                delete from stream where id = session;
                return '{"is": "taken"}';
            end if;
        end if;
        takes := node_id is not null;
        retitled := true;
    else
        -- Losing the session weighs more than being late: a driver that was replaced must
        -- not decide again.
        if held <> standing.epoch then
            return '{"is": "fenced"}';
        end if;
        if expected <> standing.version then
            return jsonb_build_object('is', 'conflict', 'version', standing.version);
        end if;
        -- Whoever drives it says who does from now on; somebody else gets it if it is free,
        -- under an epoch of their own.
        takes := node_id is not null and (held is not null or standing.owner is null
            or standing.owner = node_id or not plenary_lives_1(standing.owner));
        retitled := standing.title <> op ->> 'title';
        update stream
        set version = version + count, title = op ->> 'title', status = op ->> 'status',
            active = (op ->> 'active')::boolean, waits_for = op ->> 'waits_for',
            wake_at = (op ->> 'wake_at')::bigint,
            -- Everybody may read the time, and it would tell of an event that is not listed.
            updated_at = case when (op ->> 'seen')::boolean then moment else updated_at end,
            owner = case when held is not null or takes then node_id else owner end,
            epoch = epoch + (held is null and takes)::int
        where id = session
        returning * into standing;
    end if;

    with written as (
        insert into event (stream_id, version, position, type, actor, payload, at)
        select session, expected + number,
            case when (one ->> 'listed')::boolean then nextval('event_position') end,
            one ->> 'name', op ->> 'actor', one ->> 'payload', moment
        from jsonb_array_elements(op -> 'events') with ordinality as given (one, number)
        returning version, position)
    select jsonb_agg(position order by version) into places from written;

    if retitled then
        delete from search where stream_id = session and version = 0;
    end if;
    insert into search (stream_id, version, part, words)
    select session, (one ->> 'version')::bigint, (one ->> 'part')::bigint,
        (one ->> 'words')::tsvector
    from jsonb_array_elements(op -> 'words') as given (one)
    where retitled or (one ->> 'version')::bigint > 0;

    for ended in select * from jsonb_array_elements(op -> 'attempts') loop
        perform plenary_end_attempt_1(session, ended);
        delete from draft where stream_id = session and call_id = ended ->> 'call';
    end loop;

    if op ? 'key' then
        insert into idempotency values (op ->> 'principal', op ->> 'key', op ->> 'request_hash',
            session, expected + 1, expected + count, moment, (op ->> 'lasting')::boolean)
        on conflict do nothing;
        if not found then
            -- The same request is being carried out elsewhere: this one is tried again, and
            -- then finds the other's answer.
            raise exception 'the key is in use' using errcode = 'PL001';
        end if;
    end if;
    return jsonb_build_object('is', 'written', 'version', standing.version, 'positions', places,
        'epoch', case when takes then standing.epoch end);
end
$$;

create function plenary_begin_attempt_1(session uuid, op jsonb) returns jsonb
language plpgsql as $$
declare
    this bigint;
    ended jsonb := op -> 'ended';
begin
    perform 1 from stream where id = session and epoch = (op ->> 'epoch')::bigint
    for no key update;
    if not found then
        return '{"is": "fenced"}';
    end if;
    select 1 + coalesce(max(number), 0) into this
    from attempt where stream_id = session and call_id = op ->> 'call';
    insert into attempt (stream_id, call_id, number, epoch, state)
    values (session, op ->> 'call', this, (op ->> 'epoch')::bigint, 'begun');
    -- What ended is an earlier attempt, whatever the caller says.
    if jsonb_typeof(ended) = 'object'
        and (ended ->> 'call', (ended ->> 'number')::bigint) <> (op ->> 'call', this)
    then
        perform plenary_end_attempt_1(session, ended);
        if (op ->> 'owes')::boolean then
            insert into draft values (session, op ->> 'call', '') on conflict do nothing;
        end if;
    end if;
    return jsonb_build_object('is', 'begun', 'number', this);
end
$$;

create function plenary_do_1(session uuid, op jsonb) returns jsonb language plpgsql as $$
begin
    case op ->> 'do'
    when 'append' then
        return plenary_append_1(session, op);
    when 'begin' then
        return plenary_begin_attempt_1(session, op);
    when 'draft' then
        insert into draft
        select id, op ->> 'call', op ->> 'text' from stream
        where id = session and epoch = (op ->> 'epoch')::bigint
        on conflict (stream_id, call_id) do update set text = excluded.text;
        return case when found then '{"is": "done"}'::jsonb else '{"is": "fenced"}' end;
    when 'end' then
        perform 1 from stream where id = session and epoch = (op ->> 'epoch')::bigint;
        if not found then
            return '{"is": "fenced"}';
        end if;
        perform plenary_end_attempt_1(session, op -> 'ended');
        delete from draft where stream_id = session and call_id = op -> 'ended' ->> 'call';
        return '{"is": "done"}';
    when 'remove' then
        delete from stream where id = session;
        if not found then
            return '{"is": "gone"}';
        end if;
        insert into removed values (session);
        return '{"is": "done"}';
    end case;
end
$$;

-- Jobs are [{session, ops}], each up to its first op that is refused. Answers come in the
-- same shape. Sessions are locked in one order for all, so that nodes do not wait for each
-- other in a circle.
create function plenary_write_1(jobs jsonb) returns jsonb language plpgsql as $$
declare
    job jsonb;
    op jsonb;
    answer jsonb;
    answers jsonb;
    all_answers jsonb[] := '{}';
begin
    perform plenary_begin_1();
    perform 1 from stream
    where id in (select (value ->> 'session')::uuid from jsonb_array_elements(jobs))
    order by id for no key update;
    for job in select * from jsonb_array_elements(jobs) loop
        answers := '[]';
        for op in select * from jsonb_array_elements(job -> 'ops') loop
            answer := plenary_do_1((job ->> 'session')::uuid, op);
            answers := answers || answer;
            exit when answer ->> 'is' in ('conflict', 'fenced', 'gone', 'taken', 'repeated');
        end loop;
        all_answers := all_answers || answers;
    end loop;
    return to_jsonb(all_answers);
end
$$;

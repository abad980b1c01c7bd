-- A name means one session of its kind for ever, so that it can be written down
-- and said. Most kinds have none.
alter table stream add column name text;
alter table stream add column project text;

create unique index stream_name on stream (kind, name) where name is not null;

-- A name outlives its session: nobody may find another one under it.
alter table removed add column kind text;
alter table removed add column name text;

create unique index removed_name on removed (kind, name) where name is not null;

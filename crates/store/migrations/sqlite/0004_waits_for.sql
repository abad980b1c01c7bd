-- The people whose reply a session waits for: a JSON array of names, for lists.
alter table stream add column waits_for text not null default '[]';

create index stream_waiting on stream (id) where waits_for <> '[]';

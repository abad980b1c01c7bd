-- When something will be due in a session in which nothing is yet: it need not be in
-- memory until then. `owner` is the node that drives the session, and null while nobody
-- has to.
alter table stream add column wake_at integer;

create index stream_wake on stream (wake_at) where active = 1 and wake_at is not null;

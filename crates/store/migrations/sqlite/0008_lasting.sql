-- Keys that are remembered as long as their session, because they are derived from what
-- made a command due; and where the events of a request begin, which earlier rows do not
-- know.
alter table idempotency add column first integer;
alter table idempotency add column lasting integer not null default 0;

-- Whether a session was taken over from a record of elsewhere, for lists. The event that
-- says so has always been there.
alter table stream add column imported integer not null default 0;

update stream set imported = 1 where id in (select stream_id from event where type = 'imported');

-- What people call a session, in place of its own title, and whether it stays on top of lists.
-- No part of the log: nothing of a session changes by it. Programs that know nothing of it
-- show its own title.
alter table stream add column label text collate "C";
alter table stream add column pinned boolean not null default false;

create index stream_pinned on stream (id) where pinned;

-- What people call a session, in place of its own title, and whether it stays on top of lists.
-- No part of the log: nothing of a session changes by it.
alter table stream add column label text;
alter table stream add column pinned integer not null default 0;

create index stream_pinned on stream (id) where pinned = 1;

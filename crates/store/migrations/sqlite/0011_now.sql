-- Whoever looks round for what nobody goes on with reads nothing of what sleeps.
create index stream_now on stream (id) where active = 1 and wake_at is null;

-- Written to see whether the store can be written. Nobody reads it.
create table beat (
    only_row integer primary key check (only_row = 1),
    count integer not null
) strict;

insert into beat values (1, 0);

-- Old answers are looked for while the log grows.
create index idempotency_at on idempotency (at);

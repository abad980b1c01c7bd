-- Made once with the database and never changed: what is derived from it stays
-- the same over restarts, and nobody outside can work it out.
create table secret (
    only_row integer primary key check (only_row = 1),
    bytes blob not null check (length(bytes) = 32)
) strict;

insert into secret values (1, randomblob(32));

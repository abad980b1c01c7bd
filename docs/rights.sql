-- What a node needs once the tables are there. Whoever makes and upgrades the tables (the
-- database's owner) runs this after each upgrade, for the role that nodes sign in with.
grant usage on schema public to plenary_node;
grant select, insert, update, delete on all tables in schema public to plenary_node;
-- Nodes read these two; only the owner changes them.
revoke insert, update, delete on plenary_schema, secret from plenary_node;
grant select, usage on all sequences in schema public to plenary_node;
grant execute on all functions in schema public to plenary_node;

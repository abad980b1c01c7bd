-- What an attempt took beside the tokens in and out: of the first those from a cache, of
-- the others those of thinking, and what the provider says that it costs.
alter table attempt add column cached_tokens integer;
alter table attempt add column reasoning_tokens integer;
alter table attempt add column cost_nano_usd integer;

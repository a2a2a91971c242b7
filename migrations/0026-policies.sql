-- What an agent may do with a secret key; null: everything that its key opens.
alter table api_keys add column policy jsonb;

-- The first key of a chain of rotations. The limits of a policy count over the whole chain; null: the key itself.
alter table api_keys add column origin_id uuid;

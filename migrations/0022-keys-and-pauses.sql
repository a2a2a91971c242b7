-- A key may end at a time of its own: set on creation, or by a rotation that lets the old key work for a while.
alter table api_keys add column expires_at timestamptz;

-- Set while the project is paused: nothing is given to a gateway until it is null again.
alter table projects add column paused_at timestamptz;

-- Browsers that are signed in to the console, each on behalf of a management token. Global like the tokens.
-- A code is a session that has not begun: the link printed at a start, good for one exchange.
create table sessions (
  hash bytea primary key,
  -- No foreign key: a session whose token is gone opens nothing, and ends by its time.
  token_id uuid not null,
  is_code boolean not null,
  expires_at timestamptz not null
);

create index sessions_expiry on sessions (expires_at);


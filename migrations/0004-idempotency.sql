-- What a caller asked for under a key of its own, so that asking again does nothing again. A row is written in the
-- transaction that writes the work, and its answer when the work is done: both survive a crash.
create table idempotency_keys (
  project_id text collate "C" not null references projects on delete cascade,
  -- The path for HTTP calls, 'a2a' for messages of agents.
  scope text collate "C" not null,
  key text collate "C" not null,
  -- SHA-256 of what was asked.
  fingerprint bytea not null,
  -- What was begun, in the words of the capability: a repeat after a crash goes on with it.
  work jsonb not null,
  -- Null while the first call runs.
  answer jsonb,
  -- Who died is not waited for any longer than this.
  held_until timestamptz not null,
  expires_at timestamptz not null,
  primary key (project_id, scope, key)
);

create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- Where a project wants to hear what became of its messages.
create table webhooks (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  url text not null,
  events text[] not null,
  active boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, id)
);

-- Sealed with the master key. The owner is a webhook's id, or 'project' for the secret that signs all other calls.
create table webhook_secrets (
  project_id text collate "C" not null references projects on delete cascade,
  owner text collate "C" not null,
  sealed text not null,
  -- Still signs beside the current one until then.
  previous text,
  previous_until timestamptz,
  created_at timestamptz not null,
  primary key (project_id, owner)
);

-- What happened, booked in the transaction in which it did, and not yet part of a call. A row holds what one transaction
-- told one webhook: a list of events.
create table webhook_events (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  webhook_id uuid not null,
  events jsonb not null,
  primary key (project_id, id)
);

-- Found by who has something to send, however many projects there are.
create index webhook_events_waiting on webhook_events (project_id, webhook_id, id);

-- Calls to make. Those of one lane are made one after the other, by position. A job per lane makes them (webhooks.deliver).
create table webhook_calls (
  project_id text collate "C" not null references projects on delete cascade,
  -- The webhook-id that receivers know repeats by.
  id uuid not null,
  lane text collate "C" not null,
  position bigint not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  source_kind text not null,
  source_id text collate "C" not null,
  url text not null,
  -- Sealed: they may hold the receiver's credentials.
  headers text,
  body text not null,
  attempts int not null,
  last_status int,
  last_error text,
  created_at timestamptz not null,
  next_at timestamptz not null,
  expires_at timestamptz not null,
  settled_at timestamptz,
  primary key (project_id, id)
);

create index webhook_calls_lane on webhook_calls (project_id, lane, position, id) where state = 'pending';

create index webhook_calls_state on webhook_calls (project_id, state, id);

create index webhook_calls_source on webhook_calls (project_id, source_id) where state = 'pending';

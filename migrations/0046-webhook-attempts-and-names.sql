-- A note for people: what the endpoint is for.
alter table webhooks add column description text;

-- One row for each request of a call. Deleted with its call; a replay keeps the newest (docs/decisions/0056).
create table webhook_attempts (
  project_id text collate "C" not null,
  call_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  duration_ms int not null,
  -- Null: no response arrived.
  status int,
  -- Null: the receiver accepted the call.
  error text,
  -- As they were sent, with the values masked that the subscriber chose: they may hold its credentials.
  headers jsonb not null,
  -- The beginning of the body of the response.
  response text,
  primary key (project_id, call_id, id),
  foreign key (project_id, call_id) references webhook_calls on delete cascade
);

-- The deliveries of one webhook or task, newest first.
create index webhook_calls_of on webhook_calls (project_id, source_id, id);

-- Changes that one person or program made, newest first, and the list of these.
create index audit_log_actor on audit_log (project_id, actor, id);

-- Names of keys, tokens and members that were deleted, for the entries that they left behind. Global like api_keys and
-- tokens; a name goes with the project that it belonged to.
create table former_names (
  -- As the audit log has it: `key …`, `token …`, `member …`.
  actor text collate "C" primary key,
  -- Null: it belonged to the whole installation.
  project_id text collate "C",
  name text not null,
  -- Its role, if it had one.
  role text,
  at timestamptz not null
);

create index former_names_project on former_names (project_id);

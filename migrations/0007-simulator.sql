-- The simulated gateways of a project. Every node runs its own, with these credentials and these faults, so that what one
-- gave out the others take.
create table simulators (
  project_id text collate "C" not null references projects on delete cascade,
  -- Keys and the seed of the subscriptions, sealed with the master key.
  credentials text not null,
  -- By gateway, with the names of the API.
  faults jsonb not null,
  -- Of the newest entry of the inbox. Writers take their numbers here one after the other, so that a reader who has seen a
  -- number has seen all before it.
  last_number bigint not null,
  created_at timestamptz not null,
  primary key (project_id)
) with (fillfactor = 50);

-- What arrived at the simulated gateways, the last thousand of each project.
create table simulator_inbox (
  project_id text collate "C" not null,
  number bigint not null,
  -- No foreign key: the phone may be gone, or never have been registered.
  device_id text collate "C",
  -- JSON as text: a payload may hold what jsonb cannot.
  item text not null,
  primary key (project_id, number),
  foreign key (project_id) references simulators on delete cascade
);

-- Whose Live Activity a push was for. The token itself may be longer than an index takes.
create index live_activity_tokens_token on live_activity_tokens (project_id, md5(token));

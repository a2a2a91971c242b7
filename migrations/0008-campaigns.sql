-- What is being sent, and to whom. What a list, a trigger or a throttle must know without reading the whole stands in
-- columns; the rest is in the version.
create table campaigns (
  project_id text collate "C" not null references projects on delete cascade,
  -- Chosen by the project.
  id text collate "C" not null,
  version int not null,
  name text not null,
  type text not null check (type in ('api_triggered', 'scheduled', 'event_triggered')),
  status text not null check (status in ('draft', 'active', 'paused', 'archived')),
  -- Until when what was let through uses up throttle_per_second, for all triggers of the campaign together.
  throttled_until timestamptz not null,
  -- What triggers that are no longer kept had counted: counters outlive the rows they were counted in.
  past jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, id)
) with (fillfactor = 85);

create index campaigns_newest on campaigns (project_id, created_at, id);

-- Every version ever saved: a trigger runs the one it was accepted with, whatever is saved meanwhile.
create table campaign_versions (
  project_id text collate "C" not null,
  campaign_id text collate "C" not null,
  version int not null,
  definition jsonb not null,
  actor text not null,
  created_at timestamptz not null,
  primary key (project_id, campaign_id, version),
  foreign key (project_id, campaign_id) references campaigns on delete cascade
);

-- A trigger row is the truth about its trigger; jobs only wake those who work on it. Counters are columns and not counts
-- of messages, which are kept for a shorter time. targeted = sent + failed + skipped + pending, where pending is what is
-- left, and so always adds up.
create table triggers (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  campaign_id text collate "C" not null,
  campaign_version int not null,
  state text not null check (state in ('accepted', 'running', 'canceling', 'completed', 'canceled', 'failed')),
  -- How it will end, once that is decided. The state becomes this when nothing is pending any more.
  outcome text check (outcome in ('completed', 'canceled', 'failed')),
  -- Why it failed, or why it reached nobody: one word.
  reason text,
  -- As it was sent: null for the default audience of the campaign.
  audience jsonb,
  properties jsonb not null,
  accepted_at timestamptz not null,
  expanded_at timestamptz,
  ended_at timestamptz,
  -- How far the audience has been turned into chunks; it moves in the transaction that adds them. Empty at the beginning.
  cursor text collate "C" not null,
  -- Chunks made so far, and those that are not done.
  chunks int not null,
  open_chunks int not null,
  targeted bigint not null,
  sent bigint not null,
  failed bigint not null,
  skipped bigint not null,
  delivered bigint not null,
  tapped bigint not null,
  skipped_for jsonb not null,
  failed_for jsonb not null,
  -- When the sweeper looks whether somebody still works on it. Only the sweeper moves it, so that counting does not have
  -- to touch an index.
  wake_at timestamptz not null,
  primary key (project_id, id)
) with (fillfactor = 70);

create index triggers_campaign on triggers (project_id, campaign_id, id);

create index triggers_state on triggers (project_id, state, id);

create index triggers_wake on triggers (wake_at) where state in ('accepted', 'running', 'canceling');

-- At most 1,000 devices each: planned, then written as messages, then gone when they have been handed over.
create table trigger_chunks (
  project_id text collate "C" not null,
  trigger_id uuid not null,
  number int not null,
  device_ids text[] not null,
  state text not null check (state in ('planned', 'written')),
  -- Not before this: quiet hours or a throttle.
  due_at timestamptz not null,
  -- Held by quiet hours until then; its devices are counted as targeted already.
  held boolean not null,
  primary key (project_id, trigger_id, number),
  foreign key (project_id, trigger_id) references triggers on delete cascade
);

create index trigger_chunks_due on trigger_chunks (project_id, trigger_id, due_at);

-- Whom a trigger passed over, and why: what has no message.
create table trigger_skips (
  project_id text collate "C" not null,
  trigger_id uuid not null,
  -- What was named: a device, or a target that leads to none.
  kind text not null check (kind in ('device_id', 'project_user_id', 'user_id')),
  value text collate "C" not null,
  reason text not null,
  user_id uuid,
  at timestamptz not null,
  primary key (project_id, trigger_id, kind, value),
  foreign key (project_id, trigger_id) references triggers on delete cascade,
  -- What is known of a user goes with the user.
  foreign key (project_id, user_id) references users on delete cascade
);

create index trigger_skips_user on trigger_skips (project_id, user_id);

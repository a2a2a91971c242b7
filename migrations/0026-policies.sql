-- What an agent may do with a secret key; null: everything that its key opens.
alter table api_keys add column policy jsonb;

-- The first key of a chain of rotations. The limits of a policy count over the whole chain; null: the key itself.
alter table api_keys add column origin_id uuid;

-- Recipients that actions of keys with a policy may reach: `most` is reserved when an action is accepted, `reached` counts
-- the users that it sent to. Once it has ended only these count. Recipients within 24 hours are the sum over a key.
create table recipient_reservations (
  project_id text collate "C" not null references projects on delete cascade,
  -- The trigger, or the first message of a direct send.
  id uuid not null,
  -- The first key of a chain of rotations.
  key_id uuid not null,
  most int not null,
  reached int not null,
  at timestamptz not null,
  ended_at timestamptz,
  primary key (project_id, id)
);

create index recipient_reservations_key on recipient_reservations (project_id, key_id, at);

-- A row to lock: actions of a key reserve recipients one after another.
create table recipient_budgets (
  project_id text collate "C" not null references projects on delete cascade,
  key_id uuid not null,
  primary key (project_id, key_id)
);

-- The most users that the trigger may reach, by the policy of its key; null: no limit.
alter table triggers add column most_recipients int;

-- Actions of agents that wait for a person, and how that person decided.
create table approvals (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  task_id uuid not null,
  state text not null check (state in ('pending', 'approved', 'rejected', 'expired', 'superseded', 'canceled')),
  skill text not null,
  -- The trigger or the push that was asked for.
  command json not null,
  -- The policy's reason to ask, in a sentence.
  reason text not null,
  -- What the person is shown: recipients, devices, a sample, the version of the campaign.
  facts json not null,
  key_id uuid not null,
  -- The first key of its chain of rotations.
  origin_id uuid not null,
  key_name text not null,
  -- The name that the asking agent gave.
  agent text,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  decided_by text,
  note text,
  -- The approval that was asked for instead, where what was shown had changed.
  superseded_by uuid,
  primary key (project_id, id)
);

create index approvals_state on approvals (project_id, state, id);

create index approvals_task on approvals (project_id, task_id, id);

create index approvals_due on approvals (expires_at) where state = 'pending';

-- Users on their way through a campaign that reacts to events or has steps. A row also remembers that a user has entered,
-- for campaigns that a user may enter once, or once in a while.
create table journeys (
  project_id text collate "C" not null,
  id uuid not null,
  campaign_id text collate "C" not null,
  -- The version with which the user entered, and will finish.
  campaign_version int not null,
  user_id uuid not null,
  -- The event or the trigger with which it began.
  source jsonb not null,
  -- What templates see as event and trigger. Removed at the end.
  properties jsonb not null,
  -- Whether the properties of the first trigger belong to it too: they may be large, and a million users may share them.
  inherits boolean not null,
  -- A user is in the steps of a campaign once at a time; events with a delay wait beside each other.
  sequence boolean not null,
  entered_at timestamptz not null,
  -- The place of the next message among the steps, and when it is due: a full minute or second, shared with others.
  step int not null,
  due_at timestamptz not null,
  first_trigger uuid,
  state text not null check (state in ('waiting', 'completed', 'exited', 'stopped')),
  -- The event by which the user left, or why the campaign let the user go.
  reason text,
  ended_at timestamptz,
  -- Whether a trigger has counted that the user left.
  counted boolean not null,
  -- How often the user could not enter again.
  again int not null,
  again_at timestamptz,
  -- Null while it must be remembered.
  keep_until timestamptz,
  primary key (project_id, id),
  foreign key (project_id, user_id) references users on delete cascade
);

create unique index journeys_under_way on journeys (project_id, campaign_id, user_id)
  where sequence and state = 'waiting';

create index journeys_due on journeys (project_id, campaign_id, campaign_version, step, due_at);

create index journeys_user on journeys (project_id, user_id, campaign_id);

create index journeys_overdue on journeys (due_at) where state = 'waiting';

create index journeys_old on journeys (project_id, keep_until) where keep_until is not null;

-- Broadcast channels of Live Activities: one change of a channel reaches every activity that subscribed to it.
create table live_activity_channels (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  attributes_type text not null,
  -- The bundle id.
  app text not null,
  environment text not null,
  -- Whether Apple keeps the newest change for phones that come later.
  stored boolean not null,
  state text not null check (state in ('creating', 'active', 'deleting', 'failed')),
  -- Apple's id, once Apple has created it.
  apns_channel_id text,
  -- The ids at Apple just before the creation was requested: after a crash, a new id besides these is ours.
  before jsonb,
  retries jsonb not null,
  reason text,
  reason_message text,
  -- Of the newest change that was handed over, in Unix seconds. Phones ignore a change that is older than their last.
  last_timestamp bigint not null,
  -- When it was handed over.
  handed_at timestamptz,
  -- Of the newest change that was accepted.
  last_number bigint not null,
  -- The newest state, for activities that start later.
  content_state json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, id)
) with (fillfactor = 50);

create index live_activity_channels_apns on live_activity_channels (apns_channel_id) where apns_channel_id is not null;

create index live_activity_channels_open on live_activity_channels (updated_at) where state in ('creating', 'deleting');

-- The changes of a channel in their order. Each is written before it is handed over.
create table live_activity_changes (
  project_id text collate "C" not null,
  channel_id uuid not null,
  number bigint not null,
  message_id uuid not null,
  kind text not null check (kind in ('activity-update', 'activity-end')),
  activity json not null,
  priority text not null,
  not_after timestamptz not null,
  -- Given when it is first handed over, and the same for every repeat.
  at_seconds bigint,
  -- handed: with the gateway, or it was when its process died. unknown: the response was lost.
  state text not null check (state in ('queued', 'handed', 'unknown', 'accepted', 'failed', 'superseded')),
  due_at timestamptz,
  attempts int not null,
  retries jsonb not null,
  gateway_message_id text,
  reason text,
  reason_message text,
  created_at timestamptz not null,
  settled_at timestamptz,
  primary key (project_id, channel_id, number),
  foreign key (project_id, channel_id) references live_activity_channels on delete cascade
) with (fillfactor = 70);

create index live_activity_changes_message on live_activity_changes (project_id, message_id);

create index live_activity_changes_open on live_activity_changes (created_at) where settled_at is null;

create index live_activity_changes_age on live_activity_changes (project_id, settled_at);

-- The channels that simulated projects created at their simulated Apple.
create table simulator_channels (
  project_id text collate "C" not null,
  id text collate "C" not null,
  environment text not null,
  app text not null,
  storage int not null,
  -- The number in the inbox of the last broadcast that ended its activities.
  ended_number bigint not null,
  primary key (project_id, id),
  foreign key (project_id) references simulators on delete cascade
);

-- The simulated activities that listen to a channel, by the number in the inbox of the push that started them.
create table simulator_subscriptions (
  project_id text collate "C" not null,
  channel text collate "C" not null,
  number bigint not null,
  device_id text collate "C" not null,
  primary key (project_id, channel, number),
  foreign key (project_id, channel) references simulator_channels (project_id, id) on delete cascade
);

create index simulator_subscriptions_device on simulator_subscriptions (project_id, device_id, channel);

-- The channel of a broadcast, or the one that a started activity listens to.
alter table simulator_inbox add column channel text collate "C";

-- How the simulated phones of a project differ from a usual one: offline, or without the app.
create table simulator_phones (
  project_id text collate "C" not null,
  -- No foreign key: a device may be deleted at any time, and its phone is trimmed later.
  device_id text collate "C" not null,
  offline_since timestamptz,
  uninstalled_at timestamptz,
  changed_at timestamptz not null,
  primary key (project_id, device_id),
  foreign key (project_id) references simulators on delete cascade
);

-- Tokens of apps that were uninstalled: the simulated gateways refuse them.
create table simulator_dead_tokens (
  project_id text collate "C" not null,
  -- Of `<APNS|FCM|WEBPUSH>:<token, or endpoint>`.
  hash text collate "C" not null,
  since timestamptz not null,
  primary key (project_id, hash),
  foreign key (project_id) references simulators on delete cascade
);

-- The Live Activities on simulated phones, with the state that the phones show.
create table simulator_activities (
  project_id text collate "C" not null,
  device_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  -- The channel that it listens to; null if it has a token of its own.
  channel text collate "C",
  state jsonb not null,
  -- The number in the inbox of the newest push that it shows.
  number bigint not null,
  started_at timestamptz not null,
  primary key (project_id, device_id, id),
  foreign key (project_id) references simulators on delete cascade
);

create index simulator_activities_channel on simulator_activities (project_id, channel) where channel is not null;

-- Where an accepted push is: null or 'shown' on the phone; 'held' by the gateway while the phone is offline, until when,
-- and under which key a newer one replaces it; or why the phone does not show it.
alter table simulator_inbox add column phone text;

alter table simulator_inbox add column phone_at timestamptz;

alter table simulator_inbox add column held_until timestamptz;

alter table simulator_inbox add column held_key text;

-- Counts the changes of phones, so that pages that show them notice each.
alter table simulators add column phones_number bigint not null default 0;

-- Nodes of the version before cannot list users beside this: a user may have no project_user_id from here on. A device
-- that nobody has logged in on belongs to such an anonymous user.
alter table users alter column project_user_id drop not null;

alter table users add column last_seen_at timestamptz;

-- Lists and exports show named users only, however many anonymous ones stand between them.
create index users_named on users (project_id, id) where project_user_id is not null;

create table devices (
  project_id text collate "C" not null,
  -- Chosen by the app: it is stored on the phone.
  id text collate "C" not null,
  user_id uuid not null,
  platform text not null check (platform in ('IOS', 'ANDROID', 'WEB')),
  push_permission boolean not null,
  -- Model, versions, locale and time zone, as the app tells them; names that are absent were never told.
  facts jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (project_id, id),
  foreign key (project_id, user_id) references users on delete cascade
) with (fillfactor = 85);

create index devices_user on devices (project_id, user_id);

create index devices_newest on devices (project_id, created_at, id);

-- Keyed by the token and not by the device: registering a token elsewhere is then an update of its row, which two
-- phones at once cannot both win. A web token is longer than an index takes, so its SHA-256 is the key.
create table push_tokens (
  project_id text collate "C" not null,
  hash bytea not null,
  device_id text collate "C" not null,
  token text not null,
  type text not null check (type in ('APNS', 'FCM', 'WEBPUSH')),
  environment text not null check (environment in ('production', 'sandbox')),
  app_identifier text,
  -- When the app last sent it: a gateway that says "gone since" an earlier time is out of date.
  registered_at timestamptz not null,
  primary key (project_id, hash),
  foreign key (project_id, device_id) references devices on delete cascade
);

create index push_tokens_device on push_tokens (project_id, device_id);

-- Tokens that start a Live Activity have no activity yet: their activity_id is empty.
create table live_activity_tokens (
  project_id text collate "C" not null,
  device_id text collate "C" not null,
  attributes_type text collate "C" not null,
  activity_id text collate "C" not null,
  token text not null,
  registered_at timestamptz not null,
  primary key (project_id, device_id, attributes_type, activity_id),
  foreign key (project_id, device_id) references devices on delete cascade
);

create index live_activity_tokens_activity on live_activity_tokens (project_id, activity_id);

-- A partition a month, named events_YYYY_MM. The service makes them ahead (src/events/partitions.ts): here no time is
-- known that would still be right when an old migration runs years later.
create table events (
  project_id text collate "C" not null,
  user_id uuid not null,
  at timestamptz not null,
  id uuid not null,
  -- No foreign key: what a user did stays when the phone goes to somebody else.
  device_id text collate "C",
  name text not null,
  message_id text,
  details jsonb not null,
  properties jsonb not null,
  primary key (project_id, user_id, at, id),
  foreign key (project_id, user_id) references users on delete cascade
) partition by range (at);

create index events_newest on events (project_id, at, id);

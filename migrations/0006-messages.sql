-- One push to one device: written before its gateway is called, with its outcome after. A partition a month of trigger_id,
-- a UUIDv7 (src/platform/db/partitions.ts makes them ahead); a message that no campaign sent has its own message_id there.
create table messages (
  project_id text collate "C" not null references projects on delete cascade,
  trigger_id uuid not null,
  -- Empty where an item reached no device: its result is kept all the same.
  device_id text collate "C" not null,
  message_id uuid not null,
  -- The id of this push, the same at every repeat.
  push_id uuid not null,
  -- Null where there is no such user.
  user_id uuid,
  campaign_id text collate "C",
  -- The order of the devices of one item.
  place int not null,
  state text not null check (state in ('queued', 'handed', 'unknown', 'accepted', 'failed', 'skipped')),
  -- Null once it is settled. Before: when somebody must look at it. A retry is due then, and what a process has in its
  -- hands is put off by some seconds, so that it is found if that process dies.
  due_at timestamptz,
  not_after timestamptz not null,
  content jsonb not null,
  collapse_id text not null,
  priority text not null check (priority in ('high', 'normal')),
  gateway text,
  environment text,
  -- Which token of the device it takes, for a Live Activity; null for its push token.
  activity_type text,
  activity_id text,
  attempts int not null,
  -- How often it was tried again, by cause.
  retries jsonb not null,
  gateway_message_id text,
  reason text,
  reason_message text,
  gateway_code text,
  simulated boolean not null,
  created_at timestamptz not null,
  handed_at timestamptz,
  settled_at timestamptz,
  delivered_at timestamptz,
  tapped_at timestamptz,
  primary key (project_id, trigger_id, device_id),
  foreign key (project_id, user_id) references users on delete cascade
) partition by range (trigger_id);

create index messages_message on messages (project_id, message_id);

create index messages_user on messages (project_id, user_id, trigger_id);

create index messages_device on messages (project_id, device_id, trigger_id);

create index messages_due on messages (project_id, due_at) where due_at is not null;

-- A token that a gateway called dead stays as a tombstone: the same token, registered again, is alive again.
alter table push_tokens add column dead_since timestamptz;

alter table push_tokens add column dead_reason text;

alter table live_activity_tokens add column dead_since timestamptz;

alter table live_activity_tokens add column dead_reason text;

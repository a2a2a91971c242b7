-- What a user has chosen, as {"out": true, "topics": {"offers": false}}; null: nothing. It is part of the user, so it is
-- read with the recipients of a batch, without a statement of its own.
alter table users add column choices jsonb;

-- Kinds of messages that a user can refuse.
create table topics (
  project_id text collate "C" not null references projects on delete cascade,
  id text collate "C" not null,
  name text not null,
  description text not null,
  -- Whether users who have made no choice receive it.
  subscribed boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, id)
);

-- Of the current version: limits over all campaigns count messages by topic, and leave out transactional ones.
alter table campaigns add column topic text collate "C";

alter table campaigns add column transactional boolean;

-- Limits over all campaigns of a project, as [{"count": 3, "within": "24h", "topic": "offers"}]; null: none.
alter table projects add column message_limits jsonb;

-- As in a campaign; null: none.
alter table projects add column quiet_hours jsonb;

-- Whether apps must prove who their user is.
alter table projects add column identity_verification boolean;

-- The secret with which a project signs the tokens of its users, sealed. After a rotation the previous one works for a while.
create table identity_secrets (
  project_id text collate "C" not null references projects on delete cascade,
  sealed text not null,
  previous text,
  previous_until timestamptz,
  created_at timestamptz not null,
  primary key (project_id)
);

-- Rules kept here and checked by test/schema.test.ts: project_id leads every key of a tenant table, foreign keys are
-- cascade or no action, no row triggers, ids and times come from the application.

-- Facts about this installation: the check value of the master key, the bootstrap.
create table settings (
  name text primary key,
  value text not null
);

-- Processes at work on this database. seen_at is the database's clock, so that skewed nodes agree.
create table nodes (
  id uuid primary key,
  role text not null,
  host text not null,
  pid int not null,
  version text not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

create table projects (
  project_id text collate "C" primary key,
  name text not null,
  mode text not null check (mode in ('simulator', 'live')),
  plan text not null,
  -- Only what the project overrides; the plan and the configuration give the rest.
  limits jsonb not null,
  retention jsonb not null,
  created_at timestamptz not null,
  -- Set when the project is being erased: from then on it is unknown to every surface.
  deleted_at timestamptz
);

-- Global, so that a key is found by its hash alone. No foreign key to projects: it would cross shards.
create table api_keys (
  hash bytea primary key,
  id uuid not null unique,
  project_id text collate "C" not null,
  kind text not null check (kind in ('secret', 'public')),
  name text not null,
  prefix text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);

create index api_keys_project on api_keys (project_id, id);

create table tokens (
  hash bytea primary key,
  id uuid not null unique,
  project_id text collate "C",
  role text not null check (role in ('admin', 'editor', 'viewer')),
  name text not null,
  prefix text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);

create table users (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  project_user_id text collate "C" not null,
  properties jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, id),
  unique (project_id, project_user_id)
) with (fillfactor = 85);

create table audit_log (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target text not null,
  details jsonb not null,
  primary key (project_id, id)
);

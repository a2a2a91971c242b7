-- Receipts of erasures (docs/guides/privacy.md). They outlive the users, so they hold no id of one: only a keyed hash of it.
create table erasures (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  -- The keyed hash of the project_user_id, in hexadecimal digits.
  subject text collate "C" not null,
  actor text not null,
  requested_at timestamptz not null,
  completed_at timestamptz not null,
  -- Rows by table.
  erased jsonb not null,
  -- What is still there, why, and until when.
  remaining jsonb not null,
  signature text not null,
  primary key (project_id, id)
);
create index erasures_by_subject on erasures (project_id, subject, id);

-- The key of a project for those hashes and signatures, sealed by the master key.
create table erasure_keys (
  project_id text collate "C" not null primary key references projects on delete cascade,
  sealed text not null
);

-- Ids that callers gave their events: an event of an id that arrived within the last 7 days is not stored again.
create table event_receipts (
  project_id text collate "C" not null references projects on delete cascade,
  -- Derived from the caller's id, so that a key of the table has the same size whatever the caller chose.
  id uuid not null,
  received_at timestamptz not null,
  primary key (project_id, id)
);

create index event_receipts_age on event_receipts (project_id, received_at);

-- The schedules of active campaigns. A row decides which occurrences were made; jobs only wake the work.
create table schedules (
  project_id text collate "C" not null,
  campaign_id text collate "C" not null,
  -- As the campaign has it. Another schedule counts from the time at which it was saved.
  schedule jsonb not null,
  -- All occurrences until then were made, or skipped because they were too late.
  done_until timestamptz not null,
  -- The next occurrence; null: there is none.
  next_at timestamptz,
  primary key (project_id, campaign_id),
  foreign key (project_id, campaign_id) references campaigns on delete cascade
);

create index schedules_due on schedules (next_at) where next_at is not null;

-- Segments that are named once and used in many campaigns (docs/decisions/0045).
create table saved_segments (
  project_id text collate "C" not null references projects on delete cascade,
  -- Chosen by the project.
  id text collate "C" not null,
  version int not null,
  name text not null,
  segment jsonb not null,
  -- The saved segments that it refers to itself.
  refs text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (project_id, id)
);

create index saved_segments_newest on saved_segments (project_id, created_at, id);

-- The size of a saved segment, once a day.
create table segment_sizes (
  project_id text collate "C" not null,
  segment_id text collate "C" not null,
  day date not null,
  users int not null,
  reachable_users int not null,
  devices int not null,
  -- False: the time was too short for all users, and the numbers are lower bounds.
  complete boolean not null,
  counted_at timestamptz not null,
  primary key (project_id, segment_id, day),
  foreign key (project_id, segment_id) references saved_segments on delete cascade
);

-- The saved segments that the current version refers to, by way of others too; null: none.
alter table campaigns add column segment_refs text[];

-- The segment with its saved segments written out, so that the version keeps its meaning; null: it refers to none.
alter table campaign_versions add column whole_segment jsonb;

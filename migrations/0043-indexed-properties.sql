-- Properties by which users are found without a scan (docs/decisions/0052). A property that is chosen again after its
-- removal gets a new id, so rows that were written for the old one cannot be taken for current ones.
create table indexed_properties (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  name text collate "C" not null,
  state text not null check (state in ('building', 'ready', 'removing')),
  -- While it is built: the last user whose value was written, and how many users were visited.
  last_user_id uuid,
  visited bigint not null,
  created_at timestamptz not null,
  primary key (project_id, id)
);

create unique index indexed_properties_name on indexed_properties (project_id, name) where state <> 'removing';

-- The value that a user has, as the beginning of its hash. Never missing once the property is ready, but perhaps out of
-- date: readers compare with the user.
create table indexed_values (
  project_id text collate "C" not null,
  user_id uuid not null,
  property_id uuid not null,
  value bytea not null,
  primary key (project_id, user_id, property_id),
  foreign key (project_id, user_id) references users on delete cascade
) with (fillfactor = 85);

create index indexed_values_found on indexed_values (project_id, property_id, value, user_id);

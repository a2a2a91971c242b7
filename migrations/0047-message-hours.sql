-- How all messages of a project ended in each hour, for its results. Filled from message_minutes when those are no longer
-- shown one by one, so that settling a message costs nothing more.
create table message_hours (
  project_id text collate "C" not null references projects on delete cascade,
  hour timestamptz not null,
  sent bigint not null,
  failed bigint not null,
  delivered bigint not null,
  tapped bigint not null,
  primary key (project_id, hour)
);

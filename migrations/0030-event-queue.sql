-- Names of events that campaigns react to. Nodes remember them with their version; the statement that stores events
-- compares that version with the one of the project, so no node works with an older list.
create table wanted_events (
  project_id text collate "C" not null references projects on delete cascade,
  name text collate "C" not null,
  campaign_id text collate "C" not null,
  -- Null while the campaign is active. After that, users who are under way and conversions need the name for a while.
  until timestamptz,
  primary key (project_id, name, campaign_id)
);

create index wanted_events_campaign on wanted_events (project_id, campaign_id);

alter table projects add column wanted_events_version bigint not null default 0;

-- Stored events that no subscriber has handled so far, in the order of their arrival. A row names its event and holds
-- nothing of it: the event may move to another user or be deleted meanwhile.
create table event_queue (
  project_id text collate "C" not null,
  id uuid not null,
  event_at timestamptz not null,
  event_id uuid not null,
  primary key (project_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

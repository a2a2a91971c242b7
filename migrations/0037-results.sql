-- What came of a campaign, by the hour in which it was counted, and by what its messages said. The transactions that count
-- on a trigger add here in the same statement. Each of them picks one slot of several, so that they do not wait for one
-- row; slots are added up when read, and an hourly job folds them. An empty text stands for none.
create table campaign_stats (
  project_id text collate "C" not null references projects on delete cascade,
  campaign_id text collate "C" not null,
  hour timestamptz not null,
  variant text collate "C" not null,
  language text collate "C" not null,
  step text collate "C" not null,
  slot smallint not null,
  -- Devices with a message or a skip. Devices of batches that are only planned count once their batch is written.
  targeted bigint not null,
  sent bigint not null,
  failed bigint not null,
  skipped bigint not null,
  delivered bigint not null,
  tapped bigint not null,
  users bigint not null,
  converted bigint not null,
  conversion_value numeric not null,
  primary key (project_id, campaign_id, hour, variant, language, step, slot)
) with (fillfactor = 50);

create index campaign_stats_age on campaign_stats (project_id, hour);

-- Users that a trigger is credited with: each counts once, however many events convert it.
create table conversions (
  project_id text collate "C" not null,
  trigger_id uuid not null,
  user_id uuid not null,
  campaign_id text collate "C" not null,
  -- The message that is credited; null for a user of the holdout, who got none.
  message_id uuid,
  converted_at timestamptz not null,
  primary key (project_id, trigger_id, user_id),
  foreign key (project_id, trigger_id) references triggers on delete cascade,
  foreign key (project_id, user_id) references users on delete cascade
);

create index conversions_user on conversions (project_id, user_id);

alter table triggers add column converted bigint not null default 0;

alter table triggers add column conversion_value numeric not null default 0;

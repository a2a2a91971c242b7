-- How many messages ended how in each minute, for those who watch. Counted where outcomes are recorded: messages are too
-- many to be counted again for every look.
create table message_minutes (
  project_id text collate "C" not null references projects on delete cascade,
  minute timestamptz not null,
  sent bigint not null,
  failed bigint not null,
  delivered bigint not null,
  tapped bigint not null,
  primary key (project_id, minute)
) with (fillfactor = 50);

-- What a caller was shown before it agrees to a trigger. A yes names the id and is bound to all of the row
-- (docs/decisions/0038).
create table confirmations (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  -- Who was asked: the key or the management token, as the audit log names it.
  actor text not null,
  command json not null,
  campaign_version integer not null,
  recipients bigint not null,
  -- false: the audience was too large to be counted in time, and recipients is a lower bound.
  complete boolean not null,
  expires_at timestamptz not null,
  primary key (project_id, id)
);

create index confirmations_age on confirmations (project_id, expires_at);

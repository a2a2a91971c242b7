-- What a project proves itself with to Apple, Google and browsers. `secret` is sealed with the master key; `facts` is
-- what may be shown. APNs has an entry for each environment and topic; the two others have one, with both left empty.
create table gateway_credentials (
  project_id text collate "C" not null references projects on delete cascade,
  gateway text collate "C" not null check (gateway in ('apns', 'fcm', 'webpush')),
  environment text collate "C" not null check (environment in ('production', 'sandbox', '')),
  app text collate "C" not null,
  id uuid not null,
  -- Grows with every save: connections that were opened with an older one are closed.
  version int not null,
  secret text not null,
  facts jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null,
  primary key (project_id, gateway, environment, app)
);

-- Tokens that credentials are exchanged for. Not of a project: Apple counts them by team, so projects with the same key
-- share one. The name is a hash over the key itself: whoever does not have the key cannot ask for its token.
create table provider_tokens (
  name text collate "C" primary key,
  -- Sealed; empty while the first one is being made.
  token text not null,
  issued_at timestamptz not null,
  refresh_at timestamptz not null,
  expires_at timestamptz not null,
  -- One process at a time makes the next one. By the database's clock, and no longer than a call to Google takes.
  held_by uuid not null,
  held_until timestamptz not null
);

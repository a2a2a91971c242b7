-- People who sign in to the console. Global like the tokens: one person may work in many projects. Old nodes go on beside
-- this: they know the sessions of tokens only, and refuse those of members.
create table members (
  id uuid primary key,
  -- As it is shown. email_key is the same address for comparisons: one member for each.
  email text not null,
  email_key text collate "C" not null unique,
  name text not null,
  -- A hash with its parameters; null: no password.
  password text,
  created_at timestamptz not null,
  -- Null: invited, and has never signed in.
  joined_at timestamptz,
  seen_at timestamptz,
  -- Set when the last membership ends. The row stays for the names in audit logs, as long as their entries.
  removed_at timestamptz
);

create table memberships (
  member_id uuid not null,
  -- Null: the whole installation. No foreign key, as for tokens: the erasure of a project deletes them.
  project_id text collate "C",
  role text not null check (role in ('admin', 'editor', 'viewer')),
  -- Where the role comes from: invitation, or a provider of identities that is asked at each sign-in.
  source text not null,
  created_at timestamptz not null,
  -- Null: the invitation has not been accepted, and the role does not count yet.
  accepted_at timestamptz,
  unique nulls not distinct (member_id, project_id)
);

create index memberships_project on memberships (project_id, member_id);

-- Links that work once: invitations, and links that set a new password.
create table member_links (
  hash bytea primary key,
  member_id uuid not null,
  kind text not null check (kind in ('invitation', 'reset')),
  -- The membership that an invitation is for; null: the whole installation.
  project_id text collate "C",
  expires_at timestamptz not null
);

create index member_links_member on member_links (member_id);

-- Sessions of members, and what lists of sessions show. Old nodes leave the new columns empty.
alter table sessions alter column token_id drop not null;

alter table sessions
  add column id uuid,
  add column member_id uuid,
  add column how text,
  add column created_at timestamptz,
  add column seen_at timestamptz,
  add column user_agent text,
  add column address text;

create index sessions_member on sessions (member_id) where member_id is not null;

-- Sign-ins and changes of the whole installation: members, tokens, projects. The audit log of a project belongs to the project and
-- is deleted with it, so these have a table of their own. No member of a project reads it.
create table installation_audit (
  id uuid primary key,
  at timestamptz not null,
  actor text collate "C" not null,
  action text collate "C" not null,
  target text not null,
  details jsonb not null
);
create index installation_audit_actor on installation_audit (actor, id);

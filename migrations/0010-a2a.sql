-- Work that agents asked for. One row is all of a task, so that a change of state is one write, and whoever runs the
-- task may write only over the revision it read.
create table a2a_tasks (
  project_id text collate "C" not null references projects on delete cascade,
  id uuid not null,
  context_id text collate "C" not null,
  state text collate "C" not null,
  state_at timestamptz not null,
  -- How the caller who wrote last spells things.
  dialect text collate "C" not null,
  -- What is asked, messages, artifacts and every state it went through. Kept as it was written: nothing searches in it.
  content json not null,
  revision integer not null,
  -- Somebody beside the caller is to be told of changes: a webhook, or a stream on another node.
  attended boolean not null,
  -- When the sweeper looks: the end of the lease of whoever runs it, or of the patience with whoever must answer.
  -- Null once the task has ended.
  due_at timestamptz,
  primary key (project_id, id)
);

create index a2a_tasks_context on a2a_tasks (project_id, context_id, id);

create index a2a_tasks_due on a2a_tasks (due_at) where due_at is not null;

-- The states that are rare among all tasks.
create index a2a_tasks_state on a2a_tasks (project_id, state, id)
  where state in ('failed', 'rejected', 'canceled', 'input-required', 'auth-required');

create table a2a_push_configs (
  project_id text collate "C" not null,
  task_id uuid not null,
  id text collate "C" not null,
  url text not null,
  -- Token and credentials, sealed.
  secrets text,
  -- How the webhook's body is spelt.
  dialect text collate "C" not null,
  created_at timestamptz not null,
  primary key (project_id, task_id, id),
  foreign key (project_id, task_id) references a2a_tasks on delete cascade
);

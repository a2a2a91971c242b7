-- The open questions of a conversation: a message that names only its context answers one of them (docs/decisions/0037).
create index a2a_tasks_open on a2a_tasks (project_id, context_id, id) where state in ('input-required', 'auth-required');

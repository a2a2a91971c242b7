-- Every state but the common one: whoever lists what runs now must not read all that has ended.
drop index a2a_tasks_state;

create index a2a_tasks_state on a2a_tasks (project_id, state, id) where state <> 'completed';

-- For those who ask again and again what has changed since. Tasks lie in the order they came in, so a summary of each
-- stretch is enough, and writing a task costs nothing more.
create index a2a_tasks_changed on a2a_tasks using brin (state_at) with (pages_per_range = 16, autosummarize = on);

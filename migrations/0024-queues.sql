-- Jobs of one queue do not wait behind those of another (docs/decisions/0031). Rows that an older version adds are in
-- 'work', from which a worker takes jobs of every name.
alter table jobs add column queue text collate "C" not null default 'work';

create index jobs_ready_of_queue on jobs (queue, (coalesce(project_id, '')), run_at) where ready;

drop index jobs_ready;

-- The job that begins the trigger, where it begins together with others: while that job waits, the sweeper adds no
-- second one.
alter table triggers add column begin_job uuid;

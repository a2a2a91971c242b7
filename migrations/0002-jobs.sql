-- Work to be done once the transaction that asked for it has committed. Global, never a tenant table: it is claimed
-- across projects and stays on the coordinator when tenants are distributed (docs/decisions tells why).
--
-- A job is in one of three states, and each has an index of its own that holds nothing else:
--   ready    (ready)                       due: a worker may take it. Found by jobs_ready.
--   later    (not ready, claim is null)    its run_at is to come. Found by jobs_later.
--   running  (claim is not null)           run_at is the end of its lease. Found by jobs_later as well, so that one
--                                          sweep wakes what has become due and what a dead worker left behind.
--
-- Measured by bench/jobs.ts on two shared cores with PostgreSQL 15, five runs: 20,000 to 32,000 trivial jobs/s from end
-- to end when the machine was ours (10,000 when it was not), enqueue to run p50 1 to 2 ms. With 1,000,000 jobs waiting
-- for tomorrow it is the same, 22,000 to 26,000 jobs/s: a claim of 200 jobs of 32 projects touches 3,300 pages and takes
-- 3 to 5 ms at either size. Beside a transaction that stays open, as of a backup, nothing that ended can be cleared away:
-- after 150,000 jobs the rate is down to 2,500 to 6,000 jobs/s, while a single job still runs within 2 ms.
create table jobs (
  id uuid primary key,
  name text not null,
  -- Whose turn it takes, so that one project's thousand jobs do not hide another's only one. Null: the house's own.
  project_id text collate "C",
  key text collate "C",
  payload jsonb not null,
  ready boolean not null,
  run_at timestamptz not null,
  attempts int not null,
  -- Null: what the definition of the job says.
  max_attempts int,
  -- The fencing token, new with every claim. Random and not a counter: after a failover that lost the last claims a
  -- counter would give the same number to two workers.
  claim uuid,
  node_id uuid,
  -- Its key was added once more while it ran: it runs again from then on instead of ending.
  again_at timestamptz,
  last_error text,
  created_at timestamptz not null
) with (
  -- Each job leaves two dead rows behind. Vacuum comes by number and not by share, so that many jobs for tomorrow do not
  -- put it off, and does not rest in between. The fillfactor stays: a claim moves a job from one index to another, so no
  -- update can keep to its page.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 50000,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 20000,
  autovacuum_vacuum_cost_delay = 0,
  -- Giving the file's end back takes an exclusive lock that would stop every worker, and the next burst fills it again.
  vacuum_truncate = off
);

create index jobs_ready on jobs ((coalesce(project_id, '')), run_at) where ready;

create index jobs_later on jobs (run_at) where not ready;

create unique index jobs_key on jobs (key, name) where key is not null;

-- Jobs that failed too often. Apart from jobs, so that what nobody looks at for weeks does not slow what runs now.
create table dead_jobs (
  id uuid primary key,
  name text not null,
  project_id text collate "C",
  key text collate "C",
  payload jsonb not null,
  attempts int not null,
  max_attempts int,
  error text not null,
  created_at timestamptz not null,
  died_at timestamptz not null
);

create index dead_jobs_died on dead_jobs (died_at, id);

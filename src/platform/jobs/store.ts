import { statement } from '../db/statement.ts'

/** Announces that a job is due in the queue of its payload, or in any. Only a hint: workers also poll. */
export const channel = 'tidings_jobs'

/**
 * An existing key is locked even if nothing changes (that is the effect of `do update … where`), so its job cannot be
 * claimed before the adding transaction has committed: the next run sees the changes of that transaction.
 */
export const add = statement(
  'jobs.add',
  `with added as (
     insert into jobs as j (id, name, project_id, key, payload, ready, run_at, attempts, max_attempts, created_at,
       queue, trace)
     select n.id, $1, n.project_id, n.key, n.payload, coalesce(n.run_at <= now(), true), greatest(n.run_at, now()), 0,
            n.max_attempts, $8, $10::text, $11::text
       from unnest($2::uuid[], $3::text[], $4::text[], $5::jsonb[], $6::timestamptz[], $7::int[])
         as n (id, project_id, key, payload, run_at, max_attempts)
     on conflict (key, name) where key is not null do update
        set again_at = case when j.claim is not null then least(j.again_at, excluded.run_at) end,
            run_at = case when j.claim is null then excluded.run_at else j.run_at end,
            ready = j.claim is null and excluded.ready
      where j.claim is not null or (not j.ready and j.attempts = 0 and excluded.run_at < j.run_at)
   )
   select pg_notify('${channel}', $10::text) where $9::boolean`
)

/** Adds a job that the worker of the same process has a slot for, as one that it has claimed. */
export const addClaimed = statement(
  'jobs.add_claimed',
  `insert into jobs (id, name, project_id, payload, ready, run_at, attempts, created_at, queue, claim, node_id, trace)
   values ($1, $2, $3, $4, false, now() + $5::float8 * interval '1 ms', 1, $6, $7, $8, $9, $10)`
)

/**
 * Inserts the row of recurring work, due at once if it is new, and at the latest after its interval if the interval
 * became shorter.
 */
export const keepRecurring = statement(
  'jobs.keep_recurring',
  `insert into jobs as j (id, name, key, payload, ready, run_at, attempts, created_at)
   select n.id, n.name, 'recurring', 'null', true, now(), 0, now()
     from unnest($1::uuid[], $2::text[], $3::float8[]) as n (id, name, every_ms)
   on conflict (key, name) where key is not null do update
      set run_at = now() + (select every_ms from unnest($2::text[], $3::float8[]) as n (name, every_ms)
                             where n.name = excluded.name) * interval '1 ms'
    where not j.ready and j.claim is null
      and j.run_at > now() + (select every_ms from unnest($2::text[], $3::float8[]) as n (name, every_ms)
                               where n.name = excluded.name) * interval '1 ms'`
)

/**
 * Claims up to $3 jobs of a queue, in turns by project: the next $5 projects from $4 on that have ready jobs each give
 * an equal share. The statement finds the projects by jumping over jobs_ready_of_queue, so it costs one index look-up
 * per project, however long their queues are. It searches no further back than $8 ms: rows that ended earlier may still
 * be in the index (see `createReach`).
 */
export const claim = statement(
  'jobs.claim',
  `with recursive turn (lane, n) as (
     (select coalesce(project_id, ''), 1 from jobs
       where ready and queue = $9 and coalesce(project_id, '') >= $4 and run_at >= now() - $8::float8 * interval '1 ms'
         and name = any($6::text[])
       order by coalesce(project_id, '') limit 1)
     union all
     select next.lane, turn.n + 1
       from turn
      cross join lateral (
        select coalesce(project_id, '') as lane from jobs
         where ready and queue = $9 and coalesce(project_id, '') > turn.lane and run_at >= now() - $8::float8 * interval '1 ms'
           and name = any($6::text[])
         order by coalesce(project_id, '') limit 1) as next
      where turn.n < $5::int
   ),
   picked as (
     select mine.id
       from (select lane, greatest($3::int / max(n) over (), 1) as share from turn) as lanes
      cross join lateral (
        select id from jobs
         where ready and queue = $9 and coalesce(project_id, '') = lanes.lane and run_at >= now() - $8::float8 * interval '1 ms'
           and name = any($6::text[])
         order by run_at limit lanes.share
           for update skip locked) as mine
      limit $3::int
   )
   update jobs
      set ready = false, claim = $1, node_id = $2, attempts = attempts + 1,
          run_at = now() + ($7::float8[])[array_position($6::text[], name)] * interval '1 ms'
    where id = any(array(select id from picked))
   returning id, name, coalesce(project_id, '') as lane, payload, attempts, max_attempts as "maxAttempts",
             key is not null as keyed, trace`
)

/**
 * Wakes jobs that have become due and jobs of dead workers. Returns which of the queues $3 have ready jobs (searched no
 * further back than $4 ms each), the milliseconds until the next job is due, and whether the installation is paused
 * after a restore.
 */
export const sweep = statement(
  'jobs.sweep',
  `with due as (
     select id from jobs
      where not ready and run_at <= now() and run_at >= now() - $2::float8 * interval '1 ms'
      order by run_at limit $1
        for update skip locked
   ),
   woken as (
     update jobs set ready = true, claim = null, node_id = null, again_at = null
      where id = any(array(select id from due))
     returning queue
   )
   select (select count(*)::int from woken) as woken,
          array(select queue from woken
                union
                select q.name from unnest($3::text[], $4::float8[]) as q (name, back_ms)
                 cross join lateral (
                   select from jobs
                    where ready and queue = q.name and run_at >= now() - q.back_ms * interval '1 ms' limit 1) as j
               ) as queues,
          exists (select from settings where name = 'paused') as paused,
          (select extract(epoch from run_at - now())::float8 * 1000 from jobs
            where not ready and run_at > now() order by run_at limit 1) as "nextInMs"`
)

/**
 * Returns the jobs that this worker still owns, and which of them were renewed. It does not wait for a locked row (its
 * handler is ending it, or its key is being added): the other leases must not expire meanwhile.
 */
export const renew = statement(
  'jobs.renew',
  `with held as (
     select h.id, h.claim
       from unnest($1::uuid[], $2::uuid[]) as h (id, claim)
      cross join lateral (select from jobs j where j.id = h.id and j.claim = h.claim offset 0) as j
   ),
   free as (
     select h.id, h.lease_ms
       from unnest($1::uuid[], $2::uuid[], $3::float8[]) as h (id, claim, lease_ms)
      cross join lateral (
        select from jobs j where j.id = h.id and j.claim = h.claim for update skip locked) as j
   ),
   renewed as (
     update jobs set run_at = now() + free.lease_ms * interval '1 ms'
       from free
      where jobs.id = any(array(select id from free)) and jobs.id = free.id
   )
   select id, claim, id in (select id from free) as renewed from held`
)

/**
 * Ends jobs that this worker still owns: deletes them, or reschedules them if they recur or were added again. Returns
 * their ids.
 */
const ended = (locking: string) => `with mine as (
     select d.id, d.claim, case when d.every_ms is null then j.again_at
                                else least(j.again_at, now() + d.every_ms * interval '1 ms') end as next_at
       from unnest($1::uuid[], $2::uuid[], $3::float8[]) as d (id, claim, every_ms)
      cross join lateral (
        select j.again_at from jobs j where j.id = d.id and j.claim = d.claim for update ${locking}) as j
   ),
   gone as (
     delete from jobs where id = any(array(select id from mine where next_at is null))
   ),
   moved as (
     update jobs
        set ready = mine.next_at <= now(), run_at = mine.next_at, claim = null, node_id = null, again_at = null,
            attempts = 0, last_error = null
       from mine
      where jobs.id = any(array(select id from mine where next_at is not null)) and jobs.id = mine.id
   )
   select id, claim from mine`

/** A locked row is left for the next time, so that one long transaction does not delay all other completions. */
export const complete = statement('jobs.complete', ended('skip locked'))
/**
 * In the handler's own transaction the statement must wait, because its result decides whether that transaction may
 * commit.
 */
export const completeInside = statement('jobs.complete_inside', ended(''))

/**
 * Puts jobs that this worker still owns back: after a failure, a planned retry or a stop of the worker ($4: in how many
 * ms, $5: whether the attempt counts, $7: whether all attempts are forgotten), or among the dead ($6). A job that was
 * added again while it ran does not die but starts over, because the new request deserves its own attempts. Nor does it keep a wait that is no failure, which may
 * have been chosen before the new request existed; a backoff stays.
 */
export const putBack = statement(
  'jobs.put_back',
  `with mine as (
     select f.id, f.claim, f.error, f.counts, f.spent, f.anew, f.spent and j.again_at is null as dies,
            least(case when not f.counts then j.again_at end, now() + f.delay_ms * interval '1 ms') as next_at
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $5::boolean[], $6::boolean[], $7::boolean[])
         as f (id, claim, error, delay_ms, counts, spent, anew)
      cross join lateral (
        select j.again_at from jobs j where j.id = f.id and j.claim = f.claim for update skip locked) as j
   ),
   gone as (
     delete from jobs where id = any(array(select id from mine where dies)) returning *
   ),
   buried as (
     insert into dead_jobs (id, name, project_id, key, payload, attempts, max_attempts, error, created_at, died_at)
     select id, name, project_id, key, payload, attempts, max_attempts,
            (select coalesce(mine.error, '') from mine where mine.id = gone.id), created_at, now()
       from gone
   ),
   waiting as (
     update jobs
        set ready = mine.next_at <= now(), run_at = mine.next_at, claim = null, node_id = null, again_at = null,
            attempts = case when mine.spent or mine.anew then 0 when mine.counts then attempts else attempts - 1 end,
            last_error = coalesce(mine.error, last_error)
       from mine
      where jobs.id = any(array(select id from mine where not dies)) and jobs.id = mine.id
   )
   select id, claim, dies from mine`
)

/** The payloads of the jobs of a project and name that have not ended. */
export const payloads = statement('jobs.payloads', 'select payload from jobs where name = $1 and project_id = $2')

/** Wakes the workers of other nodes when a stop has released jobs. */
export const hint = statement('jobs.hint', `select pg_notify('${channel}', '')`)

/** Whether any job that one of these workers could run is due. */
export const anyDue = statement(
  'jobs.any_due',
  `select 1 as due from jobs where ready and name = any($1::text[])
   union all
   (select 1 from jobs where not ready and run_at <= now() and name = any($1::text[]) limit 1)
   limit 1`
)

export const listDead = statement(
  'jobs.list_dead',
  `select id, name, project_id as "projectId", key, payload, attempts, error, created_at as "createdAt",
          died_at as "diedAt"
     from dead_jobs where $2::uuid is null or id < $2 order by id desc limit $1`
)

export const revive = statement(
  'jobs.revive',
  `with gone as (
     delete from dead_jobs where id = $1 returning *
   ),
   back as (
     insert into jobs (id, name, project_id, key, payload, ready, run_at, attempts, max_attempts, last_error, created_at)
     select id, name, project_id, key, payload, true, now(), 0, max_attempts, error, created_at from gone
     on conflict (key, name) where key is not null do nothing
   )
   select gone.id, pg_notify('${channel}', '') from gone`
)

/** For the operator's graphs. A ready job is one that a worker could claim now. */
export const countByState = statement(
  'jobs.count_by_state',
  `select count(*) filter (where ready) as ready, count(*) filter (where not ready and claim is null) as later,
          count(*) filter (where claim is not null) as running, (select count(*) from dead_jobs) as dead
     from jobs`
)

export const oldestReady = statement(
  'jobs.oldest_ready',
  `select queue, greatest(0, extract(epoch from now() - min(run_at)))::float8 as seconds
     from jobs where ready group by queue`
)

export const forgetDead = statement('jobs.forget_dead', 'delete from dead_jobs where died_at < $1')

function settingsOf(span: 'session' | 'transaction'): string {
  const isLocal = span === 'transaction'
  return `select set_config(name, 'off', ${isLocal}), set_config('statement_timeout', '4s', ${isLocal})
     from unnest(array['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) as name`
}

/**
 * Makes the plan of every statement here use index look-ups, at any size of the table. Otherwise the planner would read
 * a whole table that was empty at its last analysis, and continue to do so when a million jobs wait: a claim then took
 * 30 s instead of 3 ms. For the same reason no statement joins jobs with a list of ids: `= any(array(…))` and `lateral
 * … for update` fix what is read first. The time limit is shorter than the worker's own, so that a statement that the
 * worker has abandoned ends in the server too.
 */
export const settings = statement('jobs.settings', settingsOf('session'))
/** The same until the end of a transaction. */
export const localSettings = statement('jobs.local_settings', settingsOf('transaction'))

export const knownJobs = statement('jobs.known', 'select id from jobs where id = any($1::uuid[])')

export const knownKeys = statement('jobs.known_keys', 'select key from jobs where name = $1 and key = any($2::text[])')

/** A benchmark: a program that reports figures (support/figures.ts) and ends by itself. */
export interface Bench {
  /** `npm run bench -- <name>` runs it alone; its file is bench/<name>.ts. */
  name: string
  /** How it is measured, for a reader of the table. */
  measures: string
  /** Its arguments in the quick form, and in the full one, which also shows how costs grow up to a million. */
  quick: string[]
  full: string[]
  /** It is stopped after so many seconds, in the quick form and in the full one. */
  seconds: [quick: number, full: number]
  /** Programs that it starts, by their names in Debian where these differ. */
  needs?: Record<string, string>
  /** It works on the server in BENCH_DATABASE_URL; the runner starts an embedded one where none is named. */
  database?: true
}

const wrk = { wrk: 'wrk' }

export const plan: Bench[] = [
  {
    name: 'push',
    measures:
      'Pushes over TLS to one server in a process of its own, by our sender, by `node:http2` under our sender, and by two libraries, in turns. CPU is that of the sending process.',
    quick: ['--seconds', '2', '--rounds', '3'],
    full: ['--seconds', '3', '--rounds', '5', '--sizes', '1000,100000,1000000'],
    seconds: [120, 600]
  },
  {
    name: 'campaigns',
    measures:
      'A broadcast from the call to the last outcome: an api process, a worker process, and a gateway that accepts and counts in a third one.',
    quick: ['1000', '20000'],
    full: ['1000', '100000', '1000000'],
    seconds: [140, 1_800],
    database: true
  },
  {
    name: 'triggers',
    measures:
      'Triggers for one user each: at a steady rate, until the push is at the gateway; then as fast as 64 connections get responses. The gateway and PostgreSQL have processes of their own.',
    quick: ['--triggers', '10000', '--seconds', '6'],
    full: ['--triggers', '100000', '--seconds', '20'],
    seconds: [120, 600]
  },
  {
    name: 'messages',
    measures:
      '`POST /api/v1/messages:send` with 500 items, one request after the other, to a gateway in a process of its own.',
    quick: ['--requests', '20', '--large'],
    full: ['--requests', '60'],
    seconds: [140, 600]
  },
  {
    name: 'users',
    measures:
      'Upserts of one user a request over HTTP at 64 connections, beside pgbench and a plain service, in turns.',
    quick: ['--seconds', '2', '--rounds', '3', '--only', 'embedded'],
    full: ['--seconds', '3', '--rounds', '7', '--growth', '--only', 'embedded'],
    seconds: [120, 600],
    needs: { ...wrk, pgbench: 'postgresql-contrib' }
  },
  {
    name: 'import',
    measures:
      '`tidings import csv` over HTTP: users with two devices and tokens each, into a service with the embedded database.',
    quick: ['20000'],
    full: ['20000', '200000', '1000000'],
    seconds: [140, 1_800]
  },
  {
    name: 'a2a',
    measures:
      '`SendMessage` at 50 connections, durable, beside the server of the official SDK, which keeps tasks in memory, and a bare echo, in turns.',
    quick: ['--seconds', '2', '--rounds', '3'],
    full: ['--seconds', '3', '--rounds', '7'],
    seconds: [120, 600],
    needs: wrk
  },
  {
    name: 'segments',
    measures:
      'Segments over all users of a project as a broadcast selects them: step after step, on one connection. Sizes as the console counts them.',
    quick: ['100000', '--only', 'embedded'],
    full: ['1000', '100000', '1000000', '--only', 'embedded'],
    seconds: [140, 1_200]
  },
  {
    name: 'start',
    measures:
      'From `npm start` to the first 200 of `/readyz`, with an empty data folder (cold) and again (warm), and the memory of all processes three seconds later (proportional set size).',
    quick: ['--rounds', '3'],
    full: ['--rounds', '7'],
    seconds: [120, 300]
  },
  {
    name: 'first-minute',
    measures:
      'A clean clone: `npm install && npm start`, the curl of the greeting, and the push on the iPhone of the device lab in Chromium. npm has its cache.',
    quick: ['--rounds', '1'],
    full: ['--rounds', '3'],
    seconds: [140, 400],
    needs: { chromium: 'chromium' }
  },
  {
    name: 'fairness',
    measures:
      'p99 of a quiet project, which asks 40 times a second, alone and beside a project at three times the capacity, in turns.',
    quick: ['--seconds', '3', '--rounds', '3'],
    full: ['--seconds', '5', '--rounds', '7'],
    seconds: [140, 600]
  },
  {
    name: 'jobs',
    measures: 'The job queue: trivial jobs of one project and of a hundred, and from enqueueing to running.',
    quick: ['20000'],
    full: ['50000'],
    seconds: [140, 600],
    database: true
  },
  {
    name: 'rendering',
    measures: 'Rendering messages in a child process, beside rendering in the service itself.',
    quick: ['20000'],
    full: ['100000'],
    seconds: [60, 300]
  },
  {
    name: 'variants',
    measures: 'Drafting messages of a campaign with variants and languages, beside one text, in turns.',
    quick: ['20000'],
    full: ['100000'],
    seconds: [60, 300]
  },
  {
    name: 'occurrences',
    measures: 'A campaign at 9 o’clock of each user in forty zones, all of them due at once.',
    quick: ['10000'],
    full: ['1000', '100000', '1000000'],
    seconds: [140, 1_800]
  },
  {
    name: 'event-campaigns',
    measures: '`POST /api/v1/events` of a project with 100 event campaigns, beside one without, in turns.',
    quick: ['--seconds', '2', '--rounds', '3'],
    full: ['--seconds', '3', '--rounds', '7'],
    seconds: [90, 300],
    needs: wrk
  },
  {
    name: 'activity-channels',
    measures: 'One change of a broadcast channel that many activities listen to, until the caller has its result.',
    quick: ['--activities', '100000', '--rounds', '5'],
    full: ['--activities', '1000000', '--rounds', '20'],
    seconds: [120, 300]
  },
  {
    name: 'user-search',
    measures: 'A search of users by indexed properties over HTTP, half of all users in another project.',
    quick: ['100000'],
    full: ['1000000'],
    seconds: [140, 1_200]
  },
  {
    name: 'pooler',
    measures: 'Users and messages through pgbouncer in transaction mode, beside direct connections, in turns.',
    quick: ['--seconds', '2', '--rounds', '3'],
    full: ['--seconds', '3', '--rounds', '5'],
    seconds: [140, 300],
    needs: { ...wrk, pgbouncer: 'pgbouncer' }
  },
  {
    name: 'one-project',
    measures: 'The same work in a project as it grows: writes of 64 users, windows of a segment, vacuum, deletion.',
    quick: ['--users', '100000'],
    full: ['--users', '1000,100000,1000000'],
    seconds: [140, 1_200]
  },
  {
    name: 'restart',
    measures: 'From `kill -9` of the node, while users are written, to the next 200 of `/readyz`.',
    quick: ['--rounds', '2', '--seconds', '5'],
    full: ['--rounds', '5'],
    seconds: [120, 300]
  },
  {
    name: 'console',
    measures:
      'The console in Chromium: first load, requests while idle, and frames while a list of 10,000 users scrolls.',
    quick: ['--rounds', '3', '--idle-seconds', '10'],
    full: ['--rounds', '5'],
    seconds: [140, 300],
    needs: { chromium: 'chromium' }
  }
]

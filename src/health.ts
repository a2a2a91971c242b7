import { timingSafeEqual } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Pool } from './platform/db/db.ts'
import { newestMigration } from './platform/db/migrations.ts'
import { ping } from './platform/db/store.ts'
import { Refusal, Unavailable } from './platform/errors.ts'
import type { Routes } from './platform/http/routes.ts'
import { commitOf, version } from './platform/version.ts'

const pingMs = 2_000
const metricsType = 'text/plain; version=0.0.4; charset=utf-8'
const loopback = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/

const Version = Type.Object({
  version: Type.String({ description: 'The version of Tidings.' }),
  commit: Type.Union([Type.String(), Type.Null()], {
    description: 'The commit it was built from; null if the build does not know it.'
  }),
  schema: Type.Integer({ description: 'The number of the newest migration that it knows.' }),
  node: Type.String({ description: 'The version of Node.' })
})

/** Adds the routes for load balancers, orchestrators and Prometheus. */
export function healthRoutes(
  open: Routes<null, never>,
  {
    pool,
    metrics,
    stopping,
    warning,
    metricsToken
  }: {
    pool: Pool
    /** All metrics of this node, in the format of Prometheus. */
    metrics: () => Promise<string>
    stopping: () => boolean
    /** A problem of the installation that does not keep this node from serving. */
    warning: () => string | undefined
    metricsToken: string | undefined
  }
): void {
  const Status = Type.Object({ status: Type.String() })

  open.get('/healthz', { summary: 'Whether the process lives', answer: Status }, () => ({ status: 'ok' }))

  const built = { version, commit: commitOf() ?? null, schema: newestMigration(), node: process.versions.node }
  open.get('/version', { summary: 'The version that runs', answer: Version }, () => built)

  open.get(
    '/readyz',
    {
      summary: 'Whether it can serve: the database answers and no stop is under way',
      answer: Type.Object({
        status: Type.String(),
        warning: Type.Optional(
          Type.String({
            description:
              'It can serve, but no node runs jobs (triggers, retries, tasks of agents and webhooks wait), or the disk of the embedded database is almost full.'
          })
        )
      }),
      refusals: ['unavailable']
    },
    async () => {
      if (stopping()) throw new Unavailable('The service is stopping.')
      await within(pingMs, pool.one(ping))
      const warned = warning()
      return { status: 'ready', ...(warned !== undefined && { warning: warned }) }
    }
  )

  open.get(
    '/api/v1/health',
    { summary: 'Whether the API answers', answer: Type.Object({ msg: Type.String() }) },
    () => ({ msg: 'ok' })
  )

  open.get(
    '/metrics',
    { summary: 'Prometheus metrics', answerType: 'text/plain', refusals: ['forbidden'] },
    async ({ request, reply }) => {
      if (metricsToken === undefined ? !isLocal(request) : !bears(request.headers.authorization, metricsToken)) {
        throw new Refusal('forbidden', 'Metrics are read from this machine, or with METRICS_TOKEN as a bearer token.')
      }
      reply.type(metricsType)
      return metrics()
    }
  )
}

/** Only for requests from this machine that no proxy forwarded: a forwarded address never counts, whatever it says. */
function isLocal({ raw: { socket, headers } }: FastifyRequest): boolean {
  const forwarded = ['x-forwarded-for', 'forwarded', 'x-real-ip'].some((name) => headers[name] !== undefined)
  return !forwarded && loopback.test(socket.remoteAddress ?? '')
}

function bears(header: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(header ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

async function within<Result>(milliseconds: number, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Unavailable(`The database did not answer within ${milliseconds} ms.`)),
    milliseconds
  )
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

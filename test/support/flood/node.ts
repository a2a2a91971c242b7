import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance } from 'fastify'
import { startApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/platform/config/config.ts'
import { connectionOf } from '../../../src/platform/db/open.ts'
import { createLog } from '../../../src/platform/log.ts'
import { measured } from './memory.ts'

// A node in a separate process, so that its memory and its log are its own. It names its routes, measures its memory
// after a collection, and says when no job is due.

const routes: string[] = []
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push(`${name} ${url}`)
  })
})

const config = readConfig(process.env)
const app = await startApp({
  config,
  database: { connection: connectionOf({ ...config, DATABASE_URL: config.DATABASE_URL! }) },
  log: await createLog('warn', false),
  role: 'all',
  say: () => {},
  passwordCost: { ln: 4, r: 8, p: 1 }
})

process.on('message', (asked) => {
  if (asked === 'memory') process.send!(measured())
  if (asked === 'idle') void app.idle().then(() => process.send!('idle'))
})
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => void app.close().then(() => process.exit(0)))
process.send!({ port: app.port, routes })

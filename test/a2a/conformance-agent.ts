// The real service with one more skill, which does what public conformance kits for A2A ask of an agent by the prefix of
// a message's id. For test only:  npm run conformance:agent  (PORT, DATABASE_URL and BOOTSTRAP_* as for the service)
import { Type } from '@sinclair/typebox'
import type { Outcome, Skill } from '../../src/a2a/a2a.ts'
import { startApp } from '../../src/app.ts'
import { readConfig } from '../../src/platform/config/config.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { createLog } from '../../src/platform/log.ts'

// The values are those that the kits check.
const text = { name: 'text', parts: [{ text: 'Generated text content' }] }
const file = { name: 'file', parts: [{ raw: 'aGVsbG8=', filename: 'output.txt', mediaType: 'text/plain' }] }
const fileUrl = {
  name: 'file',
  parts: [{ url: 'https://example.com/output.txt', filename: 'output.txt', mediaType: 'text/plain' }]
}
const data = { name: 'data', parts: [{ data: { key: 'value', count: 42 } }] }
const done = (...artifacts: (typeof text | typeof file | typeof fileUrl | typeof data)[]): Outcome => ({
  kind: 'completed',
  artifacts,
  reason: 'Done.'
})
const later = async () => {
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  return done()
}

// The first match counts. Other agents may respond with a direct message; ours always responds with a task.
const byPrefix: [prefix: string, does: () => Outcome | Promise<Outcome>][] = [
  ['tck-artifact-text', () => done(text)],
  ['tck-artifact-file-url', () => done(fileUrl)],
  ['tck-artifact-file', () => done(file)],
  ['tck-artifact-data', () => done(data)],
  ['tck-input-required', () => ({ kind: 'input-required', reason: 'Say more.' })],
  ['tck-reject-task', () => ({ kind: 'rejected', reason: 'Not this.' })],
  ['tck-stream-artifact-file', () => done(file)],
  ['tck-stream-002', later],
  ['tck-stream-', () => done(text)],
  ['test-resubscribe-message-id', later]
]

export const conformanceSkill: Skill = {
  id: 'conformance',
  name: 'Conformance',
  description: 'Does what a conformance kit asks for by the prefix of a message id.',
  tags: ['test'],
  examples: ['tck-complete-task'],
  effect: 'read',
  rest: [],
  example: { skill: 'conformance' },
  schema: Type.Object({ skill: Type.Literal('conformance') }),
  output: Type.Object({}),
  run: async ({ messageId }) => (byPrefix.find(([prefix]) => messageId.startsWith(prefix))?.[1] ?? done)()
}

export const conformance = {
  moreSkills: [conformanceSkill],
  readText: () => ({ kind: 'request' as const, skill: 'conformance', fields: {}, understood: 'a test' })
}

if (import.meta.main) {
  const config = readConfig({ WEBHOOK_ALLOW_PRIVATE: 'true', ...process.env })
  const say = (line: string) => void process.stdout.write(`${line}\n`)
  const database = await openDatabase(config, say)
  const log = await createLog(config.LOG_LEVEL)
  const app = await startApp({ config, database, log, role: 'all', say, agents: conformance })
  const { secret_key } = app.bootstrapped.credentials
  say(`The conformance agent is ready at ${app.baseUrl} for X-API-Key: ${secret_key ?? 'BOOTSTRAP_SECRET_KEY'}`)
  const stop = () =>
    void app
      .close()
      .then(() => database.stop())
      .then(() => process.exit(0))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
}

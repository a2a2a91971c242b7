import assert from 'node:assert/strict'
import { it } from 'node:test'
import pino from 'pino'
import { logOptions } from './log.ts'

it('an error is logged with its words, its code and where it came from, and without the values it brought', () => {
  const lines: string[] = []
  const log = pino(logOptions('info'), { write: (line) => lines.push(line) })
  const detail = 'Key (project_user_id)=(ana@example.com) already exists.'
  const cause = Object.assign(new Error('duplicate key value violates unique constraint'), { code: '23505', detail })
  log.error({ error: new Error('it could not be written', { cause }), request_id: 'r-1' }, 'a request failed')
  log.warn({ error: 'the connection was lost' }, 'a database connection was lost')
  const [failed, lost] = lines.map((line) => JSON.parse(line))
  assert.equal(failed.error.message, 'it could not be written')
  assert.match(failed.error.stack, /log\.test\.ts/)
  assert.deepEqual([failed.error.cause.message, failed.error.cause.code], [cause.message, '23505'])
  assert.equal(lost.error, 'the connection was lost')
  assert.doesNotMatch(lines.join(), /ana@example/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPassing } from '../../src/platform/db/db.ts'
import { migratedDatabase } from '../support/database.ts'
import { run, temporaryFolder } from './service.ts'

// The command itself runs on a Citus cluster: npm run test:citus.

test('db distribute says what is missing on a server without Citus, and changes nothing', async (t) => {
  const { url } = await migratedDatabase(t)
  const env = { DATABASE_URL: url, DATA_DIR: await temporaryFolder(t) }
  const { code, stderr } = await run(['db', 'distribute', '--json'], { env })
  assert.equal(code, 1)
  const { error, code: named } = JSON.parse(stderr)
  assert.equal(named, 'not_distributable')
  assert.match(error, /Citus.*docs\/guides\/distributed\.md has the steps\.$/)
  assert.doesNotMatch((await run(['doctor'], { env })).stdout, /Citus/)
})

test('db distribute refuses the embedded server and a wrong number of shards', async (t) => {
  const env = { DATA_DIR: await temporaryFolder(t) }
  const embedded = await run(['db', 'distribute'], { env })
  assert.equal(embedded.code, 78)
  assert.match(embedded.stderr, /^The embedded PostgreSQL is one server/)
  for (const shards of ['0', '-1', '1.5', 'many', '1025']) {
    const { code, stderr } = await run(['db', 'distribute', `--shards=${shards}`], { env })
    assert.deepEqual([code, stderr], [2, '--shards must be a number from 1 to 1024.\n'])
  }
})

test('errors around the stop of a Citus worker are passing, other internal errors are not', () => {
  const coded = (code: string, message: string) => Object.assign(new Error(message), { code })
  for (const error of [
    coded('08006', 'connection to the remote node tidings@10.0.0.2:5432 failed'),
    coded('57P01', 'terminating connection due to administrator command'),
    coded('XX000', 'failure on connection marked as essential: 10.0.0.2:5432'),
    coded('XX000', 'server closed the connection unexpectedly\n\tThis probably means'),
    coded('XX000', 'could not receive data from server: Connection reset by peer')
  ])
    assert.equal(isPassing(error), true, error.message)
  assert.equal(isPassing(coded('XX000', 'cache lookup failed for type 1')), false)
})

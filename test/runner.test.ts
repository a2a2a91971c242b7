import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { serverUrl } from './support/database.ts'
import { livingProcesses } from './support/processes.ts'
import { startProgram } from './support/program.ts'

/** Runs the runner on files of test/support/hanging, in shared processes, each file with a limit of eight seconds. */
async function ranOn(t: TestContext, ...names: string[]) {
  const mark = randomUUID()
  const env = { TIDINGS_FILE_SECONDS: '8', HANGING_MARK: mark, TEST_DATABASE_URL: serverUrl() }
  const files = names.map((name) => `test/support/hanging/${name}.ts`)
  const runner = startProgram(t, env, [process.execPath, 'test/run.ts', '--external', '--shared', ...files])
  const { code } = await runner.exited
  const left = livingProcesses().filter(({ command }) => command.includes(mark))
  return { code, said: runner.stdout() + runner.stderr(), left }
}

test('every machine: a suite with files that hang fails, names each of them, runs the others, and ends', async (t) => {
  const { code, said, left } = await ranOn(t, 'promise', 'loop', 'child', 'well')
  assert.equal(code, 1, said)
  assert.match(said, /✖ test\/support\/hanging\/promise\.ts \(.*\n(.*\n)*.*test timed out after 8000ms/)
  assert.match(said, /keeps its process open .*: .*test\/support\/hanging\/promise\.ts/)
  assert.match(said, /✖ test\/support\/hanging\/loop\.ts did not end within 8 s: ended by force/)
  assert.match(
    said,
    /test\/support\/hanging\/child\.ts left processes behind, which were ended: (\d+ sleep \d+, )?\d+ \/bin\/sh/
  )
  assert.match(said, /✔ test\/support\/hanging\/well\.ts/)
  assert.deepEqual(left, [])
})

test('every machine: a file that passes and leaves a process or a server behind fails, and the suite ends', async (t) => {
  const { code, said, left } = await ranOn(t, 'orphan', 'open', 'well')
  assert.equal(code, 1, said)
  assert.match(
    said,
    /test\/support\/hanging\/orphan\.ts left processes behind, which were ended: (\d+ sleep \d+, )?\d+ sh/
  )
  assert.match(said, /keeps its process open .*: .*test\/support\/hanging\/open\.ts/)
  assert.match(said, /✔ test\/support\/hanging\/well\.ts/)
  assert.deepEqual(left, [])
})

test('every machine: a command that a test waits for ends with the test, and so does all that it started', async (t) => {
  const { code, said, left } = await ranOn(t, 'command')
  assert.equal(code, 1, said)
  assert.match(said, /test timed out after 1000ms/)
  assert.doesNotMatch(said, /left processes behind|left a process behind|keeps its process open|by force/)
  assert.deepEqual(left, [])
})

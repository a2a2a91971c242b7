import assert from 'node:assert/strict'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { fingerprintOf, openReport } from '../../src/cli/import/state.ts'
import { temporaryFolder } from '../support/program.ts'

it('an interrupted import goes on in the same file, and begins anew in one that was changed anywhere', async (t) => {
  const file = join(await temporaryFolder(t), 'people.csv')
  const text = `user_id,plan\n${'ana,free\n'.repeat(20_000)}`
  await writeFile(file, text)
  await utimes(file, 1_700_000_000, 1_700_000_000)
  const open = async (options: unknown = 'csv') =>
    openReport(`${file}.import.jsonl`, await fingerprintOf(file, text.length, options), false)
  const report = await open()
  await report.note({ records: 15_000, users: 1, devices: 0 }, [])
  await report.interrupt()

  const again = await open()
  assert.deepEqual([again.resumed, again.state.records], [true, 15_000])
  await again.interrupt()

  // Beyond what is hashed, and as long as before.
  await writeFile(file, `${text.slice(0, 100_008)}${text.slice(100_008).replace('free', 'gold')}`)
  const corrected = await open()
  assert.deepEqual([corrected.resumed, corrected.state.records], [false, 0])
  await corrected.interrupt()

  const mapped = await open('csv --map plan=properties.tier')
  assert.deepEqual([mapped.resumed, mapped.state.records], [false, 0])
  await mapped.finish()
})

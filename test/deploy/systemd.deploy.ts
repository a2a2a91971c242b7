import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { root, temporaryFolder } from '../support/program.ts'
import { adapted, output } from './programs.ts'

const units = readdirSync(join(root, 'deploy/systemd')).filter((name) => name.endsWith('.service'))
/** The highest exposure that systemd may report; 0 is best, 10 is worst. */
const mostExposure = 3

describe('the units for systemd', () => {
  it('are one for a node of its own, and one for each role', () =>
    assert.deepEqual(units.sort(), ['tidings-api@.service', 'tidings-worker@.service', 'tidings.service']))

  for (const unit of units) {
    it(`systemd understands every line of ${unit}`, async (t) => {
      const folder = await temporaryFolder(t)
      // systemd checks that the program is there.
      const text = adapted(join('systemd', unit), { '/opt/tidings/node_modules/.bin/node': process.execPath })
      const copy = join(folder, unit.replace('@.', '@8080.'))
      await writeFile(copy, text)
      const { stderr } = output('systemd-analyze', 'verify', '--man=no', copy)
      assert.deepEqual(
        stderr.split('\n').filter((line) => line.includes(unit.split(/[@.]/)[0]!)),
        []
      )
    })

    it(`${unit} is exposed by ${mostExposure.toFixed(1)} at most`, () => {
      const { stdout } = output('systemd-analyze', 'security', '--offline=true', join(root, 'deploy/systemd', unit))
      const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
      assert.ok(Number(level) <= mostExposure, `${level}`)
    })
  }
})

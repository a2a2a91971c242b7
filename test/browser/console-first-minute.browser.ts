import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { emptyDatabase } from '../support/database.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually } from '../support/service.ts'
import { goTo, sees, story } from './console.ts'

const shell = promisify(execFile)
/** Limit for each of six pushes, from curl's response to the page. An idle machine needs far less. */
const arrivesMs = 5_000

/** A command that the start has printed. */
const lineOf = (printed: string, wanted: string): string => {
  const found = printed.split('\n').find((line) => line.startsWith('curl ') && line.includes(wanted))
  assert.ok(found, printed)
  return found
}

story(
  'a newcomer starts the service, opens the printed link, runs the printed command and sees the push',
  async (scene) => {
    const { t } = scene
    const { url: database } = await emptyDatabase(t)
    const env = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: database }
    const first = startProgram(t, env)
    const url = await first.ready
    const link = await eventually(() => {
      const found = /Console +(\S+)/.exec(first.stdout())?.[1]
      assert.ok(found, first.stdout())
      return found
    })

    // The page shows that it is being built, and reloads when it is ready.
    const page = await scene.open({ url }, link)
    // The first link offers an account, which is not needed for the first push.
    await sees(page, 'Create your account', 180_000)
    await page.getByRole('button', { name: 'Skip for now' }).click()
    await sees(page, 'Send your first push')
    assert.doesNotMatch(page.url(), /code=/, 'the code is removed from the URL')
    scene.forgive() // Errors from the time before the page was built.
    await page.reload()
    await sees(page, 'Send your first push')
    assert.equal(await page.getByText('Create your account').count(), 0, 'a reload does not repeat the offer')
    await scene.look(page, 'home of a newcomer')

    await goTo(page, 'Device lab')
    for (const name of ['iPhone', 'Android phone', 'Browser']) {
      await page.getByRole('region', { name: `Lock screen of ${name} of demo-user` }).waitFor()
    }

    const push = lineOf(first.stdout(), '/api/v1/messages:send')
    let slowestMs = 0
    for (let number = 1; number <= 6; number++) {
      await shell('bash', ['-c', push.replace('It works', `It works, number ${number}.`)])
      const iphone = page.getByRole('region', { name: 'Lock screen of iPhone of demo-user' })
      const respondedAt = Date.now()
      await iphone.getByText(`It works, number ${number}.`).waitFor({ timeout: arrivesMs })
      slowestMs = Math.max(slowestMs, Date.now() - respondedAt)
    }
    t.diagnostic(`the slowest push was on the screen ${slowestMs} ms after curl had its response`)
    await scene.look(page, 'the lab with pushes')

    // The page reports an outage, reconnects, and shows pushes again.
    first.child.kill()
    await first.exited
    await sees(page, 'Connection lost. Reconnecting…')
    const second = startProgram(t, { ...env, PORT: new URL(url).port })
    await second.ready
    await page.getByText('Connection lost. Reconnecting…').waitFor({ state: 'hidden' })
    scene.forgive() // The browser logs each request that failed during the outage.
    await shell('bash', ['-c', lineOf(second.stdout(), '/api/v1/messages:send').replace('It works', 'Back again')])
    await sees(page.getByRole('region', { name: 'Lock screen of Android phone of demo-user' }), 'Back again')
  }
)

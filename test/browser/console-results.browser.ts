import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'
import { givenCampaign } from '../support/campaigns.ts'
import { eventually } from '../support/service.ts'
import { sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()
const reads = (chart: Locator, text: RegExp) =>
  eventually(async () => assert.match((await chart.getAttribute('aria-valuetext'))!, text))
const variant = (id: string) => ({ id, weight: 1, message: { title: id } })

story('the results of a campaign show a funnel, its course and its variants with intervals', async (scene) => {
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  await givenCampaign(service, project, {
    campaign_id: 'sale',
    message: undefined,
    variants: [variant('short'), variant('long')],
    holdout: 10,
    conversion: { event: 'purchase', within: '7d', value_property: 'amount' }
  })
  const page = await scene.open(service, `p/${project.id}/campaigns/sale?tab=results`)
  await sees(page, 'No results in this period')
  const add = (name: string, daysAgo: number, figures: number[]) =>
    service.sql(
      `insert into campaign_stats
       select $1, 'sale', date_trunc('hour', now() - $3::int * interval '1 day'), $2, '', '', 0,
              f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9]
         from (select $4::int[] as f) given`,
      [project.id, name, daysAgo, figures]
    )
  for (let day = 0; day < 20; day += 1) {
    await add('short', day, [110, 100, 5, 5, 80, 20 + day, 90, 9, 120])
    await add('long', day, [110, 100, 5, 5, 80, 12, 90, 6, 90])
    await add('holdout', day, [22, 0, 0, 22, 0, 0, 20, 1, 10])
  }
  await page.reload()
  const [funnel, variants] = ['Funnel', 'Variants'].map((name) => page.getByRole('region', { name, exact: true }))
  await sees(funnel!.locator('[data-figure=sent]'), '4,000 · 83 % of targeted')
  await sees(funnel!.locator('[data-figure=converted]'), '300 · 8.3 % of users')
  await sees(variants!.getByRole('row', { name: /^short/ }), '180 · 10 %')
  await sees(variants!.getByRole('row', { name: /^long/ }), '5.6 % to 7.9 %')
  await sees(variants!.getByRole('row', { name: /^Holdout/ }), '20 · 5.0 %')
  await scene.picture(page, 'campaign-results')
  await page.getByLabel('Compare').selectOption('Languages')
  await sees(page.getByRole('region', { name: 'Languages' }), 'No language')
  await page.getByText('7 d', { exact: true }).click()
  await sees(funnel!.locator('[data-figure=sent]'), '1,400 · 83 % of targeted')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Download CSV').click()])
  assert.equal(download.suggestedFilename(), 'sale-results.csv')
})

story('the results of a project show campaigns and direct sends, and the keyboard reads each point', async (scene) => {
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  await givenCampaign(service, project, { campaign_id: 'sale', name: 'Sale' })
  const page = await scene.open(service, `p/${project.id}/results`)
  await sees(page, 'No results in this period')
  await service.sql(
    `insert into campaign_stats select $1, 'sale', date_trunc('hour', now()), '', '', '', 0, 120, 100, 5, 15, 80, 20, 90, 9, 0`,
    [project.id]
  )
  await service.sql(`insert into message_minutes select $1, date_trunc('hour', now()), 110, 5, 85, 21`, [project.id])
  // The stream of changes tells that messages were counted.
  const funnel = page.getByRole('region', { name: 'Funnel', exact: true })
  await sees(funnel.locator('[data-figure=sent]'), '110 · 85 % of targeted')
  const lines = page.getByRole('table', { name: 'Results by campaign' })
  await sees(lines.getByRole('row', { name: /^Sale/ }), '80 · 80 %')
  await sees(lines.getByRole('row', { name: /^Direct sends/ }), '10 · 100 %')
  // A slow response: the points of the days stay on the page, and one of them is chosen when those of the hours come.
  const release = Promise.withResolvers<void>()
  await page.route(/stats\?interval=hour/, (route) => release.promise.then(() => route.continue()))
  await page.getByText('24 h', { exact: true }).click()
  const days = page.getByRole('slider', { name: 'Messages per day' })
  await days.focus()
  await page.keyboard.press('ArrowLeft')
  await reads(days, /: 110 sent, 5 failed, 85 delivered, 21 tapped, 9 converted$/)
  release.resolve()
  const hours = page.getByRole('slider', { name: 'Messages per hour' })
  await hours.focus()
  await page.keyboard.press('ArrowLeft')
  await reads(hours, /: 110 sent, 5 failed, 85 delivered, 21 tapped, 9 converted$/)
  await sees(hours, 'Sent: 110')
  await page.keyboard.press('ArrowLeft')
  await reads(hours, /: 0 sent, 0 failed/)
  await scene.look(page, 'the results of a project')
  await lines.getByRole('link', { name: 'Sale' }).click()
  await sees(page, 'Recent triggers')
})
